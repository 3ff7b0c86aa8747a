/* SPDX-License-Identifier: MIT */
/* Every step with what it recorded; what it did not record is absent. */
#include "analysis_check.h"
#include "step_text.h"

#include "analyze/analysis.h"
#include "check.h"
#include "memory_sweep.h"

TEST(records_show_what_they_hold)
{
	struct step_series steps = test_steps("7 warmup data=5 forward=10 loss=2.5\n"
					      "8 forward=20 eval=3 loss=nan grad_norm=inf\n"
					      "9 loss=-inf alloc=100 reserved=500 peak_alloc=300\n"
					      "11 first loss=inf grad_norm=0.5\n"
					      "10 other=0\n");
	struct analyzed *a = analyze_rank(&steps, NULL);

	/* 5 + 10; 20 + 3 of a phase with a name of its own, which has no column. */
	check_table(a,
		    "series.steps: step mark time_ns phase_data_ns phase_forward_ns "
		    "phase_other_ns",
		    "7 warmup 15 5 10 -\n"
		    "8 - 23 - 20 -\n"
		    "9 - - - - -\n"
		    "11 first - - - -\n"
		    "10 - 0 - - 0\n");
	check_table(a, "series.steps: loss loss_text grad_norm alloc_bytes peak_alloc_bytes",
		    "2.5 - - - -\n"
		    "- NaN - - -\n"
		    "- -Infinity - 100 300\n"
		    "- Infinity 0.5 - -\n"
		    "- - - - -\n");
	check_table(a, "series.steps: line_compute_ns host_other_ns", "- -\n- -\n- -\n- -\n- -\n");
}

/* Without any phase the times are 0 and mean nothing. */
TEST(records_without_phases_have_no_time)
{
	struct step_series steps = test_steps("1 loss=2\n2 loss=1\n");

	for (size_t i = 0; i < steps.count; i++)
		steps.records[i].has |= STEP_HAS_TIME;
	tsi_steps_settle_times(&steps);
	struct analyzed *a = analyze_rank(&steps, NULL);
	check_table(a, "series.steps: step time_ns loss", "1 - 2\n2 - 1\n");
}

/* A budget has a mark of its own: the record counts and its budget does not, or the reverse. */
TEST(lines_are_those_of_budgets_that_count)
{
	struct step_series steps = test_steps("1 forward=9\n2 forward=9\n3 warmup forward=9\n");

	steps.device_count = 2;
	for (size_t i = 0; i < steps.count; i++) {
		struct step_budget *budget = test_steps_add_budget(&steps, i);

		budget->device.line_ns[TSCOPE_BUDGET_COMPUTE] = 10 + (int64_t)i;
		budget->device.line_ns[TSCOPE_BUDGET_UNATTRIBUTED] = 5;
		budget->mark = TSCOPE_STEP_COUNTED;
	}
	steps.budgets[1].mark = TSCOPE_STEP_INCOMPLETE;
	struct analyzed *a = analyze_rank(&steps, NULL);
	check_table(a,
		    "series.steps: step mark line_compute_ns line_exposed_comm_ns "
		    "line_unattributed_ns host_data_ns",
		    "1 - 10 0 5 -\n"
		    "2 - - - - -\n"
		    "3 warmup 12 0 5 -\n");
}

/*
 * Two steps on two devices.
 *   step 1 [0,100):   device 0 computes [10,60), device 1 [20,30)
 *   step 2 [100,200): device 0 computes [110,120): fewer events than step 1, so incomplete
 * Step 1: launch 5 and 8, gap 5 and 12, compute 50 and 10, launch 40 until 105; 70 without a
 * later event. Compute by phase: what launched it is not known, so (50 + 10) / 2 = 30 is "compute".
 */
TEST(a_trace_has_the_lines_of_its_devices)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", 1, 0, 95);
	test_annotation(t, "ProfilerStep#2", 1, 100, 100);
	test_call(t, "cudaLaunchKernel", 1, 5, 2, 1);
	test_kernel(t, "gemm", 0, 7, 10, 50, 1);
	test_call(t, "cudaLaunchKernel", 1, 8, 2, 2);
	test_kernel(t, "gemm", 1, 7, 20, 10, 2);
	test_call(t, "cudaLaunchKernel", 1, 105, 2, 3);
	test_kernel(t, "gemm", 0, 7, 110, 10, 3);
	struct analyzed *a = analyze(t);
	check_table(a,
		    "series.steps: step mark time_ns phase_compute_ns line_compute_ns "
		    "line_launch_stall_ns line_device_gap_ns line_unattributed_ns",
		    "1 - 100 30 60 57 13 70\n"
		    "2 incomplete 100 5 - - - -\n");
}

TEST(without_devices_there_are_host_lines)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", 1, 0, 100);
	test_op(t, "aten::mm", 1, 10, 30);
	struct analyzed *a = analyze(t);
	check_table(a,
		    "series.steps: step host_data_ns host_forward_ns host_other_ns "
		    "line_compute_ns",
		    "1 0 30 70 -\n");
}

/* The run's are the slowest rank's, step by step; step 3 is not common. */
TEST(a_run_has_the_slowest_ranks_steps)
{
	struct step_series ranks[2] = {
		test_steps("1 forward=10 loss=5\n2 forward=30 loss=6\n"),
		test_steps("1 forward=20 loss=7\n2 forward=20 loss=8\n3 forward=1 loss=9\n"),
	};

	ranks[0].rank = 0;
	ranks[1].rank = 1;
	struct analyzed *a = analyze_run(ranks, 2, NULL);
	check_table(a, "series.steps: step time_ns loss", "1 20 7\n2 30 6\n");
}

/* A step on a device: compute, gap, and 1 of communication. */
static void add_lines(struct step_series *steps, size_t record, int64_t compute_ns, int64_t gap_ns)
{
	struct step_budget *budget = test_steps_add_budget(steps, record);

	steps->device_count = 1;
	budget->wall_ns = compute_ns + 1 + gap_ns;
	budget->device.line_ns[TSCOPE_BUDGET_COMPUTE] = compute_ns;
	budget->device.line_ns[TSCOPE_BUDGET_EXPOSED_COMM] = 1;
	budget->device.line_ns[TSCOPE_BUDGET_DEVICE_GAP] = gap_ns;
}

/*
 * Three ranks, of which one has no trace: means of two. Step 1: compute 5 and 6, communication 1
 * and 1, gap 4 and 3: the sums 11, 13, 20 by 2 are 5.5, 6.5 and 10, so 6, 7 and 10 and the lines
 * 6, 1 and 3. Step 2 is incomplete in a trace, step 3 has no budget, step 5 is not common.
 */
TEST(a_run_has_the_mean_lines_of_its_ranks)
{
	static const char records[] = "1 forward=9\n2 forward=9\n3 forward=9\n4 forward=9\n";
	struct step_series ranks[3] = {
		test_steps("1 forward=8\n2 forward=8\n3 forward=8\n4 forward=8\n5 forward=8\n"),
		test_steps(records),
		test_steps(records),
	};
	/* Records are by number in one rank, and in another order in the other. */
	struct step_record last = ranks[1].records[3];

	ranks[1].records[3] = ranks[1].records[0];
	ranks[1].records[0] = last;
	for (size_t i = 0; i < 3; i++)
		ranks[i].rank = (int64_t)i;
	add_lines(&ranks[0], 0, 5, 4);
	add_lines(&ranks[0], 1, 7, 7);
	ranks[0].budgets[1].mark = TSCOPE_STEP_INCOMPLETE;
	add_lines(&ranks[0], 3, 100, 20);
	add_lines(&ranks[0], 4, 500, 500);
	add_lines(&ranks[1], 3, 6, 3);
	add_lines(&ranks[1], 1, 7, 7);
	add_lines(&ranks[1], 2, 7, 7);
	add_lines(&ranks[1], 0, 200, 30);
	struct analyzed *a = analyze_run(ranks, 3, NULL);
	check_table(a,
		    "series.steps: step time_ns line_compute_ns line_exposed_comm_ns "
		    "line_device_gap_ns line_unattributed_ns host_data_ns",
		    "1 9 6 1 3 0 -\n"
		    "2 9 - - - - -\n"
		    "3 9 - - - - -\n"
		    "4 9 150 1 25 0 -\n");
}

/* A rank with devices speaks; without any the hosts do. */
TEST(a_run_without_devices_has_mean_host_lines)
{
	struct step_series ranks[2] = { test_steps("1 forward=9\n"), test_steps("1 forward=8\n") };
	struct step_series mixed[2] = { test_steps("1 forward=9\n"), test_steps("1 forward=8\n") };

	/* (3 + 4) ÷ 2 = 3.5, up; (3 + 4 + 6 + 6) ÷ 2 = 9.5, up, of which 4 are data. */
	for (size_t i = 0; i < 2; i++) {
		struct step_budget *budget = test_steps_add_budget(&ranks[i], 0);

		budget->host.line_ns[HOST_DATA] = 3 + (int64_t)i;
		budget->host.line_ns[HOST_OTHER] = 6;
	}
	struct analyzed *a = analyze_run(ranks, 2, NULL);
	check_table(a, "series.steps: host_data_ns host_other_ns line_compute_ns", "4 6 -\n");

	test_steps_add_budget(&mixed[0], 0)->host.line_ns[HOST_DATA] = 3;
	add_lines(&mixed[1], 0, 5, 4);
	a = analyze_run(mixed, 2, NULL);
	check_table(a, "series.steps: host_data_ns line_compute_ns line_device_gap_ns", "- 5 4\n");
}

/* Of one rank the whole says what the rank does, and does not hold it twice. */
TEST(a_run_of_one_rank_takes_its_steps_over)
{
	struct step_series steps =
		test_steps("1 forward=10 loss=5\n2 warmup forward=30 loss=nan\n");
	struct analyzed *a = analyze_rank(&steps, NULL);
	struct analysis_scope scope = { .steps = a->ranks, .ranks = a->ranks, .rank_count = 1 };
	size_t series = tscope_analyzer_find("series");
	struct tscope_analysis *run, *alone;

	assert_int_equal(tsi_analyze_level(&run, LEVEL_RUN, &scope, a->analysis, NULL), TSCOPE_OK);
	assert_int_equal(tsi_analyze_level(&alone, LEVEL_RUN, &scope, NULL, NULL), TSCOPE_OK);
	check_table(&(struct analyzed){ .analysis = run }, "series.steps: step mark time_ns loss",
		    "1 - 10 5\n2 warmup 30 -\n");
	assert_false(tscope_analysis_has(alone, series, TSCOPE_WHOLE_TRACE));
	tscope_analysis_free(alone);
	tscope_analysis_free(run);
}

TEST(every_allocation_of_a_run_may_fail)
{
	struct step_series ranks[2] = { test_steps("1 forward=9\n"), test_steps("1 forward=8\n") };
	struct analysis_scope scope = { .steps = &ranks[0], .ranks = ranks, .rank_count = 2 };

	add_lines(&ranks[0], 0, 1, 1);
	add_lines(&ranks[1], 0, 1, 1);
	sweep_level(LEVEL_RUN, &scope, 10);
	tsi_steps_deinit(&ranks[0]);
	tsi_steps_deinit(&ranks[1]);
}

TEST(every_allocation_may_fail)
{
	struct step_series steps = test_steps("1 forward=10 loss=5\n2 forward=30 loss=nan\n");
	struct analysis_scope scope = { .steps = &steps };

	sweep_level(LEVEL_RANK, &scope, 10);
	tsi_steps_deinit(&steps);
}
