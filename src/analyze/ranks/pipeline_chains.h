/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_RANKS_PIPELINE_CHAINS_H
#define TSCOPE_ANALYZE_RANKS_PIPELINE_CHAINS_H

#include "comm/world.h"

/*
 * The pipelines that sends and receives show. In a chain each rank exchanges messages with the one
 * before and the one after it. Only on its first rank a step begins with a send: all others have
 * nothing to send before they have received. Where microbatches go round several times (virtual
 * stages), the last rank sends to the first, too. Anything else, like a ring in which all send at
 * once, is no pipeline, nor are chains that lead to ranks that were not read.
 */
struct pipeline_chains {
	uint32_t *stages; /* by rank: its place in its chain, or NO_ROW */
	size_t rank_count;
	size_t stage_count; /* of every chain; 0: there is none, or they differ in length */
	bool has_messages;  /* some send was matched with its receive */
	/* How often a chain is fed in a step, and gone through; 0: not known. */
	int64_t microbatch_count, virtual_stage_count;
};

/* stages is NULL without memory. */
void tsi_pipeline_chains_find(struct pipeline_chains *chains, const struct world *world,
			      struct arena *arena);

#endif
