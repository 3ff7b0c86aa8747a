/* SPDX-License-Identifier: MIT */
/*
 * Python functions by their own and their whole time, and the pauses of
 * Python's garbage collector. Only on request: frames are most of a file.
 */
#include "analyze/facts.h"

#include <stdlib.h>

#include "analyze/nest.h"
#include "base/array.h"
#include "base/sum.h"

enum fact { CALL_COUNT, FUNCTION_COUNT, SELF_NS, GC_COUNT, GC_TOTAL_NS, GC_MAX_NS };

static const struct tscope_fact_def facts[] = {
	[CALL_COUNT] = { "call_count", TSCOPE_UNIT_COUNT, "calls of Python functions" },
	[FUNCTION_COUNT] = { "function_count", TSCOPE_UNIT_COUNT, "different functions" },
	[SELF_NS] = { "self_ns", TSCOPE_UNIT_NS, "time in Python functions, over all threads" },
	[GC_COUNT] = { "gc_count", TSCOPE_UNIT_COUNT, "pauses of the garbage collector" },
	[GC_TOTAL_NS] = { "gc_total_ns", TSCOPE_UNIT_NS, "sum of their durations" },
	[GC_MAX_NS] = { "gc_max_ns", TSCOPE_UNIT_NS, "the longest" },
};

enum table { BY_NAME };
enum column { NAME, COUNT, NAME_SELF_NS, TOTAL_NS, MEAN_NS };

static const struct tscope_fact_def columns[] = {
	[NAME] = { "name", TSCOPE_UNIT_TEXT, "of the function" },
	[COUNT] = { "count", TSCOPE_UNIT_COUNT, "calls" },
	[NAME_SELF_NS] = { "self_ns", TSCOPE_UNIT_NS,
			   "time in it and in no function that it called" },
	[TOTAL_NS] = { "total_ns", TSCOPE_UNIT_NS,
		       "time in it and in what it called; of a recursive one, the outermost "
		       "calls'" },
	[MEAN_NS] = { "mean_ns", TSCOPE_UNIT_NS, "mean duration of a call" },
};

static const struct tscope_table_def tables[] = {
	[BY_NAME] = { "by_name", columns, TSI_COUNT_OF(columns), "Python functions",
		      TSCOPE_TABLE_ROWS },
};

struct function {
	int64_t call_count, dur_ns, total_ns, self_ns;
};

static enum tscope_status collect_calls(struct function *functions,
					const struct tscope_trace *trace, struct tscope_error *err)
{
	struct nest nest;
	struct nested_span call;
	enum tscope_status status =
		tsi_nest_init(&nest, trace, TSI_CLASS_BIT(TSCOPE_SPAN_PYTHON), err);

	while (status == TSCOPE_OK && (status = tsi_nest_next(&nest, &call, err)) == TSCOPE_OK) {
		struct function *function = &functions[trace->spans.name[call.row]];
		int64_t dur_ns = trace->spans.dur_ns[call.row];
		function->call_count++;
		tsi_sum(&function->dur_ns, dur_ns);
		tsi_sum(&function->total_ns, call.is_outermost ? dur_ns : 0);
		tsi_sum(&function->self_ns, call.self_ns);
	}
	tsi_nest_deinit(&nest);
	return status == TSCOPE_END ? TSCOPE_OK : status;
}

static enum tscope_status add_functions(const struct function *functions,
					const struct tscope_trace *trace, struct fact_sheet *out,
					struct tscope_error *err)
{
	int64_t call_count = 0, function_count = 0, self_ns = 0;
	struct tscope_value *cells;

	for (uint32_t id = 0; id < trace->names.count; id++) {
		const struct function *function = &functions[id];
		if (function->call_count == 0)
			continue;
		call_count += function->call_count;
		function_count++;
		tsi_sum(&self_ns, function->self_ns);
		if (tsi_table_add(out, BY_NAME, &cells, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		cells[NAME] = tsi_text(tsi_intern_text(&trace->names, id).data);
		cells[COUNT] = tsi_int(function->call_count);
		cells[NAME_SELF_NS] = tsi_int(function->self_ns);
		cells[TOTAL_NS] = tsi_int(function->total_ns);
		cells[MEAN_NS] = tsi_mean(function->dur_ns, function->call_count);
	}
	tsi_fact_int(out, CALL_COUNT, call_count);
	tsi_fact_int(out, FUNCTION_COUNT, function_count);
	tsi_fact_int(out, SELF_NS, self_ns);
	return tsi_table_sort(out, BY_NAME, NAME_SELF_NS, NAME, err);
}

static void add_pauses(const struct tscope_trace *trace, struct fact_sheet *out)
{
	const struct spans *spans = &trace->spans;
	int64_t count = 0, total_ns = 0, longest_ns = 0;

	for (uint32_t row = 0; row < spans->count; row++) {
		if (spans->span_class[row] != TSCOPE_SPAN_GC)
			continue;
		count++;
		tsi_sum(&total_ns, spans->dur_ns[row]);
		if (spans->dur_ns[row] > longest_ns)
			longest_ns = spans->dur_ns[row];
	}
	tsi_fact_int(out, GC_COUNT, count);
	tsi_fact_int(out, GC_TOTAL_NS, total_ns);
	if (count)
		tsi_fact_int(out, GC_MAX_NS, longest_ns);
}

static enum tscope_status run(const struct analysis_scope *scope, struct fact_sheet *out,
			      struct tscope_error *err)
{
	const struct tscope_trace *trace = scope->trace;
	struct function *functions;

	if (tsi_array_new(&functions, trace->names.count, sizeof(*functions), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	enum tscope_status status = collect_calls(functions, trace, err);
	if (status == TSCOPE_OK)
		status = add_functions(functions, trace, out, err);
	free(functions);
	add_pauses(trace, out);
	return status;
}

const struct analyzer tsi_analyzer_python = {
	.def = {
		.id = "python",
		.summary = "Python functions and garbage collection pauses",
		.facts = facts,
		.fact_count = TSI_COUNT_OF(facts),
		.tables = tables,
		.table_count = TSI_COUNT_OF(tables),
		.needs = "--python and a trace with Python frames",
		.total = TSCOPE_TOTAL_CAPTURE,
	},
	.levels = LEVEL_TRACE,
	.on_request = true,
	.run = run,
};
