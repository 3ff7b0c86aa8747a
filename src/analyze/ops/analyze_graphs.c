/* SPDX-License-Identifier: MIT */
/*
 * Kernels of replayed graphs, identified by the trace of their capture (graph_join.h): those joined
 * to its operators, shapes, modules and code, and those that could not be joined.
 */
#include "analyze/facts.h"

#include "analyze/ops/graph_join.h"
#include "analyze/ops/trace_flops.h"
#include "base/pair_set.h"
#include "base/sum.h"
#include "model/trace/device_rows.h"

#define FACTS(X)                                                                                   \
	X(CAPTURED_COUNT, "captured_count", COUNT, "graphs in the traces of their capture")        \
	X(REPLAY_COUNT, "replay_count", COUNT, "replays of graphs, of which kernels are recorded") \
	X(JOINED_COUNT, "joined_count", COUNT,                                                     \
	  "of these, replays of a captured graph: all kernels have its nodes' names, in order")    \
	X(PARTIAL_COUNT, "partial_count", COUNT,                                                   \
	  "replays that lost up to a tenth of their kernels; joined where that is unambiguous")    \
	X(AMBIGUOUS_COUNT, "ambiguous_count", COUNT,                                               \
	  "replays of which several graphs may be, or only one of another batch: not joined")      \
	X(UNKNOWN_COUNT, "unknown_count", COUNT, "replays that no captured graph is like")         \
	X(MISMATCH_COUNT, "mismatch_count", COUNT,                                                 \
	  "kernels of the last unlike the nodes of the nearest graph of as many")                  \
	X(KERNEL_COUNT, "kernel_count", COUNT, "kernels in replays of graphs")                     \
	X(KERNEL_NS, "kernel_ns", NS, "sum of their durations")                                    \
	X(JOINED_NS, "joined_ns", NS, "of it, of kernels whose nodes are known")                   \
	X(JOINED_RATIO, "joined_ratio", RATIO, "joined_ns ÷ kernel_ns")                            \
	X(OPERATOR_RATIO, "operator_ratio", RATIO,                                                 \
	  "of kernel_ns, that of kernels whose operator is known by this")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define COLUMNS(X)                                                                                 \
	X(KERNEL, "kernel", TEXT, "its name")                                                      \
	X(OP, "op", TEXT, "the operator that launched it; absent: code outside of any")            \
	X(SHAPE, "shape", TEXT, "sizes of the operator's tensors, as far as there is room")        \
	X(MODULE, "module", TEXT, "classes of modules around, the outermost first")                \
	X(SOURCE, "source", TEXT, "innermost function of the user's code")                         \
	X(COUNT, "count", COUNT, "kernels")                                                        \
	X(TOTAL_NS, "total_ns", NS, "sum of their durations")                                      \
	X(RATIO, "ratio", RATIO, "of graphs.kernel_ns")

TSI_FACT_LIST(enum column, columns, COLUMNS);

#define TABLES(X) X(KERNELS, "kernels", columns, "kernels of graphs by name, operator and place")

TSI_TABLE_LIST(enum table, tables, TABLES);

/* Kernels of one name, operator and place. */
struct kernels {
	uint32_t kernel, op;
	struct graph_place place;
	int64_t count, total_ns;
};

struct graph_sums {
	const struct tscope_trace *trace;
	const struct graph_join *join;
	struct pair_set places;  /* (module, source) */
	struct pair_set origins; /* (op, number of the place) */
	struct pair_set kernels; /* (kernel, number of the origin): struct kernels */
	int64_t kernel_count, kernel_ns, joined_ns, operator_ns;
};

static void add_joined(struct graph_sums *sums, const struct graph_node *node,
		       struct graph_place place, int64_t dur_ns)
{
	uint32_t number = tsi_pair_set_add(&sums->places, place.module, place.source);

	if (number != UINT32_MAX)
		number = tsi_pair_set_add(&sums->origins, node->op, number);
	if (number != UINT32_MAX)
		number = tsi_pair_set_add(&sums->kernels, node->kernel, number);
	if (number == UINT32_MAX)
		return;
	struct kernels *kernels = (struct kernels *)sums->kernels.items + number;
	kernels->kernel = node->kernel;
	kernels->op = node->op;
	kernels->place = place;
	kernels->count++;
	tsi_sum(&kernels->total_ns, dur_ns);
}

static void add_replay(struct graph_sums *sums, const struct graph_replay *replay)
{
	const struct graph_join *join = sums->join;

	for (uint32_t i = replay->first; i < replay->first + replay->count; i++) {
		int64_t dur_ns = tsi_dur_ns(&sums->trace->spans, join->rows[i]);
		struct graph_place place = { 0 };

		if (join->nodes[i] == NO_ROW)
			continue;
		const struct graph_node *node = &join->set->nodes[join->nodes[i]];
		if (replay->has_places)
			place = node->place;
		tsi_sum(&sums->joined_ns, dur_ns);
		if (node->op != NO_ROW)
			tsi_sum(&sums->operator_ns, dur_ns);
		add_joined(sums, node, place, dur_ns);
	}
}

/* All kernels of graphs, those without a launch call as well. */
static void add_kernels(struct graph_sums *sums)
{
	const struct tscope_trace *trace = sums->trace;

	for (uint32_t row = tsi_first_device_row(trace); row < trace->spans.count; row++) {
		if (!tsi_device_event(trace, row)->graph || !tsi_is_kernel(trace, row))
			continue;
		sums->kernel_count++;
		tsi_sum(&sums->kernel_ns, tsi_dur_ns(&trace->spans, row));
	}
}

static void put_text(const struct tscope_trace *trace, struct tscope_value *cell, uint32_t id)
{
	if (id)
		*cell = tsi_text(tsi_intern_text(&trace->names, id).data);
}

static void put_rows(const struct graph_sums *sums, struct fact_sheet *out)
{
	const struct tscope_trace *trace = sums->trace;
	char shape[OP_SHAPE_CHARS];

	for (size_t i = 0; i < sums->kernels.count; i++) {
		const struct kernels *kernels = (const struct kernels *)sums->kernels.items + i;
		struct tscope_value *cells = tsi_table_row(out, KERNELS);

		put_text(trace, &cells[KERNEL], kernels->kernel);
		put_text(trace, &cells[MODULE], kernels->place.module);
		put_text(trace, &cells[SOURCE], kernels->place.source);
		cells[COUNT] = tsi_int(kernels->count);
		cells[TOTAL_NS] = tsi_int(kernels->total_ns);
		cells[RATIO] = tsi_ratio(kernels->total_ns, sums->kernel_ns);
		if (kernels->op == NO_ROW)
			continue;
		const struct graph_op *op = &sums->join->set->ops[kernels->op];
		put_text(trace, &cells[OP], op->name);
		tsi_op_shape(shape, tsi_intern_text(&trace->names, op->signature));
		if (*shape)
			cells[SHAPE] = tsi_text(tsi_sheet_print(out, "%s", shape));
	}
	tsi_table_order(out, KERNELS, TOTAL_NS, KERNEL);
}

static void put_facts(const struct graph_sums *sums, struct fact_sheet *out)
{
	const struct graph_join *join = sums->join;
	int64_t fits[REPLAY_FIT_COUNT] = { 0 };

	for (size_t i = 0; i < join->replay_count; i++)
		fits[join->replays[i].fit]++;
	tsi_fact_int(out, CAPTURED_COUNT, (int64_t)join->set->graph_count);
	tsi_fact_int(out, REPLAY_COUNT, (int64_t)join->replay_count);
	tsi_fact_int(out, JOINED_COUNT, fits[REPLAY_JOINED]);
	tsi_fact_int(out, PARTIAL_COUNT, fits[REPLAY_PART]);
	tsi_fact_int(out, AMBIGUOUS_COUNT, fits[REPLAY_AMBIGUOUS]);
	tsi_fact_int(out, UNKNOWN_COUNT, fits[REPLAY_UNKNOWN]);
	tsi_fact_int(out, MISMATCH_COUNT, join->mismatch_count);
	tsi_fact_int(out, KERNEL_COUNT, sums->kernel_count);
	tsi_fact_int(out, KERNEL_NS, sums->kernel_ns);
	tsi_fact_int(out, JOINED_NS, sums->joined_ns);
	tsi_fact_ratio(out, JOINED_RATIO, sums->joined_ns, sums->kernel_ns);
	tsi_fact_ratio(out, OPERATOR_RATIO, sums->operator_ns, sums->kernel_ns);
}

static void fill_graphs(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct arena *scratch = tsi_sheet_scratch(out);
	struct graph_sums sums = {
		.trace = scope->trace,
		.join = scope->flops->graphs,
		.places = { .arena = scratch },
		.origins = { .arena = scratch },
		.kernels = { .arena = scratch, .item_bytes = sizeof(struct kernels) },
	};

	if (!sums.join)
		return;
	add_kernels(&sums);
	for (size_t i = 0; i < sums.join->replay_count; i++)
		add_replay(&sums, &sums.join->replays[i]);
	put_facts(&sums, out);
	put_rows(&sums, out);
}

const struct analyzer tsi_analyzer_graphs = {
	.def = {
		.id = "graphs",
		.summary = "kernels of replayed graphs, joined to the capture of these",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a run with traces of the capture of its graphs",
		.total = TSCOPE_TOTAL_CAPTURE,
	},
	.levels = LEVEL_TRACE,
	.fill = fill_graphs,
};
