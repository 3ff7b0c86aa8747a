/* SPDX-License-Identifier: MIT */
/* Step times: statistics by hand, spikes by pytscope's rule, and what grew in them. */
#include "analysis_check.h"
#include "memory_sweep.h"
#include "step_text.h"

#include <stdio.h>

#include "check.h"

/*
 * Steps of these lengths, one after the other. Each holds a kernel of 50 ns that
 * is launched at its start and runs at its end, so whatever a step has beyond
 * 50 ns is device_gap.
 */
static struct analyzed *analyze_steps(const int64_t *walls_ns, size_t count, unsigned warmup)
{
	struct test_trace *t = test_trace_new();
	const struct tscope_timeline_options options = { .warmup = warmup };
	int64_t start_ns = 1000;

	for (size_t i = 0; i < count; i++) {
		char name[48];
		snprintf(name, sizeof(name), "ProfilerStep#%zu", i + 1);
		test_annotation(t, name, 1, start_ns, walls_ns[i]);
		test_call(t, "cudaLaunchKernel", 1, start_ns, 1, i + 1);
		start_ns += walls_ns[i];
		test_kernel(t, "gemm", 0, 7, start_ns - 50, 50, i + 1);
	}
	return analyze_steps_of(t, &options);
}

TEST(statistics_of_unmarked_steps)
{
	/*
	 * Without the warm-up step 100 200 300 401:
	 * mean 1001 ÷ 4 = 250.25 → 250; p50 = 250; p95 at place 2.85: 300 + 0.85 × 101 =
	 * 385.85 → 386; p99 at 2.97: 397.97 → 398; deviations −150.25 −50.25 49.75 150.75,
	 * squares 22575.0625 + 2525.0625 + 2475.0625 + 22725.5625 = 50300.75, ÷ 4 =
	 * 12575.1875, root 112.13915, ÷ 250.25 = 0.448108; 385.85 ÷ 250 = 1.5434.
	 */
	static const int64_t walls_ns[] = { 900, 300, 100, 401, 200 };
	struct analyzed *a = analyze_steps(walls_ns, TSI_COUNT_OF(walls_ns), 1);

	check_facts(a, "step_time: mean_ns p50_ns p95_ns p99_ns min_ns max_ns spike_count",
		    "250 250 386 398 100 401 0");
	check_facts(a, "step_time: cv p95_p50_ratio", "0.448108 1.5434");
}

TEST(the_mean_is_rounded_half_up)
{
	static const int64_t walls_ns[] = { 100, 101 };
	struct analyzed *a = analyze_steps(walls_ns, 2, 0);

	check_facts(a, "step_time: mean_ns p50_ns", "101 101");
}

TEST(where_all_steps_are_marked_there_is_no_figure)
{
	static const int64_t walls_ns[] = { 100, 100 };
	struct analyzed *a = analyze_steps(walls_ns, 2, 2);

	check_facts(a, "steps: count", "2");
	check_facts(a, "step_time: mean_ns cv spike_count count steps_per_second", "- - - 0 -");
	check_facts(a, "step_time: phase.data_ns phase.data_ratio trend_ns_per_step", "- - -");
	check_facts(a, "budget: wall_total_ns compute_total_ns", "- -");
	check_table(a, "step_time.slow: step", "");
}

TEST(a_spike_towers_above_those_before_it)
{
	static const struct {
		int64_t walls_ns[8];
		const char *spikes;
	} cases[] = {
		/* Nothing deviates: a spike is more than half above the median. */
		{ { 100, 100, 100, 100, 100, 100, 150, 100 }, "" },
		{ { 100, 100, 100, 100, 100, 100, 151, 100 }, "7\n" },
		/* Five steps of history are too few. */
		{ { 100, 100, 100, 100, 100, 900, 100, 100 }, "" },
		/* Median 105, deviations 5, scale 7.413: the limit is 149.478. */
		{ { 100, 110, 100, 110, 100, 110, 149, 100 }, "" },
		{ { 100, 110, 100, 110, 100, 110, 150, 100 }, "7\n" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct analyzed *a =
			analyze_steps(cases[i].walls_ns, TSI_COUNT_OF(cases[i].walls_ns), 0);
		check_facts(a, "step_time: spike_count", cases[i].spikes[0] ? "1" : "0");
		check_table(a, "step_time.slow: step", cases[i].spikes);
	}
}

TEST(only_twelve_steps_are_looked_back_at)
{
	/*
	 * Step 14 looks at steps 2 to 13: six of 200, six of 100, so the median 150 deviates
	 * by 50 and nothing towers. One step more or less would leave a majority of 100 with
	 * no deviation, above which 151 is a spike.
	 */
	static const int64_t walls_ns[] = { 100, 200, 200, 200, 200, 200, 200,
					    100, 100, 100, 100, 100, 100, 151 };
	struct analyzed *a = analyze_steps(walls_ns, TSI_COUNT_OF(walls_ns), 0);

	check_table(a, "step_time.slow: step", "");
}

TEST(a_slow_step_says_what_grew)
{
	static const int64_t walls_ns[] = { 100, 100, 100, 100, 100, 100, 100, 300, 100 };
	struct analyzed *a = analyze_steps(walls_ns, TSI_COUNT_OF(walls_ns), 0);

	/* 250 ns of device_gap, and 50 in the median step */
	check_table(a, "step_time.slow: step wall_ns grew grew_ns", "8 300 device_gap 200\n");
}

static struct analyzed *analyze_text(const char *text)
{
	struct step_series steps = test_steps(text);

	return analyze_rank(&steps, NULL);
}

TEST(phases_are_means_over_all_steps)
{
	/* 110 + 130 + 61 = 301 ns; the trend joins the first and the last: −49 ÷ 2. */
	struct analyzed *a = analyze_text("0 warmup forward=1000 data=5 eval=3\n"
					  "1 forward=60 data=40 zeta=10\n"
					  "2 forward=80 alpha=30 zeta=20\n"
					  "3 forward=61 comm=0\n"
					  "4 loss=2\n");

	check_facts(a, "step_time: mean_ns count steps_per_second trend_ns_per_step",
		    "100 3 9.96678e+06 -24.5");
	/* 40 ÷ 3 and ÷ 301; 201 ÷ 3 and ÷ 301 */
	check_facts(a,
		    "step_time: phase.data_ns phase.data_ratio phase.forward_ns "
		    "phase.forward_ratio phase.comm_ns phase.comm_ratio phase.other_ns",
		    "13 0.13289 67 0.667774 0 0 0");
	check_table(a, "step_time.phases: phase mean_ns ratio",
		    "data 13 0.13289\n"
		    "forward 67 0.667774\n"
		    "comm 0 0\n"
		    "alpha 10 0.0996678\n"
		    "zeta 10 0.0996678\n");
}

TEST(of_no_time_nothing_is_a_part)
{
	struct analyzed *a = analyze_text("1 forward=0\n2 forward=0\n");

	check_facts(a, "step_time: count mean_ns p95_ns max_ns trend_ns_per_step", "2 0 0 0 0");
	check_facts(a, "step_time: cv p95_p50_ratio steps_per_second phase.forward_ratio",
		    "- - - -");
	check_table(a, "step_time.phases: phase mean_ns ratio", "forward 0 -\n");
}

TEST(of_one_step_there_is_no_trend)
{
	struct analyzed *a = analyze_text("7 forward=50\n");

	check_facts(a, "step_time: count mean_ns cv spike_count trend_ns_per_step", "1 50 0 0 -");
}

TEST(without_a_budget_a_phase_grew)
{
	static const struct {
		const char *text, *slow;
	} cases[] = {
		/* What is not there usually has a median of 0. */
		{ "1 forward=100\n2 forward=100\n3 forward=100\n4 forward=100\n5 forward=100\n"
		  "6 forward=100\n7 forward=180 save=90\n",
		  "7 270 save 90\n" },
		{ "1 forward=100\n2 forward=100\n3 forward=100\n4 forward=100\n5 forward=100\n"
		  "6 forward=100\n7 forward=200 save=90\n",
		  "7 290 forward 100\n" },
		/* eval is there in 5 of 9 steps, so its median is 50. */
		{ "1 forward=100 eval=50\n2 forward=100 eval=50\n3 forward=100 eval=50\n"
		  "4 forward=100 eval=50\n5 forward=100\n6 forward=100\n7 forward=100\n"
		  "8 forward=150 eval=120\n9 forward=100\n",
		  "8 270 eval 70\n" },
		/* In 4 of 9 it is 0; the marked step does not count. */
		{ "0 warmup eval=50\n1 forward=100 eval=50\n2 forward=100 eval=50\n"
		  "3 forward=100 eval=50\n4 forward=150\n5 forward=100\n6 forward=100\n"
		  "7 forward=100\n8 forward=190 eval=120\n9 forward=100\n",
		  "8 310 eval 120\n" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct analyzed *a = analyze_text(cases[i].text);
		check_table(a, "step_time.slow: step wall_ns grew grew_ns", cases[i].slow);
	}
}

/* Seven steps of 100 and an eighth of 300, of which the budget says that it lies in the gaps. */
static struct step_series spike_with_budgets(enum tscope_step_mark mark_of_last)
{
	struct step_series steps =
		test_steps("1 forward=100\n2 forward=100\n3 forward=100\n4 forward=100\n"
			   "5 forward=100\n6 forward=100\n7 forward=100\n8 forward=300\n");

	steps.device_count = 1;
	for (size_t i = 0; i < steps.count; i++) {
		struct step_budget *budget = test_steps_add_budget(&steps, i);
		budget->wall_ns = steps.records[i].time_ns;
		budget->device.line_ns[TSCOPE_BUDGET_COMPUTE] = 60;
		budget->device.line_ns[TSCOPE_BUDGET_DEVICE_GAP] = budget->wall_ns - 60;
	}
	steps.budgets[steps.count - 1].mark = (uint8_t)mark_of_last;
	return steps;
}

TEST(a_budget_says_more_than_phases)
{
	struct step_series steps = spike_with_budgets(TSCOPE_STEP_COUNTED);
	struct analyzed *a = analyze_rank(&steps, NULL);

	check_table(a, "step_time.slow: step wall_ns grew grew_ns", "8 300 device_gap 200\n");
}

TEST(a_budget_that_does_not_count_says_nothing)
{
	struct step_series steps = spike_with_budgets(TSCOPE_STEP_INCOMPLETE);
	struct analyzed *a = analyze_rank(&steps, NULL);

	check_table(a, "step_time.slow: step wall_ns grew grew_ns", "8 300 forward 200\n");
}

TEST(a_run_is_as_slow_as_its_slowest_rank)
{
	struct step_series ranks[] = { test_steps("1 forward=100\n2 forward=50\n3 forward=9\n"),
				       test_steps("1 forward=90\n2 forward=60 save=10\n") };
	struct analyzed *a = analyze_run(ranks, TSI_COUNT_OF(ranks), NULL);

	/* 100 of the first, 70 of the second; step 3 is not known of both */
	check_facts(a, "step_time: count mean_ns min_ns max_ns phase.forward_ns", "2 85 70 100 80");
	check_table(a, "step_time.phases: phase mean_ns", "forward 80\nsave 5\n");
}

TEST(memory_may_end_anywhere)
{
	struct step_series steps =
		test_steps("1 forward=100 loss=1 alloc=5\n2 forward=100 loss=1 alloc=5\n"
			   "3 forward=100 loss=1 alloc=5\n4 forward=100 loss=1 alloc=5\n"
			   "5 forward=100 loss=1 alloc=5\n6 forward=100 loss=1 alloc=5\n"
			   "7 forward=180 save=90 loss=9 alloc=5 grad_norm=3\n");
	const struct analysis_scope scope = { .steps = &steps };

	sweep_level(LEVEL_RANK, &scope, 20);
	tsi_steps_deinit(&steps);
}

/* One step: a kernel of 90 ns by an operator's launch, one by none. */
static void check_phase_doubt(int64_t unknown_ns, const char *doubt)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", 1, 0, 1000);
	test_op(t, "aten::mm", 1, 10, 10);
	test_call(t, "cudaLaunchKernel", 1, 12, 1, 1);
	test_call(t, "cudaGraphLaunch", 1, 30, 1, 2);
	test_kernel(t, "gemm", 0, 7, 100, 90, 1);
	test_kernel(t, "of a graph", 0, 7, 300, unknown_ns, 2);
	struct analyzed *a = analyze(t);

	check_doubt(a, "step_time.phase.forward_ns", doubt);
	check_doubt(a, "step_time.phase.backward_ratio", doubt);
	check_doubt(a, "step_time.phase.optimizer_ratio", doubt);
	check_doubt(a, "step_time.phase.data_ratio", NULL);
	check_facts(a, "step_time: phase.forward_ns", "90");
}

/* 10 of 100 ns may be of unknown phase, 11 of 101 may not. */
TEST(phases_are_compared_where_most_are_known)
{
	check_phase_doubt(10, NULL);
	check_phase_doubt(11, "more than 10 % of compute time is of unknown phase");
}
