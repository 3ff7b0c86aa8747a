/* SPDX-License-Identifier: MIT */
/*
 * Annotations, and the slices of writers that are not PyTorch: how often each
 * name occurs and how long it takes. Numbered step markers are one name,
 * "ProfilerStep#*".
 */
#include "analyze/facts.h"

#include "analyze/shared/nest.h"
#include "base/sum.h"
#include "model/trace/classify.h"

#define FACTS(X)                                                                                   \
	X(COUNT, "count", COUNT, "annotations and slices")                                         \
	X(NAME_COUNT, "name_count", COUNT, "different names")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define COLUMNS(X)                                                                                 \
	X(NAME, "name", TEXT, "of the annotation or slice")                                        \
	X(SPAN_COUNT, "count", COUNT, "how many")                                                  \
	X(TOTAL_NS, "total_ns", NS,                                                                \
	  "sum of their durations; of one within another of its name, the outer one's")            \
	X(SELF_NS, "self_ns", NS, "time in none of the annotations and slices directly in them")   \
	X(MEAN_NS, "mean_ns", NS, "mean duration")

TSI_FACT_LIST(enum column, columns, COLUMNS);

#define TABLES(X) X(BY_NAME, "by_name", columns, "annotations and slices by name")

TSI_TABLE_LIST(enum table, tables, TABLES);

static void add_times(struct nested_times *sum, const struct nested_times *part)
{
	sum->count += part->count;
	tsi_sum(&sum->dur_ns, part->dur_ns);
	tsi_sum(&sum->total_ns, part->total_ns);
	tsi_sum(&sum->self_ns, part->self_ns);
}

static void add_row(struct fact_sheet *out, const char *name, const struct nested_times *times)
{
	if (times->count == 0)
		return;
	struct tscope_value *cells = tsi_table_row(out, BY_NAME);
	cells[NAME] = tsi_text(name);
	cells[SPAN_COUNT] = tsi_int(times->count);
	cells[TOTAL_NS] = tsi_int(times->total_ns);
	cells[SELF_NS] = tsi_int(times->self_ns);
	cells[MEAN_NS] = tsi_mean(times->dur_ns, times->count);
}

static void add_names(const struct nested_times *by_name, const struct tscope_trace *trace,
		      struct fact_sheet *out)
{
	struct nested_times steps = { 0 };
	int64_t count = 0, name_count = 0;

	for (uint32_t id = 0; id < trace->names.count; id++) {
		struct str name = tsi_intern_text(&trace->names, id);
		count += by_name[id].count;
		if (by_name[id].count && tsi_is_step_marker(name)) {
			add_times(&steps, &by_name[id]);
			continue;
		}
		name_count += by_name[id].count > 0;
		add_row(out, name.data, &by_name[id]);
	}
	add_row(out, "ProfilerStep#*", &steps);
	tsi_fact_int(out, COUNT, count);
	tsi_fact_int(out, NAME_COUNT, name_count + (steps.count > 0));
	tsi_table_order(out, BY_NAME, TOTAL_NS, NAME);
}

static void fill_spans(const struct analysis_scope *scope, struct fact_sheet *out)
{
	uint32_t classes = TSI_CLASS_BIT(TSCOPE_SPAN_ANNOTATION) | TSI_CLASS_BIT(TSCOPE_SPAN_OTHER);
	const struct nested_times *by_name =
		tsi_nested_times(scope->trace, classes, tsi_sheet_scratch(out));

	if (by_name)
		add_names(by_name, scope->trace, out);
}

const struct analyzer tsi_analyzer_spans = {
	.def = {
		.id = "spans",
		.summary = "annotations, and slices of other writers, by name",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a trace with annotations",
		.total = TSCOPE_TOTAL_CAPTURE,
	},
	.levels = LEVEL_TRACE,
	.beside_flops = true,
	.fill = fill_spans,
};
