/* SPDX-License-Identifier: MIT */
/* Figures of process groups, by hand. */
#include "memory_sweep.h"

#include <stdio.h>

#include "check.h"

#define ALL                                                                                        \
	"process_groups: group_count matched_count mismatched_count missing_count surplus_count "  \
	"cut_count point_to_point_count is_inferred"
#define GROUPS                                                                                     \
	"process_groups.groups: group ranks size read_count is_inferred matched_count "            \
	"mismatched_count missing_count surplus_count cut_count"

static const char unmatched[] =
	"more than 5 % of the collectives do not match across ranks: what is "
	"said of waiting and clocks rests on the others";

/*
 * dp: number 0 is cut, 1 and 3 match, 2 differs, 4 is on rank 0 alone, 5 not on rank 2, 6 matches.
 * pp: a message that matches, for which rank 2 has no peer that was read.
 */
static const char three_ranks[] = "rank 0\n"
				  "all_reduce 0 1 group=dp ranks=0,1,2,9 seq=0 bytes=8\n"
				  "all_reduce 1 2 group=dp ranks=0,1,2,9 seq=1 bytes=8\n"
				  "all_reduce 2 3 group=dp ranks=0,1,2,9 seq=2 bytes=8\n"
				  "all_reduce 3 4 group=dp ranks=0,1,2,9 seq=3 bytes=8\n"
				  "all_reduce 4 5 group=dp ranks=0,1,2,9 seq=4 bytes=8\n"
				  "all_reduce 5 6 group=dp ranks=0,1,2,9 seq=5 bytes=8\n"
				  "all_reduce 6 7 group=dp ranks=0,1,2,9 seq=6 bytes=8\n"
				  "send_recv 7 8 group=pp ranks=0,1,2,9 send peer=1\n"
				  "rank 1\n"
				  "all_reduce 0 1 group=dp ranks=0,1,2,9 seq=0 bytes=8 cut\n"
				  "all_reduce 1 2 group=dp ranks=0,1,2,9 seq=1 bytes=8\n"
				  "all_reduce 2 3 group=dp ranks=0,1,2,9 seq=2 bytes=16\n"
				  "all_reduce 3 4 group=dp ranks=0,1,2,9 seq=3 bytes=8\n"
				  "all_reduce 5 6 group=dp ranks=0,1,2,9 seq=5 bytes=8\n"
				  "all_reduce 6 7 group=dp ranks=0,1,2,9 seq=6 bytes=8\n"
				  "send_recv 7 8 group=pp ranks=0,1,2,9 peer=0\n"
				  "rank 2\n"
				  "all_reduce 0 1 group=dp ranks=0,1,2,9 seq=0 bytes=8\n"
				  "all_reduce 1 2 group=dp ranks=0,1,2,9 seq=1 bytes=8\n"
				  "all_reduce 2 3 group=dp ranks=0,1,2,9 seq=2 bytes=8\n"
				  "all_reduce 3 4 group=dp ranks=0,1,2,9 seq=3 bytes=8\n"
				  "all_reduce 6 7 group=dp ranks=0,1,2,9 seq=6 bytes=8\n"
				  "send_recv 7 8 group=pp ranks=0,1,2,9 send peer=9\n";

TEST(what_matches)
{
	struct test_world *w = test_world(three_ranks);
	struct analyzed *a = analyze_world(w, NULL);

	/* 3 of dp and the message match; 3 of 7 do not. */
	check_facts(a, ALL, "2 4 1 1 1 1 1 no");
	check_table(a, GROUPS, "dp 0-2, 9 4 3 no 3 1 1 1 1\npp 0-1 2 2 no 1 0 0 0 0\n");
	check_reliability(a, "process_groups", unmatched);
}

/* One of 20 that does not match is 5 %, not more; two of 36 are 5.6 %. */
TEST(few_do_not_match)
{
	static const struct {
		int count;
		const char *expected, *doubt;
	} cases[] = {
		{ 20, "1 19 1 0 0 0 0 no", NULL },
		{ 36, "1 34 2 0 0 0 0 no", unmatched },
	};

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		char text[8192] = "";
		size_t length = 0;

		for (int rank = 0; rank < 2; rank++) {
			length += (size_t)snprintf(text + length, sizeof(text) - length,
						   "rank %d\n", rank);
			for (int i = 0; i < cases[c].count; i++)
				length += (size_t)snprintf(
					text + length, sizeof(text) - length,
					"all_reduce %d %d group=dp ranks=0,1 seq=%d bytes=%d\n", i,
					i + 1, i, i == 9 || i == 29 ? rank : 8);
		}
		struct test_world *w = test_world(text);
		struct analyzed *a = analyze_world(w, NULL);
		check_facts(a, ALL, cases[c].expected);
		check_reliability(a, "process_groups", cases[c].doubt);
	}
}

TEST(inferred_groups)
{
	struct test_world *w = test_world("rank 3\nall_reduce 1 9\nrank 4\nall_reduce 5 9\n");
	struct analyzed *a = analyze_world(w, NULL);

	check_facts(a, ALL, "1 1 0 0 0 0 0 yes");
	/* Nobody calls it anything, nor says how large it is. */
	check_table(a, GROUPS, "- 3-4 - 2 yes 1 0 0 0 0\n");
	check_reliability(a, "process_groups", NULL);
}

TEST(nothing_in_common)
{
	struct test_world *w = test_world("rank 0\nrank 1\n");
	struct analyzed *a = analyze_world(w, NULL);

	check_facts(a, ALL, "0 0 0 0 0 0 0 no");
	check_table(a, GROUPS, "");
}

TEST(ranks_that_cannot_be)
{
	struct test_world *w = test_world("rank 0\nall_reduce 1 9 group=dp "
					  "ranks=0,1,9223372036854775806,9223372036854775807\n"
					  "rank 1\nall_reduce 1 9 group=dp "
					  "ranks=0,1,9223372036854775806,9223372036854775807\n");
	struct analyzed *a = analyze_world(w, NULL);

	check_table(a, GROUPS,
		    "dp 0-1, 9223372036854775806-9223372036854775807 4 2 no 1 0 0 0 0\n");
}

TEST(memory_ends)
{
	struct test_world *w = test_world(three_ranks);

	sweep_world("process_groups", w, 1);
}
