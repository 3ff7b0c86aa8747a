/* SPDX-License-Identifier: MIT */
/*
 * What is said of a run or of a file about memory: the verdict in its head, and at its end the
 * findings, what could not be judged, and the gates, which a trace may have, too.
 */
#include "report/section.h"

#include "base/attributes.h"

#include <string.h>

enum { VERDICT_LINES = 3 };

static const struct {
	const char *word; /* a tag */
	const char *name; /* behind a number */
} severities[] = {
	[TSCOPE_SEVERITY_LOW] = { "LOW", "low" },
	[TSCOPE_SEVERITY_MED] = { "MED", "medium" },
	[TSCOPE_SEVERITY_HIGH] = { "HIGH", "high" },
};

static size_t count_of(const struct tscope_diagnosis *diagnosis, enum tscope_severity severity)
{
	size_t count = 0;

	for (size_t i = 0; i < tscope_diagnosis_finding_count(diagnosis); i++)
		count += tscope_diagnosis_finding(diagnosis, i).severity == severity;
	return count;
}

/* "1 high, 2 medium", or "" */
static void format_counts(const struct tscope_diagnosis *diagnosis, char text[NUMBER_MAX])
{
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = TSI_COUNT_OF(severities); i-- > 0;) {
		size_t count = count_of(diagnosis, (enum tscope_severity)i);

		if (count > 0 && length < NUMBER_MAX)
			length +=
				(size_t)snprintf(text + length, NUMBER_MAX - length, "%s%zu %s",
						 length > 0 ? ", " : "", count, severities[i].name);
	}
}

static void put_tag(struct text_writer *w, enum tscope_severity severity)
{
	enum text_style style = tsi_severity_style(severity);

	if (severity == TSCOPE_SEVERITY_HIGH)
		tsi_text_style(w, TEXT_BOLD);
	tsi_text_style(w, style);
	tsi_text_put(w, severities[severity].word);
	tsi_text_style(w, TEXT_PLAIN);
}

static size_t tripped_count(const struct panel *panel)
{
	size_t count = 0;

	for (size_t i = 0; i < panel->gate_count; i++)
		count += !panel->gates[i].held && !panel->gates[i].is_inconclusive;
	return count;
}

/* Rules that have something to judge by. */
static size_t judging_count(const struct tscope_diagnosis *diagnosis)
{
	return tscope_rule_count() - tscope_diagnosis_not_evaluated_count(diagnosis);
}

/* Of a file about memory, what it could have told; of a run, all. */
static bool is_shown(const struct panel *panel, size_t index)
{
	struct tscope_not_evaluated missed =
		tscope_diagnosis_not_evaluated(panel->diagnosis, index);

	return !panel->memory || tsi_is_of_memory(panel->memory, &missed);
}

static size_t shown_count(const struct panel *panel)
{
	size_t count = 0;

	for (size_t i = 0; i < tscope_diagnosis_not_evaluated_count(panel->diagnosis); i++)
		count += is_shown(panel, i);
	return count;
}

/* Of a file about memory most rules can say nothing, and are no matter. */
static void put_all_clear(const struct panel *panel)
{
	const struct tscope_diagnosis *diagnosis = panel->diagnosis;
	size_t judging = judging_count(diagnosis);
	struct text_writer *w = panel->w;
	char text[2 * NUMBER_MAX];

	if (!panel->memory)
		snprintf(text, sizeof(text), "no findings of %zu rules; %zu were not evaluated",
			 tscope_rule_count(), tscope_diagnosis_not_evaluated_count(diagnosis));
	else if (judging > 0)
		snprintf(text, sizeof(text), "no findings of %zu rule%s", judging,
			 judging == 1 ? "" : "s");
	else
		snprintf(text, sizeof(text), "no rule could judge this file");
	tsi_text_style(w, panel->memory && judging == 0 ? TEXT_DIM : TEXT_GREEN);
	tsi_text_put(w, "  ");
	tsi_text_paragraph(w, text, 2);
	tsi_text_style(w, TEXT_PLAIN);
}

void tsi_put_verdict(const struct panel *panel, bool is_brief)
{
	const struct tscope_diagnosis *diagnosis = panel->diagnosis;
	size_t count = tscope_diagnosis_finding_count(diagnosis);
	size_t tripped = tripped_count(panel);
	struct text_writer *w = panel->w;

	tsi_text_put(w, "\n");
	if (count == 0)
		put_all_clear(panel);
	for (size_t i = 0; i < count && i < VERDICT_LINES; i++) {
		struct tscope_finding finding = tscope_diagnosis_finding(diagnosis, i);

		tsi_text_put(w, "  ");
		put_tag(w, finding.severity);
		tsi_text_repeat(w, " ", 6 - tsi_text_columns(severities[finding.severity].word));
		tsi_text_paragraph(w, finding.title, 8);
	}
	if (count > VERDICT_LINES)
		tsi_text_printf(w, "        and %zu more%s\n", count - VERDICT_LINES,
				is_brief ? "" : ", see FINDINGS");
	if (tripped > 0 && !is_brief) {
		tsi_text_put_styled(w, TEXT_RED, "  GATE  ");
		tsi_text_printf(w, "%zu of %zu tripped, see GATES\n", tripped, panel->gate_count);
	}
}

/* ---- findings ---- */

enum { FINDING_INDENT = 9 }; /* "  [HIGH] " */

static void put_evidence(const struct panel *panel, const struct tscope_finding *finding)
{
	struct text_flow flow = { .w = panel->w, .separator = " · ", .indent = FINDING_INDENT };

	tsi_text_style(panel->w, TEXT_DIM);
	for (size_t i = 0; i < finding->evidence_count; i++) {
		const struct tscope_evidence *evidence = &finding->evidence[i];
		char number[NUMBER_MAX], text[256];

		tsi_number_people(number, evidence->value, evidence->unit);
		snprintf(text, sizeof(text), "%s %s", evidence->fact,
			 evidence->value.kind == TSCOPE_VALUE_TEXT ? evidence->value.text : number);
		tsi_text_flow(&flow, text);
	}
	tsi_text_flow_end(&flow);
	tsi_text_style(panel->w, TEXT_PLAIN);
}

static void put_also(const struct panel *panel, const struct tscope_finding *finding)
{
	struct text_flow flow = { .w = panel->w, .separator = ", ", .indent = FINDING_INDENT };

	for (size_t i = 0; i < finding->also_count; i++) {
		char text[NUMBER_MAX];

		snprintf(text, sizeof(text), "%s%s", i == 0 ? "also: " : "", finding->also[i]->id);
		tsi_text_flow(&flow, text);
	}
	tsi_text_flow_end(&flow);
}

static void put_indented(struct text_writer *w, const char *text)
{
	tsi_text_repeat(w, " ", FINDING_INDENT);
	tsi_text_paragraph(w, text, FINDING_INDENT);
}

static void put_finding(const struct panel *panel, const struct tscope_finding *finding)
{
	struct text_writer *w = panel->w;
	char text[512];

	tsi_text_put(w, "  [");
	put_tag(w, finding->severity);
	tsi_text_put(w, "]");
	tsi_text_repeat(w, " ", 5 - tsi_text_columns(severities[finding->severity].word));
	snprintf(text, sizeof(text), "%s (%s)", finding->title, finding->rule->id);
	tsi_text_paragraph(w, text, FINDING_INDENT);
	if (*finding->detail != '\0')
		put_indented(w, finding->detail);
	put_evidence(panel, finding);
	if (finding->is_recoverable) {
		char time[NUMBER_MAX];

		tsi_number_people_int(time, finding->recoverable_ns_per_step, TSCOPE_UNIT_NS);
		snprintf(text, sizeof(text), "wins back up to %s per step", time);
		put_indented(w, text);
	}
	tsi_text_repeat(w, " ", FINDING_INDENT);
	tsi_text_style(w, TEXT_CYAN);
	tsi_text_put(w, "-> ");
	tsi_text_paragraph(w, finding->advice, FINDING_INDENT + 3);
	tsi_text_style(w, TEXT_PLAIN);
	put_also(panel, finding);
}

void tsi_section_findings(const struct panel *panel)
{
	const struct tscope_diagnosis *diagnosis = panel->diagnosis;
	size_t count = tscope_diagnosis_finding_count(diagnosis);
	char counts[NUMBER_MAX];

	if (panel->memory && judging_count(diagnosis) == 0)
		return;
	if (count == 0) {
		tsi_panel_plain_title(panel, TEXT_GREEN, "FINDINGS", "none");
		return;
	}
	format_counts(diagnosis, counts);
	tsi_panel_plain_title(panel,
			      tsi_severity_style(tscope_diagnosis_finding(diagnosis, 0).severity),
			      "FINDINGS", counts);
	for (size_t i = 0; i < count; i++) {
		struct tscope_finding finding = tscope_diagnosis_finding(diagnosis, i);

		if (i > 0)
			tsi_text_put(panel->w, "\n");
		put_finding(panel, &finding);
	}
}

/* ---- not evaluated ---- */

/*
 * What many have in common, whichever fact each of them asked for first: "no overlap.comm_ns: it
 * needs a trace" → "needs a trace"; "efficiency.mfu is not reliable: clocks differ" → "clocks
 * differ"
 */
static const char *need_of(const char *reason)
{
	static const char *const behind_fact[] = { ": it ", ": ", " is not reliable: " };
	const char *fact = strncmp(reason, "no ", 3) == 0 ? reason + 3 : reason;
	size_t length = strcspn(fact, " :");

	for (size_t i = 0; memchr(fact, '.', length) && i < TSI_COUNT_OF(behind_fact); i++)
		if (strncmp(fact + length, behind_fact[i], strlen(behind_fact[i])) == 0)
			return fact + length + strlen(behind_fact[i]);
	return reason;
}

/* Has the need of this one been told with an earlier one? */
static bool is_told(const struct tscope_diagnosis *diagnosis, size_t index)
{
	const char *need = need_of(tscope_diagnosis_not_evaluated(diagnosis, index).reason);

	for (size_t i = 0; i < index; i++)
		if (strcmp(need_of(tscope_diagnosis_not_evaluated(diagnosis, i).reason), need) == 0)
			return true;
	return false;
}

/* "KERNEL.SHORT, NCCL.LOW_BANDWIDTH: need a trace": all rules that lack the same as this one. */
static void put_group(const struct panel *panel, size_t first)
{
	const struct tscope_diagnosis *diagnosis = panel->diagnosis;
	const char *need = need_of(tscope_diagnosis_not_evaluated(diagnosis, first).reason);
	char text[2048] = "";
	size_t length = 0, count = 0;

	for (size_t i = first; i < tscope_diagnosis_not_evaluated_count(diagnosis); i++) {
		struct tscope_not_evaluated missed = tscope_diagnosis_not_evaluated(diagnosis, i);

		if (strcmp(need_of(missed.reason), need) == 0 && length < sizeof(text))
			length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s",
						   count++ > 0 ? ", " : "", missed.rule->id);
	}
	if (length < sizeof(text) && count > 1 && strncmp(need, "needs ", 6) == 0)
		snprintf(text + length, sizeof(text) - length, ": need %s", need + 6);
	else if (length < sizeof(text))
		snprintf(text + length, sizeof(text) - length, ": %s", need);
	tsi_text_put(panel->w, "  ");
	tsi_text_paragraph(panel->w, text, 4);
}

static void put_not_evaluated(struct text_writer *w, struct tscope_not_evaluated missed)
{
	tsi_text_printf(w, "  %s\n    ", missed.rule->id);
	tsi_text_paragraph(w, missed.reason, 4);
}

void tsi_section_not_evaluated(const struct panel *panel)
{
	const struct tscope_diagnosis *diagnosis = panel->diagnosis;
	size_t count = shown_count(panel);
	char text[NUMBER_MAX];

	if (count == 0)
		return;
	snprintf(text, sizeof(text), "%zu of %zu rules", count, tscope_rule_count());
	tsi_panel_plain_title(panel, TEXT_DIM, "NOT EVALUATED", panel->memory ? "" : text);
	for (size_t i = 0; i < tscope_diagnosis_not_evaluated_count(diagnosis); i++) {
		if (!is_shown(panel, i))
			continue;
		if (panel->verbose || panel->memory)
			put_not_evaluated(panel->w, tscope_diagnosis_not_evaluated(diagnosis, i));
		else if (!is_told(diagnosis, i))
			put_group(panel, i);
	}
}

/* ---- gates ---- */

enum { GATE_VALUE_WIDTH = 12, GATE_VERDICT_WIDTH = 9 };

static void put_gate(struct text_writer *w, const struct tscope_gate_result *gate)
{
	char value[NUMBER_MAX] = "-";

	if (gate->has_value)
		tsi_number_significant(value, gate->value, 6);
	tsi_text_put(w, "  ");
	tsi_text_name_cell(w, gate->expression,
			   w->width - 2 - GATE_VALUE_WIDTH - GATE_VERDICT_WIDTH);
	tsi_text_right(w, value, GATE_VALUE_WIDTH);
	tsi_text_put(w, "  ");
	if (gate->is_inconclusive)
		tsi_text_put_styled(w, TEXT_YELLOW, "unsure");
	else
		tsi_text_put_styled(w, gate->held ? TEXT_GREEN : TEXT_RED,
				    gate->held ? "held" : "TRIPPED");
	tsi_text_put(w, "\n");
	if (gate->held && !gate->is_noise)
		return;
	tsi_text_put(w, "    ");
	tsi_text_paragraph(w, gate->reason, 4);
}

void tsi_section_gates(const struct panel *panel)
{
	size_t count = panel->gate_count, tripped = tripped_count(panel), open = 0;
	char text[2 * NUMBER_MAX], unsure[NUMBER_MAX] = "";

	if (count == 0)
		return;
	for (size_t i = 0; i < count; i++)
		open += panel->gates[i].is_inconclusive;
	if (open > 0)
		snprintf(unsure, sizeof(unsure), ", %zu inconclusive", open);
	snprintf(text, sizeof(text), "%zu of %zu tripped%s", tripped, count, unsure);
	tsi_panel_plain_title(panel,
			      tripped > 0 ? TEXT_RED
			      : open > 0  ? TEXT_YELLOW
					  : TEXT_GREEN,
			      "GATES", tripped + open > 0 ? text : "all held");
	for (size_t i = 0; i < count; i++)
		put_gate(panel->w, &panel->gates[i]);
}
