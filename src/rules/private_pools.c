/* SPDX-License-Identifier: MIT */
#include "rules/private_pools.h"

#include <string.h>

static const char by_pool_id[] = "snapshot.by_pool_id", by_stream[] = "snapshot.by_stream";

/* Pools and streams of several devices have one row each. */
static bool is_of_one_device(const struct rule_context *ctx)
{
	return tsi_rule_int(ctx, "snapshot.device_count") <= 1;
}

/* A pool that torch makes for a capture without pool=… has the id "n,0". Others have "0,n". */
static bool is_own_of_graph(const char *id)
{
	return strncmp(id, "0,", 2) != 0;
}

struct private_pools tsi_private_pools(const struct rule_context *ctx)
{
	struct private_pools pools = { 0 };

	if (!is_of_one_device(ctx))
		return pools;
	for (size_t row = 0; row < tsi_rule_rows(ctx, by_pool_id); row++) {
		const char *id = tsi_rule_cell_text(ctx, by_pool_id, row, "pool_id");
		double bytes = tsi_rule_cell_real(ctx, by_pool_id, row, "inactive_bytes");

		if (strcmp(id, "0,0") == 0 || strcmp(id, "unknown") == 0)
			continue;
		pools.free_bytes += bytes;
		pools.split_bytes +=
			tsi_rule_cell_real(ctx, by_pool_id, row, "inactive_split_bytes");
		if (!is_own_of_graph(id))
			continue;
		pools.graph_count++;
		pools.graph_bytes += bytes;
		if (bytes > pools.largest_graph_bytes)
			pools.largest_graph_bytes = bytes;
	}
	return pools;
}

double tsi_free_on_side_streams(const struct rule_context *ctx, const struct private_pools *pools)
{
	double most_bytes = -1, most_free_bytes = 0, free_bytes = 0;

	if (!is_of_one_device(ctx))
		return 0;
	for (size_t row = 0; row < tsi_rule_rows(ctx, by_stream); row++) {
		double reserved_bytes = tsi_rule_cell_real(ctx, by_stream, row, "reserved_bytes");
		double bytes = tsi_rule_cell_real(ctx, by_stream, row, "inactive_bytes");

		if (strcmp(tsi_rule_cell_text(ctx, by_stream, row, "stream"), "unknown") == 0)
			return 0;
		free_bytes += bytes;
		if (reserved_bytes > most_bytes) {
			most_bytes = reserved_bytes;
			most_free_bytes = bytes;
		}
	}
	free_bytes -= most_free_bytes + pools->free_bytes;
	return free_bytes > 0 ? free_bytes : 0;
}
