/* SPDX-License-Identifier: MIT */
/* The load of experts from the sizes of all-to-alls, by hand. */
#include "memory_sweep.h"

#include "base/attributes.h"
#include "check.h"

#define ALL "experts: count imbalance_ratio worst_imbalance_ratio busiest_rank"

#define RANK(number, first, second, third)                                                         \
	"rank " number "\nstep 1 0 1000\n"                                                         \
	"all_to_all 100 200 group=ep ranks=0,1,2,3 seq=0 bytes=300 received=" first "\n"           \
	"all_to_all 300 400 group=ep ranks=0,1,2,3 seq=1 bytes=100 received=" second "\n"          \
	"all_to_all 500 600 group=ep ranks=0,1,2,3 seq=2 bytes=300 received=" third "\n"

/*
 * Of 800 the mean is 200 and the most 300, of 600 it is 150 and 300: ratios 1.5 and 2. The one
 * between is even. Rank 0 gets 400, as rank 2 does, of 350 in the mean.
 */
static const char four_ranks[] = RANK("0", "100", "100", "300") RANK("1", "200", "100", "100")
	RANK("2", "300", "100", "100") RANK("3", "200", "100", "100");

TEST(loads_by_hand)
{
	struct test_world *w = test_world(four_ranks);
	struct analyzed *a = analyze_world(w, NULL);

	check_facts(a, ALL, "2 1.75 2 0");
	check_table(a, "experts.ranks: rank received_bytes load_ratio",
		    "0 400 1.14286\n1 300 0.857143\n2 400 1.14286\n3 300 0.857143\n");
	check_reliability(a, "experts", NULL);
}

/* Two groups: who gets most is told by bytes, how much more by its own group. */
TEST(groups_have_means_of_their_own)
{
	struct test_world *w = test_world(
		"rank 0\nstep 1 0 1000\nall_to_all 1 9 group=ep ranks=0,1 bytes=30 received=10\n"
		"rank 1\nstep 1 0 1000\nall_to_all 1 9 group=ep ranks=0,1 bytes=30 received=30\n"
		"rank 2\nstep 1 0 1000\nall_to_all 1 9 group=ep ranks=2,3 bytes=30 received=90\n"
		"rank 3\nstep 1 0 1000\nall_to_all 1 9 group=ep ranks=2,3 bytes=30 received=110\n");
	struct analyzed *a = analyze_world(w, NULL);

	/* 30 ÷ 20 and 110 ÷ 100. */
	check_facts(a, ALL, "2 1.3 1.5 3");
	check_table(a, "experts.ranks: rank load_ratio", "0 0.5\n1 1.5\n2 0.9\n3 1.1\n");
}

TEST(nothing_to_tell)
{
	static const char *const worlds[] = {
		/* Even. */
		"rank 0\nstep 1 0 1000\nall_to_all 1 9 group=ep ranks=0,1 bytes=30 received=20\n"
		"rank 1\nstep 1 0 1000\nall_to_all 1 9 group=ep ranks=0,1 bytes=30 received=20\n",
		/* One does not say. */
		"rank 0\nstep 1 0 1000\nall_to_all 1 9 group=ep ranks=0,1 bytes=30 received=20\n"
		"rank 1\nstep 1 0 1000\nall_to_all 1 9 group=ep ranks=0,1 bytes=30\n",
		/* Another kind. */
		"rank 0\nstep 1 0 1000\nall_gather 1 9 group=ep ranks=0,1 bytes=30 received=20\n"
		"rank 1\nstep 1 0 1000\nall_gather 1 9 group=ep ranks=0,1 bytes=30 received=10\n",
		/* On one of two ranks only. */
		"rank 0\nstep 1 0 1000\nall_to_all 1 9 group=ep ranks=0,1 bytes=30 received=20\n"
		"rank 1\nstep 1 0 1000\n",
	};

	for (size_t i = 0; i < TSI_COUNT_OF(worlds); i++) {
		struct test_world *w = test_world(worlds[i]);
		struct analyzed *a = analyze_world(w, NULL);

		check_facts(a, ALL, "- - - -");
		check_table(a, "experts.ranks: rank", "");
	}
}

TEST(a_rank_that_was_not_read)
{
	struct test_world *w = test_world(
		"rank 0\nstep 1 0 1000\nall_to_all 1 9 group=ep ranks=0,1,2 bytes=9 received=1\n"
		"rank 1\nstep 1 0 1000\nall_to_all 1 9 group=ep ranks=0,1,2 bytes=9 received=3\n");
	struct analyzed *a = analyze_world(w, NULL);

	check_facts(a, ALL, "1 1.5 1.5 1");
	check_reliability(a, "experts", "some ranks of the groups were not read");
}

TEST(sizes_beyond_measure)
{
	struct test_world *w =
		test_world("rank 0\nstep 1 0 1000\nall_to_all 1 9 group=ep ranks=0,1 received=0\n"
			   "all_to_all 11 19 group=ep ranks=0,1 received=9223372036854775807\n"
			   "rank 1\nstep 1 0 1000\nall_to_all 1 9 group=ep ranks=0,1 "
			   "received=9223372036854775807\n"
			   "all_to_all 11 19 group=ep ranks=0,1 received=9223372036854775806\n");
	struct analyzed *a = analyze_world(w, NULL);

	/* Sums end at the largest number, which the second's mean is half of. */
	check_facts(a, ALL, "2 2 2 0");
}

TEST(memory_ends)
{
	struct test_world *w = test_world(four_ranks);

	sweep_world("experts", w, 2);
}
