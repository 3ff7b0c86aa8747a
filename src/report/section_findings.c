/* SPDX-License-Identifier: MIT */
/*
 * Findings and gates: the verdict in the head of a report, and at its end the sections on findings,
 * rules that were not evaluated, and gates.
 */
#include "report/reporter.h"
#include "report/section.h"
#include "report/snapshot_words.h"

#include <math.h>
#include <string.h>

enum { VERDICT_LINES = 3 };

/* A device that idles for no more is fed well. */
static const double LEAST_IDLE_RATIO = 0.05;

/* The share of kernel time whose roofline must be known, and of that roofline the one to reach. */
static const double LEAST_ROOFLINE_RATIO = 0.5;

/* Share of a step without a device from which an operator is the answer. */
static const double LEAST_HOST_SHARE = 0.25;

/* Share from which it is worth a word beside the answer. */
static const double LEAST_NEXT_SHARE = 0.05;

/* An operator that takes no longer is mostly dispatch. */
static const double SHORT_CALL_NS = 20000;

/* Behind a number. */
static const char *const severity_names[] = {
	[TSCOPE_SEVERITY_LOW] = "low",
	[TSCOPE_SEVERITY_MED] = "medium",
	[TSCOPE_SEVERITY_HIGH] = "high",
};

static size_t count_of(const struct tscope_diagnosis *diagnosis, enum tscope_severity severity)
{
	size_t count = 0;

	for (size_t i = 0; i < tscope_diagnosis_finding_count(diagnosis); i++)
		count += tscope_diagnosis_finding(diagnosis, i).severity == severity;
	return count;
}

/* "1 high, 2 medium", or "" */
static const char *name_counts(const struct panel *panel)
{
	const char *text = "";

	for (size_t i = TSI_COUNT_OF(severity_names); i-- > 0;) {
		size_t count = count_of(panel->diagnosis, (enum tscope_severity)i);

		if (count > 0)
			tsi_panel_append(panel, &text, "%s%zu %s", *text ? ", " : "", count,
					 severity_names[i]);
	}
	return text;
}

size_t tsi_tripped_count(const struct panel *panel)
{
	return tsi_gate_count(panel->gates, panel->gate_count, GATE_TRIPPED);
}

/* Rules that have something to judge by. */
static size_t judging_count(const struct tscope_diagnosis *diagnosis)
{
	return tscope_rule_count() - tscope_diagnosis_not_evaluated_count(diagnosis);
}

/* A file about memory lists only rules that its kind of file can answer; a run lists all. */
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

/* Beginnings of "… takes 62.1 % of a step of 412.3 ms". */
static const char *const budget_words[BUDGET_LINE_COUNT] = {
	[BUDGET_COMPUTE] = "compute takes",
	[BUDGET_EXPOSED_COMM] = "exposed communication takes",
	[BUDGET_EXPOSED_COPY] = "exposed memory copies take",
	[BUDGET_DATA_STALL] = "waiting for the data loader takes",
	[BUDGET_SYNC_STALL] = "idling while the host synchronizes takes",
	[BUDGET_LAUNCH_STALL] = "waiting for the host to launch work takes",
	[BUDGET_DEVICE_GAP] = "idling between queued kernels takes",
	[BUDGET_UNATTRIBUTED] = "unexplained device idle time takes",
	[BUDGET_HOST_DATA] = "waiting for data takes",
	[BUDGET_HOST_FORWARD] = "forward takes",
	[BUDGET_HOST_BACKWARD] = "backward takes",
	[BUDGET_HOST_OPTIMIZER] = "the optimizer takes",
	[BUDGET_HOST_COMM] = "communication takes",
	[BUDGET_HOST_OTHER] = "code outside marked phases takes",
};

static size_t find_largest_line(const struct panel *panel, int64_t *largest_ns)
{
	size_t largest = 0;

	*largest_ns = 0;
	for (size_t i = 0; i < BUDGET_LINE_COUNT; i++) {
		int64_t own_ns = tsi_panel_int(panel, tsi_budget_lines[i].id);

		if (own_ns > *largest_ns) {
			largest = i;
			*largest_ns = own_ns;
		}
	}
	return largest;
}

/* "compute takes 62.1 % of a step of 412.3 ms", or NULL where no step is known */
static const char *name_largest_line(const struct panel *panel)
{
	int64_t wall_ns = tsi_panel_int(panel, "budget.wall_total_ns"), largest_ns;
	int64_t steps = tsi_panel_int(panel, "budget.step_count");
	size_t largest = find_largest_line(panel, &largest_ns);

	if (largest_ns == 0)
		return NULL;
	if (largest == BUDGET_HOST_OTHER && largest_ns == wall_ns)
		return tsi_panel_print(panel,
				       "no phase (data, forward, backward, optimizer) is marked in "
				       "a step of %s",
				       tsi_panel_number(panel, "step_time.mean_ns"));
	const char *text = tsi_panel_print(panel, "%s %.1f %% of %s step", budget_words[largest],
					   100 * (double)largest_ns / (double)wall_ns,
					   steps > 1 ? "a" : "the");
	if (tsi_is_budget_of_step(panel))
		tsi_panel_append(panel, &text, " of %s",
				 tsi_panel_number(panel, "step_time.mean_ns"));
	return text;
}

/* The operator that takes most of a step without a device by itself. */
struct host_operator {
	const char *name; /* NULL: not known */
	double ns, calls; /* of all steps */
};

static struct host_operator find_host_operator(const struct panel *panel)
{
	double wall_ns = (double)tsi_panel_int(panel, "budget.wall_total_ns");
	struct table_view operators = tsi_panel_rows(panel, "operators.by_name");
	struct host_operator largest = { 0 };

	/* With several traces the operators are those of one trace, the budget that of all. */
	if (!(wall_ns > 0) || tsi_panel_has(panel, "budget.device_gap_total_ns") ||
	    (panel->report && tscope_run_input_count(panel->report->run) > 1))
		return largest;
	for (size_t row = 0; row < operators.row_count; row++) {
		struct tscope_value own = tsi_table_find(&operators, row, "counted_ns");
		if (own.kind == TSCOPE_VALUE_INT && (double)own.integer > largest.ns)
			largest = (struct host_operator){
				.name = tsi_table_text(&operators, row, "name"),
				.ns = (double)own.integer,
				.calls = (double)tsi_table_find(&operators, row, "counted").integer,
			};
	}
	/* With operators on several threads the sum may exceed the step: no share of it. */
	if (largest.ns > wall_ns)
		largest.name = NULL;
	return largest;
}

/* ", in 3000 calls of 2.1 µs": so short that the calls cost more than the work; else "". */
static const char *name_calls(const struct panel *panel, const struct host_operator *op)
{
	double steps = (double)tsi_panel_int(panel, "budget.step_count");
	double call_ns = op->ns / op->calls;

	if (!(op->calls > 1) || !(steps > 0) || call_ns > SHORT_CALL_NS)
		return "";
	return tsi_panel_print(panel, ", in %.0f calls of %s", op->calls / steps,
			       tsi_panel_people_int(panel, llround(call_ns), TSCOPE_UNIT_NS));
}

/*
 * "aten::addmm itself takes 74.9 % of the step of 2.955 s on the CPU": an operator that takes a
 * quarter of the step, unless what is no model's work (data, optimizer, …) takes more; or NULL.
 */
static const char *name_host_operator(const struct panel *panel)
{
	double wall_ns = (double)tsi_panel_int(panel, "budget.wall_total_ns");
	struct host_operator op = find_host_operator(panel);
	int64_t line_ns;
	size_t line = find_largest_line(panel, &line_ns);
	bool is_in_model = line == BUDGET_HOST_FORWARD || line == BUDGET_HOST_BACKWARD;

	if (!op.name || op.ns < LEAST_HOST_SHARE * wall_ns ||
	    (!is_in_model && (double)line_ns > op.ns))
		return NULL;
	return tsi_panel_print(
		panel, "%s itself takes %.1f %% of %s step of %s on the CPU%s", op.name,
		100 * op.ns / wall_ns, tsi_panel_int(panel, "budget.step_count") > 1 ? "a" : "the",
		tsi_panel_number(panel, "step_time.mean_ns"), name_calls(panel, &op));
}

/* "; the largest operator is aten::copy_ (12.3 %, in 900 calls of 4.1 µs)", or "" */
static const char *name_next_operator(const struct panel *panel)
{
	double wall_ns = (double)tsi_panel_int(panel, "budget.wall_total_ns");
	struct host_operator op = find_host_operator(panel);

	if (tsi_panel_row_count(panel, "operators.by_name") == 0)
		return tsi_name_function(panel, LEAST_NEXT_SHARE);
	if (!op.name || op.ns < LEAST_NEXT_SHARE * wall_ns)
		return "";
	return tsi_panel_print(panel, "; the largest operator is %s (%.1f %%%s)", op.name,
			       100 * op.ns / wall_ns, name_calls(panel, &op));
}

/* How near kernels come to their rooflines, if half of their time has one; else NaN. */
static double find_roofline_ratio(const struct panel *panel)
{
	struct table_view operators = tsi_panel_rows(panel, "flops.by_operator");
	double roofline_ns = 0, device_ns = 0;

	for (size_t row = 0; row < operators.row_count; row++) {
		struct tscope_value least = tsi_table_find(&operators, row, "roofline_ns");
		struct tscope_value own = tsi_table_find(&operators, row, "device_ns");
		if (least.kind != TSCOPE_VALUE_INT || own.kind != TSCOPE_VALUE_INT)
			continue;
		roofline_ns += (double)least.integer;
		device_ns += (double)own.integer;
	}
	return device_ns > 0 &&
			       device_ns >= LEAST_ROOFLINE_RATIO *
						    (double)tsi_panel_int(panel, "kernels.total_ns")
		       ? roofline_ns / device_ns
		       : NAN;
}

/* Busy is not well used: slow kernels keep a device busy, too. */
static const char *name_use(const struct panel *panel, double busy_ratio)
{
	double ratio = find_roofline_ratio(panel);

	if (ratio >= LEAST_ROOFLINE_RATIO)
		return tsi_panel_print(
			panel, "the step is well used: the device is busy for %.0f %% of it",
			100 * busy_ratio);
	const char *text = tsi_panel_print(panel, "the device is busy for %.0f %% of the step",
					   100 * busy_ratio);
	if (isnan(ratio))
		tsi_panel_append(panel, &text,
				 ", but how near its kernels come to its peak is not known");
	else
		tsi_panel_append(panel, &text, " with kernels at %.0f %% of their roofline",
				 100 * ratio);
	return text;
}

/* How busy the device is and by what, or NULL where devices wait for more. */
static const char *name_good_use(const struct panel *panel)
{
	double wall_ns = (double)tsi_panel_int(panel, "budget.wall_total_ns"), idle_ns = 0;
	struct table_view kinds = tsi_panel_rows(panel, "kernels.by_kind");
	const char *text;

	if ((double)tsi_panel_int(panel, tsi_budget_lines[BUDGET_EXPOSED_COMM].id) >
	    LEAST_IDLE_RATIO * wall_ns)
		return NULL; /* the device is busy waiting for others or for its network */
	for (size_t i = BUDGET_DATA_STALL; i <= BUDGET_UNATTRIBUTED; i++)
		idle_ns += (double)tsi_panel_int(panel, tsi_budget_lines[i].id);
	if (!(wall_ns > 0) || idle_ns > LEAST_IDLE_RATIO * wall_ns || kinds.row_count == 0)
		return NULL;
	text = name_use(panel, 1 - idle_ns / wall_ns);
	struct tscope_value total_ns = tsi_table_find(&kinds, 0, "total_ns");
	double all_ns = (double)tsi_panel_int(panel, "kernels.total_ns");
	if (total_ns.kind == TSCOPE_VALUE_INT && all_ns > 0)
		tsi_panel_append(panel, &text, "; %.0f %% of kernel time is %s",
				 100 * (double)total_ns.integer / all_ns,
				 tsi_table_text(&kinds, 0, "kind"));
	return text;
}

/* "memory peaks at 984 MiB", "a step takes 412.3 ms", or NULL */
static const char *name_figure(const struct panel *panel)
{
	static const struct {
		const char *id, *words;
	} figures[] = {
		{ "snapshot.allocated_bytes", "allocated memory is" },
		{ "memory_timeline.peak_bytes", "allocated memory peaks at" },
		{ "memory_tracker.peak_bytes", "allocated memory peaks at" },
		{ "host_memory.peak_bytes", "host memory peaks at" },
		{ "memory_stats.peak_allocated_bytes", "allocated memory peaks at" },
		{ "memory_stats.value_count", "memory statistics read:" },
		{ "step_time.mean_ns", "a step takes" },
	};

	if (tsi_panel_has(panel, "snapshot.peak_allocated_bytes"))
		return tsi_snapshot_sentence(panel);
	for (size_t i = 0; i < TSI_COUNT_OF(figures); i++)
		if (tsi_panel_has(panel, figures[i].id))
			return tsi_panel_print(panel, "%s %s", figures[i].words,
					       tsi_panel_number(panel, figures[i].id));
	return NULL;
}

/* "a step takes 77.7 s, by phase not known: several threads …", or NULL */
static const char *name_unknown_phases(const struct panel *panel)
{
	const char *doubt = tsi_panel_doubt(panel, tsi_budget_lines[BUDGET_HOST_FORWARD].id);

	if (!doubt || !tsi_panel_has(panel, "step_time.mean_ns"))
		return NULL;
	return tsi_panel_print(panel, "a step takes %s; its phases are not known: %s",
			       tsi_panel_number(panel, "step_time.mean_ns"), doubt);
}

/* The state of what was read in one sentence, where no finding is the answer. */
static const char *name_state(const struct panel *panel)
{
	const char *text = name_good_use(panel);

	if (!text)
		text = name_host_operator(panel);
	if (!text && (text = name_largest_line(panel)))
		tsi_panel_append(panel, &text, "%s", name_next_operator(panel));
	if (!text)
		text = name_unknown_phases(panel);
	return text ? text : name_figure(panel);
}

/* Rules that cannot apply to a file about memory do not count. */
static const char *name_no_findings(const struct panel *panel)
{
	const struct tscope_diagnosis *diagnosis = panel->diagnosis;
	size_t judging = judging_count(diagnosis);
	size_t missed = tscope_diagnosis_not_evaluated_count(diagnosis);

	if (!panel->memory)
		return tsi_panel_print(panel, "no findings; %zu rule%s had no data", missed,
				       missed == 1 ? "" : "s");
	if (judging == 0)
		return shown_count(panel) > 0 ? "no rule could be evaluated"
					      : "no rule applies to this kind of file";
	return tsi_panel_print(panel, "no findings; %zu rule%s evaluated", judging,
			       judging == 1 ? "" : "s");
}

/* Does the finding state what name_largest_line() would? */
static bool states_largest_line(const struct panel *panel, const struct tscope_finding *finding)
{
	static const struct {
		const char *rule;
		size_t line;
	} stated[] = {
		{ "TRACE.UNRECORDED", BUDGET_UNATTRIBUTED },
		{ "EFFICIENCY.RECOVERABLE", BUDGET_HOST_OTHER },
	};
	int64_t largest_ns;
	size_t largest = find_largest_line(panel, &largest_ns);

	for (size_t i = 0; i < TSI_COUNT_OF(stated); i++)
		if (stated[i].line == largest && strcmp(stated[i].rule, finding->rule->id) == 0)
			return true;
	return false;
}

/* Before findings that cost no time, or in place of them. */
static void put_state(const struct panel *panel)
{
	size_t count = tscope_diagnosis_finding_count(panel->diagnosis);
	struct tscope_finding first = { 0 };
	const char *state = name_state(panel);

	if (count > 0)
		first = tscope_diagnosis_finding(panel->diagnosis, 0);
	if (count > 0 && (first.has_gain || first.severity == TSCOPE_SEVERITY_HIGH || !state ||
			  states_largest_line(panel, &first)))
		return;
	if (state)
		tsi_doc_line(panel->doc, DOC_NOTE, DOC_PLAIN, NULL, "%s", state);
	if (count == 0)
		tsi_doc_line(panel->doc, DOC_NOTE, DOC_GOOD, NULL, "%s", name_no_findings(panel));
}

const char *tsi_verdict_text(const struct panel *panel, const struct tscope_finding *finding)
{
	const char *text = tsi_panel_print(panel, "%s", finding->title);

	if (finding->has_gain && finding->gain_ns > 0 && !finding->is_gain_in_title)
		tsi_panel_append(panel, &text, "; saves %s%s of %s",
				 finding->gain_basis == TSCOPE_GAIN_BOUND ? "up to " : "",
				 tsi_panel_people_int(panel, finding->gain_ns, TSCOPE_UNIT_NS),
				 tsi_panel_number(panel, "step_time.mean_ns"));
	return text;
}

void tsi_put_verdict_line(const struct panel *panel, const struct tscope_finding *finding)
{
	tsi_doc_line(panel->doc, DOC_VERDICT, tsi_severity_tag_tone(finding->severity),
		     tsi_severity_word(finding->severity), "%s", tsi_verdict_text(panel, finding));
}

void tsi_put_verdict_head(const struct panel *panel)
{
	(void)tsi_doc_add(panel->doc, &(struct doc_node){ .kind = DOC_NODE_BREAK });
	put_state(panel);
	if (tscope_diagnosis_finding_count(panel->diagnosis) == 0)
		tsi_put_verdict_doubt(panel);
}

void tsi_put_verdict_doubt(const struct panel *panel)
{
	if (tscope_diagnosis_is_tentative(panel->diagnosis))
		tsi_doc_line(
			panel->doc, DOC_VERDICT, DOC_WARN, "", "tentative: only %s recorded",
			tsi_count_words(panel, "integrity.device_event_count", "device event"));
}

bool tsi_is_first_tentative(const struct panel *panel, size_t index)
{
	size_t first = 0, count = tscope_diagnosis_finding_count(panel->diagnosis);

	while (first < count && !tscope_diagnosis_finding(panel->diagnosis, first).is_tentative)
		first++;
	return first < count && index == first;
}

void tsi_put_first_verdict(const struct panel *panel)
{
	put_state(panel);
	if (tscope_diagnosis_finding_count(panel->diagnosis) > 0) {
		struct tscope_finding first = tscope_diagnosis_finding(panel->diagnosis, 0);

		tsi_put_verdict_line(panel, &first);
	}
}

void tsi_put_verdict(const struct panel *panel)
{
	size_t count = tscope_diagnosis_finding_count(panel->diagnosis);
	size_t tripped = tsi_tripped_count(panel);
	bool is_brief = panel->options->extent == TSCOPE_REPORT_BRIEF;

	tsi_put_verdict_head(panel);
	for (size_t i = 0; i < count && i < VERDICT_LINES; i++) {
		struct tscope_finding finding = tscope_diagnosis_finding(panel->diagnosis, i);

		tsi_put_verdict_line(panel, &finding);
		if (tsi_is_first_tentative(panel, i))
			tsi_put_verdict_doubt(panel);
	}
	if (count > VERDICT_LINES)
		tsi_doc_line(panel->doc, DOC_VERDICT, DOC_PLAIN, "", "and %zu more%s",
			     count - VERDICT_LINES,
			     is_brief                ? ""
			     : panel->options->shown ? ": --show findings"
						     : ", see FINDINGS");
	if (tripped > 0 && !is_brief)
		tsi_doc_line(panel->doc, DOC_TAGGED, DOC_BAD, "GATE",
			     "%zu of %zu tripped, see GATES", tripped, panel->gate_count);
}

void tsi_section_findings(const struct panel *panel)
{
	const struct tscope_diagnosis *diagnosis = panel->diagnosis;
	size_t count = tscope_diagnosis_finding_count(diagnosis);

	if (panel->memory && judging_count(diagnosis) == 0)
		return;
	if (count == 0) {
		tsi_panel_title(panel, DOC_GOOD, NULL, "FINDINGS", "none");
		return;
	}
	tsi_panel_title(panel, tsi_severity_tone(tscope_diagnosis_finding(diagnosis, 0).severity),
			NULL, "FINDINGS", "%s", name_counts(panel));
	for (size_t i = 0; i < count; i++) {
		(void)tsi_doc_add(
			panel->doc,
			&(struct doc_node){ .kind = DOC_NODE_FINDING,
					    .finding = tscope_diagnosis_finding(diagnosis, i) });
	}
}

/* ---- not evaluated ---- */

/*
 * Common part of reasons, without the fact that each rule asked for first: "no overlap.comm_ns: it
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

/* Whether an earlier rule has the same need and so lists this one. */
static bool is_grouped(const struct tscope_diagnosis *diagnosis, size_t index)
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
	const char *ids = "";
	size_t count = 0;

	for (size_t i = first; i < tscope_diagnosis_not_evaluated_count(diagnosis); i++) {
		struct tscope_not_evaluated missed = tscope_diagnosis_not_evaluated(diagnosis, i);

		if (strcmp(need_of(missed.reason), need) == 0)
			tsi_panel_append(panel, &ids, "%s%s", count++ > 0 ? ", " : "",
					 missed.rule->id);
	}
	if (count > 1 && strncmp(need, "needs ", 6) == 0)
		tsi_doc_line(panel->doc, DOC_RULES, DOC_PLAIN, NULL, "%s: need %s", ids, need + 6);
	else
		tsi_doc_line(panel->doc, DOC_RULES, DOC_PLAIN, NULL, "%s: %s", ids, need);
}

void tsi_section_not_evaluated(const struct panel *panel)
{
	const struct tscope_diagnosis *diagnosis = panel->diagnosis;
	bool lists = panel->options->verbose || panel->options->shown;
	size_t count = shown_count(panel);

	if (count == 0)
		return;
	tsi_panel_title(panel, DOC_FAINT, NULL, "NOT EVALUATED", "%zu rule%s had no data%s", count,
			count == 1 ? "" : "s", lists ? "" : "; -v lists them");
	for (size_t i = 0; lists && i < tscope_diagnosis_not_evaluated_count(diagnosis); i++)
		if (is_shown(panel, i) && !is_grouped(diagnosis, i))
			put_group(panel, i);
}

void tsi_section_gates(const struct panel *panel)
{
	size_t count = panel->gate_count, tripped = tsi_tripped_count(panel);
	size_t open = tsi_gate_count(panel->gates, count, GATE_UNDECIDED);
	const char *summary = tsi_panel_print(panel, "%zu of %zu tripped", tripped, count);

	if (count == 0)
		return;
	if (open > 0)
		tsi_panel_append(panel, &summary, ", %zu inconclusive", open);
	tsi_panel_title(panel,
			tripped > 0 ? DOC_BAD
			: open > 0  ? DOC_WARN
				    : DOC_GOOD,
			NULL, "GATES", "%s", tripped + open > 0 ? summary : "all held");
	for (size_t i = 0; i < count; i++)
		(void)tsi_doc_add(panel->doc, &(struct doc_node){ .kind = DOC_NODE_GATE,
								  .gate = &panel->gates[i] });
}
