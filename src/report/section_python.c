/* SPDX-License-Identifier: MIT */
/*
 * The section about Python: its functions by the time in them, what keeps
 * threads from the work, and the pauses of the garbage collector. Of a trace of VizTracer it comes
 * early: it is what the trace is about.
 */
#include "report/section.h"

#include <string.h>

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

/* "fib (args.py:6)" of "fib (/home/…/args.py:6)" */
static const char *shorten_function(const struct panel *panel, const char *name)
{
	const char *open = strstr(name, " (/"), *slash = open ? strrchr(open, '/') : NULL;

	return open ? tsi_panel_print(panel, "%.*s (%s", (int)(open - name), name, slash + 1)
		    : name;
}

/* "; the main thread waits for 84.4 % of it, mostly in select.epoll.poll", or "" */
static const char *name_waiting(const struct panel *panel, double least_share)
{
	double main_ns = (double)tsi_panel_int(panel, "python.main_ns");
	double waiting_ns = (double)tsi_panel_int(panel, "python.waiting_ns");
	struct table_view causes = tsi_panel_rows(panel, "python.by_cause");
	const char *text = "";

	if (!(main_ns > 0) || waiting_ns < least_share * main_ns)
		return text;
	for (size_t row = 0; row < causes.row_count; row++)
		if (strcmp(tsi_table_text(&causes, row, "cause"), "waiting") == 0)
			tsi_panel_append(panel, &text,
					 "; the main thread waits for %.1f %% of it, mostly in %s",
					 100 * waiting_ns / main_ns,
					 shorten_function(panel, tsi_table_text(&causes, row,
										"main_function")));
	return text;
}

const char *tsi_name_function(const struct panel *panel, double least_share)
{
	double wall_ns = (double)tsi_panel_int(panel, "budget.wall_total_ns"), largest_ns = 0;
	struct table_view functions = tsi_panel_rows(panel, "python.by_name");
	const char *name = NULL, *text;

	if (tsi_panel_has(panel, "budget.device_gap_total_ns"))
		return "";
	for (size_t row = 0; row < functions.row_count; row++) {
		struct tscope_value own = tsi_table_find(&functions, row, "self_ns");
		if (own.kind != TSCOPE_VALUE_INT || (double)own.integer <= largest_ns ||
		    tsi_table_find(&functions, row, "is_waiting").flag)
			continue;
		largest_ns = (double)own.integer;
		name = tsi_table_text(&functions, row, "name");
	}
	text = name_waiting(panel, least_share);
	/* As with operators: calls of several threads may sum to more than the step. */
	if (name && largest_ns >= least_share * wall_ns && largest_ns <= wall_ns)
		tsi_panel_append(panel, &text, "; the largest function%s is %s (%.1f %%)",
				 *text ? " that does not wait" : "", shorten_function(panel, name),
				 100 * largest_ns / wall_ns);
	return text;
}
