/* SPDX-License-Identifier: MIT */
/* Memory timelines: both forms, rows that are none, and sums that do not fit. */
#include "model/memory/memory_timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/attributes.h"
#include "check.h"
#include "fail_alloc.h"
#include "plain_text.h"

enum { DUMP_BYTES = 2048 };

static void put(char dump[DUMP_BYTES], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void put(char dump[DUMP_BYTES], const char *format, ...)
{
	size_t length = strlen(dump);
	va_list values;

	va_start(values, format);
	int added = vsnprintf(dump + length, DUMP_BYTES - length, format, values);
	va_end(values);
	assert_in_range(added, 0, DUMP_BYTES - length - 1);
}

/* A point a line: its time, and the categories that hold something. */
static void dump_timeline(char dump[DUMP_BYTES], const struct memory_timeline *timeline)
{
	dump[0] = '\0';
	for (size_t i = 0; i < timeline->count; i++) {
		put(dump, "%" PRId64, timeline->points[i].time_ns);
		for (size_t j = 0; j < MEMORY_CATEGORY_COUNT; j++)
			if (timeline->points[i].bytes[j])
				put(dump, " %s=%" PRId64,
				    tsi_memory_category_name((enum memory_category)j),
				    timeline->points[i].bytes[j]);
		put(dump, "\n");
	}
	if (timeline->is_raw)
		put(dump,
		    "rows %" PRIu64 ": %" PRIu64 " of %" PRId64 " B before, +%" PRIu64 " -%" PRIu64
		    " ~%" PRIu64 "\n",
		    timeline->row_count, timeline->preexisting_count, timeline->preexisting_bytes,
		    timeline->created_count, timeline->destroyed_count, timeline->changed_count);
	if (timeline->dropped_count)
		put(dump, "dropped %" PRIu64 "%s\n", timeline->dropped_count,
		    timeline->is_uneven ? ", uneven" : "");
}

static void check_timeline(const char *text, const char *expected)
{
	struct plain *plain = plain_of(text);
	struct memory_timeline timeline;
	char dump[DUMP_BYTES];

	assert_true(tsi_is_memory_timeline(plain));
	tsi_memory_timeline_init(&timeline, plain);
	tsi_plain_free(plain); /* it was copied */
	dump_timeline(dump, &timeline);
	assert_string_equal(dump, expected);
	tsi_arena_deinit(&timeline.arena);
}

TEST(points_are_read)
{
	check_timeline("[[1, 3], [[0, 5, 0, 0, 0, 0, 0, 0, 7], [9, 1, 2, 3, 4, 5, 6, 7, 8]]]",
		       "1000 parameter=5 unknown=7\n"
		       "3000 parameter=1 optimizer_state=2 input=3 temporary=4 activation=5 "
		       "gradient=6 autograd_detail=7 unknown=8\n");
	check_timeline("[[1795217192833961], ((0, 0, 0, 0, 0, 4294967296, 0, 0, 0),)]",
		       "1795217192833961000 activation=4294967296\n");
	check_timeline("[[], []]", "");
}

/*
 * 130 bytes exist before; at 5 ns 50 come and go, which no point shows; at 9 ns what was
 * unknown becomes a gradient: two rows, one change. The time -1 becomes the smallest other one.
 */
TEST(rows_are_added_up)
{
	check_timeline("[[-1, 1, 100, 0], [-1, 1, 30, 7], [5, 2, 50, 4], [5, 4, -50, 4],"
		       " [9, 3, -30, 7], [9, 3, 30, 5]]",
		       "5 parameter=100 unknown=30\n"
		       "5 parameter=100 unknown=30\n"
		       "9 parameter=100 gradient=30\n"
		       "rows 6: 2 of 130 B before, +1 -1 ~1\n");
	/* Two rows are no pair of times and sizes. */
	check_timeline("[[7, 2, 50, 4], [8, 4, -50, 4]]", "7 activation=50\n8\n"
							  "rows 2: 0 of 0 B before, +1 -1 ~0\n");
	/* A time that comes again later is another point; what existed before has no other time. */
	check_timeline("[[7, 2, 5, 0], [6, 2, 5, 0], [7, 2, 5, 0]]",
		       "7 parameter=5\n6 parameter=10\n7 parameter=15\n"
		       "rows 3: 0 of 0 B before, +3 -0 ~0\n");
	check_timeline("[[-1, 1, 5, 0]]", "-1 parameter=5\nrows 1: 1 of 5 B before, +0 -0 ~0\n");
}

TEST(rows_that_are_none_are_counted)
{
	/* Too short, too long, not integers, actions and categories that there are not. */
	check_timeline("[7, [], [1, 2, 3], [1, 2, 3, 4, 5], {a: 1, b: 2, c: 3, d: 4},"
		       " [1, 2, x, 4], [1, 2, 3.5, 4], [none, 2, 3, 4], [1, 5, 3, 4], [1, 0, 3, 4],"
		       " [1, 2, 3, 8], [1, 2, 3, -1], [2, 2, 18446744073709551615, 4],"
		       " [8, 2, 3, 4]]",
		       "8 activation=3\nrows 14: 0 of 0 B before, +1 -0 ~0\ndropped 13\n");
	check_timeline("[[1, x, 3, 9223372036854775807, 5],"
		       " [[0, 1, 0, 0, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0, 0, 0], [0, 1],"
		       "  [0, 1, 0, 0, 0, 0, 0, 0, 0], 5]]",
		       "1000 parameter=1\ndropped 4\n");
	check_timeline("[[1, 2, 3], [[0, 1, 0, 0, 0, 0, 0, 0, 0]]]",
		       "1000 parameter=1\ndropped 2, uneven\n");
	check_timeline("[[1], [[0, 1, 0, 0, 0, 0, 0, 0, 0], []]]",
		       "1000 parameter=1\ndropped 1, uneven\n");
}

TEST(sums_stay_at_their_ends)
{
	check_timeline("[[1, 1, 9223372036854775807, 0], [2, 1, 9223372036854775807, 0],"
		       " [3, 4, -9223372036854775807, 0]]",
		       "1 parameter=9223372036854775807\n2 parameter=9223372036854775807\n3\n"
		       "rows 3: 2 of 9223372036854775807 B before, +0 -1 ~0\n");
	check_timeline("[[1, 4, -9223372036854775807, 0], [2, 4, -9223372036854775807, 0]]",
		       "1 parameter=-9223372036854775807\n2 parameter=-9223372036854775808\n"
		       "rows 2: 0 of 0 B before, +0 -2 ~0\n");
}

TEST(a_point_is_the_sum_of_its_categories)
{
	static const struct {
		struct memory_point point;
		int64_t bytes;
	} cases[] = {
		{ { 0, { 1, 2, 4, 8, 16, 32, 64, 128 } }, 255 },
		{ { 0, { 0, INT64_MAX, 1, 0, 0, 0, 0, -7 } }, INT64_MAX - 7 },
		{ { 0, { INT64_MIN, -1 } }, INT64_MIN },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		assert_int_equal(tsi_memory_point_bytes(&cases[i].point), cases[i].bytes);
}

TEST(other_data_is_none)
{
	static const char *const others[] = {
		"[]",
		"{}",
		"7",
		"none",
		"[1, 2]",
		"[[1], [2]]",
		"[[1], {}]",
		"[[1], []]",
		"[[], [[]], []]",
		"{a: [1], b: [[0]]}",
		"[{ph: X}]",
		"[[1, 2, 3]]",
		"[[1, 9, 3, 4], [1, 2, 3, 9]]",
		"@list=[@list, @list, @list]",
	};

	for (size_t i = 0; i < TSI_COUNT_OF(others); i++) {
		struct plain *plain = plain_of(others[i]);

		if (tsi_is_memory_timeline(plain))
			fail_msg("%s is taken for a timeline", others[i]);
		tsi_plain_free(plain);
	}
}

/* A list that holds itself has rows that are none, and an end. */
TEST(a_list_may_hold_itself)
{
	check_timeline("@list=[@list, [1, 2, 3, 4], @list]",
		       "1 activation=3\nrows 3: 0 of 0 B before, +1 -0 ~0\ndropped 2\n");
	check_timeline("@list=[@list, @list]", "dropped 2\n");
}

TEST(every_allocation_may_fail)
{
	static const char *const texts[] = {
		"[[1, 2, 3, 4], [7, 2, 3, 4]]",
		"[[1, 2], [[0, 1, 0, 0, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0, 0, 0]]]",
	};

	for (size_t i = 0; i < TSI_COUNT_OF(texts); i++) {
		struct plain *plain = plain_of(texts[i]);

		struct alloc_sweep sweep = { 0 };

		while (alloc_sweep_next(&sweep)) {
			struct memory_timeline timeline;

			alloc_sweep_start(&sweep);
			tsi_memory_timeline_init(&timeline, plain);
			alloc_sweep_check(&sweep, tsi_arena_status(&timeline.arena, &sweep.err));
			tsi_arena_deinit(&timeline.arena);
		}
		tsi_plain_free(plain);
	}
}
