/* SPDX-License-Identifier: MIT */
/* Finds the pairs of ranks that send messages to one another: each is a group of its own. */
#include "comm/group_search.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/pair_set.h"

struct pair_finder {
	struct pair_set pairs; /* lower and upper rank */
	struct message_pair {
		uint8_t ends; /* bits: the lower one has messages, the upper one */
		uint32_t group;
	} * items; /* by number */
	size_t capacity;
};

/* Calls are counted first: only what both ends have been seen of is a pair. */
static enum tscope_status note_message(struct pair_finder *finder, uint32_t rank, uint32_t peer,
				       struct tscope_error *err)
{
	bool is_upper = rank > peer;
	uint32_t number;
	size_t before = finder->capacity;

	if (tsi_pair_set_find(&finder->pairs, is_upper ? peer : rank, is_upper ? rank : peer,
			      &number, err) != TSCOPE_OK ||
	    tsi_array_reserve(&finder->items, &finder->capacity, (size_t)number + 1,
			      sizeof(*finder->items), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (; before < finder->capacity; before++)
		finder->items[before] = (struct message_pair){ .group = NO_ROW };
	finder->items[number].ends |= (uint8_t)(is_upper ? 2 : 1);
	return TSCOPE_OK;
}

static enum tscope_status add_pair(struct world *world, const struct pair *pair, const char *name,
				   uint32_t *index, struct tscope_error *err)
{
	struct process_group group = {
		.size = 2, .member_count = 2, .name = name, .is_point_to_point = true
	};

	if (tsi_array_new(&group.members, 2, sizeof(*group.members), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	group.members[0] = world->logs[pair->first].rank;
	group.members[1] = world->logs[pair->second].rank;
	if (tsi_add_group(world, &group, index, err) == TSCOPE_OK)
		return TSCOPE_OK;
	free(group.members);
	return TSCOPE_E_NOMEM;
}

static enum tscope_status assign_message(struct world *world, struct pair_finder *finder,
					 uint32_t rank, uint32_t op, struct tscope_error *err)
{
	const struct rank_log *log = &world->logs[rank];
	uint32_t peer = tsi_rank_index(world, log->ops[op].peer), number;

	if (tsi_pair_set_find(&finder->pairs, rank < peer ? rank : peer, rank < peer ? peer : rank,
			      &number, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	struct message_pair *item = &finder->items[number];
	if (item->ends != 3)
		return TSCOPE_OK;
	if (item->group == NO_ROW && add_pair(world, &finder->pairs.pairs[number],
					      tsi_group_name(log, &log->groups[log->ops[op].group]),
					      &item->group, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	world->group_of_op[rank][op] = item->group;
	return TSCOPE_OK;
}

static enum tscope_status find_pairs(struct world *world, struct pair_finder *finder,
				     bool is_counting, struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;

	for (uint32_t rank = 0; rank < world->rank_count; rank++) {
		const struct rank_log *log = &world->logs[rank];

		for (uint32_t i = 0; status == TSCOPE_OK && i < log->op_count; i++) {
			if (!tsi_is_message(log, &log->ops[i]))
				continue;
			uint32_t peer = tsi_rank_index(world, log->ops[i].peer);
			if (peer != NO_ROW && is_counting)
				status = note_message(finder, rank, peer, err);
			else if (peer != NO_ROW)
				status = assign_message(world, finder, rank, i, err);
		}
	}
	return status;
}

enum tscope_status tsi_find_message_pairs(struct world *world, struct tscope_error *err)
{
	struct arena memory = { 0 };
	struct pair_finder finder = { .pairs.arena = &memory };
	enum tscope_status status = find_pairs(world, &finder, true, err);

	if (status == TSCOPE_OK)
		status = find_pairs(world, &finder, false, err);
	tsi_arena_deinit(&memory);
	free(finder.items);
	return status;
}
