/* SPDX-License-Identifier: MIT */
/*
 * Every fact of both sides, the difference, and the verdict on it.
 *
 * Sums are divided by the steps that they are over, for no two runs are of the same length. Facts
 * about who, where and when, which say nothing about the run (fact_basis.c), are left out. Of equal
 * figures the verdict is "same", whatever else is known; of figures in doubt that differ it is
 * "not_tested".
 */
#include "analyze/analyzer_table.h"
#include "analyze/facts.h"
#include "analyze/lookup.h"

#include <math.h>
#include <string.h>

#include "base/ckd.h"
#include "diff/fact_basis.h"
#include "diff/step_tests.h"
#include "diff/trend.h"

#define FACTS(X)                                                                                   \
	X(COMPARED_COUNT, "compared_count", COUNT, "facts that both sides have")                   \
	X(CHANGED_COUNT, "changed_count", COUNT, "of these, with verdict changed or exact")        \
	X(ONLY_A_COUNT, "only_a_count", COUNT, "facts that B has not")                             \
	X(ONLY_B_COUNT, "only_b_count", COUNT, "facts that A has not")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define LIST_COLUMNS(X)                                                                            \
	X(LIST_FACT, "fact", TEXT, "id, as in fact lists")                                         \
	X(LIST_UNIT, "unit", TEXT, "of a, b and difference")                                       \
	X(LIST_PER_STEP, "per_step", FLAG, "a and b are divided by the steps of each side")        \
	X(LIST_A, "a", ANY, "value of A")                                                          \
	X(LIST_B, "b", ANY, "value of B")                                                          \
	X(LIST_DIFFERENCE, "difference", ANY, "b less a, of numbers")                              \
	X(LIST_RATIO, "ratio", NUMBER, "difference by |a|")                                        \
	X(LIST_VERDICT, "verdict", TEXT,                                                           \
	  "same, changed, no_change, undecided, exact, not_tested, only_a or only_b")              \
	X(LIST_P_VALUE, "p_value", NUMBER, "of what was tested")                                   \
	X(LIST_LOW, "low_ratio", NUMBER,                                                           \
	  "of what was tested: least that ratio may be, with 95 % confidence")                     \
	X(LIST_HIGH, "high_ratio", NUMBER, "most that it may be")                                  \
	X(LIST_A_DOUBT, "a_doubt", TEXT, "why a must not be believed")                             \
	X(LIST_B_DOUBT, "b_doubt", TEXT, "why b must not be believed")

TSI_FACT_LIST(enum list_column, list_columns, LIST_COLUMNS);

#define TABLES(X)                                                                                  \
	X(LIST_TABLE, "list", list_columns, "facts that a side has, in the order of the report")

TSI_TABLE_LIST(enum table, tables, TABLES);

/* ---- tests -------------------------------------------------------------------------------- */

/*
 * A run of several ranks has facts of its own, and takes others over from its lowest rank: these
 * are judged by that rank's steps.
 */
enum source { SOURCE_WHOLE, SOURCE_FIRST_RANK, SOURCE_COUNT };

struct tests {
	const struct diff_side *sides;
	const struct trend *trend; /* or NULL */
	struct arena *scratch;
	struct tested_sides sources[SOURCE_COUNT];
	struct step_test time[SOURCE_COUNT];
	struct step_test allocation; /* of the lowest rank, as memory.* are */
	struct part_tests parts, shares;
};

static struct tests test_sides(const struct comparison *comparison, struct arena *scratch)
{
	const struct diff_side *sides = comparison->sides;
	struct tests tests = { .sides = sides, .trend = comparison->trend, .scratch = scratch };
	const struct tested_sides *whole = &tests.sources[SOURCE_WHOLE];

	for (size_t side = 0; side < TSCOPE_SIDE_COUNT; side++) {
		tests.sources[SOURCE_WHOLE].analysis[side] = sides[side].analysis;
		tests.sources[SOURCE_FIRST_RANK].analysis[side] = sides[side].ranks[0].analysis;
	}
	for (size_t i = 0; i < SOURCE_COUNT; i++)
		tests.time[i] = tsi_test_step_time(&tests.sources[i], 1, scratch);
	tests.allocation =
		tsi_test_step_column(&tests.sources[SOURCE_FIRST_RANK], "alloc_bytes", scratch);
	tests.parts = tsi_test_parts(whole, PART_TIME, scratch);
	tests.shares = tsi_test_parts(whole, PART_SHARE, scratch);
	return tests;
}

/* ---- a fact ------------------------------------------------------------------------------- */

/* A fact of both sides. */
struct compared_fact {
	const char *id;
	size_t analyzer, fact;
	enum source source;
	struct tscope_value values[TSCOPE_SIDE_COUNT];
	const char *doubts[TSCOPE_SIDE_COUNT]; /* about a value that is there, or NULL */
	bool is_per_step;
	bool is_as_long; /* the same number of steps, or not a sum */
	enum diff_verdict verdict;
	struct tscope_value p_value;
	struct tscope_value low, high; /* of the difference by |a| */
};

static bool is_there(const struct compared_fact *fact, enum tscope_side side)
{
	return fact->values[side].kind != TSCOPE_VALUE_ABSENT;
}

static void divide_by_steps(struct compared_fact *fact, const struct tests *tests)
{
	const struct tscope_analyzer_def *def = tscope_analyzer(fact->analyzer);
	enum tscope_total total = tscope_fact_total(def, fact->fact);
	int64_t steps[TSCOPE_SIDE_COUNT];

	fact->is_as_long = true;
	if (total == TSCOPE_TOTAL_NONE)
		return;
	fact->is_per_step = true;
	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++) {
		steps[i] = tsi_total_steps(tests->sources[fact->source].analysis[i], total);
		fact->is_per_step &= steps[i] > 0 || !is_there(fact, (enum tscope_side)i);
	}
	fact->is_as_long = steps[TSCOPE_SIDE_A] == steps[TSCOPE_SIDE_B];
	for (size_t i = 0; fact->is_per_step && i < TSCOPE_SIDE_COUNT; i++)
		if (is_there(fact, (enum tscope_side)i))
			fact->values[i] = tsi_divide_total(fact->values[i], steps[i],
							   def->facts[fact->fact].unit);
}

static void read_fact(struct compared_fact *fact, const struct tests *tests)
{
	bool is_of_run = tsi_analyzer(fact->analyzer)->levels & LEVEL_RUN;

	fact->source = is_of_run ? SOURCE_WHOLE : SOURCE_FIRST_RANK;
	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++) {
		const struct tscope_analysis *analysis = tests->sides[i].analysis;
		fact->values[i] = tscope_analysis_fact(analysis, fact->analyzer, fact->fact,
						       TSCOPE_WHOLE_TRACE);
		if (is_there(fact, (enum tscope_side)i))
			fact->doubts[i] = tscope_analysis_fact_doubt(
				analysis, fact->analyzer, fact->fact, TSCOPE_WHOLE_TRACE);
	}
	divide_by_steps(fact, tests);
}

static bool are_numbers(const struct compared_fact *fact)
{
	double number;

	return tsi_diff_number(fact->values[TSCOPE_SIDE_A], &number) ||
	       tsi_diff_number(fact->values[TSCOPE_SIDE_B], &number);
}

/* In a trend the median takes the place of A. */
static struct trend_figure read_trend(struct compared_fact *fact, const struct tests *tests)
{
	const struct tscope_analyzer_def *def = tscope_analyzer(fact->analyzer);
	struct tscope_value newest =
		tsi_per_step(tests->sides[TSCOPE_SIDE_B].analysis, fact->analyzer, fact->fact);
	struct trend_figure figure =
		tsi_trend_figure(tests->trend, fact->analyzer, fact->fact, newest, tests->scratch);

	fact->is_per_step = tscope_fact_total(def, fact->fact) != TSCOPE_TOTAL_NONE;
	fact->values[TSCOPE_SIDE_A] = figure.median;
	fact->values[TSCOPE_SIDE_B] = newest;
	fact->doubts[TSCOPE_SIDE_A] = NULL;
	return figure;
}

static bool are_equal(struct tscope_value a, struct tscope_value b)
{
	double left, right;

	if (a.kind == TSCOPE_VALUE_INT && b.kind == TSCOPE_VALUE_INT)
		return a.integer == b.integer;
	if (tsi_diff_number(a, &left) && tsi_diff_number(b, &right))
		return left == right;
	if (a.kind != b.kind)
		return false;
	return a.kind == TSCOPE_VALUE_TEXT ? strcmp(a.text, b.text) == 0 : a.flag == b.flag;
}

static struct tscope_value difference_of(struct tscope_value a, struct tscope_value b)
{
	double left, right;
	int64_t difference;

	if (a.kind == TSCOPE_VALUE_INT && b.kind == TSCOPE_VALUE_INT &&
	    !tsi_ckd_sub(&difference, b.integer, a.integer))
		return tsi_int(difference);
	if (tsi_diff_number(a, &left) && tsi_diff_number(b, &right))
		return tsi_real(right - left);
	return (struct tscope_value){ 0 };
}

/* ---- verdicts ----------------------------------------------------------------------------- */

/*
 * A change is only that of the figure if both go the same way: a ratio of sums may rise while the
 * mean ratio falls. Then the p value is not that of the figure either.
 */
static void judge_by(struct compared_fact *fact, enum diff_verdict verdict, double p_value,
		     double rise)
{
	double difference = 0;

	tsi_diff_number(difference_of(fact->values[TSCOPE_SIDE_A], fact->values[TSCOPE_SIDE_B]),
			&difference);
	/* If the steps are equal but the figures differ, the figures cover more than the steps. */
	if (verdict == DIFF_SAME || !tsi_is_tested(verdict)) {
		fact->verdict = verdict == DIFF_UNDECIDED ? DIFF_UNDECIDED : DIFF_NOT_TESTED;
		return;
	}
	if (verdict == DIFF_CHANGED && !(difference * rise > 0)) {
		fact->verdict = DIFF_NO_CHANGE;
		return;
	}
	fact->verdict = verdict;
	fact->p_value = tsi_real(p_value);
}

static void bound(struct compared_fact *fact, double low, double high, bool falls)
{
	/* Twice the time is half of what is inverse to it. */
	double least = falls ? 1 / (1 + high) - 1 : low, most = falls ? 1 / (1 + low) - 1 : high;

	if (tsi_is_tested(fact->verdict) && isfinite(least) && isfinite(most) && least <= most) {
		fact->low = tsi_real(least);
		fact->high = tsi_real(most);
	}
}

static void judge_by_test(struct compared_fact *fact, const struct step_test *test, bool falls)
{
	fact->verdict = DIFF_NOT_TESTED;
	if (!test)
		return;
	double mean = (double)test->mean[TSCOPE_SIDE_A];
	judge_by(fact, test->verdict, test->test.p_value,
		 falls ? -test->test.shift : test->test.shift);
	bound(fact, test->test.mean_low / mean, test->test.mean_high / mean, falls);
}

static void judge_by_typical(struct compared_fact *fact, const struct step_test *test)
{
	bool is_tested = tsi_is_tested(test->verdict);
	double median;

	judge_by(fact, is_tested ? test->test.typical_verdict : test->verdict,
		 test->test.typical_p_value, test->test.typical_shift);
	if (tsi_diff_number(fact->values[TSCOPE_SIDE_A], &median))
		bound(fact, test->test.typical_low / median, test->test.typical_high / median,
		      false);
}

static bool is_equal_on_both(const struct tests *tests, const char *id)
{
	return are_equal(tsi_lookup(tests->sides[TSCOPE_SIDE_A].analysis, id),
			 tsi_lookup(tests->sides[TSCOPE_SIDE_B].analysis, id));
}

static bool has_equal_anchors(const struct tests *tests)
{
	return is_equal_on_both(tests, "efficiency.flops_per_step") &&
	       is_equal_on_both(tests, "efficiency.hardware_flops_per_step") &&
	       is_equal_on_both(tests, "efficiency.peak_flops");
}

static bool are_single_ranks(const struct tests *tests)
{
	return tests->sides[TSCOPE_SIDE_A].rank_count == 1 &&
	       tests->sides[TSCOPE_SIDE_B].rank_count == 1;
}

static void judge_difference(struct compared_fact *fact, const struct tests *tests,
			     const struct fact_judgement *judgement)
{
	const struct step_test *time = &tests->time[fact->source];

	switch (judgement->basis) {
	case BASIS_STEP:
		judge_by_test(fact, time, judgement->falls);
		return;
	case BASIS_WALL:
		judge_by_test(fact, are_single_ranks(tests) ? time : NULL, judgement->falls);
		return;
	case BASIS_TYPICAL_STEP:
		judge_by_typical(fact, time);
		return;
	case BASIS_UTILISATION:
		judge_by_test(fact, has_equal_anchors(tests) ? time : NULL, judgement->falls);
		return;
	case BASIS_PART:
		judge_by_test(fact, tsi_part_tests_find(&tests->parts, judgement->column), false);
		return;
	case BASIS_SHARE:
		judge_by_test(fact, tsi_part_tests_find(&tests->shares, judgement->column), false);
		return;
	case BASIS_ALLOCATION:
		judge_by_test(fact, &tests->allocation, false);
		return;
	case BASIS_EXACT:
		/* A different capture length does not mean different runs. */
		fact->verdict = fact->is_as_long ? DIFF_EXACT : DIFF_NOT_TESTED;
		return;
	case BASIS_NONE:
	case BASIS_LEFT_OUT:
		fact->verdict = DIFF_NOT_TESTED;
	}
}

/*
 * The newest run is what it is: where runs vary by chance, only its own steps leave open how long
 * it is.
 */
static void judge_by_trend(struct compared_fact *fact, const struct tests *tests,
			   const struct trend_figure *figure, enum fact_basis basis)
{
	double median = 0, newest = 0, reach = 0;

	fact->verdict = figure->test.verdict;
	if (basis == BASIS_EXACT && fact->verdict == DIFF_CHANGED && figure->test.p_value == 0)
		fact->verdict = DIFF_EXACT;
	if (!tsi_is_tested(fact->verdict) ||
	    !tsi_diff_number(fact->values[TSCOPE_SIDE_A], &median) ||
	    !tsi_diff_number(fact->values[TSCOPE_SIDE_B], &newest))
		return;
	fact->p_value = tsi_real(figure->test.p_value);
	if (strcmp(fact->id, "step_time.mean_ns") == 0)
		tsi_diff_number(tsi_step_reach(tests->sides[TSCOPE_SIDE_B].analysis), &reach);
	bound(fact, (newest - reach - median) / fabs(median),
	      (newest + reach - median) / fabs(median), false);
}

static void judge(struct compared_fact *fact, const struct tests *tests,
		  const struct fact_judgement *judgement)
{
	struct trend_figure figure = { 0 };
	bool is_of_trend = tests->trend && are_numbers(fact);

	if (is_of_trend)
		figure = read_trend(fact, tests);
	bool is_in_a = is_there(fact, TSCOPE_SIDE_A), is_in_b = is_there(fact, TSCOPE_SIDE_B);
	if (!is_in_a || !is_in_b)
		fact->verdict = is_in_a ? DIFF_ONLY_A : DIFF_ONLY_B;
	else if (are_equal(fact->values[TSCOPE_SIDE_A], fact->values[TSCOPE_SIDE_B]))
		fact->verdict = DIFF_SAME;
	else if (fact->doubts[TSCOPE_SIDE_A] || fact->doubts[TSCOPE_SIDE_B])
		fact->verdict = DIFF_NOT_TESTED;
	else if (is_of_trend)
		judge_by_trend(fact, tests, &figure, judgement->basis);
	else
		judge_difference(fact, tests, judgement);
}

/* ---- the list ----------------------------------------------------------------------------- */

static void list_fact(struct fact_sheet *out, const struct compared_fact *fact)
{
	struct tscope_value a = fact->values[TSCOPE_SIDE_A], b = fact->values[TSCOPE_SIDE_B];
	struct tscope_value difference = difference_of(a, b);
	struct tscope_value *cells = tsi_table_row(out, LIST_TABLE);
	const struct tscope_fact_def *def = &tscope_analyzer(fact->analyzer)->facts[fact->fact];
	double number, base;

	cells[LIST_FACT] = tsi_text(fact->id);
	cells[LIST_UNIT] = tsi_text(tscope_unit_name(def->unit));
	cells[LIST_PER_STEP] = tsi_flag(fact->is_per_step);
	cells[LIST_A] = a;
	cells[LIST_B] = b;
	cells[LIST_DIFFERENCE] = difference;
	if (tsi_diff_number(difference, &number) && tsi_diff_number(a, &base) && base != 0)
		cells[LIST_RATIO] = tsi_real(number / fabs(base));
	cells[LIST_VERDICT] = tsi_text(tsi_diff_verdict_name(fact->verdict));
	cells[LIST_P_VALUE] = fact->p_value;
	cells[LIST_LOW] = fact->low;
	cells[LIST_HIGH] = fact->high;
	cells[LIST_A_DOUBT] = tsi_text_if(fact->doubts[TSCOPE_SIDE_A]);
	cells[LIST_B_DOUBT] = tsi_text_if(fact->doubts[TSCOPE_SIDE_B]);
}

struct counts {
	int64_t compared, changed, only_a, only_b;
};

static void count(struct counts *counts, enum diff_verdict verdict)
{
	counts->only_a += verdict == DIFF_ONLY_A;
	counts->only_b += verdict == DIFF_ONLY_B;
	counts->compared += verdict != DIFF_ONLY_A && verdict != DIFF_ONLY_B;
	counts->changed += verdict == DIFF_CHANGED || verdict == DIFF_EXACT;
}

struct listing {
	struct fact_sheet *out;
	struct tests tests;
	struct counts counts;
};

static void compare_fact(struct listing *listing, size_t analyzer, size_t index)
{
	const struct tscope_analyzer_def *def = tscope_analyzer(analyzer);
	struct compared_fact fact = { .analyzer = analyzer, .fact = index };

	read_fact(&fact, &listing->tests);
	if (!is_there(&fact, TSCOPE_SIDE_A) && !is_there(&fact, TSCOPE_SIDE_B))
		return;
	fact.id = tsi_sheet_print(listing->out, "%s.%s", def->id, def->facts[index].name);
	struct fact_judgement judgement = tsi_judge_fact(fact.id, def->facts[index].unit);
	if (judgement.basis == BASIS_LEFT_OUT)
		return;
	judge(&fact, &listing->tests, &judgement);
	count(&listing->counts, fact.verdict);
	list_fact(listing->out, &fact);
}

static void diff_fact_changes(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct listing listing = {
		.out = out,
		.tests = test_sides(scope->comparison, tsi_sheet_scratch(out)),
	};

	for (size_t i = 0; i < tscope_analyzer_count(); i++)
		if (!(tsi_analyzer(i)->levels & LEVEL_DIFF))
			for (size_t j = 0; j < tscope_analyzer(i)->fact_count; j++)
				compare_fact(&listing, i, j);
	tsi_fact_int(out, COMPARED_COUNT, listing.counts.compared);
	tsi_fact_int(out, CHANGED_COUNT, listing.counts.changed);
	tsi_fact_int(out, ONLY_A_COUNT, listing.counts.only_a);
	tsi_fact_int(out, ONLY_B_COUNT, listing.counts.only_b);
}

const struct analyzer tsi_analyzer_fact_changes = {
	.def = {
		.id = "fact_changes",
		.summary = "every fact of both sides",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a comparison (tscope diff)",
	},
	.levels = LEVEL_DIFF | LEVEL_DIFF_RANK,
	.fill = diff_fact_changes,
};
