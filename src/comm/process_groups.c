/* SPDX-License-Identifier: MIT */
/*
 * Finds the process groups of a run in what each rank says of them. A group is its members, and
 * what it is called where several have the same: the description, or the name if ranks agree on
 * names (in some versions "5" on one rank is "7" on another). Messages between two ranks are of
 * the pair, whatever group they go over. What does not state its members is left to
 * infer_groups.c.
 */
#include "comm/group_search.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/pair_set.h"

static void search_deinit(struct group_search *search)
{
	for (size_t i = 0; i < search->stated_count; i++)
		free(search->stated[i].ranks);
	free(search->stated);
	free(search->locals);
	free(search->first_local);
	tsi_intern_deinit(&search->texts);
}

enum tscope_status tsi_add_group(struct world *world, const struct process_group *group,
				 uint32_t *index, struct tscope_error *err)
{
	if (tsi_array_reserve(&world->groups, &world->group_capacity, world->group_count + 1,
			      sizeof(*world->groups), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	world->groups[world->group_count] = *group;
	*index = (uint32_t)world->group_count++;
	return TSCOPE_OK;
}

/* ---- what others need, too ---- */

uint32_t tsi_rank_index(const struct world *world, int64_t rank)
{
	size_t low = 0, high = world->rank_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (world->logs[middle].rank < rank)
			low = middle + 1;
		else
			high = middle;
	}
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
	for (uint32_t i = 0; i < group->member_count; i++)
		if (log->members[group->first_member + i] == log->rank)
			return true;
	return false;
}

/* Members and sizes as texts: of 8 bytes each and of 9, so that none is taken for the other. */
static enum tscope_status number_set(struct group_search *search, const struct rank_log *log,
				     const struct rank_group *group, struct local_group *local,
				     struct tscope_error *err)
{
	const char *bytes =
		group->member_count > 0 ? (const char *)(log->members + group->first_member) : "";
	size_t length = group->member_count * sizeof(*log->members);
	char size[1 + sizeof(group->size)] = { 'n' };

	local->size = group->size;
	local->has_members = is_own_group(log, group);
	if (local->has_members) {
		local->size = group->member_count;
		return tsi_intern_add(&search->texts, (struct str){ bytes, length }, &local->set,
				      err);
	}
	memcpy(size + 1, &group->size, sizeof(group->size));
	return tsi_intern_add(&search->texts, (struct str){ size, sizeof(size) }, &local->set, err);
}

static enum tscope_status read_group(struct group_search *search, struct local_group *local,
				     struct tscope_error *err)
{
	const struct rank_log *log = &search->world->logs[local->rank];
	const struct rank_group *group = &log->groups[local->index];
	struct str description = tsi_intern_text(&log->names, group->description);
	struct str name = tsi_intern_text(&log->names, group->name);
	enum tscope_status status = number_set(search, log, group, local, err);

	if (status == TSCOPE_OK && is_called_so(description))
		status = tsi_intern_add(&search->texts, description, &local->description, err);
	if (status == TSCOPE_OK)
		status = tsi_intern_add(&search->texts, name, &local->name, err);
	return status;
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

static enum tscope_status read_groups(struct group_search *search, struct tscope_error *err)
{
	const struct world *world = search->world;
	enum tscope_status status = tsi_intern_init(&search->texts, UINT32_MAX - 1, err);
	size_t count = 0;

	for (size_t i = 0; i < world->rank_count; i++)
		count += world->logs[i].group_count;
	if (status != TSCOPE_OK ||
	    tsi_array_new(&search->first_local, world->rank_count, sizeof(*search->first_local),
			  err) != TSCOPE_OK ||
	    tsi_array_new(&search->locals, count, sizeof(*search->locals), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (uint32_t rank = 0; rank < world->rank_count; rank++) {
		search->first_local[rank] = search->local_count;
		for (uint32_t i = 0; i < world->logs[rank].group_count; i++) {
			struct local_group *local = &search->locals[search->local_count++];

			local->rank = rank;
			local->index = i;
			if (read_group(search, local, err) != TSCOPE_OK)
				return TSCOPE_E_NOMEM;
		}
	}
	mark_used(search);
	return TSCOPE_OK;
}

/* ---- which groups of different ranks are one ---- */

/* How many ranks say something. */
struct rank_tally {
	uint32_t rank_count, last_rank; /* last_rank: index + 1 of the last that was counted */
};

struct key_finder {
	struct arena memory;   /* of the sets */
	struct pair_set bases; /* members or size, and description */
	struct pair_set names; /* base and name */
	struct rank_tally *base_tallies, *name_tallies;
	size_t base_capacity, name_capacity;
	uint32_t *base_of, *name_of; /* by local group: its numbers */
	bool *has_several;           /* by base: names tell groups apart */
};

static void key_finder_deinit(struct key_finder *finder)
{
	tsi_arena_deinit(&finder->memory);
	free(finder->base_tallies);
	free(finder->name_tallies);
	free(finder->base_of);
	free(finder->name_of);
	free(finder->has_several);
}

/* Room for the tally of a pair that was added perhaps. */
static enum tscope_status tally_rank(struct rank_tally **tallies, size_t *capacity, uint32_t number,
				     uint32_t rank, struct tscope_error *err)
{
	size_t before = *capacity;

	if (tsi_array_reserve(tallies, capacity, (size_t)number + 1, sizeof(**tallies), err) !=
	    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (; before < *capacity; before++)
		(*tallies)[before] = (struct rank_tally){ 0 };
	(*tallies)[number].rank_count += (*tallies)[number].last_rank != rank + 1;
	(*tallies)[number].last_rank = rank + 1;
	return TSCOPE_OK;
}

static enum tscope_status number_group(struct key_finder *finder, const struct local_group *local,
				       size_t index, struct tscope_error *err)
{
	uint32_t *base = &finder->base_of[index], *name = &finder->name_of[index];

	if (tsi_pair_set_find(&finder->bases, local->set, local->description, base, err) !=
		    TSCOPE_OK ||
	    tsi_pair_set_find(&finder->names, *base, local->name, name, err) != TSCOPE_OK ||
	    tally_rank(&finder->base_tallies, &finder->base_capacity, *base, local->rank, err) !=
		    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	return tally_rank(&finder->name_tallies, &finder->name_capacity, *name, local->rank, err);
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

static enum tscope_status find_keys(struct group_search *search, size_t *key_count,
				    struct tscope_error *err)
{
	struct key_finder finder = {
		.bases.arena = &finder.memory,
		.names.arena = &finder.memory,
	};
	size_t count = search->local_count;
	enum tscope_status status =
		tsi_array_new(&finder.base_of, count, sizeof(*finder.base_of), err);

	if (status == TSCOPE_OK)
		status = tsi_array_new(&finder.name_of, count, sizeof(*finder.name_of), err);
	for (size_t i = 0; status == TSCOPE_OK && i < count; i++)
		status = number_group(&finder, &search->locals[i], i, err);
	if (status == TSCOPE_OK)
		status = tsi_array_new(&finder.has_several, finder.bases.count,
				       sizeof(*finder.has_several), err);
	if (status == TSCOPE_OK)
		compare_names(&finder, search);
	for (size_t i = 0; status == TSCOPE_OK && i < count; i++)
		search->locals[i].key = finder.has_several[finder.base_of[i]]
						? (uint32_t)finder.bases.count + finder.name_of[i]
						: finder.base_of[i];
	*key_count = finder.bases.count + finder.names.count;
	key_finder_deinit(&finder);
	return status;
}

/* ---- groups that state their members ---- */

static enum tscope_status find_stated_ranks(const struct group_search *search,
					    struct stated_group *stated, struct tscope_error *err)
{
	const struct local_group *local = &search->locals[stated->local];
	const struct rank_log *log = &search->world->logs[local->rank];
	const struct rank_group *group = &log->groups[local->index];

	if (tsi_array_new(&stated->ranks, group->member_count, sizeof(*stated->ranks), err) !=
	    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (uint32_t i = 0; i < group->member_count; i++) {
		uint32_t rank =
			tsi_rank_index(search->world, log->members[group->first_member + i]);

		if (rank != NO_ROW)
			stated->ranks[stated->rank_count++] = rank;
	}
	return TSCOPE_OK;
}

static enum tscope_status add_stated(struct group_search *search, size_t local,
				     struct tscope_error *err)
{
	struct stated_group stated = {
		.local = (uint32_t)local,
		.key = search->locals[local].key,
		.set = search->locals[local].set,
		.group = NO_ROW,
	};

	if (tsi_array_reserve(&search->stated, &search->stated_capacity, search->stated_count + 1,
			      sizeof(*search->stated), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	enum tscope_status status = find_stated_ranks(search, &stated, err);
	if (status == TSCOPE_OK)
		search->stated[search->stated_count++] = stated;
	return status;
}

/* Finds the stated groups; *of_key is the index of that with a key, or NO_ROW. */
static enum tscope_status find_stated(struct group_search *search, uint32_t **of_key,
				      struct tscope_error *err)
{
	size_t key_count;

	if (find_keys(search, &key_count, err) != TSCOPE_OK ||
	    tsi_array_new(of_key, key_count, sizeof(**of_key), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < key_count; i++)
		(*of_key)[i] = NO_ROW;
	for (size_t i = 0; i < search->local_count; i++) {
		const struct local_group *local = &search->locals[i];

		if (!local->has_members || (*of_key)[local->key] != NO_ROW)
			continue;
		(*of_key)[local->key] = (uint32_t)search->stated_count;
		if (add_stated(search, i, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	}
	return TSCOPE_OK;
}

enum tscope_status tsi_add_stated_group(struct group_search *search, struct stated_group *stated,
					uint32_t *index, struct tscope_error *err)
{
	const struct local_group *local = &search->locals[stated->local];
	const struct rank_log *log = &search->world->logs[local->rank];
	const struct rank_group *from = &log->groups[local->index];
	struct process_group group = {
		.size = from->member_count,
		.member_count = from->member_count,
		.name = tsi_group_name(log, from),
	};

	*index = stated->group;
	if (*index != NO_ROW)
		return TSCOPE_OK;
	if (tsi_array_new(&group.members, group.member_count, sizeof(*group.members), err) !=
	    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	memcpy(group.members, log->members + from->first_member,
	       group.member_count * sizeof(*group.members));
	if (tsi_add_group(search->world, &group, index, err) != TSCOPE_OK) {
		free(group.members);
		return TSCOPE_E_NOMEM;
	}
	stated->group = *index;
	return TSCOPE_OK;
}

static enum tscope_status assign_stated(struct group_search *search, const uint32_t *of_key,
					struct tscope_error *err)
{
	struct world *world = search->world;
	uint32_t index;

	for (size_t i = 0; i < search->local_count; i++) {
		uint32_t stated = of_key[search->locals[i].key];

		if (search->locals[i].is_used && stated != NO_ROW &&
		    tsi_add_stated_group(search, &search->stated[stated], &index, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	}
	for (size_t rank = 0; rank < world->rank_count; rank++) {
		const struct rank_log *log = &world->logs[rank];
		size_t first = search->first_local[rank];

		for (size_t i = 0; i < log->op_count; i++) {
			uint32_t stated = of_key[search->locals[first + log->ops[i].group].key];

			if (!tsi_is_message(log, &log->ops[i]) && stated != NO_ROW)
				world->group_of_op[rank][i] = search->stated[stated].group;
		}
	}
	return TSCOPE_OK;
}

/* ---- the rest ---- */

/* Does it say anything that groups can be told apart by? */
static bool is_told(const struct local_group *local)
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
			ops[count++] = (struct sort_pair){ is_told(local) ? local->key : NO_ROW,
							   (uint64_t)rank << 32 | i };
		}
	}
	return count;
}

static enum tscope_status infer_rest(struct group_search *search, const struct sort_pair *ops,
				     size_t count, struct tscope_error *err)
{
	const struct world *world = search->world;
	enum tscope_status status = TSCOPE_OK;
	size_t end;

	for (size_t at = 0; status == TSCOPE_OK && at < count; at = end) {
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
		status = tsi_infer_groups(search, &pool, err);
	}
	return status;
}

static enum tscope_status assign_rest(struct group_search *search, struct tscope_error *err)
{
	const struct world *world = search->world;
	struct sort_pair *ops = NULL, *scratch = NULL;
	size_t count = 0;

	for (size_t i = 0; i < world->rank_count; i++)
		count += world->logs[i].op_count;
	enum tscope_status status = tsi_array_new(&ops, count, sizeof(*ops), err);
	if (status == TSCOPE_OK)
		status = tsi_array_new(&scratch, count, sizeof(*scratch), err);
	if (status == TSCOPE_OK) {
		count = collect_rest(search, ops);
		tsi_sort_pairs(ops, scratch, count);
		status = infer_rest(search, ops, count, err);
	}
	free(ops);
	free(scratch);
	return status;
}

/* ---- all of it ---- */

static enum tscope_status make_group_of_op(struct world *world, struct tscope_error *err)
{
	if (tsi_array_new(&world->group_of_op, world->rank_count, sizeof(*world->group_of_op),
			  err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t rank = 0; rank < world->rank_count; rank++) {
		size_t count = world->logs[rank].op_count;
		uint32_t **row = &world->group_of_op[rank];

		if (tsi_array_new(row, count, sizeof(**row), err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		for (size_t op = 0; op < count; op++)
			(*row)[op] = NO_ROW;
	}
	return TSCOPE_OK;
}

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

static enum tscope_status fill_ranks(struct world *world, struct tscope_error *err)
{
	uint32_t *last_rank;

	if (tsi_array_new(&last_rank, world->group_count, sizeof(*last_rank), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	enum tscope_status status = TSCOPE_OK;
	list_ranks(world, last_rank);
	for (size_t i = 0; status == TSCOPE_OK && i < world->group_count; i++) {
		struct process_group *group = &world->groups[i];

		status =
			tsi_array_new(&group->ranks, group->rank_count, sizeof(*group->ranks), err);
		group->rank_count = 0;
		last_rank[i] = 0;
	}
	if (status == TSCOPE_OK)
		list_ranks(world, last_rank);
	free(last_rank);
	return status;
}

enum tscope_status tsi_world_find_groups(struct world *world, struct tscope_error *err)
{
	struct group_search search = { .world = world };
	uint32_t *of_key = NULL;
	enum tscope_status status = make_group_of_op(world, err);

	if (status == TSCOPE_OK)
		status = read_groups(&search, err);
	if (status == TSCOPE_OK)
		status = find_stated(&search, &of_key, err);
	if (status == TSCOPE_OK)
		status = assign_stated(&search, of_key, err);
	if (status == TSCOPE_OK)
		status = tsi_find_message_pairs(world, err);
	if (status == TSCOPE_OK)
		status = assign_rest(&search, err);
	if (status == TSCOPE_OK)
		status = fill_ranks(world, err);
	free(of_key);
	search_deinit(&search);
	return status;
}
