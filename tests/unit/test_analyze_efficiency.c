/* SPDX-License-Identifier: MIT */
/* The five lines of the efficiency budget, with and without FLOPs and peak. */
#include "analysis_check.h"
#include "step_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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

static void without_flops_all_computing_is_useful(void **state)
{
	(void)state;
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
	analyzed_free(a);
}

static void flops_at_the_peak_are_useful(void **state)
{
	(void)state;
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
	analyzed_free(a);
}

static void impossible_flops_show_uncapped(void **state)
{
	(void)state;
	/* 2 × 8000 FLOPs would take 800 ns of 190 that were computed: 800 ÷ 280. */
	struct analyzed *a = analyze_text(two_steps, 8000, 2e10, NULL);

	check_facts(a, "efficiency: useful_ns mfu mfu_uncapped", "190 0.678571 2.85714");
	analyzed_free(a);
}

static void what_is_asked_for_goes_before_what_the_run_says(void **state)
{
	(void)state;
	const struct tscope_analysis_options options = { .flops_per_step = 1400,
							 .peak_flops = 2e10 };
	struct analyzed *a = analyze_text(two_steps, 8000, 1, &options);

	/* 140 ns ÷ 280 */
	check_facts(a, "efficiency: mfu flops_per_step peak_flops", "0.5 1400 2e+10");
	analyzed_free(a);
}

static void half_an_anchor_is_none(void **state)
{
	(void)state;
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
		analyzed_free(a);
	}
}

static void of_equal_lines_the_first_is_on_top(void **state)
{
	(void)state;
	struct analyzed *a = analyze_text("1 forward=20 data=40 comm=40\n", 0, 0, NULL);

	check_facts(a, "efficiency: top_recoverable top_recoverable_ratio", "data_stall 0.4");
	analyzed_free(a);
}

static void without_time_there_is_no_figure(void **state)
{
	(void)state;
	static const char *const cases[] = { "", "1 warmup forward=9\n", "1 forward=0 data=0\n",
					     "1 eval=50\n", "1 loss=2\n" };

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct analyzed *a = analyze_text(cases[i], 1000, 2e10, NULL);
		check_facts(a, "efficiency: wall_ns useful_ratio mfu top_recoverable_ratio",
			    "- - - -");
		check_facts(a, "efficiency: flops_per_step", "1000");
		check_table(a, "efficiency.lines: line", "");
		analyzed_free(a);
	}
}

static void a_trace_has_the_lines_too(void **state)
{
	(void)state;
	struct test_trace *t = test_trace_new();

	/* Idle until 20, 30 of forward work, idle until 100. */
	test_annotation(t, "ProfilerStep#1", 1, 0, 100);
	test_op(t, "aten::mm", 1, 10, 5);
	test_call(t, "cudaLaunchKernel", 1, 10, 2, 1);
	test_kernel(t, "gemm", 0, 7, 20, 30, 1);
	struct analyzed *a = analyze(t);
	check_facts(a, "efficiency: wall_ns compute_ns useful_ratio top_recoverable",
		    "100 30 0.3 other");
	analyzed_free(a);
}

static void phases_of_doubtful_devices_are_in_doubt(void **state)
{
	(void)state;
	/* The trace is in doubt; its phases, but not the job's own records, with it. */
	for (int is_of_trace = 0; is_of_trace <= 1; is_of_trace++) {
		struct step_series steps = test_steps("1 forward=30 data=10\n");
		steps.is_of_trace = is_of_trace;
		steps.doubt = "no one was looking";
		struct analyzed *a = analyze_rank(&steps, NULL);
		check_reliability(a, "efficiency", is_of_trace ? "no one was looking" : NULL);
		analyzed_free(a);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_flops_all_computing_is_useful),
		cmocka_unit_test(flops_at_the_peak_are_useful),
		cmocka_unit_test(impossible_flops_show_uncapped),
		cmocka_unit_test(what_is_asked_for_goes_before_what_the_run_says),
		cmocka_unit_test(half_an_anchor_is_none),
		cmocka_unit_test(of_equal_lines_the_first_is_on_top),
		cmocka_unit_test(without_time_there_is_no_figure),
		cmocka_unit_test(a_trace_has_the_lines_too),
		cmocka_unit_test(phases_of_doubtful_devices_are_in_doubt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
