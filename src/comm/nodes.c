/* SPDX-License-Identifier: MIT */
/*
 * Which node each rank is on. Ranks that say the same host name share a node. Where no rank says
 * one, ranks usually fill node after node, each with the device of its place: that is believed
 * where it holds for all of them.
 */
#include "comm/world.h"

/*
 * Nodes are numbered in the order of their lowest ranks; a rank without host name has none.
 * False where no rank has one.
 */
static bool number_hosts(struct world *world)
{
	struct intern hosts = { 0 };

	for (size_t i = 0; i < world->rank_count; i++) {
		const struct rank_log *log = &world->logs[i];

		if (log->host_name != 0)
			world->nodes[i] = /* id 0 is the empty text */
				tsi_latch_text(&world->arena, &hosts,
					       tsi_intern_text(&log->names, log->host_name)) -
				1;
	}
	bool is_known = hosts.count > 0;
	world->node_count = is_known ? hosts.count - 1 : 0;
	tsi_intern_deinit(&hosts);
	return is_known;
}

/* Devices of a node, if every rank has that of its place; else 0. */
static int64_t devices_of_node(const struct world *world)
{
	int64_t count = world->logs[0].visible_device_count;

	if (count < 2)
		return 0;
	for (size_t i = 0; i < world->rank_count; i++) {
		const struct rank_log *log = &world->logs[i];

		if (log->rank < 0 || log->visible_device_count != count ||
		    log->device_ordinal != log->rank % count)
			return 0;
	}
	return count;
}

/* Ranks ascend, so that those of a node stand together. */
static void number_places(struct world *world, int64_t device_count)
{
	for (size_t i = 0; i < world->rank_count; i++) {
		int64_t node = world->logs[i].rank / device_count;

		if (i == 0 || node != world->logs[i - 1].rank / device_count)
			world->node_count++;
		world->nodes[i] = (uint32_t)(world->node_count - 1);
	}
}

void tsi_world_find_nodes(struct world *world)
{
	world->nodes = tsi_latch_rows(&world->arena, world->rank_count);
	if (!world->nodes || number_hosts(world))
		return;
	int64_t device_count = devices_of_node(world);
	if (device_count > 0)
		number_places(world, device_count);
}
