/* SPDX-License-Identifier: MIT */
/*
 * The process groups of a trace. Their members are in the records of collectives, unless the list
 * is cut ("[0, 1, 2, ...]"); then what distributedInfo lists, begin and stride of the ranks, or the
 * size of the world tells.
 */
#include "comm/log_filler.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/ckd.h"

/* Of all groups of a trace together: more than any job has, and what memory is left for. */
enum { MAX_MEMBERS = 1 << 22 };

void tsi_group_finder_init(struct group_finder *finder, const struct log_filler *filler)
{
	*finder = (struct group_finder){
		.filler = filler,
		.names.arena = &finder->memory,
		.ranks.arena = &finder->memory,
		.sizes.arena = &finder->memory,
	};
}

void tsi_group_finder_deinit(struct group_finder *finder)
{
	tsi_intern_deinit(&finder->keys);
	tsi_arena_deinit(&finder->memory);
	free(finder->groups);
}

/* ---- members ---- */

static enum tscope_status add_member(struct rank_log *log, int64_t rank, struct tscope_error *err)
{
	if (tsi_array_reserve(&log->members, &log->member_capacity, log->member_count + 1,
			      sizeof(*log->members), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	log->members[log->member_count++] = rank;
	return TSCOPE_OK;
}

/* The members that were added last are the group's. */
static void take_members(const struct rank_log *log, struct rank_group *group)
{
	group->member_count = (uint32_t)(log->member_count - group->first_member);
}

/* Adds the numbers of "[0, 1]"; none of a list that is cut, or of another text. */
static enum tscope_status add_list(struct rank_log *log, struct str text, struct tscope_error *err)
{
	const char *p = text.data, *end = p + text.length;

	if (tsi_str_find(text, TSI_STR("..")) >= 0 || tsi_str_find(text, TSI_STR("-")) >= 0)
		return TSCOPE_OK;
	while (p < end && log->member_count < MAX_MEMBERS) {
		const char *first = p;
		int64_t rank;

		while (p < end && tsi_is_digit(*p))
			p++;
		struct str digits = { first, (size_t)(p - first) };
		if (digits.length > 0 && tsi_str_to_int64(digits, &rank) &&
		    add_member(log, rank, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		if (p < end)
			p++;
	}
	return TSCOPE_OK;
}

static enum tscope_status add_series(struct rank_log *log, const struct collective *record,
				     int64_t world_size, struct tscope_error *err)
{
	int64_t size = record->group_size, start = record->rank_start, stride = record->rank_stride;
	int64_t span;

	if (size <= 0 || size > MAX_MEMBERS - (int64_t)log->member_count)
		return TSCOPE_OK;
	if (size == world_size) {
		start = 0;
		stride = 1;
	}
	if (start < 0 || stride <= 0 || tsi_ckd_mul(&span, stride, size) ||
	    tsi_ckd_add(&span, span, start))
		return TSCOPE_OK;
	for (int64_t i = 0; i < size; i++)
		if (add_member(log, start + i * stride, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	return TSCOPE_OK;
}

static int compare_ranks(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

/* In ascending order, each once. */
static void sort_members(struct rank_log *log, uint32_t first)
{
	size_t kept = first;

	if (log->member_count > first)
		qsort(log->members + first, log->member_count - first, sizeof(*log->members),
		      compare_ranks);
	for (size_t i = first; i < log->member_count; i++)
		if (kept == first || log->members[kept - 1] != log->members[i])
			log->members[kept++] = log->members[i];
	log->member_count = kept;
}

/* What distributedInfo has for the name and description of a record, or NULL. */
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

static enum tscope_status add_members(const struct log_filler *filler,
				      const struct collective *record, struct rank_group *group)
{
	const struct tscope_trace *trace = filler->trace;
	const struct listed_group *listed = find_listed(trace, record);
	struct rank_log *log = filler->log;
	enum tscope_status status =
		add_list(log, tsi_intern_text(&trace->names, record->group_ranks), filler->err);

	take_members(log, group);
	if (status == TSCOPE_OK && group->member_count == 0 && listed)
		status = add_list(log, tsi_intern_text(&trace->names, listed->ranks), filler->err);
	take_members(log, group);
	if (status == TSCOPE_OK && group->member_count == 0)
		status = add_series(log, record, trace->info.world_size, filler->err);
	return status;
}

/* ---- groups ---- */

/* The group's members are the last of the log. */
static enum tscope_status add_group(struct group_finder *finder, struct rank_group *group,
				    uint32_t *index)
{
	const struct log_filler *filler = finder->filler;
	struct rank_log *log = filler->log;

	sort_members(log, group->first_member);
	take_members(log, group);
	if (group->size == NO_NUMBER && group->member_count > 0)
		group->size = group->member_count;
	if (finder->keys.count == 0 &&
	    tsi_group_keys_init(&finder->keys, log, filler->err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	return tsi_rank_log_add_group(log, &finder->keys, group, index, filler->err);
}

static enum tscope_status add_group_of(struct group_finder *finder, const struct collective *record,
				       uint32_t *index)
{
	const struct log_filler *filler = finder->filler;
	struct rank_group group = {
		.size = record->group_size,
		.first_member = (uint32_t)filler->log->member_count,
	};
	enum tscope_status status = tsi_log_name(filler, record->group_name, &group.name);

	if (status == TSCOPE_OK)
		status = tsi_log_name(filler, record->group_desc, &group.description);
	if (status == TSCOPE_OK)
		status = add_members(filler, record, &group);
	return status == TSCOPE_OK ? add_group(finder, &group, index) : status;
}

/* One number for all records that say the same of their group. */
static enum tscope_status number_group(struct group_finder *finder, const struct collective *record,
				       uint32_t *number)
{
	struct tscope_error *err = finder->filler->err;
	enum tscope_status status = tsi_pair_set_find(&finder->names, record->group_name,
						      record->group_desc, number, err);

	if (status == TSCOPE_OK)
		status = tsi_pair_set_find(&finder->ranks, *number, record->group_ranks, number,
					   err);
	if (status == TSCOPE_OK)
		status = tsi_pair_set_find(&finder->sizes, *number, (uint32_t)record->group_size,
					   number, err);
	return status;
}

enum tscope_status tsi_find_log_group(struct group_finder *finder, const struct collective *record,
				      uint32_t *group)
{
	static const struct collective nothing = { .group_size = NO_NUMBER, .rank_start = -1 };
	uint32_t number, index;

	if (!record)
		record = &nothing;
	enum tscope_status status = number_group(finder, record, &number);
	if (status != TSCOPE_OK)
		return status;
	size_t known = finder->group_capacity;
	if (tsi_array_reserve(&finder->groups, &finder->group_capacity, (size_t)number + 1,
			      sizeof(*finder->groups), finder->filler->err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (; known < finder->group_capacity; known++)
		finder->groups[known] = 0;
	if (finder->groups[number] == 0) {
		status = add_group_of(finder, record, &index);
		if (status != TSCOPE_OK)
			return status;
		finder->groups[number] = index + 1;
	}
	*group = finder->groups[number] - 1;
	return TSCOPE_OK;
}

static bool has_member(const struct rank_log *log, uint32_t first, int64_t rank)
{
	bool is_member = false;

	for (size_t i = first; i < log->member_count; i++)
		is_member |= log->members[i] == rank;
	return is_member;
}

static enum tscope_status add_listed(struct group_finder *finder, const struct listed_group *listed)
{
	const struct log_filler *filler = finder->filler;
	const struct tscope_trace *trace = filler->trace;
	struct rank_log *log = filler->log;
	struct rank_group group = {
		.size = listed->size,
		.first_member = (uint32_t)log->member_count,
	};
	uint32_t index;
	enum tscope_status status =
		add_list(log, tsi_intern_text(&trace->names, listed->ranks), filler->err);

	if (status != TSCOPE_OK)
		return status;
	if (!has_member(log, group.first_member, trace->info.rank)) {
		log->member_count = group.first_member;
		return TSCOPE_OK;
	}
	status = tsi_log_name(filler, listed->name, &group.name);
	if (status == TSCOPE_OK)
		status = tsi_log_name(filler, listed->description, &group.description);
	return status == TSCOPE_OK ? add_group(finder, &group, &index) : status;
}

enum tscope_status tsi_add_listed_groups(struct group_finder *finder)
{
	const struct tscope_trace *trace = finder->filler->trace;
	enum tscope_status status = TSCOPE_OK;

	for (size_t i = 0; status == TSCOPE_OK && i < trace->listed_group_count; i++)
		status = add_listed(finder, &trace->listed_groups[i]);
	return status;
}
