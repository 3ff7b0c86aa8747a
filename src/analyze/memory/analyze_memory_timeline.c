/* SPDX-License-Identifier: MIT */
/*
 * A memory timeline of torch.profiler: the bytes of each category over time, their peak, and
 * what there was at the end. Sizes are those of tensors, so below what the allocator reserves.
 */
#include "analyze/facts.h"
#include "model/memory/memory_file.h"

#define FACTS(X)                                                                                   \
	X(PATH, "path", TEXT, "file that these figures are of")                                    \
	X(POINT_COUNT, "point_count", COUNT, "different times, one point each")                    \
	X(START_TIME_NS, "start_time_ns", NS, "Unix time of the first point")                      \
	X(END_TIME_NS, "end_time_ns", NS, "Unix time of the last")                                 \
	X(WINDOW_NS, "window_ns", NS, "from the first point to the last")                          \
	X(PEAK_BYTES, "peak_bytes", BYTES, "most of all categories together")                      \
	X(PEAK_INDEX, "peak_index", COUNT, "first point with it")                                  \
	X(PEAK_TIME_NS, "peak_time_ns", NS, "Unix time of that point")                             \
	X(END_BYTES, "end_bytes", BYTES, "all categories at the last point")                       \
	X(ROW_COUNT, "row_count", COUNT, "rows of the .raw.json form")                             \
	X(PREEXISTING_BYTES, "preexisting_bytes", BYTES,                                           \
	  "what existed before the profile, by its rows")                                          \
	X(PREEXISTING_COUNT, "preexisting_count", COUNT, "tensors of these")                       \
	X(CREATED_COUNT, "created_count", COUNT, "tensors that came")                              \
	X(DESTROYED_COUNT, "destroyed_count", COUNT, "tensors that went")                          \
	X(CHANGED_COUNT, "changed_count", COUNT, "changes of content or category")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define CATEGORY_COLUMNS(X)                                                                        \
	X(CATEGORY_CATEGORY, "category", TEXT,                                                     \
	  "parameter, optimizer_state, input, temporary, activation, gradient, autograd_detail, "  \
	  "unknown")                                                                               \
	X(CATEGORY_PEAK_BYTES, "peak_bytes", BYTES, "at the peak of the total")                    \
	X(CATEGORY_END_BYTES, "end_bytes", BYTES, "at the last point")                             \
	X(CATEGORY_OWN_PEAK_BYTES, "own_peak_bytes", BYTES, "most of this category alone")

TSI_FACT_LIST(enum category_column, category_columns, CATEGORY_COLUMNS);

enum timeline_column { TIMELINE_INDEX, TIMELINE_TIME_NS, TIMELINE_BYTES, TIMELINE_CATEGORIES };

static const struct tscope_fact_def timeline_columns[] = {
	[TIMELINE_INDEX] = { "index", TSCOPE_UNIT_COUNT, "last point of a stretch" },
	[TIMELINE_TIME_NS] = { "time_ns", TSCOPE_UNIT_NS, "Unix time of that point" },
	[TIMELINE_BYTES] = { "bytes", TSCOPE_UNIT_BYTES, "most in the stretch" },
	/* In the order of enum memory_category. */
	{ "parameter_bytes", TSCOPE_UNIT_BYTES, "of it, parameters" },
	{ "optimizer_state_bytes", TSCOPE_UNIT_BYTES, "of it, the optimizer's state" },
	{ "input_bytes", TSCOPE_UNIT_BYTES, "of it, inputs" },
	{ "temporary_bytes", TSCOPE_UNIT_BYTES, "of it, temporary tensors" },
	{ "activation_bytes", TSCOPE_UNIT_BYTES, "of it, activations" },
	{ "gradient_bytes", TSCOPE_UNIT_BYTES, "of it, gradients" },
	{ "autograd_detail_bytes", TSCOPE_UNIT_BYTES, "of it, autograd's own" },
	{ "unknown_bytes", TSCOPE_UNIT_BYTES, "of it, not known" },
};

#define TABLES(X)                                                                                  \
	X(BY_CATEGORY, "by_category", category_columns, "memory by category")                      \
	X(TIMELINE, "timeline", timeline_columns, "memory over time, as a sketch")

TSI_TABLE_LIST(enum table, tables, TABLES);

enum { TIMELINE_ROWS_MAX = 240 };

/* The first point in [first, end) with the highest total. Not of an empty stretch. */
static size_t find_peak(const struct memory_timeline *timeline, size_t first, size_t end)
{
	int64_t peak_bytes = tsi_memory_point_bytes(&timeline->points[first]);
	size_t peak = first;

	for (size_t i = first + 1; i < end; i++) {
		int64_t bytes = tsi_memory_point_bytes(&timeline->points[i]);
		if (bytes > peak_bytes) {
			peak_bytes = bytes;
			peak = i;
		}
	}
	return peak;
}

/* Nothing, where no point has a time. */
static void put_times(struct fact_sheet *out, const struct memory_timeline *timeline, size_t peak)
{
	int64_t start_ns = timeline->points[0].time_ns;
	int64_t end_ns = timeline->points[timeline->count - 1].time_ns;

	if (start_ns == NO_MEMORY_TIME_NS)
		return;
	tsi_fact_int(out, START_TIME_NS, start_ns);
	tsi_fact_int(out, END_TIME_NS, end_ns);
	if (end_ns >= start_ns)
		tsi_fact_int(out, WINDOW_NS, end_ns - start_ns); /* both are ≥ 0 */
	tsi_fact_int(out, PEAK_TIME_NS, timeline->points[peak].time_ns);
}

static void put_rows(struct fact_sheet *out, const struct memory_timeline *timeline)
{
	tsi_fact_int(out, ROW_COUNT, (int64_t)timeline->row_count);
	tsi_fact_int(out, PREEXISTING_BYTES, timeline->preexisting_bytes);
	tsi_fact_int(out, PREEXISTING_COUNT, (int64_t)timeline->preexisting_count);
	tsi_fact_int(out, CREATED_COUNT, (int64_t)timeline->created_count);
	tsi_fact_int(out, DESTROYED_COUNT, (int64_t)timeline->destroyed_count);
	tsi_fact_int(out, CHANGED_COUNT, (int64_t)timeline->changed_count);
}

static void put_categories(struct fact_sheet *out, const struct memory_timeline *timeline,
			   size_t peak)
{
	const struct memory_point *last = &timeline->points[timeline->count - 1];

	for (size_t category = 0; category < MEMORY_CATEGORY_COUNT; category++) {
		int64_t own_peak_bytes = INT64_MIN;
		struct tscope_value *cells = tsi_table_row(out, BY_CATEGORY);

		for (size_t i = 0; i < timeline->count; i++)
			if (timeline->points[i].bytes[category] > own_peak_bytes)
				own_peak_bytes = timeline->points[i].bytes[category];
		cells[CATEGORY_CATEGORY] =
			tsi_text(tsi_memory_category_name((enum memory_category)category));
		cells[CATEGORY_PEAK_BYTES] = tsi_int(timeline->points[peak].bytes[category]);
		cells[CATEGORY_END_BYTES] = tsi_int(last->bytes[category]);
		cells[CATEGORY_OWN_PEAK_BYTES] = tsi_int(own_peak_bytes);
	}
}

/* Splits the points into stretches of about equal number; a row is the highest point of one. */
static void put_timeline(struct fact_sheet *out, const struct memory_timeline *timeline)
{
	size_t count = timeline->count;
	size_t row_count = count < TIMELINE_ROWS_MAX ? count : TIMELINE_ROWS_MAX;

	for (size_t row = 0; row < row_count; row++) {
		size_t first = row * count / row_count, end = (row + 1) * count / row_count;
		const struct memory_point *highest =
			&timeline->points[find_peak(timeline, first, end)];
		int64_t time_ns = timeline->points[end - 1].time_ns;
		struct tscope_value *cells = tsi_table_row(out, TIMELINE);

		cells[TIMELINE_INDEX] = tsi_int((int64_t)end - 1);
		if (time_ns != NO_MEMORY_TIME_NS)
			cells[TIMELINE_TIME_NS] = tsi_int(time_ns);
		cells[TIMELINE_BYTES] = tsi_int(tsi_memory_point_bytes(highest));
		for (size_t i = 0; i < MEMORY_CATEGORY_COUNT; i++)
			cells[TIMELINE_CATEGORIES + i] = tsi_int(highest->bytes[i]);
	}
}

static void fill_memory_timeline(const struct analysis_scope *scope, struct fact_sheet *out)
{
	const struct memory_timeline *timeline = &scope->memory->timeline;
	size_t last = timeline->count - 1; /* there is no empty one */
	size_t peak = find_peak(timeline, 0, timeline->count);

	tsi_fact_text(out, PATH, scope->memory->info.path);
	tsi_fact_int(out, POINT_COUNT, (int64_t)timeline->count);
	put_times(out, timeline, peak);
	tsi_fact_int(out, PEAK_BYTES, tsi_memory_point_bytes(&timeline->points[peak]));
	tsi_fact_int(out, PEAK_INDEX, (int64_t)peak);
	tsi_fact_int(out, END_BYTES, tsi_memory_point_bytes(&timeline->points[last]));
	if (timeline->is_raw)
		put_rows(out, timeline);
	put_categories(out, timeline, peak);
	put_timeline(out, timeline);
}

const struct analyzer tsi_analyzer_memory_timeline = {
	.def = {
		.id = "memory_timeline",
		.summary = "tensors' memory over time, by category",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a memory timeline (export_memory_timeline)",
	},
	.levels = LEVEL_MEMORY_TIMELINE,
	.fill = fill_memory_timeline,
};
