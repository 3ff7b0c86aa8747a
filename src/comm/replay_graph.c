/* SPDX-License-Identifier: MIT */
/*
 * Makes the graph that is played: which op follows which on its stream, with whom it ends, and
 * what each point of a rank takes. Only what is ready within the steps that are played is in it.
 */
#include "comm/replay_parts.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/sort.h"

struct graph_making {
	struct replay_graph *graph;
	const struct world *world;
	/* Room for the ops of a rank or the members of a match, whichever are more. */
	struct sort_pair *pairs, *scratch;
	uint32_t *bounds;   /* of a rank: its STEPs and ENDs */
	uint32_t *ready_at; /* by op of a rank: index of its READY */
	bool *is_resumed;   /* by op of a rank */
	struct tscope_error *err;
};

/* ---- room ---- */

static size_t most_of_a_rank(const struct world *world)
{
	size_t most = world->rank_count;

	for (size_t rank = 0; rank < world->rank_count; rank++) {
		const struct rank_log *log = &world->logs[rank];
		size_t count = log->op_count > log->point_count ? log->op_count : log->point_count;

		most = count > most ? count : most;
	}
	for (size_t i = 0; i < world->match_count; i++)
		if (world->matches[i].member_count > most)
			most = world->matches[i].member_count;
	return most;
}

static enum tscope_status making_init(struct graph_making *making)
{
	size_t most = most_of_a_rank(making->world);
	struct tscope_error *err = making->err;

	if (tsi_array_new(&making->pairs, most, sizeof(*making->pairs), err) != TSCOPE_OK ||
	    tsi_array_new(&making->scratch, most, sizeof(*making->scratch), err) != TSCOPE_OK ||
	    tsi_array_new(&making->bounds, most, sizeof(*making->bounds), err) != TSCOPE_OK ||
	    tsi_array_new(&making->ready_at, most, sizeof(*making->ready_at), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	return tsi_array_new(&making->is_resumed, most, sizeof(*making->is_resumed), err);
}

static void making_deinit(struct graph_making *making)
{
	free(making->pairs);
	free(making->scratch);
	free(making->bounds);
	free(making->ready_at);
	free(making->is_resumed);
}

static enum tscope_status make_room(struct graph_making *making)
{
	struct replay_graph *graph = making->graph;
	size_t members = making->world->member_count;
	struct tscope_error *err = making->err;

	if (tsi_array_new(&graph->ops, graph->op_count, sizeof(*graph->ops), err) != TSCOPE_OK ||
	    tsi_array_new(&graph->waits, graph->op_count, sizeof(*graph->waits), err) !=
		    TSCOPE_OK ||
	    tsi_array_new(&graph->by_start, members, sizeof(*graph->by_start), err) != TSCOPE_OK ||
	    tsi_array_new(&graph->by_end, members, sizeof(*graph->by_end), err) != TSCOPE_OK ||
	    tsi_array_new(&graph->local_ns, graph->point_count, sizeof(*graph->local_ns), err) !=
		    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	return tsi_array_new(&graph->still_ns, graph->point_count, sizeof(*graph->still_ns), err);
}

static enum tscope_status number_ranks(struct graph_making *making)
{
	struct replay_graph *graph = making->graph;
	const struct world *world = making->world;

	if (tsi_array_new(&graph->ranks, world->rank_count, sizeof(*graph->ranks), making->err) !=
	    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t rank = 0; rank < world->rank_count; rank++) {
		graph->ranks[rank] = (struct replay_rank){
			.first_op = graph->op_count,
			.first_point = graph->point_count,
			.begin_point = world->logs[rank].point_count,
			.end_point = world->logs[rank].point_count,
		};
		graph->op_count += world->logs[rank].op_count;
		graph->point_count += world->logs[rank].point_count;
	}
	return TSCOPE_OK;
}

/* ---- a rank ---- */

static int64_t sum_of_lines(const struct rank_point *point)
{
	int64_t sum_ns = 0;

	for (size_t line = 0; line < TSCOPE_BUDGET_LINE_COUNT; line++)
		tsi_sum(&sum_ns, point->line_ns[line]);
	return sum_ns;
}

/* Time that no line has is standstill or, after an END, the gap to the next window. */
static void measure_points(struct graph_making *making, size_t rank)
{
	const struct rank_log *log = &making->world->logs[rank];
	const struct replay_rank *at = &making->graph->ranks[rank];
	int64_t *local_ns, *still_ns;

	if (at->begin_point == at->end_point)
		return;
	local_ns = &making->graph->local_ns[at->first_point];
	still_ns = &making->graph->still_ns[at->first_point];
	for (size_t i = at->begin_point + 1; i < at->end_point; i++) {
		const struct rank_point *point = &log->points[i], *before = point - 1;
		bool begins_window = before->kind == RANK_POINT_STEP && i >= at->begin_point + 2 &&
				     before[-1].kind == RANK_POINT_END;
		bool goes_on = before->kind == RANK_POINT_READY ||
			       (before->kind == RANK_POINT_STEP && !begins_window);
		int64_t still = goes_on ? still_ns[i - 1] : 0;

		local_ns[i] = sum_of_lines(point);
		tsi_sum_signed(&still, tsi_difference(before->time_ns, point->time_ns));
		tsi_sum_signed(&still, -local_ns[i]);
		still_ns[i] = still > 0 ? still : 0;
	}
}

/* Looks at the points that are played: which ops are ready in them, which somebody waits for. */
static size_t look_at_points(struct graph_making *making, size_t rank)
{
	const struct rank_log *log = &making->world->logs[rank];
	const struct replay_rank *at = &making->graph->ranks[rank];
	size_t bound_count = 0;

	for (size_t i = 0; i < log->op_count; i++) {
		making->ready_at[i] = NO_ROW;
		making->is_resumed[i] = false;
	}
	for (size_t i = at->begin_point; i < at->end_point; i++) {
		const struct rank_point *point = &log->points[i];

		if (tsi_is_step_bound(point))
			making->bounds[bound_count++] = (uint32_t)i;
		else if (point->kind == RANK_POINT_READY)
			making->ready_at[point->index] = (uint32_t)i;
		else
			making->is_resumed[point->index] = true;
	}
	return bound_count;
}

static void find_insiders(struct graph_making *making, uint32_t rank)
{
	const struct world *world = making->world;
	size_t first = making->graph->ranks[rank].first_op;
	const uint32_t *matches = world->match_of_op ? world->match_of_op[rank] : NULL;

	for (size_t i = 0; i < world->logs[rank].op_count; i++)
		making->graph->ops[first + i] = (struct replay_link){
			.transfer_ns = tsi_replay_duration_of(&world->logs[rank].ops[i]),
			.rank = rank,
			.match = matches ? matches[i] : NO_ROW,
			.previous = NO_ROW,
			.next = NO_ROW,
			.awaited = NO_ROW,
			.first_waiter = NO_ROW,
			.next_waiter = NO_ROW,
			.ready_at = making->ready_at[i],
		};
}

/* The first bound that is neither before the op's end nor before its READY; or bound_count. */
static size_t bound_after(const struct graph_making *making, const struct rank_log *log,
			  size_t bound_count, size_t op)
{
	int64_t end_ns = tsi_replay_end_of(&log->ops[op]);
	size_t first = 0, end = bound_count;

	while (first < end) {
		size_t middle = first + (end - first) / 2;
		uint32_t point = making->bounds[middle];

		if (log->points[point].time_ns < end_ns || point < making->ready_at[op])
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

static void find_waits(struct graph_making *making, size_t rank, size_t bound_count)
{
	const struct rank_log *log = &making->world->logs[rank];
	struct replay_rank *at = &making->graph->ranks[rank];
	size_t count = 0;

	for (size_t i = 0; i < log->op_count; i++) {
		if (making->ready_at[i] == NO_ROW)
			continue;
		size_t bound = bound_after(making, log, bound_count, i);
		if (bound < bound_count)
			making->pairs[count++] = (struct sort_pair){ making->bounds[bound], i };
	}
	tsi_sort_pairs(making->pairs, making->scratch, count);
	for (size_t i = 0; i < count; i++)
		making->graph->waits[at->first_op + i] = (struct replay_wait){
			.point = (uint32_t)making->pairs[i].key,
			.op = (uint32_t)making->pairs[i].value,
			.is_resumed = making->is_resumed[making->pairs[i].value],
		};
	at->wait_count = count;
}

/* ---- the graph ---- */

/* Ranks begin as far apart as they did, where clocks tell; else together. */
static void begin_ranks(struct replay_graph *graph)
{
	const struct world *world = graph->world;
	int64_t first_ns = INT64_MAX;

	for (uint32_t rank = 0; world->clocks && rank < world->rank_count; rank++) {
		struct replay_rank *at = &graph->ranks[rank];

		if (at->begin_point == at->end_point || !world->clocks[rank].is_known)
			continue;
		at->begin_ns = tsi_world_time(world, rank,
					      world->logs[rank].points[at->begin_point].time_ns);
		if (at->begin_ns < first_ns)
			first_ns = at->begin_ns;
	}
	for (uint32_t rank = 0; world->clocks && rank < world->rank_count; rank++)
		if (graph->ranks[rank].begin_point < graph->ranks[rank].end_point &&
		    world->clocks[rank].is_known)
			graph->ranks[rank].begin_ns =
				tsi_difference(first_ns, graph->ranks[rank].begin_ns);
}

static enum tscope_status make_graph(struct graph_making *making)
{
	struct replay_graph *graph = making->graph;
	enum tscope_status status = number_ranks(making);

	/* Ops are numbered in 32 bits; more of them are in no memory. */
	if (status != TSCOPE_OK || graph->op_count >= NO_ROW || making->world->rank_count >= NO_ROW)
		return status;
	status = tsi_replay_find_steps(graph, making->err);
	if (status == TSCOPE_OK)
		status = making_init(making);
	if (status == TSCOPE_OK)
		status = make_room(making);
	for (uint32_t rank = 0; status == TSCOPE_OK && rank < making->world->rank_count; rank++) {
		size_t bound_count = look_at_points(making, rank);

		measure_points(making, rank);
		find_insiders(making, rank);
		tsi_replay_join_streams(graph, rank, making->pairs, making->scratch);
		find_waits(making, rank, bound_count);
	}
	if (status != TSCOPE_OK)
		return status;
	tsi_replay_join_matches(graph, making->pairs, making->scratch);
	begin_ranks(graph);
	return TSCOPE_OK;
}

enum tscope_status tsi_replay_graph_new(struct replay_graph **ret, const struct world *world,
					struct tscope_error *err)
{
	struct graph_making making = { .world = world, .err = err };

	if (tsi_array_new(&making.graph, 1, sizeof(*making.graph), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	making.graph->world = world;
	enum tscope_status status = make_graph(&making);
	making_deinit(&making);
	if (status != TSCOPE_OK) {
		tsi_replay_graph_free(making.graph);
		return status;
	}
	*ret = making.graph;
	return TSCOPE_OK;
}

void tsi_replay_graph_free(struct replay_graph *graph)
{
	if (!graph)
		return;
	free(graph->ranks);
	free(graph->ops);
	free(graph->waits);
	free(graph->by_start);
	free(graph->by_end);
	free(graph->local_ns);
	free(graph->still_ns);
	free(graph->steps);
	free(graph);
}
