/* SPDX-License-Identifier: MIT */
/* Who comes late: by clocks where these are known, and by waiting. */
#include "world_text.h"

#include "check.h"

#define FACTS                                                                                      \
	"arrivals: count mean_skew_ns p95_skew_ns max_skew_ns max_clock_error_ns "                 \
	"max_clock_residual_ns order_is_known"

#define DP " group=dp ranks=0,1"

/*
 * Rank 1 shows 5000 more. It comes 990 later, 990 earlier and 900 later, so half of that
 * before or after the middle of both: (495 - 495 + 450) ÷ 3 = 150.
 *
 * Its clock, less 5000, cannot be off by more than these: 10 ahead at 3000 (the second ends then,
 * which rank 0 began at 2990), 10 behind at 990 (the first begins then, which ends at 1000),
 * and 100 behind at 4900. A line through 10 at 3000 and -100 at 4900 is at 990, the first
 * start, 10 + 110 ÷ 1900 × 2010 = 126.4: that is the most. 2 for roundings and up: 129.
 */
static const char two_ranks[] = "rank 0\n"
				"step 1 0 6000\n"
				"all_reduce 0 1000 seq=0" DP "\n"
				"all_reduce 2990 3000 seq=1" DP "\n"
				"all_reduce 4000 5000 seq=2" DP "\n"
				"rank 1 clock=5000\n"
				"step 1 0 6000\n"
				"all_reduce 990 1000 seq=0" DP "\n"
				"all_reduce 2000 3000 seq=1" DP "\n"
				"all_reduce 4900 5000 seq=2" DP "\n";

TEST(late_ranks_are_told)
{
	struct test_world *w = test_world(two_ranks);
	struct analyzed *a = analyze_world(w, NULL);

	/* 990, 990 and 900: (990 + 990 + 900) ÷ 3 = 960. */
	check_facts(a, FACTS, "3 960 990 990 129 0 yes");
	check_doubt(a, "arrivals.mean_skew_ns", NULL);
	check_table(a, "arrivals.ranks: rank count last_count last_fraction mean_lateness_ns",
		    "0 3 1 0.333333 -150\n"
		    "1 3 2 0.666667 150\n");
}

/*
 * The ends differ by -300, 0, 0 and 500: the median is 0, the deviations are 300, 0, 0 and 500, of
 * which the median is 150, × 1.4826 = 222.39, up. The skews are 100, 400, 400 and 900: half of
 * the mean, 450, is 225.
 */
static const char uncertain_clocks[] = "rank 0\n"
				       "step 1 0 60000\n"
				       "all_reduce 0 10000 seq=0" DP "\n"
				       "all_reduce 20000 30000 seq=1" DP "\n"
				       "all_reduce 30000 40000 seq=2" DP "\n"
				       "all_reduce 40000 50000 seq=3" DP "\n"
				       "rank 1\n"
				       "step 1 0 60000\n"
				       "all_reduce 100 9700 seq=0" DP "\n"
				       "all_reduce 20400 30000 seq=1" DP "\n"
				       "all_reduce 30400 40000 seq=2" DP "\n"
				       "all_reduce 40900 50500 seq=3" DP "\n";

TEST(uncertain_clocks_are_said_to_be)
{
	struct test_world *w = test_world(uncertain_clocks);
	struct analyzed *a = analyze_world(w, NULL);

	check_facts(a, "arrivals: mean_skew_ns max_clock_residual_ns order_is_known",
		    "450 223 yes");

	/* The same, but rank 1 comes 10 earlier. */
	w = test_world(uncertain_clocks);
	for (size_t i = 0; i < 4; i++)
		w->logs[1].ops[i].start_ns -= 10;
	for (size_t i = 0; i < 4; i++)
		w->logs[1].ops[i].dur_ns += 10;
	a = analyze_world(w, NULL);
	/* 90, 390, 390, 890: 440, of which half is 220. */
	check_facts(a, "arrivals: mean_skew_ns max_skew_ns order_is_known", "440 890 no");
	check_doubt(a, "arrivals.mean_skew_ns",
		    "the ends of collectives scatter too much for that");
	check_doubt(a, "arrivals.max_skew_ns", NULL);
}

/* Ranks 2 and 3 have nothing to do with the others, and rank 4 with nobody. */
TEST(without_a_clock_only_waiting_tells)
{
	struct test_world *w = test_world("rank 0\n"
					  "step 1 0 2000\n"
					  "all_reduce 0 1000 seq=0" DP "\n"
					  "rank 1\n"
					  "step 1 0 2000\n"
					  "all_reduce 990 1000 seq=0" DP "\n"
					  "rank 2\n"
					  "step 1 0 2000\n"
					  "all_reduce 500 1000 seq=0 group=ep ranks=2,3\n"
					  "rank 3\n"
					  "step 1 0 2000\n"
					  "all_reduce 100 1000 seq=0 group=ep ranks=2,3\n"
					  "rank 4\n"
					  "step 1 0 2000\n"
					  "broadcast 100 1000 seq=0 group=all ranks=4,5\n");
	struct analyzed *a = analyze_world(w, NULL);

	/* One end on each does not scatter; but clocks may be off by 1000, so skews mean nothing. */
	check_facts(a, "arrivals: count max_skew_ns max_clock_residual_ns order_is_known",
		    "2 990 0 no");
	check_table(a, "arrivals.ranks: rank count last_count last_fraction mean_lateness_ns",
		    "0 1 0 0 -495\n"
		    "1 1 1 1 495\n"
		    "2 1 1 1 -\n"
		    "3 1 0 0 -\n"
		    "4 0 - - -\n");
}

TEST(nothing_without_such_collectives)
{
	struct test_world *w = test_world("rank 0\n"
					  "step 1 0 2000\n"
					  "broadcast 0 1000 seq=0" DP "\n"
					  "rank 1\n"
					  "step 1 0 2000\n"
					  "broadcast 0 1000 seq=0" DP "\n");
	struct analyzed *a = analyze_world(w, NULL);

	check_facts(a, FACTS, "- - - - - - -");
	check_table(a, "arrivals.ranks: rank", "");
}
