/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_RANKS_STRAGGLER_PARTS_H
#define TSCOPE_ANALYZE_RANKS_STRAGGLER_PARTS_H

#include "analyze/facts.h"
#include "analyze/ranks/late_ranks.h"

/*
 * The parts that the analyzer `stragglers` is made of. Definitions with units and meanings stand
 * in analyze_stragglers.c.
 */
enum stragglers_fact {
	SLOW_RANK_COUNT,
	CAUSE,
	WORST_RANK,
	EXCESS_NS_PER_STEP,
	EXCESS_RATIO,
	SKEW_NS,
};

enum stragglers_table { TABLE_CAUSES, TABLE_LINES, TABLE_GROUPS, TABLE_RANKS, TABLE_HEAT };

enum causes_column {
	CAUSES_RANK,
	CAUSES_CAUSE,
	CAUSES_LINE,
	CAUSES_EXCESS_NS_PER_STEP,
	CAUSES_LINE_EXCESS_NS_PER_STEP,
	CAUSES_EXCESS_RATIO,
	CAUSES_P_VALUE,
	CAUSES_DETAIL,
};

enum lines_column {
	LINES_LINE,
	LINES_RANK_NS,
	LINES_OTHERS_NS,
	LINES_EXCESS_NS,
};

enum groups_column {
	GROUPS_KIND,
	GROUPS_NAME,
	GROUPS_RANKS,
	GROUPS_LATE_COUNT,
	GROUPS_RANK_COUNT,
};

enum ranks_column {
	RANKS_RANK,
	RANKS_LOCAL_NS,
	RANKS_EXCESS_RATIO,
	RANKS_P_VALUE,
};

enum heat_column {
	HEAT_FIRST_RANK,
	HEAT_LAST_RANK,
	HEAT_FIRST_STEP,
	HEAT_LAST_STEP,
	HEAT_LATENESS_RATIO,
};

/* straggler_groups.c: nodes and device models whose ranks are late while others are not */
void tsi_stragglers_put_groups(const struct late_ranks *late, const struct analysis_scope *scope,
			       struct fact_sheet *out);

/* straggler_heat.c: how late which ranks were in which steps */
void tsi_stragglers_put_heat(const struct late_ranks *late, const struct analysis_scope *scope,
			     struct fact_sheet *out);

#endif
