/* SPDX-License-Identifier: MIT */
/*
 * A graph has the same nodes in each replay. One with fewer device events than others of its graph
 * lost some: profilers drop them when their buffers overflow, and then device time is too small
 * from there on. The last launch may be cut by the end of the capture.
 */
#include "model/trace/build.h"
#include "model/trace/device_rows.h"

struct replay {
	uint32_t call, graph_id, node_count;
};

struct replays {
	struct builder *builder;
	struct replay *items;
	size_t count, capacity;
	struct key_map by_call;  /* row of the launch -> index of its replay */
	struct key_map by_graph; /* graph id -> most nodes of a replay */
};

static void add_node(struct replays *replays, uint32_t row)
{
	const struct tscope_trace *trace = replays->builder->trace;
	uint32_t call = tsi_device_event(trace, row)->call;
	uint32_t graph_id = tsi_work_shape(trace, row)->graph_id;
	if (!graph_id || call == NO_ROW)
		return;
	uint32_t index = tsi_key_map_find(&replays->by_call, call);
	if (index == NO_ROW) {
		index = (uint32_t)replays->count;
		struct replay *fresh =
			tsi_arena_push(&replays->builder->scratch, &replays->items, &replays->count,
				       &replays->capacity, sizeof(*fresh));
		if (!fresh)
			return;
		*fresh = (struct replay){ .call = call, .graph_id = graph_id };
		tsi_builder_put(replays->builder, &replays->by_call, call, index);
	}
	if (replays->builder->status == TSCOPE_OK)
		replays->items[index].node_count++;
}

static void find_most_nodes(struct replays *replays)
{
	for (size_t i = 0; i < replays->count; i++) {
		const struct replay *replay = &replays->items[i];
		uint32_t most = tsi_key_map_find(&replays->by_graph, replay->graph_id);
		if (most == NO_ROW || most < replay->node_count)
			tsi_builder_put(replays->builder, &replays->by_graph, replay->graph_id,
					replay->node_count);
	}
}

static int64_t last_launch_ns(const struct replays *replays)
{
	int64_t last_ns = INT64_MIN;
	for (size_t i = 0; i < replays->count; i++) {
		int64_t launch_ns =
			tsi_start_ns(&replays->builder->trace->spans, replays->items[i].call);
		last_ns = launch_ns > last_ns ? launch_ns : last_ns;
	}
	return last_ns;
}

static void count_short_ones(const struct replays *replays)
{
	struct tscope_trace *trace = replays->builder->trace;
	int64_t last_ns = last_launch_ns(replays);
	for (size_t i = 0; i < replays->count; i++) {
		const struct replay *replay = &replays->items[i];
		int64_t launch_ns = tsi_start_ns(&trace->spans, replay->call);
		if (launch_ns == last_ns ||
		    replay->node_count == tsi_key_map_find(&replays->by_graph, replay->graph_id))
			continue;
		trace->diagnostics[TSCOPE_DIAGNOSTIC_short_graph_replay]++;
		if (trace->short_replay_ns == NO_NUMBER || launch_ns < trace->short_replay_ns)
			trace->short_replay_ns = launch_ns;
	}
}

static bool has_graph_ids(const struct tscope_trace *trace)
{
	for (size_t i = 0; i < trace->work_shape_count; i++)
		if (trace->work_shapes[i].graph_id)
			return true;
	return false;
}

void tsi_check_replays(struct builder *b)
{
	const struct tscope_trace *trace = b->trace;
	struct replays replays = { .builder = b };
	if (!has_graph_ids(trace))
		return;
	for (uint32_t row = tsi_first_device_row(trace); row < trace->spans.count; row++)
		add_node(&replays, row);
	if (b->status == TSCOPE_OK && !b->scratch.has_failed) {
		find_most_nodes(&replays);
		count_short_ones(&replays);
	}
	tsi_key_map_deinit(&replays.by_call);
	tsi_key_map_deinit(&replays.by_graph);
}
