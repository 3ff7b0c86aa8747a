/* SPDX-License-Identifier: MIT */
/* Finds the pairs of ranks that send messages to one another: each is a group of its own. */
#include "base/pair_set.h"
#include "comm/group_search.h"

struct pair_finder {
	struct world *world;
	struct arena arena;
	struct pair_set pairs; /* lower and upper rank */
	struct message_pair {
		uint8_t ends; /* bits: the lower one has messages, the upper one */
		uint32_t group;
	} * items; /* by number */
	size_t count, capacity;
};

/* The pair of two ranks, which is added if it is new; NULL without memory. */
static struct message_pair *pair_of(struct pair_finder *finder, uint32_t rank, uint32_t peer)
{
	uint32_t lower = rank < peer ? rank : peer, upper = rank < peer ? peer : rank;
	uint32_t number = tsi_pair_set_add(&finder->pairs, lower, upper);

	if (number == finder->count) {
		struct message_pair *added =
			tsi_arena_push(&finder->arena, &finder->items, &finder->count,
				       &finder->capacity, sizeof(*added));
		if (added)
			added->group = NO_ROW;
	}
	return finder->arena.has_failed ? NULL : &finder->items[number];
}

static uint32_t add_pair(struct world *world, const struct pair *pair, const char *name)
{
	int64_t *members = tsi_arena_new(&world->arena, 2, sizeof(*members));
	struct process_group group = { .size = 2,
				       .members = members,
				       .member_count = 2,
				       .name = name,
				       .is_point_to_point = true };

	if (!members)
		return NO_ROW;
	members[0] = world->logs[pair->first].rank;
	members[1] = world->logs[pair->second].rank;
	return tsi_add_group(world, &group);
}

static void assign_message(struct pair_finder *finder, struct message_pair *item, uint32_t rank,
			   uint32_t op)
{
	struct world *world = finder->world;
	const struct rank_log *log = &world->logs[rank];

	if (item->ends != 3)
		return;
	if (item->group == NO_ROW)
		item->group = add_pair(world, &finder->pairs.pairs[item - finder->items],
				       tsi_group_name(log, &log->groups[log->ops[op].group]));
	world->group_of_op[rank][op] = item->group;
}

/* Calls are counted first: only what both ends have been seen of is a pair. */
static void find_pairs(struct pair_finder *finder, bool is_counting)
{
	const struct world *world = finder->world;

	for (uint32_t rank = 0; rank < world->rank_count; rank++) {
		const struct rank_log *log = &world->logs[rank];

		for (uint32_t i = 0; i < log->op_count; i++) {
			if (!tsi_is_message(log, &log->ops[i]))
				continue;
			uint32_t peer = tsi_rank_index(world, log->ops[i].peer);
			if (peer == NO_ROW)
				continue;
			struct message_pair *item = pair_of(finder, rank, peer);
			if (!item)
				return;
			if (is_counting)
				item->ends |= (uint8_t)(rank > peer ? 2 : 1);
			else
				assign_message(finder, item, rank, i);
		}
	}
}

void tsi_find_message_pairs(struct world *world)
{
	struct pair_finder finder = { .world = world, .pairs.arena = &finder.arena };

	find_pairs(&finder, true);
	find_pairs(&finder, false);
	tsi_latch_deinit(&world->arena, &finder.arena);
}
