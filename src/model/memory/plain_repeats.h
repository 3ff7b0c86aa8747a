/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_MEMORY_PLAIN_REPEATS_H
#define TSCOPE_MODEL_MEMORY_PLAIN_REPEATS_H

#include "base/arena.h"
#include "decode/plain/plain.h"

/*
 * Dicts that are equal are often one object, and each of its mentions counts. But a pickle of
 * a megabyte can mention one of a hundred thousand values a hundred thousand times, so what is
 * looked at again has a limit; what is looked at once is limited by the file.
 */
enum { REPEATED_VALUES_MAX = 1 << 20 };

struct plain_repeats {
	bool *is_seen; /* by index of the object; NULL without memory */
	size_t value_count;
};

static inline struct plain_repeats tsi_plain_repeats(const struct plain *plain,
						     struct arena *scratch)
{
	size_t count = tsi_plain_object_count(plain);

	return (struct plain_repeats){ .is_seen = tsi_arena_new(scratch, count, sizeof(bool)) };
}

/* May all values of this dict be looked at (once more)? */
static inline bool tsi_plain_repeats_allow(struct plain_repeats *repeats, const struct plain *plain,
					   struct plain_value dict)
{
	bool *is_seen = &repeats->is_seen[tsi_plain_object_index(dict)];
	size_t count = tsi_plain_length(plain, dict);

	if (!*is_seen) {
		*is_seen = true;
		return true;
	}
	if (count > REPEATED_VALUES_MAX - repeats->value_count)
		return false;
	repeats->value_count += count;
	return true;
}

#endif
