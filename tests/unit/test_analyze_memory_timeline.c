/* SPDX-License-Identifier: MIT */
/* Figures of memory timelines: the peak, categories, and the sketch of many points. */
#include "analysis_check.h"

#include <stdio.h>
#include <stdlib.h>

#include "check.h"

#define ALL                                                                                        \
	"memory_timeline: path point_count start_time_ns end_time_ns window_ns peak_bytes "        \
	"peak_index peak_time_ns end_bytes row_count preexisting_bytes preexisting_count "         \
	"created_count destroyed_count changed_count"
#define CATEGORIES "memory_timeline.by_category: category peak_bytes end_bytes own_peak_bytes"
#define SKETCH                                                                                     \
	"memory_timeline.timeline: index time_ns bytes parameter_bytes optimizer_state_bytes "     \
	"input_bytes temporary_bytes activation_bytes gradient_bytes autograd_detail_bytes "       \
	"unknown_bytes"

/*
 * Totals 12, 36, 30, 36, 9: the peak is the first 36, at 3 µs. Activations are most at the
 * second one, 30.
 */
TEST(the_points_of_the_json_form)
{
	struct analyzed *a = analyze_memory("[[2, 3, 5, 7, 12],"
					    " [[0, 5, 0, 0, 0, 0, 0, 0, 7],"
					    "  [0, 1, 2, 3, 4, 5, 6, 7, 8],"
					    "  [0, 0, 0, 0, 0, 30, 0, 0, 0],"
					    "  [0, 36, 0, 0, 0, 0, 0, 0, 0],"
					    "  [0, 9, 0, 0, 0, 0, 0, 0, 0]]]",
					    NULL);

	check_facts(a, ALL, "test 5 2000 12000 10000 36 1 3000 9 - - - - - -");
	check_table(a, CATEGORIES,
		    "parameter 1 9 36\noptimizer_state 2 0 2\ninput 3 0 3\ntemporary 4 0 4\n"
		    "activation 5 0 30\ngradient 6 0 6\nautograd_detail 7 0 7\nunknown 8 0 8\n");
	check_table(a, SKETCH,
		    "0 2000 12 5 0 0 0 0 0 0 7\n1 3000 36 1 2 3 4 5 6 7 8\n"
		    "2 5000 30 0 0 0 0 30 0 0 0\n3 7000 36 36 0 0 0 0 0 0 0\n"
		    "4 12000 9 9 0 0 0 0 0 0 0\n");
}

/* 100 + 30 before the profile; 50 come, of which the change makes gradients; 130 go. */
TEST(the_rows_of_the_raw_form)
{
	struct analyzed *a = analyze_memory("[[-1, 1, 100, 0], [-1, 1, 30, 7], [5, 2, 50, 4],"
					    " [9, 3, -50, 4], [9, 3, 50, 5], [11, 4, -100, 0],"
					    " [11, 4, -30, 7]]",
					    NULL);

	check_facts(a, ALL, "test 4 5 11 6 180 1 5 50 7 130 2 1 2 1");
	check_table(a, "memory_timeline.timeline: index time_ns bytes gradient_bytes",
		    "0 5 130 0\n1 5 180 0\n2 9 180 50\n3 11 50 50\n");
}

/* Without a time there are bytes, and nothing said of when. Times that go back have no window. */
TEST(times_may_be_missing)
{
	struct analyzed *a = analyze_memory("[[-1, 1, 100, 0]]", NULL);

	check_facts(a, ALL, "test 1 - - - 100 0 - 100 1 100 1 0 0 0");
	check_table(a, "memory_timeline.timeline: index time_ns bytes", "0 - 100\n");

	a = analyze_memory("[[9, 2, 5, 0], [4, 2, 5, 0]]", NULL);
	check_facts(a, ALL, "test 2 9 4 - 10 1 4 10 2 0 0 2 0 0");
}

/*
 * 480 points make 240 stretches of two, each with the higher one of both. Of point i there are
 * i bytes, but point 100 has 9999: the stretch of 100 and 101 shows it, with the index of 101.
 */
TEST(many_points_make_a_sketch)
{
	enum { POINTS = 480, ROWS = 240, LINE = 64 };
	char *text = malloc(POINTS * LINE), *expected = malloc(ROWS * LINE);
	size_t length = 0, used = 0;

	assert_non_null(text);
	assert_non_null(expected);
	for (int i = 0; i < POINTS; i++) {
		int bytes = i == 100 ? 9999 : i, before = i == 101 ? 9999 : i - 1;

		length +=
			(size_t)snprintf(text + length, POINTS * LINE - length, "%s[%d, 2, %d, 0]",
					 i ? ", " : "[", i, i ? bytes - before : 0);
	}
	snprintf(text + length, POINTS * LINE - length, "]");
	for (int row = 0; row < ROWS; row++)
		used += (size_t)snprintf(expected + used, ROWS * LINE - used, "%d %d %d\n",
					 2 * row + 1, 2 * row + 1, row == 50 ? 9999 : 2 * row + 1);
	struct analyzed *a = analyze_memory(text, NULL);
	check_facts(a, "memory_timeline: point_count peak_bytes peak_index end_bytes",
		    "480 9999 100 479");
	check_table(a, "memory_timeline.timeline: index time_ns bytes", expected);
	free(text);
	free(expected);
}

TEST(absurd_sizes_stay_at_the_ends)
{
	struct analyzed *a = analyze_memory("[[1, 2, 9223372036854775807, 0],"
					    " [2, 2, 9223372036854775807, 1],"
					    " [3, 4, -9223372036854775807, 0],"
					    " [3, 4, -9223372036854775807, 0],"
					    " [9223372036854775807, 4, -9223372036854775807, 1]]",
					    NULL);

	/* At the end −(2⁶³ − 1), which went once too often, and 0. */
	check_facts(a, "memory_timeline: window_ns peak_bytes peak_index end_bytes destroyed_count",
		    "9223372036854775806 9223372036854775807 0 -9223372036854775807 3");
}
