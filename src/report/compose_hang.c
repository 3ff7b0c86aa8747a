/* SPDX-License-Identifier: MIT */
/*
 * The report of flight-recorder dumps: what was read and what is missing, the verdict, where the
 * ranks stand; in full also the stacks, what waits for what, groups and the last calls.
 */
#include "report/section.h"

#include <inttypes.h>
#include <string.h>

enum { SHOWN_FAILURES = 3 };

static void put_ranks(const struct panel *panel)
{
	static const struct column columns[] = {
		{ "rank", "rank", 6 },          { "role", "role", 10 }, { "state", "state", 11 },
		{ "before end", "age_ns", 12 }, { "call", "call", 0 },
	};

	tsi_panel_title(panel, DOC_FAINT, "hang", "RANKS",
			"the call each rank waits in, or its last one");
	tsi_panel_table(panel, "hang.ranks", columns, TSI_COUNT_OF(columns));
}

static void put_stacks(const struct panel *panel)
{
	static const struct column columns[] = {
		{ "rank", "rank", 6 },
		{ "role", "role", 10 },
		{ "function", "function", 24 },
		{ "place", "place", 0 },
	};

	if (tsi_panel_row_count(panel, "hang.stacks") == 0)
		return;
	tsi_panel_title(panel, DOC_FAINT, "hang", "STACKS", "innermost first");
	tsi_panel_table(panel, "hang.stacks", columns, TSI_COUNT_OF(columns));
}

static void put_waits(const struct panel *panel)
{
	static const struct column columns[] = {
		{ "ranks", "ranks", 12 },
		{ "wait for", "waits_for", 12 },
		{ "in", "call", 0 },
	};

	if (tsi_panel_row_count(panel, "hang.chain") == 0)
		return;
	tsi_panel_title(panel, DOC_FAINT, "hang", "WAITS", "%s", "");
	tsi_panel_table(panel, "hang.chain", columns, TSI_COUNT_OF(columns));
}

static void put_groups(const struct panel *panel)
{
	static const struct column columns[] = {
		{ "rank", "rank", 6 },
		{ "last", "sequence", 8 },
		{ "state", "state", 11 },
		{ "behind", "behind_count", 8 },
		{ "completed", "completed", 11 },
		{ "before end", "age_ns", 12 },
		{ "group", "group", 0 },
	};

	tsi_panel_title(panel, DOC_FAINT, "hang", "GROUPS", "the last collective of each rank");
	tsi_panel_table(panel, "hang.groups", columns, TSI_COUNT_OF(columns));
}

static void put_latest(const struct panel *panel)
{
	static const struct column slow[] = {
		{ "duration", "duration_ns", 12 },
		{ "rank", "rank", 6 },
		{ "call", "call", 0 },
	};
	static const struct column latest[] = {
		{ "before end", "before_end_ns", 12 },
		{ "rank", "rank", 6 },
		{ "state", "state", 11 },
		{ "call", "call", 0 },
	};

	if (tsi_panel_row_count(panel, "hang.slowest") > 0) {
		tsi_panel_title(panel, DOC_FAINT, "hang", "SLOWEST", "completed calls");
		tsi_panel_table(panel, "hang.slowest", slow, TSI_COUNT_OF(slow));
	}
	if (tsi_panel_row_count(panel, "hang.latest") > 0) {
		tsi_panel_title(panel, DOC_FAINT, "hang", "LATEST",
				"the last calls of all ranks, by their hosts' clocks");
		tsi_panel_table(panel, "hang.latest", latest, TSI_COUNT_OF(latest));
	}
}

/* ---- head ---------------------------------------------------------------------------------- */

/* "8 dumps · pickle · version 2.9 · 3 groups · 16,000 calls" */
static void put_outline(const struct panel *panel, const struct tscope_hang *hang)
{
	struct doc_line *line = tsi_doc_items(panel->doc, DOC_OUTLINE, DOC_PLAIN, NULL);

	tsi_panel_count(panel, line, tsi_panel_int(panel, "hang.dump_count"), "dump", "dumps");
	for (size_t i = 0; i < tscope_hang_input_count(hang); i++) {
		struct tscope_hang_input input = tscope_hang_input(hang, i);

		if (input.failure)
			continue;
		tsi_doc_item(panel->doc, line, "%s", input.form);
		if (*input.version)
			tsi_doc_item(panel->doc, line, "version %s", input.version);
		break;
	}
	tsi_panel_count(panel, line, tsi_panel_int(panel, "hang.group_count"), "group", "groups");
	tsi_panel_count(panel, line, tsi_panel_int(panel, "hang.call_count"), "call", "calls");
}

static void put_losses(const struct panel *panel, const struct tscope_hang *hang)
{
	const char *missing = tsi_panel_text(panel, "hang.missing_ranks");
	int64_t lost = tsi_panel_int(panel, "hang.lost_count");
	size_t shown = 0;

	if (*missing)
		tsi_panel_loss(panel, "MISSING",
			       "no readable dump of rank%s %.200s (of %" PRId64 ")",
			       tsi_panel_int(panel, "hang.missing_count") == 1 ? "" : "s", missing,
			       tsi_panel_int(panel, "hang.world_size"));
	for (size_t i = 0; i < tscope_hang_input_count(hang) && shown < SHOWN_FAILURES; i++) {
		struct tscope_hang_input input = tscope_hang_input(hang, i);

		if (input.failure)
			tsi_panel_loss(panel, "DAMAGED", "%s: %s", input.path,
				       input.failure->message);
		shown += input.failure != NULL;
	}
	if (lost > 0)
		tsi_doc_line(panel->doc, DOC_REMARK, DOC_INFO, "note",
			     "the buffer of %" PRId64 " dump%s lost its beginning: older calls are "
			     "not known",
			     lost, lost == 1 ? "" : "s");
}

/* How many calls the recorder keeps; with none it is off, as it is by default. */
#define BUFFER_SIZE "TORCH_FR_BUFFER_SIZE (before PyTorch 2.8: TORCH_NCCL_TRACE_BUFFER_SIZE)"

/* Nothing to blame anyone for. */
static void put_no_hang(const struct panel *panel)
{
	const char *kind = tsi_panel_text(panel, "hang.kind");
	const char *call = tsi_panel_text(panel, "hang.call");
	int64_t ranks = tsi_panel_int(panel, "hang.dump_count");
	int64_t missing = tsi_panel_int(panel, "hang.missing_count");

	(void)tsi_doc_add(panel->doc, &(struct doc_node){ .kind = DOC_NODE_BREAK });
	if (tsi_panel_int(panel, "hang.call_count") == 0)
		tsi_doc_line(panel->doc, DOC_NOTE, DOC_WARN, NULL,
			     "these dumps hold no call: was the recorder on? " BUFFER_SIZE);
	else if (strcmp(kind, "none") == 0 && missing > 0)
		tsi_doc_line(panel->doc, DOC_NOTE, DOC_WARN, NULL,
			     "all calls of %" PRId64 " rank%s are complete; what the other %" PRId64
			     " called is not known",
			     ranks, ranks == 1 ? "" : "s", missing);
	else if (strcmp(kind, "none") == 0)
		tsi_doc_line(panel->doc, DOC_NOTE, DOC_GOOD, NULL,
			     "nothing is wrong: all calls of %" PRId64 " rank%s are complete",
			     ranks, ranks == 1 ? "" : "s");
	else if (strcmp(kind, "in_flight") == 0)
		tsi_doc_line(
			panel->doc, DOC_NOTE, DOC_GOOD, NULL,
			"no hang: the dumps were written %s after the last calls; %s was under "
			"way",
			tsi_panel_number(panel, "hang.age_ns"), call);
	else
		tsi_doc_line(panel->doc, DOC_NOTE, DOC_WARN, NULL,
			     "ranks %s wait in %s, and these dumps do not show why: collect those "
			     "of all ranks%s",
			     tsi_panel_text(panel, "hang.waiting_ranks"), call,
			     tsi_panel_int(panel, "hang.lost_count") ? ", and raise " BUFFER_SIZE
								     : "");
}

static void put_verdict(const struct panel *panel)
{
	if (tscope_diagnosis_finding_count(panel->diagnosis) == 0)
		put_no_hang(panel);
	else if (panel->options->extent == TSCOPE_REPORT_SCREEN)
		tsi_put_screen(panel);
	else
		tsi_put_verdict(panel);
}

void tsi_section_hang(const struct panel *panel)
{
	put_ranks(panel);
	put_stacks(panel);
	put_waits(panel);
	put_groups(panel);
	put_latest(panel);
}

void tsi_compose_hang(struct doc *doc, const struct tscope_hang_report *report,
		      const struct tscope_report_options *options)
{
	struct panel panel = tsi_panel(doc, report->analysis, options);

	panel.gates = report->gates;
	panel.gate_count = report->gate_count;
	panel.diagnosis = report->diagnosis;
	tsi_doc_name(doc, DOC_PART, NULL, tscope_hang_path(report->hang));
	put_outline(&panel, report->hang);
	put_losses(&panel, report->hang);
	put_verdict(&panel);
	if (options->extent == TSCOPE_REPORT_SCREEN) {
		(void)tsi_put_if_room(&panel, put_ranks, tsi_screen_left(&panel));
	} else if (options->extent == TSCOPE_REPORT_FULL) {
		tsi_section_hang(&panel);
		tsi_section_findings(&panel);
	}
	tsi_section_gates(&panel);
	if (options->extent == TSCOPE_REPORT_SCREEN) {
		(void)tsi_doc_add(doc, &(struct doc_node){ .kind = DOC_NODE_BREAK });
		tsi_doc_line(doc, DOC_NOTE, DOC_FAINT, NULL, "more: --full, --format json");
	}
}
