/* SPDX-License-Identifier: MIT */
/*
 * Sections about what Composer's profiler writes besides the training loop: callbacks, counters
 * (which others write, too), and the ranks' clocks.
 */
#include "report/section.h"

#include <inttypes.h>
#include <string.h>

/* ---- callbacks ---- */

/* "in no step: 2 evaluations of 1.20 s in all" */
static void put_evaluations(const struct panel *panel)
{
	int64_t count = tsi_panel_int(panel, "callbacks.evaluation_count");

	if (count == 0)
		return;
	tsi_doc_note(panel->doc, "in no step: %" PRId64 " evaluation%s, %s", count,
		     count == 1 ? "" : "s", tsi_panel_number(panel, "callbacks.evaluation_ns"));
}

void tsi_section_callbacks(const struct panel *panel)
{
	static const struct figure figures[] = {
		{ "different", "callbacks.name_count" },
		{ "calls", "callbacks.call_count" },
		{ "in all", "callbacks.total_ns" },
		{ "the profiler's own per step", "callbacks.profiler_ns_per_step" },
	};
	static const struct column columns[] = {
		{ "callback", "name", 0 },    { "kind", "kind", 12 },
		{ "calls", "call_count", 8 }, { "per step", "step_ns", 11 },
		{ "share", "step_ratio", 9 }, { "longest", "max_ns", 11 },
		{ "total", "total_ns", 11 },
	};
	bool has_own = tsi_panel_int(panel, "callbacks.profiler_ns_per_step") > 0;
	const char *title = "";

	if (tsi_panel_row_count(panel, "callbacks.by_name") == 0)
		return;
	if (tsi_panel_has(panel, "callbacks.step_ratio"))
		title = tsi_panel_print(panel, "%s of a step, %s",
					tsi_panel_number(panel, "callbacks.in_step_ns_per_step"),
					tsi_panel_number(panel, "callbacks.step_ratio"));
	tsi_panel_title(panel, DOC_INFO, "callbacks", "CALLBACKS", "%s", title);
	tsi_panel_figures(panel, figures, TSI_COUNT_OF(figures) - !has_own);
	put_evaluations(panel);
	tsi_panel_table(panel, "callbacks.by_name", columns, TSI_COUNT_OF(columns));
}

/* ---- counters ---- */

enum { VALUE_WIDTH = 11, STEP_WIDTH = 9, MIN_NAME_WIDTH = 24 };

/* The first column is that of names; those of values are named as in the table. */
static const struct doc_column counter_columns[] = {
	{ "counter", TSCOPE_UNIT_TEXT, .least = MIN_NAME_WIDTH },
	{ "mean", TSCOPE_UNIT_NUMBER, .width = VALUE_WIDTH },
	{ "most", TSCOPE_UNIT_NUMBER, .width = VALUE_WIDTH },
	{ "in step", TSCOPE_UNIT_NUMBER, .width = STEP_WIDTH },
	{ "least", TSCOPE_UNIT_NUMBER, .width = VALUE_WIDTH },
	{ "last", TSCOPE_UNIT_NUMBER, .width = VALUE_WIDTH },
};
static const char *const counter_names[] = { "", "mean", "max", "max_step", "min", "last" };

/* Each series has a unit of its own. */
static const char *number_of(const struct panel *panel, struct tscope_value value, const char *unit)
{
	bool is_percent = strcmp(unit, "percent") == 0 && value.kind == TSCOPE_VALUE_REAL;

	if (strcmp(unit, "ms") == 0 && value.kind == TSCOPE_VALUE_REAL)
		value.real *= 1e6;
	return tsi_panel_print(panel, "%s%s",
			       tsi_panel_people(panel, value,
						strcmp(unit, "bytes") == 0 ? TSCOPE_UNIT_BYTES
						: strcmp(unit, "ms") == 0  ? TSCOPE_UNIT_NS
									   : TSCOPE_UNIT_NUMBER),
			       is_percent ? " %" : "");
}

/* "memory/swap used_gb"; a series that is named like the end of its counter is not repeated. */
static const char *name_of(const struct panel *panel, const struct table_view *view, size_t row)
{
	const char *counter = tsi_table_text(view, row, "counter"),
		   *series = tsi_table_text(view, row, "series");
	size_t length = strlen(counter), end = strlen(series);

	if (length >= end && strcmp(counter + length - end, series) == 0)
		return counter;
	return tsi_panel_print(panel, "%s %s", counter, series);
}

static void put_counter(const struct panel *panel, struct doc_table *table,
			const struct table_view *view, size_t row)
{
	const char *unit = tsi_table_text(view, row, "unit");
	struct doc_row *shown = tsi_doc_row(panel->doc, table);

	if (!shown)
		return;
	shown->cells[0].text = name_of(panel, view, row);
	for (size_t i = 1; i < TSI_COUNT_OF(counter_names); i++) {
		bool is_step = strcmp(counter_names[i], "max_step") == 0;

		shown->cells[i].value = tsi_table_find(view, row, counter_names[i]);
		shown->cells[i].text = number_of(panel, shown->cells[i].value, is_step ? "" : unit);
	}
}

static void put_counters(const struct panel *panel, const struct table_view *view)
{
	struct doc_table *table =
		tsi_doc_table(panel->doc, counter_columns, TSI_COUNT_OF(counter_columns));
	size_t row = 0;

	if (!table)
		return;
	table->is_tight = true;
	for (; row < view->row_count && row < panel->top; row++)
		put_counter(panel, table, view, row);
	if (row < view->row_count)
		tsi_doc_note(panel->doc, "… and %zu more", view->row_count - row);
}

/* Notes on names that the writer got wrong. */
static void put_counter_remarks(const struct panel *panel, const struct table_view *view)
{
	bool has_factor = false;

	for (size_t row = 0; row < view->row_count; row++)
		has_factor |= tsi_table_find(view, row, "factor").kind != TSCOPE_VALUE_ABSENT;
	if (has_factor)
		tsi_doc_note(panel->doc,
			     "Composer writes bytes ÷ 512 as gb and bytes ÷ 8 as kb: they are "
			     "shown as bytes");
	if (tsi_panel_int(panel, "counters.dropped_count") > 0)
		tsi_doc_note(panel->doc, "the rest does not fit and is not counted");
}

void tsi_section_counters(const struct panel *panel)
{
	struct table_view view = tsi_panel_rows(panel, "counters.by_name");

	if (view.row_count == 0)
		return;
	tsi_panel_title(panel, DOC_INFO, "counters", "COUNTERS", "%zu series · %s values",
			view.row_count, tsi_panel_number(panel, "counters.value_count"));
	put_counter_remarks(panel, &view);
	put_counters(panel, &view);
}

/* ---- clocks ---- */

void tsi_section_clock_sync(const struct panel *panel)
{
	static const struct figure figures[] = {
		{ "steps in common", "clock_sync.step_count" },
		{ "skew of their starts, mean", "clock_sync.mean_step_skew_ns" },
		{ "most", "clock_sync.max_step_skew_ns" },
		{ "error at most", "clock_sync.max_error_ns" },
	};
	static const struct column columns[] = {
		{ "rank", "rank", 8 },
		{ "clock ahead", "offset_ns", 13 },
		{ "by collectives", "collectives_offset_ns", 16 },
		{ "error up to", "error_ns", 13 },
		{ "starts late by", "mean_lateness_ns", 16 },
	};
	struct tscope_value known = tsi_panel_value(panel, "clock_sync.skew_is_known");

	if (tsi_panel_row_count(panel, "clock_sync.ranks") == 0)
		return;
	tsi_panel_title(panel, DOC_INFO, "clock_sync", "CLOCKS", "up to %s apart",
			tsi_panel_number(panel, "clock_sync.max_offset_ns"));
	tsi_panel_figures(panel, figures, TSI_COUNT_OF(figures));
	if (known.kind == TSCOPE_VALUE_FLAG && !known.flag)
		tsi_doc_note(panel->doc,
			     "the skew is not larger than the error: who starts late is not "
			     "known");
	tsi_panel_table(panel, "clock_sync.ranks", columns, TSI_COUNT_OF(columns));
}
