/* SPDX-License-Identifier: MIT */
/*
 * Communication against computation: how much of it hides under compute
 * kernels of the same device and how much is exposed, in all, by kind of
 * collective and by process group. Devices are never pooled: the trace's
 * figures are the sums of its devices' own.
 */
#include "analyze/facts.h"

#include <stdlib.h>

#include "analyze/shared/reliability.h"
#include "base/array.h"
#include "base/pair_set.h"
#include "base/sort.h"
#include "base/sum.h"
#include "comm/collective_kind.h"

enum fact { COMM_NS, OVERLAPPED_NS, EXPOSED_NS, OVERLAP_RATIO, EXPOSED_COMM_RATIO };

static const struct tscope_fact_def facts[] = {
	[COMM_NS] = { "comm_ns", TSCOPE_UNIT_NS, "time in which a communication kernel runs" },
	[OVERLAPPED_NS] = { "overlapped_ns", TSCOPE_UNIT_NS,
			    "of it, while a compute kernel runs on the same device" },
	[EXPOSED_NS] = { "exposed_ns", TSCOPE_UNIT_NS, "of it, while none does" },
	[OVERLAP_RATIO] = { "overlap_ratio", TSCOPE_UNIT_RATIO, "overlapped ÷ comm" },
	[EXPOSED_COMM_RATIO] = { "exposed_comm_ratio", TSCOPE_UNIT_RATIO,
				 "exposed ÷ span of the device" },
};

enum table { BY_KIND, BY_GROUP };

enum kind_column { KIND, KIND_COUNT, KIND_COMM_NS, KIND_EXPOSED_NS, KIND_OVERLAP_RATIO };

static const struct tscope_fact_def kind_columns[] = {
	[KIND] = { "kind", TSCOPE_UNIT_TEXT, "kind of collective" },
	[KIND_COUNT] = { "count", TSCOPE_UNIT_COUNT, "kernels" },
	[KIND_COMM_NS] = { "comm_ns", TSCOPE_UNIT_NS, "time in which one of them runs" },
	[KIND_EXPOSED_NS] = { "exposed_ns", TSCOPE_UNIT_NS, "of it, while no compute kernel runs" },
	[KIND_OVERLAP_RATIO] = { "overlap_ratio", TSCOPE_UNIT_RATIO, "the rest ÷ comm" },
};

enum group_column {
	GROUP,
	GROUP_DESCRIPTION,
	GROUP_SIZE,
	GROUP_COUNT,
	GROUP_COMM_NS,
	GROUP_EXPOSED_NS,
	GROUP_OVERLAP_RATIO,
};

static const struct tscope_fact_def group_columns[] = {
	[GROUP] = { "group", TSCOPE_UNIT_TEXT, "name of the process group" },
	[GROUP_DESCRIPTION] = { "description", TSCOPE_UNIT_TEXT, "its description" },
	[GROUP_SIZE] = { "size", TSCOPE_UNIT_COUNT, "its ranks" },
	[GROUP_COUNT] = { "count", TSCOPE_UNIT_COUNT, "kernels" },
	[GROUP_COMM_NS] = { "comm_ns", TSCOPE_UNIT_NS, "time in which one of them runs" },
	[GROUP_EXPOSED_NS] = { "exposed_ns", TSCOPE_UNIT_NS,
			       "of it, while no compute kernel runs" },
	[GROUP_OVERLAP_RATIO] = { "overlap_ratio", TSCOPE_UNIT_RATIO, "the rest ÷ comm" },
};

static const struct tscope_table_def tables[] = {
	[BY_KIND] = { "by_kind", kind_columns, TSI_COUNT_OF(kind_columns),
		      "communication by kind of collective", TSCOPE_TABLE_ROWS },
	[BY_GROUP] = { "by_group", group_columns, TSI_COUNT_OF(group_columns),
		       "communication by process group, where the trace names it",
		       TSCOPE_TABLE_ROWS },
};

/* The comm kernels of the scope, each with the number of the part that it belongs to. */
struct comm {
	struct sort_pair
		*items; /* key: part; value: device << 32 | row. In order of device and start */
	struct sort_pair *scratch;
	size_t count;
	struct pair_set groups; /* (name, description) by number */
};

static void comm_deinit(struct comm *comm)
{
	free(comm->items);
	free(comm->scratch);
}

static enum tscope_status comm_init(struct comm *comm, const struct analysis_scope *scope,
				    struct tscope_error *err)
{
	const struct tscope_trace *trace = scope->trace;
	size_t limit = 0;

	for (uint32_t i = scope->first_device; i < scope->end_device; i++)
		for (uint32_t j = 0; j < trace->devices[i].row_count; j++)
			limit += tsi_span_class(&trace->spans, trace->devices[i].rows[j]) ==
				 TSCOPE_SPAN_COMM;
	if (tsi_array_new(&comm->items, limit, sizeof(*comm->items), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	return tsi_array_new(&comm->scratch, limit, sizeof(*comm->scratch), err);
}

/* The part of a comm kernel in one of the tables, or NO_ROW where it has none. */
typedef enum tscope_status part_of_row(struct comm *comm, const struct tscope_trace *trace,
				       uint32_t row, uint32_t *part, struct tscope_error *err);

static enum tscope_status kind_of_row(struct comm *comm, const struct tscope_trace *trace,
				      uint32_t row, uint32_t *part, struct tscope_error *err)
{
	(void)comm, (void)err; /* no table, nothing can fail */
	*part = tsi_collective_of(trace, row)->kind;
	return TSCOPE_OK;
}

static enum tscope_status group_of_row(struct comm *comm, const struct tscope_trace *trace,
				       uint32_t row, uint32_t *part, struct tscope_error *err)
{
	const struct collective *collective = tsi_collective_of(trace, row);

	*part = NO_ROW;
	if (collective->group_name == 0 && collective->group_desc == 0)
		return TSCOPE_OK;
	return tsi_pair_set_find(&comm->groups, collective->group_name, collective->group_desc,
				 part, err);
}

/* Fills comm->items, ordered by part, device and start. */
static enum tscope_status divide(struct comm *comm, const struct analysis_scope *scope,
				 part_of_row *part_of, struct tscope_error *err)
{
	const struct tscope_trace *trace = scope->trace;

	comm->count = 0;
	for (uint32_t i = scope->first_device; i < scope->end_device; i++) {
		for (uint32_t j = 0; j < trace->devices[i].row_count; j++) {
			uint32_t row = trace->devices[i].rows[j], part;
			if (tsi_span_class(&trace->spans, row) != TSCOPE_SPAN_COMM)
				continue;
			if (part_of(comm, trace, row, &part, err) != TSCOPE_OK)
				return TSCOPE_E_NOMEM;
			if (part != NO_ROW)
				comm->items[comm->count++] = (struct sort_pair){
					.key = part,
					.value = (uint64_t)i << 32 | row,
				};
		}
	}
	tsi_sort_pairs(comm->items, comm->scratch, comm->count);
	return TSCOPE_OK;
}

struct part {
	uint32_t row; /* the first */
	int64_t count, comm_ns, exposed_ns;
};

/* Adds the union of items [first, end), all of one device, to the part. */
static enum tscope_status add_device(struct part *part, struct interval_set *set,
				     const struct analysis_scope *scope,
				     const struct sort_pair *items, size_t count,
				     struct tscope_error *err)
{
	const struct tscope_trace *trace = scope->trace;
	uint32_t device = (uint32_t)(items[0].value >> 32);

	set->count = 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t row = (uint32_t)items[i].value;
		if (tsi_intervals_append(set, tsi_start_ns(&trace->spans, row),
					 tsi_span_end(trace, row), err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	}
	int64_t comm_ns = tsi_intervals_length(set);
	part->count += (int64_t)count;
	int64_t hidden_ns = tsi_intervals_common(set, &scope->timeline->activity[device].compute);
	tsi_sum(&part->comm_ns, comm_ns);
	tsi_sum(&part->exposed_ns, comm_ns - hidden_ns);
	return TSCOPE_OK;
}

/* Sums up the part that begins at item *at and moves *at behind it. */
static enum tscope_status next_part(const struct comm *comm, const struct analysis_scope *scope,
				    size_t *at, struct part *part, struct tscope_error *err)
{
	uint64_t key = comm->items[*at].key;
	struct interval_set set = { 0 };
	enum tscope_status status = TSCOPE_OK;

	*part = (struct part){ .row = (uint32_t)comm->items[*at].value };
	while (status == TSCOPE_OK && *at < comm->count && comm->items[*at].key == key) {
		size_t end = *at;
		while (end < comm->count && comm->items[end].key == key &&
		       comm->items[end].value >> 32 == comm->items[*at].value >> 32)
			end++;
		status = add_device(part, &set, scope, &comm->items[*at], end - *at, err);
		*at = end;
	}
	tsi_intervals_deinit(&set);
	return status;
}

static enum tscope_status add_kinds(struct comm *comm, const struct analysis_scope *scope,
				    struct fact_sheet *out, struct tscope_error *err)
{
	struct tscope_value *cells;
	struct part part;

	if (divide(comm, scope, kind_of_row, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t at = 0; at < comm->count;) {
		enum collective_kind kind = (enum collective_kind)comm->items[at].key;
		if (next_part(comm, scope, &at, &part, err) != TSCOPE_OK ||
		    tsi_table_add(out, BY_KIND, &cells, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		cells[KIND] = tsi_text(tsi_collective_kind_name(kind));
		cells[KIND_COUNT] = tsi_int(part.count);
		cells[KIND_COMM_NS] = tsi_int(part.comm_ns);
		cells[KIND_EXPOSED_NS] = tsi_int(part.exposed_ns);
		cells[KIND_OVERLAP_RATIO] = tsi_ratio(part.comm_ns - part.exposed_ns, part.comm_ns);
	}
	return tsi_table_sort(out, BY_KIND, KIND_EXPOSED_NS, KIND, err);
}

static void fill_group(const struct tscope_trace *trace, const struct part *part,
		       struct tscope_value *cells)
{
	const struct collective *collective = tsi_collective_of(trace, part->row);

	cells[GROUP] = tsi_text(tsi_intern_text(&trace->names, collective->group_name).data);
	cells[GROUP_DESCRIPTION] =
		tsi_text(tsi_intern_text(&trace->names, collective->group_desc).data);
	if (collective->group_size != NO_NUMBER)
		cells[GROUP_SIZE] = tsi_int(collective->group_size);
	cells[GROUP_COUNT] = tsi_int(part->count);
	cells[GROUP_COMM_NS] = tsi_int(part->comm_ns);
	cells[GROUP_EXPOSED_NS] = tsi_int(part->exposed_ns);
	cells[GROUP_OVERLAP_RATIO] = tsi_ratio(part->comm_ns - part->exposed_ns, part->comm_ns);
}

static enum tscope_status add_groups(struct comm *comm, const struct analysis_scope *scope,
				     struct fact_sheet *out, struct tscope_error *err)
{
	struct tscope_value *cells;
	struct part part;

	if (divide(comm, scope, group_of_row, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t at = 0; at < comm->count;) {
		if (next_part(comm, scope, &at, &part, err) != TSCOPE_OK ||
		    tsi_table_add(out, BY_GROUP, &cells, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		fill_group(scope->trace, &part, cells);
	}
	return tsi_table_sort(out, BY_GROUP, GROUP_EXPOSED_NS, GROUP, err);
}

static void set_facts(const struct analysis_scope *scope, struct fact_sheet *out)
{
	int64_t span_ns = 0, comm_ns = 0, overlapped_ns = 0;

	for (uint32_t i = scope->first_device; i < scope->end_device; i++) {
		const struct device_activity *activity = &scope->timeline->activity[i];
		tsi_sum(&span_ns, activity->span_end_ns - activity->span_start_ns);
		tsi_sum(&comm_ns, tsi_intervals_length(&activity->comm));
		tsi_sum(&overlapped_ns, tsi_intervals_common(&activity->comm, &activity->compute));
	}
	tsi_fact_int(out, COMM_NS, comm_ns);
	tsi_fact_int(out, OVERLAPPED_NS, overlapped_ns);
	tsi_fact_int(out, EXPOSED_NS, comm_ns - overlapped_ns);
	tsi_fact_ratio(out, OVERLAP_RATIO, overlapped_ns, comm_ns);
	tsi_fact_ratio(out, EXPOSED_COMM_RATIO, comm_ns - overlapped_ns, span_ns);
	tsi_judge_device_time(scope->trace, out);
}

static enum tscope_status analyze_overlap(const struct analysis_scope *scope,
					  struct fact_sheet *out, struct tscope_error *err)
{
	struct comm comm = { .groups.arena = tsi_sheet_scratch(out) };
	enum tscope_status status = comm_init(&comm, scope, err);

	set_facts(scope, out);
	if (status == TSCOPE_OK)
		status = add_kinds(&comm, scope, out, err);
	if (status == TSCOPE_OK)
		status = add_groups(&comm, scope, out, err);
	comm_deinit(&comm);
	return status;
}

const struct analyzer tsi_analyzer_overlap = {
	.def = {
		.id = "overlap",
		.summary = "communication hidden under computation, and exposed",
		.facts = facts,
		.fact_count = TSI_COUNT_OF(facts),
		.tables = tables,
		.table_count = TSI_COUNT_OF(tables),
		.per_device = true,
		.needs = "a trace with communication on a device",
		.total = TSCOPE_TOTAL_CAPTURE,
	},
	.levels = LEVEL_TRACE,
	.beside_flops = true,
	.run = analyze_overlap,
};
