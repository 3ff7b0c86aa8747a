/* SPDX-License-Identifier: MIT */
/*
 * Which node each rank is on. Ranks that say the same host name share a node. Where no rank says
 * one, ranks usually fill node after node, each with the device of its place: that is believed
 * where it holds for all of them.
 */
#include "comm/world.h"

#include "base/array.h"

static bool has_host(const struct rank_log *log)
{
	return log->host_name != 0;
}

static bool any_has_host(const struct world *world)
{
	for (size_t i = 0; i < world->rank_count; i++)
		if (has_host(&world->logs[i]))
			return true;
	return false;
}

/* Nodes are numbered in the order of their lowest ranks; a rank without host name has none. */
static enum tscope_status number_hosts(struct world *world, struct intern *hosts,
				       struct tscope_error *err)
{
	for (size_t i = 0; i < world->rank_count; i++) {
		const struct rank_log *log = &world->logs[i];
		uint32_t id;

		if (!has_host(log))
			continue;
		if (tsi_intern_add(hosts, tsi_intern_text(&log->names, log->host_name), &id, err) !=
		    TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		world->nodes[i] = id - 1; /* id 0 is the empty text */
	}
	world->node_count = hosts->count - 1;
	return TSCOPE_OK;
}

static enum tscope_status find_by_host(struct world *world, struct tscope_error *err)
{
	struct intern hosts = { 0 };
	enum tscope_status status = tsi_intern_init(&hosts, UINT32_MAX - 1, err);

	if (status == TSCOPE_OK)
		status = number_hosts(world, &hosts, err);
	tsi_intern_deinit(&hosts);
	return status;
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

enum tscope_status tsi_world_find_nodes(struct world *world, struct tscope_error *err)
{
	if (tsi_array_new(&world->nodes, world->rank_count, sizeof(*world->nodes), err) !=
	    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < world->rank_count; i++)
		world->nodes[i] = NO_ROW;
	if (any_has_host(world))
		return find_by_host(world, err);
	int64_t device_count = devices_of_node(world);
	if (device_count > 0)
		number_places(world, device_count);
	return TSCOPE_OK;
}
