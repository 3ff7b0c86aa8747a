/* SPDX-License-Identifier: MIT */
/*
 * Makes the graph that is played: which op follows which on its stream, with whom it ends, and
 * what each point of a rank takes. Only what is ready within the steps that are played is in it.
 */
#include "comm/replay_parts.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/bisect.h"

struct graph_making {
	struct replay_graph *graph;
	const struct world *world;
	/* Room for the ops of a rank or the members of a match, whichever are more. */
	struct sort_pair *pairs, *scratch;
	uint32_t *bounds;   /* of a rank: its STEPs and ENDs */
	uint32_t *ready_at; /* by op of a rank: index of its READY */
	bool *is_resumed;   /* by op of a rank */
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

static void make_room(struct graph_making *making, struct arena *scratch)
{
	struct replay_graph *graph = making->graph;
	size_t most = most_of_a_rank(making->world), members = making->world->member_count;
	struct arena *arena = &graph->arena;

	making->pairs = tsi_arena_new(scratch, most, sizeof(*making->pairs));
	making->scratch = tsi_arena_new(scratch, most, sizeof(*making->scratch));
	making->bounds = tsi_arena_new(scratch, most, sizeof(*making->bounds));
	making->ready_at = tsi_arena_new(scratch, most, sizeof(*making->ready_at));
	making->is_resumed = tsi_arena_new(scratch, most, sizeof(*making->is_resumed));
	graph->ops = tsi_arena_new(arena, graph->op_count, sizeof(*graph->ops));
	graph->waits = tsi_arena_new(arena, graph->op_count, sizeof(*graph->waits));
	graph->by_start = tsi_arena_new(arena, members, sizeof(*graph->by_start));
	graph->by_end = tsi_arena_new(arena, members, sizeof(*graph->by_end));
	graph->local_ns = tsi_arena_new(arena, graph->point_count, sizeof(*graph->local_ns));
	graph->still_ns = tsi_arena_new(arena, graph->point_count, sizeof(*graph->still_ns));
	arena->has_failed |= scratch->has_failed;
}

static void number_ranks(struct graph_making *making)
{
	struct replay_graph *graph = making->graph;
	const struct world *world = making->world;

	graph->ranks = tsi_arena_new(&graph->arena, world->rank_count, sizeof(*graph->ranks));
	for (size_t rank = 0; graph->ranks && rank < world->rank_count; rank++) {
		graph->ranks[rank] = (struct replay_rank){
			.first_op = graph->op_count,
			.first_point = graph->point_count,
			.begin_point = world->logs[rank].point_count,
			.end_point = world->logs[rank].point_count,
		};
		graph->op_count += world->logs[rank].op_count;
		graph->point_count += world->logs[rank].point_count;
	}
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

static void link_played(struct graph_making *making, uint32_t rank)
{
	const struct world *world = making->world;
	size_t first = making->graph->ranks[rank].first_op;
	const uint32_t *matches = world->match_of_op ? world->match_of_op[rank] : NULL;

	/* Few ranks of a large job are played; the others take no memory until written to. */
	for (size_t i = 0; i < world->logs[rank].op_count; i++) {
		if (making->ready_at[i] == NO_ROW)
			continue;
		making->graph->ops[first + i] = (struct replay_link){
			.transfer_ns = tsi_replay_duration_of(&world->logs[rank].ops[i]),
			.rank = rank,
			.match = matches ? matches[i] : NO_ROW,
			.previous = NO_ROW,
			.next = NO_ROW,
			.awaited = NO_ROW,
			.first_waiter = NO_ROW,
			.next_waiter = NO_ROW,
			.ready_end = making->ready_at[i] + 1,
		};
	}
}

/* The first bound that is neither before the op's end nor before its READY; or bound_count. */
static size_t bound_after(const struct graph_making *making, const struct rank_log *log,
			  size_t bound_count, size_t op)
{
	int64_t end_ns = tsi_replay_end_of(&log->ops[op]);
	size_t first = 0, end = bound_count;

	TSI_BISECT(first, end,
		   log->points[making->bounds[middle]].time_ns < end_ns ||
			   making->bounds[middle] < making->ready_at[op]);
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

/* Ranks begin as far apart as they did where clocks are known, else together. */
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

static void make_graph(struct graph_making *making, struct arena *scratch)
{
	struct replay_graph *graph = making->graph;

	number_ranks(making);
	/* Ops are numbered in 32 bits; more of them are in no memory. */
	if (!graph->ranks || graph->op_count >= NO_ROW || making->world->rank_count >= NO_ROW)
		return;
	tsi_replay_find_steps(graph);
	make_room(making, scratch);
	if (graph->arena.has_failed)
		return;
	for (uint32_t rank = 0; rank < making->world->rank_count; rank++) {
		size_t bound_count = look_at_points(making, rank);

		measure_points(making, rank);
		link_played(making, rank);
		tsi_replay_join_streams(graph, rank, making->pairs, making->scratch);
		find_waits(making, rank, bound_count);
	}
	tsi_replay_join_matches(graph, making->pairs, making->scratch);
	begin_ranks(graph);
	tsi_replay_find_barriers(graph);
}

enum tscope_status tsi_replay_graph_new(struct replay_graph **ret, const struct world *world,
					struct tscope_error *err)
{
	struct graph_making making = { .world = world };
	struct arena scratch = { 0 };

	if (tsi_array_new(&making.graph, 1, sizeof(*making.graph), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	making.graph->world = world;
	make_graph(&making, &scratch);
	tsi_arena_deinit(&scratch);
	enum tscope_status status = tsi_arena_status(&making.graph->arena, err);
	if (status == TSCOPE_OK)
		*ret = making.graph;
	else
		tsi_replay_graph_free(making.graph);
	return status;
}

void tsi_replay_graph_free(struct replay_graph *graph)
{
	if (graph)
		tsi_arena_deinit(&graph->arena);
	free(graph);
}
