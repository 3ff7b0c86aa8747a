/* SPDX-License-Identifier: MIT */
/* More than two runs: where their figures changed, and a row for each. */
#include "analyze/lookup.h"
#include "report/change_words.h"
#include "report/section.h"

#include <inttypes.h>

enum {
	ROWS_ON_SCREEN = 8,
	CHANGES_LINES = 13, /* room for the table's head, and for what changed */
};

/* "step time", and the unit of its levels. */
static const struct figure_words {
	const char *figure, *words;
	enum tscope_unit unit;
} figures[] = {
	{ "step_ns", "the mean step", TSCOPE_UNIT_NS },
	{ "mfu", "the MFU", TSCOPE_UNIT_RATIO },
	{ "exposed_comm_ns", "exposed communication", TSCOPE_UNIT_NS },
	{ "peak_bytes", "the memory peak", TSCOPE_UNIT_BYTES },
};

/* NULL: a fact, that has words of its own only. */
static const struct figure_words *find_words(const struct change *row)
{
	for (size_t i = 0; i < TSI_COUNT_OF(figures); i++)
		if (tsi_change_is(row, "figure", figures[i].figure))
			return &figures[i];
	return NULL;
}

static const struct figure_words *find_fact_words(const struct change *row,
						  struct figure_words *words)
{
	size_t analyzer, fact;
	const char *id = tsi_change_text(row, "figure");
	const struct tscope_fact_def *def = tsi_find_fact(id, &analyzer, &fact);

	*words = (struct figure_words){ id, id, def ? def->unit : TSCOPE_UNIT_NUMBER };
	return words;
}

/* A level is a mean, which whole units show as well. */
static const char *name_level(const struct panel *panel, const struct change *row,
			      const char *column, enum tscope_unit unit)
{
	struct tscope_value level = tsi_change_cell(row, column);

	if (level.kind == TSCOPE_VALUE_REAL && unit != TSCOPE_UNIT_RATIO && level.real < 0x1p62 &&
	    level.real > -0x1p62)
		level = (struct tscope_value){ .kind = TSCOPE_VALUE_INT,
					       .integer = (int64_t)level.real };
	return tsi_panel_people(panel, level, unit);
}

/* "the mean step changed with run 151 (runs/151.json): 100.0 ms → 103.0 ms (+3.0 %)" */
static void put_change(const struct panel *panel, const struct change *row)
{
	const struct figure_words *words = find_words(row);
	struct figure_words fact_words;
	struct tscope_value ratio = tsi_change_cell(row, "ratio");

	if (!words)
		words = find_fact_words(row, &fact_words);
	const char *text = tsi_panel_print(
		panel, "%s changed with run %" PRId64 " (%.200s): %s → %s", words->words,
		tsi_change_int(row, "run"), tsi_change_text(row, "path"),
		name_level(panel, row, "before", words->unit),
		name_level(panel, row, "after", words->unit));
	if (ratio.kind == TSCOPE_VALUE_REAL)
		tsi_panel_append(panel, &text, " (%s)", tsi_percent_words(panel, ratio.real, true));
	if (tsi_change_int(row, "earliest") < tsi_change_int(row, "latest"))
		tsi_panel_append(panel, &text,
				 "; run %" PRId64 " to %" PRId64 " with 95 %% confidence",
				 tsi_change_int(row, "earliest"), tsi_change_int(row, "latest"));
	tsi_doc_line(panel->doc, DOC_CHANGE, DOC_WARN, "CHANGE", "%s", text);
}

/* On one screen facts of a trend that are not in figures[] are counted, and the first is named. */
static void put_changes(const struct panel *panel, struct change row)
{
	bool is_screen = panel->options->extent == TSCOPE_REPORT_SCREEN;
	struct change first;
	size_t count = 0;

	for (; tsi_change_is_there(&row); row.row++) {
		if (!is_screen || find_words(&row))
			put_change(panel, &row);
		else if (count++ == 0)
			first = row;
	}
	if (count == 1)
		put_change(panel, &first);
	else if (count > 1)
		tsi_doc_line(panel->doc, DOC_CHANGE, DOC_WARN, "CHANGE",
			     "%zu changes of other facts, first %.80s with run %" PRId64
			     "; --full lists them",
			     count, tsi_change_text(&first, "figure"),
			     tsi_change_int(&first, "run"));
}

static void put_runs(const struct panel *panel)
{
	static const struct column columns[] = {
		{ "run", "run", 5 },
		{ "step", "step_ns", 10 },
		{ "+-", "reach_ns", 10 },
		{ "MFU", "mfu", 8 },
		{ "comm", "exposed_comm_ns", 10 },
		{ "peak", "peak_bytes", 10 },
		{ "findings", "finding_count", 10 },
		{ "path", "path", 0 },
	};

	tsi_panel_table(panel, "history.runs", columns, TSI_COUNT_OF(columns));
}

void tsi_put_history(const struct panel *panel)
{
	struct change row = tsi_change_first(panel, "history.changes");
	int64_t runs = tsi_panel_int(panel, "history.run_count");
	bool is_trend = tsi_panel_has(panel, "history.trend_count");

	if (runs == 0)
		return;
	if (!tsi_change_is_there(&row) && runs >= ROWS_ON_SCREEN)
		tsi_doc_line(panel->doc, DOC_CHANGE, DOC_PLAIN, "HISTORY",
			     "no lasting change in %" PRId64 " runs; below, %s", runs,
			     is_trend ? "the newest against the trend" : "first against last");
	else if (!tsi_change_is_there(&row))
		tsi_doc_line(panel->doc, DOC_CHANGE, DOC_PLAIN, "HISTORY",
			     "%" PRId64 " run%s; lasting changes show from 8 runs on", runs,
			     runs == 1 ? "" : "s");
	put_changes(panel, row);
	bool has_room = runs <= ROWS_ON_SCREEN && tsi_screen_left(panel) >= runs + CHANGES_LINES;
	if (panel->options->extent == TSCOPE_REPORT_SCREEN && has_room)
		put_runs(panel);
	else
		tsi_panel_curve(panel, "history.runs", "step_ns", 2);
}

void tsi_section_history(const struct panel *panel)
{
	int64_t runs = tsi_panel_int(panel, "history.run_count");

	if (runs == 0)
		return;
	tsi_panel_title(panel, DOC_GOOD, "history", "HISTORY", "%" PRId64 " runs", runs);
	put_runs(panel);
}
