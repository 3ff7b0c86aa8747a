/* SPDX-License-Identifier: MIT */
/*
 * What is in each line of the budget: every instant of the steps that count goes to one kernel,
 * collective, copy, wait or operator, so the parts of a line sum to it in integer ns.
 * The timeline has added them up by rows; here they get their names, and what has the
 * same name is one part.
 */
#include "analyze/facts.h"

#include <stdlib.h>
#include <string.h>

#include "base/sum.h"
#include "comm/collective_kind.h"

enum fact {
	WALL_NS,
	STEP_COUNT,
};

static const struct tscope_fact_def facts[] = {
	[WALL_NS] = { "wall_ns", TSCOPE_UNIT_NS, "what all parts sum to: as budget.wall_ns" },
	[STEP_COUNT] = { "step_count", TSCOPE_UNIT_COUNT, "as budget.step_count" },
};

enum part_column {
	PART_LINE,
	PART_KIND,
	PART_NAME,
	PART_NS,
};

static const struct tscope_fact_def part_columns[] = {
	[PART_LINE] = { "line", TSCOPE_UNIT_TEXT,
			"line of the budget; without devices host.data and so on" },
	[PART_KIND] = { "kind", TSCOPE_UNIT_TEXT,
			"kernel, collective, copy, loader, call, operator or none" },
	[PART_NAME] = { "name", TSCOPE_UNIT_TEXT,
			"which; of a stall what the host was in, of a gap what ran after it" },
	[PART_NS] = { "ns", TSCOPE_UNIT_NS, "its time" },
};

enum table { PARTS_TABLE };

static const struct tscope_table_def tables[] = {
	[PARTS_TABLE] = TSI_TABLE_DEF("parts", part_columns,
				      "parts of the lines, the largest first within a line"),
};

enum part_kind {
	KIND_KERNEL,
	KIND_COLLECTIVE,
	KIND_COPY,
	KIND_LOADER,
	KIND_CALL,
	KIND_OPERATOR,
	KIND_NONE,
	KIND_COUNT,
};

static const char *const kind_names[KIND_COUNT] = {
	[KIND_KERNEL] = "kernel", [KIND_COLLECTIVE] = "collective",
	[KIND_COPY] = "copy",     [KIND_LOADER] = "loader",
	[KIND_CALL] = "call",     [KIND_OPERATOR] = "operator",
	[KIND_NONE] = "none",
};

struct part {
	unsigned line;
	enum part_kind kind;
	const char *name;
	int64_t ns;
};

static enum part_kind kind_of_class(uint8_t span_class)
{
	switch (span_class) {
	case TSCOPE_SPAN_KERNEL:
	case TSCOPE_SPAN_COMM:
		return KIND_KERNEL;
	case TSCOPE_SPAN_MEMCPY:
	case TSCOPE_SPAN_MEMSET:
		return KIND_COPY;
	case TSCOPE_SPAN_RUNTIME:
		return KIND_CALL;
	default:
		return KIND_OPERATOR;
	}
}

static enum part_kind kind_of(const struct tscope_trace *trace, unsigned line, uint32_t row)
{
	bool has_devices = trace->device_count > 0;

	if (row == NO_ROW)
		return KIND_NONE;
	if (line == (has_devices ? (unsigned)TSCOPE_BUDGET_EXPOSED_COMM : HOST_COMM))
		return KIND_COLLECTIVE;
	if (line == (has_devices ? (unsigned)TSCOPE_BUDGET_DATA_STALL : HOST_DATA))
		return KIND_LOADER;
	return kind_of_class(tsi_span_class(&trace->spans, row));
}

/* The name without its counter: "step#12" is "step". */
static struct str without_number(struct str name)
{
	size_t length = name.length;

	while (length > 0 && tsi_is_digit(name.data[length - 1]))
		length--;
	if (length > 1 && length < name.length && name.data[length - 1] == '#')
		name.length = length - 1;
	return name;
}

static const char *name_of_row(const struct tscope_trace *trace, uint32_t row,
			       struct fact_sheet *out)
{
	struct str whole = tsi_span_name(trace, row), kept = without_number(whole);

	return kept.length == whole.length ? whole.data : tsi_sheet_copy(out, kept);
}

/* "reduce_scatter in group 2 (dp)"; where the kind is not known, with the name of the row. */
static const char *name_of_collective(const struct tscope_trace *trace,
				      const struct collective *collective, uint32_t row,
				      struct fact_sheet *out)
{
	const char *group = tsi_intern_text(&trace->names, collective->group_name).data;
	const char *description = tsi_intern_text(&trace->names, collective->group_desc).data;
	const char *name =
		collective->kind != COLLECTIVE_UNKNOWN
			? tsi_collective_kind_name((enum collective_kind)collective->kind)
			: name_of_row(trace, row, out);

	if (!*group && !*description)
		return name;
	if (!*group || !*description)
		return tsi_sheet_print(out, "%s in group %s%s", name, group, description);
	return tsi_sheet_print(out, "%s in group %s (%s)", name, group, description);
}

static const char *name_of(const struct tscope_trace *trace, unsigned line, uint32_t row,
			   struct fact_sheet *out)
{
	const struct collective *collective = tsi_part_collective(trace, line, row);

	if (row == NO_ROW)
		return "";
	if (collective)
		return name_of_collective(trace, collective, row, out);
	const char *name = name_of_row(trace, row, out);
	if (tsi_span_class(&trace->spans, row) != TSCOPE_SPAN_RUNTIME ||
	    tsi_call(trace, row)->op == NO_ROW)
		return name;
	return tsi_sheet_print(out, "%s in %s", name,
			       name_of_row(trace, tsi_call(trace, row)->op, out));
}

/* By line, kind and name. */
static int compare_names(const void *left, const void *right)
{
	const struct part *a = left, *b = right;

	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* By line, the largest first. */
static int compare_sizes(const void *left, const void *right)
{
	const struct part *a = left, *b = right;

	if (a->line == b->line && a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	if (a->line == b->line) {
		int order = strcmp(a->name, b->name);
		if (order)
			return order;
	}
	return compare_names(a, b);
}

/* All parts of the timeline, named; room for them is there. */
static void name_parts(const struct analysis_scope *scope, struct part *parts,
		       struct fact_sheet *out)
{
	for (unsigned line = 0; line < TSI_PART_LINES; line++) {
		const struct line_parts *of_line = &scope->timeline->parts[line];
		for (size_t i = 0; i < of_line->count; i++) {
			uint32_t row = of_line->items[i].row;
			*parts++ = (struct part){
				.line = line,
				.kind = kind_of(scope->trace, line, row),
				.name = name_of(scope->trace, line, row, out),
				.ns = of_line->items[i].ns,
			};
		}
	}
}

/* Adds up what has one name. The number of parts that are left. */
static size_t merge(struct part *parts, size_t count)
{
	size_t kept = 0;

	qsort(parts, count, sizeof(*parts), compare_names);
	for (size_t i = 1; i < count; i++) {
		if (compare_names(&parts[kept], &parts[i]) == 0)
			tsi_sum(&parts[kept].ns, parts[i].ns);
		else
			parts[++kept] = parts[i];
	}
	return kept + 1;
}

static const char *line_text(const struct tscope_trace *trace, unsigned line,
			     struct fact_sheet *out)
{
	if (trace->device_count)
		return tscope_budget_line_name((enum tscope_budget_line)line);
	return tsi_sheet_print(out, "host.%s", tsi_host_line_name((enum host_line)line));
}

static void add_parts(const struct analysis_scope *scope, struct fact_sheet *out)
{
	const char *line = NULL;
	size_t count = 0;

	for (unsigned i = 0; i < TSI_PART_LINES; i++)
		count += scope->timeline->parts[i].count;
	struct part *parts = tsi_arena_new(tsi_sheet_scratch(out), count, sizeof(*parts));
	if (count == 0 || !parts)
		return;
	name_parts(scope, parts, out);
	count = merge(parts, count);
	qsort(parts, count, sizeof(*parts), compare_sizes);
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || parts[i].line != parts[i - 1].line)
			line = line_text(scope->trace, parts[i].line, out);
		struct tscope_value *cells = tsi_table_row(out, PARTS_TABLE);
		cells[PART_LINE] = tsi_text(line);
		cells[PART_KIND] = tsi_text(kind_names[parts[i].kind]);
		cells[PART_NAME] = tsi_text(parts[i].name);
		cells[PART_NS] = tsi_int(parts[i].ns);
	}
}

static void fill_breakdown(const struct analysis_scope *scope, struct fact_sheet *out)
{
	const struct tscope_timeline *timeline = scope->timeline;
	int64_t times = scope->trace->device_count ? scope->trace->device_count : 1;
	int64_t wall_ns = 0, step_count = 0;

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
		.needs = "a trace with a step that is not marked",
		.total = TSCOPE_TOTAL_STEPS,
	},
	.levels = LEVEL_TRACE,
	.fill = fill_breakdown,
};
