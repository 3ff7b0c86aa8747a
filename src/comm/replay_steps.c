/* SPDX-License-Identifier: MIT */
/*
 * Which steps are played: from the first on that all ranks have (of those that were logged at
 * all). Windows that begin earlier on some ranks, or end later, do not count.
 */
#include "comm/replay_parts.h"

/* A step of a rank, behind its number as a key. */
struct rank_step {
	uint32_t rank, step;
};

struct step_search {
	struct replay_graph *graph;
	struct arena arena;
	struct sort_pair *steps; /* of all ranks that take part, by number */
	size_t step_count;
	uint32_t **points; /* [rank][step of its log]: index of its STEP, or NO_ROW */
	uint32_t *chosen;  /* by rank: its step of the number that is looked at */
	size_t taking_part;
};

static struct rank_step unpack(const struct sort_pair *pair)
{
	return (struct rank_step){ (uint32_t)(pair->value >> 32), (uint32_t)pair->value };
}

/* Lists the steps that have a STEP: of a rank without points none. */
static void list_steps(struct step_search *search, uint32_t rank)
{
	const struct rank_log *log = &search->graph->world->logs[rank];
	uint32_t *points = tsi_latch_rows(&search->arena, log->step_count);

	if (!points)
		return;
	search->points[rank] = points;
	for (size_t i = log->point_count; i-- > 0;)
		if (log->points[i].kind == RANK_POINT_STEP)
			points[log->points[i].index] = (uint32_t)i;
	for (size_t i = 0; i < log->step_count; i++)
		if (points[i] != NO_ROW)
			search->steps[search->step_count++] =
				(struct sort_pair){ tsi_sort_key_of_int64(log->steps[i].number),
						    (uint64_t)rank << 32 | i };
	search->taking_part += log->point_count > 0;
}

static void search_init(struct step_search *search)
{
	const struct world *world = search->graph->world;
	size_t count = 0;

	for (size_t rank = 0; rank < world->rank_count; rank++)
		count += world->logs[rank].step_count;
	search->steps = tsi_arena_new(&search->arena, count, sizeof(*search->steps));
	search->points = tsi_arena_new(&search->arena, world->rank_count, sizeof(*search->points));
	search->chosen = tsi_latch_rows(&search->arena, world->rank_count);
	if (!search->chosen)
		return;
	for (uint32_t rank = 0; rank < world->rank_count; rank++)
		list_steps(search, rank);
	tsi_latch_sort(&search->arena, search->steps, search->step_count);
}

/*
 * Takes the steps of the next number, of each rank its first: equal numbers stand by rank. Are
 * those of all ranks there?
 */
static bool take_number(struct step_search *search, size_t *at)
{
	size_t first = *at, count = 0;
	uint32_t last = NO_ROW;

	for (; *at < search->step_count && search->steps[*at].key == search->steps[first].key;
	     ++*at) {
		count += unpack(&search->steps[*at]).rank != last;
		last = unpack(&search->steps[*at]).rank;
	}
	if (count < search->taking_part)
		return false;
	for (size_t i = *at; i-- > first;)
		search->chosen[unpack(&search->steps[i]).rank] = unpack(&search->steps[i]).step;
	return true;
}

/* The first STEP or END after a STEP. */
static uint32_t end_of_step(const struct rank_log *log, uint32_t first_point)
{
	for (size_t i = first_point + (size_t)1; i < log->point_count; i++)
		if (tsi_is_step_bound(&log->points[i]))
			return (uint32_t)i;
	return NO_ROW;
}

static void begin_ranks(struct step_search *search)
{
	for (size_t rank = 0; rank < search->graph->world->rank_count; rank++)
		if (search->chosen[rank] != NO_ROW)
			search->graph->ranks[rank].begin_point =
				search->points[rank][search->chosen[rank]];
}

static bool does_count(const struct step_search *search)
{
	const struct replay_graph *graph = search->graph;

	for (size_t rank = 0; rank < graph->world->rank_count; rank++) {
		const struct rank_log *log = &graph->world->logs[rank];
		uint32_t step = search->chosen[rank];

		if (step == NO_ROW)
			continue;
		uint32_t point = search->points[rank][step];
		if (log->steps[step].mark != TSCOPE_STEP_COUNTED ||
		    point < graph->ranks[rank].begin_point || end_of_step(log, point) == NO_ROW)
			return false;
	}
	return true;
}

static void add_step(struct step_search *search, size_t *capacity)
{
	struct replay_graph *graph = search->graph;
	size_t rank_count = graph->world->rank_count, first = graph->step_count * rank_count;

	graph->steps = tsi_arena_reserve(&graph->arena, graph->steps, capacity, first + rank_count,
					 sizeof(*graph->steps));
	if (!graph->steps)
		return;
	for (size_t rank = 0; rank < rank_count; rank++) {
		struct replay_step step = { NO_ROW, NO_ROW };

		if (search->chosen[rank] != NO_ROW) {
			step.first_point = search->points[rank][search->chosen[rank]];
			step.end_point = end_of_step(&graph->world->logs[rank], step.first_point);
		}
		graph->steps[first + rank] = step;
	}
	graph->step_count++;
}

static void add_steps(struct step_search *search)
{
	size_t capacity = 0, at = 0;
	bool is_begun = false;

	while (at < search->step_count && !search->graph->arena.has_failed) {
		if (!take_number(search, &at))
			continue;
		if (!is_begun)
			begin_ranks(search);
		is_begun = true;
		if (does_count(search))
			add_step(search, &capacity);
	}
}

void tsi_replay_find_steps(struct replay_graph *graph)
{
	struct step_search search = { .graph = graph };

	search_init(&search);
	if (!search.arena.has_failed && search.taking_part >= 2)
		add_steps(&search);
	tsi_latch_deinit(&graph->arena, &search.arena);
}
