/* SPDX-License-Identifier: MIT */
/* Every fact of two sides: which are sums, which are left out, and what each is judged by. */
#include "diff_check.h"

#include <stdio.h>
#include <string.h>

#include "analyze/analyzer_table.h"
#include "base/attributes.h"
#include "check.h"
#include "diff/fact_basis.h"

/* ---- which facts are what: a new one is to be looked at ---- */

enum { LIST_CHARS = 16384, ID_CHARS = 256 };

/* Appends the ids that `matches`, by analyzer, as "kernels: count total_ns\n". */
static void list_ids(char *list, bool (*matches)(size_t analyzer, size_t fact, int wanted),
		     int wanted)
{
	size_t length = strlen(list);

	for (size_t i = 0; i < tscope_analyzer_count(); i++) {
		const struct tscope_analyzer_def *def = tscope_analyzer(i);
		bool is_first = true;
		if (tsi_analyzer(i)->levels & LEVEL_DIFF)
			continue;
		for (size_t j = 0; j < def->fact_count; j++) {
			if (!matches(i, j, wanted))
				continue;
			length += (size_t)snprintf(list + length, LIST_CHARS - length, "%s%s %s",
						   is_first ? def->id : "", is_first ? ":" : "",
						   def->facts[j].name);
			is_first = false;
		}
		if (!is_first)
			length += (size_t)snprintf(list + length, LIST_CHARS - length, "\n");
		assert_true(length < LIST_CHARS);
	}
}

static bool is_total(size_t analyzer, size_t fact, int wanted)
{
	return (int)tscope_fact_total(tscope_analyzer(analyzer), fact) == wanted;
}

static void check_list(bool (*matches)(size_t analyzer, size_t fact, int wanted), int wanted,
		       const char *expected)
{
	static char list[LIST_CHARS];

	list[0] = '\0';
	list_ids(list, matches, wanted);
	assert_string_equal(list, expected);
}

TEST(sums_are_known)
{
	check_list(is_total, TSCOPE_TOTAL_STEPS,
		   "budget: wall_total_ns useful_compute_total_ns compute_overhead_total_ns "
		   "compute_total_ns "
		   "exposed_comm_total_ns exposed_copy_total_ns data_stall_total_ns "
		   "sync_stall_total_ns launch_stall_total_ns "
		   "device_gap_total_ns unattributed_total_ns phase.data_total_ns "
		   "phase.forward_total_ns phase.backward_total_ns "
		   "phase.optimizer_total_ns phase.comm_total_ns phase.unknown_total_ns "
		   "phase.other_total_ns host.data_total_ns "
		   "host.forward_total_ns host.backward_total_ns host.optimizer_total_ns "
		   "host.comm_total_ns host.other_total_ns "
		   "host.comm_wait_total_ns host.comm_transfer_total_ns host.comm_unsplit_total_ns "
		   "host.comm_own_total_ns "
		   "exposed_wait_total_ns exposed_transfer_total_ns exposed_unsplit_total_ns "
		   "exposed_own_total_ns\n"
		   "breakdown: wall_total_ns\n"
		   "opportunities: wall_total_ns short_gap_count short_gap_total_ns "
		   "short_gap_host_total_ns "
		   "short_gap_graph_total_ns fusible_count fusible_total_ns "
		   "fusible_saving_total_ns layout_count "
		   "layout_total_ns small_copy_count small_copy_total_ns small_copy_gap_total_ns "
		   "tiny_comm_count "
		   "tiny_comm_exposed_total_ns optimizer_count optimizer_grouped_count "
		   "optimizer_total_ns "
		   "optimizer_saving_total_ns optimizer_gap_total_ns\n"
		   "patterns: wall_total_ns conv_bias_count host_tensor_count host_tensor_total_ns "
		   "loop_count "
		   "loop_total_ns data_parallel_count data_parallel_total_ns\n"
		   "blocks: device_ns repeated_ns\n"
		   "modules: call_count repeated_count device_ns outside_ns outside_backward_ns "
		   "unlinked_ns host_ns host_outside_ns\n"
		   "sources: device_ns outside_ns unlinked_ns host_ns host_outside_ns\n"
		   "attribution: match_count device_ns under_ns unlinked_ns host_ns\n"
		   "attention: softmax_count scores_total_ns softmax_total_ns "
		   "products_total_ns\n");
	check_list(is_total, TSCOPE_TOTAL_TIMED,
		   "efficiency: wall_ns compute_ns useful_ns\n"
		   "correlation: group_count event_count\n"
		   "pipeline: wall_ns\n");
	check_list(is_total, TSCOPE_TOTAL_CAPTURE,
		   "integrity: event_count dropped_count span_count capture_ns work_ns "
		   "python_frame_count "
		   "device_event_count linked_by_correlation_count linked_by_flow_count "
		   "linked_by_external_id_count unlinked_count device_before_launch_count "
		   "impossible_count "
		   "impossible_ns empty_graph_launch_count short_graph_replay_count "
		   "attributed_by_time_count\n"
		   "arrivals: count\n"
		   "transfers: count bytes wait_ns transfer_ns\n"
		   "experts: count\n"
		   "device_busy: span_ns busy_ns idle_ns compute_ns comm_ns copy_ns event_count "
		   "event_ns\n"
		   "overlap: comm_ns overlapped_ns exposed_ns\n"
		   "kernels: count total_ns short_count small_grid_count small_grid_ns "
		   "tensor_core_ns tensor_core_unknown_ns\n"
		   "operators: count self_ns device_ns\n"
		   "graphs: captured_count replay_count joined_count partial_count "
		   "ambiguous_count unknown_count mismatch_count kernel_count kernel_ns "
		   "joined_ns\n"
		   "flops: total repeated matrix_ns uncounted_ns lost_ns\n"
		   "launches: launch_count captured_count launch_ns sync_count sync_ns "
		   "malloc_count malloc_ns "
		   "free_count free_ns steady_malloc_count steady_free_count "
		   "steady_malloc_ns steady_free_ns\n"
		   "copies: count total_ns bytes exposed_ns pageable_count pageable_ns "
		   "pageable_bytes\n"
		   "collectives: count total_ns bytes unsized_count host_count\n"
		   "spans: count\n"
		   "python: call_count self_ns gc_count gc_total_ns main_ns data_loading_ns "
		   "logging_ns checkpoint_ns synchronisation_ns waiting_ns\n"
		   "callbacks: call_count total_ns evaluation_count evaluation_ns\n");
}

static struct fact_judgement judgement_of(size_t analyzer, size_t fact)
{
	const struct tscope_analyzer_def *def = tscope_analyzer(analyzer);
	char id[ID_CHARS];

	snprintf(id, sizeof(id), "%s.%s", def->id, def->facts[fact].name);
	return tsi_judge_fact(id, def->facts[fact].unit);
}

static bool has_basis(size_t analyzer, size_t fact, int wanted)
{
	return (int)judgement_of(analyzer, fact).basis == wanted;
}

TEST(who_where_and_when_are_left_out)
{
	check_list(has_basis, BASIS_LEFT_OUT,
		   "integrity: path\n"
		   "breakdown: wall_total_ns step_count\n"
		   "memory: peak_step peak_time_ns snapshot_peak_step\n"
		   "snapshot: path peak_device peak_index peak_time_ns oom_device oom_time_ns "
		   "earlier_path\n"
		   "memory_timeline: path start_time_ns end_time_ns peak_index peak_time_ns\n"
		   "memory_stats: path\n"
		   "memory_tracker: path iteration peak_device\n"
		   "host_memory: path pid\n"
		   "opportunities: wall_total_ns step_count\n"
		   "patterns: step_count wall_total_ns\n"
		   "provenance: name started_s\n");
}

TEST(what_is_judged_by_the_steps_is_known)
{
	check_list(has_basis, BASIS_STEP,
		   "step_time: mean_ns steps_per_second\n"
		   "efficiency: wall_ns mean_wall_ns\n"
		   "pipeline: wall_ns\n");
	check_list(has_basis, BASIS_WALL, "budget: wall_total_ns\n");
	check_list(has_basis, BASIS_TYPICAL_STEP, "step_time: p50_ns\n");
	check_list(has_basis, BASIS_UTILISATION,
		   "efficiency: mfu hfu mfu_uncapped achieved_tflops\n");
	check_list(has_basis, BASIS_ALLOCATION, "memory: mean_alloc_bytes\n");
}

/* Columns of series.steps; those that it has not are of figures that are not tested. */
TEST(parts_have_their_columns)
{
	static const struct {
		const char *id;
		enum fact_basis basis;
		const char *column;
	} cases[] = {
		{ "step_time.phase.data_ns", BASIS_PART, "phase_data_ns" },
		{ "step_time.phase.data_ratio", BASIS_SHARE, "phase_data_ns" },
		{ "budget.host.comm_total_ns", BASIS_PART, "host_comm_ns" },
		{ "budget.exposed_comm_total_ns", BASIS_PART, "line_exposed_comm_ns" },
		{ "budget.useful_compute_total_ns", BASIS_PART, "line_useful_compute_ns" },
		{ "budget.phase.data_total_ns", BASIS_NONE, "" },
		{ "overlap.comm_ns", BASIS_NONE, "" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct fact_judgement judgement = tsi_judge_fact(cases[i].id, TSCOPE_UNIT_NS);
		assert_int_equal(judgement.basis, cases[i].basis);
		assert_string_equal(judgement.column, cases[i].column);
	}
}

/* ---- the list ---- */

#define STEP(number, rest) "series.steps step=" #number " time_ns=" rest "\n"
#define SIX(rest)                                                                                  \
	STEP(0, rest) STEP(1, rest) STEP(2, rest) STEP(3, rest) STEP(4, rest) STEP(5, rest)

struct list_case {
	const char *a, *b;
	const char *rows; /* fact per_step a b difference ratio verdict */
};

static void check_rows(const struct list_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct compared *c = compare(cases[i].a, cases[i].b);
		check_table(&c->result,
			    "fact_changes.list: fact per_step a b difference ratio verdict",
			    cases[i].rows);
	}
}

TEST(kinds_of_figures)
{
	static const struct list_case cases[] = {
		/* No time: what differs does not do so by chance. */
		{ "snapshot.reserved_bytes 100\nsnapshot.alloc_conf x\n"
		  "snapshot.expandable_segments yes\nsnapshot.path /a\n",
		  "snapshot.reserved_bytes 80\nsnapshot.alloc_conf y\n"
		  "snapshot.expandable_segments no\nsnapshot.path /b\n",
		  "snapshot.reserved_bytes no 100 80 -20 -0.2 exact\n"
		  "snapshot.expandable_segments no yes no - - exact\n"
		  "snapshot.alloc_conf no x y - - exact\n" },
		{ "snapshot.alloc_conf x\nsnapshot.expandable_segments no\n",
		  "snapshot.alloc_conf x\nsnapshot.expandable_segments no\n",
		  "snapshot.expandable_segments no no no - - same\n"
		  "snapshot.alloc_conf no x x - - same\n" },
		/* Of one side; and by 0 nothing is divided. */
		{ "snapshot.block_count 0\nsnapshot.oom_count 1\n",
		  "snapshot.block_count 3\nsnapshot.retry_count 2\n",
		  "snapshot.block_count no 0 3 3 - exact\n"
		  "snapshot.retry_count no - 2 - - only_b\n"
		  "snapshot.oom_count no 1 - - - only_a\n" },
		/* What is below 0 has a size, too. */
		{ "convergence.final_loss -2\n", "convergence.final_loss -1\n",
		  "convergence.final_loss no -2 -1 1 0.5 not_tested\n" },
		/* Chance has its hand in these, and nothing tells how much. */
		{ "step_time.p95_ns 100\nstep_time.spike_count 1\nsnapshot.window_ns 5\n"
		  "efficiency.precision bf16 97 %\n",
		  "step_time.p95_ns 120\nstep_time.spike_count 2\nsnapshot.window_ns 6\n"
		  "efficiency.precision bf16 98 %\n",
		  "step_time.p95_ns no 100 120 20 0.2 not_tested\n"
		  "step_time.spike_count no 1 2 1 1 not_tested\n"
		  "efficiency.precision no bf16 97 % bf16 98 % - - not_tested\n"
		  "snapshot.window_ns no 5 6 1 0.2 not_tested\n" },
		/* A difference that no integer holds. */
		{ "snapshot.growth_bytes -9223372036854775807\n",
		  "snapshot.growth_bytes 9223372036854775807\n",
		  "snapshot.growth_bytes no -9223372036854775807 9223372036854775807 1.84467e+19 "
		  "2 exact\n" },
	};

	check_rows(cases, TSI_COUNT_OF(cases));
}

/*
 * 30 kernels in 10 steps are 3 a step, 45 in 15 are as many; 46 are more, but captures have ends.
 */
TEST(sums_are_of_a_step)
{
	static const struct list_case cases[] = {
		{ "steps.count 10\nkernels.count 30\nkernels.total_ns 105\nkernels.name_count 4\n",
		  "steps.count 15\nkernels.count 45\nkernels.total_ns 151\nkernels.name_count 5\n",
		  "steps.count no 10 15 5 0.5 exact\n"
		  "kernels.count yes 3 3 0 0 same\n"
		  "kernels.total_ns yes 11 10 -1 -0.0909091 not_tested\n"
		  "kernels.name_count no 4 5 1 0.25 exact\n" },
		{ "steps.count 10\nkernels.count 30\n", "steps.count 20\nkernels.count 65\n",
		  "steps.count no 10 20 10 1 exact\n"
		  "kernels.count yes 3 3.25 0.25 0.0833333 not_tested\n" },
		{ "steps.count 10\nkernels.count 30\n", "steps.count 10\nkernels.count 40\n",
		  "steps.count no 10 10 0 0 same\n"
		  "kernels.count yes 3 4 1 0.333333 exact\n" },
		/*
		 * Where a side does not tell its steps, sums stay sums; where it has none, they do
		 * not.
		 */
		{ "steps.count 10\nkernels.count 30\n", "kernels.count 40\n",
		  "steps.count no 10 - - - only_a\n"
		  "kernels.count no 30 40 10 0.333333 not_tested\n" },
		{ "steps.count 10\nkernels.count 30\n", "step_time.count 1\n",
		  "steps.count no 10 - - - only_a\n"
		  "step_time.count no - 1 - - only_b\n"
		  "kernels.count yes 3 - - - only_a\n" },
		/* Each sum by its own number of steps. */
		{ "steps.count 7\nbudget.step_count 12\nbudget.phase.data_total_ns 120\n"
		  "step_time.count 5\nefficiency.compute_ns 500\nflops.total 14\n",
		  "steps.count 7\nbudget.step_count 24\nbudget.phase.data_total_ns 480\n"
		  "step_time.count 5\nefficiency.compute_ns 600\nflops.total 21\n",
		  "steps.count no 7 7 0 0 same\n"
		  "step_time.count no 5 5 0 0 same\n"
		  "budget.step_count no 12 24 12 1 exact\n"
		  "budget.phase.data_total_ns yes 10 20 10 1 not_tested\n"
		  "efficiency.compute_ns yes 100 120 20 0.2 not_tested\n"
		  "flops.total yes 2 3 1 0.5 exact\n" },
	};

	check_rows(cases, TSI_COUNT_OF(cases));
}

#define A_STEP "step_time.mean_ns 100\nstep_time.p50_ns 100\nstep_time.steps_per_second 1.0\n"
#define B_STEP "step_time.mean_ns 110\nstep_time.p50_ns 110\nstep_time.steps_per_second 0.9\n"
#define STEP_ROWS(verdict)                                                                         \
	"step_time.mean_ns no 100 110 10 0.1 " verdict "\n"                                        \
	"step_time.p50_ns no 100 110 10 0.1 " verdict "\n"                                         \
	"step_time.steps_per_second no 1 0.9 -0.1 -0.1 " verdict "\n"

/* Six steps that never vary: a difference is certain. Two: nothing is. */
TEST(figures_of_the_step_time_are_judged_by_it)
{
	static const struct list_case cases[] = {
		{ A_STEP SIX("100"), B_STEP SIX("110"), STEP_ROWS("changed") },
		{ A_STEP STEP(0, "100"), B_STEP STEP(0, "110"), STEP_ROWS("undecided") },
		{ A_STEP SIX("100"), B_STEP, STEP_ROWS("not_tested") },
		{ "! step_time no phases\n" A_STEP SIX("100"), B_STEP SIX("110"),
		  STEP_ROWS("not_tested") },
		/* The figures are of other steps than the series. */
		{ A_STEP SIX("100"), B_STEP SIX("100"), STEP_ROWS("not_tested") },
		{ A_STEP SIX("110"), B_STEP SIX("100"), STEP_ROWS("no_change") },
	};

	check_rows(cases, TSI_COUNT_OF(cases));
}

/* The steps are shorter for certain and the figure is larger: no change, and that p is not its. */
TEST(a_change_the_other_way_has_no_p_value)
{
	struct compared *c = compare(A_STEP SIX("110"), B_STEP SIX("100"));

	check_table(&c->result, "fact_changes.list: fact verdict p_value",
		    "step_time.mean_ns no_change -\n"
		    "step_time.p50_ns no_change -\n"
		    "step_time.steps_per_second no_change -\n");
}

/*
 * 40 steps of 100, and 36 of 90 with 4 of 400: the mean is 121, but may be so by chance; the
 * typical step is 10 faster for certain.
 */
TEST(mean_and_median_are_judged_each_by_itself)
{
	int64_t a_ns[40], b_ns[40];
	char a[8192] = "step_time.mean_ns 100\nstep_time.p50_ns 100\n";
	char b[8192] = "step_time.mean_ns 121\nstep_time.p50_ns 90\n";
	size_t a_length = strlen(a), b_length = strlen(b);

	for (size_t i = 0; i < 40; i++) {
		a_ns[i] = 100;
		b_ns[i] = i % 10 == 3 ? 400 : 90;
	}
	series_of(a + a_length, sizeof(a) - a_length, a_ns, 40);
	series_of(b + b_length, sizeof(b) - b_length, b_ns, 40);
	struct compared *c = compare(a, b);
	check_table(&c->result, "fact_changes.list: fact difference verdict",
		    "step_time.mean_ns 21 no_change\n"
		    "step_time.p50_ns -10 changed\n");
}

TEST(parts_shares_and_memory_are_tested)
{
	static const struct list_case cases[] = {
		/* The phase is as long as before; its share of a longer step is smaller. */
		{ "step_time.mean_ns 100\nstep_time.phase.data_ns 20\n"
		  "step_time.phase.data_ratio 0.2\n" SIX("100 phase_data_ns=20"),
		  "step_time.mean_ns 160\nstep_time.phase.data_ns 20\n"
		  "step_time.phase.data_ratio 0.125\n" SIX("160 phase_data_ns=20"),
		  "step_time.mean_ns no 100 160 60 0.6 changed\n"
		  "step_time.phase.data_ns no 20 20 0 0 same\n"
		  "step_time.phase.data_ratio no 0.2 0.125 -0.075 -0.375 changed\n" },
		/*
		 * A line of the budget, of two devices; what is no column of series is not tested.
		 */
		{ "budget.step_count 12\nbudget.compute_total_ns "
		  "360\nbudget.useful_compute_total_ns 12\n" SIX("100 line_compute_ns=60"),
		  "budget.step_count 12\nbudget.compute_total_ns "
		  "480\nbudget.useful_compute_total_ns 24\n" SIX("100 line_compute_ns=80"),
		  "budget.step_count no 12 12 0 0 same\n"
		  "budget.useful_compute_total_ns yes 1 2 1 1 not_tested\n"
		  "budget.compute_total_ns yes 30 40 10 0.333333 changed\n" },
		{ "memory.mean_alloc_bytes 1000\nmemory.peak_alloc_bytes 9\n" SIX(
			  "100 alloc_bytes=1000"),
		  "memory.mean_alloc_bytes 1001\nmemory.peak_alloc_bytes 8\n" SIX(
			  "100 alloc_bytes=1001"),
		  "memory.peak_alloc_bytes no 9 8 -1 -0.111111 exact\n"
		  "memory.mean_alloc_bytes no 1000 1001 1 0.001 changed\n" },
	};

	check_rows(cases, TSI_COUNT_OF(cases));
}

#define FLOPS(flops, mfu) "efficiency.mfu " #mfu "\nefficiency.flops_per_step " #flops "\n"

/* Utilisation falls because steps are longer: only if nothing else is different. */
TEST(utilisation_is_judged_by_the_step_time)
{
	static const struct list_case cases[] = {
		{ "step_time.mean_ns 100\n" FLOPS(7, 0.5) SIX("100"),
		  "step_time.mean_ns 110\n" FLOPS(7, 0.4) SIX("110"),
		  "step_time.mean_ns no 100 110 10 0.1 changed\n"
		  "efficiency.mfu no 0.5 0.4 -0.1 -0.2 changed\n"
		  "efficiency.flops_per_step no 7 7 0 0 same\n" },
		{ "step_time.mean_ns 100\n" FLOPS(7, 0.5) SIX("100"),
		  "step_time.mean_ns 110\n" FLOPS(8, 0.4) SIX("110"),
		  "step_time.mean_ns no 100 110 10 0.1 changed\n"
		  "efficiency.mfu no 0.5 0.4 -0.1 -0.2 not_tested\n"
		  "efficiency.flops_per_step no 7 8 1 0.142857 exact\n" },
	};

	check_rows(cases, TSI_COUNT_OF(cases));
}

TEST(figures_in_doubt_are_not_tested)
{
	struct compared *c = compare("snapshot.block_count 3\nsnapshot.segment_count 1\n",
				     "snapshot.block_count 4\nsnapshot.segment_count 1\n"
				     "! snapshot cut short\n! snapshot.oom_cause no stacks\n");

	check_table(&c->result, "fact_changes.list: fact verdict a_doubt b_doubt",
		    "snapshot.segment_count same - cut short\n"
		    "snapshot.block_count not_tested - cut short\n");
}

/*
 * Of several ranks what the run has no figure of its own for is the lowest rank's, and judged by
 * that rank's steps: the run got slower, rank 0 did not.
 */
TEST(figures_of_the_lowest_rank_are_judged_by_it)
{
	struct side_text a = {
		.whole = "step_time.mean_ns 100\nefficiency.mean_wall_ns 50\n"
			 "budget.step_count 6\nbudget.wall_total_ns 600\n" SIX("100"),
		.ranks = { "step_time.mean_ns 50\nstep_time.count 6\n" SIX("50"),
			   "step_time.mean_ns 100\n" SIX("100") },
	};
	struct side_text b = {
		.whole = "step_time.mean_ns 110\nefficiency.mean_wall_ns 52\n"
			 "budget.step_count 6\nbudget.wall_total_ns 660\n" SIX("110"),
		.ranks = { "step_time.mean_ns 52\nstep_time.count 2\n" STEP(0, "52") STEP(1, "52"),
			   "step_time.mean_ns 110\n" SIX("110") },
	};
	struct compared *c = compare_sides(&a, &b);

	check_table(&c->result, "fact_changes.list: fact verdict",
		    "step_time.mean_ns changed\n"
		    "budget.wall_total_ns not_tested\n"
		    "budget.step_count same\n"
		    "efficiency.mean_wall_ns undecided\n");
}

TEST(all_is_counted)
{
	struct compared *c =
		compare(A_STEP SIX("100") "snapshot.block_count 3\nsnapshot.oom_count "
					  "1\nkernels.name_count 2\n",
			B_STEP SIX("110") "snapshot.block_count 4\nsnapshot.retry_count 1\n"
					  "snapshot.alloc_count 1\nkernels.name_count 2\n");

	/* mean, p50, steps per second, blocks; kernels are the same. */
	check_facts(&c->result,
		    "fact_changes: compared_count changed_count only_a_count only_b_count",
		    "5 4 1 2");
	check_table(&c->result, "fact_changes.list: fact unit p_value",
		    "step_time.mean_ns ns 0\n"
		    "step_time.p50_ns ns 0.0021645\n"
		    "step_time.steps_per_second number 0\n"
		    "snapshot.block_count count -\n"
		    "snapshot.alloc_count count -\n"
		    "snapshot.retry_count count -\n"
		    "snapshot.oom_count count -\n"
		    "kernels.name_count count -\n");
}
