/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_RANKS_GROUP_WORDS_H
#define TSCOPE_ANALYZE_RANKS_GROUP_WORDS_H

#include "analyze/facts.h"
#include "base/rank_text.h"
#include "comm/world.h"

/* How analyzers of many ranks speak of process groups. */

/* Where the links of a group lie. */
enum group_span {
	SPAN_UNKNOWN,
	SPAN_INTRA_NODE, /* all members are on one node */
	SPAN_INTER_NODE,
};

enum group_span tsi_group_span(const struct world *world, const struct process_group *group);

/* "intra_node" …; absent where not known. */
struct tscope_value tsi_span_value(enum group_span span);

/* The members that it has or, where nobody says, those that were read. */
int64_t tsi_group_size(const struct process_group *group);

/* Ends the text, and keeps it in a sheet. */
const char *tsi_make_rank_text(struct fact_sheet *sheet, struct rank_text *text);

/* The ranks of a group, with those that were not read where somebody says them. */
const char *tsi_make_group_ranks(struct fact_sheet *sheet, const struct world *world,
				 const struct process_group *group);

#endif
