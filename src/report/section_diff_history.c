/* SPDX-License-Identifier: MIT */
/* More than two runs: where their figures changed, and a row for each. */
#include "report/change_words.h"
#include "report/section.h"

#include <inttypes.h>
#include <string.h>

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
	const struct figure_words *words = figures;
	struct tscope_value ratio = tsi_change_cell(row, "ratio");

	for (size_t i = 0; i < TSI_COUNT_OF(figures); i++)
		if (tsi_change_is(row, "figure", figures[i].figure))
			words = &figures[i];
	const char *text = tsi_panel_print(
		panel, "%s changed with run %" PRId64 " (%.200s): %s → %s", words->words,
		tsi_change_int(row, "run"), tsi_change_text(row, "path"),
		name_level(panel, row, "before", words->unit),
		name_level(panel, row, "after", words->unit));
	if (ratio.kind == TSCOPE_VALUE_REAL)
		tsi_panel_append(panel, &text, " (%s)", tsi_percent_words(panel, ratio.real, true));
	tsi_doc_line(panel->doc, DOC_CHANGE, DOC_WARN, "CHANGE", "%s", text);
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

	if (runs == 0)
		return;
	if (!tsi_change_is_there(&row))
		tsi_doc_line(panel->doc, DOC_CHANGE, DOC_PLAIN, "HISTORY",
			     runs >= ROWS_ON_SCREEN ? "no lasting change in %" PRId64
						      " runs; below, first against last"
						    : "%" PRId64
						      " runs; 8 show where figures change for good",
			     runs);
	for (; tsi_change_is_there(&row); row.row++)
		put_change(panel, &row);
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
