/* SPDX-License-Identifier: MIT */
/*
 * What a rank has to do shows in the communication of a usual step: how many collectives of each
 * kind, how many sends among them, and whether it sends or receives first. Sizes do not count: a
 * rank with more work has larger ones.
 *
 * Stages in the middle of a pipeline may agree in all of that. So ranks that sends and receives
 * connect are one pipeline where they do not all communicate alike, and a rank's place among them
 * counts as well. Where they do (a ring that passes blocks around) all have one role.
 */
#include "analyze/ranks/rank_roles.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "comm/world.h"

/* The communication of a step; without padding, to be compared byte by byte. */
struct duty {
	uint32_t counts[COLLECTIVE_KIND_COUNT];
	uint32_t send_count;
	uint32_t first; /* enum first */
};

/* What a rank does first; of a send and a receive that overlap none is. */
enum first { FIRST_NONE, FIRST_SEND, FIRST_RECEIVE };

/* What makes ranks alike; without padding. */
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

static enum tscope_status step_ops_init(struct step_ops *ops, const struct rank_log *log,
					struct tscope_error *err)
{
	struct sort_pair *scratch = NULL;

	*ops = (struct step_ops){ .log = log };
	enum tscope_status status =
		tsi_array_new(&ops->pairs, log->op_count, sizeof(*ops->pairs), err);
	if (status == TSCOPE_OK)
		status = tsi_array_new(&scratch, log->op_count, sizeof(*scratch), err);
	for (size_t i = 0; status == TSCOPE_OK && i < log->op_count; i++)
		if (log->ops[i].step != NO_NUMBER)
			ops->pairs[ops->count++] =
				(struct sort_pair){ tsi_sort_key_of_int64(log->ops[i].step), i };
	if (status == TSCOPE_OK)
		tsi_sort_pairs(ops->pairs, scratch, ops->count);
	free(scratch);
	return status;
}

/* Where the ops of a step begin. */
static size_t find_ops(const struct step_ops *ops, int64_t number)
{
	uint64_t key = tsi_sort_key_of_int64(number);
	size_t low = 0, high = ops->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (ops->pairs[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
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

	for (size_t i = find_ops(ops, number);
	     i < ops->count && ops->pairs[i].key == tsi_sort_key_of_int64(number); i++) {
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

static enum tscope_status find_duty(struct duty *duty, const struct rank_log *log,
				    struct tscope_error *err)
{
	struct step_ops ops = { 0 };
	struct duty *duties = NULL;
	size_t count = 0;

	enum tscope_status status = tsi_array_new(&duties, log->step_count, sizeof(*duties), err);
	if (status == TSCOPE_OK)
		status = step_ops_init(&ops, log, err);
	if (status == TSCOPE_OK) {
		for (size_t i = 0; i < log->step_count; i++)
			if (log->steps[i].mark == TSCOPE_STEP_COUNTED)
				duties[count++] = duty_of_step(&ops, log->steps[i].number);
		*duty = most_frequent(duties, count);
	}
	free(ops.pairs);
	free(duties);
	return status;
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

static enum tscope_status find_places(struct role *roles, const struct world *world,
				      struct tscope_error *err)
{
	uint32_t *lower = NULL, *counts = NULL;
	bool *is_mixed = NULL;

	enum tscope_status status = tsi_array_new(&lower, world->rank_count, sizeof(*lower), err);
	if (status == TSCOPE_OK)
		status = tsi_array_new(&counts, world->rank_count, sizeof(*counts), err);
	if (status == TSCOPE_OK)
		status = tsi_array_new(&is_mixed, world->rank_count, sizeof(*is_mixed), err);
	if (status == TSCOPE_OK) {
		connect_ranks(lower, world);
		place_ranks(roles, lower, world->rank_count, counts, is_mixed);
	}
	free(lower);
	free(counts);
	free(is_mixed);
	return status;
}

/* ---- roles ---- */

static enum tscope_status roles_of_world(struct role *roles, const struct world *world,
					 struct tscope_error *err)
{
	for (size_t i = 0; i < world->rank_count; i++) {
		roles[i].is_host = world->logs[i].is_host;
		if (find_duty(&roles[i].duty, &world->logs[i], err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	}
	return find_places(roles, world, err);
}

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

enum tscope_status tsi_rank_roles_init(struct rank_roles *roles, const struct analysis_scope *scope,
				       struct tscope_error *err)
{
	uint32_t stage_count = scope->options->pipeline_stages;
	struct role *found = NULL;

	*roles = (struct rank_roles){ .rank_count = scope->rank_count };
	enum tscope_status status =
		tsi_array_new(&roles->roles, scope->rank_count, sizeof(*roles->roles), err);
	if (status == TSCOPE_OK)
		status = tsi_array_new(&found, scope->rank_count, sizeof(*found), err);
	if (status == TSCOPE_OK && stage_count > 1 && scope->rank_count % stage_count == 0)
		roles_of_stages(found, scope->rank_count, stage_count);
	else if (status == TSCOPE_OK && scope->world)
		status = roles_of_world(found, scope->world, err);
	if (status == TSCOPE_OK)
		number_roles(roles, found);
	free(found);
	return status;
}

void tsi_rank_roles_deinit(struct rank_roles *roles)
{
	free(roles->roles);
	*roles = (struct rank_roles){ 0 };
}
