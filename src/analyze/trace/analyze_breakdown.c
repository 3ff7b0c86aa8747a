/* SPDX-License-Identifier: MIT */
/*
 * Parts of each line of the budget: every instant of the steps that count goes to one kernel,
 * collective, copy, wait or operator, so the parts of a line sum to it in integer ns. The timeline
 * has added them up by rows; here they get their names, and what has the same name is one part.
 */
#include "analyze/facts.h"
#include "analyze/trace/part_names.h"
#include "base/sum.h"

#define FACTS(X)                                                                                   \
	X(WALL_NS, "wall_total_ns", NS, "what all parts sum to: as budget.wall_total_ns")          \
	X(STEP_COUNT, "step_count", COUNT, "as budget.step_count")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define PART_COLUMNS(X)                                                                            \
	X(PART_LINE, "line", TEXT, "line of the budget; without devices host.data and so on")      \
	X(PART_KIND, "kind", TEXT,                                                                 \
	  "kernel, collective, copy, loader, call, operator, function, wait (a function that "     \
	  "waits for another thread, a request or time), annotation or none")                      \
	X(PART_NAME, "name", TEXT,                                                                 \
	  "which; of a stall what the host was in, of a gap what ran after it")                    \
	X(PART_NS, "ns", NS, "its time")

TSI_FACT_LIST(enum part_column, part_columns, PART_COLUMNS);

#define TABLES(X)                                                                                  \
	X(PARTS_TABLE, "parts", part_columns, "parts of the lines, the largest first within a line")

TSI_TABLE_LIST(enum table, tables, TABLES);

static const char *line_text(const struct tscope_trace *trace, unsigned line,
			     struct fact_sheet *out)
{
	if (trace->device_count)
		return tscope_budget_line_name((enum tscope_budget_line)line);
	return tsi_sheet_print(out, "host.%s", tsi_host_line_name((enum host_line)line));
}

static void add_parts(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct named_parts parts = tsi_name_parts(scope, false, out);
	const char *line = NULL;

	for (size_t i = 0; i < parts.count; i++) {
		const struct named_part *part = &parts.items[i];
		if (i == 0 || part->group != part[-1].group)
			line = line_text(scope->trace, part->group, out);
		struct tscope_value *cells = tsi_table_row(out, PARTS_TABLE);
		cells[PART_LINE] = tsi_text(line);
		cells[PART_KIND] = tsi_text(tsi_part_kind_name(part->kind));
		cells[PART_NAME] = tsi_text(part->name);
		cells[PART_NS] = tsi_int(part->ns);
	}
}

static void fill_breakdown(const struct analysis_scope *scope, struct fact_sheet *out)
{
	const struct tscope_timeline *timeline = scope->timeline;
	int64_t times = scope->trace->device_count ? scope->trace->device_count : 1;
	int64_t wall_ns = 0, step_count = 0;

	if (tsi_timeline_has_several_workers(timeline))
		return;
	for (uint32_t i = 0; i < timeline->step_count; i++) {
		if (timeline->steps[i].mark != TSCOPE_STEP_COUNTED)
			continue;
		step_count += times;
		for (int64_t d = 0; d < times; d++)
			tsi_sum(&wall_ns, timeline->steps[i].wall_ns);
	}
	if (step_count == 0)
		return;
	tsi_fact_int(out, WALL_NS, wall_ns);
	tsi_fact_int(out, STEP_COUNT, step_count);
	if (scope->trace->device_count && scope->steps->doubt)
		tsi_fact_unreliable(out, scope->steps->doubt);
	add_parts(scope, out);
}

const struct analyzer tsi_analyzer_breakdown = {
	.def = {
		.id = "breakdown",
		.summary = "what is in each line of the budget",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a trace with a complete step",
		.total = TSCOPE_TOTAL_STEPS,
	},
	.levels = LEVEL_TRACE,
	.fill = fill_breakdown,
};
