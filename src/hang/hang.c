/* SPDX-License-Identifier: MIT */
/*
 * Joins dumps. Ranks of one job may number texts and groups differently: groups are the same where
 * name, backend and ranks are. A group whose ranks a dump does not say is that of this name which
 * has the rank, or else one of all who called it.
 */
#include "hang/hang.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/hash.h"
#include "base/key_map.h"
#include "base/sort.h"

struct joiner {
	struct hang_model *model;
	struct key_map groups; /* hash of what they are: index of the first one; then `next` */
	struct tscope_error *err;
	enum tscope_status status;
};

/* ---- texts --------------------------------------------------------------------------------- */

static void rename_texts(struct dump *dump, const uint32_t *ids)
{
	for (size_t i = 0; i < dump->call_count; i++) {
		struct dump_call *call = &dump->calls[i];
		call->name = ids[call->name];
		call->inputs = ids[call->inputs];
		call->outputs = ids[call->outputs];
		call->types = ids[call->types];
	}
	for (size_t i = 0; i < dump->frame_count; i++) {
		dump->frames[i].function = ids[dump->frames[i].function];
		dump->frames[i].file = ids[dump->frames[i].file];
	}
	for (size_t i = 0; i < dump->group_count; i++) {
		struct dump_group *group = &dump->groups[i];
		group->name = ids[group->name];
		group->description = ids[group->description];
		group->backend = ids[group->backend];
	}
}

/* From the dump's own numbers to those of all. */
static void join_texts(struct joiner *j, struct dump *dump)
{
	size_t count = dump->texts.count;
	uint32_t *ids = NULL;

	if (j->status == TSCOPE_OK)
		j->status = tsi_array_new(&ids, count, sizeof(*ids), j->err);
	for (size_t i = 0; i < count && j->status == TSCOPE_OK; i++)
		j->status =
			tsi_intern_add(&j->model->texts, tsi_intern_text(&dump->texts, (uint32_t)i),
				       &ids[i], j->err);
	if (j->status == TSCOPE_OK)
		rename_texts(dump, ids);
	free(ids);
	tsi_intern_deinit(&dump->texts);
	dump->texts = (struct intern){ 0 };
}

/* ---- groups -------------------------------------------------------------------------------- */

static struct str ranks_bytes(const struct dump_group *group)
{
	return (struct str){ (const char *)group->ranks,
			     group->rank_count * sizeof(*group->ranks) };
}

static uint64_t key_of(const struct dump_group *group)
{
	uint64_t names = (uint64_t)group->name << 32 | group->backend;

	return tsi_fold_multiply(tsi_hash(ranks_bytes(group)) ^ names,
				 UINT64_C(0x9e3779b97f4a7c15));
}

static bool is_same(const struct hang_group *known, const struct dump_group *group)
{
	if (known->name != group->name || known->backend != group->backend)
		return false;
	if (known->knows_ranks != (group->ranks != NULL) ||
	    (group->ranks && known->member_count != group->rank_count))
		return false;
	for (size_t i = 0; group->ranks && i < group->rank_count; i++)
		if (known->members[i].rank != group->ranks[i])
			return false;
	return true;
}

static uint32_t add_group(struct joiner *j, const struct dump_group *group)
{
	struct hang_model *model = j->model;
	size_t room = group->ranks ? group->rank_count : model->dump_count;
	struct hang_member *members = tsi_arena_new(&model->arena, room, sizeof(*members));
	struct hang_group *added =
		tsi_arena_push(&model->arena, &model->groups, &model->group_count,
			       &model->group_capacity, sizeof(*added));

	if (!members || !added)
		return 0;
	*added = (struct hang_group){ group->name,    group->description,   group->backend, members,
				      (uint32_t)room, group->ranks != NULL, false };
	for (size_t i = 0; i < room; i++)
		members[i] = (struct hang_member){
			.rank = group->ranks ? group->ranks[i] : model->dumps[i].rank,
			.dump = NO_DUMP,
			.last_enqueued = -1,
			.last_completed = -1,
		};
	return (uint32_t)model->group_count - 1;
}

/* The group of this name that is known to have the rank, or the one that is not. */
static uint32_t find_by_name(const struct hang_model *model, const struct dump_group *group,
			     int64_t rank)
{
	for (size_t i = 0; i < model->group_count; i++) {
		const struct hang_group *known = &model->groups[i];

		if (known->name == group->name && known->backend == group->backend &&
		    tsi_hang_member(known, rank))
			return (uint32_t)i;
	}
	return NO_DUMP;
}

static uint32_t join_group(struct joiner *j, const struct dump_group *group, int64_t rank)
{
	uint64_t key = key_of(group);
	uint32_t index = tsi_key_map_find(&j->groups, key);

	if (!group->ranks) {
		index = find_by_name(j->model, group, rank);
		return index != NO_DUMP ? index : add_group(j, group);
	}
	if (index != UINT32_MAX && is_same(&j->model->groups[index], group))
		return index;
	index = add_group(j, group);
	if (j->status == TSCOPE_OK)
		j->status = tsi_key_map_put(&j->groups, key, index, j->err);
	return index;
}

struct hang_member *tsi_hang_member(const struct hang_group *group, int64_t rank)
{
	size_t low = 0, high = group->member_count;

	TSI_BISECT(low, high, group->members[middle].rank < rank);
	return low < group->member_count && group->members[low].rank == rank ? &group->members[low]
									     : NULL;
}

/* ---- calls --------------------------------------------------------------------------------- */

/* Enters a dump's own groups as members. */
static void join_members(struct joiner *j, uint32_t index, uint32_t *groups)
{
	struct hang_model *model = j->model;
	struct dump *dump = &model->dumps[index];

	for (size_t i = 0; i < dump->group_count && j->status == TSCOPE_OK; i++) {
		struct dump_group *group = &dump->groups[i];

		groups[i] = join_group(j, group, dump->rank);
		if (groups[i] >= model->group_count)
			return; /* without memory */
		struct hang_member *member = tsi_hang_member(&model->groups[groups[i]], dump->rank);
		if (!member)
			continue;
		member->dump = index;
		if (group->last_enqueued > member->last_enqueued)
			member->last_enqueued = group->last_enqueued;
		if (group->last_completed > member->last_completed)
			member->last_completed = group->last_completed;
	}
}

/* Twice: counts, then enters. */
static void put_calls(struct hang_model *model, uint32_t index, const uint32_t *groups, bool enters)
{
	struct dump *dump = &model->dumps[index];

	for (size_t i = 0; i < dump->call_count; i++) {
		struct dump_call *call = &dump->calls[i];
		uint32_t at = enters ? call->group : groups[call->group];
		struct hang_member *member = tsi_hang_member(&model->groups[at], dump->rank);

		call->group = at;
		if (!member)
			continue;
		if (enters && call->is_p2p && member->messages)
			member->messages[member->message_call_count] = (uint32_t)i;
		if (enters && !call->is_p2p && member->collectives)
			member->collectives[member->collective_count] = (uint32_t)i;
		member->message_call_count += call->is_p2p;
		member->collective_count += !call->is_p2p;
	}
}

static void make_room(struct hang_model *model, const struct dump *dump, const uint32_t *groups)
{
	for (size_t i = 0; i < dump->group_count; i++) {
		struct hang_member *member = tsi_hang_member(&model->groups[groups[i]], dump->rank);

		if (!member || member->collectives)
			continue;
		model->groups[groups[i]].is_used |=
			member->collective_count + member->message_call_count > 0;
		member->collectives = tsi_arena_new(&model->arena, member->collective_count,
						    sizeof(*member->collectives));
		member->messages = tsi_arena_new(&model->arena, member->message_call_count,
						 sizeof(*member->messages));
		member->collective_count = member->message_call_count = 0;
	}
}

/* How far the member is, where the dump's status does not say it. */
static void note_progress(const struct hang_model *model, struct hang_member *member)
{
	for (uint32_t i = 0; i < member->collective_count; i++) {
		const struct dump_call *call = tsi_call_at(model, member, i);

		if (call->sequence > member->last_enqueued)
			member->last_enqueued = call->sequence;
		if (!tsi_call_is_pending(call) && call->sequence > member->last_completed)
			member->last_completed = call->sequence;
	}
}

static bool is_ascending(const struct hang_model *model, const struct hang_member *member)
{
	for (uint32_t i = 1; i < member->collective_count; i++)
		if (tsi_call_at(model, member, i - 1)->sequence >=
		    tsi_call_at(model, member, i)->sequence)
			return false;
	return true;
}

/* By their numbers: a writer may not have kept to the order. */
static void sort_calls(struct joiner *j, struct hang_member *member)
{
	struct sort_pair *pairs = NULL;
	size_t count = member->collective_count;

	if (is_ascending(j->model, member) || j->status != TSCOPE_OK)
		return;
	j->status = tsi_array_make(&pairs, 2 * count, sizeof(*pairs), j->err);
	if (j->status != TSCOPE_OK)
		return;
	for (uint32_t i = 0; i < count; i++)
		pairs[i] = (struct sort_pair){ tsi_sort_key_of_int64(
						       tsi_call_at(j->model, member, i)->sequence),
					       member->collectives[i] };
	tsi_sort_pairs(pairs, pairs + count, count);
	for (uint32_t i = 0; i < count; i++)
		member->collectives[i] = (uint32_t)pairs[i].value;
	free(pairs);
}

static void join_calls(struct joiner *j, uint32_t index)
{
	struct hang_model *model = j->model;
	struct dump *dump = &model->dumps[index];
	uint32_t *groups = tsi_arena_new(&model->arena, dump->group_count, sizeof(*groups));

	if (!groups)
		return;
	join_members(j, index, groups);
	if (j->status != TSCOPE_OK || model->arena.has_failed)
		return;
	put_calls(model, index, groups, false);
	make_room(model, dump, groups);
	if (model->arena.has_failed)
		return;
	put_calls(model, index, groups, true);
	for (size_t i = 0; i < dump->group_count; i++) {
		struct hang_member *member = tsi_hang_member(&model->groups[groups[i]], dump->rank);

		if (!member)
			continue;
		sort_calls(j, member);
		note_progress(model, member);
	}
	if (dump->last_ns > model->last_ns)
		model->last_ns = dump->last_ns;
}

struct dump_call *tsi_hang_call(const struct hang_model *model, const struct hang_member *member,
				int64_t sequence)
{
	uint32_t low = 0, high = member->dump == NO_DUMP ? 0 : member->collective_count;

	TSI_BISECT(low, high, tsi_call_at(model, member, middle)->sequence < sequence);
	if (low >= member->collective_count || member->dump == NO_DUMP)
		return NULL;
	struct dump_call *call = tsi_call_at(model, member, low);
	return call->sequence == sequence ? call : NULL;
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* Who has a dump and never called anything in a group is a member all the same. */
static void find_silent(struct hang_model *model, struct hang_group *group)
{
	size_t at = 0;

	for (uint32_t i = 0; i < group->member_count; i++) {
		struct hang_member *member = &group->members[i];

		while (at < model->dump_count && model->dumps[at].rank < member->rank)
			at++;
		if (at < model->dump_count && model->dumps[at].rank == member->rank)
			member->dump = (uint32_t)at;
	}
}

static void list_world(struct joiner *j)
{
	struct hang_model *model = j->model;
	size_t count = model->dump_count, kept = 0;
	int64_t *ranks = NULL;

	for (size_t i = 0; i < model->group_count; i++)
		count += model->groups[i].member_count;
	if (j->status == TSCOPE_OK)
		j->status = tsi_array_make(&ranks, 2 * count, sizeof(*ranks), j->err);
	if (j->status != TSCOPE_OK)
		return;
	for (size_t i = 0; i < model->dump_count; i++)
		ranks[kept++] = model->dumps[i].rank;
	for (size_t i = 0; i < model->group_count; i++)
		for (uint32_t k = 0; k < model->groups[i].member_count; k++)
			ranks[kept++] = model->groups[i].members[k].rank;
	if (count > 0)
		tsi_sort_numbers(ranks, ranks + count, count);
	model->world = tsi_arena_new(&model->arena, count, sizeof(*ranks));
	for (size_t i = 0; model->world && i < count; i++)
		if (i == 0 || ranks[i] != ranks[i - 1])
			model->world[model->world_count++] = ranks[i];
	free(ranks);
}

/* If nothing lists the group's ranks, those who never called it are not members. */
static void drop_strangers(struct hang_group *group)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < group->member_count && !group->knows_ranks; i++)
		if (group->members[i].dump != NO_DUMP)
			group->members[kept++] = group->members[i];
	if (!group->knows_ranks)
		group->member_count = kept;
}

enum tscope_status tsi_hang_join(struct hang_model *model, struct dump *dumps, size_t count,
				 struct tscope_error *err)
{
	struct joiner j = { .model = model, .err = err };

	*model = (struct hang_model){ .dumps = dumps, .dump_count = count };
	j.status = tsi_intern_init(&model->texts, 1 << 26, err);
	for (size_t i = 0; i < count; i++)
		join_texts(&j, &dumps[i]);
	for (size_t i = 0; i < count && j.status == TSCOPE_OK; i++)
		join_calls(&j, (uint32_t)i);
	for (size_t i = 0; i < model->group_count; i++) {
		drop_strangers(&model->groups[i]);
		if (model->groups[i].is_used)
			find_silent(model, &model->groups[i]);
	}
	list_world(&j);
	tsi_key_map_deinit(&j.groups);
	return j.status != TSCOPE_OK ? j.status : tsi_arena_status(&model->arena, err);
}

void tsi_hang_deinit(struct hang_model *model)
{
	for (size_t i = 0; i < model->dump_count; i++)
		tsi_dump_deinit(&model->dumps[i]);
	free(model->dumps);
	tsi_intern_deinit(&model->texts);
	tsi_arena_deinit(&model->arena);
	*model = (struct hang_model){ 0 };
}
