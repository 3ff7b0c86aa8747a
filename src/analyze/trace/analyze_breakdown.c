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

#include "base/array.h"
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
	[PARTS_TABLE] = { "parts", part_columns, TSI_COUNT_OF(part_columns),
			  "parts of the lines, the largest first within a line",
			  TSCOPE_TABLE_ROWS },
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

/* A name without the number that tells one of many apart: "step#12" is "step". */
static struct str without_number(struct str name)
{
	size_t length = name.length;

	while (length > 0 && tsi_is_digit(name.data[length - 1]))
		length--;
	if (length > 1 && length < name.length && name.data[length - 1] == '#')
		name.length = length - 1;
	return name;
}

static enum tscope_status name_of_row(const struct analysis_scope *scope, uint32_t row,
				      const char **name, struct tscope_error *err)
{
	struct str whole = tsi_span_name(scope->trace, row), kept = without_number(whole);

	*name = whole.data;
	return kept.length == whole.length ? TSCOPE_OK : tsi_keep_text(scope, kept, name, err);
}

/* "reduce_scatter in group 2 (dp)"; where the kind is not known, with the name of the row. */
static enum tscope_status name_of_collective(const struct analysis_scope *scope,
					     const struct collective *collective, uint32_t row,
					     const char **name, struct tscope_error *err)
{
	const struct intern *names = &scope->trace->names;
	const char *group = tsi_intern_text(names, collective->group_name).data;
	const char *description = tsi_intern_text(names, collective->group_desc).data;
	enum tscope_status status = TSCOPE_OK;

	if (collective->kind != COLLECTIVE_UNKNOWN)
		*name = tsi_collective_kind_name((enum collective_kind)collective->kind);
	else
		status = name_of_row(scope, row, name, err);
	if (status != TSCOPE_OK || (!*group && !*description))
		return status;
	if (!*group || !*description)
		return tsi_make_text(scope, name, err, "%s in group %s%s", *name, group,
				     description);
	return tsi_make_text(scope, name, err, "%s in group %s (%s)", *name, group, description);
}

static enum tscope_status name_of(const struct analysis_scope *scope, unsigned line, uint32_t row,
				  const char **name, struct tscope_error *err)
{
	const struct tscope_trace *trace = scope->trace;
	const struct collective *collective = tsi_part_collective(trace, line, row);
	const char *operator_name;

	*name = "";
	if (row == NO_ROW)
		return TSCOPE_OK;
	if (collective)
		return name_of_collective(scope, collective, row, name, err);
	enum tscope_status status = name_of_row(scope, row, name, err);
	if (status != TSCOPE_OK || tsi_span_class(&trace->spans, row) != TSCOPE_SPAN_RUNTIME ||
	    tsi_call(trace, row)->op == NO_ROW)
		return status;
	status = name_of_row(scope, tsi_call(trace, row)->op, &operator_name, err);
	if (status != TSCOPE_OK)
		return status;
	return tsi_make_text(scope, name, err, "%s in %s", *name, operator_name);
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
static enum tscope_status name_parts(const struct analysis_scope *scope, struct part *parts,
				     struct tscope_error *err)
{
	for (unsigned line = 0; line < TSI_PART_LINES; line++) {
		const struct line_parts *of_line = &scope->timeline->parts[line];
		for (size_t i = 0; i < of_line->count; i++) {
			uint32_t row = of_line->items[i].row;
			*parts = (struct part){
				.line = line,
				.kind = kind_of(scope->trace, line, row),
				.ns = of_line->items[i].ns,
			};
			enum tscope_status status = name_of(scope, line, row, &parts->name, err);
			if (status != TSCOPE_OK)
				return status;
			parts++;
		}
	}
	return TSCOPE_OK;
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

static enum tscope_status line_text(const struct analysis_scope *scope, unsigned line,
				    const char **text, struct tscope_error *err)
{
	if (scope->trace->device_count) {
		*text = tscope_budget_line_name((enum tscope_budget_line)line);
		return TSCOPE_OK;
	}
	return tsi_make_text(scope, text, err, "host.%s", tsi_host_line_name((enum host_line)line));
}

/* The parts of a line follow one another. */
static enum tscope_status add_rows(const struct analysis_scope *scope, const struct part *parts,
				   size_t count, struct fact_sheet *out, struct tscope_error *err)
{
	struct tscope_value *cells;
	const char *line = NULL;

	for (size_t i = 0; i < count; i++) {
		if ((i == 0 || parts[i].line != parts[i - 1].line) &&
		    line_text(scope, parts[i].line, &line, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		if (tsi_table_add(out, PARTS_TABLE, &cells, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		cells[PART_LINE] = tsi_text(line);
		cells[PART_KIND] = tsi_text(kind_names[parts[i].kind]);
		cells[PART_NAME] = tsi_text(parts[i].name);
		cells[PART_NS] = tsi_int(parts[i].ns);
	}
	return TSCOPE_OK;
}

static enum tscope_status add_parts(const struct analysis_scope *scope, struct fact_sheet *out,
				    struct tscope_error *err)
{
	struct part *parts;
	size_t count = 0;

	for (unsigned line = 0; line < TSI_PART_LINES; line++)
		count += scope->timeline->parts[line].count;
	if (count == 0)
		return TSCOPE_OK;
	if (tsi_array_new(&parts, count, sizeof(*parts), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	enum tscope_status status = name_parts(scope, parts, err);
	if (status == TSCOPE_OK) {
		count = merge(parts, count);
		qsort(parts, count, sizeof(*parts), compare_sizes);
		status = add_rows(scope, parts, count, out, err);
	}
	free(parts);
	return status;
}

static enum tscope_status analyze_breakdown(const struct analysis_scope *scope,
					    struct fact_sheet *out, struct tscope_error *err)
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
		return TSCOPE_OK;
	tsi_fact_int(out, WALL_NS, wall_ns);
	tsi_fact_int(out, STEP_COUNT, step_count);
	if (scope->trace->device_count && scope->steps->doubt)
		tsi_fact_unreliable(out, scope->steps->doubt);
	return add_parts(scope, out, err);
}

const struct analyzer tsi_analyzer_breakdown = {
	.def = {
		.id = "breakdown",
		.summary = "what is in each line of the budget",
		.facts = facts,
		.fact_count = TSI_COUNT_OF(facts),
		.tables = tables,
		.table_count = TSI_COUNT_OF(tables),
		.needs = "a trace with a step that is not marked",
		.total = TSCOPE_TOTAL_STEPS,
	},
	.levels = LEVEL_TRACE,
	.run = analyze_breakdown,
};
