/* SPDX-License-Identifier: MIT */
/*
 * Evaluates gates: the last step from facts and findings to an exit code. Gates on unknown facts
 * trip, those on doubtful ones are undecided, and the reason says so.
 */
#include "gate/evaluate.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analyzer.h"
#include "analyze/analyzer_table.h"
#include "analyze/lookup.h"
#include "base/print_text.h"
#include "base/rank_text.h"
#include "base/real.h"
#include "gate/times.h"

/* Prefix of the reason of a rule that could not be evaluated. */
#define NOT_EVALUATED "not evaluated: "

void tsi_gate_judge(struct tscope_gate_result *result, bool held, const char *reason, ...)
{
	va_list arguments;

	result->held = held;
	va_start(arguments, reason);
	tsi_vprint_text(result->reason, sizeof(result->reason), reason, arguments);
	va_end(arguments);
}

bool tsi_gate_satisfies(int order, enum gate_comparison comparison)
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

void tsi_gate_number_text(char text[GATE_NUMBER_MAX], double value, double bound)
{
	bool is_whole = fabs(value) < 1e15 && value == floor(value);

	snprintf(text, GATE_NUMBER_MAX, is_whole ? "%.0f" : "%.6g", value);
	for (int digits = 7; digits <= 17 && value != bound && strtod(text, NULL) == bound;
	     digits++)
		snprintf(text, GATE_NUMBER_MAX, "%.*g", digits, value);
	tsi_real_put_point(text);
}

static void judge_number(struct tscope_gate_result *result, const struct gate_expression *gate,
			 double value)
{
	int order = (value > gate->number) - (value < gate->number);
	char text[GATE_NUMBER_MAX];

	if (value < 0 && tsi_gate_is_never_negative(gate)) {
		tsi_gate_judge_undecided(result, "the figure is below 0, which it cannot be");
		return;
	}
	result->has_value = true;
	result->value = value;
	result->unit = gate->unit;
	result->scale = gate->scale;
	tsi_gate_number_text(text, value, gate->number);
	if (gate->unit == TSCOPE_UNIT_FLAG)
		snprintf(text, sizeof(text), "%s", value != 0 ? "true" : "false");
	if (tsi_gate_satisfies(order, gate->comparison))
		tsi_gate_judge(result, false, "%s %s %.*s", text,
			       tsi_gate_comparison_text(gate->comparison), TSI_QUOTE(gate->value));
	else
		tsi_gate_judge(result, true, "holds: %s", text);
}

static void judge_text(struct tscope_gate_result *result, const struct gate_expression *gate,
		       const char *text)
{
	bool is_equal = tsi_str_equal(gate->value, tsi_str_of(text));

	if (tsi_gate_satisfies(!is_equal, gate->comparison))
		tsi_gate_judge(result, false, "%.64s %s %.*s", text,
			       tsi_gate_comparison_text(gate->comparison), TSI_QUOTE(gate->value));
	else
		tsi_gate_judge(result, true, "holds: %.64s", text);
}

void tsi_gate_judge_undecided(struct tscope_gate_result *result, const char *reason)
{
	result->is_inconclusive = true;
	tsi_gate_judge(result, false, "inconclusive: %s", reason);
}

/* Undecided where the figures of an analyzer are marked unreliable. */
static bool judge_reliability(struct tscope_gate_result *result,
			      const struct tscope_analysis *analysis, size_t analyzer)
{
	const char *doubt = tscope_analysis_reliability(analysis, analyzer, TSCOPE_WHOLE_TRACE);

	result->is_inconclusive = doubt != NULL;
	if (doubt)
		tsi_gate_judge(result, false, "%s is not reliable: %s",
			       tscope_analyzer(analyzer)->id, doubt);
	return !doubt;
}

static double real_of(const struct tscope_analysis *analysis, const char *id)
{
	struct tscope_value value = tsi_lookup(analysis, id);

	return value.kind == TSCOPE_VALUE_REAL ? value.real : 0;
}

/* An MFU above 1 is wrong, as is what it is made of; one that was cut to what fits is no figure. */
static bool judge_excess(struct tscope_gate_result *result, const struct gate_expression *gate,
			 const struct tscope_analysis *analysis)
{
	static const char *const names[] = {
		"mfu", "hfu", "mfu_uncapped", "achieved_tflops", "flops_per_step", "peak_flops"
	};
	const struct tscope_analyzer_def *def = tscope_analyzer(gate->analyzer);
	double uncapped = real_of(analysis, "efficiency.mfu_uncapped");
	size_t i = 0;

	while (i < TSI_COUNT_OF(names) && strcmp(names[i], def->facts[gate->fact].name) != 0)
		i++;
	if (i == TSI_COUNT_OF(names) || strcmp(def->id, "efficiency") != 0)
		return true;
	if (uncapped > 1) {
		tsi_gate_judge(result, false,
			       "FLOPs or peak are wrong: together they give an MFU of %.0f %%",
			       100 * uncapped);
		return false;
	}
	if (i > 1 || !(uncapped > real_of(analysis, "efficiency.mfu") * (1 + 1e-9)))
		return true;
	tsi_gate_judge_undecided(result,
				 "capped: the FLOPs take longer at the peak than the phases "
				 "that compute");
	return false;
}

void tsi_gate_judge_unknown(struct tscope_gate_result *result, size_t analyzer, const char *fact)
{
	const struct tscope_analyzer_def *def = tscope_analyzer(analyzer);

	result->is_evaluated = false;
	tsi_gate_judge(result, false, "%s.%s is not known%s%s", def->id, fact,
		       def->needs ? ": it needs " : "", def->needs ? def->needs : "");
}

/*
 * Undecided if a fact is present but unreliable, or a bound; trips if it is absent for a known
 * reason.
 */
static bool judge_doubt(struct tscope_gate_result *result, const struct gate_expression *gate,
			const struct tscope_analysis *analysis, bool is_known)
{
	const struct tscope_analyzer_def *def = tscope_analyzer(gate->analyzer);
	const char *doubt = tscope_analysis_fact_own_doubt(analysis, gate->analyzer, gate->fact,
							   TSCOPE_WHOLE_TRACE);

	if (doubt) {
		result->is_evaluated = is_known;
		result->is_inconclusive = is_known;
	}
	if (doubt)
		tsi_gate_judge(result, false, "%s.%s is not %s: %s", def->id,
			       def->facts[gate->fact].name, is_known ? "reliable" : "known", doubt);
	else if (is_known)
		return judge_reliability(result, analysis, gate->analyzer);
	return !doubt;
}

void tsi_gate_judge_fact(struct tscope_gate_result *result, const struct gate_expression *gate,
			 const struct tscope_analysis *analysis)
{
	struct tscope_value value =
		tscope_analysis_fact(analysis, gate->analyzer, gate->fact, TSCOPE_WHOLE_TRACE);

	if (value.kind != TSCOPE_VALUE_ABSENT && !judge_excess(result, gate, analysis))
		return;
	if (!judge_doubt(result, gate, analysis, value.kind != TSCOPE_VALUE_ABSENT))
		return;
	if (tsi_gate_is_unrecorded(gate, analysis))
		value.kind = TSCOPE_VALUE_ABSENT;
	switch (value.kind) {
	case TSCOPE_VALUE_INT:
		if (value.integer == INT64_MAX || value.integer == INT64_MIN)
			tsi_gate_judge_undecided(result, "the figure is too large to be counted");
		else
			judge_number(result, gate, (double)value.integer / gate->scale);
		return;
	case TSCOPE_VALUE_REAL:
		judge_number(result, gate, value.real / gate->scale);
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
	tsi_gate_judge_unknown(result, gate->analyzer,
			       tscope_analyzer(gate->analyzer)->facts[gate->fact].name);
}

/* ---- findings ---- */

static bool is_reported_by(const struct tscope_finding *finding, const struct tscope_rule_def *rule)
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

		if (!is_reported_by(&finding, rule))
			continue;
		tsi_gate_judge(result, false, "it fired: %s", finding.title);
		return;
	}
	tsi_gate_judge(result, false, "it fired");
}

void tsi_gate_judge_rule(struct tscope_gate_result *result, const struct tscope_rule_def *rule,
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
		if (skipped.is_undecided) {
			tsi_gate_judge_undecided(result, skipped.reason);
			return;
		}
		result->is_evaluated = false;
		tsi_gate_judge(result, false, NOT_EVALUATED "%s", skipped.reason);
		return;
	}
	tsi_gate_judge(result, true, "holds: it did not fire");
}

/* Undecided where too few steps or ranks look like a finding of such a severity. */
static bool judge_suspicion(struct tscope_gate_result *result, const struct gate_expression *gate,
			    const struct tscope_diagnosis *diagnosis)
{
	for (size_t i = 0; i < tscope_diagnosis_not_evaluated_count(diagnosis); i++) {
		struct tscope_not_evaluated skipped = tscope_diagnosis_not_evaluated(diagnosis, i);

		for (int severity = 0; severity <= (int)skipped.worst; severity++) {
			if (!skipped.is_suspected ||
			    !tsi_gate_satisfies(severity - (int)gate->severity, gate->comparison))
				continue;
			result->is_inconclusive = true;
			tsi_gate_judge(result, false, "inconclusive: %s: %s", skipped.rule->id,
				       skipped.reason);
			return true;
		}
	}
	return false;
}

/* A run takes figures that are not made of all ranks from its lowest. */
static bool is_of_one_rank(size_t index)
{
	const struct analyzer *analyzer = tsi_analyzer(index);

	return (analyzer->levels & (LEVEL_TRACE | LEVEL_RANK)) &&
	       (!(analyzer->levels & LEVEL_RUN) || analyzer->is_of_lowest_rank);
}

/* A rule that can do without any fact may read such a figure: evaluating it shows. */
bool tsi_gate_reads_one_rank(const struct tscope_rule_def *rule)
{
	size_t analyzer, fact;

	if (!rule->facts[0])
		return true;
	for (size_t i = 0; i < TSCOPE_RULE_MAX_FACTS && rule->facts[i]; i++)
		if (tsi_find_fact(rule->facts[i], &analyzer, &fact) && is_of_one_rank(analyzer))
			return true;
	return false;
}

static void judge_severity_of_rank(struct tscope_gate_result *result,
				   const struct gate_expression *gate,
				   const struct tscope_diagnosis *diagnosis)
{
	for (size_t i = 0; i < tscope_diagnosis_finding_count(diagnosis); i++) {
		struct tscope_finding finding = tscope_diagnosis_finding(diagnosis, i);

		if (!tsi_gate_reads_one_rank(finding.rule) ||
		    !tsi_gate_satisfies((int)finding.severity - (int)gate->severity,
					gate->comparison))
			continue;
		tsi_gate_judge(result, false, "%s (%s)", finding.rule->id,
			       tscope_severity_name(finding.severity));
		return;
	}
	tsi_gate_judge(result, true, "holds: no such finding");
}

static void judge_severity(struct tscope_gate_result *result, const struct gate_expression *gate,
			   const struct tscope_diagnosis *diagnosis)
{
	size_t count = tscope_diagnosis_finding_count(diagnosis), match_count = 0, first = 0;

	for (size_t i = count; i-- > 0;) {
		int severity = (int)tscope_diagnosis_finding(diagnosis, i).severity;

		if (!tsi_gate_satisfies(severity - (int)gate->severity, gate->comparison))
			continue;
		match_count++;
		first = i;
	}
	/* The first finding is the worst. */
	struct tscope_finding finding = { 0 };
	if (count > 0)
		finding = tscope_diagnosis_finding(diagnosis, first);
	if (match_count > 0)
		tsi_gate_judge(result, false, "%zu finding%s, first %s (%s)", match_count,
			       match_count == 1 ? "" : "s", finding.rule->id,
			       tscope_severity_name(finding.severity));
	else if (judge_suspicion(result, gate, diagnosis))
		return;
	else if (tscope_diagnosis_not_evaluated_count(diagnosis) == tscope_rule_count())
		tsi_gate_judge_undecided(result, "no rule could be evaluated");
	else if (count > 0)
		tsi_gate_judge(result, true, "holds: the worst finding is %s",
			       tscope_severity_name(finding.severity));
	else
		tsi_gate_judge(result, true, "holds: no findings");
}

/* ---- straggler ---- */

enum { RANKS_MAX = 100 };

/* "rank 3", "ranks 3, 5-7", "61 ranks" where that is too long; "" without one. */
static void list_slow_ranks(char text[RANKS_MAX], const struct tscope_analysis *analysis)
{
	struct table_view rows = tsi_lookup_table(analysis, "distributed.slow_ranks");
	struct rank_text ranks = { .text = "" };

	for (size_t row = 0; row < rows.row_count; row++)
		tsi_rank_text_add(&ranks, tsi_table_find(&rows, row, "rank").integer);
	tsi_rank_text_end(&ranks);
	if (strlen(ranks.text) > RANKS_MAX - sizeof("ranks "))
		tsi_print_text(text, RANKS_MAX, "%zu ranks", rows.row_count);
	else if (rows.row_count > 0)
		tsi_print_text(text, RANKS_MAX, "rank%s %s", rows.row_count == 1 ? "" : "s",
			       ranks.text);
	else
		text[0] = '\0';
}

/* " an excess of 9.1 % would show" */
static void add_detectable(struct tscope_gate_result *result,
			   const struct tscope_analysis *analysis)
{
	struct tscope_value least = tsi_lookup(analysis, "distributed.detectable_excess_ratio");

	if (!result->held || least.kind != TSCOPE_VALUE_REAL)
		return;
	result->has_reach = true;
	tsi_append_text(result->reason, sizeof(result->reason), "; an excess of %.1f %% would show",
			100 * least.real);
}

void tsi_gate_judge_straggler(struct tscope_gate_result *result,
			      const struct tscope_analysis *analysis)
{
	size_t distributed = tsi_lookup_analyzer("distributed");
	struct tscope_value doubt = tsi_lookup(analysis, "distributed.slow_rank_doubt");
	char ranks[RANKS_MAX];

	if (tsi_lookup(analysis, "distributed.n_steps").kind == TSCOPE_VALUE_ABSENT) {
		tsi_gate_judge_unknown(result, distributed, "straggler");
		return;
	}
	if (!judge_reliability(result, analysis, distributed))
		return;
	list_slow_ranks(ranks, analysis);
	if (*ranks != '\0')
		tsi_gate_judge(result, false, "slow: %s", ranks);
	else if (doubt.kind == TSCOPE_VALUE_TEXT)
		tsi_gate_judge_undecided(result, doubt.text);
	else
		tsi_gate_judge(result, true, "holds: no rank is slow");
	add_detectable(result, analysis);
}

struct tscope_gate_result tscope_gate_evaluate(const char *expression,
					       const struct tscope_analysis *analysis,
					       const struct tscope_diagnosis *diagnosis)
{
	struct tscope_gate_result result = { .expression = expression };
	struct gate_expression gate;
	struct tscope_error err;

	if (tsi_gate_parse(&gate, expression, GATES_OF_REPORT, &err) != TSCOPE_OK) {
		tsi_gate_judge(&result, false, "%s", err.message);
		return result;
	}
	result.is_evaluated = true;
	switch (gate.kind) {
	case GATE_FACT:
		tsi_gate_judge_fact(&result, &gate, analysis);
		break;
	case GATE_SEVERITY:
		judge_severity(&result, &gate, diagnosis);
		break;
	case GATE_RULE:
		tsi_gate_judge_rule(&result, gate.rule, diagnosis);
		if (strcmp(gate.rule->id, "DIST.STRAGGLER") == 0)
			add_detectable(&result, analysis);
		break;
	case GATE_STRAGGLER:
		tsi_gate_judge_straggler(&result, analysis);
		break;
	case GATE_NEW_FINDING: /* of comparisons */
		break;
	}
	tsi_gate_judge_times(&result, &gate, analysis);
	return result;
}

enum tscope_gate_need tsi_gate_need(const struct gate_expression *gate)
{
	switch (gate->kind) {
	case GATE_FACT:
		return !gate->is_of_comparison && is_of_one_rank(gate->analyzer)
			       ? TSCOPE_GATE_NEEDS_FACTS
			       : TSCOPE_GATE_NEEDS_NO_RANK;
	case GATE_RULE:
		return tsi_gate_reads_one_rank(gate->rule) ? TSCOPE_GATE_NEEDS_FINDINGS
							   : TSCOPE_GATE_NEEDS_NO_RANK;
	case GATE_SEVERITY:
	case GATE_NEW_FINDING:
		return TSCOPE_GATE_NEEDS_FINDINGS;
	case GATE_STRAGGLER:
		break;
	}
	return TSCOPE_GATE_NEEDS_NO_RANK;
}

enum tscope_gate_need tscope_gate_need(const char *expression)
{
	struct gate_expression gate;

	return tsi_gate_parse(&gate, expression, GATES_OF_REPORT, NULL) == TSCOPE_OK
		       ? tsi_gate_need(&gate)
		       : TSCOPE_GATE_NEEDS_NO_RANK;
}

void tsi_gate_add_rank(struct tscope_gate_result *result, int64_t rank,
		       struct tscope_gate_result own)
{
	char reason[sizeof(own.reason)];

	if (own.held || !(result->held || (result->is_inconclusive && !own.is_inconclusive)))
		return;
	memcpy(reason, own.reason, sizeof(reason));
	tsi_gate_judge(&own, false, "rank %" PRId64 ": %s", rank, reason);
	*result = own;
}

void tscope_gate_judge_rank(struct tscope_gate_result *result, int64_t rank,
			    const struct tscope_analysis *analysis,
			    const struct tscope_diagnosis *diagnosis)
{
	struct tscope_gate_result own;
	struct gate_expression gate;

	if (tsi_gate_parse(&gate, result->expression, GATES_OF_REPORT, NULL) != TSCOPE_OK ||
	    tsi_gate_need(&gate) == TSCOPE_GATE_NEEDS_NO_RANK)
		return;
	own = tscope_gate_evaluate(result->expression, analysis, diagnosis);
	if (gate.kind == GATE_SEVERITY)
		judge_severity_of_rank(&own, &gate, diagnosis);
	if (own.is_evaluated)
		tsi_gate_add_rank(result, rank, own);
}

void tscope_gate_lack(struct tscope_gate_result *result, const char *why)
{
	if (result->held)
		tsi_gate_judge_undecided(result, why);
}

void tscope_gate_excuse(struct tscope_gate_result *result)
{
	struct tscope_gate_result before = *result;
	const char *reason = before.reason;

	if (before.is_evaluated)
		return;
	if (tsi_str_starts(tsi_str_of(reason), NOT_EVALUATED))
		reason += strlen(NOT_EVALUATED);
	tsi_gate_judge(result, true, "not evaluated here: %s", reason);
}
