/* SPDX-License-Identifier: MIT */
/*
 * Communication against computation: how much of it hides under compute
 * kernels of the same device and how much is exposed, in all, by kind of
 * collective and by process group. Devices are never pooled: the trace's
 * figures are the sums of its devices' own.
 */
#include "analyze/facts.h"

#include "analyze/shared/reliability.h"
#include "base/pair_set.h"
#include "base/sort.h"
#include "base/sum.h"
#include "comm/collective_kind.h"

#define FACTS(X)                                                                                   \
	X(COMM_NS, "comm_ns", NS, "time in which a communication kernel runs")                     \
	X(OVERLAPPED_NS, "overlapped_ns", NS,                                                      \
	  "of it, while a compute kernel runs on the same device")                                 \
	X(EXPOSED_NS, "exposed_ns", NS, "exposed: no compute kernel runs")                         \
	X(OVERLAP_RATIO, "overlap_ratio", RATIO, "overlapped ÷ comm")                              \
	X(EXPOSED_COMM_RATIO, "exposed_comm_ratio", RATIO, "exposed ÷ span of the device")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define KIND_COLUMNS(X)                                                                            \
	X(KIND, "kind", TEXT, "kind of collective")                                                \
	X(KIND_COUNT, "count", COUNT, "kernels")                                                   \
	X(KIND_COMM_NS, "comm_ns", NS, "time in which one of them runs")                           \
	X(KIND_EXPOSED_NS, "exposed_ns", NS, "of it, while no compute kernel runs")                \
	X(KIND_OVERLAP_RATIO, "overlap_ratio", RATIO, "the rest ÷ comm")

TSI_FACT_LIST(enum kind_column, kind_columns, KIND_COLUMNS);

#define GROUP_COLUMNS(X)                                                                           \
	X(GROUP, "group", TEXT, "name of the process group")                                       \
	X(GROUP_DESCRIPTION, "description", TEXT, "its description")                               \
	X(GROUP_SIZE, "size", COUNT, "its ranks")                                                  \
	X(GROUP_COUNT, "count", COUNT, "kernels")                                                  \
	X(GROUP_COMM_NS, "comm_ns", NS, "time in which one of them runs")                          \
	X(GROUP_EXPOSED_NS, "exposed_ns", NS, "of it, while no compute kernel runs")               \
	X(GROUP_OVERLAP_RATIO, "overlap_ratio", RATIO, "the rest ÷ comm")

TSI_FACT_LIST(enum group_column, group_columns, GROUP_COLUMNS);

#define EXPOSED_COLUMNS(X)                                                                         \
	X(EXPOSED_START_NS, "max_start_ns", NS, "its start, on the trace's clock")                 \
	X(EXPOSED_MAX_NS, "max_ns", NS, "its length")

TSI_FACT_LIST(enum exposed_column, exposed_columns, EXPOSED_COLUMNS);

#define TABLES(X)                                                                                  \
	X(BY_KIND, "by_kind", kind_columns, "communication by kind of collective")                 \
	X(BY_GROUP, "by_group", group_columns,                                                     \
	  "communication by process group, where the trace names it")                              \
	X(EXPOSED, "exposed", exposed_columns, "the longest intervals of exposed communication")

TSI_TABLE_LIST(enum table, tables, TABLES);

enum { LONGEST_COUNT = 5 };

/* The comm kernels of the scope, each with the number of the part that it belongs to. */
struct comm {
	const struct analysis_scope *scope;
	/* key: part; value: device << 32 | row. In order of device and start */
	struct sort_pair *items, *scratch;
	size_t count;
	struct interval_set set; /* with room for all: of a part on one device */
	struct pair_set groups;  /* (name, description) by number */
};

static void comm_init(struct comm *comm, const struct analysis_scope *scope, struct arena *scratch)
{
	const struct tscope_trace *trace = scope->trace;
	size_t limit = 0;

	*comm = (struct comm){ .scope = scope, .groups.arena = scratch };
	for (uint32_t i = scope->first_device; i < scope->end_device; i++)
		for (uint32_t j = 0; j < trace->devices[i].row_count; j++)
			limit += tsi_span_class(&trace->spans, trace->devices[i].rows[j]) ==
				 TSCOPE_SPAN_COMM;
	comm->items = tsi_arena_new(scratch, limit, sizeof(*comm->items));
	comm->scratch = tsi_arena_new(scratch, limit, sizeof(*comm->scratch));
	comm->set = tsi_intervals_new(limit, scratch);
}

/* The part of a comm kernel in one of the tables, or NO_ROW where it has none. */
typedef uint32_t part_of_row(struct comm *comm, const struct tscope_trace *trace, uint32_t row);

static uint32_t kind_of_row(struct comm *comm, const struct tscope_trace *trace, uint32_t row)
{
	(void)comm; /* kinds need no table */
	return tsi_collective_of(trace, row)->kind;
}

static uint32_t group_of_row(struct comm *comm, const struct tscope_trace *trace, uint32_t row)
{
	const struct collective *collective = tsi_collective_of(trace, row);

	if (collective->group_name == 0 && collective->group_desc == 0)
		return NO_ROW;
	return tsi_pair_set_add(&comm->groups, collective->group_name, collective->group_desc);
}

/* Fills comm->items, ordered by part, device and start. */
static void divide(struct comm *comm, part_of_row *part_of)
{
	const struct analysis_scope *scope = comm->scope;
	const struct tscope_trace *trace = scope->trace;

	comm->count = 0;
	for (uint32_t i = scope->first_device; i < scope->end_device; i++) {
		for (uint32_t j = 0; j < trace->devices[i].row_count; j++) {
			uint32_t row = trace->devices[i].rows[j];
			if (tsi_span_class(&trace->spans, row) != TSCOPE_SPAN_COMM)
				continue;
			uint32_t part = part_of(comm, trace, row);
			if (part != NO_ROW)
				comm->items[comm->count++] = (struct sort_pair){
					.key = part,
					.value = (uint64_t)i << 32 | row,
				};
		}
	}
	tsi_sort_pairs(comm->items, comm->scratch, comm->count);
}

struct part {
	uint32_t row; /* the first */
	int64_t count, comm_ns, exposed_ns;
};

/* Adds the union of items [first, end), all of one device, to the part. */
static void add_device(struct part *part, struct comm *comm, size_t first, size_t end)
{
	const struct tscope_trace *trace = comm->scope->trace;
	uint32_t device = (uint32_t)(comm->items[first].value >> 32);
	const struct device_activity *activity = &comm->scope->timeline->activity[device];

	comm->set.count = 0;
	for (size_t i = first; i < end; i++) {
		uint32_t row = (uint32_t)comm->items[i].value;
		tsi_intervals_append(&comm->set, tsi_start_ns(&trace->spans, row),
				     tsi_span_end(trace, row), comm->groups.arena);
	}
	int64_t comm_ns = tsi_intervals_length(&comm->set);
	part->count += (int64_t)(end - first);
	tsi_sum(&part->comm_ns, comm_ns);
	tsi_sum(&part->exposed_ns, comm_ns - tsi_intervals_common(&comm->set, &activity->compute));
}

/* Sums up the part that begins at item *at and moves *at behind it. */
static struct part next_part(struct comm *comm, size_t *at)
{
	const struct sort_pair *items = comm->items;
	uint64_t key = items[*at].key;
	struct part part = { .row = (uint32_t)items[*at].value };

	while (*at < comm->count && items[*at].key == key) {
		size_t end = *at;
		while (end < comm->count && items[end].key == key &&
		       items[end].value >> 32 == items[*at].value >> 32)
			end++;
		add_device(&part, comm, *at, end);
		*at = end;
	}
	return part;
}

/* The columns that both tables end with; cells points to the first, "count". */
static void fill_times(struct tscope_value *cells, const struct part *part)
{
	enum { FIRST = KIND_COUNT };

	cells[KIND_COUNT - FIRST] = tsi_int(part->count);
	cells[KIND_COMM_NS - FIRST] = tsi_int(part->comm_ns);
	cells[KIND_EXPOSED_NS - FIRST] = tsi_int(part->exposed_ns);
	cells[KIND_OVERLAP_RATIO - FIRST] =
		tsi_ratio(part->comm_ns - part->exposed_ns, part->comm_ns);
}

static void add_kinds(struct comm *comm, struct fact_sheet *out)
{
	divide(comm, kind_of_row);
	for (size_t at = 0; at < comm->count;) {
		enum collective_kind kind = (enum collective_kind)comm->items[at].key;
		struct part part = next_part(comm, &at);
		struct tscope_value *cells = tsi_table_row(out, BY_KIND);
		cells[KIND] = tsi_text(tsi_collective_kind_name(kind));
		fill_times(&cells[KIND_COUNT], &part);
	}
	tsi_table_order(out, BY_KIND, KIND_EXPOSED_NS, KIND);
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
	fill_times(&cells[GROUP_COUNT], part);
}

static void add_groups(struct comm *comm, struct fact_sheet *out)
{
	divide(comm, group_of_row);
	for (size_t at = 0; at < comm->count;) {
		struct part part = next_part(comm, &at);
		fill_group(comm->scope->trace, &part, tsi_table_row(out, BY_GROUP));
	}
	tsi_table_order(out, BY_GROUP, GROUP_EXPOSED_NS, GROUP);
}

/* The longest first; of equals the first. */
static void keep_longest(struct interval longest[LONGEST_COUNT], struct interval candidate)
{
	for (size_t i = 0; i < LONGEST_COUNT; i++) {
		struct interval next = longest[i];
		if (candidate.end_ns - candidate.start_ns <= next.end_ns - next.start_ns)
			continue;
		longest[i] = candidate;
		candidate = next;
	}
}

static void add_exposed(struct comm *comm, struct fact_sheet *out)
{
	const struct analysis_scope *scope = comm->scope;
	struct interval longest[LONGEST_COUNT] = { 0 };

	for (uint32_t device = scope->first_device; device < scope->end_device; device++) {
		const struct device_activity *activity = &scope->timeline->activity[device];
		comm->set.count = 0;
		tsi_intervals_subtract(&comm->set, &activity->comm, &activity->compute,
				       comm->groups.arena);
		for (size_t i = 0; i < comm->set.count; i++)
			keep_longest(longest, comm->set.items[i]);
	}
	for (size_t i = 0; i < LONGEST_COUNT && longest[i].end_ns > longest[i].start_ns; i++) {
		struct tscope_value *cells = tsi_table_row(out, EXPOSED);
		cells[EXPOSED_START_NS] = tsi_int(longest[i].start_ns);
		cells[EXPOSED_MAX_NS] = tsi_int(longest[i].end_ns - longest[i].start_ns);
	}
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
	tsi_judge_device_time(scope->timeline, out);
}

static void fill_overlap(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct comm comm;

	comm_init(&comm, scope, tsi_sheet_scratch(out));
	if (!comm.items || !comm.scratch || !comm.set.items)
		return;
	set_facts(scope, out);
	add_kinds(&comm, out);
	add_groups(&comm, out);
	add_exposed(&comm, out);
}

const struct analyzer tsi_analyzer_overlap = {
	.def = {
		.id = "overlap",
		.summary = "communication hidden under computation, and exposed",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.per_device = true,
		.needs = "a trace with communication on a device",
		.total = TSCOPE_TOTAL_CAPTURE,
	},
	.levels = LEVEL_TRACE,
	.beside_flops = true,
	.fill = fill_overlap,
};
