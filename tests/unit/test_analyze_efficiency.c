/* SPDX-License-Identifier: MIT */
/* The five lines of the efficiency budget, with and without FLOPs and peak. */
#include "analysis_check.h"
#include "step_text.h"

#include <math.h>

#include "check.h"

/*
 * Two steps count: data 40, computing 30 + 60 + 5 + 95 = 190, communication 30, other 20; the
 * wall time of their lines is 280, because eval is in none.
 */
static const char two_steps[] =
	"0 warmup forward=1000\n"
	"1 data=10 forward=30 backward=60 optimizer=5 comm=20 other=5 eval=50\n"
	"2 data=30 compute=95 comm=10 other=15\n";

/* flops and peak_flops as the run says them, and options as they are asked for. */
static struct analyzed *analyze_text(const char *text, double flops, double peak_flops,
				     const struct tscope_analysis_options *options)
{
	struct step_series steps = test_steps(text);

	steps.flops_per_step = flops;
	steps.peak_flops = peak_flops;
	return analyze_rank(&steps, options);
}

TEST(without_flops_all_computing_is_useful)
{
	struct analyzed *a = analyze_text(two_steps, 0, 0, NULL);

	check_facts(a, "efficiency: wall_ns compute_ns useful_ns", "280 190 190");
	/* 190 ÷ 280, and 40 ÷ 280 */
	check_facts(a, "efficiency: useful_ratio mfu mfu_uncapped flops_per_step peak_flops",
		    "0.678571 - - - -");
	check_facts(a, "efficiency: top_recoverable top_recoverable_ratio", "data_stall 0.142857");
	check_table(a, "efficiency.lines: line ns ratio recoverable",
		    "useful_compute 190 0.678571 no\n"
		    "compute_overhead 0 0 yes\n"
		    "data_stall 40 0.142857 yes\n"
		    "communication 30 0.107143 yes\n"
		    "other 20 0.0714286 yes\n");
}

TEST(flops_at_the_peak_are_useful)
{
	/* 2 × 1001 FLOPs at 20 FLOPs a nanosecond are 100.1 ns, ÷ 280 = 0.3575; 89.9 are left. */
	struct analyzed *a = analyze_text(two_steps, 1001, 2e10, NULL);

	check_facts(a, "efficiency: useful_ns useful_ratio mfu mfu_uncapped",
		    "100 0.3575 0.3575 0.3575");
	check_facts(a, "efficiency: flops_per_step peak_flops", "1001 2e+10");
	check_facts(a, "efficiency: top_recoverable top_recoverable_ratio",
		    "compute_overhead 0.321071");
	check_table(a, "efficiency.lines: line ns ratio",
		    "useful_compute 100 0.3575\n"
		    "compute_overhead 90 0.321071\n"
		    "data_stall 40 0.142857\n"
		    "communication 30 0.107143\n"
		    "other 20 0.0714286\n");
}

TEST(impossible_flops_show_uncapped)
{
	/* 2 × 8000 FLOPs would take 800 ns of 190 that were computed: 800 ÷ 280. */
	struct analyzed *a = analyze_text(two_steps, 8000, 2e10, NULL);

	check_facts(a, "efficiency: useful_ns mfu mfu_uncapped", "190 0.678571 2.85714");
}

TEST(what_is_asked_for_goes_before_what_the_run_says)
{
	const struct tscope_analysis_options options = { .flops_per_step = 1400,
							 .peak_flops = 2e10 };
	struct analyzed *a = analyze_text(two_steps, 8000, 1, &options);

	/* 140 ns ÷ 280 */
	check_facts(a, "efficiency: mfu flops_per_step peak_flops", "0.5 1400 2e+10");
}

TEST(half_an_anchor_is_none)
{
	static const struct {
		double flops, peak_flops;
		const char *facts;
	} cases[] = {
		{ 1000, 0, "190 - - 1000 -" },        { 0, 2e10, "190 - - - 2e+10" },
		{ NAN, 2e10, "190 - - - 2e+10" },     { -1000, 2e10, "190 - - - 2e+10" },
		{ 1000, INFINITY, "190 - - 1000 -" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct analyzed *a =
			analyze_text(two_steps, cases[i].flops, cases[i].peak_flops, NULL);
		check_facts(a, "efficiency: useful_ns mfu mfu_uncapped flops_per_step peak_flops",
			    cases[i].facts);
	}
}

TEST(of_equal_lines_the_first_is_on_top)
{
	struct analyzed *a = analyze_text("1 forward=20 data=40 comm=40\n", 0, 0, NULL);

	check_facts(a, "efficiency: top_recoverable top_recoverable_ratio", "data_stall 0.4");
}

TEST(without_time_there_is_no_figure)
{
	static const char *const cases[] = { "", "1 warmup forward=9\n", "1 forward=0 data=0\n",
					     "1 eval=50\n", "1 loss=2\n" };

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct analyzed *a = analyze_text(cases[i], 1000, 2e10, NULL);
		check_facts(a, "efficiency: wall_ns useful_ratio mfu top_recoverable_ratio",
			    "- - - -");
		check_facts(a, "efficiency: flops_per_step", "1000");
		check_table(a, "efficiency.lines: line", "");
	}
}

TEST(a_trace_has_the_lines_too)
{
	struct test_trace *t = test_trace_new();

	/* Idle until 20, 30 of forward work, idle until 100. */
	test_annotation(t, "ProfilerStep#1", 1, 0, 100);
	test_op(t, "aten::mm", 1, 10, 5);
	test_call(t, "cudaLaunchKernel", 1, 10, 2, 1);
	test_kernel(t, "gemm", 0, 7, 20, 30, 1);
	struct analyzed *a = analyze(t);
	check_facts(a, "efficiency: wall_ns compute_ns useful_ratio top_recoverable",
		    "100 30 0.3 other");
}

TEST(phases_of_doubtful_devices_are_in_doubt)
{
	/* The trace is in doubt; its phases, but not the job's own records, with it. */
	for (int is_of_trace = 0; is_of_trace <= 1; is_of_trace++) {
		struct step_series steps = test_steps("1 forward=30 data=10\n");
		steps.is_of_trace = is_of_trace;
		steps.doubt = "no one was looking";
		struct analyzed *a = analyze_rank(&steps, NULL);
		check_reliability(a, "efficiency", is_of_trace ? "no one was looking" : NULL);
	}
}

/* ---- where FLOPs and peak come from ---- */

/* What a trace says of a step: FLOPs of all its devices, and the time of matrix kernels. */
static void add_flops(struct step_series *steps, size_t record, struct step_flops flops)
{
	test_steps_add_budget(steps, record)->flops = flops;
}

/* Two steps of 100 ns, 60 of them computing, on a device of 100 FLOPs a nanosecond. */
static struct step_series counted_steps(int64_t counted_ns)
{
	struct step_series steps = test_steps("1 forward=60 comm=40\n"
					      "2 forward=60 comm=40\n"
					      "3 warmup forward=60 comm=40\n");

	steps.device_count = 1;
	steps.peak = (struct step_peak){ 1e11, "X100", "bf16", "" };
	add_flops(&steps, 0, (struct step_flops){ 4000, 1000, 50, counted_ns });
	add_flops(&steps, 1, (struct step_flops){ 2000, 0, 50, 50 });
	add_flops(&steps, 2, (struct step_flops){ 9e9, 0, 50, 50 });
	return steps;
}

TEST(operators_and_the_device_tell_them)
{
	/* (3000 + 2000) ÷ 2 a step, 6000 ÷ 2 with what is repeated; (45 + 50) ÷ (50 + 50). */
	struct step_series steps = counted_steps(45);
	struct analyzed *a = analyze_rank(&steps, NULL);

	check_facts(a,
		    "efficiency: flops_per_step hardware_flops_per_step flops_coverage_ratio "
		    "flops_source",
		    "2500 3000 0.95 operators");
	check_facts(a, "efficiency: peak_flops peak_source precision device",
		    "1e+11 device bf16 X100");
	/* 2500 ÷ (100 × 100), 3000 ÷ (100 × 100); 2500 FLOPs in 100 ns are 0.025 TFLOP/s. */
	check_facts(a,
		    "efficiency: mean_wall_ns mfu hfu mfu_uncapped mfu_is_lower_bound "
		    "achieved_tflops",
		    "100 0.25 0.3 0.25 no 0.025");
	/* 25 of 60 ns a step, twice */
	check_facts(a, "efficiency: useful_ns useful_ratio top_recoverable",
		    "50 0.25 communication");
	check_doubt(a, "efficiency.mfu", NULL);
}

TEST(below_the_least_coverage_they_are_a_lower_bound)
{
	static const char doubt[] = "a lower bound: less than 90 % of the time of matrix kernels "
				    "has known FLOPs";

	/* (40 + 50) ÷ 100 is just enough, (39 + 50) ÷ 100 is not. */
	for (int64_t counted_ns = 39; counted_ns <= 40; counted_ns++) {
		bool is_enough = counted_ns == 40;
		struct step_series steps = counted_steps(counted_ns);
		struct analyzed *a = analyze_rank(&steps, NULL);

		check_facts(a, "efficiency: mfu hfu mfu_is_lower_bound",
			    is_enough ? "0.25 0.3 no" : "0.25 0.3 yes");
		/* Then nobody knows what of the computing is overhead. */
		check_facts(a, "efficiency: useful_ns", is_enough ? "50" : "120");
		check_doubt(a, "efficiency.mfu", is_enough ? NULL : doubt);
		check_doubt(a, "efficiency.flops_per_step", is_enough ? NULL : doubt);
		check_doubt(a, "efficiency.useful_ratio", is_enough ? NULL : doubt);
		check_doubt(a, "efficiency.peak_flops", NULL);
		check_doubt(a, "efficiency.wall_ns", NULL);
	}
}

/* Of less than half no MFU follows: (0 + 50) ÷ 100 is just enough, 49 ÷ 100 is not. */
TEST(below_half_the_mfu_is_not_known)
{
	for (int64_t counted_ns = 0; counted_ns <= 1; counted_ns++) {
		struct step_series steps = counted_steps(counted_ns);
		steps.budgets[1].flops.counted_ns = 49;
		struct analyzed *a = analyze_rank(&steps, NULL);

		check_facts(a, "efficiency: mfu hfu mfu_is_lower_bound mfu_uncapped flops_per_step",
			    counted_ns ? "0.25 0.3 yes 0.25 2500" : "- - - 0.25 2500");
		check_doubt(a, "efficiency.mfu",
			    counted_ns ? "a lower bound: less than 90 % of the time of matrix "
					 "kernels has known FLOPs"
				       : "less than half of the time of matrix kernels has known "
					 "FLOPs; pass --flops-per-step or --model");
	}
}

TEST(of_several_devices_each_has_its_share)
{
	struct step_series steps = counted_steps(50);
	steps.device_count = 2;
	struct analyzed *a = analyze_rank(&steps, NULL);

	check_facts(a, "efficiency: flops_per_step hardware_flops_per_step mfu", "1250 1500 0.125");
}

TEST(others_go_before_operators)
{
	static const struct {
		double run_json;
		struct tscope_analysis_options options;
		int64_t world_size;
		const char *facts;
	} cases[] = {
		{ 7, { 0 }, 1, "7 - run.json" },
		{ 7, { .model = { 800, 1000, 0 } }, 4, "200 250 model" },
		{ 7, { .model = { 800, 1000, 0 } }, -1, "800 1000 model" },
		{ 7, { .model = { 800, 1000, 10 } }, 4, "80 100 model" },
		{ 7, { .model = { 800, 1000, 0 }, .flops_per_step = 9 }, 4, "9 - option" },
		{ 0, { .flops_per_step = -1 }, 1, "2500 3000 operators" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		/* Little is known of the operators: that is no matter to what goes before them. */
		struct step_series steps = counted_steps(i == 5 ? 50 : 0);

		steps.flops_per_step = cases[i].run_json;
		steps.world_size = cases[i].world_size;
		struct analyzed *a = analyze_rank(&steps, &cases[i].options);
		check_facts(a, "efficiency: flops_per_step hardware_flops_per_step flops_source",
			    cases[i].facts);
		check_facts(a, "efficiency: mfu_is_lower_bound", "no");
		check_doubt(a, "efficiency.mfu", NULL);
	}
}

TEST(others_go_before_the_device)
{
	static const struct {
		double run_json, option;
		const char *facts;
	} cases[] = {
		{ 0, 0, "1e+11 device" },
		{ 2e11, 0, "2e+11 run.json" },
		{ 2e11, 4e11, "4e+11 option" },
		{ NAN, -1, "1e+11 device" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct step_series steps = counted_steps(50);
		const struct tscope_analysis_options options = { .peak_flops = cases[i].option };

		steps.peak_flops = cases[i].run_json;
		struct analyzed *a = analyze_rank(&steps, &options);
		check_facts(a, "efficiency: peak_flops peak_source", cases[i].facts);
	}
}

/* All that counts is repeated: there is HFU, but no MFU. */
TEST(repeated_alone)
{
	struct step_series steps = counted_steps(50);

	steps.budgets[0].flops = steps.budgets[1].flops = (struct step_flops){ 3000, 3000, 50, 50 };
	struct analyzed *a = analyze_rank(&steps, NULL);
	check_facts(a, "efficiency: flops_per_step hardware_flops_per_step mfu hfu",
		    "0 3000 0 0.3");
}

/* What no job and no device does is no figure, wherever it comes from. */
TEST(absurd_numbers_are_not_used)
{
	static const struct {
		double flops, peak, counted;
		const char *facts, *doubt;
	} cases[] = {
		{ 1e308, 0, 4000, "2250 1e+11 0.225", NULL },
		{ 0, 1e-300, 4000, "2250 1e+11 0.225", NULL },
		{ 0, 0, 1e308, "- 1e+11 -",
		  "the FLOPs that the operators' shapes give are beyond belief" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct step_series steps = counted_steps(50);

		steps.flops_per_step = cases[i].flops;
		steps.peak_flops = cases[i].peak;
		steps.budgets[0].flops = (struct step_flops){ cases[i].counted, 500, 50, 50 };
		steps.budgets[1].flops = (struct step_flops){ 1000, 0, 50, 50 };
		struct analyzed *a = analyze_rank(&steps, NULL);
		check_facts(a, "efficiency: flops_per_step peak_flops mfu", cases[i].facts);
		check_doubt(a, "efficiency.mfu", cases[i].doubt);
	}
}

TEST(what_is_not_known_says_why)
{
	struct step_series steps = counted_steps(50);

	steps.peak = (struct step_peak){ .lack = "the device \"Y\" is not known" };
	struct analyzed *a = analyze_rank(&steps, NULL);
	check_facts(a, "efficiency: flops_per_step peak_flops peak_source mfu hfu achieved_tflops",
		    "2500 - - - - 0.025");
	check_doubt(a, "efficiency.mfu", "the device \"Y\" is not known");
	check_doubt(a, "efficiency.peak_flops", "the device \"Y\" is not known");
	check_doubt(a, "efficiency.flops_per_step", NULL);

	steps = test_steps("1 forward=60 comm=40\n");
	a = analyze_rank(&steps, NULL);
	check_facts(a, "efficiency: flops_per_step flops_source mfu", "- - -");
	check_doubt(a, "efficiency.mfu",
		    "no shapes recorded; use record_shapes=True, --flops-per-step or --model");
	check_doubt(a, "efficiency.peak_flops", "unknown device; pass its peak with --peak-tflops");
}
