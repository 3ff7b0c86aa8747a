/* SPDX-License-Identifier: MIT */
/* Step times: statistics by hand, spikes by pytscope's rule, and what grew in them. */
#include "analysis_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

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
	struct analyzed *a = analyze(t);
	tscope_analysis_free(a->analysis);
	tscope_timeline_free(a->timeline);
	assert_int_equal(tscope_timeline_build(&a->timeline, a->trace, &options, NULL), TSCOPE_OK);
	assert_int_equal(tscope_analyze(&a->analysis, a->trace, a->timeline, NULL, NULL),
			 TSCOPE_OK);
	return a;
}

static void statistics_of_unmarked_steps(void **state)
{
	(void)state;
	/*
	 * Without the warm-up step 100 200 300 401:
	 * mean 1001 ÷ 4 = 250.25 → 250; p50 = 250; p95 at place 2.85: 300 + 0.85 × 101 =
	 * 385.85 → 386; p99 at 2.97: 397.97 → 398; deviations −150.25 −50.25 49.75 150.75,
	 * squares 22575.0625 + 2525.0625 + 2475.0625 + 22725.5625 = 50300.75, ÷ 4 =
	 * 12575.1875, root 112.13915, ÷ 250.25 = 0.448108; 386 ÷ 250 = 1.544.
	 */
	static const int64_t walls_ns[] = { 900, 300, 100, 401, 200 };
	struct analyzed *a = analyze_steps(walls_ns, TSI_COUNT_OF(walls_ns), 1);

	check_facts(a, "step_time: mean_ns p50_ns p95_ns p99_ns min_ns max_ns spike_count",
		    "250 250 386 398 100 401 0");
	check_facts(a, "step_time: cv p95_p50_ratio", "0.448108 1.544");
	analyzed_free(a);
}

static void the_mean_is_rounded_half_up(void **state)
{
	(void)state;
	static const int64_t walls_ns[] = { 100, 101 };
	struct analyzed *a = analyze_steps(walls_ns, 2, 0);

	check_facts(a, "step_time: mean_ns p50_ns", "101 101");
	analyzed_free(a);
}

static void where_all_steps_are_marked_there_is_no_figure(void **state)
{
	(void)state;
	static const int64_t walls_ns[] = { 100, 100 };
	struct analyzed *a = analyze_steps(walls_ns, 2, 2);

	check_facts(a, "steps: count", "2");
	check_facts(a, "step_time: mean_ns cv spike_count", "- - -");
	check_facts(a, "budget: wall_ns compute_ns", "- -");
	check_table(a, "step_time.slow: step", "");
	analyzed_free(a);
}

static void a_spike_towers_above_those_before_it(void **state)
{
	(void)state;
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
		analyzed_free(a);
	}
}

static void only_twelve_steps_are_looked_back_at(void **state)
{
	(void)state;
	/*
	 * Step 14 looks at steps 2 to 13: six of 200, six of 100, so the median 150 deviates
	 * by 50 and nothing towers. One step more or less would leave a majority of 100 with
	 * no deviation, above which 151 is a spike.
	 */
	static const int64_t walls_ns[] = { 100, 200, 200, 200, 200, 200, 200,
					    100, 100, 100, 100, 100, 100, 151 };
	struct analyzed *a = analyze_steps(walls_ns, TSI_COUNT_OF(walls_ns), 0);

	check_table(a, "step_time.slow: step", "");
	analyzed_free(a);
}

static void a_slow_step_says_what_grew(void **state)
{
	(void)state;
	static const int64_t walls_ns[] = { 100, 100, 100, 100, 100, 100, 100, 300, 100 };
	struct analyzed *a = analyze_steps(walls_ns, TSI_COUNT_OF(walls_ns), 0);

	/* 250 ns of device_gap, and 50 in the median step */
	check_table(a, "step_time.slow: step wall_ns grew grew_ns", "8 300 device_gap 200\n");
	analyzed_free(a);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(statistics_of_unmarked_steps),
		cmocka_unit_test(the_mean_is_rounded_half_up),
		cmocka_unit_test(where_all_steps_are_marked_there_is_no_figure),
		cmocka_unit_test(a_spike_towers_above_those_before_it),
		cmocka_unit_test(only_twelve_steps_are_looked_back_at),
		cmocka_unit_test(a_slow_step_says_what_grew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
