/* SPDX-License-Identifier: MIT */
/*
 * Makes the world of a run's ranks stage by stage, and frees it.
 */
#include "comm/world.h"

#include <stdlib.h>

#include "base/array.h"

static void (*const stages[])(struct world *world) = {
	tsi_world_find_groups, tsi_world_find_matches, tsi_world_find_clocks,
	tsi_world_find_waits,  tsi_world_find_nodes,
};

enum tscope_status tsi_world_new(struct world **ret, const struct rank_log *logs, size_t rank_count,
				 int64_t world_size, struct tscope_error *err)
{
	struct world *world;

	if (tsi_array_new(&world, 1, sizeof(*world), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	world->logs = logs;
	world->rank_count = rank_count;
	world->world_size = world_size;
	for (size_t i = 0; i < TSI_COUNT_OF(stages) && !world->arena.has_failed; i++)
		stages[i](world);
	enum tscope_status status = tsi_arena_status(&world->arena, err);
	if (status == TSCOPE_OK)
		*ret = world;
	else
		tsi_world_free(world);
	return status;
}

void tsi_world_free(struct world *world)
{
	if (world)
		tsi_arena_deinit(&world->arena);
	free(world);
}

uint32_t **tsi_world_op_rows(struct world *world)
{
	uint32_t **rows = tsi_arena_new(&world->arena, world->rank_count, sizeof(*rows));

	for (size_t rank = 0; rows && rank < world->rank_count; rank++)
		rows[rank] = tsi_latch_rows(&world->arena, world->logs[rank].op_count);
	return world->arena.has_failed ? NULL : rows;
}

size_t tsi_world_op_count(const struct world *world)
{
	size_t count = 0;

	for (size_t rank = 0; rank < world->rank_count; rank++)
		count += world->logs[rank].op_count;
	return count;
}

bool tsi_group_is_whole(const struct world *world, const struct process_group *group)
{
	if (group->size != NO_NUMBER)
		return group->size == (int64_t)group->rank_count;
	if (world->world_size >= 0)
		return world->world_size == (int64_t)world->rank_count;
	/* Numbers ascend. */
	return world->rank_count > 0 &&
	       world->logs[world->rank_count - 1].rank == (int64_t)world->rank_count - 1;
}
