/* SPDX-License-Identifier: MIT */
/*
 * A rank's role shows in the communication of a usual step: how many collectives of each kind, how
 * many sends among them, and whether it sends or receives first. Sizes do not count: a rank with
 * more work has larger ones.
 *
 * Stages in the middle of a pipeline may agree in all of that. So ranks that sends and receives
 * connect are one pipeline where they do not all communicate alike, and a rank's place among them
 * counts as well. Where they do (a ring that passes blocks around) all have one role.
 */
#include "analyze/ranks/rank_roles.h"

#include <stdlib.h>
#include <string.h>

#include "comm/world.h"

/* The communication of a step; without padding, to be compared byte by byte. */
struct duty {
	uint32_t counts[COLLECTIVE_KIND_COUNT];
	uint32_t send_count;
	uint32_t first; /* enum first */
};

/*
 * First message of a rank in a step; NONE where its send and its receive overlap, or one is
 * missing.
 */
enum first { FIRST_NONE, FIRST_SEND, FIRST_RECEIVE };

/* Key of ranks that are alike; without padding. */
struct role {
	struct duty duty;
	uint32_t is_host;
	uint32_t place, place_count; /* in its pipeline; 0 without one */
};

_Static_assert(sizeof(struct role) == (COLLECTIVE_KIND_COUNT + 5) * sizeof(uint32_t),
	       "no padding: roles are compared byte by byte");

/* ---- the communication of a usual step ---- */

/* The ops of a rank by the number of their step. */
struct step_ops {
	const struct rank_log *log;
	struct sort_pair *pairs;
	size_t count;
};

static void list_ops(struct step_ops *ops, struct arena *scratch)
{
	const struct rank_log *log = ops->log;

	ops->pairs = tsi_arena_new(scratch, log->op_count, sizeof(*ops->pairs));
	for (size_t i = 0; ops->pairs && i < log->op_count; i++)
		if (log->ops[i].step != NO_NUMBER)
			ops->pairs[ops->count++] =
				(struct sort_pair){ tsi_sort_key_of_int64(log->ops[i].step), i };
	tsi_latch_sort(scratch, ops->pairs, ops->count);
}

static uint32_t which_first(const struct rank_op *send, const struct rank_op *receive)
{
	if (!send || !receive)
		return FIRST_NONE;
	if (tsi_op_end(send) <= receive->start_ns)
		return FIRST_SEND;
	return tsi_op_end(receive) <= send->start_ns ? FIRST_RECEIVE : FIRST_NONE;
}

static struct duty duty_of_step(const struct step_ops *ops, int64_t number)
{
	const struct rank_op *send = NULL, *receive = NULL;
	struct duty duty = { .first = FIRST_NONE };
	uint64_t key = tsi_sort_key_of_int64(number);

	for (size_t i = tsi_count_up_to(ops->pairs, ops->count, key - 1);
	     i < ops->count && ops->pairs[i].key == key; i++) {
		const struct rank_op *op = &ops->log->ops[ops->pairs[i].value];
		duty.counts[op->kind]++;
		duty.send_count += op->is_send;
		if (op->kind != COLLECTIVE_SEND_RECV)
			continue;
		if (op->is_send && !send)
			send = op;
		else if (!op->is_send && !receive)
			receive = op;
	}
	duty.first = which_first(send, receive);
	return duty;
}

static int compare_duties(const void *left, const void *right)
{
	return memcmp(left, right, sizeof(struct duty));
}

/* The most frequent one; of equally frequent ones the first. Sorts them. */
static struct duty most_frequent(struct duty *duties, size_t count)
{
	size_t most = 0, at = 0;

	if (count == 0)
		return (struct duty){ 0 };
	qsort(duties, count, sizeof(*duties), compare_duties);
	for (size_t first = 0, end; first < count; first = end) {
		for (end = first + 1;
		     end < count && compare_duties(&duties[first], &duties[end]) == 0;)
			end++;
		if (end - first > most) {
			most = end - first;
			at = first;
		}
	}
	return duties[at];
}

static struct duty find_duty(const struct rank_log *log, struct arena *arena)
{
	struct arena scratch = { 0 };
	struct step_ops ops = { .log = log };
	struct duty *duties = tsi_arena_new(&scratch, log->step_count, sizeof(*duties));
	size_t count = 0;

	list_ops(&ops, &scratch);
	for (size_t i = 0; duties && i < log->step_count; i++)
		if (log->steps[i].mark == TSCOPE_STEP_COUNTED)
			duties[count++] = duty_of_step(&ops, log->steps[i].number);
	struct duty duty = most_frequent(duties, count);
	tsi_latch_deinit(arena, &scratch);
	return duty;
}

/* ---- pipelines ---- */

/* Ranks that sends and receives connect, as a forest: each points towards the lowest of them. */
static uint32_t lowest_of(uint32_t *lower, uint32_t rank)
{
	while (lower[rank] != rank) {
		lower[rank] = lower[lower[rank]];
		rank = lower[rank];
	}
	return rank;
}

static void connect_ranks(uint32_t *lower, const struct world *world)
{
	for (uint32_t i = 0; i < world->rank_count; i++)
		lower[i] = i;
	for (size_t i = 0; i < world->group_count; i++) {
		const struct process_group *group = &world->groups[i];

		for (uint32_t k = 1; group->is_point_to_point && k < group->rank_count; k++) {
			uint32_t a = lowest_of(lower, group->ranks[0]);
			uint32_t b = lowest_of(lower, group->ranks[k]);
			lower[a > b ? a : b] = a > b ? b : a;
		}
	}
}

/* lower: as connect_ranks() left it. counts and is_mixed have room for the ranks, zeroed. */
static void place_ranks(struct role *roles, uint32_t *lower, size_t rank_count, uint32_t *counts,
			bool *is_mixed)
{
	for (uint32_t i = 0; i < rank_count; i++) {
		uint32_t first = lowest_of(lower, i);

		roles[i].place = counts[first]++;
		if (compare_duties(&roles[first].duty, &roles[i].duty) != 0)
			is_mixed[first] = true;
	}
	for (uint32_t i = 0; i < rank_count; i++) {
		uint32_t first = lowest_of(lower, i);

		roles[i].place_count = is_mixed[first] ? counts[first] : 0;
		if (!is_mixed[first])
			roles[i].place = 0;
	}
}

static void roles_of_world(struct role *roles, const struct world *world, struct arena *arena)
{
	size_t count = world->rank_count;
	uint32_t *lower = tsi_arena_new(arena, count, sizeof(*lower));
	uint32_t *counts = tsi_arena_new(arena, count, sizeof(*counts));
	bool *is_mixed = tsi_arena_new(arena, count, sizeof(*is_mixed));

	if (!is_mixed)
		return;
	for (size_t i = 0; i < count; i++) {
		roles[i].is_host = world->logs[i].is_host;
		roles[i].duty = find_duty(&world->logs[i], arena);
	}
	connect_ranks(lower, world);
	place_ranks(roles, lower, count, counts, is_mixed);
}

/* ---- roles ---- */

static void roles_of_stages(struct role *roles, size_t rank_count, uint32_t stage_count)
{
	for (size_t i = 0; i < rank_count; i++)
		roles[i].place = (uint32_t)(i / (rank_count / stage_count));
}

/* O(ranks²) at worst. */
static void number_roles(struct rank_roles *numbers, const struct role *roles)
{
	uint32_t *roles_of = numbers->roles;

	for (size_t i = 0; i < numbers->rank_count; i++) {
		size_t like = 0;

		while (memcmp(&roles[like], &roles[i], sizeof(*roles)) != 0)
			like++;
		roles_of[i] = like < i ? roles_of[like] : (uint32_t)numbers->role_count++;
	}
}

void tsi_rank_roles_find(struct rank_roles *roles, const struct analysis_scope *scope,
			 struct arena *arena)
{
	uint32_t stage_count = scope->options->pipeline_stages;
	struct role *found = tsi_arena_new(arena, scope->rank_count, sizeof(*found));

	*roles = (struct rank_roles){ .rank_count = scope->rank_count };
	roles->roles = tsi_arena_new(arena, scope->rank_count, sizeof(*roles->roles));
	if (!roles->roles)
		return;
	if (stage_count > 1 && scope->rank_count % stage_count == 0)
		roles_of_stages(found, scope->rank_count, stage_count);
	else if (scope->world)
		roles_of_world(found, scope->world, arena);
	number_roles(roles, found);
}
