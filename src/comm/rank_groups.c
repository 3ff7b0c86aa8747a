/* SPDX-License-Identifier: MIT */
/*
 * The process groups of a trace. Their members are in the records of collectives, unless the list
 * is cut ("[0, 1, 2, ...]"); then what distributedInfo lists, begin and stride of the ranks, or the
 * size of the world shows.
 */
#include "comm/log_filler.h"

#include "base/ckd.h"
#include "comm/latch.h"

void tsi_group_finder_init(struct group_finder *finder, const struct log_filler *filler)
{
	*finder = (struct group_finder){
		.filler = filler,
		.names.arena = &finder->arena,
		.ranks.arena = &finder->arena,
		.sizes.arena = &finder->arena,
	};
}

void tsi_group_finder_deinit(struct group_finder *finder)
{
	tsi_intern_deinit(&finder->keys);
	tsi_latch_deinit(&finder->filler->log->arena, &finder->arena);
}

/* ---- members ---- */

/* The members that were added last are the group's. */
static void take_members(const struct rank_log *log, struct rank_group *group)
{
	group->member_count = (uint32_t)(log->member_count - group->first_member);
}

/* Adds the numbers of "[0, 1]"; none of a list that is cut, or of another text. */
static void add_list(struct rank_log *log, struct str text)
{
	const char *p = text.data, *end = p + text.length;

	if (tsi_str_find(text, TSI_STR("..")) >= 0 || tsi_str_find(text, TSI_STR("-")) >= 0)
		return;
	while (p < end && log->member_count < MAX_GROUP_MEMBERS) {
		const char *first = p;
		int64_t rank;

		while (p < end && tsi_is_digit(*p))
			p++;
		struct str digits = { first, (size_t)(p - first) };
		if (digits.length > 0 && tsi_str_to_int64(digits, &rank))
			tsi_rank_log_add_member(log, rank);
		if (p < end)
			p++;
	}
}

static void add_series(struct rank_log *log, const struct collective *record, int64_t world_size,
		       struct rank_group *group)
{
	int64_t size = record->group_size, start = record->rank_start, stride = record->rank_stride;
	int64_t span;

	if (size <= 0 || size > MAX_GROUP_MEMBERS - (int64_t)log->member_count)
		return;
	if (size == world_size) {
		start = 0;
		stride = 1;
	}
	if (start < 0 || stride <= 0 || tsi_ckd_mul(&span, stride, size) ||
	    tsi_ckd_add(&span, span, start))
		return;
	tsi_rank_log_add_member(log, start);
	group->stride = stride;
	group->member_count = (uint32_t)size;
}

/* In ascending order, each once. */
static void sort_members(struct rank_log *log, uint32_t first)
{
	size_t kept = first;

	if (log->member_count > first)
		tsi_latch_sort_numbers(&log->arena, log->members + first,
				       log->member_count - first);
	for (size_t i = first; i < log->member_count; i++)
		if (kept == first || log->members[kept - 1] != log->members[i])
			log->members[kept++] = log->members[i];
	log->member_count = kept;
}

/* Entry of distributedInfo for the name and description of a record, or NULL. */
static const struct listed_group *find_listed(const struct tscope_trace *trace,
					      const struct collective *record)
{
	for (size_t i = 0; i < trace->listed_group_count; i++) {
		const struct listed_group *listed = &trace->listed_groups[i];

		if (listed->name == record->group_name &&
		    (listed->description == record->group_desc || listed->description == 0 ||
		     record->group_desc == 0))
			return listed;
	}
	return NULL;
}

static void add_members(const struct log_filler *filler, const struct collective *record,
			struct rank_group *group)
{
	const struct tscope_trace *trace = filler->trace;
	const struct listed_group *listed = find_listed(trace, record);
	struct rank_log *log = filler->log;

	add_list(log, tsi_intern_text(&trace->names, record->group_ranks));
	take_members(log, group);
	if (group->member_count == 0 && listed)
		add_list(log, tsi_intern_text(&trace->names, listed->ranks));
	take_members(log, group);
	if (group->member_count == 0)
		add_series(log, record, trace->info.world_size, group);
}

/* ---- groups ---- */

/* The group's members are the last of the log. */
static uint32_t add_group(struct group_finder *finder, struct rank_group *group)
{
	struct rank_log *log = finder->filler->log;

	if (group->stride == 0) {
		sort_members(log, group->first_member);
		take_members(log, group);
	}
	if (group->size == NO_NUMBER && group->member_count > 0)
		group->size = group->member_count;
	return tsi_rank_log_add_group(log, &finder->keys, group);
}

static uint32_t add_group_of(struct group_finder *finder, const struct collective *record)
{
	const struct log_filler *filler = finder->filler;
	struct rank_group group = {
		.size = record->group_size,
		.first_member = (uint32_t)filler->log->member_count,
	};

	group.name = tsi_log_name(filler, record->group_name);
	group.description = tsi_log_name(filler, record->group_desc);
	add_members(filler, record, &group);
	return add_group(finder, &group);
}

/* One number for all records that say the same of their group. */
static uint32_t number_group(struct group_finder *finder, const struct collective *record)
{
	uint32_t number = tsi_pair_set_add(&finder->names, record->group_name, record->group_desc);

	number = tsi_pair_set_add(&finder->ranks, number, record->group_ranks);
	return tsi_pair_set_add(&finder->sizes, number, (uint32_t)record->group_size);
}

uint32_t tsi_find_log_group(struct group_finder *finder, const struct collective *record)
{
	static const struct collective nothing = { .group_size = NO_NUMBER, .rank_start = -1 };

	if (!record)
		record = &nothing;
	uint32_t number = number_group(finder, record);
	if (number < finder->group_count)
		return finder->groups[number];
	uint32_t *group = tsi_arena_push(&finder->arena, &finder->groups, &finder->group_count,
					 &finder->group_capacity, sizeof(*group));
	if (!group)
		return 0;
	*group = add_group_of(finder, record);
	return *group;
}

static bool has_member(const struct rank_log *log, uint32_t first, int64_t rank)
{
	bool is_member = false;

	for (size_t i = first; i < log->member_count; i++)
		is_member |= log->members[i] == rank;
	return is_member;
}

static void add_listed(struct group_finder *finder, const struct listed_group *listed)
{
	const struct log_filler *filler = finder->filler;
	const struct tscope_trace *trace = filler->trace;
	struct rank_log *log = filler->log;
	struct rank_group group = {
		.size = listed->size,
		.first_member = (uint32_t)log->member_count,
	};

	add_list(log, tsi_intern_text(&trace->names, listed->ranks));
	if (!has_member(log, group.first_member, trace->info.rank)) {
		log->member_count = group.first_member;
		return;
	}
	group.name = tsi_log_name(filler, listed->name);
	group.description = tsi_log_name(filler, listed->description);
	add_group(finder, &group);
}

void tsi_add_listed_groups(struct group_finder *finder)
{
	const struct tscope_trace *trace = finder->filler->trace;

	for (size_t i = 0; i < trace->listed_group_count; i++)
		add_listed(finder, &trace->listed_groups[i]);
}
