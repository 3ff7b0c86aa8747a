/* SPDX-License-Identifier: MIT */
/*
 * Sections about what Composer's profiler writes besides the training loop: callbacks, counters
 * (which others write, too), and the ranks' clocks.
 */
#include "report/section.h"

#include <inttypes.h>
#include <string.h>

#include "analyze/lookup.h"
#include "base/attributes.h"

/* ---- callbacks ---- */

/* "in no step: 2 evaluations of 1.20 s in all" */
static void put_evaluations(const struct panel *panel)
{
	int64_t count =
		tsi_lookup_int(panel->analysis, TSCOPE_WHOLE_TRACE, "callbacks.evaluation_count");
	char time[NUMBER_MAX];

	if (count == 0)
		return;
	tsi_panel_number(panel, "callbacks.evaluation_ns", time);
	tsi_text_printf(panel->w, "  in no step: %" PRId64 " evaluation%s, %s\n", count,
			count == 1 ? "" : "s", time);
}

void tsi_section_callbacks(const struct panel *panel)
{
	static const struct figure figures[] = {
		{ "different", "callbacks.name_count" },
		{ "calls", "callbacks.call_count" },
		{ "in all", "callbacks.total_ns" },
		{ "the profiler's own in a step", "callbacks.profiler_ns_per_step" },
	};
	static const struct column columns[] = {
		{ "callback", "name", 0 },    { "kind", "kind", 12 },
		{ "calls", "call_count", 8 }, { "in a step", "step_ns", 11 },
		{ "share", "step_ratio", 9 }, { "longest", "max_ns", 11 },
		{ "total", "total_ns", 11 },
	};
	struct tscope_value own = tsi_panel_value(panel, "callbacks.profiler_ns_per_step");
	bool has_own = own.kind == TSCOPE_VALUE_INT && own.integer > 0;
	char time[NUMBER_MAX], share[NUMBER_MAX];

	if (tsi_panel_rows(panel, "callbacks.by_name").row_count == 0)
		return;
	tsi_panel_number(panel, "callbacks.in_step_ns_per_step", time);
	tsi_panel_number(panel, "callbacks.step_ratio", share);
	if (tsi_panel_has(panel, "callbacks.step_ratio"))
		tsi_panel_title(panel, TEXT_CYAN, "callbacks", "CALLBACKS", "%s of a step, %s",
				time, share);
	else
		tsi_panel_title(panel, TEXT_CYAN, "callbacks", "CALLBACKS", "%s", "");
	tsi_panel_figures(panel, figures, TSI_COUNT_OF(figures) - !has_own);
	put_evaluations(panel);
	tsi_panel_table(panel, "callbacks.by_name", columns, TSI_COUNT_OF(columns));
}

/* ---- counters ---- */

enum { VALUE_WIDTH = 11, STEP_WIDTH = 9, MIN_NAME_WIDTH = 24 };

static const struct counter_column {
	const char *heading, *name;
	unsigned width;
} counter_columns[] = {
	{ "mean", "mean", VALUE_WIDTH },       { "most", "max", VALUE_WIDTH },
	{ "in step", "max_step", STEP_WIDTH }, { "least", "min", VALUE_WIDTH },
	{ "last", "last", VALUE_WIDTH },
};

/* As many columns as the line has room for. */
static size_t column_count(unsigned width)
{
	unsigned used = 2 + MIN_NAME_WIDTH;
	size_t count = 0;

	for (; count < TSI_COUNT_OF(counter_columns); count++) {
		used += counter_columns[count].width;
		if (used > width)
			break;
	}
	return count;
}

/* Each series has a unit of its own. */
static void number_of(char text[NUMBER_MAX], struct tscope_value value, const char *unit)
{
	char number[NUMBER_MAX];

	if (strcmp(unit, "ms") == 0 && value.kind == TSCOPE_VALUE_REAL)
		value.real *= 1e6;
	tsi_number_people(number, value,
			  strcmp(unit, "bytes") == 0 ? TSCOPE_UNIT_BYTES
			  : strcmp(unit, "ms") == 0  ? TSCOPE_UNIT_NS
						     : TSCOPE_UNIT_NUMBER);
	snprintf(text, NUMBER_MAX, "%.*s%s", NUMBER_MAX - 4, number,
		 strcmp(unit, "percent") == 0 && value.kind == TSCOPE_VALUE_REAL ? " %" : "");
}

/* "memory/swap used_gb"; a series that is named like the end of its counter is not repeated. */
static void name_of(char *name, size_t size, const struct table_view *view, size_t row)
{
	const char *counter = tsi_table_text(view, row, "counter"),
		   *series = tsi_table_text(view, row, "series");
	size_t length = strlen(counter), end = strlen(series);
	bool is_end = length >= end && strcmp(counter + length - end, series) == 0;

	snprintf(name, size, "%s%s%s", counter, is_end ? "" : " ", is_end ? "" : series);
}

static void put_counter_headings(struct text_writer *w, size_t count, unsigned name_width)
{
	tsi_text_style(w, TEXT_DIM);
	tsi_text_put(w, "  ");
	tsi_text_left(w, "counter", name_width);
	for (size_t i = 0; i < count; i++)
		tsi_text_right(w, counter_columns[i].heading, counter_columns[i].width);
	tsi_text_style(w, TEXT_PLAIN);
	tsi_text_put(w, "\n");
}

static void put_counter(struct text_writer *w, const struct table_view *view, size_t row,
			unsigned name_width)
{
	const char *unit = tsi_table_text(view, row, "unit");
	char name[512], text[NUMBER_MAX];

	name_of(name, sizeof(name), view, row);
	tsi_text_put(w, "  ");
	tsi_text_name_cell(w, name, name_width);
	for (size_t i = 0; i < column_count(w->width); i++) {
		bool is_step = strcmp(counter_columns[i].name, "max_step") == 0;

		number_of(text, tsi_table_find(view, row, counter_columns[i].name),
			  is_step ? "" : unit);
		tsi_text_right(w, text, counter_columns[i].width);
	}
	tsi_text_put(w, "\n");
}

/* What the writer called wrongly. */
static void put_counter_remarks(const struct panel *panel, const struct table_view *view)
{
	bool has_factor = false;

	for (size_t row = 0; row < view->row_count; row++)
		has_factor |= tsi_table_find(view, row, "factor").kind != TSCOPE_VALUE_ABSENT;
	if (has_factor) {
		tsi_text_put(panel->w, "  ");
		tsi_text_paragraph(
			panel->w,
			"Composer writes bytes ÷ 512 as gb and bytes ÷ 8 as kb: they are "
			"shown as bytes",
			2);
	}
	if (tsi_lookup_int(panel->analysis, TSCOPE_WHOLE_TRACE, "counters.dropped_count") > 0) {
		tsi_text_put(panel->w, "  ");
		tsi_text_paragraph(panel->w, "there are more than fit: the rest is in no figure",
				   2);
	}
}

void tsi_section_counters(const struct panel *panel)
{
	struct table_view view = tsi_panel_rows(panel, "counters.by_name");
	size_t count = column_count(panel->w->width);
	unsigned name_width = panel->w->width - 2;
	char values[NUMBER_MAX];

	if (view.row_count == 0)
		return;
	for (size_t i = 0; i < count; i++)
		name_width -= counter_columns[i].width;
	tsi_panel_number(panel, "counters.value_count", values);
	tsi_panel_title(panel, TEXT_CYAN, "counters", "COUNTERS", "%zu series · %s values",
			view.row_count, values);
	put_counter_remarks(panel, &view);
	put_counter_headings(panel->w, count, name_width);
	for (size_t row = 0; row < view.row_count && row < panel->top; row++)
		put_counter(panel->w, &view, row, name_width);
	if (view.row_count > panel->top)
		tsi_text_printf(panel->w, "  … and %zu more\n", view.row_count - panel->top);
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
	char offset[NUMBER_MAX];

	if (tsi_panel_rows(panel, "clock_sync.ranks").row_count == 0)
		return;
	tsi_panel_number(panel, "clock_sync.max_offset_ns", offset);
	tsi_panel_title(panel, TEXT_CYAN, "clock_sync", "CLOCKS", "up to %s apart", offset);
	tsi_panel_figures(panel, figures, TSI_COUNT_OF(figures));
	if (known.kind == TSCOPE_VALUE_FLAG && !known.flag) {
		tsi_text_put(panel->w, "  ");
		tsi_text_paragraph(panel->w,
				   "the skew is not larger than the error: who starts late is not "
				   "known",
				   2);
	}
	tsi_panel_table(panel, "clock_sync.ranks", columns, TSI_COUNT_OF(columns));
}
