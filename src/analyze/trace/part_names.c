/* SPDX-License-Identifier: MIT */
/*
 * The names of the parts of a timeline (timeline.h), which are kept by row; what has the same name
 * is one part.
 */
#include "analyze/trace/part_names.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/trace/source_frame.h"
#include "base/sum.h"
#include "comm/collective_kind.h"
#include "timeline/host_kinds.h"

static const char *const kind_names[KIND_COUNT] = {
	[KIND_KERNEL] = "kernel",
	[KIND_COLLECTIVE] = "collective",
	[KIND_COPY] = "copy",
	[KIND_LOADER] = "loader",
	[KIND_CALL] = "call",
	[KIND_OPERATOR] = "operator",
	[KIND_FUNCTION] = "function",
	[KIND_WAIT] = "wait",
	[KIND_ANNOTATION] = "annotation",
	[KIND_NONE] = "none",
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
	case TSCOPE_SPAN_PYTHON:
		return KIND_FUNCTION;
	case TSCOPE_SPAN_ANNOTATION:
		return KIND_ANNOTATION;
	default:
		return KIND_OPERATOR;
	}
}

static bool is_wait(const struct tscope_trace *trace, unsigned slot, uint32_t row)
{
	return slot == (unsigned)TSI_IDLE_SLOT + IDLE_PYTHON && trace->device_count > 0 &&
	       tsi_span_class(&trace->spans, row) == TSCOPE_SPAN_PYTHON &&
	       tsi_is_idle_frame(tsi_span_name(trace, row));
}

static enum part_kind kind_of(const struct tscope_trace *trace, unsigned slot, uint32_t row)
{
	bool has_devices = trace->device_count > 0;

	if (row == NO_ROW)
		return KIND_NONE;
	if (slot == (has_devices ? (unsigned)TSCOPE_BUDGET_EXPOSED_COMM : HOST_COMM))
		return KIND_COLLECTIVE;
	if (slot == (has_devices ? (unsigned)TSI_IDLE_SLOT + IDLE_DATA : HOST_DATA))
		return KIND_LOADER;
	if (is_wait(trace, slot, row))
		return KIND_WAIT;
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

/* The Python frame that best names the place; the row itself where none does. */
static uint32_t place_of_row(const struct open_rows *rows, uint32_t row)
{
	const struct tscope_trace *trace = rows->trace;
	enum { MOST_ROWS = 512 };

	if (tsi_span_class(&trace->spans, row) != TSCOPE_SPAN_PYTHON)
		return row;
	uint32_t frame = tsi_source_frame(rows, tsi_trace_track_of(trace, row),
					  tsi_start_ns(&trace->spans, row), MOST_ROWS);
	return frame == NO_ROW ? row : frame;
}

/* "queue.py(154): get in server.py(80): loop" */
static const char *name_of_wait(const struct open_rows *rows, uint32_t row, struct fact_sheet *out)
{
	uint32_t place = place_of_row(rows, row);
	const char *name = name_of_row(rows->trace, row, out);

	return place == row ? name
			    : tsi_sheet_print(out, "%s in %s", name,
					      name_of_row(rows->trace, place, out));
}

static const char *name_of(const struct open_rows *rows, unsigned slot, uint32_t row,
			   struct fact_sheet *out)
{
	const struct tscope_trace *trace = rows->trace;
	const struct collective *collective = tsi_part_collective(trace, slot, row);

	if (row == NO_ROW)
		return "";
	if (collective)
		return name_of_collective(trace, collective, row, out);
	if (is_wait(trace, slot, row))
		return name_of_wait(rows, row, out);
	if (slot == (unsigned)TSI_IDLE_SLOT + IDLE_PYTHON && trace->device_count)
		row = place_of_row(rows, row);
	const char *name = name_of_row(trace, row, out);
	if (tsi_span_class(&trace->spans, row) != TSCOPE_SPAN_RUNTIME ||
	    tsi_call(trace, row)->op == NO_ROW)
		return name;
	return tsi_sheet_print(out, "%s in %s", name,
			       name_of_row(trace, tsi_call(trace, row)->op, out));
}

/* By group, kind and name. */
static int compare_names(const void *left, const void *right)
{
	const struct named_part *a = left, *b = right;

	TSI_ASCENDING(a->group, b->group);
	TSI_ASCENDING(a->kind, b->kind);
	return strcmp(a->name, b->name);
}

/* By group, the largest first. */
static int compare_sizes(const void *left, const void *right)
{
	const struct named_part *a = left, *b = right;

	if (a->group == b->group && a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	if (a->group == b->group) {
		int order = strcmp(a->name, b->name);
		if (order)
			return order;
	}
	return compare_names(a, b);
}

static unsigned group_of(const struct analysis_scope *scope, unsigned slot, bool by_cause)
{
	return by_cause || !scope->trace->device_count ? slot : tsi_line_of_slot(slot);
}

/* Causes are asked for of idle time alone. */
static unsigned first_slot(bool by_cause)
{
	return by_cause ? TSI_IDLE_SLOT : 0;
}

/* All parts of the timeline that are asked for; room for them is there. */
static void list_parts(const struct analysis_scope *scope, bool by_cause, struct named_part *parts,
		       struct fact_sheet *out)
{
	struct open_rows rows = tsi_open_rows(scope->trace, tsi_sheet_scratch(out));

	for (unsigned slot = first_slot(by_cause); slot < TSI_PART_SLOTS; slot++) {
		const struct line_parts *slot_parts = &scope->timeline->parts[slot];
		for (size_t i = 0; i < slot_parts->count; i++) {
			uint32_t row = slot_parts->items[i].row;
			*parts++ = (struct named_part){
				.group = group_of(scope, slot, by_cause),
				.kind = kind_of(scope->trace, slot, row),
				.name = name_of(&rows, slot, row, out),
				.ns = slot_parts->items[i].ns,
				.count = slot_parts->items[i].count,
			};
		}
	}
}

/* Adds up what has one name. The number of parts that are left. */
static size_t merge(struct named_part *parts, size_t count)
{
	size_t kept = 0;

	qsort(parts, count, sizeof(*parts), compare_names);
	for (size_t i = 1; i < count; i++) {
		if (compare_names(&parts[kept], &parts[i]) == 0) {
			tsi_sum(&parts[kept].ns, parts[i].ns);
			parts[kept].count += parts[i].count;
		} else {
			parts[++kept] = parts[i];
		}
	}
	return kept + 1;
}

struct named_parts tsi_name_parts(const struct analysis_scope *scope, bool by_cause,
				  struct fact_sheet *out)
{
	struct named_parts ret = { 0 };

	for (unsigned i = first_slot(by_cause); i < TSI_PART_SLOTS; i++)
		ret.count += scope->timeline->parts[i].count;
	ret.items = tsi_arena_new(tsi_sheet_scratch(out), ret.count, sizeof(*ret.items));
	if (!ret.items)
		ret.count = 0;
	if (!ret.count)
		return ret;
	list_parts(scope, by_cause, ret.items, out);
	ret.count = merge(ret.items, ret.count);
	qsort(ret.items, ret.count, sizeof(*ret.items), compare_sizes);
	return ret;
}

const char *tsi_part_kind_name(enum part_kind kind)
{
	return kind_names[kind];
}
