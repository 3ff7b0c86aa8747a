/* SPDX-License-Identifier: MIT */
/* Which rank is compared with which, and what is its own. */
#include "diff_check.h"

#include "analyze/analysis.h"
#include "check.h"

#define STEP(number, rest) "series.steps step=" #number " time_ns=" rest "\n"
#define SIX(rest)                                                                                  \
	STEP(0, rest) STEP(1, rest) STEP(2, rest) STEP(3, rest) STEP(4, rest) STEP(5, rest)
#define MEAN(mean) "step_time.mean_ns " #mean "\n"

/*
 * Rank 1: 6 steps on each of two devices, of 12 × 120 ns 360 are exposed communication: 30 of a
 * step. Rank 0 has none of a device, and 15 ns of the phase.
 */
TEST(ranks_are_compared_by_number)
{
	struct side_text a = {
		.whole = MEAN(120),
		.ranks = { MEAN(100) SIX("100") "step_time.phase.comm_ns 15\n"
						"memory.peak_alloc_bytes 4096\n",
			   MEAN(120) SIX(
				   "120") "budget.step_count 12\nbudget.exposed_comm_total_ns 360\n"
					  "step_time.phase.comm_ns 77\n",
			   MEAN(110) SIX("110") },
	};
	struct side_text b = {
		.whole = MEAN(130),
		.ranks = { MEAN(100) SIX("100") "step_time.phase.comm_ns 10\n"
						"memory.peak_alloc_bytes 5000\n",
			   MEAN(130) SIX("130") "budget.step_count "
						"12\nbudget.exposed_comm_total_ns 300\n" },
	};
	struct compared *c = compare_sides(&a, &b);

	check_facts(&c->result,
		    "rank_changes: a_rank_count b_rank_count compared_count changed_count",
		    "3 2 2 1");
	check_table(&c->result, "rank_changes.list: rank verdict a_ns b_ns change_ns p_value",
		    "0 same 100 100 0 1\n"
		    "1 changed 120 130 10 0\n");
	check_table(&c->result,
		    "rank_changes.list: rank a_own_ns b_own_ns own_change_ns a_peak_alloc_bytes "
		    "b_peak_alloc_bytes",
		    "0 85 90 5 4096 5000\n"
		    "1 90 105 15 - -\n");
	check_table(&c->result, "rank_changes.only_a: rank", "2\n");
	check_table(&c->result, "rank_changes.only_b: rank", "");
}

/* Their numbers tell nothing then: a trace of rank 3 may be compared with one of rank 0. */
TEST(two_single_ranks_are_compared)
{
	static const struct {
		int64_t a, b;
		const char *row;
	} cases[] = {
		{ 0, 3, "3 same\n" },
		{ 2, -1, "2 same\n" },
		{ -1, -1, "-1 same\n" },
	};
	struct compared *c = compare(MEAN(100) SIX("100"), MEAN(100) SIX("100"));

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct analysis_scope scope = { .comparison = &c->comparison };
		struct analyzed result = { 0 };
		c->sides[TSCOPE_SIDE_A].ranks[0].number = cases[i].a;
		c->sides[TSCOPE_SIDE_B].ranks[0].number = cases[i].b;
		assert_int_equal(
			tsi_analyze_level(&result.analysis, LEVEL_DIFF, &scope, NULL, NULL),
			TSCOPE_OK);
		check_table(&result, "rank_changes.list: rank verdict", cases[i].row);
		check_table(&result, "rank_changes.only_a: rank", "");
		tscope_analysis_free(result.analysis);
	}
}

TEST(many_ranks_are_many_comparisons)
{
	/*
	 * Five steps of 100 and one of 160 against six of 100: p = 0.532883 alone, worked out in
	 * test_diff_step_change.c, and with two ranks more than 1.
	 */
	const char *slow = MEAN(110) STEP(0, "160") STEP(1, "100") STEP(2, "100") STEP(3, "100")
		STEP(4, "100") STEP(5, "100");
	struct side_text a = { .whole = MEAN(100),
			       .ranks = { MEAN(100) SIX("100"), MEAN(100) SIX("100") } };
	struct side_text b = { .whole = MEAN(100), .ranks = { slow, MEAN(100) SIX("100") } };
	struct side_text one_a = { .whole = MEAN(100), .ranks = { MEAN(100) SIX("100") } };
	struct side_text one_b = { .whole = MEAN(110), .ranks = { slow } };
	struct compared *two = compare_sides(&a, &b), *one = compare_sides(&one_a, &one_b);

	check_table(&two->result, "rank_changes.list: rank p_value", "0 1\n1 1\n");
	check_table(&one->result, "rank_changes.list: rank p_value", "0 0.532883\n");
}

TEST(ranks_without_steps_say_nothing)
{
	struct compared *c = compare("memory.peak_alloc_bytes 5\n", "memory.peak_alloc_bytes 6\n");

	check_table(&c->result,
		    "rank_changes.list: rank verdict a_ns a_own_ns a_peak_alloc_bytes "
		    "b_peak_alloc_bytes",
		    "0 - - - 5 6\n");
	check_facts(&c->result, "rank_changes: compared_count changed_count", "1 0");
}
