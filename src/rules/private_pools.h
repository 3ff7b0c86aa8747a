/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RULES_PRIVATE_POOLS_H
#define TSCOPE_RULES_PRIVATE_POOLS_H

#include "rules/rule.h"

/*
 * Private pools at the end of a snapshot of one device: of CUDA graphs and torch.cuda.MemPool. No
 * other pool can have their free memory, and neither empty_cache() nor expandable segments change
 * that. In a pool of graphs it is not even idle: replays use what the capture freed.
 */
struct private_pools {
	double free_bytes, split_bytes; /* of these, beside blocks in use */
	int64_t graph_count;            /* those made for a capture without pool=… */
	double graph_bytes;             /* free in these */
	double largest_graph_bytes;     /* most in one of them */
};

/* Free memory that pools of graphs would not need if they were one. */
static inline double tsi_shareable_bytes(const struct private_pools *pools)
{
	return pools->graph_bytes - pools->largest_graph_bytes;
}

/* Nothing of several devices: the pools of all of them have one row each. */
struct private_pools tsi_private_pools(const struct rule_context *ctx);

/*
 * Free memory outside private pools that only streams beside the main one, which holds most, can
 * have: at least so much, as a stream's private pools are not known apart. 0 of several devices.
 */
double tsi_free_on_side_streams(const struct rule_context *ctx, const struct private_pools *pools);

#endif
