/* SPDX-License-Identifier: MIT */
/*
 * Collectives over the whole trace: how many, how large and how fast, by kind
 * and by size. Seen from one rank, the time of a collective includes waiting
 * for the others, so every bandwidth here is a lower bound.
 */
#include "analyze/facts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/shared/reliability.h"
#include "base/sum.h"
#include "comm/collective_kind.h"
#include "comm/collective_list.h"

#define FACTS(X)                                                                                   \
	X(COUNT, "count", COUNT, "collectives")                                                    \
	X(TOTAL_NS, "total_ns", NS, "sum of their durations")                                      \
	X(BYTES, "bytes", BYTES, "sum of their sizes, of those that the trace says")               \
	X(UNSIZED_COUNT, "unsized_count", COUNT, "collectives without a size")                     \
	X(HOST_COUNT, "host_count", COUNT,                                                         \
	  "collectives without a kernel: their times are the host's")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define LABEL_COLUMNS(X, prefix)                                                                   \
	X(prefix, "kind", TEXT, "kind of collective")                                              \
	X(prefix##_DTYPE, "dtype", TEXT, "type of the elements")                                   \
	X(prefix##_GROUP, "group", TEXT, "name of the process group")                              \
	X(prefix##_GROUP_DESCRIPTION, "group_description", TEXT,                                   \
	  "description of the process group")                                                      \
	X(prefix##_GROUP_SIZE, "group_size", COUNT, "ranks of the process group")                  \
	X(prefix##_ON_HOST, "on_host", FLAG, "no kernel: times are the host's")

#define FIGURE_COLUMNS(X, prefix)                                                                  \
	X(prefix##_RUN_COUNT, "count", COUNT, "collectives")                                       \
	X(prefix##_BYTES, "bytes", BYTES, "sum of their sizes")                                    \
	X(prefix##_TOTAL_NS, "total_ns", NS, "sum of their durations")                             \
	X(prefix##_MEAN_NS, "mean_ns", NS, "mean duration")                                        \
	X(prefix##_ALGORITHM_BANDWIDTH, "algorithm_bytes_per_second", BYTES_PER_SECOND,            \
	  "size ÷ time")                                                                           \
	X(prefix##_BUS_BANDWIDTH, "bus_bytes_per_second", BYTES_PER_SECOND,                        \
	  "what a link carries: comparable between kinds")                                         \
	X(prefix##_IS_LOWER_BOUND, "is_lower_bound", FLAG,                                         \
	  "the time includes waiting for other ranks")

#define KIND_COLUMNS(X) LABEL_COLUMNS(X, KIND) FIGURE_COLUMNS(X, KIND)

TSI_FACT_LIST(enum kind_column, kind_columns, KIND_COLUMNS);

#define SIZE_COLUMNS(X)                                                                            \
	LABEL_COLUMNS(X, SIZE)                                                                     \
	X(SIZE_OF_ONE, "message_bytes", BYTES, "size of each")                                     \
	X(SIZE_ALGORITHM, "algorithm", TEXT, "by the kernel's name")                               \
	X(SIZE_PROTOCOL, "protocol", TEXT, "by the kernel's name")                                 \
	X(SIZE_MIN_NS, "min_ns", NS, "shortest: at most the pure transfer")                        \
	X(SIZE_MAX_NS, "max_ns", NS, "longest")                                                    \
	FIGURE_COLUMNS(X, SIZE)

TSI_FACT_LIST(enum size_column, size_columns, SIZE_COLUMNS);

#define TABLES(X)                                                                                  \
	X(BY_KIND, "by_kind", kind_columns, "collectives by kind, type and process group")         \
	X(BY_SIZE, "by_size", size_columns, "the same, each size for itself")

TSI_TABLE_LIST(enum table, tables, TABLES);

/* By what the rows of by_kind have in common. */
static int compare_kinds(const struct collective_run *a, const struct collective_run *b)
{
	TSI_ASCENDING(a->kind, b->kind);
	int order = tsi_str_compare(a->dtype, b->dtype);
	if (order)
		return order;
	TSI_ASCENDING(a->group_name, b->group_name);
	TSI_ASCENDING(a->group_desc, b->group_desc);
	TSI_ASCENDING(a->group_size, b->group_size);
	TSI_ASCENDING(a->on_host, b->on_host);
	return 0;
}

/* By what the rows of by_size have in common: those of one row of by_kind stand together. */
static int compare_sizes(const struct collective_run *a, const struct collective_run *b)
{
	int order = compare_kinds(a, b);

	if (order)
		return order;
	TSI_ASCENDING(a->bytes, b->bytes);
	order = strcmp(a->algorithm, b->algorithm);
	return order ? order : strcmp(a->protocol, b->protocol);
}

static int compare_runs(const void *left, const void *right)
{
	return compare_sizes(left, right);
}

struct figures {
	int64_t count, total_ns, min_ns, max_ns;
	int64_t sized_count, bytes, sized_ns; /* of those with a size */
	double bus_bytes, bus_ns;             /* of those whose bus factor is known, too */
};

static struct figures sum_up(const struct collective_run *runs, size_t count)
{
	struct figures sum = { .min_ns = runs[0].dur_ns };

	for (size_t i = 0; i < count; i++) {
		const struct collective_run *run = &runs[i];
		sum.count += !run->is_further;
		tsi_sum(&sum.total_ns, run->dur_ns);
		if (run->dur_ns < sum.min_ns)
			sum.min_ns = run->dur_ns;
		if (run->dur_ns > sum.max_ns)
			sum.max_ns = run->dur_ns;
		if (run->bytes == NO_NUMBER)
			continue;
		/* A further kernel takes time, but moves no more than its collective's bytes. */
		sum.sized_count += !run->is_further;
		tsi_sum(&sum.bytes, run->is_further ? 0 : run->bytes);
		tsi_sum(&sum.sized_ns, run->dur_ns);
		if (isfinite(run->bus_bytes)) {
			sum.bus_bytes += run->is_further ? 0 : run->bus_bytes;
			sum.bus_ns += (double)run->dur_ns;
		}
	}
	return sum;
}

static struct tscope_value name_value(const struct tscope_trace *trace, uint32_t id)
{
	return id ? tsi_text(tsi_intern_text(&trace->names, id).data) : (struct tscope_value){ 0 };
}

/* The label columns stand first in both tables. */
static void fill_labels(struct tscope_value *cells, const struct tscope_trace *trace,
			const struct collective_run *run)
{
	cells[KIND] = tsi_text(tsi_collective_kind_name(run->kind));
	if (run->dtype.length)
		cells[KIND_DTYPE] = tsi_text(run->dtype.data);
	cells[KIND_GROUP] = name_value(trace, run->group_name);
	cells[KIND_GROUP_DESCRIPTION] = name_value(trace, run->group_desc);
	if (run->group_size != NO_NUMBER)
		cells[KIND_GROUP_SIZE] = tsi_int(run->group_size);
	cells[KIND_ON_HOST] = tsi_flag(run->on_host);
}

/* cells points to the first of the figure columns, "count". */
static void fill_figures(struct tscope_value *cells, const struct figures *figures)
{
	enum { FIRST = KIND_RUN_COUNT };

	cells[KIND_RUN_COUNT - FIRST] = tsi_int(figures->count);
	cells[KIND_TOTAL_NS - FIRST] = tsi_int(figures->total_ns);
	cells[KIND_MEAN_NS - FIRST] = tsi_mean(figures->total_ns, figures->count);
	if (figures->sized_count == 0)
		return;
	cells[KIND_BYTES - FIRST] = tsi_int(figures->bytes);
	cells[KIND_ALGORITHM_BANDWIDTH - FIRST] =
		tsi_real((double)figures->bytes * 1e9 / (double)figures->sized_ns);
	cells[KIND_BUS_BANDWIDTH - FIRST] = tsi_real(figures->bus_bytes * 1e9 / figures->bus_ns);
	cells[KIND_IS_LOWER_BOUND - FIRST] = tsi_flag(true);
}

static void add_kind(const struct tscope_trace *trace, const struct collective_run *runs,
		     size_t count, struct fact_sheet *out)
{
	struct figures figures = sum_up(runs, count);
	struct tscope_value *cells = tsi_table_row(out, BY_KIND);
	fill_labels(cells, trace, runs);
	fill_figures(&cells[KIND_RUN_COUNT], &figures);
}

static void add_size(const struct tscope_trace *trace, const struct collective_run *runs,
		     size_t count, struct fact_sheet *out)
{
	struct figures figures = sum_up(runs, count);
	struct tscope_value *cells = tsi_table_row(out, BY_SIZE);
	fill_labels(cells, trace, runs);
	if (runs->bytes != NO_NUMBER)
		cells[SIZE_OF_ONE] = tsi_int(runs->bytes);
	if (runs->algorithm[0])
		cells[SIZE_ALGORITHM] = tsi_text(runs->algorithm);
	if (runs->protocol[0])
		cells[SIZE_PROTOCOL] = tsi_text(runs->protocol);
	cells[SIZE_MIN_NS] = tsi_int(figures.min_ns);
	cells[SIZE_MAX_NS] = tsi_int(figures.max_ns);
	fill_figures(&cells[SIZE_RUN_COUNT], &figures);
}

static void add_rows(const struct collective_list *list, const struct tscope_trace *trace,
		     struct fact_sheet *out)
{
	const struct collective_run *runs = list->runs;

	for (size_t first = 0, end; first < list->count; first = end) {
		for (end = first; end < list->count && !compare_kinds(&runs[first], &runs[end]);)
			end++;
		add_kind(trace, &runs[first], end - first, out);
	}
	for (size_t first = 0, end; first < list->count; first = end) {
		for (end = first; end < list->count && !compare_sizes(&runs[first], &runs[end]);)
			end++;
		add_size(trace, &runs[first], end - first, out);
	}
	tsi_table_order(out, BY_KIND, KIND_TOTAL_NS, KIND);
	tsi_table_order(out, BY_SIZE, SIZE_TOTAL_NS, SIZE);
}

static void set_facts(const struct collective_list *list, struct fact_sheet *out)
{
	struct figures all = { 0 };
	int64_t host_count = 0;

	if (list->count)
		all = sum_up(list->runs, list->count);
	for (size_t i = 0; i < list->count; i++)
		host_count += list->runs[i].on_host;
	tsi_fact_int(out, COUNT, all.count);
	tsi_fact_int(out, TOTAL_NS, all.total_ns);
	if (all.sized_count)
		tsi_fact_int(out, BYTES, all.bytes);
	else if (all.count)
		tsi_fact_doubt(out, BYTES, "no collective says its size: record_shapes=True");
	tsi_fact_int(out, UNSIZED_COUNT, all.count - all.sized_count);
	tsi_fact_int(out, HOST_COUNT, host_count);
}

static void fill_collectives(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct collective_list list = { 0 };

	if (!tsi_collective_list_fill(&list, scope->trace)) {
		tsi_sheet_scratch(out)->has_failed = true;
	} else {
		if (list.count)
			qsort(list.runs, list.count, sizeof(*list.runs), compare_runs);
		set_facts(&list, out);
		tsi_judge_device_time(scope->timeline, out);
		add_rows(&list, scope->trace, out);
	}
	tsi_collective_list_deinit(&list);
}

const struct analyzer tsi_analyzer_collectives = {
	.def = {
		.id = "collectives",
		.summary = "collectives by kind and size, and the bandwidth that they reach",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a trace with collectives",
		.total = TSCOPE_TOTAL_CAPTURE,
	},
	.levels = LEVEL_TRACE,
	.beside_flops = true,
	.fill = fill_collectives,
};
