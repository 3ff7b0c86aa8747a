/* SPDX-License-Identifier: MIT */
#include "rules/private_pools.h"

#include <string.h>

static const char by_pool_id[] = "snapshot.by_pool_id";

/* A pool that torch makes for a capture without pool=… has the id "n,0". Others have "0,n". */
static bool is_own_of_graph(const char *id)
{
	return strncmp(id, "0,", 2) != 0;
}

struct private_pools tsi_private_pools(const struct rule_context *ctx)
{
	struct private_pools pools = { 0 };

	if (tsi_rule_int(ctx, "snapshot.device_count") > 1)
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
