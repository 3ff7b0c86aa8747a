/* SPDX-License-Identifier: MIT */
#include "analyze/ops/graph_join.h"

#include <string.h>

#include "base/key_map.h"
#include "model/trace/device_rows.h"
#include "timeline/step_iterations.h"

struct joiner {
	const struct tscope_trace *trace;
	const struct tscope_timeline *timeline;
	const struct graph_set *set;
	struct graph_join *join;
	struct arena *arena;
	struct arena scratch;
	struct step_iterations iterations;
	uint32_t step;      /* of the last question */
	uint32_t *last_fit; /* room for the kernels of a replay */
	bool has_batches;   /* graphs of two batches or more are known */
};

/* ---- replays ------------------------------------------------------------------------- */

/* ROCm's own kernels, which copy and fill, are no nodes of kernels. */
static bool is_node(const struct tscope_trace *trace, uint32_t row)
{
	uint32_t call = tsi_device_event(trace, row)->call;

	return call != NO_ROW && tsi_is_kernel(trace, row) &&
	       tsi_call_kind(trace, call) == CALL_GRAPH_LAUNCH &&
	       !tsi_str_has_prefix(tsi_span_name(trace, row), TSI_STR("__amd_rocclr_"));
}

/* The replay of a launch call, added if it is new. */
static struct graph_replay *replay_of(struct joiner *j, struct key_map *by_call, uint32_t call)
{
	struct graph_join *join = j->join;
	uint32_t index = tsi_key_map_find(by_call, call);

	if (index != UINT32_MAX)
		return &join->replays[index];
	struct graph_replay *replay = tsi_arena_push(j->arena, &join->replays, &join->replay_count,
						     &join->replay_capacity, sizeof(*replay));
	if (!replay)
		return NULL;
	*replay = (struct graph_replay){ .call = call, .graph = NO_ROW };
	if (tsi_key_map_put(by_call, call, (uint32_t)join->replay_count - 1, NULL) != TSCOPE_OK)
		j->arena->has_failed = true;
	return replay;
}

/* Twice the same walk: to count the kernels of each replay, then to put them in their places. */
static void walk_devices(struct joiner *j, struct key_map *by_call, bool puts)
{
	for (uint32_t d = 0; d < j->trace->device_count; d++) {
		const struct device *device = &j->trace->devices[d];
		for (uint32_t i = 0; i < device->row_count && !j->arena->has_failed; i++) {
			uint32_t row = device->rows[i];
			struct graph_replay *replay;
			if (!is_node(j->trace, row))
				continue;
			replay = replay_of(j, by_call, tsi_device_event(j->trace, row)->call);
			if (!replay)
				return;
			if (puts)
				j->join->rows[replay->first + replay->count] = row;
			replay->count++;
		}
	}
}

static bool list_replays(struct joiner *j)
{
	struct graph_join *join = j->join;
	struct key_map by_call = { 0 };
	uint32_t sum = 0, most = 0;

	walk_devices(j, &by_call, false);
	for (size_t i = 0; i < join->replay_count; i++) {
		join->replays[i].first = sum;
		sum += join->replays[i].count;
		most = join->replays[i].count > most ? join->replays[i].count : most;
		join->replays[i].count = 0;
	}
	join->rows = tsi_arena_new(j->arena, sum, sizeof(*join->rows));
	join->nodes = tsi_arena_new(j->arena, sum, sizeof(*join->nodes));
	join->node_of_row =
		tsi_arena_new(j->arena, j->trace->device_event_count, sizeof(*join->node_of_row));
	join->place_of_row =
		tsi_arena_new(j->arena, j->trace->device_event_count, sizeof(*join->place_of_row));
	j->last_fit = tsi_arena_new(&j->scratch, most, sizeof(*j->last_fit));
	bool is_done = join->rows && join->nodes && join->node_of_row && join->place_of_row &&
		       j->last_fit && !j->arena->has_failed;
	if (is_done)
		walk_devices(j, &by_call, true);
	tsi_key_map_deinit(&by_call);
	return is_done && !j->arena->has_failed;
}

/* ---- which graph --------------------------------------------------------------------- */

static bool is_alike(const struct joiner *j, uint32_t row, const struct graph_node *node)
{
	uint32_t blocks = tsi_work_shape(j->trace, row)->grid_blocks;

	return tsi_name_id(&j->trace->spans, row) == node->kernel &&
	       (blocks == 0 || node->grid_blocks == 0 || blocks == node->grid_blocks);
}

static const struct graph_node *nodes_of(const struct joiner *j, const struct captured_graph *graph)
{
	return j->set->nodes + graph->first;
}

/* Kernels that differ from the node in their place; both are as many. */
static uint32_t count_mismatches(const struct joiner *j, const struct graph_replay *replay,
				 const struct captured_graph *graph, uint32_t limit)
{
	const uint32_t *rows = j->join->rows + replay->first;
	uint32_t count = 0;

	for (uint32_t i = 0; i < replay->count && count < limit; i++)
		count += !is_alike(j, rows[i], &nodes_of(j, graph)[i]);
	return count;
}

/*
 * Finds the kernels of a replay among more nodes, as early as possible and as late as possible: a
 * kernel that is in the same place both times is that node. NULL: only whether they can be found.
 */
static bool find_part(const struct joiner *j, const struct graph_replay *replay,
		      const struct captured_graph *graph, uint32_t *nodes)
{
	const uint32_t *rows = j->join->rows + replay->first;
	uint32_t at = graph->count;

	for (uint32_t i = replay->count; i-- > 0; j->last_fit[i] = at)
		do {
			if (at == 0)
				return false;
		} while (!is_alike(j, rows[i], &nodes_of(j, graph)[--at]));
	at = 0;
	for (uint32_t i = 0; nodes && i < replay->count; i++, at++) {
		while (!is_alike(j, rows[i], &nodes_of(j, graph)[at]))
			at++;
		nodes[i] = at == j->last_fit[i] ? graph->first + at : NO_ROW;
	}
	return true;
}

static bool fits(const struct joiner *j, const struct graph_replay *replay,
		 const struct captured_graph *graph, bool in_part)
{
	if (!in_part)
		return graph->count == replay->count && count_mismatches(j, replay, graph, 1) == 0;
	return graph->count > replay->count && graph->count - replay->count <= graph->count / 10 &&
	       find_part(j, replay, graph, NULL);
}

/* The engine's batch size for a replay; 0: unknown. */
struct wanted_batch {
	int64_t least;
	bool is_exact;
};

static struct wanted_batch batch_of(struct joiner *j, const struct graph_replay *replay)
{
	uint32_t step = tsi_timeline_step_near(
		j->timeline, tsi_start_ns(&j->trace->spans, replay->call), &j->step);
	struct wanted_batch wanted = { 0 };

	if (!j->iterations.by_step || step == NO_ROW)
		return wanted;
	const struct iteration *said = &j->iterations.by_step[step];
	int64_t tokens = tsi_iteration_tokens(said);
	bool counts_tokens = said->engine && strcmp(said->engine, "vllm") == 0;
	if (said->padded_requests > 0)
		return (struct wanted_batch){ said->padded_requests, true };
	wanted.least = counts_tokens ? tokens : said->requests;
	if (wanted.least < 0)
		wanted.least = 0;
	return wanted;
}

static bool may_be_of(const struct joiner *j, struct wanted_batch wanted, int64_t batch)
{
	if (wanted.least == 0 || batch < 0)
		return true;
	if (wanted.is_exact)
		return batch == wanted.least;
	return batch >= wanted.least && (j->has_batches || batch < 2 * wanted.least);
}

static bool has_same_ops(const struct joiner *j, const struct captured_graph *a,
			 const struct captured_graph *b)
{
	if (a->count != b->count)
		return false;
	for (uint32_t i = 0; i < a->count; i++)
		if (nodes_of(j, a)[i].op != nodes_of(j, b)[i].op)
			return false;
	return true;
}

/* Candidates so far: the one that stands for them all. */
struct choice {
	uint32_t graph; /* NO_ROW: none yet */
	bool is_any, is_ambiguous, has_places;
};

/* Where the engine says what it needs, the smallest graph that holds it was replayed. */
static void consider(const struct joiner *j, struct choice *choice, uint32_t index,
		     struct wanted_batch wanted)
{
	const struct captured_graph *graph = &j->set->graphs[index];
	const struct captured_graph *best =
		choice->graph == NO_ROW ? NULL : &j->set->graphs[choice->graph];

	choice->is_any = true;
	if (!may_be_of(j, wanted, graph->batch))
		return;
	bool decides = best && wanted.least > 0 && graph->batch >= 0 && best->batch >= 0;
	if (decides && graph->batch > best->batch)
		return;
	if (!best || (decides && graph->batch < best->batch)) {
		*choice = (struct choice){ index, true, false, true };
		return;
	}
	choice->is_ambiguous |= graph->batch != best->batch || !has_same_ops(j, graph, best);
	choice->has_places = false;
}

static struct choice choose(const struct joiner *j, const struct graph_replay *replay,
			    struct wanted_batch wanted, bool in_part)
{
	struct choice choice = { .graph = NO_ROW };

	for (uint32_t i = 0; i < j->set->graph_count; i++)
		if (fits(j, replay, &j->set->graphs[i], in_part))
			consider(j, &choice, i, wanted);
	return choice;
}

static void count_unknown(struct joiner *j, const struct graph_replay *replay)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t i = 0; i < j->set->graph_count; i++)
		if (j->set->graphs[i].count == replay->count)
			least = count_mismatches(j, replay, &j->set->graphs[i], least);
	if (least != UINT32_MAX)
		j->join->mismatch_count += least;
}

static void join_replay(struct joiner *j, struct graph_replay *replay)
{
	uint32_t *nodes = j->join->nodes + replay->first;
	struct wanted_batch wanted = batch_of(j, replay);
	struct choice choice = choose(j, replay, wanted, false);

	for (uint32_t i = 0; i < replay->count; i++)
		nodes[i] = NO_ROW;
	replay->fit = REPLAY_JOINED;
	if (!choice.is_any) {
		choice = choose(j, replay, wanted, true);
		replay->fit = REPLAY_PART;
	}
	if (!choice.is_any) {
		replay->fit = REPLAY_UNKNOWN;
		count_unknown(j, replay);
		return;
	}
	if (choice.graph == NO_ROW || choice.is_ambiguous) {
		replay->fit = REPLAY_AMBIGUOUS;
		return;
	}
	const struct captured_graph *graph = &j->set->graphs[choice.graph];
	replay->graph = choice.graph;
	replay->has_places = choice.has_places;
	if (replay->fit == REPLAY_PART)
		find_part(j, replay, graph, nodes);
	for (uint32_t i = 0; i < replay->count && replay->fit == REPLAY_JOINED; i++)
		nodes[i] = graph->first + i;
}

static bool find_batches(const struct graph_set *set)
{
	for (size_t i = 1; i < set->graph_count; i++)
		if (set->graphs[i].batch >= 0 && set->graphs[0].batch >= 0 &&
		    set->graphs[i].batch != set->graphs[0].batch)
			return true;
	return false;
}

static void join_all(struct joiner *j)
{
	struct graph_join *join = j->join;

	memset(join->node_of_row, 0xff, j->trace->device_event_count * sizeof(uint32_t));
	memset(join->place_of_row, 0xff, j->trace->device_event_count * sizeof(uint32_t));
	for (size_t i = 0; i < join->replay_count; i++) {
		struct graph_replay *replay = &join->replays[i];
		join_replay(j, replay);
		for (uint32_t k = replay->first; k < replay->first + replay->count; k++) {
			size_t event = tsi_device_event_index(j->trace, join->rows[k]);
			join->node_of_row[event] = join->nodes[k];
			join->place_of_row[event] = replay->has_places ? join->nodes[k] : NO_ROW;
		}
	}
}

const struct graph_join *tsi_graph_join(const struct tscope_timeline *timeline, struct arena *arena)
{
	const struct tscope_trace *trace = timeline->trace;
	struct joiner j = {
		.trace = trace, .timeline = timeline, .set = trace->graphs, .arena = arena
	};

	if (!j.set)
		return NULL;
	j.has_batches = find_batches(j.set);
	j.join = tsi_arena_new(arena, 1, sizeof(*j.join));
	j.iterations = tsi_step_iterations(timeline, &j.scratch);
	if (j.join)
		j.join->set = j.set;
	bool is_done = j.join && list_replays(&j);
	if (is_done)
		join_all(&j);
	arena->has_failed |= j.scratch.has_failed;
	tsi_arena_deinit(&j.scratch);
	return is_done && !arena->has_failed ? j.join : NULL;
}
