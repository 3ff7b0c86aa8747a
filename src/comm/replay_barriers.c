/* SPDX-License-Identifier: MIT */
/*
 * Where ranks of a group go on together although nothing that was recorded holds them up: barriers
 * on the host, collectives of threads that were not profiled. Their devices idle, and it looks as
 * if each host had been late to launch. But launches that are late by themselves come as far apart
 * as the work before them ends, or farther; those that wait for the last rank come closer together.
 *
 *	rank 0  | compute |···· launch stall ····| READY
 *	rank 1  | compute      |· launch stall ·|  READY
 *	                       ^ idle_ns of the last: rank 0 waits up to here
 */
#include "comm/replay_parts.h"

enum {
	MIN_STEPS = 5, /* fewer may come together by chance */
	/* Ends of work are so many times as far apart as what is launched then, at least. */
	MIN_CLOSER = 2,
	MIN_WAIT_PER_STEP = 1000, /* the step by this is waited at least */
	CLOCK_SLOP_NS = 10000,
	/* Points that are looked at in all, group by group. */
	MAX_LOOKED_AT = 16000000,
};

/* A launch of each member, the same one in each step that is looked at. */
struct launch_place {
	tsi_wide idle_apart_ns, ready_apart_ns; /* first to last, sums of the steps */
	size_t step_count;
	bool is_barrier;
};

struct barrier_search {
	struct replay_graph *graph;
	struct arena *arena;
	const struct process_group *group;
	uint32_t *points; /* [member][place]: READYs of a step */
	struct launch_place *places;
	size_t place_count, looked_at;
	tsi_wide wall_ns; /* of the steps that are looked at */
};

/* When a device was through with what had been launched before, and when this was launched. */
struct launch_time {
	int64_t idle_ns, ready_ns;
};

static struct launch_time launch_time_of(const struct barrier_search *search, uint32_t rank,
					 uint32_t at)
{
	const struct world *world = search->graph->world;
	const struct rank_point *point = &world->logs[rank].points[at];
	int64_t stall_ns = point->line_ns[TSCOPE_BUDGET_LAUNCH_STALL];
	int64_t ready_ns = tsi_world_time(world, rank, point->time_ns);

	return (struct launch_time){ tsi_later(ready_ns, -stall_ns), ready_ns };
}

/* The READYs of a rank's step that did not come while it stood still; how many. */
static size_t list_launches(const struct barrier_search *search, uint32_t rank, size_t step,
			    uint32_t *points, size_t room)
{
	const struct replay_graph *graph = search->graph;
	const struct replay_step *at = &graph->steps[step * graph->world->rank_count + rank];
	const struct rank_point *all = graph->world->logs[rank].points;
	size_t count = 0;

	if (at->first_point == NO_ROW)
		return 0;
	for (uint32_t i = at->first_point + 1; i < at->end_point; i++) {
		if (all[i].kind != RANK_POINT_READY)
			continue;
		if (count < room)
			points[count] = i;
		count++;
	}
	return count;
}

/* Lists the launches of all members; false where they are not the same number. */
static bool list_members(struct barrier_search *search, size_t step)
{
	const struct process_group *group = search->group;

	for (uint32_t i = 0; i < group->rank_count; i++)
		if (list_launches(search, group->ranks[i], step,
				  &search->points[i * search->place_count],
				  search->place_count) != search->place_count)
			return false;
	return true;
}

struct spread {
	int64_t first_idle_ns, last_idle_ns, first_ready_ns, last_ready_ns;
};

static struct spread spread_of(const struct barrier_search *search, size_t place)
{
	struct spread spread = { INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN };

	for (uint32_t i = 0; i < search->group->rank_count; i++) {
		struct launch_time time =
			launch_time_of(search, search->group->ranks[i],
				       search->points[i * search->place_count + place]);

		if (time.idle_ns < spread.first_idle_ns)
			spread.first_idle_ns = time.idle_ns;
		if (time.ready_ns < spread.first_ready_ns)
			spread.first_ready_ns = time.ready_ns;
		spread.last_idle_ns = tsi_later_of(spread.last_idle_ns, time.idle_ns);
		spread.last_ready_ns = tsi_later_of(spread.last_ready_ns, time.ready_ns);
	}
	return spread;
}

/* Nobody is launched before the last one idles. */
static void look_at_place(struct barrier_search *search, size_t place)
{
	struct launch_place *at = &search->places[place];
	struct spread spread = spread_of(search, place);

	if (spread.first_ready_ns < tsi_later(spread.last_idle_ns, -CLOCK_SLOP_NS))
		at->is_barrier = false;
	at->idle_apart_ns += tsi_difference(spread.first_idle_ns, spread.last_idle_ns);
	at->ready_apart_ns += tsi_difference(spread.first_ready_ns, spread.last_ready_ns);
	at->step_count++;
}

static void decide(struct barrier_search *search)
{
	for (size_t i = 0; i < search->place_count; i++) {
		struct launch_place *at = &search->places[i];

		at->is_barrier &= at->step_count >= MIN_STEPS &&
				  at->ready_apart_ns * MIN_CLOSER <= at->idle_apart_ns &&
				  at->idle_apart_ns * MIN_WAIT_PER_STEP >= search->wall_ns;
	}
}

static bool is_free(const struct barrier_search *search, size_t place)
{
	for (uint32_t i = 0; i < search->group->rank_count; i++) {
		size_t first = search->graph->ranks[search->group->ranks[i]].first_point;
		size_t point = first + search->points[i * search->place_count + place];

		if (search->graph->barrier_of[point] != NO_ROW ||
		    search->graph->still_ns[point] != 0)
			return false;
	}
	return true;
}

/* Takes each rank's wait for the last one out of its local time. */
static void add_barrier(struct barrier_search *search, size_t place)
{
	struct replay_graph *graph = search->graph;
	int64_t last_ns = spread_of(search, place).last_idle_ns;
	uint32_t number = (uint32_t)graph->barrier_count;
	struct replay_barrier *barrier =
		tsi_arena_push(&graph->arena, &graph->barriers, &graph->barrier_count,
			       &graph->barrier_capacity, sizeof(*barrier));

	if (!barrier)
		return;
	barrier->group = search->group;
	barrier->points =
		tsi_arena_new(&graph->arena, search->group->rank_count, sizeof(*barrier->points));
	if (!barrier->points)
		return;
	for (uint32_t i = 0; i < search->group->rank_count; i++) {
		uint32_t rank = search->group->ranks[i];
		uint32_t at = search->points[i * search->place_count + place];
		size_t point = graph->ranks[rank].first_point + at;
		struct launch_time time = launch_time_of(search, rank, at);
		int64_t wait_ns = tsi_difference(time.idle_ns, last_ns);
		int64_t stall_ns = tsi_difference(time.idle_ns, time.ready_ns);

		wait_ns = wait_ns < stall_ns ? wait_ns : stall_ns;
		barrier->points[i] = at;
		graph->barrier_of[point] = number;
		graph->barrier_wait_ns[point] = wait_ns;
		graph->local_ns[point] -= wait_ns;
	}
}

static void pass_steps(struct barrier_search *search, bool is_decided)
{
	const struct replay_graph *graph = search->graph;

	for (size_t step = 0; step < graph->step_count; step++) {
		if (!list_members(search, step))
			continue;
		for (size_t i = 0; i < search->place_count; i++) {
			if (!is_decided)
				look_at_place(search, i);
			else if (search->places[i].is_barrier && is_free(search, i))
				add_barrier(search, i);
		}
		const struct replay_step *at =
			&graph->steps[step * graph->world->rank_count + search->group->ranks[0]];
		const struct rank_point *points =
			graph->world->logs[search->group->ranks[0]].points;
		search->wall_ns += tsi_difference(points[at->first_point].time_ns,
						  points[at->end_point].time_ns);
	}
}

static bool are_clocks_known(const struct world *world, const struct process_group *group)
{
	for (uint32_t i = 0; i < group->rank_count; i++)
		if (!world->clocks || !world->clocks[group->ranks[i]].is_known)
			return false;
	return true;
}

/* The launches of each step are as many as those of the first. */
static void search_group(struct barrier_search *search)
{
	const struct process_group *group = search->group;
	size_t count;

	if (group->is_point_to_point || group->rank_count < 2 ||
	    !are_clocks_known(search->graph->world, group))
		return;
	count = list_launches(search, group->ranks[0], 0, NULL, 0);
	search->looked_at += (count + 1) * group->rank_count * search->graph->step_count;
	if (count == 0 || search->looked_at > MAX_LOOKED_AT)
		return;
	search->place_count = count;
	search->wall_ns = 0;
	search->points =
		tsi_arena_new(search->arena, count * group->rank_count, sizeof(*search->points));
	search->places = tsi_arena_new(search->arena, count, sizeof(*search->places));
	if (!search->points || !search->places)
		return;
	for (size_t i = 0; i < count; i++)
		search->places[i].is_barrier = true;
	pass_steps(search, false);
	decide(search);
	pass_steps(search, true);
}

int64_t tsi_replay_launch_ns(const struct replay_graph *graph, uint32_t rank, size_t point)
{
	return graph->world->logs[rank].points[point].line_ns[TSCOPE_BUDGET_LAUNCH_STALL] -
	       graph->barrier_wait_ns[graph->ranks[rank].first_point + point];
}

void tsi_replay_find_barriers(struct replay_graph *graph)
{
	struct arena scratch = { 0 };
	struct barrier_search search = { .graph = graph, .arena = &scratch };

	graph->barrier_of = tsi_latch_rows(&graph->arena, graph->point_count);
	graph->barrier_wait_ns = tsi_arena_new(&graph->arena, graph->point_count, sizeof(int64_t));
	if (!graph->barrier_of || !graph->barrier_wait_ns || graph->step_count < MIN_STEPS)
		return;
	for (size_t i = 0; i < graph->world->group_count && !scratch.has_failed; i++) {
		search.group = &graph->world->groups[i];
		search_group(&search);
	}
	tsi_latch_deinit(&graph->arena, &scratch);
}
