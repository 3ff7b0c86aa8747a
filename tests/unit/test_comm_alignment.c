/* SPDX-License-Identifier: MIT */
/* Which op of one rank is which of another: by number, by step, by order alone. */
#include "match_check.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/attributes.h"
#include "check.h"
#include "random_numbers.h"

/* ---- by sequence number ---- */

TEST(by_sequence)
{
	static const struct match_case cases[] = {
		/* Captures begin and end at other numbers: nothing is missing. */
		{ "rank 0\n1 seq=0\n2 seq=1\n3 seq=2\n4 seq=3\n"
		  "rank 1\n5 seq=2\n6 seq=3\n7 seq=4\n",
		  "g: 2 matched\n3=5 4=6\n" },
		/* Number 1 is on one rank alone; what follows is not shifted. */
		{ "rank 0\n1 seq=0\n2 seq=1\n3 seq=2\n"
		  "rank 1\n5 seq=0\n6 seq=2\n",
		  "g: 2 matched 1 surplus\n1=5 3=6\n" },
		/* Ops of one coalesced group share a number. */
		{ "rank 0\n1 seq=0 bytes=8\n2 seq=0 bytes=16\n3 seq=1 bytes=8\n"
		  "rank 1\n5 seq=0 bytes=8\n6 seq=0 bytes=16\n7 seq=1 bytes=8\n",
		  "g: 3 matched\n1=5 2=6 3=7\n" },
		/* Numbers begin anew on both. */
		{ "rank 0\n1 seq=7\n2 seq=8\n3 seq=0\n4 seq=1\n"
		  "rank 1\n5 seq=8\n6 seq=0\n7 seq=1\n8 seq=2\n",
		  "g: 3 matched\n2=5 3=6 4=7\n" },
		/* On one only, since it was captured later: order tells, as contents differ. */
		{ "rank 0\n1 seq=7 bytes=8\n2 seq=0 bytes=16\n3 seq=1 bytes=24\n"
		  "rank 1\n5 seq=0 bytes=16\n6 seq=1 bytes=24\n",
		  "g: 2 matched\n2=5 3=6\n" },
		/* The same, where steps tell: 1 is not the 1 of before. */
		{ "rank 0\n1 seq=1 step=1\n2 seq=0 step=2\n3 seq=1 step=3\n"
		  "rank 1\n5 seq=0 step=2\n6 seq=1 step=3\n",
		  "g: 2 matched\n2=5 3=6\n" },
		/* Numbers that are nonsense: every one would differ in size. */
		{ "rank 0\n1 seq=0 bytes=8\n2 seq=1 bytes=16\n3 seq=2 bytes=24\n"
		  "rank 1\n5 seq=1 bytes=8\n6 seq=2 bytes=16\n7 seq=3 bytes=24\n",
		  "g: 3 matched\n1=5 2=6 3=7\n" },
		{ "rank 0\n1 seq=-5\n2 seq=9223372036854775807\n"
		  "rank 1\n5 seq=-5\n6 seq=9223372036854775807\n",
		  "g: 2 matched\n1=5 2=6\n" },
	};

	check_matches(cases, TSI_COUNT_OF(cases), "0,1");
}

TEST(three_ranks)
{
	static const struct match_case cases[] = {
		/* Number 1 is not on rank 2, number 3 on rank 0 alone. */
		{ "rank 0\n1 seq=0\n2 seq=1\n3 seq=2\n4 seq=3\n5 seq=4\n"
		  "rank 1\n1 seq=0\n2 seq=1\n3 seq=2\n5 seq=4\n"
		  "rank 2\n1 seq=0\n3 seq=2\n5 seq=4\n",
		  "g: 3 matched 1 missing 1 surplus\n1=1=1 3=3=3 5=5=5\n" },
		/* What all three have of the captures: number 2 alone. */
		{ "rank 0\n1 seq=0\n2 seq=1\n3 seq=2\n"
		  "rank 1\n2 seq=1\n3 seq=2\n4 seq=3\n"
		  "rank 2\n3 seq=2\n4 seq=3\n5 seq=4\n",
		  "g: 1 matched\n3=3=3\n" },
		/* A rank without any op of the group says nothing about it. */
		{ "rank 0\n1\n"
		  "rank 1\n2\n"
		  "rank 2\n",
		  "g: 1 matched\n1=2\n" },
		/* One rank says no size: the others must agree all the same. */
		{ "rank 0\n1\n2\n"
		  "rank 1\n1 bytes=8\n2 bytes=8\n"
		  "rank 2\n1 bytes=8\n2 bytes=16\n",
		  "g: 1 matched 1 mismatched\n1=1=1\n" },
	};

	check_matches(cases, TSI_COUNT_OF(cases), "0,1,2");
}

/* ---- by step ---- */

TEST(by_step)
{
	static const struct match_case cases[] = {
		/* Steps 2 and 3 are on both. */
		{ "rank 0\n1 step=1\n2 step=2\n3 step=3\n"
		  "rank 1\n5 step=2\n6 step=3\n7 step=4\n",
		  "g: 2 matched\n2=5 3=6\n" },
		/* None: equal ops of other steps are other ops. */
		{ "rank 0\n1 step=1\n2 step=2\n"
		  "rank 1\n5 step=3\n6 step=4\n",
		  "g:\n" },
		/* The capture begins in the middle of step 1 on rank 1 and ends in that of 2. */
		{ "rank 0\n1 step=1\n2 step=1\n3 step=2\n4 step=2\n"
		  "rank 1\n6 step=1\n7 step=2\n",
		  "g: 2 matched\n2=6 3=7\n" },
		/* In step 2 the one of 16 bytes is missing. */
		{ "rank 0\n1 step=1 bytes=8\n2 step=2 bytes=8\n3 step=2 bytes=16\n"
		  "4 step=2 bytes=24\n5 step=3 bytes=8\n"
		  "rank 1\n1 step=1 bytes=8\n2 step=2 bytes=8\n4 step=2 bytes=24\n"
		  "5 step=3 bytes=8\n",
		  "g: 4 matched 1 surplus\n1=1 2=2 4=4 5=5\n" },
		/* Which of three equal ones is missing cannot be told: none of them is matched. */
		{ "rank 0\n1 step=1\n2 step=2\n3 step=2\n4 step=2\n5 step=3\n"
		  "rank 1\n1 step=1\n2 step=2\n3 step=2\n5 step=3\n",
		  "g: 2 matched 3 surplus\n1=1 5=5\n" },
		/*
		 * Either three differ in their places, or the twos of rank 1 come one later:
		 * whether its second and third are those of rank 0 cannot be told.
		 */
		{ "rank 0\n1 step=1 bytes=9\n2 step=2 bytes=2\n3 step=2 bytes=2\n4 step=2 bytes=2\n"
		  "5 step=2 bytes=1\n6 step=2 bytes=1\n7 step=3 bytes=9\n"
		  "rank 1\n1 step=1 bytes=9\n2 step=2 bytes=1\n3 step=2 bytes=2\n4 step=2 bytes=2\n"
		  "5 step=2 bytes=2\n6 step=2 bytes=2\n7 step=3 bytes=9\n",
		  "g: 2 matched 3 mismatched 2 surplus\n1=1 7=7\n" },
		/* Another size in the middle: the others match. */
		{ "rank 0\n1 step=1 bytes=8\n2 step=1 bytes=8\n3 step=1 bytes=8\n"
		  "rank 1\n1 step=1 bytes=8\n2 step=1 bytes=9\n3 step=1 bytes=8\n",
		  "g: 2 matched 1 mismatched\n1=1 3=3\n" },
		/*
		 * The second op of each step began so late on rank 1 that it fell into the next
		 * one, but for that, all is the same.
		 */
		{ "rank 0\n1 step=1 bytes=8\n2 step=1 bytes=16\n3 step=2 bytes=8\n"
		  "4 step=2 bytes=16\n5 step=3 bytes=8\n6 step=3 bytes=24\n"
		  "rank 1\n1 step=1 bytes=8\n2 step=2 bytes=16\n3 step=2 bytes=8\n"
		  "4 step=3 bytes=16\n5 step=3 bytes=8\n6 step=3 bytes=24\n",
		  "g: 6 matched\n1=1 2=2 3=3 4=4 5=5 6=6\n" },
		/* Ops before the first and after the last step are of no step. */
		{ "rank 0\n1\n2 step=1\n3 step=2\n4\n"
		  "rank 1\n5 step=1\n6 step=2\n7\n",
		  "g: 3 matched\n2=5 3=6 4=7\n" },
	};

	check_matches(cases, TSI_COUNT_OF(cases), "0,1");
}

/* ---- by order alone ---- */

TEST(by_order)
{
	static const struct match_case cases[] = {
		{ "rank 0\n1\n2\n"
		  "rank 1\n5\n6\n",
		  "g: 2 matched\n1=5 2=6\n" },
		/* From the middle on, sizes 24, 32 and 40 are on both. */
		{ "rank 0\n1 bytes=8\n2 bytes=16\n3 bytes=24\n4 bytes=32\n5 bytes=40\n"
		  "rank 1\n3 bytes=24\n4 bytes=32\n5 bytes=40\n6 bytes=48\n",
		  "g: 3 matched\n3=3 4=4 5=5\n" },
		/* The same with one missing in the middle, and one that differs. */
		{ "rank 0\n1 bytes=8\n2 bytes=16\n3 bytes=24\n4 bytes=32\n5 bytes=40\n"
		  "6 bytes=48\n7 bytes=56\n"
		  "rank 1\n2 bytes=16\n3 bytes=24\n5 bytes=40\n6 bytes=1\n7 bytes=56\n"
		  "8 bytes=64\n",
		  "g: 4 matched 1 mismatched 1 surplus\n2=2 3=3 5=5 7=7\n" },
		/* Another type; another kind. */
		{ "rank 0\n1 dtype=Half bytes=8\n2 dtype=Float bytes=16\n3 dtype=Half bytes=24\n"
		  "4 dtype=Half bytes=32\n5 dtype=Half bytes=40\n"
		  "rank 1\n1 dtype=Half bytes=8\n2 dtype=Half bytes=16\n3 dtype=Half bytes=24\n"
		  "all_gather 4 49 group=g ranks=0,1 dtype=Half bytes=32\n5 dtype=Half bytes=40\n",
		  "g: 3 matched 2 mismatched\n1=1 3=3 5=5\n" },
		/* Nothing in common. */
		{ "rank 0\n1 bytes=8\n2 bytes=8\n"
		  "rank 1\n3 bytes=9\n",
		  "g:\n" },
	};

	check_matches(cases, TSI_COUNT_OF(cases), "0,1");
}

/*
 * Equal ops on each rank, and nothing says that rank 1 was captured one op later. By sizes alone
 * the first of rank 0 would be the first of rank 1, too; but they end together only if its second
 * is that, as the clock of rank 1 is 1 ms behind.
 */
TEST(ends_tell_the_shift)
{
	static const struct match_case cases[] = {
		{ "rank 0\n"
		  "all_reduce 100000 110000 group=g ranks=0,1 bytes=8\n"
		  "all_reduce 1130000 1140000 group=g ranks=0,1 bytes=8\n"
		  "all_reduce 2220000 2230000 group=g ranks=0,1 bytes=8\n"
		  "all_reduce 3050000 3060000 group=g ranks=0,1 bytes=8\n"
		  "all_reduce 4190000 4200000 group=g ranks=0,1 bytes=8\n"
		  "all_reduce 5010000 5020000 group=g ranks=0,1 bytes=8\n"
		  "all_reduce 6000000 6010000 group=g ranks=0,1 bytes=9\n"
		  "rank 1\n"
		  "all_reduce 130000 140000 group=g ranks=0,1 bytes=8\n"
		  "all_reduce 1220000 1230000 group=g ranks=0,1 bytes=8\n"
		  "all_reduce 2050000 2060000 group=g ranks=0,1 bytes=8\n"
		  "all_reduce 3190000 3200000 group=g ranks=0,1 bytes=8\n"
		  "all_reduce 4010000 4020000 group=g ranks=0,1 bytes=8\n",
		  "g: 5 matched\n1130000=130000 2220000=1220000 3050000=2050000 4190000=3190000 "
		  "5010000=4010000\n" },
	};

	check_matches(cases, TSI_COUNT_OF(cases), "0,1");
}

/*
 * What is alike but cannot be the same: the second of rank 0 ends 100 ms after the first, that of
 * rank 1 would have begun 150 ms after its first has ended, and the clocks cannot jump.
 */
TEST(what_cannot_be)
{
	static const struct match_case cases[] = {
		{ "rank 0\n"
		  "all_reduce 0 10000000 group=g ranks=0,1 step=1\n"
		  "all_reduce 100000000 110000000 group=g ranks=0,1 step=2\n"
		  "all_reduce 300000000 310000000 group=g ranks=0,1 step=3\n"
		  "rank 1\n"
		  "all_reduce 0 10000000 group=g ranks=0,1 step=1\n"
		  "all_reduce 160000000 170000000 group=g ranks=0,1 step=2\n"
		  "all_reduce 200000000 210000000 group=g ranks=0,1 step=3\n",
		  "g: 3 mismatched\n" },
		/* One op more on rank 0: it is the first or the last, but neither fits. */
		{ "rank 0\n"
		  "all_reduce 0 10000000 group=g ranks=0,1\n"
		  "all_reduce 100000000 110000000 group=g ranks=0,1\n"
		  "all_reduce 300000000 310000000 group=g ranks=0,1\n"
		  "all_reduce 500000000 510000000 group=g ranks=0,1\n"
		  "rank 1\n"
		  "all_reduce 0 10000000 group=g ranks=0,1\n"
		  "all_reduce 160000000 170000000 group=g ranks=0,1\n"
		  "all_reduce 200000000 210000000 group=g ranks=0,1\n",
		  "g:\n" },
	};

	check_matches(cases, TSI_COUNT_OF(cases), "0,1");
}

/* Two threads of a rank may begin in another order than they were told to. */
TEST(in_the_order_of_calls)
{
	static const struct match_case cases[] = {
		{ "rank 0\n1 launch=1 bytes=8\n3 launch=2 bytes=16\n"
		  "rank 1\n2 launch=2 bytes=16\n3 launch=1 bytes=8\n",
		  "g: 2 matched\n1=3 3=2\n" },
	};

	check_matches(cases, TSI_COUNT_OF(cases), "0,1");
}

/* ---- at random ---- */

enum { RANKS = 4, STEPS = 6, OPS = 5 };

enum { LOSES_ONE = 1, SAYS_SEQUENCE = 2 };

/*
 * A rank's ops: each starts at its own number, so that a match tells whether it is right. One that
 * is lost lies in a step that was captured as a whole: elsewhere it looks like the capture's edge.
 */
static void write_rank(struct test_text *text, uint64_t *random, const int *sizes, int options,
		       int *rank_counts)
{
	int first = random_below(random, 2 * OPS);
	int last = STEPS * OPS - random_below(random, 2 * OPS);
	int lost = (2 + random_below(random, STEPS - 4)) * OPS + random_below(random, OPS);

	for (int i = first; i < last; i++) {
		if (i == lost && (options & LOSES_ONE))
			continue;
		rank_counts[i]++;
		test_text_add(text, "all_reduce %d %d group=g ranks=0,1,2,3 step=%d bytes=%d", i,
			      i + 1, i / OPS, sizes[i]);
		if (options & SAYS_SEQUENCE)
			test_text_add(text, " seq=%d", i);
		test_text_add(text, "\n");
	}
}

static void check_members(const struct test_world *w, int round)
{
	for (size_t i = 0; i < w->world->member_count; i++) {
		const struct match_member *member = &w->world->members[i];
		const struct match_member *first = &w->world->members[i / RANKS * RANKS];

		if (w->logs[member->rank].ops[member->op].start_ns !=
		    w->logs[first->rank].ops[first->op].start_ns)
			fail_msg("round %d: rank %u matches what is not the same", round,
				 member->rank);
	}
}

/*
 * Ranks that were captured for other times, one of which perhaps lost an op: nothing is matched
 * that is not the same, and where numbers tell, all that the ranks have in common is.
 */
TEST(nothing_is_guessed)
{
	uint64_t random = 1;

	for (int round = 0; round < 400; round++) {
		int sizes[STEPS * OPS], rank_counts[STEPS * OPS] = { 0 };
		int options = round % 2 ? SAYS_SEQUENCE : 0;
		struct test_text *text = calloc(1, sizeof(*text));
		size_t common_count = 0;

		assert_non_null(text);
		for (int i = 0; i < STEPS * OPS; i++)
			sizes[i] = random_below(&random, 3) + 1;
		for (int rank = 0; rank < RANKS; rank++) {
			test_text_add(text, "rank %d\n", rank);
			write_rank(text, &random, sizes,
				   options | (rank == round % 5 ? LOSES_ONE : 0), rank_counts);
		}
		for (int i = 0; i < STEPS * OPS; i++)
			common_count += rank_counts[i] == RANKS;
		struct test_world *w = test_world_of_logs(text->bytes);
		find_matches(w);
		check_members(w, round);
		/* Without numbers, up to a step's ops cannot be told from the one that is lost. */
		assert_in_range(w->world->match_count,
				options ? common_count : common_count - (OPS - 1), common_count);
		free(text);
	}
}
