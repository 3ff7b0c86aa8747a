/* SPDX-License-Identifier: MIT */
/* The budget as facts: sums over unmarked steps and devices, per device, and of the host. */
#include "analysis_check.h"
#include "step_text.h"
#include "world_text.h"

#include "analyze/analysis.h"
#include "check.h"

#define LINES                                                                                      \
	"budget: wall_total_ns step_count compute_total_ns exposed_comm_total_ns "                 \
	"exposed_copy_total_ns data_stall_total_ns "                                               \
	"sync_stall_total_ns launch_stall_total_ns device_gap_total_ns unattributed_total_ns"

/* A launch of 2 ns at launch_ns and its kernel, under an operator. */
static void launch(struct test_trace *t, int device, int64_t launch_ns, int64_t start_ns,
		   int64_t dur_ns)
{
	static uint64_t correlation;

	correlation++;
	test_op(t, "aten::mm", 1, launch_ns, 2);
	test_call(t, "cudaLaunchKernel", 1, launch_ns, 2, correlation);
	test_kernel(t, "gemm", device, 7, start_ns, dur_ns, correlation);
}

/*
 * Step 1 is warm-up by choice; steps 2 [100,200) and 3 [200,300) count.
 *   device 0  step 2: launch [100,112) 12, gap [112,120) 8, compute [120,180) 60, then idle
 *             until the launch at 205: launch [180,200) 20
 *             step 3: launch [200,207) 7, gap [207,210) 3, compute [210,290) 80, no more: 10
 *   device 1  step 2: launch [100,132) 32, gap [132,140) 8, compute [140,150) 10, no more: 50
 *             step 3: 100
 * An event of no length in step 3 keeps it from looking cut.
 */
static struct analyzed *analyze_two_devices(void)
{
	const struct tscope_timeline_options options = { .warmup = 1 };
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", 1, 0, 100);
	test_annotation(t, "ProfilerStep#2", 1, 100, 100);
	test_annotation(t, "ProfilerStep#3", 1, 200, 100);
	launch(t, 0, 10, 20, 70);
	launch(t, 0, 110, 120, 60);
	launch(t, 0, 205, 210, 80);
	launch(t, 1, 130, 140, 10);
	launch(t, 0, 220, 230, 0);
	return analyze_steps_of(t, &options);
}

TEST(unmarked_steps_of_all_devices_are_summed)
{
	struct analyzed *a = analyze_two_devices();

	/* Two steps on two devices are four, and make 400 = 150 + 71 + 19 + 160. */
	check_facts(a, LINES, "400 4 150 0 0 0 0 71 19 160");
	check_facts(a, "budget: phase.forward_total_ns phase.backward_total_ns host.data_total_ns",
		    "150 0 -");
}

TEST(each_device_has_its_own)
{
	struct analyzed *a = analyze_two_devices();

	check_device_facts(a, 0, LINES, "200 2 140 0 0 0 0 39 11 10");
	check_device_facts(a, 1, LINES, "200 2 10 0 0 0 0 32 8 150");
	check_device_facts(a, 2, LINES, "- - - - - - - - - -");
}

TEST(of_one_device_the_figures_are_the_trace_s)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", 1, 0, 100);
	launch(t, 3, 10, 20, 30);
	struct analyzed *a = analyze(t);
	assert_int_equal(tscope_analysis_device_ordinal(a->analysis, 0), 3);
	check_facts(a, LINES, "100 1 30 0 0 0 0 12 8 50");
	check_device_facts(a, 0, LINES, "100 1 30 0 0 0 0 12 8 50");
	check_device_facts(a, 1, LINES, "- - - - - - - - - -");
}

TEST(without_devices_the_host_tells)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", 1, 0, 100);
	test_annotation(t, "ProfilerStep#2", 1, 100, 100);
	test_annotation(t, "enumerate(DataLoader)#_Iter.__next__", 1, 10, 20);
	test_op(t, "aten::mm", 1, 120, 50);
	struct analyzed *a = analyze(t);
	check_facts(a, LINES, "200 2 - - - - - - - -");
	check_facts(a,
		    "budget: host.data_total_ns host.forward_total_ns host.backward_total_ns "
		    "host.optimizer_total_ns "
		    "host.comm_total_ns host.other_total_ns phase.forward_total_ns",
		    "20 50 0 0 0 130 -");
}

#define HOST_LINES                                                                                 \
	"budget: wall_total_ns host.forward_total_ns host.backward_total_ns host.other_total_ns"

TEST(several_workers_in_one_file_have_no_lines)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", 1, 0, 100);
	for (int worker = 1; worker <= 2; worker++) {
		test_annotation(t, "forward", worker, 0, 40);
		test_annotation(t, "backward", worker, 40, 60);
	}
	struct analyzed *a = analyze(t);
	check_facts(a, HOST_LINES, "- - - -");
	check_doubt(a, "budget.host.forward_total_ns",
		    "several threads run forward and backward at once");
	check_facts(a, "step_time: mean_ns phase.backward_ns phase.comm_ratio", "100 - -");
	check_doubt(a, "step_time.phase.comm_ratio",
		    "the trace does not say the phases of its steps");
	check_facts(a, "breakdown: wall_total_ns step_count", "- -");
	check_facts(a, "steps: counted_count", "1");

	/* The rank's figures say the same. */
	const struct analysis_scope scope = { .steps = tsi_analysis_steps(a->analysis) };
	struct analyzed rank = { 0 };
	assert_int_equal(tsi_analyze_level(&rank.analysis, LEVEL_RANK, &scope, NULL, NULL),
			 TSCOPE_OK);
	check_facts(&rank, HOST_LINES, "- - - -");
	check_doubt(&rank, "budget.host.forward_total_ns",
		    "several threads run forward and backward at once");
	tscope_analysis_free(rank.analysis);
}

TEST(of_a_trace_alone_the_rank_s_figures_are_the_trace_s)
{
	struct analyzed *a = analyze_two_devices();
	const struct analysis_scope scope = { .steps = tsi_analysis_steps(a->analysis) };
	struct analyzed rank = { 0 };

	assert_int_equal(tsi_analyze_level(&rank.analysis, LEVEL_RANK, &scope, NULL, NULL),
			 TSCOPE_OK);
	check_facts(&rank, LINES, "400 4 150 0 0 0 0 71 19 160");
	check_facts(&rank,
		    "budget: phase.forward_total_ns phase.backward_total_ns host.data_total_ns",
		    "150 0 -");
	tscope_analysis_free(rank.analysis);
}

/* One step of a rank, of its compute line so much forward work. */
struct rank_step {
	int64_t compute_ns, forward_ns, comm_ns, gap_ns;
};

static struct step_series rank_of_step(struct rank_step step)
{
	struct step_series steps = test_steps("1 forward=1\n2 forward=1\n3 forward=1\n");
	struct step_budget *budget = test_steps_add_budget(&steps, 0);

	steps.device_count = 1;
	budget->wall_ns = step.compute_ns + step.comm_ns + step.gap_ns;
	budget->device.line_ns[TSCOPE_BUDGET_COMPUTE] = step.compute_ns;
	budget->device.line_ns[TSCOPE_BUDGET_EXPOSED_COMM] = step.comm_ns;
	budget->device.line_ns[TSCOPE_BUDGET_DEVICE_GAP] = step.gap_ns;
	budget->device.compute_phase_ns[PHASE_FORWARD] = step.forward_ns;
	budget->device.compute_phase_ns[PHASE_BACKWARD] = step.compute_ns - step.forward_ns;
	budget = test_steps_add_budget(&steps, 1);
	budget->mark = TSCOPE_STEP_FIRST;
	budget->wall_ns = 1000;
	return steps;
}

static struct step_series rank_of_host(int64_t data_ns, int64_t other_ns)
{
	struct step_series steps = test_steps("1 forward=1\n");
	struct step_budget *budget = test_steps_add_budget(&steps, 0);

	budget->wall_ns = data_ns + other_ns;
	budget->host.line_ns[HOST_DATA] = data_ns;
	budget->host.line_ns[HOST_OTHER] = other_ns;
	return steps;
}

TEST(of_several_ranks_it_is_the_mean)
{
	/*
	 * Wall 6 + 5 + 5 = 16, ÷ 3 = 5.33. Compute 5 (forward 2, backward 3), communication 5,
	 * gap 6: the sums 5, 10, 16 by 3 are 1.67, 3.33, 5.33, so 2, 3, 5 and the lines 2, 1, 2.
	 * Forward 0.67 is 1, which leaves 1 of 2. The others have no budget, or none of devices.
	 */
	struct step_series ranks[] = {
		rank_of_step((struct rank_step){ 3, 2, 1, 2 }), test_steps("1 forward=1\n"),
		rank_of_step((struct rank_step){ 1, 0, 2, 2 }), rank_of_host(100, 100),
		rank_of_step((struct rank_step){ 1, 0, 2, 2 }),
	};

	ranks[2].doubt = "no one was looking";
	struct analyzed *a = analyze_run(ranks, TSI_COUNT_OF(ranks), NULL);
	check_facts(a, LINES, "5 1 2 1 0 0 0 0 2 0");
	check_facts(a, "budget: phase.forward_total_ns phase.backward_total_ns host.data_total_ns",
		    "1 1 -");
	check_reliability(a, "budget", "no one was looking");
}

TEST(of_one_rank_it_is_its_own)
{
	struct step_series steps = rank_of_step((struct rank_step){ 3, 2, 1, 2 });

	steps.device_count = 2; /* whose lines are summed */
	steps.budgets[0].wall_ns = 3;
	struct analyzed *a = analyze_run(&steps, 1, NULL);
	check_facts(a, LINES, "6 2 3 1 0 0 0 0 2 0");
	check_reliability(a, "budget", NULL);
}

TEST(a_run_without_devices_has_host_lines)
{
	struct step_series ranks[] = { rank_of_host(1, 6), rank_of_host(2, 6) };
	struct analyzed *a = analyze_run(ranks, TSI_COUNT_OF(ranks), NULL);

	/* 15 ÷ 2 = 7.5, of which data 1.5, both up. */
	check_facts(a, LINES, "8 1 - - - - - - - -");
	check_facts(a, "budget: host.data_total_ns host.other_total_ns", "2 6");
}

TEST(the_ranks_steps_are_averaged_too)
{
	/* Two devices make two of the first's step: (2 + 1) ÷ 2 = 1.5, up; (12 + 3) ÷ 2 = 7.5, up. */
	struct step_series ranks[] = {
		rank_of_step((struct rank_step){ 3, 2, 1, 2 }),
		rank_of_step((struct rank_step){ 1, 0, 1, 1 }),
	};

	ranks[0].device_count = 2;
	struct analyzed *a = analyze_run(ranks, TSI_COUNT_OF(ranks), NULL);
	check_facts(a, "budget: wall_total_ns step_count", "8 2");
}

/* Its exposed communication, or without a device the host's, is divided into wait and transfer. */
static struct step_series divided(struct step_series steps, int64_t wait_ns, int64_t transfer_ns)
{
	struct step_budget *budget = &steps.budgets[0];

	budget->has_split = true;
	budget->exposed_ns[EXPOSED_WAIT] = wait_ns;
	budget->exposed_ns[EXPOSED_TRANSFER] = transfer_ns;
	budget->exposed_ns[EXPOSED_UNSPLIT] = budget->device.line_ns[TSCOPE_BUDGET_EXPOSED_COMM] +
					      budget->host.line_ns[HOST_COMM] - wait_ns -
					      transfer_ns;
	return steps;
}

#define SPLIT                                                                                      \
	"budget: exposed_comm_total_ns exposed_wait_total_ns exposed_transfer_total_ns "           \
	"exposed_unsplit_total_ns "                                                                \
	"host.comm_wait_total_ns"

TEST(exposed_communication_is_divided)
{
	struct step_series steps = divided(rank_of_step((struct rank_step){ 3, 2, 9, 2 }), 5, 3);
	struct analyzed *a = analyze_rank(&steps, NULL);

	/* Of 9; the second step is marked and does not count. */
	check_facts(a, SPLIT, "9 5 3 1 -");

	/*
	 * Compute 3 + 1 = 4 and communication 9 + 4 = 13, of which 5 waiting, 3 transfer and the
	 * rest, 5, undivided: the second rank does not say. The sums 4, 9, 12 and 17 by 2 are 2,
	 * 4.5, 6 and 8.5, so 2, 5, 6 and 9.
	 */
	struct step_series ranks[] = {
		divided(rank_of_step((struct rank_step){ 3, 2, 9, 2 }), 5, 3),
		rank_of_step((struct rank_step){ 1, 0, 4, 2 }),
	};
	a = analyze_run(ranks, TSI_COUNT_OF(ranks), NULL);
	check_facts(a, SPLIT, "7 3 1 3 -");

	steps = rank_of_step((struct rank_step){ 3, 2, 9, 2 });
	a = analyze_rank(&steps, NULL);
	check_facts(a, SPLIT, "9 - - - -");
}

TEST(traces_of_several_ranks_divide_it)
{
	/*
	 * Transfer 20. Rank 0 exposes [40,90), of which it waits until 70; rank 1 exposes [70,90).
	 * Compute 50 + 80, waiting 30, transfer 20 + 20, by 2: 65, 15, 20.
	 */
	struct test_world *w = test_world("rank 0\n"
					  "step 1 0 100\n"
					  "compute 0 40\n"
					  "exposed_comm 40 90\n"
					  "compute 90 100\n"
					  "all_reduce 30 90 group=dp ranks=0,1 seq=0\n"
					  "rank 1\n"
					  "step 1 0 100\n"
					  "compute 0 70\n"
					  "exposed_comm 70 90\n"
					  "compute 90 100\n"
					  "all_reduce 70 90 group=dp ranks=0,1 seq=0\n");
	struct analyzed *a = analyze_world(w, NULL);

	check_facts(a, "budget: compute_total_ns", "65");
	check_facts(a, SPLIT, "35 15 20 0 -");
}

TEST(so_is_that_of_the_host)
{
	/* Data 1 + 2 = 3; communication 4 + 3 = 7: 2 waiting, 5 transfer. By 2: 1.5; 2.5 and 5. */
	struct step_series ranks[] = { rank_of_host(1, 0), rank_of_host(2, 0) };

	ranks[0].budgets[0].wall_ns += 4;
	ranks[0].budgets[0].host.line_ns[HOST_COMM] = 4;
	ranks[1].budgets[0].wall_ns += 3;
	ranks[1].budgets[0].host.line_ns[HOST_COMM] = 3;
	ranks[0] = divided(ranks[0], 1, 3);
	ranks[1] = divided(ranks[1], 1, 2);
	struct analyzed *a = analyze_run(ranks, TSI_COUNT_OF(ranks), NULL);
	/* The sums 3, 5 and 10 by 2 are 1.5, 2.5 and 5, so 2, 3 and 5. */
	check_facts(a,
		    "budget: host.data_total_ns host.comm_total_ns host.comm_wait_total_ns "
		    "host.comm_transfer_total_ns "
		    "host.comm_unsplit_total_ns exposed_wait_total_ns",
		    "2 3 1 2 0 -");
}

TEST(records_alone_have_no_budget)
{
	struct step_series steps = test_steps("1 forward=1\n");
	struct analyzed *a = analyze_rank(&steps, NULL);

	check_facts(a, LINES, "- - - - - - - - - -");
}

/* ---- what of the computing is useful ---- */

TEST(compute_is_useful_or_overhead)
{
	static const struct {
		double flops, peak_flops; /* as options: 0 is not said */
		const char *facts, *doubt;
	} cases[] = {
		/* 4 ns at 10 FLOPs a nanosecond, of 30 computed in the step */
		{ 40, 1e10, "30 4 26", NULL },
		/* no more than was computed */
		{ 400, 1e10, "30 30 0", NULL },
		{ 40, 0, "30 - -", "unknown device; pass its peak with --peak-tflops" },
		{ 0, 1e10, "30 - -",
		  "no shapes recorded; use record_shapes=True, --flops-per-step or --model" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct step_series steps = rank_of_step((struct rank_step){ 30, 20, 1, 2 });
		const struct tscope_analysis_options options = { .flops_per_step = cases[i].flops,
								 .peak_flops =
									 cases[i].peak_flops };
		struct analyzed *a = analyze_rank(&steps, &options);

		check_facts(a,
			    "budget: compute_total_ns useful_compute_total_ns "
			    "compute_overhead_total_ns",
			    cases[i].facts);
		check_doubt(a, "budget.useful_compute_total_ns", cases[i].doubt);
		check_doubt(a, "budget.compute_overhead_total_ns", cases[i].doubt);
	}
}

TEST(of_several_ranks_the_useful_part_is_the_mean_too)
{
	/* 4 ns of 30, and 4 of which 3 were computed: 7 ÷ 2 = 3.5 and 33 ÷ 2 = 16.5, halves up. */
	const struct tscope_analysis_options options = { .flops_per_step = 40, .peak_flops = 1e10 };
	struct step_series ranks[] = {
		rank_of_step((struct rank_step){ 30, 20, 1, 2 }),
		rank_of_step((struct rank_step){ 3, 2, 1, 2 }),
	};
	struct analyzed *a = analyze_run(ranks, TSI_COUNT_OF(ranks), &options);

	check_facts(a, "budget: compute_total_ns useful_compute_total_ns compute_overhead_total_ns",
		    "17 4 13");
}
