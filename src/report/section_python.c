/* SPDX-License-Identifier: MIT */
/*
 * The section about Python: its functions by the time in them, what keeps
 * threads from the work, and the pauses of the garbage collector. Of a trace of VizTracer it comes
 * early: it is what the trace is about.
 */
#include "report/section.h"

/* Only VizTracer says whether its buffer overflowed. */
static bool is_of_viztracer(const struct panel *panel)
{
	return tsi_panel_has(panel, "integrity.overflow");
}

static void put_tables(const struct panel *panel)
{
	static const struct column cause_columns[] = {
		{ "stall", "cause", 20 },          { "calls", "call_count", 7 },
		{ "all threads", "total_ns", 12 }, { "main thread", "main_ns", 12 },
		{ "share", "main_ratio", 8 },      { "mostly in", "function", 0 },
	};
	static const struct column columns[] = {
		{ "function", "name", 0 },
		{ "count", "count", 8 },
		{ "self", "self_ns", 11 },
		{ "total", "total_ns", 11 },
	};
	static const struct column thread_columns[] = {
		{ "thread", "thread", 0 },     { "process", "pid", 12 },
		{ "id", "tid", 14 },           { "calls", "call_count", 10 },
		{ "in them", "total_ns", 11 }, { "stalls", "stall_ns", 11 },
	};

	tsi_panel_table(panel, "python.by_cause", cause_columns, TSI_COUNT_OF(cause_columns));
	tsi_panel_table(panel, "python.by_name", columns, TSI_COUNT_OF(columns));
	if (tsi_panel_row_count(panel, "python.by_thread") > 1)
		tsi_panel_table(panel, "python.by_thread", thread_columns,
				TSI_COUNT_OF(thread_columns));
}

static void put_python(const struct panel *panel)
{
	static const struct figure figures[] = {
		{ "different", "python.function_count" }, { "time in them", "python.self_ns" },
		{ "gc pauses", "python.gc_count" },       { "taking", "python.gc_total_ns" },
		{ "longest", "python.gc_max_ns" },
	};
	int64_t gc_count = tsi_panel_int(panel, "python.gc_count");

	if (tsi_panel_row_count(panel, "python.by_name") == 0 && gc_count == 0)
		return;
	tsi_panel_title(panel, DOC_INFO, "python", "PYTHON", "%s calls",
			tsi_panel_number(panel, "python.call_count"));
	tsi_panel_figures(panel, figures, gc_count > 0 ? TSI_COUNT_OF(figures) : 2);
	put_tables(panel);
}

void tsi_section_viztracer(const struct panel *panel)
{
	if (is_of_viztracer(panel))
		put_python(panel);
}

void tsi_section_python(const struct panel *panel)
{
	if (!is_of_viztracer(panel))
		put_python(panel);
}
