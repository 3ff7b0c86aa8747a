/* SPDX-License-Identifier: MIT */
/* What the reader of trackers' logs yields: rows of the peak, rows of modules, and neither. */
#include "model/memory/memory_tracker.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/attributes.h"
#include "check.h"
#include "fail_alloc.h"
#include "plain_text.h"

enum { DUMP_BYTES = 2048 };

/* "module|state|call|device|total" a row, those of the peak first. */
static void dump_tracker(char dump[DUMP_BYTES], const struct memory_tracker *tracker)
{
	int length =
		snprintf(dump, DUMP_BYTES, "%.*s %" PRId64 " peak rows %zu\n",
			 TSI_QUOTE(tracker->function), tracker->iteration, tracker->peak_count);

	for (size_t i = 0; i < tracker->count; i++) {
		const struct tracked_bytes *row = &tracker->rows[i];

		length += snprintf(dump + length, DUMP_BYTES - (size_t)length,
				   "%.*s|%.*s|%" PRId64 "|%.*s|%" PRId64 "\n",
				   TSI_QUOTE(row->module), TSI_QUOTE(row->state), row->call,
				   TSI_QUOTE(row->device), row->total_bytes);
	}
	snprintf(dump + length, DUMP_BYTES - (size_t)length,
		 "values %" PRIu64 " dropped %" PRIu64 "\n", tracker->value_count,
		 tracker->dropped_count);
}

static void check_tracker(const char *text, const char *expected)
{
	struct plain *plain = plain_of(text);
	struct memory_tracker tracker;
	char dump[DUMP_BYTES];

	assert_true(tsi_is_memory_tracker(plain));
	tsi_memory_tracker_init(&tracker, plain);
	dump_tracker(dump, &tracker);
	assert_string_equal(dump, expected);
	tsi_arena_deinit(&tracker.arena);
	tsi_plain_free(plain);
}

TEST(rows_are_read)
{
	check_tracker("{tracker: fsdp, iteration: 2, function: training_step,"
		      " peak: [{device: 'cuda:0', bytes: {'sharded param': 1024, temp: 24}}],"
		      " modules: [{module: net, state: 'Peak-Forward', call: 1, device: 'cuda:0',"
		      "            bytes: {temp: 5}},"
		      "           {module: net, state: 'Peak-Forward', call: 2, device: cpu,"
		      "            bytes: {}}]}",
		      "training_step 2 peak rows 1\n||0|cuda:0|1048\nnet|Peak-Forward|1|cuda:0|5\n"
		      "net|Peak-Forward|2|cpu|0\nvalues 3 dropped 0\n");
	/* The total that is said is rounded once, each kind is by itself; none is the sum. */
	check_tracker("{tracker: fsdp, peak: [{device: a, bytes: {x: 10, y: 20}, total: 31},"
		      " {device: b, bytes: {x: 10, y: 20}, total: none}]}",
		      " 0 peak rows 2\n||0|a|31\n||0|b|30\nvalues 4 dropped 0\n");
	check_tracker("{tracker: plain, peak: []}", " 0 peak rows 0\nvalues 0 dropped 0\n");
}

TEST(what_is_no_row_is_counted)
{
	/* No dict, no bytes, bytes that are none; values that are no integers, a name that is none. */
	check_tracker(
		"{tracker: x, iteration: y, function: 3, peak: [7, {}, {bytes: [1]},"
		" {device: d, bytes: {a: 1, b: none, c: 1.5, 7: 1}}], modules: {a: {bytes: {}}}}",
		" 0 peak rows 1\n||0|d|1\nvalues 1 dropped 7\n");
	check_tracker("{tracker: x, peak: [{device: d, bytes: {a: 9223372036854775807, b: 1}}]}",
		      " 0 peak rows 1\n||0|d|9223372036854775807\nvalues 2 dropped 0\n");
}

TEST(kinds_are_named)
{
	struct plain *plain = plain_of("{tracker: x, peak: [{bytes: {temp: 5, a: none, 3: 3}}]}");
	struct memory_tracker tracker;
	int64_t bytes;

	tsi_memory_tracker_init(&tracker, plain);
	assert_string_equal(tsi_tracked_kind(&tracker, &tracker.rows[0], 0, &bytes).data, "temp");
	assert_int_equal(bytes, 5);
	for (size_t i = 1; i < 5; i++)
		assert_null(tsi_tracked_kind(&tracker, &tracker.rows[0], i, &bytes).data);
	tsi_arena_deinit(&tracker.arena);
	tsi_plain_free(plain);
}

TEST(other_data_is_none)
{
	static const char *const others[] = {
		"[]",        "{}",     "{tracker: 7, peak: []}", "{tracker: mlflow, lr: 1}",
		"[tracker]", "tracker"
	};

	for (size_t i = 0; i < TSI_COUNT_OF(others); i++) {
		struct plain *plain = plain_of(others[i]);

		if (tsi_is_memory_tracker(plain))
			fail_msg("%s is taken for a tracker's log", others[i]);
		tsi_plain_free(plain);
	}
}

TEST(every_allocation_may_fail)
{
	struct plain *plain = plain_of("{tracker: x, peak: [{bytes: {a: 1}}]}");

	struct alloc_sweep sweep = { .at_least = 2 };
	while (alloc_sweep_next(&sweep)) {
		struct memory_tracker tracker;

		alloc_sweep_start(&sweep);
		tsi_memory_tracker_init(&tracker, plain);
		alloc_sweep_check(&sweep, tsi_arena_status(&tracker.arena, &sweep.err));
		tsi_arena_deinit(&tracker.arena);
	}
	tsi_plain_free(plain);
}
