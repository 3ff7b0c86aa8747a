/* SPDX-License-Identifier: MIT */
/*
 * Finds the process groups of a run in what each rank says of them. A group is its members, and
 * what it is called where several have the same: the description, or the name if ranks agree on
 * names (in some versions "5" on one rank is "7" on another). Messages between two ranks are of the
 * pair, whatever group they go over. Groups that do not state their members are left to
 * infer_groups.c.
 */
#include "comm/group_search.h"

#include <string.h>

#include "base/bisect.h"
#include "base/pair_set.h"

uint32_t tsi_add_group(struct world *world, const struct process_group *group)
{
	struct process_group *added =
		tsi_arena_push(&world->arena, &world->groups, &world->group_count,
			       &world->group_capacity, sizeof(*added));

	if (!added)
		return NO_ROW;
	*added = *group;
	return (uint32_t)world->group_count - 1;
}

/* ---- what others need, too ---- */

uint32_t tsi_rank_index(const struct world *world, int64_t rank)
{
	size_t low = 0, high = world->rank_count;

	TSI_BISECT(low, high, world->logs[middle].rank < rank);
	return low < world->rank_count && world->logs[low].rank == rank ? (uint32_t)low : NO_ROW;
}

static bool is_called_so(struct str text)
{
	return text.length > 0 && !tsi_str_is(text, "undefined");
}

const char *tsi_group_name(const struct rank_log *log, const struct rank_group *group)
{
	struct str description = tsi_intern_text(&log->names, group->description);

	if (is_called_so(description))
		return description.data;
	return tsi_intern_text(&log->names, group->name).data;
}

/* ---- what each rank says ---- */

/* A list that the rank itself is not in contradicts its having the group: as if not said. */
static bool is_own_group(const struct rank_log *log, const struct rank_group *group)
{
	if (group->stride > 0) {
		int64_t first = tsi_group_member(log, group, 0);
		uint64_t distance = (uint64_t)log->rank - (uint64_t)first;

		return log->rank >= first && distance % (uint64_t)group->stride == 0 &&
		       distance / (uint64_t)group->stride < group->member_count;
	}
	for (uint32_t i = 0; i < group->member_count; i++)
		if (tsi_group_member(log, group, i) == log->rank)
			return true;
	return false;
}

/*
 * Members and sizes as texts: lists of 8 bytes a member, sizes of 9, strides of 25, so that none is
 * taken for the other.
 */
static uint32_t number_set(struct group_search *search, const struct rank_log *log,
			   const struct rank_group *group, bool has_members)
{
	char size[1 + sizeof(group->size)] = { 'n' }, series[1 + 3 * sizeof(int64_t)] = { 's' };
	struct str text = { size, sizeof(size) };

	memcpy(size + 1, &group->size, sizeof(group->size));
	if (has_members && group->stride > 0) {
		const int64_t said[] = { tsi_group_member(log, group, 0), group->stride,
					 group->member_count };

		memcpy(series + 1, said, sizeof(said));
		text = (struct str){ series, sizeof(series) };
	} else if (has_members)
		text = tsi_group_list(log, group);
	return tsi_latch_text(&search->arena, &search->texts, text);
}

static struct local_group read_group(struct group_search *search, uint32_t rank, uint32_t index)
{
	const struct rank_log *log = &search->world->logs[rank];
	const struct rank_group *group = &log->groups[index];
	struct str description = tsi_intern_text(&log->names, group->description);
	struct str name = tsi_intern_text(&log->names, group->name);
	struct local_group local = {
		.rank = rank,
		.index = index,
		.has_members = is_own_group(log, group),
	};

	local.size = local.has_members ? group->member_count : group->size;
	local.set = number_set(search, log, group, local.has_members);
	if (is_called_so(description))
		local.description = tsi_latch_text(&search->arena, &search->texts, description);
	local.name = tsi_latch_text(&search->arena, &search->texts, name);
	return local;
}

static void mark_used(struct group_search *search)
{
	const struct world *world = search->world;

	for (size_t rank = 0; rank < world->rank_count; rank++) {
		const struct rank_log *log = &world->logs[rank];

		for (size_t i = 0; i < log->op_count; i++)
			if (!tsi_is_message(log, &log->ops[i]))
				search->locals[search->first_local[rank] + log->ops[i].group]
					.is_used = true;
	}
}

static void read_groups(struct group_search *search)
{
	const struct world *world = search->world;
	size_t count = 0;

	for (size_t i = 0; i < world->rank_count; i++)
		count += world->logs[i].group_count;
	search->first_local =
		tsi_arena_new(&search->arena, world->rank_count, sizeof(*search->first_local));
	search->locals = tsi_arena_new(&search->arena, count, sizeof(*search->locals));
	if (!search->locals)
		return;
	for (uint32_t rank = 0; rank < world->rank_count; rank++) {
		search->first_local[rank] = search->local_count;
		for (uint32_t i = 0; i < world->logs[rank].group_count; i++)
			search->locals[search->local_count++] = read_group(search, rank, i);
	}
	mark_used(search);
}

/* ---- which groups of different ranks are one ---- */

/* How many ranks say something. */
struct rank_tally {
	uint32_t rank_count, last_rank; /* last_rank: index + 1 of the last that was counted */
};

/* There are no more bases and names than local groups. */
struct key_finder {
	struct pair_set bases; /* members or size, and description */
	struct pair_set names; /* base and name */
	struct rank_tally *base_tallies, *name_tallies;
	uint32_t *base_of, *name_of; /* by local group: its numbers */
	bool *has_several;           /* by base: names distinguish groups */
};

static void tally_rank(struct rank_tally *tally, uint32_t rank)
{
	tally->rank_count += tally->last_rank != rank + 1;
	tally->last_rank = rank + 1;
}

/*
 * Names that all ranks have in common are names that they agree on. Where nothing else is said,
 * names are all there is.
 */
static void compare_names(struct key_finder *finder, const struct group_search *search)
{
	for (size_t i = 0; i < search->local_count; i++) {
		const struct local_group *local = &search->locals[i];
		uint32_t base = finder->base_of[i], name = finder->name_of[i];
		bool is_all = !local->has_members && local->description == 0;

		if (is_all ||
		    finder->name_tallies[name].rank_count == finder->base_tallies[base].rank_count)
			finder->has_several[base] = true;
	}
}

static void number_locals(struct key_finder *finder, struct group_search *search)
{
	struct arena *arena = &search->arena;
	size_t count = search->local_count;

	finder->base_tallies = tsi_arena_new(arena, count, sizeof(*finder->base_tallies));
	finder->name_tallies = tsi_arena_new(arena, count, sizeof(*finder->name_tallies));
	finder->base_of = tsi_arena_new(arena, count, sizeof(*finder->base_of));
	finder->name_of = tsi_arena_new(arena, count, sizeof(*finder->name_of));
	finder->has_several = tsi_arena_new(arena, count, sizeof(*finder->has_several));
	for (size_t i = 0; finder->has_several && i < count; i++) {
		const struct local_group *local = &search->locals[i];
		uint32_t base = tsi_pair_set_add(&finder->bases, local->set, local->description);
		uint32_t name = tsi_pair_set_add(&finder->names, base, local->name);

		if (name == NO_ROW)
			return;
		finder->base_of[i] = base;
		finder->name_of[i] = name;
		tally_rank(&finder->base_tallies[base], local->rank);
		tally_rank(&finder->name_tallies[name], local->rank);
	}
}

/* Returns how many keys there are. */
static size_t find_keys(struct group_search *search)
{
	struct key_finder finder = { .bases.arena = &search->arena, .names.arena = &search->arena };

	number_locals(&finder, search);
	size_t base_count = finder.bases.count, key_count = base_count + finder.names.count;
	if (!search->arena.has_failed) {
		compare_names(&finder, search);
		for (size_t i = 0; i < search->local_count; i++)
			search->locals[i].key = finder.has_several[finder.base_of[i]]
							? (uint32_t)base_count + finder.name_of[i]
							: finder.base_of[i];
	}
	return key_count;
}

/* ---- groups that state their members ---- */

static void find_stated_ranks(struct group_search *search, struct stated_group *stated)
{
	const struct local_group *local = &search->locals[stated->local];
	const struct rank_log *log = &search->world->logs[local->rank];
	const struct rank_group *group = &log->groups[local->index];

	stated->ranks = tsi_arena_new(&search->arena, group->member_count, sizeof(*stated->ranks));
	for (uint32_t i = 0; stated->ranks && i < group->member_count; i++) {
		uint32_t rank = tsi_rank_index(search->world, tsi_group_member(log, group, i));

		if (rank != NO_ROW)
			stated->ranks[stated->rank_count++] = rank;
	}
}

/* Finds the stated groups. Returns the index of that with a key, or NO_ROW; NULL without memory. */
static uint32_t *find_stated(struct group_search *search)
{
	uint32_t *rows_by_key = tsi_latch_rows(&search->arena, find_keys(search));

	for (uint32_t i = 0; rows_by_key && i < search->local_count; i++) {
		const struct local_group *local = &search->locals[i];

		if (!local->has_members || rows_by_key[local->key] != NO_ROW)
			continue;
		struct stated_group *stated =
			tsi_arena_push(&search->arena, &search->stated, &search->stated_count,
				       &search->stated_capacity, sizeof(*stated));
		if (!stated)
			return NULL;
		*stated = (struct stated_group){ i, local->key, local->set, NULL, 0, NO_ROW };
		rows_by_key[local->key] = (uint32_t)search->stated_count - 1;
		find_stated_ranks(search, stated);
	}
	return search->arena.has_failed ? NULL : rows_by_key;
}

/* One list for all ranks that state the group. */
static const int64_t *list_members(struct world *world, const struct rank_log *log,
				   const struct rank_group *group)
{
	int64_t *members = tsi_arena_new(&world->arena, group->member_count, sizeof(*members));

	for (uint32_t i = 0; members && i < group->member_count; i++)
		members[i] = tsi_group_member(log, group, i);
	return members;
}

uint32_t tsi_add_stated_group(struct group_search *search, struct stated_group *stated)
{
	const struct local_group *local = &search->locals[stated->local];
	const struct rank_log *log = &search->world->logs[local->rank];
	const struct rank_group *from = &log->groups[local->index];

	if (stated->group != NO_ROW)
		return stated->group;
	const struct process_group group = {
		.size = from->member_count,
		.members = list_members(search->world, log, from),
		.member_count = from->member_count,
		.name = tsi_group_name(log, from),
	};

	stated->group = tsi_add_group(search->world, &group);
	return stated->group;
}

static void assign_stated(struct group_search *search, const uint32_t *rows_by_key)
{
	struct world *world = search->world;

	for (size_t i = 0; i < search->local_count; i++) {
		uint32_t stated = rows_by_key[search->locals[i].key];

		if (search->locals[i].is_used && stated != NO_ROW)
			tsi_add_stated_group(search, &search->stated[stated]);
	}
	for (size_t rank = 0; rank < world->rank_count; rank++) {
		const struct rank_log *log = &world->logs[rank];
		size_t first = search->first_local[rank];

		for (size_t i = 0; i < log->op_count; i++) {
			uint32_t stated =
				rows_by_key[search->locals[first + log->ops[i].group].key];

			if (!tsi_is_message(log, &log->ops[i]) && stated != NO_ROW)
				world->group_of_op[rank][i] = search->stated[stated].group;
		}
	}
}

/* ---- the rest ---- */

/* Does it say anything that groups can be distinguished by? */
static bool is_stated(const struct local_group *local)
{
	return local->description != 0 || local->name != 0 || local->size != NO_NUMBER;
}

/* Ops without a group, by key; those that say nothing at all have NO_ROW. */
static size_t collect_rest(const struct group_search *search, struct sort_pair *ops)
{
	const struct world *world = search->world;
	size_t count = 0;

	for (size_t rank = 0; rank < world->rank_count; rank++) {
		const struct rank_log *log = &world->logs[rank];

		for (size_t i = 0; i < log->op_count; i++) {
			const struct local_group *local =
				&search->locals[search->first_local[rank] + log->ops[i].group];

			if (world->group_of_op[rank][i] != NO_ROW ||
			    tsi_is_message(log, &log->ops[i]))
				continue;
			ops[count++] = (struct sort_pair){ is_stated(local) ? local->key : NO_ROW,
							   (uint64_t)rank << 32 | i };
		}
	}
	return count;
}

static void infer_rest(struct group_search *search, const struct sort_pair *ops, size_t count)
{
	const struct world *world = search->world;

	for (size_t at = 0, end; at < count; at = end) {
		const struct rank_log *log = &world->logs[ops[at].value >> 32];
		uint32_t group = log->ops[(uint32_t)ops[at].value].group;

		for (end = at + 1; end < count && ops[end].key == ops[at].key;)
			end++;
		struct op_pool pool = {
			.size = log->groups[group].size,
			.name = ops[at].key == NO_ROW ? ""
						      : tsi_group_name(log, &log->groups[group]),
			.ops = &ops[at],
			.op_count = end - at,
		};
		tsi_infer_groups(search, &pool);
	}
}

static void assign_rest(struct group_search *search)
{
	size_t most = tsi_world_op_count(search->world), count;
	struct sort_pair *ops = tsi_arena_new(&search->arena, most, sizeof(*ops));

	if (!ops)
		return;
	count = collect_rest(search, ops);
	tsi_latch_sort(&search->arena, ops, count);
	infer_rest(search, ops, count);
}

/* ---- all of it ---- */

/* Counts the ranks of each group or, where there is room for them, writes them down. */
static void list_ranks(struct world *world, uint32_t *last_rank)
{
	for (uint32_t rank = 0; rank < world->rank_count; rank++) {
		for (size_t op = 0; op < world->logs[rank].op_count; op++) {
			uint32_t index = world->group_of_op[rank][op];

			if (index == NO_ROW || last_rank[index] == rank + 1)
				continue;
			struct process_group *group = &world->groups[index];
			if (group->ranks)
				group->ranks[group->rank_count] = rank;
			group->rank_count++;
			last_rank[index] = rank + 1;
		}
	}
}

static void fill_ranks(struct group_search *search)
{
	struct world *world = search->world;
	uint32_t *last_rank = tsi_arena_new(&search->arena, world->group_count, sizeof(*last_rank));

	if (!last_rank)
		return;
	list_ranks(world, last_rank);
	for (size_t i = 0; i < world->group_count; i++) {
		struct process_group *group = &world->groups[i];

		group->ranks =
			tsi_arena_new(&world->arena, group->rank_count, sizeof(*group->ranks));
		group->rank_count = 0;
		last_rank[i] = 0;
	}
	if (!world->arena.has_failed)
		list_ranks(world, last_rank);
}

static void find_groups(struct group_search *search)
{
	read_groups(search);
	uint32_t *rows_by_key = search->arena.has_failed ? NULL : find_stated(search);
	if (!rows_by_key)
		return;
	assign_stated(search, rows_by_key);
	tsi_find_message_pairs(search->world);
	if (!search->world->arena.has_failed)
		assign_rest(search);
	if (!search->world->arena.has_failed)
		fill_ranks(search);
}

void tsi_world_find_groups(struct world *world)
{
	struct group_search search = { .world = world };

	world->group_of_op = tsi_world_op_rows(world);
	if (world->group_of_op)
		find_groups(&search);
	tsi_intern_deinit(&search.texts);
	tsi_latch_deinit(&world->arena, &search.arena);
}
