/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_MEMORY_SNAPSHOT_VALUES_H
#define TSCOPE_MODEL_MEMORY_SNAPSHOT_VALUES_H

#include "model/memory/snapshot.h"

/* Plain values as what they mean in a snapshot, for snapshot.c and snapshot_entries.c. */

static inline bool tsi_is_text(struct plain_value value)
{
	return tsi_plain_kind(value) == PLAIN_TEXT;
}

/* A stack or nothing. */
static inline struct plain_value tsi_to_stack(struct plain_value value)
{
	return tsi_plain_is_list(value) ? value : (struct plain_value){ 0 };
}

static inline bool tsi_to_size(const struct plain *plain, struct plain_value value, int64_t *bytes)
{
	int64_t number;

	if (!tsi_plain_to_int64(plain, value, &number) || number < 0)
		return false;
	*bytes = number;
	return true;
}

static inline int64_t tsi_to_stream(const struct plain *plain, struct plain_value value)
{
	int64_t stream = NO_STREAM;

	(void)tsi_plain_to_int64(plain, value, &stream);
	return stream;
}

static inline struct snapshot_pool tsi_to_pool(const struct plain *plain, struct plain_value value)
{
	struct snapshot_pool pool = { 0 };

	pool.is_known = tsi_plain_length(plain, value) == 2 &&
			tsi_plain_to_int64(plain, tsi_plain_item(plain, value, 0), &pool.high) &&
			tsi_plain_to_int64(plain, tsi_plain_item(plain, value, 1), &pool.low);
	return pool.is_known ? pool : (struct snapshot_pool){ 0 };
}

static inline void tsi_find_names(const struct plain *plain, const char *const *names, size_t count,
				  struct plain_value *values)
{
	for (size_t i = 0; i < count; i++)
		values[i] = tsi_plain_name(plain, tsi_str_of(names[i]));
}

/* Fills in the words of the model that entries and frames are read by. */
void tsi_snapshot_find_names(struct snapshot *snapshot);

#endif
