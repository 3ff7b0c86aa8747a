/* SPDX-License-Identifier: MIT */
/*
 * Counts of torch's memory trackers during one call: the bytes of each device by kind at its peak,
 * and at each state of each module. Those of modules are rounded: a log gives them in MiB.
 */
#include "analyze/facts.h"
#include "model/memory/memory_file.h"
#include "model/memory/named_rows.h"

#define FACTS(X)                                                                                   \
	X(PATH, "path", TEXT, "file that these figures are of")                                    \
	X(FUNCTION, "function", TEXT, "the function that was called")                              \
	X(ITERATION, "iteration", COUNT, "which call of it")                                       \
	X(DEVICE_COUNT, "device_count", COUNT, "devices that held anything")                       \
	X(MODULE_COUNT, "module_count", COUNT, "modules that were tracked")                        \
	X(PEAK_BYTES, "peak_bytes", BYTES,                                                         \
	  "all kinds at the peak, on the device where that is most")                               \
	X(PEAK_DEVICE, "peak_device", TEXT, "that device")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define PEAK_COLUMNS(X)                                                                            \
	X(PEAK_ROW_DEVICE, "device", TEXT, "device")                                               \
	X(PEAK_KIND, "kind", TEXT, "what the memory holds")                                        \
	X(PEAK_KIND_BYTES, "bytes", BYTES, "at the peak of the device")

TSI_FACT_LIST(enum peak_column, peak_columns, PEAK_COLUMNS);

#define MODULES_COLUMNS(X)                                                                         \
	X(MODULES_MODULE, "module", TEXT, "name of the module")                                    \
	X(MODULES_STATE, "state", TEXT, "where in its work it was")                                \
	X(MODULES_CALL, "call", COUNT, "which call of the module")                                 \
	X(MODULES_DEVICE, "device", TEXT, "device")                                                \
	X(MODULES_BYTES, "total_bytes", BYTES, "all kinds")

TSI_FACT_LIST(enum modules_column, modules_columns, MODULES_COLUMNS);

/* The state of a module, then the columns of the peak. */
static const struct tscope_fact_def kind_columns[] = {
	{ "module", TSCOPE_UNIT_TEXT, "name of the module" },
	{ "state", TSCOPE_UNIT_TEXT, "where in its work it was" },
	{ "call", TSCOPE_UNIT_COUNT, "which call of the module" },
	{ "device", TSCOPE_UNIT_TEXT, "device" },
	{ "kind", TSCOPE_UNIT_TEXT, "what the memory holds" },
	{ "bytes", TSCOPE_UNIT_BYTES, "of this kind" },
};

#define TABLES(X)                                                                                  \
	X(PEAK, "peak", peak_columns, "what there was at the peak, by device and kind")            \
	X(MODULES, "modules", modules_columns, "memory at each state of each module")              \
	X(BY_KIND, "by_kind", kind_columns, "the same by kind")

TSI_TABLE_LIST(enum table, tables, TABLES);

/* How many different devices or modules there are; the rows of the peak are of no module. */
static int64_t count_names(const struct memory_tracker *tracker, bool modules,
			   struct arena *scratch)
{
	struct named_rows names;

	tsi_named_rows_init(&names, 1, scratch);
	tsi_named_row(&names, TSI_STR(""));
	for (size_t i = 0; i < tracker->count; i++)
		tsi_named_row(&names, modules ? tracker->rows[i].module : tracker->rows[i].device);
	tsi_named_rows_deinit(&names);
	return (int64_t)names.count - 1; /* less "" */
}

static void put_peak(struct fact_sheet *out, const struct memory_tracker *tracker)
{
	const struct tracked_bytes *peak = NULL;

	for (size_t i = 0; i < tracker->peak_count; i++)
		if (!peak || tracker->rows[i].total_bytes > peak->total_bytes)
			peak = &tracker->rows[i];
	if (!peak)
		return;
	tsi_fact_int(out, PEAK_BYTES, peak->total_bytes);
	tsi_fact_text(out, PEAK_DEVICE, peak->device.data);
}

/* Fills in the first columns of a table of modules; returns the cell behind them. */
static struct tscope_value *put_place(struct tscope_value *cells, const struct tracked_bytes *row)
{
	cells[MODULES_MODULE] = tsi_text(row->module.data);
	cells[MODULES_STATE] = tsi_text(row->state.data);
	cells[MODULES_CALL] = tsi_int(row->call);
	return cells + MODULES_DEVICE;
}

/* Adds the kinds of a row to PEAK or BY_KIND. */
static void put_kinds(struct fact_sheet *out, enum table table,
		      const struct memory_tracker *tracker, const struct tracked_bytes *row)
{
	size_t count = tsi_plain_length(tracker->plain, row->bytes);

	for (size_t i = 0; i < count; i++) {
		int64_t bytes;
		struct str kind = tsi_tracked_kind(tracker, row, i, &bytes);

		if (!kind.data)
			continue;
		struct tscope_value *cells = tsi_table_row(out, table);
		if (table == BY_KIND)
			cells = put_place(cells, row);
		cells[PEAK_ROW_DEVICE] = tsi_text(row->device.data);
		cells[PEAK_KIND] = tsi_text(kind.data);
		cells[PEAK_KIND_BYTES] = tsi_int(bytes);
	}
}

static void put_module(struct fact_sheet *out, const struct memory_tracker *tracker,
		       const struct tracked_bytes *row)
{
	struct tscope_value *cells = tsi_table_row(out, MODULES);

	put_place(cells, row);
	cells[MODULES_DEVICE] = tsi_text(row->device.data);
	cells[MODULES_BYTES] = tsi_int(row->total_bytes);
	put_kinds(out, BY_KIND, tracker, row);
}

static void fill_memory_tracker(const struct analysis_scope *scope, struct fact_sheet *out)
{
	const struct memory_tracker *tracker = &scope->memory->tracker;
	struct arena *scratch = tsi_sheet_scratch(out);

	tsi_fact_text(out, PATH, scope->memory->info.path);
	if (tracker->function.length)
		tsi_fact_text(out, FUNCTION, tracker->function.data);
	tsi_fact_int(out, ITERATION, tracker->iteration);
	tsi_fact_int(out, DEVICE_COUNT, count_names(tracker, false, scratch));
	tsi_fact_int(out, MODULE_COUNT, count_names(tracker, true, scratch));
	put_peak(out, tracker);
	for (size_t i = 0; i < tracker->count; i++) {
		if (i < tracker->peak_count)
			put_kinds(out, PEAK, tracker, &tracker->rows[i]);
		else
			put_module(out, tracker, &tracker->rows[i]);
	}
}

const struct analyzer tsi_analyzer_memory_tracker = {
	.def = {
		.id = "memory_tracker",
		.summary = "memory by kind at the peak of a call and at each state of its modules",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a log of torch's memory tracker (fsdp_mem_rank_*.log)",
	},
	.levels = LEVEL_MEMORY_TRACKER,
	.fill = fill_memory_tracker,
};
