/* SPDX-License-Identifier: MIT */
/*
 * The default report: the answer on one screen. Where the step goes, the findings that win most,
 * each with what to do and where to look, and how to see the rest.
 *
 * What is added is weighed against the lines that are left, first all titles, then the details of
 * the first finding, then those of the next.
 */
#include "report/section.h"

#include <inttypes.h>
#include <string.h>

enum {
	SCREEN_LINES = 24,
	TEXT_COLUMNS = 64, /* of a line of 80, behind a tag, before a word that does not fit */
	MAX_FINDINGS = 3,
	MAX_METERS = 4,
	LAST_LINES = 2, /* how to see more, and the blank above */
};

static int lines_of(const char *text)
{
	return (int)(1 + strlen(text) / TEXT_COLUMNS);
}

static int lines_of_items(const struct doc_line *line)
{
	size_t columns = 0;

	for (size_t i = 0; i < line->item_count; i++)
		columns += strlen(line->items[i].text ? line->items[i].text : "") + 3;
	return (int)(1 + columns / TEXT_COLUMNS);
}

/* Lines that stand above. */
static int lines_used(const struct doc *doc)
{
	int count = 0;

	for (const struct doc_node *node = doc->first; node; node = node->next) {
		/* Several reports follow one another: each has a screen of its own. */
		if (node->kind == DOC_NODE_NAME && node->name.place == DOC_PART)
			count = 0;
		if (node->kind != DOC_NODE_LINE)
			count += node->kind == DOC_NODE_EXPLANATION ? 2 : 1;
		else if (node->line.text)
			count += lines_of(node->line.text);
		else
			count += lines_of_items(&node->line);
	}
	return count;
}

/* ---- findings ---- */

/* What a finding says beside its title, and which of it there is room for. */
struct screen_finding {
	struct tscope_finding finding;
	const char *detail, *advice, *place; /* NULL: none, or no room */
};

/* The first thing to do: the rest stands in the whole report. */
static const char *first_step(const struct panel *panel, const char *advice)
{
	size_t length = strcspn(advice, ";");

	for (size_t i = 0; i + 1 < length; i++)
		if (advice[i] == '.' && advice[i + 1] == ' ')
			length = i;
	return *advice == '\0' ? NULL : tsi_panel_print(panel, "-> %.*s", (int)length, advice);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "at ts 1234567.890 for 619 ms in rank0.json": µs as in the file */
static const char *name_place(const struct panel *panel, const struct tscope_finding *finding)
{
	const struct tscope_place *place = finding->places;

	if (finding->place_count == 0)
		return NULL;
	const char *text =
		tsi_panel_print(panel, "at ts %" PRId64 ".%03d for %s", place->start_ns / 1000,
				(int)(place->start_ns % 1000),
				tsi_panel_people_int(panel, place->duration_ns, TSCOPE_UNIT_NS));
	if (panel->report && *place->file != '\0')
		tsi_panel_append(panel, &text, " in %s", base_name(place->file));
	return text;
}

/* Keeps a text if there is room for it. */
static void grant(const char **text, int *left)
{
	int lines = *text ? lines_of(*text) : 0;

	if (lines > *left)
		*text = NULL;
	else
		*left -= lines;
}

static void put_detail(const struct panel *panel, const char *text)
{
	if (text)
		tsi_doc_line(panel->doc, DOC_VERDICT, DOC_PLAIN, "", "%s", text);
}

static void put_findings(const struct panel *panel, int left)
{
	size_t count = tscope_diagnosis_finding_count(panel->diagnosis), shown;
	struct screen_finding rows[MAX_FINDINGS];

	left -= count > MAX_FINDINGS;
	for (shown = 0; shown < count && shown < MAX_FINDINGS; shown++) {
		struct screen_finding *row = &rows[shown];
		row->finding = tscope_diagnosis_finding(panel->diagnosis, shown);
		row->advice = first_step(panel, row->finding.advice);
		row->detail = *row->finding.detail ? row->finding.detail : NULL;
		row->place = name_place(panel, &row->finding);
		left -= lines_of(tsi_verdict_text(panel, &row->finding));
	}
	for (size_t i = 0; i < shown; i++) {
		grant(&rows[i].advice, &left);
		grant(&rows[i].detail, &left);
		grant(&rows[i].place, &left);
	}
	for (size_t i = 0; i < shown; i++) {
		tsi_put_verdict_line(panel, &rows[i].finding);
		put_detail(panel, rows[i].detail);
		put_detail(panel, rows[i].place);
		put_detail(panel, rows[i].advice);
	}
	if (count > shown)
		tsi_doc_line(panel->doc, DOC_VERDICT, DOC_PLAIN, "",
			     "and %zu more: --show findings", count - shown);
}

/* ---- where the step goes ---- */

static const struct part budget_lines[] = {
	{ "compute", "budget.compute_ns", DOC_GOOD },
	{ "exposed comm", "budget.exposed_comm_ns", DOC_WARN },
	{ "exposed copy", "budget.exposed_copy_ns", DOC_WARN },
	{ "data stall", "budget.data_stall_ns", DOC_BAD },
	{ "sync stall", "budget.sync_stall_ns", DOC_BAD },
	{ "launch stall", "budget.launch_stall_ns", DOC_BAD },
	{ "device gap", "budget.device_gap_ns", DOC_BAD },
	{ "unattributed", "budget.unattributed_ns", DOC_BAD },
	{ "data", "budget.host.data_ns", DOC_BAD },
	{ "forward", "budget.host.forward_ns", DOC_GOOD },
	{ "backward", "budget.host.backward_ns", DOC_GOOD },
	{ "optimizer", "budget.host.optimizer_ns", DOC_GOOD },
	{ "comm", "budget.host.comm_ns", DOC_WARN },
	{ "other", "budget.host.other_ns", DOC_PLAIN },
};

/* The largest lines of the budget, largest first; returns how many. */
static size_t find_largest(const struct panel *panel, int64_t least_ns,
			   const struct part *largest[MAX_METERS])
{
	size_t count = 0;

	for (size_t i = 0; i < TSI_COUNT_OF(budget_lines); i++) {
		int64_t own_ns = tsi_panel_int(panel, budget_lines[i].id);
		size_t at = count;
		if (own_ns <= least_ns)
			continue;
		while (at > 0 && own_ns > tsi_panel_int(panel, largest[at - 1]->id))
			at--;
		if (at == MAX_METERS)
			continue;
		count += count < MAX_METERS;
		memmove(&largest[at + 1], &largest[at], (count - at - 1) * sizeof(*largest));
		largest[at] = &budget_lines[i];
	}
	return count;
}

static void put_budget(const struct panel *panel, const struct part *const *largest, size_t count)
{
	struct whole whole = { tsi_panel_int(panel, "budget.wall_ns"), 0,
			       tsi_panel_int(panel, "budget.step_count") };
	int64_t mean_ns = tsi_mean_of(whole.value, whole.count);

	tsi_doc_line(panel->doc, DOC_CAPTION, DOC_FAINT, NULL,
		     whole.count > 1 ? "where a step of %s goes, mean of %" PRId64
				     : "where the step of %s goes",
		     tsi_panel_people_int(panel, mean_ns, TSCOPE_UNIT_NS), whole.count);
	for (size_t i = 0; i < count; i++)
		tsi_panel_parts(panel, &whole, largest[i], 1);
}

int tsi_screen_left(const struct panel *panel)
{
	int gates = panel->gate_count > 0 ? (int)panel->gate_count + 2 : 0;

	return SCREEN_LINES - LAST_LINES - gates - lines_used(panel->doc);
}

void tsi_put_screen(const struct panel *panel)
{
	const struct part *largest[MAX_METERS];
	int64_t wall_ns = tsi_panel_int(panel, "budget.wall_ns");
	size_t meters = wall_ns > 0 ? find_largest(panel, wall_ns / 100, largest) : 0;
	int left = SCREEN_LINES - LAST_LINES - lines_used(panel->doc);

	left -= meters > 0 ? (int)meters + 2 : 0;
	left -= panel->gate_count > 0 ? (int)panel->gate_count + 2 : 0;
	tsi_put_verdict_head(panel);
	put_findings(panel, left - 1);
	if (meters > 0)
		put_budget(panel, largest, meters);
}

void tsi_put_way_on(const struct panel *panel)
{
	(void)tsi_doc_add(panel->doc, &(struct doc_node){ .kind = DOC_NODE_BREAK });
	tsi_doc_line(panel->doc, DOC_NOTE, DOC_FAINT, NULL, "%s",
		     "more: --full, --show kernels,operators,…, --format json");
}
