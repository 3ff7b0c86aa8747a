/* SPDX-License-Identifier: MIT */
/*
 * Plays a graph: each rank goes on from point to point until it needs the end of an op that
 * others hold up. Who can go on, and which ops can begin, wait on two stacks, so that the time is
 * linear and nothing recurs.
 */
#include "comm/replay.h"

#include "comm/replay_parts.h"

static size_t end_point_of(const struct replay_run *run, size_t rank)
{
	return run->graph->ranks[rank].end_point;
}

/* ---- points ---- */

static int64_t local_ns_of(const struct replay_run *run, uint32_t rank, size_t point)
{
	const struct replay_change *change = run->change;
	const struct rank_point *at = &run->graph->world->logs[rank].points[point];
	int64_t sum_ns = 0;

	if (change->local_ns && change->local_ns[rank])
		return change->local_ns[rank][point];
	if (!change->line_scale)
		return run->graph->local_ns[run->graph->ranks[rank].first_point + point];
	const double *by = &change->line_scale[(size_t)rank * TSCOPE_BUDGET_LINE_COUNT];
	int64_t wait_ns = run->graph->barrier_wait_ns[run->graph->ranks[rank].first_point + point];
	for (size_t line = 0; line < TSCOPE_BUDGET_LINE_COUNT; line++) {
		int64_t off_ns = line == TSCOPE_BUDGET_LAUNCH_STALL ? wait_ns : 0;
		tsi_sum(&sum_ns, tsi_scale(at->line_ns[line] - off_ns, by[line]));
	}
	return sum_ns;
}

/* Does the local work up to the next point; a gap between windows takes what it took. */
static void work(struct replay_run *run, uint32_t rank)
{
	const struct rank_point *points = run->graph->world->logs[rank].points;
	const struct replay_rank *of = &run->graph->ranks[rank];
	struct replay_rank_run *at = &run->ranks[rank];

	if (at->is_there)
		return;
	at->is_there = true;
	if (at->next == of->begin_point)
		return;
	at->work_ns = tsi_later(at->work_ns, local_ns_of(run, rank, at->next));
	if (points[at->next - 1].kind == RANK_POINT_END)
		at->work_ns =
			tsi_later(at->work_ns, run->graph->still_ns[of->first_point + at->next]);
}

/* How long the rank has stood still before a point, as it was measured. */
static int64_t still_ns_of(const struct replay_run *run, uint32_t rank, size_t point)
{
	if (point > 0 && run->graph->world->logs[rank].points[point - 1].kind == RANK_POINT_END)
		return 0;
	return run->graph->still_ns[run->graph->ranks[rank].first_point + point];
}

/* Notes that the rank is at its next point, and lets it go on. */
static void reach(struct replay_run *run, uint32_t rank, int64_t time_ns, uint32_t op)
{
	struct replay_rank_run *at = &run->ranks[rank];
	size_t first = run->graph->ranks[rank].first_point;

	run->replay->points[first + at->next] = (struct replay_point){ time_ns, at->work_ns, op };
	at->next++;
	at->is_there = false;
}

/* Can the rank go on although it needs the end of this op? */
static bool has_ended(struct replay_run *run, uint32_t rank, uint32_t number)
{
	if (run->states[number] & REPLAY_OP_ENDED)
		return true;
	run->ranks[rank].awaits = number;
	return false;
}

/* Points reached during the standstill are reached at its end at the latest. */
static void end_standstill(struct replay_run *run, uint32_t rank)
{
	struct replay_rank_run *at = &run->ranks[rank];
	struct replay_point *points = &run->replay->points[run->graph->ranks[rank].first_point];

	for (size_t i = at->next; i-- > at->still_from && points[i].time_ns > at->work_ns;)
		points[i].time_ns = at->work_ns;
	at->still_from = at->next + 1;
	at->floor_ns = INT64_MIN;
}

static void resume(struct replay_run *run, uint32_t rank, uint32_t op, int64_t end_ns)
{
	struct replay_rank_run *at = &run->ranks[rank];
	uint32_t because = NO_ROW;

	if (at->floor_ns > end_ns) {
		end_ns = at->floor_ns;
		op = at->floor_op;
	}
	if (end_ns > at->work_ns) {
		at->work_ns = end_ns;
		because = op;
	}
	end_standstill(run, rank);
	reach(run, rank, at->work_ns, because);
}

static bool pass_resume(struct replay_run *run, uint32_t rank, uint32_t op)
{
	uint32_t number = (uint32_t)(run->graph->ranks[rank].first_op + op);
	struct replay_rank_run *at = &run->ranks[rank];

	if (run->change->is_overlap_ideal) {
		resume(run, rank, op, INT64_MIN);
		return true;
	}
	/* Ops that were ready before the ranks began are not in the graph. */
	if (!tsi_is_played(&run->graph->ops[number])) {
		resume(run, rank, NO_ROW, tsi_later(at->work_ns, still_ns_of(run, rank, at->next)));
		return true;
	}
	if (!has_ended(run, rank, number))
		return false;
	resume(run, rank, op, run->replay->ops[number].end_ns);
	return true;
}

/* Waits for the ops that end with the step; false: one has not. */
static bool take_waits(struct replay_run *run, uint32_t rank)
{
	const struct replay_rank *of = &run->graph->ranks[rank];
	struct replay_rank_run *at = &run->ranks[rank];
	const struct replay_wait *waits;

	if (of->wait_count == 0)
		return true;
	waits = &run->graph->waits[of->first_op];
	for (; at->wait_at < of->wait_count && waits[at->wait_at].point == at->next;
	     at->wait_at++) {
		const struct replay_wait *wait = &waits[at->wait_at];
		uint32_t number = (uint32_t)(of->first_op + wait->op);

		if (wait->is_resumed && !run->change->is_overlap_ideal)
			continue;
		if (!has_ended(run, rank, number))
			return false;
		if (run->replay->ops[number].end_ns > at->floor_ns) {
			at->floor_ns = run->replay->ops[number].end_ns;
			at->floor_op = wait->op;
		}
	}
	return true;
}

/* A step can begin while the rank stands still: then it goes on standing. */
static bool pass_bound(struct replay_run *run, uint32_t rank)
{
	struct replay_rank_run *at = &run->ranks[rank];
	int64_t still_ns = still_ns_of(run, rank, at->next);
	uint32_t because = NO_ROW;

	if (!take_waits(run, rank))
		return false;
	int64_t time_ns = tsi_later_of(tsi_later(at->work_ns, still_ns), at->floor_ns);
	if (still_ns == 0) {
		because = time_ns > at->work_ns ? at->floor_op : NO_ROW;
		at->work_ns = time_ns;
		at->still_from = at->next + 1;
		at->floor_ns = INT64_MIN;
	}
	reach(run, rank, time_ns, because);
	return true;
}

static void open_barrier(struct replay_run *run, uint32_t rank, struct replay_barrier_run *barrier,
			 const struct process_group *group)
{
	barrier->is_open = true;
	for (uint32_t i = 0; i < group->rank_count; i++)
		if (group->ranks[i] != rank && run->ranks[group->ranks[i]].has_come)
			run->free_ranks[run->free_rank_count++] = group->ranks[i];
}

/* Waits until all have come whose work is done before; false: some have not. */
static bool pass_barrier(struct replay_run *run, uint32_t rank)
{
	struct replay_rank_run *at = &run->ranks[rank];
	uint32_t number = run->graph->barrier_of[run->graph->ranks[rank].first_point + at->next];
	struct replay_barrier_run *barrier;

	if (number == NO_ROW)
		return true;
	barrier = &run->barriers[number];
	int64_t launch_ns = tsi_replay_launch_ns(run->graph, rank, at->next);
	if (!at->has_come && !barrier->is_open) {
		const struct process_group *group = run->graph->barriers[number].group;
		int64_t come_ns = tsi_later(at->work_ns, -launch_ns);

		at->has_come = true;
		if (barrier->come++ == 0 || come_ns > barrier->last_ns)
			barrier->last_ns = come_ns;
		if (barrier->come == group->rank_count)
			open_barrier(run, rank, barrier, group);
	}
	if (!barrier->is_open)
		return false;
	at->has_come = false;
	at->work_ns = tsi_later_of(at->work_ns, tsi_later(barrier->last_ns, launch_ns));
	return true;
}

static bool pass_ready(struct replay_run *run, uint32_t rank, uint32_t op)
{
	struct replay_rank_run *at = &run->ranks[rank];

	if (!pass_barrier(run, rank))
		return false;
	int64_t time_ns = tsi_later(at->work_ns, still_ns_of(run, rank, at->next));

	tsi_replay_make_ready(run, (uint32_t)(run->graph->ranks[rank].first_op + op), time_ns);
	reach(run, rank, time_ns, NO_ROW);
	return true;
}

static bool pass_point(struct replay_run *run, uint32_t rank)
{
	const struct rank_point *point =
		&run->graph->world->logs[rank].points[run->ranks[rank].next];

	work(run, rank);
	if (tsi_is_step_bound(point))
		return pass_bound(run, rank);
	if (point->kind == RANK_POINT_RESUME)
		return pass_resume(run, rank, point->index);
	return pass_ready(run, rank, point->index);
}

/* ---- all of it ---- */

static void go_on(struct replay_run *run, uint32_t rank)
{
	while (run->ranks[rank].next < end_point_of(run, rank))
		if (!pass_point(run, rank))
			return;
}

static void go_on_all(struct replay_run *run)
{
	while (run->top_op != NO_ROW || run->free_rank_count > 0) {
		if (run->top_op != NO_ROW) {
			uint32_t number = run->top_op;

			run->top_op = run->below[number];
			tsi_replay_begin_op(run, number);
		} else {
			go_on(run, run->free_ranks[--run->free_rank_count]);
		}
	}
}

/* Lets a rank pass a point whose op cannot end: the op takes what it took, or the point does. */
static void force(struct replay_run *run, uint32_t rank)
{
	struct replay_rank_run *at = &run->ranks[rank];
	uint32_t number = at->awaits;
	const struct rank_point *point = &run->graph->world->logs[rank].points[at->next];

	run->replay->unordered_count++;
	if (run->states[number] & REPLAY_OP_BEGUN) {
		tsi_replay_end_alone(run, number);
		return;
	}
	at->awaits = NO_ROW;
	run->free_ranks[run->free_rank_count++] = rank;
	if (point->kind == RANK_POINT_RESUME)
		resume(run, rank, NO_ROW, tsi_later(at->work_ns, still_ns_of(run, rank, at->next)));
	else
		at->wait_at++;
}

static void force_barrier(struct replay_run *run, uint32_t rank)
{
	size_t point = run->graph->ranks[rank].first_point + run->ranks[rank].next;
	uint32_t number = run->graph->barrier_of[point];

	run->replay->unordered_count++;
	run->free_ranks[run->free_rank_count++] = rank;
	open_barrier(run, rank, &run->barriers[number], run->graph->barriers[number].group);
}

/* All that are left wait for each other: frees them in the order in which they went on. */
static bool break_circle(struct replay_run *run)
{
	const struct world *world = run->graph->world;
	size_t count = 0;

	for (uint32_t rank = 0; rank < world->rank_count; rank++) {
		size_t next = run->ranks[rank].next;

		if (next == end_point_of(run, rank))
			continue;
		int64_t time_ns = tsi_difference(
			world->logs[rank].points[run->graph->ranks[rank].begin_point].time_ns,
			world->logs[rank].points[next].time_ns);
		run->stuck_ranks[count++] =
			(struct sort_pair){ tsi_sort_key_of_int64(time_ns), rank };
	}
	tsi_sort_pairs(run->stuck_ranks, run->scratch, count);
	for (size_t i = 0; i < count; i++) {
		uint32_t rank = (uint32_t)run->stuck_ranks[i].value;

		if (run->ranks[rank].awaits != NO_ROW)
			force(run, rank);
		else if (run->ranks[rank].has_come)
			force_barrier(run, rank);
		go_on_all(run);
	}
	return count > 0;
}

static void play(struct replay_run *run)
{
	const struct replay_graph *graph = run->graph;

	run->top_op = NO_ROW;
	for (uint32_t rank = 0; rank < graph->world->rank_count; rank++) {
		run->ranks[rank] = (struct replay_rank_run){
			.next = graph->ranks[rank].begin_point,
			.work_ns = graph->ranks[rank].begin_ns,
			.floor_ns = INT64_MIN,
			.awaits = NO_ROW,
		};
		run->free_ranks[run->free_rank_count++] = rank;
	}
	do
		go_on_all(run);
	while (break_circle(run));
}

int64_t tsi_replay_step_ns(const struct replay *replay, const struct replay_graph *graph,
			   size_t rank, size_t step)
{
	const struct replay_step *at = &graph->steps[step * graph->world->rank_count + rank];
	const struct replay_point *points = &replay->points[graph->ranks[rank].first_point];

	return tsi_difference(points[at->first_point].time_ns, points[at->end_point].time_ns);
}

static int64_t mean(tsi_wide sum, int64_t count)
{
	return count > 0 ? tsi_narrow((sum + count / 2) / count) : 0;
}

static void sum_up(struct replay *replay, const struct replay_graph *graph)
{
	const struct world *world = graph->world;
	tsi_wide sum_ns = 0, measured_ns = 0;
	int64_t count = 0;

	for (size_t i = 0; i < graph->step_count * world->rank_count; i++) {
		const struct rank_point *points = world->logs[i % world->rank_count].points;
		const struct replay_step *at = &graph->steps[i];

		if (at->first_point == NO_ROW)
			continue;
		sum_ns += tsi_replay_step_ns(replay, graph, i % world->rank_count,
					     i / world->rank_count);
		measured_ns += tsi_difference(points[at->first_point].time_ns,
					      points[at->end_point].time_ns);
		count++;
	}
	replay->step_ns = mean(sum_ns, count);
	replay->measured_ns = mean(measured_ns, count);
}

static void run_init(struct replay_run *run)
{
	const struct replay_graph *graph = run->graph;
	size_t rank_count = graph->world->rank_count, match_count = graph->world->match_count;
	struct replay *replay = run->replay;
	struct arena *arena = &replay->arena;

	replay->points = tsi_arena_new(arena, graph->point_count, sizeof(*replay->points));
	replay->ops = tsi_arena_new(arena, graph->op_count, sizeof(*replay->ops));
	run->ranks = tsi_arena_new(arena, rank_count, sizeof(*run->ranks));
	run->matches = tsi_arena_new(arena, match_count, sizeof(*run->matches));
	run->barriers = tsi_arena_new(arena, graph->barrier_count, sizeof(*run->barriers));
	run->states = tsi_arena_new(arena, graph->op_count, sizeof(*run->states));
	run->below = tsi_arena_new(arena, graph->op_count, sizeof(*run->below));
	run->free_ranks = tsi_arena_new(arena, rank_count, sizeof(*run->free_ranks));
	run->stuck_ranks = tsi_arena_new(arena, rank_count, sizeof(*run->stuck_ranks));
	run->scratch = tsi_arena_new(arena, rank_count, sizeof(*run->scratch));
}

void tsi_replay(struct replay *replay, const struct replay_graph *graph,
		const struct replay_change *change)
{
	static const struct replay_change as_it_was = { .transfer_scale = 1 };
	struct replay_run run = {
		.graph = graph,
		.change = change ? change : &as_it_was,
		.replay = replay,
	};

	*replay = (struct replay){ 0 };
	run_init(&run);
	if (replay->arena.has_failed)
		return;
	play(&run);
	sum_up(replay, graph);
}

void tsi_replay_deinit(struct replay *replay)
{
	tsi_arena_deinit(&replay->arena);
	*replay = (struct replay){ 0 };
}
