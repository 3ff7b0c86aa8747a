/* SPDX-License-Identifier: MIT */
/* Reads the plain data of a tracker's log: rows of the peak, then those of the modules. */
#include "model/memory/memory_tracker.h"

#include "base/sum.h"
#include "model/memory/plain_repeats.h"

static bool has_list(const struct plain *plain, struct str key)
{
	return tsi_plain_kind(tsi_plain_find(plain, tsi_plain_root(plain), key)) == PLAIN_LIST;
}

bool tsi_is_memory_tracker(const struct plain *plain)
{
	struct plain_value tracker =
		tsi_plain_find(plain, tsi_plain_root(plain), TSI_STR("tracker"));

	return tsi_plain_kind(tracker) == PLAIN_TEXT &&
	       (has_list(plain, TSI_STR("peak")) || has_list(plain, TSI_STR("modules")));
}

/* Texts and numbers that are missing are "" and 0. */
static struct str text_of(const struct plain *plain, struct plain_value dict, struct str key)
{
	return tsi_plain_text(plain, tsi_plain_find(plain, dict, key));
}

static int64_t number_of(const struct plain *plain, struct plain_value dict, struct str key)
{
	int64_t number = 0;

	tsi_plain_to_int64(plain, tsi_plain_find(plain, dict, key), &number);
	return number;
}

/* item: what the row is made of. */
static void add_up(struct memory_tracker *tracker, struct plain_value item,
		   struct tracked_bytes *row)
{
	size_t count = tsi_plain_length(tracker->plain, row->bytes);

	for (size_t i = 0; i < count; i++) {
		int64_t bytes;

		if (!tsi_tracked_kind(tracker, row, i, &bytes).data) {
			tracker->dropped_count++;
			continue;
		}
		tsi_sum_signed(&row->total_bytes, bytes);
		tracker->value_count++;
	}
	(void)tsi_plain_to_int64(tracker->plain,
				 tsi_plain_find(tracker->plain, item, TSI_STR("total")),
				 &row->total_bytes);
}

struct str tsi_tracked_kind(const struct memory_tracker *tracker, const struct tracked_bytes *row,
			    size_t index, int64_t *bytes)
{
	const struct plain *plain = tracker->plain;
	struct plain_value kind = tsi_plain_key(plain, row->bytes, index);

	if (tsi_plain_kind(kind) != PLAIN_TEXT ||
	    !tsi_plain_to_int64(plain, tsi_plain_value(plain, row->bytes, index), bytes))
		return (struct str){ 0 };
	return tsi_plain_text(plain, kind);
}

/* The rows of one list. */
static void read_rows(struct memory_tracker *tracker, struct plain_value list,
		      struct plain_repeats *repeats)
{
	const struct plain *plain = tracker->plain;
	size_t count = tsi_plain_length(plain, list);

	for (size_t i = 0; i < count; i++) {
		struct plain_value item = tsi_plain_item(plain, list, i);
		struct tracked_bytes row = {
			.module = text_of(plain, item, TSI_STR("module")),
			.state = text_of(plain, item, TSI_STR("state")),
			.call = number_of(plain, item, TSI_STR("call")),
			.device = text_of(plain, item, TSI_STR("device")),
			.bytes = tsi_plain_find(plain, item, TSI_STR("bytes")),
		};

		if (tsi_plain_kind(row.bytes) != PLAIN_DICT ||
		    !tsi_plain_repeats_allow(repeats, plain, row.bytes)) {
			tracker->dropped_count++;
			continue;
		}
		add_up(tracker, item, &row);
		tracker->rows[tracker->count++] = row;
	}
}

void tsi_memory_tracker_init(struct memory_tracker *tracker, const struct plain *plain)
{
	struct plain_value root = tsi_plain_root(plain);
	struct plain_value peak = tsi_plain_find(plain, root, TSI_STR("peak"));
	struct plain_value modules = tsi_plain_find(plain, root, TSI_STR("modules"));
	size_t room = tsi_plain_length(plain, peak) + tsi_plain_length(plain, modules);
	struct arena scratch = { 0 };
	struct plain_repeats repeats = tsi_plain_repeats(plain, &scratch);

	*tracker = (struct memory_tracker){
		.plain = plain,
		.function = text_of(plain, root, TSI_STR("function")),
		.iteration = number_of(plain, root, TSI_STR("iteration")),
	};
	tracker->rows = tsi_arena_new(&tracker->arena, room, sizeof(*tracker->rows));
	if (tracker->rows && repeats.is_seen) {
		read_rows(tracker, peak, &repeats);
		tracker->peak_count = tracker->count;
		read_rows(tracker, modules, &repeats);
	}
	tracker->arena.has_failed |= scratch.has_failed;
	tsi_arena_deinit(&scratch);
}
