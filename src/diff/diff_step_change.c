/* SPDX-License-Identifier: MIT */
/*
 * The step time of both sides, the difference, and whether it is more than noise.
 *
 * The verdict is on the mean, and so is change_ns. Where a few steps move the mean one way and the
 * typical step moves the other, typical_verdict says so, and the verdict does not. Where the times
 * of a side are in doubt the means are there, but nothing is claimed of them: not_tested, no parts,
 * and all of it is marked as doubtful for the same reason.
 */
#include "analyze/facts.h"
#include "analyze/lookup.h"

#include <math.h>

#include "base/ckd.h"
#include "diff/step_tests.h"

#define FACTS(X)                                                                                   \
	X(VERDICT, "verdict", TEXT,                                                                \
	  "changed, no_change, undecided (too few steps), same, not_tested or only one side: "     \
	  "only_a, only_b")                                                                        \
	X(A_NS, "a_ns", NS, "mean step of A")                                                      \
	X(B_NS, "b_ns", NS, "mean step of B")                                                      \
	X(CHANGE_NS, "change_ns", NS, "b_ns less a_ns")                                            \
	X(CHANGE_RATIO, "change_ratio", NUMBER, "change_ns by a_ns")                               \
	X(A_P50_NS, "a_p50_ns", NS, "median of A")                                                 \
	X(B_P50_NS, "b_p50_ns", NS, "median of B")                                                 \
	X(SHIFT_NS, "shift_ns", NS,                                                                \
	  "how much longer a step of B is: by the rank test of typical steps, else of the mean")   \
	X(LOW_NS, "low_ns", NS, "least that shift_ns may be")                                      \
	X(HIGH_NS, "high_ns", NS, "most that shift_ns may be")                                     \
	X(P_VALUE, "p_value", NUMBER, "chance of such a difference between equal runs")            \
	X(METHOD, "method", TEXT,                                                                  \
	  "test that shift_ns is of: rank (typical steps), mean (few steps) or none")              \
	X(A_COUNT, "a_count", COUNT, "steps of A that count")                                      \
	X(B_COUNT, "b_count", COUNT, "steps of B that count")                                      \
	X(TYPICAL_VERDICT, "typical_verdict", TEXT,                                                \
	  "as verdict, on the typical step: by the rank test alone")                               \
	X(TYPICAL_SHIFT_NS, "typical_shift_ns", NS,                                                \
	  "median of all differences of a step of B and one of A")                                 \
	X(TYPICAL_P_VALUE, "typical_p_value", NUMBER, "of the rank test")                          \
	X(CHANGED_COUNT, "changed_count", COUNT, "of the parts below, those that changed")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define PART_COLUMNS(X)                                                                            \
	X(PART_PART, "part", TEXT,                                                                 \
	  "as in the columns of series: line_, phase_ or host_ and its name")                      \
	X(PART_VERDICT, "verdict", TEXT, "as of the step")                                         \
	X(PART_A_NS, "a_ns", NS, "mean of A")                                                      \
	X(PART_B_NS, "b_ns", NS, "mean of B")                                                      \
	X(PART_CHANGE_NS, "change_ns", NS, "b_ns less a_ns")                                       \
	X(PART_SHIFT_NS, "shift_ns", NS, "as of the step")                                         \
	X(PART_LOW_NS, "low_ns", NS, "as of the step")                                             \
	X(PART_HIGH_NS, "high_ns", NS, "as of the step")                                           \
	X(PART_P_VALUE, "p_value", NUMBER, "with all parts in mind")

TSI_FACT_LIST(enum part_column, part_columns, PART_COLUMNS);

#define TABLES(X)                                                                                  \
	X(PARTS_TABLE, "parts", part_columns, "lines of the budget and phases, step by step")

TSI_TABLE_LIST(enum table, tables, TABLES);

/* The difference of two means, absent where a side has none. */
static struct tscope_value change_of(const struct step_test *test)
{
	int64_t change;

	if (!test->is_in[TSCOPE_SIDE_A] || !test->is_in[TSCOPE_SIDE_B] ||
	    tsi_ckd_sub(&change, test->mean[TSCOPE_SIDE_B], test->mean[TSCOPE_SIDE_A]))
		return (struct tscope_value){ 0 };
	return tsi_int(change);
}

static struct tscope_value mean_of(const struct step_test *test, enum tscope_side side)
{
	return test->is_in[side] ? tsi_int(test->mean[side]) : (struct tscope_value){ 0 };
}

/* Bounds of an interval as integers, rounded to the outside, and a shift to the nearest. */
static struct tscope_value ns_of(double ns)
{
	if (!(ns > -0x1p63 && ns < 0x1p63))
		return (struct tscope_value){ 0 };
	return tsi_int((int64_t)ns);
}

static void put_value(struct fact_sheet *out, enum fact fact, struct tscope_value value)
{
	if (value.kind == TSCOPE_VALUE_INT)
		tsi_fact_int(out, fact, value.integer);
}

static void copy_fact(struct fact_sheet *out, enum fact fact,
		      const struct tscope_analysis *analysis, const char *id)
{
	enum tscope_unit unit;

	put_value(out, fact, tsi_lookup_fact(analysis, TSCOPE_WHOLE_TRACE, id, &unit));
}

static void put_sides(struct fact_sheet *out, const struct tested_sides *sides,
		      const struct step_test *time)
{
	const struct tscope_analysis *a = sides->analysis[TSCOPE_SIDE_A],
				     *b = sides->analysis[TSCOPE_SIDE_B];
	struct tscope_value change = change_of(time);

	put_value(out, A_NS, mean_of(time, TSCOPE_SIDE_A));
	put_value(out, B_NS, mean_of(time, TSCOPE_SIDE_B));
	put_value(out, CHANGE_NS, change);
	if (change.kind == TSCOPE_VALUE_INT)
		tsi_fact_ratio(out, CHANGE_RATIO, change.integer, time->mean[TSCOPE_SIDE_A]);
	copy_fact(out, A_P50_NS, a, "step_time.p50_ns");
	copy_fact(out, B_P50_NS, b, "step_time.p50_ns");
	copy_fact(out, A_COUNT, a, "step_time.count");
	copy_fact(out, B_COUNT, b, "step_time.count");
}

static void put_test(struct fact_sheet *out, const struct step_test *time)
{
	const struct sample_test *test = &time->test;

	tsi_fact_text(out, VERDICT, tsi_diff_verdict_name(time->verdict));
	if (time->verdict == DIFF_UNDECIDED)
		tsi_fact_text(out, TYPICAL_VERDICT, tsi_diff_verdict_name(time->verdict));
	if (time->verdict == DIFF_UNDECIDED || tsi_is_tested(time->verdict))
		tsi_fact_text(out, METHOD, tsi_sample_test_method_name(test->method));
	if (!tsi_is_tested(time->verdict))
		return;
	put_value(out, SHIFT_NS, ns_of(round(test->shift)));
	put_value(out, LOW_NS, ns_of(floor(test->low)));
	put_value(out, HIGH_NS, ns_of(ceil(test->high)));
	tsi_fact_real(out, P_VALUE, test->p_value);
	tsi_fact_text(out, TYPICAL_VERDICT, tsi_diff_verdict_name(test->typical_verdict));
	put_value(out, TYPICAL_SHIFT_NS, ns_of(round(test->typical_shift)));
	tsi_fact_real(out, TYPICAL_P_VALUE, test->typical_p_value);
}

static void list_part(struct fact_sheet *out, const struct step_test *part)
{
	struct tscope_value *cells = tsi_table_row(out, PARTS_TABLE);

	cells[PART_PART] = tsi_text(part->column);
	cells[PART_VERDICT] = tsi_text(tsi_diff_verdict_name(part->verdict));
	cells[PART_A_NS] = mean_of(part, TSCOPE_SIDE_A);
	cells[PART_B_NS] = mean_of(part, TSCOPE_SIDE_B);
	cells[PART_CHANGE_NS] = change_of(part);
	if (!tsi_is_tested(part->verdict))
		return;
	cells[PART_SHIFT_NS] = ns_of(round(part->test.shift));
	cells[PART_LOW_NS] = ns_of(floor(part->test.low));
	cells[PART_HIGH_NS] = ns_of(ceil(part->test.high));
	cells[PART_P_VALUE] = tsi_real(part->test.p_value);
}

static void list_parts(struct fact_sheet *out, const struct tested_sides *sides)
{
	struct part_tests parts = tsi_test_parts(sides, PART_TIME, tsi_sheet_scratch(out));
	int64_t changed_count = 0;

	for (size_t i = 0; i < parts.count; i++) {
		changed_count += parts.items[i].verdict == DIFF_CHANGED;
		list_part(out, &parts.items[i]);
	}
	tsi_fact_int(out, CHANGED_COUNT, changed_count);
}

static void diff_step_change(const struct analysis_scope *scope, struct fact_sheet *out)
{
	const struct diff_side *sides = scope->comparison->sides;
	struct tested_sides tested = { { sides[TSCOPE_SIDE_A].analysis,
					 sides[TSCOPE_SIDE_B].analysis },
				       scope->comparison->trend };
	struct step_test time = tsi_test_step_time(&tested, 1, tsi_sheet_scratch(out));

	if (!time.is_in[TSCOPE_SIDE_A] && !time.is_in[TSCOPE_SIDE_B])
		return;
	if (time.doubt)
		tsi_fact_unreliable(out, time.doubt);
	put_sides(out, &tested, &time);
	put_test(out, &time);
	list_parts(out, &tested);
}

const struct analyzer tsi_analyzer_step_change = {
	.def = {
		.id = "step_change",
		.summary = "did the step time change?",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a comparison (tscope diff)",
	},
	.levels = LEVEL_DIFF | LEVEL_DIFF_RANK,
	.fill = diff_step_change,
};
