/* SPDX-License-Identifier: MIT */
/* Names, sizes, places and ranks of process groups, as tables and findings show them. */
#include "analyze/ranks/group_words.h"

enum group_span tsi_group_span(const struct world *world, const struct process_group *group)
{
	uint32_t first = NO_ROW;
	bool are_known = tsi_group_is_whole(world, group);

	if (world->node_count == 0)
		return SPAN_UNKNOWN;
	for (uint32_t i = 0; i < group->rank_count; i++) {
		uint32_t node = world->nodes[group->ranks[i]];

		if (node == NO_ROW)
			are_known = false;
		else if (first == NO_ROW)
			first = node;
		else if (node != first)
			return SPAN_INTER_NODE;
	}
	return are_known ? SPAN_INTRA_NODE : SPAN_UNKNOWN;
}

struct tscope_value tsi_span_value(enum group_span span)
{
	static const char *const names[] = {
		[SPAN_UNKNOWN] = NULL,
		[SPAN_INTRA_NODE] = "intra_node",
		[SPAN_INTER_NODE] = "inter_node",
	};

	return tsi_text_if(names[span]);
}

int64_t tsi_group_size(const struct process_group *group)
{
	return group->size != NO_NUMBER ? group->size : (int64_t)group->rank_count;
}

const char *tsi_make_rank_text(struct fact_sheet *sheet, struct rank_text *text)
{
	tsi_rank_text_end(text);
	return tsi_sheet_copy(sheet, tsi_str_of(text->text));
}

const char *tsi_make_group_ranks(struct fact_sheet *sheet, const struct world *world,
				 const struct process_group *group)
{
	struct rank_text ranks = { .text = "" };

	for (uint32_t i = 0; group->members && i < group->member_count; i++)
		tsi_rank_text_add(&ranks, group->members[i]);
	for (uint32_t i = 0; !group->members && i < group->rank_count; i++)
		tsi_rank_text_add(&ranks, world->logs[group->ranks[i]].rank);
	return tsi_make_rank_text(sheet, &ranks);
}
