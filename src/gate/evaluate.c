/* SPDX-License-Identifier: MIT */
/*
 * Evaluates gates: the last step from facts and findings to an exit code. What
 * cannot be known trips, and the reason says so.
 */
#include <tscope/gate.h>

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/real.h"
#include "gate/expression.h"

/* How the reason of a rule that could not be evaluated begins. */
#define NOT_EVALUATED "not evaluated: "

/* Sets verdict and reason; a reason that is too long is cut. */
TSI_PRINTF(3, 4)
static void judge(struct tscope_gate_result *result, bool held, const char *reason, ...)
{
	va_list arguments;

	result->held = held;
	va_start(arguments, reason);
	if (vsnprintf(result->reason, sizeof(result->reason), reason, arguments) >=
	    (int)sizeof(result->reason))
		tsi_str_drop_partial(result->reason);
	va_end(arguments);
}

/* Is it so, where `order` is below, at or above 0 as the left side is to the right one? */
static bool is_so(int order, enum gate_comparison comparison)
{
	switch (comparison) {
	case GATE_LESS:
		return order < 0;
	case GATE_LESS_EQUAL:
		return order <= 0;
	case GATE_GREATER:
		return order > 0;
	case GATE_GREATER_EQUAL:
		return order >= 0;
	case GATE_EQUAL:
		return order == 0;
	case GATE_NOT_EQUAL:
		return order != 0;
	case GATE_NO_COMPARISON:
		break;
	}
	return false;
}

/* ---- facts ---- */

enum { MAX_NUMBER = 40 };

/*
 * All digits of an integer; of other numbers six, or as many as it takes to
 * tell the value from the bound: never "0.35 < 0.35".
 */
static void format_number(char text[MAX_NUMBER], double value, double bound)
{
	bool is_whole = fabs(value) < 1e15 && value == floor(value);

	snprintf(text, MAX_NUMBER, is_whole ? "%.0f" : "%.6g", value);
	for (int digits = 7; digits <= 17 && value != bound && strtod(text, NULL) == bound;
	     digits++)
		snprintf(text, MAX_NUMBER, "%.*g", digits, value);
	tsi_real_put_point(text);
}

static void judge_number(struct tscope_gate_result *result, const struct gate_expression *gate,
			 double value)
{
	int order = (value > gate->number) - (value < gate->number);
	char text[MAX_NUMBER];

	result->has_value = true;
	result->value = value;
	format_number(text, value, gate->number);
	if (gate->unit == TSCOPE_UNIT_FLAG)
		snprintf(text, sizeof(text), "%s", value != 0 ? "true" : "false");
	if (is_so(order, gate->comparison))
		judge(result, false, "%s %s %.*s", text, tsi_gate_comparison_text(gate->comparison),
		      TSI_QUOTE(gate->value));
	else
		judge(result, true, "holds: %s", text);
}

static void judge_text(struct tscope_gate_result *result, const struct gate_expression *gate,
		       const char *text)
{
	bool is_equal = tsi_str_equal(gate->value, tsi_str_of(text));

	if (is_so(!is_equal, gate->comparison))
		judge(result, false, "%.64s %s %.*s", text,
		      tsi_gate_comparison_text(gate->comparison), TSI_QUOTE(gate->value));
	else
		judge(result, true, "holds: %.64s", text);
}

/* Trips where the figures of an analyzer are marked unreliable. */
static bool judge_reliability(struct tscope_gate_result *result,
			      const struct tscope_analysis *analysis, size_t analyzer)
{
	const char *doubt = tscope_analysis_reliability(analysis, analyzer, TSCOPE_WHOLE_TRACE);

	if (doubt)
		judge(result, false, "%s is not reliable: %s", tscope_analyzer(analyzer)->id,
		      doubt);
	return !doubt;
}

static void judge_unknown(struct tscope_gate_result *result, size_t analyzer, const char *fact)
{
	const struct tscope_analyzer_def *def = tscope_analyzer(analyzer);

	result->is_evaluated = false;
	judge(result, false, "%s.%s is not known%s%s", def->id, fact,
	      def->needs ? ": it needs " : "", def->needs ? def->needs : "");
}

/* Trips where a fact is there and must not be believed, or is absent for a reason of its own. */
static bool judge_doubt(struct tscope_gate_result *result, const struct gate_expression *gate,
			const struct tscope_analysis *analysis, bool is_known)
{
	const struct tscope_analyzer_def *def = tscope_analyzer(gate->analyzer);
	const char *doubt = tscope_analysis_fact_own_doubt(analysis, gate->analyzer, gate->fact,
							   TSCOPE_WHOLE_TRACE);

	if (doubt)
		result->is_evaluated = is_known;
	if (doubt)
		judge(result, false, "%s.%s is not %s: %s", def->id, def->facts[gate->fact].name,
		      is_known ? "reliable" : "known", doubt);
	else if (is_known)
		return judge_reliability(result, analysis, gate->analyzer);
	return !doubt;
}

static void judge_fact(struct tscope_gate_result *result, const struct gate_expression *gate,
		       const struct tscope_analysis *analysis)
{
	struct tscope_value value =
		tscope_analysis_fact(analysis, gate->analyzer, gate->fact, TSCOPE_WHOLE_TRACE);

	if (!judge_doubt(result, gate, analysis, value.kind != TSCOPE_VALUE_ABSENT))
		return;
	switch (value.kind) {
	case TSCOPE_VALUE_INT:
		judge_number(result, gate, (double)value.integer / gate->unit_ns);
		return;
	case TSCOPE_VALUE_REAL:
		judge_number(result, gate, value.real / gate->unit_ns);
		return;
	case TSCOPE_VALUE_FLAG:
		judge_number(result, gate, value.flag);
		return;
	case TSCOPE_VALUE_TEXT:
		judge_text(result, gate, value.text);
		return;
	case TSCOPE_VALUE_ABSENT:
		break;
	}
	judge_unknown(result, gate->analyzer,
		      tscope_analyzer(gate->analyzer)->facts[gate->fact].name);
}

/* ---- findings ---- */

static bool is_told_by(const struct tscope_finding *finding, const struct tscope_rule_def *rule)
{
	for (size_t i = 0; i < finding->also_count; i++)
		if (finding->also[i] == rule)
			return true;
	return finding->rule == rule;
}

static void judge_fired(struct tscope_gate_result *result, const struct tscope_rule_def *rule,
			const struct tscope_diagnosis *diagnosis)
{
	for (size_t i = 0; i < tscope_diagnosis_finding_count(diagnosis); i++) {
		struct tscope_finding finding = tscope_diagnosis_finding(diagnosis, i);

		if (!is_told_by(&finding, rule))
			continue;
		judge(result, false, "it fired: %s", finding.title);
		return;
	}
	judge(result, false, "it fired");
}

static void judge_rule(struct tscope_gate_result *result, const struct tscope_rule_def *rule,
		       const struct tscope_diagnosis *diagnosis)
{
	if (tscope_diagnosis_fired(diagnosis, rule)) {
		judge_fired(result, rule, diagnosis);
		return;
	}
	for (size_t i = 0; i < tscope_diagnosis_not_evaluated_count(diagnosis); i++) {
		struct tscope_not_evaluated skipped = tscope_diagnosis_not_evaluated(diagnosis, i);

		if (skipped.rule != rule)
			continue;
		result->is_evaluated = false;
		judge(result, false, NOT_EVALUATED "%s", skipped.reason);
		return;
	}
	judge(result, true, "holds: it did not fire");
}

static void judge_severity(struct tscope_gate_result *result, const struct gate_expression *gate,
			   const struct tscope_diagnosis *diagnosis)
{
	size_t count = tscope_diagnosis_finding_count(diagnosis), match_count = 0, first = 0;

	for (size_t i = count; i-- > 0;) {
		int severity = (int)tscope_diagnosis_finding(diagnosis, i).severity;

		if (!is_so(severity - (int)gate->severity, gate->comparison))
			continue;
		match_count++;
		first = i;
	}
	/* The first finding is the worst. */
	struct tscope_finding finding = { 0 };
	if (count > 0)
		finding = tscope_diagnosis_finding(diagnosis, first);
	if (match_count > 0)
		judge(result, false, "%zu finding%s, first %s (%s)", match_count,
		      match_count == 1 ? "" : "s", finding.rule->id,
		      tscope_severity_name(finding.severity));
	else if (count > 0)
		judge(result, true, "holds: the worst finding is %s",
		      tscope_severity_name(finding.severity));
	else
		judge(result, true, "holds: no findings");
}

/* ---- straggler ---- */

/* Ranks in words: "3, 5". */
struct rank_list {
	char text[100];
	size_t length;
};

/* Adds the ranks in the first column of a table. */
static void list_ranks(struct rank_list *list, const struct tscope_analysis *analysis,
		       const char *table_id)
{
	size_t analyzer, table;

	if (!tscope_table_find(table_id, &analyzer, &table))
		return;
	size_t count = tscope_analysis_row_count(analysis, analyzer, table, TSCOPE_WHOLE_TRACE);
	for (size_t i = 0; i < count; i++) {
		int64_t rank =
			tscope_analysis_cell(analysis, analyzer, table, TSCOPE_WHOLE_TRACE, i, 0)
				.integer;
		size_t room = sizeof(list->text) - list->length;

		if (room < 24)
			return; /* the report names them all */
		list->length += (size_t)snprintf(list->text + list->length, room, "%s%" PRId64,
						 list->length > 0 ? ", " : "", rank);
	}
}

static void judge_straggler(struct tscope_gate_result *result,
			    const struct tscope_analysis *analysis)
{
	size_t distributed = tscope_analyzer_find("distributed");
	struct rank_list ranks = { .text = "" };
	struct tscope_value step_count;
	enum tscope_unit unit;

	if (!tscope_analysis_find(analysis, "distributed.n_steps", &step_count, &unit) ||
	    step_count.kind == TSCOPE_VALUE_ABSENT) {
		judge_unknown(result, distributed, "straggler");
		return;
	}
	if (!judge_reliability(result, analysis, distributed))
		return;
	list_ranks(&ranks, analysis, "distributed.slow_ranks");
	if (ranks.length == 0)
		list_ranks(&ranks, analysis, "distributed.straggler");
	if (ranks.length > 0)
		judge(result, false, "slow: rank %s", ranks.text);
	else
		judge(result, true, "holds: no rank is slow");
}

struct tscope_gate_result tscope_gate_evaluate(const char *expression,
					       const struct tscope_analysis *analysis,
					       const struct tscope_diagnosis *diagnosis)
{
	struct tscope_gate_result result = { .expression = expression };
	struct gate_expression gate;
	struct tscope_error err;

	if (tsi_gate_parse(&gate, expression, &err) != TSCOPE_OK) {
		judge(&result, false, "%s", err.message);
		return result;
	}
	result.is_evaluated = true;
	switch (gate.kind) {
	case GATE_FACT:
		judge_fact(&result, &gate, analysis);
		break;
	case GATE_SEVERITY:
		judge_severity(&result, &gate, diagnosis);
		break;
	case GATE_RULE:
		judge_rule(&result, gate.rule, diagnosis);
		break;
	case GATE_STRAGGLER:
		judge_straggler(&result, analysis);
		break;
	}
	return result;
}

void tscope_gate_excuse(struct tscope_gate_result *result)
{
	struct tscope_gate_result before = *result;
	const char *reason = before.reason;

	if (before.is_evaluated)
		return;
	if (tsi_str_starts(tsi_str_of(reason), NOT_EVALUATED))
		reason += strlen(NOT_EVALUATED);
	judge(result, true, "not evaluated here: %s", reason);
}
