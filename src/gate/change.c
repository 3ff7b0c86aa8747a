/* SPDX-License-Identifier: MIT */
/*
 * Evaluates gates on a comparison: changes and new findings. A change within noise does not count,
 * too few steps are inconclusive, and figures missing on one side trip.
 */
#include "gate/change.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyze/lookup.h"
#include "base/print_text.h"
#include "base/real.h"
#include "diff/comparison.h"
#include "gate/evaluate.h"
#include "gate/times.h"
#include "rules/rule_table.h"

enum { QUALIFIER_MAX = 64, AMOUNT_MAX = GATE_NUMBER_MAX + 32 };

/* ---- changes of facts ---- */

/* A row of fact_changes.list. */
struct change_row {
	struct table_view list;
	size_t row;
};

static struct tscope_value cell(const struct change_row *change, const char *column)
{
	return tsi_table_cell(&change->list, change->row, tsi_table_column(&change->list, column));
}

/* The text of a cell, NULL where it is absent. */
static const char *text_of(const struct change_row *change, const char *column)
{
	struct tscope_value value = cell(change, column);

	return value.kind == TSCOPE_VALUE_TEXT ? value.text : NULL;
}

static bool is_verdict(const struct change_row *change, enum diff_verdict verdict)
{
	const char *text = text_of(change, "verdict");

	return text && strcmp(text, tsi_diff_verdict_name(verdict)) == 0;
}

static bool find_row(struct change_row *change, const struct tscope_analysis *changes,
		     const char *fact)
{
	change->list = tsi_lookup_table(changes, "fact_changes.list");
	for (change->row = 0; change->row < change->list.row_count; change->row++) {
		const char *id = text_of(change, "fact");

		if (id && strcmp(id, fact) == 0)
			return true;
	}
	return false;
}

/* Runs of the trend that A is; -1: A is a run. */
static int64_t trend_count(const struct tscope_analysis *changes)
{
	struct tscope_value count = tsi_lookup(changes, "history.trend_count");

	return count.kind == TSCOPE_VALUE_INT ? count.integer : -1;
}

/*
 * Trips if a side lacks the figure, but a trend only begins somewhere; undecided if it is
 * unreliable.
 */
static bool judge_sides(struct tscope_gate_result *result, const struct change_row *change,
			const char *fact, const struct tscope_analysis *changes)
{
	const char *a_doubt = text_of(change, "a_doubt"), *b_doubt = text_of(change, "b_doubt");
	bool is_in_a = !is_verdict(change, DIFF_ONLY_B), is_in_b = !is_verdict(change, DIFF_ONLY_A);

	if (!is_in_a && is_in_b && trend_count(changes) >= 0) {
		tsi_gate_judge_undecided(result, b_doubt ? b_doubt : "no good run before says it");
		return false;
	}
	if (!is_in_a || !is_in_b) {
		const char *why = is_in_a ? b_doubt : a_doubt;

		result->is_evaluated = false;
		tsi_gate_judge(result, false, "%s is not known in %s%s%s", fact,
			       is_in_a ? "B" : "A", why ? ": " : "", why ? why : "");
		return false;
	}
	result->is_inconclusive = a_doubt || b_doubt;
	if (a_doubt || b_doubt)
		tsi_gate_judge(result, false, "%s is not reliable in %s: %s", fact,
			       b_doubt ? "B" : "A", b_doubt ? b_doubt : a_doubt);
	return !a_doubt && !b_doubt;
}

/* The change in the unit of the expression; false: there is none in it. */
static bool find_change(const struct change_row *change, const struct gate_expression *gate,
			double *number)
{
	if (!tsi_diff_number(cell(change, gate->is_percent ? "ratio" : "difference"), number))
		return false;
	*number = gate->is_percent ? *number * 100 : *number / gate->scale;
	return isfinite(*number);
}

/* " MiB" of "+200MiB", " %" of "+5%" */
static void unit_text(char text[16], const struct gate_expression *gate)
{
	struct str value = gate->value;
	size_t length = 0;

	while (length < value.length && length < 4 &&
	       strchr("%kKMGTiBnums", value.data[value.length - 1 - length]))
		length++;
	snprintf(text, 16, "%s%.*s", length > 0 ? " " : "", (int)length,
		 value.data + value.length - length);
}

/* "+13.1 %", "-210.2 MiB per step" */
static void amount_text(char text[AMOUNT_MAX], const struct change_row *change,
			const struct gate_expression *gate, double value)
{
	struct tscope_value per_step = cell(change, "per_step");
	char number[GATE_NUMBER_MAX], unit[16];

	tsi_gate_number_text(number, value, gate->number);
	unit_text(unit, gate);
	snprintf(text, AMOUNT_MAX, "%s%s%s%s", value > 0 ? "+" : "", number, unit,
		 per_step.kind == TSCOPE_VALUE_FLAG && per_step.flag && !gate->is_percent
			 ? " per step"
			 : "");
}

/* How the change is known: ", significant (p = 0.0012)", ", not tested"; "" if exact. */
static void qualifier_text(char text[QUALIFIER_MAX], const struct change_row *change)
{
	static const struct {
		enum diff_verdict verdict;
		const char *words;
	} qualifiers[] = {
		{ DIFF_CHANGED, ", significant" },
		{ DIFF_NO_CHANGE, ", not significant" },
		{ DIFF_UNDECIDED, ", too few steps to tell" },
		{ DIFF_NOT_TESTED, ", not tested" },
	};
	char number[GATE_NUMBER_MAX];
	double p_value;

	text[0] = '\0';
	for (size_t i = 0; i < TSI_COUNT_OF(qualifiers); i++)
		if (is_verdict(change, qualifiers[i].verdict))
			snprintf(text, QUALIFIER_MAX, "%s", qualifiers[i].words);
	if (!is_verdict(change, DIFF_CHANGED) && !is_verdict(change, DIFF_NO_CHANGE))
		return;
	if (!tsi_diff_number(cell(change, "p_value"), &p_value))
		return;
	snprintf(number, sizeof(number), "%.2g", p_value);
	tsi_real_put_point(number);
	tsi_append_text(text, QUALIFIER_MAX, " (p %s%.24s)", p_value < 0.0001 ? "" : "= ",
			p_value < 0.0001 ? "< 0.0001" : number);
}

/* Inconclusive: too few steps. */
static void judge_undecided(struct tscope_gate_result *result, const char *amount,
			    const struct tscope_analysis *changes)
{
	long long a = tsi_lookup_int(changes, "step_change.a_count");
	long long b = tsi_lookup_int(changes, "step_change.b_count");
	long long good = trend_count(changes);

	result->is_inconclusive = true;
	if (good >= 0) {
		tsi_gate_judge(result, false,
			       "inconclusive: %s, and %lld good run%s before %s too few to tell",
			       amount, good, good == 1 ? "" : "s", good == 1 ? "is" : "are");
		return;
	}
	tsi_gate_judge(result, false,
		       "inconclusive: %s, and %lld steps against %lld are too few to tell", amount,
		       a, b);
}

static bool has_too_few_steps(const struct tscope_analysis *changes)
{
	struct tscope_value verdict = tsi_lookup(changes, "step_change.verdict");

	return verdict.kind == TSCOPE_VALUE_TEXT &&
	       strcmp(verdict.text, tsi_diff_verdict_name(DIFF_UNDECIDED)) == 0;
}

/* Whether the gate's condition holds for this change. */
static bool satisfies(double change, const struct gate_expression *gate)
{
	int order = (change > gate->number) - (change < gate->number);

	return tsi_gate_satisfies(order, gate->comparison);
}

/*
 * A change that was tested over the steps may be any between these bounds, in the unit of the
 * expression. False: it was not tested, or has no order.
 */
static bool find_bounds(const struct change_row *change, const struct gate_expression *gate,
			double bounds[2])
{
	static const char *const columns[] = { "low_ratio", "high_ratio" };
	double a = 1;

	if (gate->comparison == GATE_EQUAL || gate->comparison == GATE_NOT_EQUAL ||
	    (!is_verdict(change, DIFF_CHANGED) && !is_verdict(change, DIFF_NO_CHANGE)))
		return false;
	if (!gate->is_percent && !tsi_diff_number(cell(change, "a"), &a))
		a = NAN;
	for (size_t i = 0; i < TSI_COUNT_OF(columns); i++)
		if (tsi_diff_number(cell(change, columns[i]), &bounds[i]))
			bounds[i] *= gate->is_percent ? 100 : fabs(a) / gate->scale;
		else
			bounds[i] = i == 0 ? -INFINITY : INFINITY;
	return true;
}

/* "; it may be up to +9.1 %": the change that is not excluded, where the gate looks for one. */
static void add_bound(struct tscope_gate_result *result, const struct change_row *change,
		      const struct gate_expression *gate, double bound)
{
	char amount[AMOUNT_MAX];

	amount_text(amount, change, gate, bound);
	if (!isfinite(bound) || fabs(bound - result->value) <= 1e-9 * fabs(bound))
		return;
	result->has_reach = result->held;
	tsi_append_text(result->reason, sizeof(result->reason),
			"; it is %s %s with 95 %% confidence",
			result->value <= bound ? "at most" : "at least", amount);
}

/* result->value: the change as it is measured; it counts as 0 where it may be noise. */
static void judge_amount(struct tscope_gate_result *result, const struct gate_expression *gate,
			 const struct change_row *change, bool ignores_chance)
{
	bool is_noise = is_verdict(change, DIFF_NO_CHANGE) && !ignores_chance;
	double counted = is_noise ? 0 : result->value, bounds[2];
	char amount[AMOUNT_MAX], qualifier[QUALIFIER_MAX];
	bool trips = satisfies(counted, gate);

	result->is_noise = !trips && satisfies(result->value, gate);

	amount_text(amount, change, gate, result->value);
	qualifier_text(qualifier, change);
	bool is_upper = gate->comparison == GATE_GREATER || gate->comparison == GATE_GREATER_EQUAL;
	bool is_bound = !ignores_chance && find_bounds(change, gate, bounds);
	result->is_inconclusive = !trips && is_bound && satisfies(bounds[is_upper], gate);
	result->is_noise &= !result->is_inconclusive;
	if (!trips) {
		bool held = !result->is_inconclusive;

		tsi_gate_judge(result, held, "%s: %s%s", held ? "holds" : "inconclusive", amount,
			       qualifier);
		if (is_bound)
			add_bound(result, change, gate, bounds[is_upper]);
	} else if (counted != result->value)
		tsi_gate_judge(result, false, "no change %s %.*s: %s%s",
			       tsi_gate_comparison_text(gate->comparison), TSI_QUOTE(gate->value),
			       amount, qualifier);
	else
		tsi_gate_judge(result, false, "%s %s %.*s%s", amount,
			       tsi_gate_comparison_text(gate->comparison), TSI_QUOTE(gate->value),
			       qualifier);
}

static bool is_negative(struct tscope_value value)
{
	double number;

	return tsi_diff_number(value, &number) && number < 0;
}

static void judge_row(struct tscope_gate_result *result, const struct gate_expression *gate,
		      const struct gate_sides *sides, const struct change_row *change,
		      bool ignore_significance)
{
	bool is_same = is_verdict(change, DIFF_SAME);
	char amount[AMOUNT_MAX];

	result->has_value = find_change(change, gate, &result->value);
	if (is_same) {
		result->has_value = true;
		result->value = 0;
	}
	if (!result->has_value) {
		tsi_gate_judge(result, false, "the change cannot be had %s: A is 0 or no number",
			       gate->is_percent ? "in percent" : "as a number");
		return;
	}
	if (tsi_gate_is_never_negative(gate) &&
	    (is_negative(cell(change, "a")) || is_negative(cell(change, "b")))) {
		tsi_gate_judge_undecided(result, "a figure is below 0, which it cannot be");
		return;
	}
	if (is_verdict(change, DIFF_UNDECIDED) && !ignore_significance) {
		amount_text(amount, change, gate, result->value);
		judge_undecided(result, amount, sides->changes);
		return;
	}
	judge_amount(result, gate, change, ignore_significance);
	if (result->held && is_verdict(change, DIFF_NOT_TESTED) && !ignore_significance &&
	    has_too_few_steps(sides->changes)) {
		amount_text(amount, change, gate, result->value);
		judge_undecided(result, amount, sides->changes);
	}
}

static void judge_change(struct tscope_gate_result *result, const struct gate_expression *gate,
			 const struct gate_sides *sides, bool ignore_significance)
{
	if (gate->is_of_trend && trend_count(sides->changes) < 0) {
		result->is_evaluated = false;
		tsi_gate_judge(result, false, "there is no trend: tscope trend HISTORY has one");
		return;
	}

	const struct tscope_analyzer_def *def = tscope_analyzer(gate->analyzer);
	const char *name = def->facts[gate->fact].name;
	struct change_row change;
	char fact[128];

	snprintf(fact, sizeof(fact), "%s.%s", def->id, name);
	bool is_in_a = !sides->a || !tsi_gate_is_unrecorded(gate, sides->a);
	bool is_in_b = !tsi_gate_is_unrecorded(gate, sides->b);
	if (!is_in_a || !is_in_b) {
		result->is_evaluated = false;
		tsi_gate_judge(result, false, "no step record of %s has the phase of %s",
			       is_in_b ? "A" : "B", fact);
		return;
	}
	if (!find_row(&change, sides->changes, fact))
		tsi_gate_judge_unknown(result, gate->analyzer, name);
	else if (judge_sides(result, &change, fact, sides->changes))
		judge_row(result, gate, sides, &change, ignore_significance);
}

/* ---- findings ---- */

/* The findings that only B has, or that are as severe only there. */
struct new_findings {
	size_t count;
	const char *id, *title; /* of the first */
};

/* A severity in a column compared with that of the gate; false also where there is none. */
static bool is_as_severe(const struct change_row *finding, const char *column,
			 const struct gate_expression *gate)
{
	const char *text = text_of(finding, column);
	enum tscope_severity severity;

	return text && tsi_severity_parse(tsi_str_of(text), &severity) &&
	       tsi_gate_satisfies((int)severity - (int)gate->severity, gate->comparison);
}

/* Whether the rule of a row reads figures of single ranks. */
static bool is_of_rank(const struct change_row *row)
{
	const char *id = text_of(row, "id");
	size_t index = id ? tsi_rule_find(tsi_str_of(id)) : tscope_rule_count();

	return index < tscope_rule_count() && tsi_gate_reads_one_rank(&tsi_rule(index)->def);
}

static bool is_counted(const struct change_row *finding, const struct gate_expression *gate,
		       bool by_rank)
{
	const char *change = text_of(finding, "change");
	bool is_new = change && strcmp(change, "new") == 0;

	if (by_rank && !is_of_rank(finding))
		return false;
	if (gate->kind == GATE_NEW_FINDING)
		return is_new;
	if (!is_new && (!change || strcmp(change, "worse") != 0))
		return false;
	return is_as_severe(finding, "b_severity", gate) &&
	       !is_as_severe(finding, "a_severity", gate);
}

static struct new_findings count_findings(const struct gate_sides *sides,
					  const struct gate_expression *gate)
{
	struct change_row finding = { .list = tsi_lookup_table(sides->changes,
							       "finding_changes.list") };
	struct new_findings found = { 0 };

	for (; finding.row < finding.list.row_count; finding.row++) {
		if (!is_counted(&finding, gate, sides->is_of_rank) || found.count++ > 0)
			continue;
		found.id = text_of(&finding, "id");
		found.title = text_of(&finding, "title");
	}
	return found;
}

/* Trips if B could not evaluate a rule that A could: a missing finding means nothing then. */
static bool judge_lost(struct tscope_gate_result *result, const struct gate_sides *sides)
{
	struct change_row lost = { .list = tsi_lookup_table(sides->changes,
							    "finding_changes.lost") };
	const char *id = NULL, *reason = NULL;
	size_t count = 0;

	for (; lost.row < lost.list.row_count; lost.row++) {
		if ((sides->is_of_rank && !is_of_rank(&lost)) || count++ > 0)
			continue;
		id = text_of(&lost, "id");
		reason = text_of(&lost, "reason");
	}
	if (count == 0)
		return true;
	result->is_evaluated = false;
	tsi_gate_judge(result, false,
		       "B lacks the data for %zu rule%s that A could judge, first %s: %s", count,
		       count == 1 ? "" : "s", id ? id : "", reason ? reason : "");
	return false;
}

static void judge_findings(struct tscope_gate_result *result, const struct gate_expression *gate,
			   const struct gate_sides *sides)
{
	size_t analyzer = tsi_lookup_analyzer("finding_changes");
	struct new_findings found = count_findings(sides, gate);
	const struct tscope_diagnosis *b = sides->diagnoses[TSCOPE_SIDE_B];

	if (!tscope_analysis_has(sides->changes, analyzer, TSCOPE_WHOLE_TRACE))
		tsi_gate_judge_unknown(result, analyzer, "new_count");
	else if (found.count > 0)
		tsi_gate_judge(result, false, "%zu new finding%s, first %s: %s", found.count,
			       found.count == 1 ? "" : "s", found.id ? found.id : "",
			       found.title ? found.title : "");
	else if (!judge_lost(result, sides))
		return;
	else if (b && tscope_diagnosis_not_evaluated_count(b) == tscope_rule_count())
		tsi_gate_judge_undecided(result, "of B no rule could be evaluated");
	else
		tsi_gate_judge(result, true, "holds: no new finding");
}

static void judge_rule(struct tscope_gate_result *result, const struct gate_expression *gate,
		       const struct gate_sides *sides)
{
	tsi_gate_judge_rule(result, gate->rule, sides->diagnoses[TSCOPE_SIDE_B]);
	if (!result->held && tscope_diagnosis_fired(sides->diagnoses[TSCOPE_SIDE_B], gate->rule) &&
	    tscope_diagnosis_fired(sides->diagnoses[TSCOPE_SIDE_A], gate->rule))
		tsi_gate_judge(result, true, "holds: it fired in A, too");
}

/* ---- the whole ---- */

static void evaluate(struct tscope_gate_result *result, const struct gate_expression *gate,
		     const struct gate_sides *sides, bool ignore_significance)
{
	switch (gate->kind) {
	case GATE_FACT:
		if (gate->is_change)
			judge_change(result, gate, sides, ignore_significance);
		else
			tsi_gate_judge_fact(result, gate,
					    gate->is_of_comparison ? sides->changes : sides->b);
		break;
	case GATE_SEVERITY:
	case GATE_NEW_FINDING:
		judge_findings(result, gate, sides);
		break;
	case GATE_RULE:
		judge_rule(result, gate, sides);
		break;
	case GATE_STRAGGLER:
		tsi_gate_judge_straggler(result, sides->b);
		break;
	}
	if (gate->is_change || gate->kind == GATE_SEVERITY || gate->kind == GATE_NEW_FINDING)
		tsi_gate_judge_times(result, gate, sides->a);
	tsi_gate_judge_times(result, gate, sides->b);
}

struct tscope_gate_result tsi_gate_evaluate_change(const char *expression,
						   const struct gate_sides *sides,
						   bool ignore_significance)
{
	struct tscope_gate_result result = { .expression = expression };
	struct gate_expression gate;
	struct tscope_error err;

	if (tsi_gate_parse(&gate, expression, GATES_OF_DIFF, &err) != TSCOPE_OK) {
		tsi_gate_judge(&result, false, "%s", err.message);
		return result;
	}
	result.is_evaluated = true;
	evaluate(&result, &gate, sides, ignore_significance);
	return result;
}

static struct gate_sides sides_of(const struct tscope_diff *diff)
{
	struct tscope_diff_side a = tscope_diff_side(diff, TSCOPE_SIDE_A);
	struct tscope_diff_side b = tscope_diff_side(diff, TSCOPE_SIDE_B);

	return (struct gate_sides){
		.changes = tscope_diff_analysis(diff),
		.a = a.analysis,
		.b = b.analysis,
		.diagnoses = { a.diagnosis, b.diagnosis },
	};
}

struct tscope_gate_result tscope_gate_evaluate_change(const char *expression,
						      const struct tscope_diff *diff,
						      bool ignore_significance)
{
	const struct gate_sides sides = sides_of(diff);

	return tsi_gate_evaluate_change(expression, &sides, ignore_significance);
}

/* ---- one rank ---- */

enum tscope_gate_need tscope_gate_need_change(const char *expression)
{
	struct gate_expression gate;

	return tsi_gate_parse(&gate, expression, GATES_OF_DIFF, NULL) == TSCOPE_OK
		       ? tsi_gate_need(&gate)
		       : TSCOPE_GATE_NEEDS_NO_RANK;
}

/* Whether either side has the fact of a gate on its change. */
static bool has_fact(const struct gate_expression *gate, const struct gate_sides *sides)
{
	return tscope_analysis_fact(sides->a, gate->analyzer, gate->fact, TSCOPE_WHOLE_TRACE)
			       .kind != TSCOPE_VALUE_ABSENT ||
	       tscope_analysis_fact(sides->b, gate->analyzer, gate->fact, TSCOPE_WHOLE_TRACE)
			       .kind != TSCOPE_VALUE_ABSENT;
}

void tscope_gate_judge_rank_change(struct tscope_gate_result *result,
				   const struct tscope_diff *rank_diff, bool ignore_significance)
{
	struct gate_sides sides = sides_of(rank_diff);
	int64_t rank = tscope_diff_side(rank_diff, TSCOPE_SIDE_B).rank;
	bool is_paired = tscope_diff_side(rank_diff, TSCOPE_SIDE_A).rank == rank;
	struct tscope_gate_result own;
	struct gate_expression gate;

	if (tsi_gate_parse(&gate, result->expression, GATES_OF_DIFF, NULL) != TSCOPE_OK ||
	    tsi_gate_need(&gate) == TSCOPE_GATE_NEEDS_NO_RANK ||
	    (gate.is_change && !has_fact(&gate, &sides)))
		return;
	sides.is_of_rank = true;
	own = tsi_gate_evaluate_change(result->expression, &sides, ignore_significance);
	if (gate.is_change && !is_paired)
		tsi_gate_judge_undecided(&own, gate.is_of_trend
						       ? "the trend knows the lowest rank only"
						       : "A has no such rank");
	if (own.is_evaluated || gate.is_change)
		tsi_gate_add_rank(result, rank, own);
}
