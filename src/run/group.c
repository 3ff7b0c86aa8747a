/* SPDX-License-Identifier: MIT */
/*
 * Gives each file that was read its place: which rank, and which time window
 * of that rank. Ranks are taken from the files and, where they are silent, from
 * names and folders; contradictions are errors, never guessed away.
 */
#include "run/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/intern.h"
#include "base/key_map.h"
#include "run/align.h"
#include "run/file_name.h"
#include "run/find.h"

static struct str folder_of(const char *path)
{
	return tsi_folder_above(tsi_str_of(path));
}

enum { NO_RANK = -1, SEVERAL_RANKS = -2 };

/* The only rank that is said in a folder, and in it or below it, or one of the above. */
struct said_rank {
	int64_t direct, below;
};

/* The ranks that items say, by folder: looked up for each of the others. */
struct said_ranks {
	struct intern folders;
	struct said_rank *by_folder; /* by id */
	size_t count, capacity;
	struct key_map ranks;
	int64_t only, lowest; /* of all; only: as above */
};

static void say(int64_t *only, int64_t rank)
{
	if (*only != rank)
		*only = *only == NO_RANK ? rank : SEVERAL_RANKS;
}

static enum tscope_status find_folder(struct said_ranks *said, struct str folder,
				      struct said_rank **ret, struct tscope_error *err)
{
	uint32_t id;

	if (tsi_intern_add(&said->folders, folder, &id, err) != TSCOPE_OK ||
	    tsi_array_reserve(&said->by_folder, &said->capacity, said->folders.count,
			      sizeof(*said->by_folder), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	while (said->count < said->folders.count)
		said->by_folder[said->count++] = (struct said_rank){ NO_RANK, NO_RANK };
	*ret = &said->by_folder[id];
	return TSCOPE_OK;
}

/* Folders above one that has several ranks below it have several, too. */
static enum tscope_status add_said(struct said_ranks *said, const struct run_item *item,
				   struct tscope_error *err)
{
	struct str folder = folder_of(item->path);
	struct said_rank *entry;

	say(&said->only, item->rank);
	if (said->lowest == NO_RANK || item->rank < said->lowest)
		said->lowest = item->rank;
	if (find_folder(said, folder, &entry, err) != TSCOPE_OK ||
	    tsi_key_map_put(&said->ranks, (uint64_t)item->rank, 0, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	say(&entry->direct, item->rank);
	while (folder.length > 0 && entry->below != SEVERAL_RANKS) {
		say(&entry->below, item->rank);
		folder = tsi_folder_above(folder);
		if (find_folder(said, folder, &entry, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	}
	return TSCOPE_OK;
}

static enum tscope_status said_init(struct said_ranks *said, const struct run_item *items,
				    size_t count, struct tscope_error *err)
{
	*said = (struct said_ranks){ .only = NO_RANK, .lowest = NO_RANK };
	enum tscope_status status = tsi_intern_init(&said->folders, SIZE_MAX, err);

	for (size_t i = 0; status == TSCOPE_OK && i < count; i++)
		if (items[i].rank >= 0)
			status = add_said(said, &items[i], err);
	return status;
}

static void said_deinit(struct said_ranks *said)
{
	tsi_intern_deinit(&said->folders);
	tsi_key_map_deinit(&said->ranks);
	free(said->by_folder);
}

static struct said_rank said_in(const struct said_ranks *said, struct str folder)
{
	uint32_t id = tsi_intern_find(&said->folders, folder);

	return id < said->count ? said->by_folder[id] : (struct said_rank){ NO_RANK, NO_RANK };
}

/* The only rank that items say, or one of the above. */
static int64_t only_rank(const struct run_item *items, size_t count)
{
	int64_t rank = NO_RANK;

	for (size_t i = 0; i < count; i++)
		if (items[i].rank >= 0)
			say(&rank, items[i].rank);
	return rank;
}

/* Gives the items that say no rank the only one there is, in their folder or at all. */
static enum tscope_status adopt(struct run_item *items, size_t count, struct tscope_error *err)
{
	struct said_ranks said;
	enum tscope_status status = said_init(&said, items, count, err);

	for (size_t i = 0; status == TSCOPE_OK && i < count && said.only != NO_RANK; i++) {
		if (items[i].rank >= 0)
			continue;
		int64_t folder_rank = said_in(&said, folder_of(items[i].path)).direct;
		items[i].is_stray = folder_rank < 0 && said.only < 0;
		if (!items[i].is_stray)
			items[i].rank = folder_rank >= 0 ? folder_rank : said.only;
	}
	said_deinit(&said);
	return status;
}

static int compare_names(const void *left, const void *right)
{
	const struct run_item *a = left, *b = right;

	return strcmp(a->path, b->path);
}

/* Numbers the processes in the order of their names. */
static enum tscope_status find_writers(struct run_item *items, size_t count,
				       struct tscope_error *err)
{
	struct intern names;
	enum tscope_status status = tsi_intern_init(&names, count + 1, err);

	qsort(items, count, sizeof(*items), compare_names);
	for (size_t i = 0; status == TSCOPE_OK && i < count; i++)
		status = tsi_intern_add(&names, tsi_writer_of_path(items[i].path), &items[i].writer,
					err);
	tsi_intern_deinit(&names);
	return status;
}

static int compare_starts(const void *left, const void *right)
{
	const struct run_item *a = left, *b = right;

	TSI_ASCENDING(a->start_ns, b->start_ns);
	return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

/*
 * Do traces of different processes run at the same time? In the order of their
 * starts that is one which starts before the latest end so far, of another process.
 */
static bool is_concurrent(struct run_item *items, size_t count, unsigned depth)
{
	int64_t latest_end_ns = INT64_MIN;
	uint32_t latest = UINT32_MAX; /* the process that it is of */

	qsort(items, count, sizeof(*items), compare_starts);
	for (size_t i = 0; i < count; i++) {
		const struct run_item *item = &items[i];

		if (item->kind != RUN_ITEM_TRACE || item->depth < depth)
			continue;
		if (item->writer != latest && item->start_ns < latest_end_ns)
			return true;
		if (item->end_ns > latest_end_ns) {
			latest_end_ns = item->end_ns;
			latest = item->writer;
		}
	}
	return false;
}

/* Whose traces are not as deep as others' are nobody's: which process they are of is not known. */
static void number_by_writers(struct run_item *items, size_t count, unsigned depth)
{
	uint32_t lowest = UINT32_MAX;

	for (size_t i = 0; i < count; i++)
		lowest = items[i].writer < lowest ? items[i].writer : lowest;
	for (size_t i = 0; i < count; i++) {
		items[i].is_stray = items[i].kind == RUN_ITEM_TRACE && items[i].depth < depth;
		if (!items[i].is_stray)
			items[i].rank = items[i].writer - lowest;
	}
}

static unsigned greatest_depth(const struct run_item *items, size_t count)
{
	unsigned depth = 0;

	for (size_t i = 0; i < count; i++)
		if (items[i].kind == RUN_ITEM_TRACE && items[i].depth > depth)
			depth = items[i].depth;
	return depth;
}

/* Marks traces that are not the deepest of their rank. The items are in the order of ranks. */
static void mark_secondary(struct run_item *items, size_t count)
{
	for (size_t first = 0, end; first < count; first = end) {
		for (end = first + 1; end < count && items[end].rank == items[first].rank; end++)
			;
		unsigned depth = greatest_depth(items + first, end - first);
		for (size_t i = first; i < end; i++)
			if (items[i].kind == RUN_ITEM_TRACE && items[i].depth < depth)
				items[i].kind = RUN_ITEM_SECONDARY;
	}
}

static bool is_trace(const struct run_item *item)
{
	return item->kind == RUN_ITEM_TRACE || item->kind == RUN_ITEM_SECONDARY;
}

/* Does it stand behind the items that the steps of the ranks are made of? */
static bool is_behind(const struct run_item *item)
{
	return item->kind == RUN_ITEM_MEMORY || item->is_apart;
}

static int compare_places(const void *left, const void *right)
{
	const struct run_item *a = left, *b = right;

	if (a->is_stray != b->is_stray)
		return a->is_stray ? 1 : -1;
	if (is_behind(a) != is_behind(b))
		return is_behind(a) ? 1 : -1;
	TSI_ASCENDING(a->rank, b->rank);
	TSI_ASCENDING(a->kind, b->kind);
	if (is_trace(a) && a->depth != b->depth)
		return a->depth > b->depth ? -1 : 1;
	if (is_trace(a) && a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return strcmp(a->path, b->path);
}

static enum tscope_status fail_claim(struct tscope_error *err, const struct run_item *a,
				     const struct run_item *b)
{
	char rank[40] = "one rank";

	if (a->rank >= 0)
		snprintf(rank, sizeof(rank), "rank %lld", (long long)a->rank);
	return tsi_fail(err, TSCOPE_E_DAMAGED,
			"%s is claimed by %.150s and %.150s%s; name the files of one run only",
			rank, a->path, b->path,
			a->kind == RUN_ITEM_TRACE ? ", which overlap in time" : "");
}

static bool overlap(const struct run_item *a, const struct run_item *b)
{
	return a->start_ns < b->end_ns && b->start_ns < a->end_ns;
}

/* Are both steps of one rank, the second behind the first? */
static bool are_windows(const struct run_item *before, const struct run_item *item)
{
	return !item->is_stray && before->rank == item->rank && before->kind == item->kind &&
	       before->depth == item->depth && item->kind != RUN_ITEM_METRICS;
}

/* Do two files claim one rank, of which one can have it? */
static bool are_rivals(const struct run_item *before, const struct run_item *item)
{
	return are_windows(before, item) && item->kind != RUN_ITEM_SECONDARY &&
	       (item->kind == RUN_ITEM_STEPS || overlap(before, item));
}

/* Makes all items of the rank strays. The items are in the order of ranks. */
static void disown(struct run_item *items, size_t count, size_t at)
{
	int64_t rank = items[at].rank;
	const char *first = items[at - 1].path, *second = items[at].path;

	while (at > 0 && items[at - 1].rank == rank)
		at--;
	for (; at < count && items[at].rank == rank && !items[at].is_stray; at++) {
		items[at].is_stray = true;
		items[at].rival = strcmp(items[at].path, first) == 0 ? second : first;
	}
}

static size_t count_ranks(const struct run_item *items, size_t count)
{
	size_t rank_count = 0;

	for (size_t i = 0; i < count && !items[i].is_stray; i++)
		rank_count += i == 0 || items[i].rank != items[i - 1].rank;
	return rank_count;
}

/* Step records of two jobs lie in folders of these: run_a/rank0 and run_b/rank0. */
static bool are_of_one_job(const struct run_item *a, const struct run_item *b)
{
	return a->kind != RUN_ITEM_STEPS || tsi_str_equal(tsi_folder_above(folder_of(a->path)),
							  tsi_folder_above(folder_of(b->path)));
}

/* Which file is the rank's is not known, so none is. */
static enum tscope_status disown_claimed(struct run_item *items, size_t count,
					 unsigned quorum_percent, struct tscope_error *err)
{
	size_t spare = tsi_quorum_spare(count_ranks(items, count), quorum_percent);

	for (size_t i = 1; i < count; i++) {
		if (!are_rivals(&items[i - 1], &items[i]))
			continue;
		if (spare == 0 || !are_of_one_job(&items[i - 1], &items[i]))
			return fail_claim(err, &items[i - 1], &items[i]);
		spare--;
		disown(items, count, i);
	}
	qsort(items, count, sizeof(*items), compare_places);
	return TSCOPE_OK;
}

static void number_windows(struct run_item *items, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (are_windows(&items[i - 1], &items[i]))
			items[i].window = items[i - 1].window + 1;
}

/* Traces and step records: their ranks, then their windows. */
static enum tscope_status group_steps(struct run_item *items, size_t count, unsigned quorum_percent,
				      enum group_note *note, struct tscope_error *err)
{
	if (adopt(items, count, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (only_rank(items, count) == NO_RANK) {
		unsigned depth = greatest_depth(items, count);

		if (find_writers(items, count, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		if (is_concurrent(items, count, depth)) {
			number_by_writers(items, count, depth);
			*note = GROUP_NUMBERED;
		}
	}
	qsort(items, count, sizeof(*items), compare_places);
	mark_secondary(items, count);
	qsort(items, count, sizeof(*items), compare_places);
	enum tscope_status status = disown_claimed(items, count, quorum_percent, err);
	number_windows(items, count);
	return status;
}

/* The lowest rank that is said, or NO_RANK. */
static int64_t lowest_rank(const struct run_item *items, size_t count)
{
	int64_t lowest = NO_RANK;

	for (size_t i = 0; i < count; i++)
		if (items[i].rank >= 0 && (lowest == NO_RANK || items[i].rank < lowest))
			lowest = items[i].rank;
	return lowest;
}

/* Metrics alone: one that says no rank is of the only one of its folder, or of the lowest. */
static enum tscope_status group_metrics(struct run_item *items, size_t count,
					struct tscope_error *err)
{
	int64_t lowest = lowest_rank(items, count);

	if (adopt(items, count, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < count; i++) {
		items[i].is_stray = false;
		if (items[i].rank < 0)
			items[i].rank = lowest;
	}
	qsort(items, count, sizeof(*items), compare_places);
	return TSCOPE_OK;
}

/*
 * Folders may count the ranks of a node (node1/rank0): one that gives an item its rank counts for
 * less than what the leaders in it say of theirs.
 */
static void correct_rank(struct run_item *item, const struct said_ranks *leaders)
{
	struct str folder = tsi_rank_folder_of_path(item->path);

	if (folder.length == 0 || item->rank != tsi_rank_of_path(item->path))
		return;
	int64_t rank = said_in(leaders, folder).below;
	if (rank >= 0)
		item->rank = rank;
}

/*
 * The only rank that is said in the folder of an item or, where none is, in the nearest one above
 * it: 3/logs/m is of the rank of 3/traces/t.
 */
static int64_t rank_by_folder(const struct run_item *item, const struct said_ranks *said)
{
	struct str folder = folder_of(item->path);
	int64_t rank = said_in(said, folder).direct;

	for (; rank == NO_RANK && folder.length > 0; folder = tsi_folder_above(folder))
		rank = said_in(said, folder).below;
	return rank;
}

/* Gives an item its rank where several are said. Loggers write on the lowest. */
static void find_rank(struct run_item *item, const struct said_ranks *said)
{
	int64_t rank = rank_by_folder(item, said);

	if (rank >= 0)
		item->rank = rank;
	else if (item->kind == RUN_ITEM_METRICS)
		item->rank = said->lowest;
}

/*
 * Items that decide nothing, which stand behind `leader_count` others. Their own statements of
 * ranks go first, in a folder as in the run.
 */
static enum tscope_status group_followers(struct run_item *items, size_t leader_count, size_t count,
					  struct tscope_error *err)
{
	struct said_ranks said;
	enum tscope_status status =
		said_init(&said, items, leader_count ? leader_count : count, err);

	for (size_t i = leader_count; status == TSCOPE_OK && i < count; i++) {
		struct run_item *item = &items[i];

		if (item->rank >= 0 && leader_count > 0) {
			correct_rank(item, &said);
			item->is_apart =
				item->kind == RUN_ITEM_METRICS &&
				tsi_key_map_find(&said.ranks, (uint64_t)item->rank) == UINT32_MAX;
		} else if (item->rank < 0 && said.only == SEVERAL_RANKS) {
			find_rank(item, &said);
		} else if (item->rank < 0) {
			item->rank = said.only;
		}
	}
	said_deinit(&said);
	return status;
}

/* Where nobody else says a rank, the only one that such items say is that of all. */
static void adopt_from_followers(struct run_item *items, size_t leader_count, size_t count)
{
	int64_t rank = only_rank(items + leader_count, count - leader_count);

	if (rank < 0 || only_rank(items, leader_count) != NO_RANK)
		return;
	for (size_t i = 0; i < leader_count; i++)
		items[i].rank = rank;
}

/* Does an item decide nothing about ranks? Metrics decide where nothing else has steps. */
static bool is_follower(const struct run_item *item, bool has_steps)
{
	return item->kind == RUN_ITEM_MEMORY || (item->kind == RUN_ITEM_METRICS && has_steps);
}

/* Puts the items that decide something in front; returns how many there are. */
static size_t put_leaders_first(struct run_item *items, size_t count, bool has_steps)
{
	size_t leader_count = 0;

	for (size_t i = 0; i < count; i++) {
		struct run_item item = items[i];

		if (is_follower(&item, has_steps))
			continue;
		items[i] = items[leader_count];
		items[leader_count++] = item;
	}
	return leader_count;
}

enum tscope_status tsi_group_items(struct run_item *items, size_t count, unsigned quorum_percent,
				   enum group_note *note, struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;
	bool has_steps = false;

	*note = GROUP_AS_SAID;
	if (count == 0)
		return TSCOPE_OK;
	for (size_t i = 0; i < count; i++)
		has_steps |= items[i].kind == RUN_ITEM_STEPS || items[i].kind == RUN_ITEM_TRACE;
	size_t leader_count = put_leaders_first(items, count, has_steps);
	if (has_steps)
		status = group_steps(items, leader_count, quorum_percent, note, err);
	else if (leader_count > 0)
		status = group_metrics(items, leader_count, err);
	if (status != TSCOPE_OK)
		return status;
	adopt_from_followers(items, leader_count, count);
	if (group_followers(items, leader_count, count, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	qsort(items, count, sizeof(*items), compare_places);
	return status;
}
