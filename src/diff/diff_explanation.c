/* SPDX-License-Identifier: MIT */
/*
 * Explains the change of the mean step by budget lines and their parts, which sum to the change in
 * integer ns. With several ranks, explains the one that the others wait for.
 */
#include "analyze/facts.h"
#include "diff/explain_certainty.h"
#include "diff/explain_rank.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/lookup.h"
#include "timeline/idle_cause.h"

#define FACTS(X)                                                                                   \
	X(SOURCE, "source", TEXT, "budget, host_budget or phases: which lines there are")          \
	X(A_NS, "a_ns", NS, "mean step of A, of the rank that is explained")                       \
	X(B_NS, "b_ns", NS, "the same of B")                                                       \
	X(CHANGE_NS, "change_ns", NS, "b_ns less a_ns: what the lines sum to")                     \
	X(A_RANK, "a_rank", COUNT, "of several ranks, which of A is explained")                    \
	X(B_RANK, "b_rank", COUNT, "and of B")                                                     \
	X(A_CRITICAL_RANK, "a_critical_rank", COUNT,                                               \
	  "rank of A with most time of its own, without communication")                            \
	X(B_CRITICAL_RANK, "b_critical_rank", COUNT, "and of B")                                   \
	X(IS_ONE_RANK, "is_one_rank", FLAG,                                                        \
	  "one rank changed and the others did not, but for waiting")                              \
	X(RANK_EXCESS_NS, "rank_excess_ns", NS,                                                    \
	  "change of its own time less the median change of the others")                           \
	X(REST_NS, "rest_ns", NS,                                                                  \
	  "change of the mean step of the run less change_ns: other ranks are slower in some "     \
	  "steps")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define LINE_COLUMNS(X)                                                                            \
	X(LINE_LINE, "line", TEXT, "line of the budget, or phase; outside: not in the trace")      \
	X(LINE_A_NS, "a_ns", NS, "of the mean step of A")                                          \
	X(LINE_B_NS, "b_ns", NS, "and of B")                                                       \
	X(LINE_CHANGE_NS, "change_ns", NS, "b_ns less a_ns")                                       \
	X(LINE_SHARE_RATIO, "share_ratio", RATIO,                                                  \
	  "its change without sign, of those of all lines together")                               \
	X(LINE_VERDICT, "verdict", TEXT, "as in step_change.parts")                                \
	X(LINE_CERTAINTY, "certainty", TEXT,                                                       \
	  "certain (significant), likely (p of 0.05 or less), cannot_tell, same")                  \
	X(LINE_P_VALUE, "p_value", NUMBER, "as in step_change.parts")                              \
	X(LINE_A_P50_NS, "a_p50_ns", NS, "of A, median over the steps")                            \
	X(LINE_B_P50_NS, "b_p50_ns", NS, "and of B")

TSI_FACT_LIST(enum line_column, line_columns, LINE_COLUMNS);

#define PART_COLUMNS(X)                                                                            \
	X(PART_LINE, "line", TEXT, "in which it is")                                               \
	X(PART_KIND, "kind", TEXT, "as in breakdown.parts")                                        \
	X(PART_PART, "part", TEXT, "what; names of B where both have one")                         \
	X(PART_CHANGE, "change", TEXT,                                                             \
	  "new, gone, replaced, slower, faster, same; of exposed communication less_hidden or "    \
	  "more_hidden where that is for its overlap with compute, not for its length")            \
	X(PART_A_PART, "a_part", TEXT, "its name in A where that differs; several joined by +")    \
	X(PART_A_NS, "a_ns", NS, "of the mean step of A")                                          \
	X(PART_B_NS, "b_ns", NS, "and of B")                                                       \
	X(PART_CHANGE_NS, "change_ns", NS, "b_ns less a_ns")                                       \
	X(PART_CERTAINTY, "certainty", TEXT,                                                       \
	  "of kernels in compute by their own times, else by those of the line")

TSI_FACT_LIST(enum part_column, part_columns, PART_COLUMNS);

#define CAUSE_COLUMNS(X)                                                                           \
	X(CAUSE_LINE, "line", TEXT, "idle line of the budget")                                     \
	X(CAUSE_CAUSE, "cause", TEXT, "of it, as in the facts of idle: python, op_overhead …")     \
	X(CAUSE_A_NS, "a_ns", NS, "of the mean step of A on a device")                             \
	X(CAUSE_B_NS, "b_ns", NS, "and of B")                                                      \
	X(CAUSE_CHANGE_NS, "change_ns", NS, "b_ns less a_ns")

TSI_FACT_LIST(enum cause_column, cause_columns, CAUSE_COLUMNS);

#define TABLES(X)                                                                                  \
	X(LINES_TABLE, "lines", line_columns, "lines, the largest change first")                   \
	X(CAUSES_TABLE, "causes", cause_columns,                                                   \
	  "why the device is idle in them, where both sides say, the largest change first")        \
	X(PARTS_TABLE, "parts", part_columns, "what is in the lines, the largest change first")

TSI_TABLE_LIST(enum table, tables, TABLES);

/* ---- what was found, as facts ---- */

struct explanation {
	const struct comparison *comparison;
	struct explained_rank rank;
	const struct tscope_analysis *analyses[TSCOPE_SIDE_COUNT]; /* of the rank */
	struct step_lines sides[TSCOPE_SIDE_COUNT];
	struct explained_step step;
	struct part_tests tests;
};

static int64_t change_of(const int64_t ns[TSCOPE_SIDE_COUNT])
{
	return tsi_difference(ns[TSCOPE_SIDE_A], ns[TSCOPE_SIDE_B]);
}

static int64_t mean_of_whole(const struct diff_side *side)
{
	return tsi_lookup_int(side->analysis, "step_time.mean_ns");
}

static void put_ranks(struct fact_sheet *out, const struct explanation *explanation,
		      int64_t change_ns)
{
	const struct diff_side *sides = explanation->comparison->sides;
	const struct explained_rank *rank = &explanation->rank;
	bool has_several = false;

	for (size_t side = 0; side < TSCOPE_SIDE_COUNT; side++) {
		if (sides[side].rank_count < 2)
			continue;
		has_several = true;
		tsi_fact_int(out, A_RANK + side, rank->ranks[side]->number);
		tsi_fact_int(out, A_CRITICAL_RANK + side, rank->critical[side]->number);
	}
	if (has_several)
		tsi_fact_int(out, REST_NS,
			     tsi_difference(change_ns,
					    tsi_difference(mean_of_whole(&sides[TSCOPE_SIDE_A]),
							   mean_of_whole(&sides[TSCOPE_SIDE_B]))));
	if (rank->has_excess) {
		tsi_fact_flag(out, IS_ONE_RANK, rank->is_one_rank);
		tsi_fact_int(out, RANK_EXCESS_NS, rank->excess_ns);
	}
}

static void put_facts(struct fact_sheet *out, const struct explanation *explanation,
		      enum step_source source)
{
	int64_t means_ns[] = { explanation->sides[TSCOPE_SIDE_A].mean_ns,
			       explanation->sides[TSCOPE_SIDE_B].mean_ns };

	tsi_fact_text(out, SOURCE, tsi_step_source_name(source));
	tsi_fact_int(out, A_NS, means_ns[TSCOPE_SIDE_A]);
	tsi_fact_int(out, B_NS, means_ns[TSCOPE_SIDE_B]);
	tsi_fact_int(out, CHANGE_NS, change_of(means_ns));
	put_ranks(out, explanation, change_of(means_ns));
}

/* ---- tables ---- */

/* The largest change first, then by name. */
static int compare_changes(const int64_t a[], const int64_t b[], const char *a_name,
			   const char *b_name)
{
	tsi_wide a_change = (tsi_wide)a[TSCOPE_SIDE_B] - a[TSCOPE_SIDE_A];
	tsi_wide b_change = (tsi_wide)b[TSCOPE_SIDE_B] - b[TSCOPE_SIDE_A];
	tsi_wide a_size = a_change < 0 ? -a_change : a_change;
	tsi_wide b_size = b_change < 0 ? -b_change : b_change;

	if (a_size != b_size)
		return a_size > b_size ? -1 : 1;
	return strcmp(a_name, b_name);
}

static int compare_lines(const void *left, const void *right)
{
	const struct explained_line *a = left, *b = right;

	return compare_changes(a->ns, b->ns, a->name, b->name);
}

/* Parts refer to lines in the order that these have: their order is by name, so no tie is left. */
static int compare_parts(const void *left, const void *right)
{
	const struct explained_part *a = left, *b = right;
	int order = compare_changes(a->ns, b->ns, a->name ? a->name : "", b->name ? b->name : "");

	if (order)
		return order;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return strcmp(a->kind, b->kind);
}

static void put_parts(struct fact_sheet *out, const struct explained_step *step)
{
	if (step->part_count)
		qsort(step->parts, step->part_count, sizeof(*step->parts), compare_parts);
	for (size_t i = 0; i < step->part_count; i++) {
		const struct explained_part *part = &step->parts[i];
		struct tscope_value *cells = tsi_table_row(out, PARTS_TABLE);
		cells[PART_LINE] = tsi_text(step->lines[part->line].name);
		cells[PART_KIND] = tsi_text(part->kind);
		cells[PART_PART] = tsi_text_if(part->name);
		cells[PART_A_PART] = tsi_text_if(part->a_name);
		cells[PART_CHANGE] = tsi_text(part->change);
		cells[PART_A_NS] = tsi_int(part->ns[TSCOPE_SIDE_A]);
		cells[PART_B_NS] = tsi_int(part->ns[TSCOPE_SIDE_B]);
		cells[PART_CHANGE_NS] = tsi_int(change_of(part->ns));
		cells[PART_CERTAINTY] = tsi_text(tsi_certainty_name(part->certainty));
	}
}

/* The test that step_change.parts has of a whole run, here of the rank; NULL: there is none. */
static const struct step_test *test_of(const struct part_tests *tests,
				       const struct explained_line *line)
{
	return line->column ? tsi_part_tests_find(tests, line->column) : NULL;
}

static void judge(struct explanation *explanation, struct arena *scratch)
{
	const struct tested_sides sides = {
		{ explanation->analyses[TSCOPE_SIDE_A], explanation->analyses[TSCOPE_SIDE_B] }, NULL
	};
	struct explained_step *step = &explanation->step;
	enum certainty *certainties =
		tsi_arena_new(scratch, step->line_count, sizeof(*certainties));

	explanation->tests = tsi_test_parts(&sides, PART_TIME, scratch);
	if (!certainties)
		return;
	for (size_t i = 0; i < step->line_count; i++)
		certainties[i] = tsi_line_certainty(&step->lines[i],
						    test_of(&explanation->tests, &step->lines[i]));
	tsi_judge_parts(step, certainties, explanation->analyses, scratch);
}

static void put_test(struct tscope_value *cells, const struct explained_line *line,
		     const struct step_test *test)
{
	enum diff_verdict verdict = change_of(line->ns) == 0 ? DIFF_SAME : DIFF_NOT_TESTED;

	cells[LINE_CERTAINTY] = tsi_text(tsi_certainty_name(tsi_line_certainty(line, test)));
	cells[LINE_VERDICT] = tsi_text(tsi_diff_verdict_name(test ? test->verdict : verdict));
	if (!test)
		return;
	cells[LINE_A_P50_NS] = tsi_int(test->p50[TSCOPE_SIDE_A]);
	cells[LINE_B_P50_NS] = tsi_int(test->p50[TSCOPE_SIDE_B]);
	if (tsi_is_tested(test->verdict))
		cells[LINE_P_VALUE] = tsi_real(test->test.p_value);
}

/* Sorts the lines, to which parts refer: to be called after put_parts(). */
static void put_lines(struct fact_sheet *out, const struct explanation *explanation)
{
	const struct explained_step *step = &explanation->step;
	double all_ns = 0;

	if (step->line_count)
		qsort(step->lines, step->line_count, sizeof(*step->lines), compare_lines);
	for (size_t i = 0; i < step->line_count; i++)
		all_ns += fabs((double)change_of(step->lines[i].ns));
	for (size_t i = 0; i < step->line_count; i++) {
		const struct explained_line *line = &step->lines[i];
		struct tscope_value *cells = tsi_table_row(out, LINES_TABLE);
		double size_ns = fabs((double)change_of(line->ns));
		cells[LINE_LINE] = tsi_text(line->name);
		cells[LINE_A_NS] = tsi_int(line->ns[TSCOPE_SIDE_A]);
		cells[LINE_B_NS] = tsi_int(line->ns[TSCOPE_SIDE_B]);
		cells[LINE_CHANGE_NS] = tsi_int(change_of(line->ns));
		cells[LINE_SHARE_RATIO] = tsi_real(all_ns > 0 ? size_ns / all_ns : 0);
		put_test(cells, line, test_of(&explanation->tests, line));
	}
}

/* ---- causes ---- */

struct cause_change {
	enum idle_cause cause;
	int64_t ns[TSCOPE_SIDE_COUNT];
};

static int compare_causes(const void *left, const void *right)
{
	const struct cause_change *a = left, *b = right;

	return compare_changes(a->ns, b->ns, tsi_idle_cause_name(a->cause),
			       tsi_idle_cause_name(b->cause));
}

/* False: not both sides know it, or neither has any. */
static bool read_cause(struct cause_change *change, const struct explanation *explanation)
{
	char id[64];

	snprintf(id, sizeof(id), "idle.%s_ns", tsi_idle_cause_name(change->cause));
	for (size_t side = 0; side < TSCOPE_SIDE_COUNT; side++) {
		struct tscope_value ns = tsi_lookup(explanation->analyses[side], id);
		if (ns.kind != TSCOPE_VALUE_INT)
			return false;
		change->ns[side] = ns.integer;
	}
	return change->ns[TSCOPE_SIDE_A] != 0 || change->ns[TSCOPE_SIDE_B] != 0;
}

static void put_causes(struct fact_sheet *out, const struct explanation *explanation)
{
	struct cause_change changes[IDLE_CAUSE_COUNT];
	size_t count = 0;

	for (int cause = 0; cause < IDLE_CAUSE_COUNT; cause++) {
		changes[count] = (struct cause_change){ .cause = (enum idle_cause)cause };
		count += read_cause(&changes[count], explanation);
	}
	qsort(changes, count, sizeof(*changes), compare_causes);
	for (size_t i = 0; i < count; i++) {
		struct tscope_value *cells = tsi_table_row(out, CAUSES_TABLE);
		enum tscope_budget_line line = tsi_line_of_cause(changes[i].cause);
		cells[CAUSE_LINE] = tsi_text(tscope_budget_line_name(line));
		cells[CAUSE_CAUSE] = tsi_text(tsi_idle_cause_name(changes[i].cause));
		cells[CAUSE_A_NS] = tsi_int(changes[i].ns[TSCOPE_SIDE_A]);
		cells[CAUSE_B_NS] = tsi_int(changes[i].ns[TSCOPE_SIDE_B]);
		cells[CAUSE_CHANGE_NS] = tsi_int(change_of(changes[i].ns));
	}
}

static void diff_explanation(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct arena *scratch = tsi_sheet_scratch(out);
	struct explanation explanation = {
		.comparison = scope->comparison,
		.rank = tsi_explain_rank(scope->comparison, scratch),
	};
	enum step_source sources[TSCOPE_SIDE_COUNT];

	for (size_t side = 0; side < TSCOPE_SIDE_COUNT; side++) {
		explanation.analyses[side] = explanation.rank.ranks[side]->analysis;
		sources[side] = tsi_step_source(explanation.analyses[side]);
	}
	enum step_source source =
		tsi_common_step_source(sources[TSCOPE_SIDE_A], sources[TSCOPE_SIDE_B]);
	if (source == STEP_SOURCE_NONE)
		return;
	for (size_t side = 0; side < TSCOPE_SIDE_COUNT; side++)
		explanation.sides[side] =
			tsi_step_lines(explanation.analyses[side], source, scratch);
	explanation.step = tsi_explain_lines(explanation.sides, scratch);
	if (source != STEP_SOURCE_PHASES)
		tsi_explain_parts(&explanation.step, explanation.analyses, out);
	judge(&explanation, scratch);
	put_facts(out, &explanation, source);
	put_parts(out, &explanation.step);
	put_lines(out, &explanation);
	if (source == STEP_SOURCE_BUDGET)
		put_causes(out, &explanation);
}

const struct analyzer tsi_analyzer_explanation = {
	.def = {
		.id = "explanation",
		.summary = "what explains the change of the step time",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a comparison of steps with phases or a budget",
	},
	.levels = LEVEL_DIFF,
	.fill = diff_explanation,
};
