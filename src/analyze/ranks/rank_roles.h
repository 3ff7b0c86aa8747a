/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_RANKS_RANK_ROLES_H
#define TSCOPE_ANALYZE_RANKS_RANK_ROLES_H

#include "analyze/analyzer.h"
#include "base/arena.h"

/*
 * Which ranks do the same work, so that their times may be compared: those of one stage of a
 * pipeline, as the user says or as their sends and receives show. Without a pipeline all ranks
 * that take part in the same collectives have one role.
 */
struct rank_roles {
	uint32_t *roles; /* by rank: from 0 */
	size_t rank_count, role_count;
};

/* Without memory all ranks have one role. */
void tsi_rank_roles_find(struct rank_roles *roles, const struct analysis_scope *scope,
			 struct arena *arena);

#endif
