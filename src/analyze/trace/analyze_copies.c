/* SPDX-License-Identifier: MIT */
/*
 * Copies and fills on the devices, over the whole trace: by name and by
 * direction, with the bandwidth that was reached and how much of their time
 * no kernel hides.
 */
#include "analyze/facts.h"

#include "analyze/shared/reliability.h"
#include "base/sum.h"
#include "model/trace/device_rows.h"

#define FACTS(X)                                                                                   \
	X(COUNT, "count", COUNT, "copies and fills")                                               \
	X(TOTAL_NS, "total_ns", NS, "sum of their durations")                                      \
	X(BYTES, "bytes", BYTES, "that they moved or filled, where the trace says it")             \
	X(EXPOSED_NS, "exposed_ns", NS,                                                            \
	  "time in which one of them runs and no kernel of its device does")                       \
	X(PAGEABLE_COUNT, "pageable_count", COUNT, "copies from or to pageable host memory")       \
	X(PAGEABLE_NS, "pageable_ns", NS, "sum of their durations")                                \
	X(PAGEABLE_BYTES, "pageable_bytes", BYTES, "that they moved")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define NAME_COLUMNS(X)                                                                            \
	X(NAME, "name", TEXT, "of the copy or fill")                                               \
	X(NAME_COPY_COUNT, "count", COUNT, "how many")                                             \
	X(NAME_TOTAL_NS, "total_ns", NS, "sum of their durations")                                 \
	X(NAME_MEAN_NS, "mean_ns", NS, "mean duration")                                            \
	X(NAME_BYTES, "bytes", BYTES, "sum of their sizes")                                        \
	X(NAME_BANDWIDTH, "bytes_per_second", BYTES_PER_SECOND,                                    \
	  "bytes ÷ time, of those whose size is known")

TSI_FACT_LIST(enum name_column, name_columns, NAME_COLUMNS);

#define DIRECTION_COLUMNS(X)                                                                       \
	X(DIRECTION, "direction", TEXT, "between host (h) and device (d), or fill")                \
	X(PAGEABLE, "pageable", FLAG, "the host's memory is pageable; absent: not said")           \
	X(DIRECTION_COPY_COUNT, "count", COUNT, "how many")                                        \
	X(DIRECTION_TOTAL_NS, "total_ns", NS, "sum of their durations")                            \
	X(DIRECTION_EXPOSED_NS, "exposed_ns", NS,                                                  \
	  "of these, while no kernel of their device runs")                                        \
	X(DIRECTION_BYTES, "bytes", BYTES, "sum of their sizes")                                   \
	X(DIRECTION_BANDWIDTH, "bytes_per_second", BYTES_PER_SECOND,                               \
	  "bytes ÷ time, of those whose size is known")                                            \
	X(DIRECTION_MAX_NS, "max_ns", NS, "longest")                                               \
	X(DIRECTION_MAX_START_NS, "max_start_ns", NS,                                              \
	  "when the longest starts, on the trace's clock")

TSI_FACT_LIST(enum direction_column, direction_columns, DIRECTION_COLUMNS);

#define TABLES(X)                                                                                  \
	X(BY_NAME, "by_name", name_columns, "copies and fills by name")                            \
	X(BY_DIRECTION, "by_direction", direction_columns, "copies and fills by direction")

TSI_TABLE_LIST(enum table, tables, TABLES);

struct copies {
	int64_t count, total_ns, exposed_ns;
	int64_t sized_count, sized_ns, bytes; /* of those whose size is known */
	int64_t max_ns;
	uint32_t longest_row;
};

enum { FILL = COPY_DIRECTION_COUNT, WAY_COUNT }; /* the directions, and fills */

/* The host's side of a copy. ROCm and others call it "Host", whatever it is. */
enum memory { NOT_LOOKED_UP, NOT_PAGEABLE, PAGEABLE_MEMORY, MEMORY_NOT_SAID, MEMORY_COUNT };

struct work {
	const struct tscope_trace *trace;
	struct copies *by_name;  /* by name id */
	uint8_t *memory_of_name; /* likewise: enum memory */
	struct copies by_way[WAY_COUNT][MEMORY_COUNT];
	struct copies all, by_memory[MEMORY_COUNT];
};

static const char *way_name(int way)
{
	static const char *const names[WAY_COUNT] = {
		[COPY_UNKNOWN] = "unknown",
		[COPY_H2D] = "h2d",
		[COPY_D2H] = "d2h",
		[COPY_D2D] = "d2d",
		[COPY_P2P] = "p2p",
		[COPY_H2H] = "h2h",
		[FILL] = "fill",
	};

	return names[way];
}

static int64_t bytes_of(const struct tscope_trace *trace, uint32_t row)
{
	int64_t bytes = tsi_work_shape(trace, row)->bytes;
	uint32_t call = tsi_device_event(trace, row)->call;

	if (bytes != NO_NUMBER || call == NO_ROW)
		return bytes;
	return tsi_call_bytes(trace, call); /* ROCm says it only there */
}

static void add_copy(struct copies *copies, uint32_t row, int64_t dur_ns, int64_t bytes)
{
	if (copies->count == 0 || dur_ns > copies->max_ns) {
		copies->max_ns = dur_ns;
		copies->longest_row = row;
	}
	copies->count++;
	tsi_sum(&copies->total_ns, dur_ns);
	if (bytes < 0)
		return;
	copies->sized_count++;
	tsi_sum(&copies->sized_ns, dur_ns);
	tsi_sum(&copies->bytes, bytes);
}

static enum memory find_memory(const struct work_traits *traits, struct str name)
{
	if (traits->pageable)
		return PAGEABLE_MEMORY;
	if (traits->direction != COPY_H2D && traits->direction != COPY_D2H)
		return NOT_PAGEABLE;
	return tsi_str_find_nocase(name, TSI_STR("pinned")) >= 0 ||
			       tsi_str_find_nocase(name, TSI_STR("managed")) >= 0
		       ? NOT_PAGEABLE
		       : MEMORY_NOT_SAID;
}

static enum memory memory_of(struct work *work, uint32_t row, int way)
{
	uint8_t *known = &work->memory_of_name[tsi_name_id(&work->trace->spans, row)];

	if (way == FILL)
		return NOT_PAGEABLE;
	if (*known == NOT_LOOKED_UP)
		*known = (uint8_t)find_memory(tsi_work_traits(work->trace, row),
					      tsi_span_name(work->trace, row));
	return (enum memory) * known;
}

static void collect_row(struct work *work, const struct device_activity *activity, uint32_t row)
{
	const struct tscope_trace *trace = work->trace;
	bool is_fill = tsi_span_class(&trace->spans, row) == TSCOPE_SPAN_MEMSET;
	int way = is_fill ? FILL : tsi_work_traits(trace, row)->direction;
	int64_t dur_ns = tsi_dur_ns(&trace->spans, row), bytes = bytes_of(trace, row);
	enum memory memory = memory_of(work, row, way);
	struct copies *copies = &work->by_way[way][memory];

	add_copy(&work->by_name[tsi_name_id(&trace->spans, row)], row, dur_ns, bytes);
	add_copy(copies, row, dur_ns, bytes);
	add_copy(&work->by_memory[memory], row, dur_ns, bytes);
	add_copy(&work->all, row, dur_ns, bytes);
	tsi_sum(&copies->exposed_ns,
		tsi_intervals_outside(&activity->compute, &activity->comm,
				      tsi_start_ns(&trace->spans, row), tsi_span_end(trace, row)));
}

static void collect(struct work *work, const struct tscope_timeline *timeline)
{
	const struct tscope_trace *trace = work->trace;

	for (uint32_t index = 0; index < trace->device_count; index++) {
		const struct device *device = &trace->devices[index];
		for (uint32_t i = 0; i < device->row_count; i++) {
			uint8_t span_class = tsi_span_class(&trace->spans, device->rows[i]);
			if (span_class == TSCOPE_SPAN_MEMCPY || span_class == TSCOPE_SPAN_MEMSET)
				collect_row(work, &timeline->activity[index], device->rows[i]);
		}
	}
}

static struct tscope_value bytes_value(const struct copies *copies)
{
	return copies->sized_count ? tsi_int(copies->bytes) : (struct tscope_value){ 0 };
}

static struct tscope_value bandwidth_value(const struct copies *copies)
{
	return tsi_real((double)copies->bytes * 1e9 / (double)copies->sized_ns);
}

static void add_names(const struct work *work, struct fact_sheet *out)
{
	for (uint32_t name = 0; name < work->trace->names.count; name++) {
		const struct copies *copies = &work->by_name[name];
		if (copies->count == 0)
			continue;
		struct tscope_value *cells = tsi_table_row(out, BY_NAME);
		cells[NAME] = tsi_text(tsi_intern_text(&work->trace->names, name).data);
		cells[NAME_COPY_COUNT] = tsi_int(copies->count);
		cells[NAME_TOTAL_NS] = tsi_int(copies->total_ns);
		cells[NAME_MEAN_NS] = tsi_mean(copies->total_ns, copies->count);
		cells[NAME_BYTES] = bytes_value(copies);
		cells[NAME_BANDWIDTH] = bandwidth_value(copies);
	}
	tsi_table_order(out, BY_NAME, NAME_TOTAL_NS, NAME);
}

static void add_directions(const struct work *work, struct fact_sheet *out)
{
	for (int i = 0; i < MEMORY_COUNT * WAY_COUNT; i++) {
		int way = i / MEMORY_COUNT, memory = i % MEMORY_COUNT;
		const struct copies *copies = &work->by_way[way][memory];
		if (copies->count == 0)
			continue;
		struct tscope_value *cells = tsi_table_row(out, BY_DIRECTION);
		cells[DIRECTION] = tsi_text(way_name(way));
		if (memory != MEMORY_NOT_SAID)
			cells[PAGEABLE] = tsi_flag(memory == PAGEABLE_MEMORY);
		cells[DIRECTION_COPY_COUNT] = tsi_int(copies->count);
		cells[DIRECTION_TOTAL_NS] = tsi_int(copies->total_ns);
		cells[DIRECTION_EXPOSED_NS] = tsi_int(copies->exposed_ns);
		cells[DIRECTION_BYTES] = bytes_value(copies);
		cells[DIRECTION_BANDWIDTH] = bandwidth_value(copies);
		cells[DIRECTION_MAX_NS] = tsi_int(copies->max_ns);
		cells[DIRECTION_MAX_START_NS] =
			tsi_int(tsi_start_ns(&work->trace->spans, copies->longest_row));
	}
	tsi_table_order(out, BY_DIRECTION, DIRECTION_TOTAL_NS, DIRECTION);
}

/* |copy \ (compute ∪ comm)| without building a set: busy less what kernels cover. */
static int64_t exposed_ns(const struct device_activity *activity)
{
	int64_t kernels_ns = tsi_intervals_length(&activity->compute) +
			     tsi_intervals_length(&activity->comm) -
			     tsi_intervals_common(&activity->compute, &activity->comm);

	return activity->busy_ns - kernels_ns;
}

/* None is known only where all copies say what they are of. */
static void set_pageable(const struct work *work, struct fact_sheet *out)
{
	static const enum fact pageable_facts[] = { PAGEABLE_COUNT, PAGEABLE_NS, PAGEABLE_BYTES };
	const struct copies *pageable = &work->by_memory[PAGEABLE_MEMORY];

	if (!pageable->count && work->by_memory[MEMORY_NOT_SAID].count) {
		for (size_t i = 0; i < TSI_COUNT_OF(pageable_facts); i++)
			tsi_fact_doubt(out, pageable_facts[i],
				       "the names of copies do not say whether the host's memory "
				       "is pageable");
		return;
	}
	tsi_fact_int(out, PAGEABLE_COUNT, pageable->count);
	tsi_fact_int(out, PAGEABLE_NS, pageable->total_ns);
	if (pageable->sized_count)
		tsi_fact_int(out, PAGEABLE_BYTES, pageable->bytes);
}

static void set_facts(const struct work *work, const struct analysis_scope *scope,
		      struct fact_sheet *out)
{
	int64_t total_exposed_ns = 0;

	for (uint32_t i = 0; i < scope->trace->device_count; i++)
		tsi_sum(&total_exposed_ns, exposed_ns(&scope->timeline->activity[i]));
	tsi_fact_int(out, COUNT, work->all.count);
	tsi_fact_int(out, TOTAL_NS, work->all.total_ns);
	if (work->all.sized_count)
		tsi_fact_int(out, BYTES, work->all.bytes);
	tsi_fact_int(out, EXPOSED_NS, total_exposed_ns);
	set_pageable(work, out);
	tsi_judge_device_time(scope->timeline, out);
}

static void fill_copies(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct work work = { .trace = scope->trace };

	work.by_name = tsi_arena_new(tsi_sheet_scratch(out), scope->trace->names.count,
				     sizeof(*work.by_name));
	work.memory_of_name = tsi_arena_new(tsi_sheet_scratch(out), scope->trace->names.count, 1);
	if (!work.by_name || !work.memory_of_name)
		return;
	collect(&work, scope->timeline);
	set_facts(&work, scope, out);
	add_names(&work, out);
	add_directions(&work, out);
}

const struct analyzer tsi_analyzer_copies = {
	.def = {
		.id = "copies",
		.summary = "copies and fills, their bandwidth and what of them is exposed",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a trace with copies or fills",
		.total = TSCOPE_TOTAL_CAPTURE,
	},
	.levels = LEVEL_TRACE,
	.beside_flops = true,
	.fill = fill_copies,
};
