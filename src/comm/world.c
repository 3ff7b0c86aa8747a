/* SPDX-License-Identifier: MIT */
/*
 * Makes the world of a run's ranks stage by stage, and frees it.
 */
#include "comm/world.h"

#include <stdlib.h>

#include "base/array.h"

static enum tscope_status run_stages(struct world *world, struct tscope_error *err)
{
	enum tscope_status status = tsi_intern_init(&world->names, UINT32_MAX - 1, err);

	if (status == TSCOPE_OK)
		status = tsi_world_find_groups(world, err);
	if (status == TSCOPE_OK)
		status = tsi_world_find_matches(world, err);
	if (status == TSCOPE_OK)
		status = tsi_world_find_clocks(world, err);
	if (status == TSCOPE_OK)
		status = tsi_world_find_waits(world, err);
	if (status == TSCOPE_OK)
		status = tsi_world_find_nodes(world, err);
	return status;
}

enum tscope_status tsi_world_new(struct world **ret, const struct rank_log *logs, size_t rank_count,
				 int64_t world_size, struct tscope_error *err)
{
	struct world *world;

	if (tsi_array_new(&world, 1, sizeof(*world), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	world->logs = logs;
	world->rank_count = rank_count;
	world->world_size = world_size;
	enum tscope_status status = run_stages(world, err);
	if (status != TSCOPE_OK) {
		tsi_world_free(world);
		return status;
	}
	*ret = world;
	return TSCOPE_OK;
}

void tsi_world_free(struct world *world)
{
	if (!world)
		return;
	for (size_t i = 0; i < world->group_count; i++) {
		free(world->groups[i].ranks);
		free(world->groups[i].members);
	}
	for (size_t i = 0; world->group_of_op && i < world->rank_count; i++)
		free(world->group_of_op[i]);
	for (size_t i = 0; world->match_of_op && i < world->rank_count; i++)
		free(world->match_of_op[i]);
	for (size_t i = 0; world->splits && i < world->rank_count; i++)
		free(world->splits[i]);
	free(world->groups);
	free(world->group_of_op);
	free(world->matches);
	free(world->members);
	free(world->match_of_op);
	free(world->clocks);
	free(world->waits);
	free(world->splits);
	free(world->nodes);
	tsi_intern_deinit(&world->names);
	free(world);
}

bool tsi_group_is_whole(const struct world *world, const struct process_group *group)
{
	if (group->size == NO_NUMBER)
		return world->world_size == (int64_t)world->rank_count;
	return group->size == (int64_t)group->rank_count;
}
