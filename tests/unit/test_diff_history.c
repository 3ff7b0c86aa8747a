/* SPDX-License-Identifier: MIT */
/* More than two runs: a row for each, and where their figures changed. */
#include "diff_check.h"

#include "analyze/analysis.h"
#include "check.h"

static struct tscope_value whole(int64_t number)
{
	return (struct tscope_value){ .kind = TSCOPE_VALUE_INT, .integer = number };
}

/* Eight runs of 100, the last four of 103; the third says nothing of its step. */
TEST(rows_and_changes_are_listed)
{
	static const int64_t steps_ns[] = { 100, 100, 0, 100, 100, 103, 103, 103, 103 };
	struct history_run runs[TSI_COUNT_OF(steps_ns)] = { 0 };
	struct compared *c = compare("step_time.mean_ns 100\n", "step_time.mean_ns 103\n");
	struct analysis_scope scope = { .comparison = &c->comparison };
	struct analyzed result = { 0 };

	for (size_t i = 0; i < TSI_COUNT_OF(runs); i++) {
		runs[i] = (struct history_run){ .path = "run", .finding_count = whole((int64_t)i) };
		if (steps_ns[i])
			runs[i].step_ns = whole(steps_ns[i]);
	}
	runs[5].path = "slow";
	c->comparison.runs = runs;
	c->comparison.run_count = TSI_COUNT_OF(runs);
	assert_int_equal(tsi_analyze_level(&result.analysis, LEVEL_DIFF, &scope, NULL, NULL),
			 TSCOPE_OK);
	check_facts(&result, "history: run_count change_count", "9 1");
	check_table(&result, "history.runs: run path step_ns change_ratio finding_count",
		    "1 run 100 0 0\n2 run 100 0 1\n3 run - - 2\n4 run 100 0 3\n5 run 100 0 4\n"
		    "6 slow 103 0.03 5\n7 run 103 0.03 6\n8 run 103 0.03 7\n9 run 103 0.03 8\n");
	check_table(&result, "history.changes: figure run path before after ratio p_value",
		    "step_ns 6 slow 100 103 0.03 0\n");
	tscope_analysis_free(result.analysis);
}

/*
 * 5 steps with a coefficient of variation of 0.02 (of the population) about 1000: the error of the
 * mean is 20 / sqrt(4) = 10, and Student's t of 4 degrees with 95 % is 2.776.
 */
TEST(a_run_has_an_interval)
{
	struct compared *c =
		compare("step_time.mean_ns 1000\nstep_time.count 5\nstep_time.cv 0.02\n"
			"budget.exposed_comm_total_ns 90\nbudget.step_count 3\n"
			"efficiency.mfu 0.5\nmemory.peak_alloc_bytes 4096\n",
			"step_time.mean_ns 1000\nstep_time.count 1\nstep_time.cv 0\n");
	const struct diff_side *sides = c->comparison.sides;
	struct history_run a =
		tsi_history_run("a", sides[TSCOPE_SIDE_A].analysis, sides[TSCOPE_SIDE_A].diagnosis);
	struct history_run b =
		tsi_history_run("b", sides[TSCOPE_SIDE_B].analysis, sides[TSCOPE_SIDE_B].diagnosis);

	assert_int_equal(a.step_ns.integer, 1000);
	assert_int_equal(a.reach_ns.integer, 28);
	assert_int_equal(a.exposed_comm_ns.integer, 30);
	assert_int_equal(a.peak_bytes.integer, 4096);
	assert_true(a.mfu.real > 0.49 && a.mfu.real < 0.51);
	assert_int_equal(b.reach_ns.kind, TSCOPE_VALUE_ABSENT);
	assert_int_equal(b.exposed_comm_ns.kind, TSCOPE_VALUE_ABSENT);
}

TEST(two_runs_have_no_history)
{
	struct compared *c = compare("step_time.mean_ns 100\n", "step_time.mean_ns 103\n");

	check_facts(&c->result, "history: run_count change_count", "- -");
	check_table(&c->result, "history.runs: run", "");
}
