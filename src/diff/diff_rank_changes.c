/* SPDX-License-Identifier: MIT */
/*
 * Rank by rank: changes on each that both sides have. Ranks are matched by their numbers; where
 * each side is but one rank, these two are compared, whatever their numbers are. A rank's local
 * time is its mean step less communication: the line exposed_comm of its devices' budget, or
 * without devices the phase.
 */
#include "analyze/facts.h"
#include "analyze/lookup.h"
#include "base/ckd.h"
#include "diff/explain_step.h"
#include "diff/step_tests.h"

#define FACTS(X)                                                                                   \
	X(A_RANK_COUNT, "a_rank_count", COUNT, "ranks of A")                                       \
	X(B_RANK_COUNT, "b_rank_count", COUNT, "ranks of B")                                       \
	X(COMPARED_COUNT, "compared_count", COUNT, "ranks of both")                                \
	X(CHANGED_COUNT, "changed_count", COUNT, "of these, ranks whose step time changed")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define LIST_COLUMNS(X)                                                                            \
	X(LIST_RANK, "rank", COUNT, "number of the rank, in B where they differ; -1: not said")    \
	X(LIST_VERDICT, "verdict", TEXT, "as in step_change")                                      \
	X(LIST_A_NS, "a_ns", NS, "mean step of A")                                                 \
	X(LIST_B_NS, "b_ns", NS, "mean step of B")                                                 \
	X(LIST_CHANGE_NS, "change_ns", NS, "b_ns less a_ns")                                       \
	X(LIST_P_VALUE, "p_value", NUMBER, "with all ranks in mind")                               \
	X(LIST_A_OWN_NS, "a_own_ns", NS, "of it, without communication")                           \
	X(LIST_B_OWN_NS, "b_own_ns", NS, "and of B")                                               \
	X(LIST_OWN_CHANGE_NS, "own_change_ns", NS, "b_own_ns less a_own_ns")                       \
	X(LIST_A_PEAK_ALLOC_BYTES, "a_peak_alloc_bytes", BYTES, "most that was allocated in A")    \
	X(LIST_B_PEAK_ALLOC_BYTES, "b_peak_alloc_bytes", BYTES, "and in B")

TSI_FACT_LIST(enum list_column, list_columns, LIST_COLUMNS);

#define ONLY_A_COLUMNS(X) X(ONLY_A_RANK, "rank", COUNT, "number of the rank")

TSI_FACT_LIST(enum only_a_column, only_a_columns, ONLY_A_COLUMNS);

#define ONLY_B_COLUMNS(X) X(ONLY_B_RANK, "rank", COUNT, "number of the rank")

TSI_FACT_LIST(enum only_b_column, only_b_columns, ONLY_B_COLUMNS);

enum table { LIST_TABLE, ONLY_A_TABLE, ONLY_B_TABLE };

static const struct tscope_table_def tables[] = {
	[LIST_TABLE] = TSI_TABLE_DEF("list", list_columns, "ranks of both, in ascending order"),
	[ONLY_A_TABLE] = { "only_a", only_a_columns, TSI_COUNT_OF(only_a_columns),
			   "ranks that B has not", TSCOPE_TABLE_LIST },
	[ONLY_B_TABLE] = { "only_b", only_b_columns, TSI_COUNT_OF(only_b_columns),
			   "ranks that A has not", TSCOPE_TABLE_LIST },
};

static struct tscope_value difference_of(struct tscope_value from, struct tscope_value to)
{
	int64_t difference;

	if (from.kind != TSCOPE_VALUE_INT || to.kind != TSCOPE_VALUE_INT ||
	    tsi_ckd_sub(&difference, to.integer, from.integer))
		return (struct tscope_value){ 0 };
	return tsi_int(difference);
}

/* A rank of both sides. */
struct rank_pair {
	int64_t number;
	struct tested_sides sides;
};

static void list_rank(struct fact_sheet *out, const struct rank_pair *pair,
		      const struct step_test *time)
{
	const struct tscope_analysis *a = pair->sides.analysis[TSCOPE_SIDE_A],
				     *b = pair->sides.analysis[TSCOPE_SIDE_B];
	struct tscope_value *cells = tsi_table_row(out, LIST_TABLE);

	cells[LIST_RANK] = tsi_int(pair->number);
	if (time->is_in[TSCOPE_SIDE_A] || time->is_in[TSCOPE_SIDE_B])
		cells[LIST_VERDICT] = tsi_text(tsi_diff_verdict_name(time->verdict));
	cells[LIST_A_NS] = tsi_lookup(a, "step_time.mean_ns");
	cells[LIST_B_NS] = tsi_lookup(b, "step_time.mean_ns");
	cells[LIST_CHANGE_NS] = difference_of(cells[LIST_A_NS], cells[LIST_B_NS]);
	if (tsi_is_tested(time->verdict))
		cells[LIST_P_VALUE] = tsi_real(time->test.p_value);
	cells[LIST_A_OWN_NS] = tsi_own_step_ns(a);
	cells[LIST_B_OWN_NS] = tsi_own_step_ns(b);
	cells[LIST_OWN_CHANGE_NS] = difference_of(cells[LIST_A_OWN_NS], cells[LIST_B_OWN_NS]);
	cells[LIST_A_PEAK_ALLOC_BYTES] = tsi_lookup(a, "memory.peak_alloc_bytes");
	cells[LIST_B_PEAK_ALLOC_BYTES] = tsi_lookup(b, "memory.peak_alloc_bytes");
}

/* A walk over the ranks of both sides, which are in ascending order. */
struct rank_walk {
	const struct diff_side *a, *b;
	size_t i, j;
};

/* The next rank: of both sides, or of one (the analysis of the other is NULL). */
static bool next_pair(struct rank_walk *walk, struct rank_pair *pair)
{
	bool is_in_a = walk->i < walk->a->rank_count, is_in_b = walk->j < walk->b->rank_count;

	if (!is_in_a && !is_in_b)
		return false;
	bool are_alone = walk->a->rank_count == 1 && walk->b->rank_count == 1;
	if (is_in_a && is_in_b && !are_alone) {
		int64_t a = walk->a->ranks[walk->i].number, b = walk->b->ranks[walk->j].number;
		is_in_a = a <= b;
		is_in_b = b <= a;
	}
	*pair = (struct rank_pair){ 0 };
	if (is_in_b) {
		pair->number = walk->b->ranks[walk->j].number;
		pair->sides.analysis[TSCOPE_SIDE_B] = walk->b->ranks[walk->j++].analysis;
	}
	if (is_in_a) {
		if (!is_in_b || pair->number < 0)
			pair->number = walk->a->ranks[walk->i].number;
		pair->sides.analysis[TSCOPE_SIDE_A] = walk->a->ranks[walk->i++].analysis;
	}
	return true;
}

static size_t count_pairs(const struct diff_side *a, const struct diff_side *b)
{
	struct rank_walk walk = { a, b, 0, 0 };
	struct rank_pair pair;
	size_t count = 0;

	while (next_pair(&walk, &pair))
		count += pair.sides.analysis[TSCOPE_SIDE_A] && pair.sides.analysis[TSCOPE_SIDE_B];
	return count;
}

static void compare_pair(struct fact_sheet *out, const struct rank_pair *pair, size_t comparisons,
			 int64_t *changed_count)
{
	if (!pair->sides.analysis[TSCOPE_SIDE_B]) {
		*tsi_table_row(out, ONLY_A_TABLE) = tsi_int(pair->number);
		return;
	}
	if (!pair->sides.analysis[TSCOPE_SIDE_A]) {
		*tsi_table_row(out, ONLY_B_TABLE) = tsi_int(pair->number);
		return;
	}
	struct step_test time =
		tsi_test_step_time(&pair->sides, comparisons, tsi_sheet_scratch(out));
	*changed_count += time.verdict == DIFF_CHANGED;
	list_rank(out, pair, &time);
}

static void diff_rank_changes(const struct analysis_scope *scope, struct fact_sheet *out)
{
	const struct diff_side *a = &scope->comparison->sides[TSCOPE_SIDE_A],
			       *b = &scope->comparison->sides[TSCOPE_SIDE_B];
	struct rank_walk walk = { a, b, 0, 0 };
	size_t compared_count = count_pairs(a, b);
	int64_t changed_count = 0;
	struct rank_pair pair;

	while (next_pair(&walk, &pair))
		compare_pair(out, &pair, compared_count, &changed_count);
	tsi_fact_int(out, A_RANK_COUNT, (int64_t)a->rank_count);
	tsi_fact_int(out, B_RANK_COUNT, (int64_t)b->rank_count);
	tsi_fact_int(out, COMPARED_COUNT, (int64_t)compared_count);
	tsi_fact_int(out, CHANGED_COUNT, changed_count);
}

const struct analyzer tsi_analyzer_rank_changes = {
	.def = {
		.id = "rank_changes",
		.summary = "what changed on each rank",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a comparison of runs with several ranks",
	},
	.levels = LEVEL_DIFF,
	.fill = diff_rank_changes,
};
