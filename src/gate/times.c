/* SPDX-License-Identifier: MIT */
/*
 * Gates on times of steps: whether the steps that have one, and the phases that records have, say
 * enough for a gate to hold.
 */
#include "gate/times.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/lookup.h"
#include "base/str.h"
#include "gate/evaluate.h"

enum { LACK_MAX = 120 }; /* chars of a reason */

/* ---- phases ---- */

/* The phase that a fact is of: "data" of "step_time.phase.data_ns"; empty: of none. */
static struct str phase_of(const char *fact)
{
	static const char prefix[] = "step_time.phase.";
	struct str phase = { fact, 0 };

	if (!fact || !tsi_str_starts(tsi_str_of(fact), prefix))
		return phase;
	phase.data += sizeof(prefix) - 1;
	phase.length = (size_t)(strrchr(fact, '_') - phase.data);
	return phase;
}

/* Records that never have a phase do not say that it took no time; traces do. */
static bool is_unrecorded(struct str phase, const struct tscope_analysis *analysis)
{
	struct table_view phases = tsi_lookup_table(analysis, "step_time.phases");
	size_t column = tsi_table_column(&phases, "phase");

	if (phase.length == 0 ||
	    tsi_lookup(analysis, "step_time.unknown_count").kind == TSCOPE_VALUE_ABSENT)
		return false;
	for (size_t i = 0; i < phases.row_count; i++) {
		struct tscope_value name = tsi_table_cell(&phases, i, column);

		if (name.kind == TSCOPE_VALUE_TEXT && tsi_str_equal(phase, tsi_str_of(name.text)))
			return false;
	}
	return true;
}

bool tsi_gate_is_unrecorded(const struct gate_expression *gate,
			    const struct tscope_analysis *analysis)
{
	const struct tscope_analyzer_def *def = tscope_analyzer(gate->analyzer);
	char id[LACK_MAX];

	snprintf(id, sizeof(id), "%s.%s", def->id, def->facts[gate->fact].name);
	return is_unrecorded(phase_of(id), analysis);
}

/* ---- steps ---- */

/* Figures that are made of times of steps: these, and the rules that read one. */
static bool reads_times(const struct gate_expression *gate)
{
	static const char *const analyzers[] = { "step_time.",         "efficiency.",
						 "distributed.",       "stragglers.",
						 "logged_efficiency.", "budget." };
	const struct tscope_rule_def *rule = gate->kind == GATE_RULE ? gate->rule : NULL;
	const char *fact = NULL;
	char id[64];

	if (gate->kind == GATE_FACT) {
		snprintf(id, sizeof(id), "%s.", tscope_analyzer(gate->analyzer)->id);
		fact = id;
	} else if (!rule || !rule->facts[0]) {
		return true;
	}
	for (size_t i = 0; i < TSI_COUNT_OF(analyzers); i++) {
		if (fact && strcmp(fact, analyzers[i]) == 0)
			return true;
		for (size_t j = 0; rule && j < TSCOPE_RULE_MAX_FACTS && rule->facts[j]; j++)
			if (tsi_str_starts(tsi_str_of(rule->facts[j]), analyzers[i]))
				return true;
	}
	return false;
}

/* Steps that a fact on how they vary needs at least, else 0. */
static int64_t least_steps(const struct gate_expression *gate)
{
	static const struct {
		const char *fact;
		int64_t count;
	} least[] = { { "cv", 2 }, { "p95_p50_ratio", 2 }, { "spike_count", 7 } };
	const struct tscope_analyzer_def *def =
		gate->kind == GATE_FACT ? tscope_analyzer(gate->analyzer) : NULL;

	for (size_t i = 0; def && i < TSI_COUNT_OF(least); i++)
		if (strcmp(def->id, "step_time") == 0 &&
		    strcmp(def->facts[gate->fact].name, least[i].fact) == 0)
			return least[i].count;
	return 0;
}

/* Ranks lack so many steps that those in common need not be like them. */
static bool are_many_dropped(int64_t dropped, int64_t count)
{
	const double max_dropped_share = 0.2;

	return (double)dropped > max_dropped_share * ((double)dropped + (double)count);
}

/* Why the steps with a time do not say enough, or NULL; text: room for it. */
static const char *lack_of_times(const struct gate_expression *gate,
				 const struct tscope_analysis *analysis, char text[LACK_MAX])
{
	int64_t unknown = tsi_lookup_int(analysis, "step_time.unknown_count");
	int64_t dropped = tsi_lookup_int(analysis, "distributed.dropped_step_count");
	int64_t common = tsi_lookup_int(analysis, "distributed.n_steps");
	struct tscope_value count = tsi_lookup(analysis, "step_time.count");

	if (unknown > 0)
		snprintf(text, LACK_MAX, "%" PRId64 " step%s of unknown duration %s left out",
			 unknown, unknown == 1 ? "" : "s", unknown == 1 ? "is" : "are");
	else if (are_many_dropped(dropped, common))
		snprintf(text, LACK_MAX,
			 "%" PRId64 " of %" PRId64 " steps are left out, as ranks lack them",
			 dropped, dropped + common);
	else if (count.kind == TSCOPE_VALUE_INT && count.integer == 0 &&
		 tsi_lookup_table(analysis, "series.steps").row_count > 0)
		return "no step is left to judge by";
	else if (count.kind == TSCOPE_VALUE_INT && count.integer < least_steps(gate))
		return "too few steps to vary";
	else
		return tscope_analysis_reliability(analysis, tsi_lookup_analyzer("step_time"),
						   TSCOPE_WHOLE_TRACE);
	return text;
}

/* A phase that a rule needs and that no record has, in text; NULL: none. */
static const char *lack_of_phase(const struct gate_expression *gate,
				 const struct tscope_analysis *analysis, char text[LACK_MAX])
{
	for (size_t i = 0; gate->kind == GATE_RULE && i < TSCOPE_RULE_MAX_FACTS; i++) {
		struct str phase = phase_of(gate->rule->facts[i]);

		if (!gate->rule->facts[i])
			break;
		if (!is_unrecorded(phase, analysis))
			continue;
		snprintf(text, LACK_MAX, "no step record has the phase %.*s", TSI_QUOTE(phase));
		return text;
	}
	return NULL;
}

void tsi_gate_judge_times(struct tscope_gate_result *result, const struct gate_expression *gate,
			  const struct tscope_analysis *analysis)
{
	char text[LACK_MAX];
	const char *lack;

	if (!result->held)
		return;
	lack = reads_times(gate) ? lack_of_times(gate, analysis, text) : NULL;
	if (!lack)
		lack = lack_of_phase(gate, analysis, text);
	if (lack)
		tsi_gate_judge_undecided(result, lack);
}
