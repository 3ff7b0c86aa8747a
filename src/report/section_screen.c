/* SPDX-License-Identifier: MIT */
/*
 * The default report: the answer on one screen. The findings that win most, each with what to do
 * and where to look, where the step goes or what fills the memory, and how to see the rest.
 *
 * Lines are counted as a terminal shows them: first all titles, then the details of the first
 * finding, then those of the next, as far as there is room.
 */
#include "report/section.h"
#include "report/text_nodes.h"
#include "run/file_name.h"

#include <inttypes.h>
#include <string.h>

enum {
	SCREEN_LINES = 24,
	LAST_LINES = 2,      /* how to see more, and the blank above */
	GATE_HEAD_LINES = 2, /* the title, and the blank above */
	MAX_FINDINGS = 3,
	MAX_METERS = 4,
	MAX_ROWS = 6,
	LONG_ADVICE = 140, /* bytes: two lines */
};

static int lines_from(const struct panel *panel, const struct doc_node *node)
{
	int count = 0;

	for (; node; node = node->next)
		count += tsi_text_lines(node, panel->options);
	return count;
}

int tsi_screen_left(const struct panel *panel)
{
	const struct doc *doc = panel->doc;
	int left =
		SCREEN_LINES - LAST_LINES - lines_from(panel, doc->part ? doc->part : doc->first);

	if (panel->gate_count > 0)
		left -= GATE_HEAD_LINES;
	for (size_t i = 0; i < panel->gate_count; i++)
		left -= lines_from(panel, &(struct doc_node){ .kind = DOC_NODE_GATE,
							      .gate = &panel->gates[i] });
	return left;
}

bool tsi_put_if_room(const struct panel *panel, void (*build)(const struct panel *panel), int left)
{
	struct doc_node *last = panel->doc->last;
	struct panel part = *panel;

	for (part.top = MAX_ROWS; last && part.top > 0; part.top--) {
		build(&part);
		if (lines_from(panel, last->next) <= left)
			return true;
		tsi_doc_cut(panel->doc, last);
	}
	return false;
}

/* ---- findings ---- */

/* Lines of a finding below its title, and those for which there is room. */
struct screen_finding {
	struct tscope_finding finding;
	const char *detail, *advice, *place; /* NULL: none, or no room */
};

/* The first sentence, of a long one as many of its parts as fit: all of it is in the findings. */
static const char *first_step(const struct panel *panel, const char *advice)
{
	const char *end = strstr(advice, ". ");
	size_t length = end ? (size_t)(end - advice) : strlen(advice), fitting = 0;

	for (size_t i = 0; length > LONG_ADVICE && i < LONG_ADVICE; i++)
		if (advice[i] == ';')
			fitting = i;
	if (fitting > 0)
		length = fitting;
	return *advice == '\0' ? NULL : tsi_panel_print(panel, "-> %.*s", (int)length, advice);
}

/* The first part of the details, which names the culprit, where there is no room for all. */
static const char *first_part(const struct panel *panel, const char *detail)
{
	return tsi_panel_print(panel, "%.*s", (int)strcspn(detail, ";"), detail);
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
		tsi_panel_append(panel, &text, " in %s", tsi_base_name(place->file));
	return text;
}

static struct doc_node detail_node(const char *text)
{
	return (struct doc_node){ .kind = DOC_NODE_LINE,
				  .line = { .role = DOC_VERDICT, .tag = "", .text = text } };
}

/* Keeps a text if there is room for it. */
static void grant(const struct panel *panel, const char **text, int *left)
{
	const struct doc_node node = detail_node(*text);
	int lines = *text ? tsi_text_lines(&node, panel->options) : 0;

	if (lines > *left)
		*text = NULL;
	else
		*left -= lines;
}

static void put_detail(const struct panel *panel, const char *text)
{
	const struct doc_node node = detail_node(text);

	if (text)
		(void)tsi_doc_add(panel->doc, &node);
}

/* So little that nobody would begin with it: findings before it have claimed the rest. */
static bool wins_little(const struct panel *panel, const struct tscope_finding *finding)
{
	return finding->has_gain && finding->gain_ns > 0 &&
	       finding->severity == TSCOPE_SEVERITY_LOW &&
	       finding->gain_ns < tsi_panel_int(panel, "step_time.mean_ns") / 100;
}

/* The findings that there is room for, but one at least; returns how many. */
static size_t choose_findings(const struct panel *panel, struct screen_finding rows[MAX_FINDINGS],
			      int *left)
{
	size_t count = tscope_diagnosis_finding_count(panel->diagnosis), shown = 0;

	*left -= count > 1; /* "and 3 more" */
	for (size_t i = 0; i < count && shown < MAX_FINDINGS; i++) {
		struct screen_finding *row = &rows[shown];
		row->finding = tscope_diagnosis_finding(panel->diagnosis, i);
		if (shown > 0 && wins_little(panel, &row->finding))
			continue;
		row->advice = first_step(panel, row->finding.advice);
		row->detail = *row->finding.detail ? row->finding.detail : NULL;
		row->place = name_place(panel, &row->finding);
		const struct doc_node node = detail_node(tsi_verdict_text(panel, &row->finding));
		int lines = tsi_text_lines(&node, panel->options);
		if (shown > 0 && lines > *left)
			break;
		*left -= lines;
		shown++;
	}
	*left += count > 1 && count == shown;
	for (size_t i = 0; i < shown; i++) {
		const char *detail = rows[i].detail;
		grant(panel, &rows[i].advice, left);
		grant(panel, &rows[i].detail, left);
		if (detail && !rows[i].detail) {
			rows[i].detail = first_part(panel, detail);
			grant(panel, &rows[i].detail, left);
		}
		grant(panel, &rows[i].place, left);
	}
	return shown;
}

static void put_findings(const struct panel *panel, int left)
{
	size_t count = tscope_diagnosis_finding_count(panel->diagnosis);
	struct screen_finding rows[MAX_FINDINGS];

	left -= tscope_diagnosis_is_tentative(panel->diagnosis);
	size_t shown = choose_findings(panel, rows, &left);
	for (size_t i = 0; i < shown; i++) {
		tsi_put_verdict_line(panel, &rows[i].finding);
		if (tsi_is_first_tentative(panel, i))
			tsi_put_verdict_doubt(panel);
		put_detail(panel, rows[i].detail);
		put_detail(panel, rows[i].place);
		put_detail(panel, rows[i].advice);
	}
	if (count > shown)
		tsi_doc_line(panel->doc, DOC_VERDICT, DOC_PLAIN, "",
			     "and %zu more: --show findings", count - shown);
}

/* ---- where the step goes ---- */

/* The largest lines of the budget, largest first; returns how many. */
static size_t find_largest(const struct panel *panel, int64_t least_ns,
			   const struct part *largest[MAX_METERS])
{
	size_t count = 0;

	for (size_t i = 0; i < BUDGET_LINE_COUNT; i++) {
		int64_t own_ns = tsi_panel_int(panel, tsi_budget_lines[i].id);
		size_t at = count;
		if (own_ns <= least_ns)
			continue;
		while (at > 0 && own_ns > tsi_panel_int(panel, largest[at - 1]->id))
			at--;
		if (at == MAX_METERS)
			continue;
		count += count < MAX_METERS;
		memmove(&largest[at + 1], &largest[at], (count - at - 1) * sizeof(*largest));
		largest[at] = &tsi_budget_lines[i];
	}
	return count;
}

static void put_budget(const struct panel *panel, const struct part *const *largest, size_t count)
{
	struct whole whole = { tsi_panel_int(panel, "budget.wall_total_ns"), 0,
			       tsi_panel_int(panel, "budget.step_count") };
	struct doc_node *last = panel->doc->last;

	tsi_doc_line(panel->doc, DOC_CAPTION, DOC_FAINT, NULL, "%s", tsi_budget_words(panel));
	int left = tsi_screen_left(panel);
	if (left <= 0) {
		if (last)
			tsi_doc_cut(panel->doc, last);
		return;
	}
	if (left < (int)count)
		count = (size_t)left;
	for (size_t i = 0; i < count; i++)
		tsi_panel_parts(panel, &whole, largest[i], 1);
}

static void put_iterations(const struct panel *panel)
{
	tsi_doc_line(panel->doc, DOC_CAPTION, DOC_FAINT, NULL, "iterations by phase%s",
		     tsi_inference_part(panel));
	tsi_put_phases(panel);
}

void tsi_put_screen(const struct panel *panel)
{
	const struct part *largest[MAX_METERS];
	int64_t wall_ns = tsi_panel_int(panel, "budget.wall_total_ns");
	size_t meters = wall_ns > 0 ? find_largest(panel, wall_ns / 100, largest) : 0;
	int phases = tsi_phase_lines(panel);

	tsi_put_verdict_head(panel);
	put_findings(panel, tsi_screen_left(panel) - (meters > 0 ? (int)meters + 2 : 0) -
				    (phases > 0 ? phases + 2 : 0));
	if (phases > 0)
		(void)tsi_put_if_room(panel, put_iterations, tsi_screen_left(panel));
	if (meters > 0)
		put_budget(panel, largest, meters);
}

void tsi_put_way_on(const struct panel *panel, const char *sections)
{
	(void)tsi_doc_add(panel->doc, &(struct doc_node){ .kind = DOC_NODE_BREAK });
	tsi_doc_line(panel->doc, DOC_NOTE, DOC_FAINT, NULL,
		     "more: --full, --show %s,…, --format json", sections);
}

/* ---- files about memory ---- */

/* Room for what fills the memory: its title, a few parts, the first sites. */
enum { MEMORY_LINES = 11 };

/* "984 MiB reserved · inactive 560 MiB (56.9 %) · largest free block 56.0 MiB" */
static void put_fragmentation(const struct panel *panel)
{
	struct doc_line *line;

	if (!tsi_panel_has(panel, "snapshot.reserved_bytes"))
		return;
	line = tsi_doc_items(panel->doc, DOC_FIGURES, DOC_PLAIN, NULL);
	tsi_doc_item(panel->doc, line, "%s reserved at the end",
		     tsi_panel_number(panel, "snapshot.reserved_bytes"));
	tsi_doc_item(panel->doc, line, "%s inactive in split segments",
		     tsi_panel_number(panel, "snapshot.inactive_split_bytes"));
	tsi_doc_item(panel->doc, line, "largest free block %s",
		     tsi_panel_number(panel, "snapshot.largest_free_bytes"));
}

static void put_snapshot(const struct panel *panel)
{
	tsi_section_snapshot_peak(panel);
	put_fragmentation(panel);
}

void tsi_put_memory_screen(const struct panel *panel)
{
	static void (*const builders[])(const struct panel *) = {
		[TSCOPE_MEMORY_SNAPSHOT] = put_snapshot,
		[TSCOPE_MEMORY_TIMELINE] = tsi_section_memory_timeline,
		[TSCOPE_MEMORY_STATS] = tsi_section_memory_stats,
		[TSCOPE_MEMORY_TRACKER] = tsi_section_memory_tracker,
		[TSCOPE_MEMORY_HOST] = tsi_section_host_memory_peak,
	};

	tsi_put_verdict_head(panel);
	put_findings(panel, tsi_screen_left(panel) - MEMORY_LINES);
	(void)tsi_put_if_room(panel, builders[tscope_memory_info(panel->memory->memory)->kind],
			      tsi_screen_left(panel));
}
