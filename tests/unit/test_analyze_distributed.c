/* SPDX-License-Identifier: MIT */
/* Ranks side by side: pytscope's figures by hand, ours beside them, and the edges. */
#include "analysis_check.h"
#include "step_text.h"
#include "world_text.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "memory_sweep.h"

enum { MAX_RANKS = 100, MAX_STEPS = 30 };

#define ALL                                                                                        \
	"distributed: world_size n_steps mean_step_wall_ns mean_comm_fraction "                    \
	"mean_transfer_fraction imbalance_cv sync_skew_ns wall_frac_lost_to_imbalance "            \
	"wall_lost_ns_per_step"

/* Ranks 0, 1 … of these texts. */
static struct analyzed *analyze_texts(const char *const *texts, size_t rank_count)
{
	struct step_series ranks[MAX_RANKS];

	for (size_t i = 0; i < rank_count; i++) {
		ranks[i] = test_steps(texts[i]);
		ranks[i].rank = (int64_t)i;
	}
	return analyze_run(ranks, rank_count, NULL);
}

/* Ranks that need so long in each step. */
static struct analyzed *analyze_even_steps(const int64_t *compute_ns, size_t rank_count,
					   size_t step_count,
					   const struct tscope_analysis_options *options)
{
	struct step_series ranks[MAX_RANKS];

	for (size_t i = 0; i < rank_count; i++) {
		char text[MAX_STEPS * 48] = "";
		for (size_t step = 0, at = 0; step < step_count; step++)
			at += (size_t)snprintf(text + at, sizeof(text) - at,
					       "%zu backward=%lld comm=1\n", step,
					       (long long)compute_ns[i]);
		ranks[i] = test_steps(text);
		ranks[i].rank = (int64_t)i;
	}
	return analyze_run(ranks, rank_count, options);
}

TEST(figures_by_hand)
{
	/*
	 * Step 1: compute 100 100 160, communication 70 60 10. Wall 160 + 70 = 230, of that
	 * 70 ÷ 230 = 0.304348; transfer 10 ÷ 170 = 0.058824; mean 120, deviation
	 * sqrt((400 + 400 + 1600) ÷ 3) = 28.2843, by mean 0.2357023; median 100, skew 60.
	 * Step 2: compute 120 100 110, communication 20 30 30. Wall 150, 0.2; transfer
	 * 20 ÷ 140 = 0.142857; mean 110, deviation 8.16497, by mean 0.0742270; skew 10.
	 * Lost: (160 − 120) + (120 − 110) = 50 of 280.
	 */
	static const char *const texts[] = {
		"1 data=5 forward=40 backward=50 optimizer=10 comm=70\n2 compute=120 comm=20\n",
		"1 forward=100 comm=60 other=9\n2 forward=100 comm=30\n",
		"1 forward=160 comm=10 eval=50\n2 forward=110 comm=30\n",
	};
	struct analyzed *a = analyze_texts(texts, 3);

	check_facts(a, ALL, "3 2 190 0.252174 0.10084 0.154965 35 0.178571 25");
	/*
	 * Chance has 2 ÷ 3 of the steps for each rank, deviation sqrt(2 × 1/3 × 2/3) = 2 ÷ 3.
	 * Slowdowns: 0 and 10 ÷ 110; 0 and −10 ÷ 110; 0.6 and 0; the median is their mean.
	 */
	check_table(a,
		    "distributed.ranks: rank mean_compute_ns median_compute_ns slowest_count "
		    "slowest_fraction straggler_z rel_slowdown",
		    "0 110 110 1 0.5 0.5 0.0454545\n"
		    "1 100 100 0 0 -1 -0.0454545\n"
		    "2 135 135 1 0.5 0.5 0.3\n");
	/*
	 * Waits: 60 0, 50 10, 0 10. Levels: (1 + 1.0909) ÷ 2 = 1.04545, 0.954545, 1.3; the
	 * others' medians: 1.127273, 1.172727, 1.
	 */
	check_table(a, "distributed.ranks: mean_comm_ns mean_wait_ns excess_ratio",
		    "45 30 -0.0725806\n45 30 -0.186047\n20 5 0.3\n");
	check_table(a, "distributed.straggler: rank", "");
	check_table(a, "distributed.slow_ranks: rank", "");
	check_reliability(a, "distributed", NULL);
}

TEST(one_straggler)
{
	static const int64_t compute_ns[] = { 100, 100, 100, 112, 100, 100, 100, 100 };
	struct analyzed *a = analyze_even_steps(compute_ns, 8, 10, NULL);

	/* (10 − 1.25) ÷ sqrt(10 × 1/8 × 7/8) = 8.3666 */
	check_table(a,
		    "distributed.straggler: rank straggler_z rel_slowdown slowest_fraction "
		    "excess_ratio",
		    "3 8.3666 0.12 1 0.12\n");
	check_table(a, "distributed.slow_ranks: rank excess_ratio gain_ns", "3 0.12 12\n");
	check_facts(a, "distributed: slow_gain_ns slow_gain_ratio slow_gain_is_simulated",
		    "12 0.106195 no");
}

/* z is sqrt(steps) with two ranks, sqrt(7 × steps) with eight: 3.0 is enough, and so is 5 %. */
TEST(thresholds_of_the_straggler)
{
	static const struct {
		int64_t compute_ns[8];
		size_t rank_count, step_count;
		const char *straggler;
	} cases[] = {
		{ { 100, 112 }, 2, 9, "1\n" },
		{ { 100, 112 }, 2, 8, "" }, /* z = 2.83 */
		{ { 100, 100, 100, 100, 100, 100, 105, 100 }, 8, 10, "6\n" },
		{ { 1000, 1000, 1000, 1000, 1000, 1000, 1049, 1000 }, 8, 10, "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct analyzed *a = analyze_even_steps(cases[i].compute_ns, cases[i].rank_count,
							cases[i].step_count, NULL);
		check_table(a, "distributed.straggler: rank", cases[i].straggler);
	}
}

TEST(the_threshold_is_that_of_the_options)
{
	static const int64_t compute_ns[] = { 100, 100, 125, 100, 100, 100, 100, 100 };
	static const struct {
		double min_excess;
		const char *slow;
	} cases[] = { { 0, "2\n" }, { 0.25, "2\n" }, { 0.26, "" } };

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct tscope_analysis_options options = { .slow_rank_min_excess =
								   cases[i].min_excess };
		struct analyzed *a = analyze_even_steps(compute_ns, 8, 10, &options);
		check_table(a, "distributed.slow_ranks: rank", cases[i].slow);
		check_table(a, "distributed.straggler: rank", "2\n");
	}
}

/* pytscope's rule is silent where two ranks qualify, and sees only the first of equals. */
TEST(groups_of_slow_ranks)
{
	static const char *const slow_by_turns[] = {
		"0 forward=9\n1 forward=9\n2 forward=9\n3 forward=9\n",
		"0 forward=9\n1 forward=9\n2 forward=9\n3 forward=9\n",
	};
	static const int64_t equal[] = { 100, 120, 100, 100, 120, 100, 100, 100 };
	struct analyzed *a = analyze_even_steps(equal, 8, 20, NULL);

	check_table(a, "distributed.slow_ranks: rank excess_ratio", "1 0.2\n4 0.2\n");
	check_table(a, "distributed.straggler: rank", "1\n");
	check_table(a, "distributed.ranks: slowest_count", "0\n20\n0\n0\n0\n0\n0\n0\n");
	/* Mending one of two wins nothing; either costs 20 while it is alone. */
	check_table(a, "distributed.slow_ranks: gain_ns", "20\n20\n");
	check_facts(a, "distributed: slow_gain_ns", "20");

	a = analyze_texts(slow_by_turns, 2);
	check_table(a, "distributed.ranks: slowest_count straggler_z rel_slowdown",
		    "4 2 0\n0 -2 0\n");
	check_table(a, "distributed.slow_ranks: rank", "");
}

/* Of two ranks the median holds the slow one itself: 2.2 ÷ 1.6 reads as 37.5 %. */
TEST(two_ranks)
{
	static const int64_t compute_ns[] = { 100, 220 };
	struct analyzed *a = analyze_even_steps(compute_ns, 2, 30, NULL);

	check_table(a, "distributed.straggler: rank rel_slowdown excess_ratio", "1 0.375 1.2\n");
	check_table(a, "distributed.slow_ranks: rank excess_ratio gain_ns", "1 1.2 120\n");
}

/* Of a hundred ranks one may be short without taking its steps from the others; of fewer not. */
TEST(a_short_rank)
{
	static const char whole[] = "0 compute=100\n1 compute=100\n2 compute=100\n3 compute=100\n"
				    "4 compute=100\n5 compute=100\n";
	static const char slow[] = "0 compute=150\n1 compute=150\n2 compute=150\n3 compute=150\n"
				   "4 compute=150\n5 compute=150\n";
	const char *texts[MAX_RANKS];

	for (size_t i = 0; i < MAX_RANKS; i++)
		texts[i] = i == 5 ? slow : whole;
	texts[7] = "1 compute=100\n4 compute=100\n";
	struct analyzed *a = analyze_texts(texts, MAX_RANKS);
	check_facts(a,
		    "distributed: n_steps dropped_step_count lacking_rank slow_gain_ns "
		    "slow_rank_doubt",
		    "6 0 - 50 rank 7 lacks up to 4 of 6 steps");
	check_table(a, "distributed.slow_ranks: rank excess_ratio", "5 0.5\n");
	a = analyze_texts(texts, MAX_RANKS - 1);
	check_facts(a,
		    "distributed: n_steps dropped_step_count lacking_rank lacking_step_count "
		    "slow_rank_doubt",
		    "2 4 7 4 2 steps are too few to be certain");
}

TEST(steps_and_ranks_that_are_not_there)
{
	/*
	 * Of the numbers 1 … 4 all have 3; 0 is a warm-up step of both. Only the first 3 of rank 1
	 * has one beside it, so 1, 2, 4 and the second 3 are left out.
	 */
	static const char *const texts[] = {
		"0 warmup forward=900\n1 forward=10\n3 forward=90\n3 forward=30\n",
		"0 warmup forward=900\n2 forward=10\n3 forward=20\n4 forward=10\n",
	};
	struct step_series ranks[2];

	for (size_t i = 0; i < 2; i++) {
		ranks[i] = test_steps(texts[i]);
		ranks[i].rank = (int64_t)i * 3 + 1; /* 1 and 4 */
		ranks[i].world_size = (int64_t)i * 6;
	}
	struct analyzed *a = analyze_run(ranks, 2, NULL);
	check_facts(a, "distributed: n_steps dropped_step_count mean_step_wall_ns", "1 4 90");
	check_facts(a, "distributed: world_size declared_world_size missing_rank_count", "2 6 4");
	check_table(a, "distributed.missing_ranks: rank", "0\n2\n3\n5\n");
}

TEST(worlds)
{
	static const struct {
		int64_t ranks[2], world_sizes[2];
		const char *facts, *missing;
	} cases[] = {
		{ { 0, 1 }, { -1, -1 }, "- -", "" },
		{ { 0, 1 }, { 2, 2 }, "2 0", "" },
		{ { 0, 7 }, { 2, -1 }, "2 1", "1\n" },
		{ { -1, 1 }, { 4, 4 }, "4 -", "" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct step_series ranks[2];
		for (size_t j = 0; j < 2; j++) {
			ranks[j] = test_steps("1 forward=5\n");
			ranks[j].rank = cases[i].ranks[j];
			ranks[j].world_size = cases[i].world_sizes[j];
		}
		struct analyzed *a = analyze_run(ranks, 2, NULL);
		check_facts(a, "distributed: declared_world_size missing_rank_count",
			    cases[i].facts);
		check_table(a, "distributed.missing_ranks: rank", cases[i].missing);
	}
}

TEST(a_huge_world_has_a_short_list)
{
	struct step_series ranks[2];

	for (size_t j = 0; j < 2; j++) {
		ranks[j] = test_steps("1 forward=5\n");
		ranks[j].rank = (int64_t)j;
		ranks[j].world_size = INT64_MAX;
	}
	struct analyzed *a = analyze_run(ranks, 2, NULL);
	check_facts(a, "distributed: missing_rank_count", "9223372036854775805");
	for (size_t i = 0; i < tscope_analyzer_count(); i++)
		if (strcmp(tscope_analyzer(i)->id, "distributed") == 0)
			assert_int_equal(
				tscope_analysis_row_count(a->analysis, i, 3, TSCOPE_WHOLE_TRACE),
				1024);
}

TEST(nothing_to_compare)
{
	static const struct {
		size_t rank_count;
		const char *texts[2];
	} cases[] = {
		{ 1, { "1 forward=5\n2 forward=5\n" } },
		{ 2, { "1 forward=5\n", "2 forward=5\n" } },
		{ 2, { "1 forward=5\n", "" } },
		{ 2, { "1 forward=5\n", "1 loss=2\n" } },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct analyzed *a = analyze_texts(cases[i].texts, cases[i].rank_count);
		check_facts(a, ALL, "- - - - - - - - -");
		check_facts(a, "distributed: declared_world_size dropped_step_count", "- -");
		check_table(a, "distributed.ranks: rank", "");
	}
}

TEST(steps_without_compute_or_time)
{
	/* The second step counts as 0 in means, and has no part in slowdown and excess. */
	static const char *const texts[] = {
		"1 forward=10 comm=30\n2 data=0\n",
		"1 forward=10 comm=30\n2 data=7\n",
	};
	static const char *const zeros[] = { "1 forward=0\n", "1 comm=0\n" };
	struct analyzed *a = analyze_texts(texts, 2);

	check_facts(a, ALL, "2 2 20 0.375 0.375 0 0 0 0");
	check_table(a, "distributed.ranks: rel_slowdown excess_ratio p_value", "0 0 1\n0 0 1\n");

	a = analyze_texts(zeros, 2);
	check_facts(a, ALL, "2 1 0 0 0 0 0 0 0");
	check_table(a, "distributed.ranks: slowest_count rel_slowdown excess_ratio p_value",
		    "1 0 - 1\n0 0 - 1\n");
}

TEST(a_doubt_of_any_rank_is_one_of_the_run)
{
	struct step_series ranks[2] = { test_steps("1 forward=5\n"), test_steps("1 forward=5\n") };

	ranks[0].is_of_trace = ranks[1].is_of_trace = true;
	ranks[1].doubt = "clocks run backwards";
	struct analyzed *a = analyze_run(ranks, 2, NULL);
	check_reliability(a, "distributed", "clocks run backwards");
}

#define SUMS "group=dp ranks=0,1 bytes=64"

/*
 * Rank 0 computes for 50 and 90 and then waits for rank 1, which computes for 80 and 50: in the
 * first all-reduce for 50 − 20, in the second rank 1 for 50 − 10. Of the communication, 60 and 70,
 * 30 are transfer on either rank.
 */
static const char both_wait[] =
	"rank 0\nstep 1 0 200\ncompute 0 50\nexposed_comm 50 100\n"
	"compute 100 190\nexposed_comm 190 200\n"
	"all_reduce 50 100 seq=0 " SUMS "\nall_reduce 190 200 seq=1 " SUMS
	"\nrank 1 clock=1000\nstep 1 0 200\ncompute 0 80\n"
	"exposed_comm 80 100\ncompute 100 150\nexposed_comm 150 200\n"
	"all_reduce 80 100 seq=0 " SUMS "\nall_reduce 150 200 seq=1 " SUMS "\n";

TEST(traces_tell_the_wait)
{
	struct test_world *w = test_world(both_wait);
	struct analyzed *a = analyze_world(w, NULL);

	/* 70 ÷ (140 + 70); 30 ÷ (140 + 30), where the least communication were 60 ÷ 200. */
	check_facts(a, "distributed: mean_comm_fraction mean_transfer_fraction least_waiting_rank",
		    "0.333333 0.176471 0");
	check_table(a, "distributed.ranks: rank mean_comm_ns mean_wait_ns wait_ns transfer_ns",
		    "0 60 30 30 30\n1 70 40 40 30\n");
	check_table(a, "distributed.ranks: clock_offset_ns", "0\n1000\n");
}

/* Rank 0 of above is the one that waits least: without its number nobody else is named for it. */
TEST(who_waits_least_has_no_number)
{
	struct test_world *w = test_world(both_wait);

	w->logs[0].rank = w->series[0].rank = -1;
	struct analyzed *a = analyze_world(w, NULL);
	check_facts(a, "distributed: least_waiting_rank", "-");
	check_table(a, "distributed.ranks: rank wait_ns", "- 30\n1 40\n");
}

/* Without a world of traces nothing is known of clocks, and the wait is what exceeds the least. */
TEST(the_same_without_a_world)
{
	struct test_world *w = test_world(both_wait);
	struct analyzed *a;

	for (size_t i = 0; i < w->rank_count; i++)
		w->series[i].budgets[0].has_split = false;
	a = analyze_run(w->series, w->rank_count, NULL);
	check_facts(a, "distributed: mean_comm_fraction mean_transfer_fraction least_waiting_rank",
		    "0.333333 0.3 -");
	check_table(a,
		    "distributed.ranks: mean_wait_ns wait_ns transfer_ns clock_offset_ns "
		    "clock_drift_ppm clock_error_ns",
		    "0 - - - - -\n10 - - - - -\n");
}

/* A rank in no matched collective waits for nobody; of equals the lowest is told. */
TEST(who_waits_least)
{
	struct test_world *w = test_world(
		"rank 4\nstep 1 0 100\n"
		"rank 5\nstep 1 0 100\nall_reduce 10 50 seq=0 group=dp ranks=5,6,7 bytes=8\n"
		"rank 6\nstep 1 0 100\nall_reduce 20 50 seq=0 group=dp ranks=5,6,7 bytes=8\n"
		"rank 7\nstep 1 0 100\nall_reduce 20 50 seq=0 group=dp ranks=5,6,7 bytes=8\n");
	struct analyzed *a = analyze_world(w, NULL);

	check_facts(a, "distributed: least_waiting_rank", "6");
	check_table(a, "distributed.ranks: rank wait_ns transfer_ns",
		    "4 - -\n5 10 30\n6 0 30\n7 0 30\n");
}

/* Each rank is compared with those of its stage; the last one has more to do. */
TEST(stages_are_not_slow)
{
	static const int64_t compute_ns[] = { 100, 100, 150, 150 };
	static const int64_t slow_ns[] = { 100, 100, 150, 195 };
	struct tscope_analysis_options options = { .pipeline_stages = 2 };
	struct analyzed *a = analyze_even_steps(compute_ns, 4, 20, &options);

	check_table(a, "distributed.slow_ranks: rank", "");
	check_table(a, "distributed.ranks: excess_ratio", "0\n0\n0\n0\n");
	/* pytscope's rule knows no stages: z is (20 − 5) ÷ sqrt(20 × 1/4 × 3/4) = 7.7. */
	a = analyze_even_steps(slow_ns, 4, 20, &options);
	check_table(a, "distributed.straggler: rank", "");
	check_table(a, "distributed.slow_ranks: rank excess_ratio gain_ns", "3 0.3 45\n");
	a = analyze_even_steps(slow_ns, 4, 20, NULL);
	check_table(a, "distributed.straggler: rank", "3\n");
}

TEST(memory_ends)
{
	struct step_series ranks[8];
	struct analysis_scope scope = { .steps = ranks, .ranks = ranks, .rank_count = 8 };

	for (size_t i = 0; i < 8; i++) {
		char text[256] = "";
		for (size_t step = 0, at = 0; step < 8; step++)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%zu forward=%d\n",
					       step, i == 3 ? 20 : 10);
		ranks[i] = test_steps(text);
		ranks[i].rank = (int64_t)i * 2;
		ranks[i].world_size = 16;
		ranks[i].has_point_to_point = true;
	}
	sweep_level(LEVEL_RUN, &scope, 30);
	for (size_t i = 0; i < 8; i++)
		tsi_steps_deinit(&ranks[i]);
}
