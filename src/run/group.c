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

#include "base/error.h"
#include "base/intern.h"
#include "run/find.h"

static struct str folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return (struct str){ path, slash ? (size_t)(slash - path) : 0 };
}

enum { NO_RANK = -1, SEVERAL_RANKS = -2 };

/* The only rank that is said, in one folder or anywhere (folder NULL), or one of the above. */
static int64_t only_rank(const struct run_item *items, size_t count, const struct str *folder)
{
	int64_t rank = NO_RANK;

	for (size_t i = 0; i < count; i++) {
		if (items[i].rank < 0 ||
		    (folder && !tsi_str_equal(folder_of(items[i].path), *folder)))
			continue;
		if (rank >= 0 && rank != items[i].rank)
			return SEVERAL_RANKS;
		rank = items[i].rank;
	}
	return rank;
}

/* Gives the items that say no rank the only one there is, in their folder or at all. */
static void adopt(struct run_item *items, size_t count)
{
	int64_t of_run = only_rank(items, count, NULL);

	for (size_t i = 0; i < count && of_run != NO_RANK; i++) {
		struct str folder = folder_of(items[i].path);
		int64_t of_folder;

		if (items[i].rank >= 0)
			continue;
		of_folder = only_rank(items, count, &folder);
		items[i].is_stray = of_folder < 0 && of_run < 0;
		if (!items[i].is_stray)
			items[i].rank = of_folder >= 0 ? of_folder : of_run;
	}
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

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

/*
 * Do traces of different processes run at the same time? In the order of their
 * starts that is one which starts before the latest end so far, of another process.
 */
static bool is_concurrent(struct run_item *items, size_t count)
{
	int64_t latest_end_ns = INT64_MIN;
	uint32_t latest = UINT32_MAX; /* the process that it is of */

	qsort(items, count, sizeof(*items), compare_starts);
	for (size_t i = 0; i < count; i++) {
		const struct run_item *item = &items[i];

		if (item->kind != RUN_ITEM_TRACE)
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

static void number_by_writers(struct run_item *items, size_t count)
{
	uint32_t lowest = UINT32_MAX;

	for (size_t i = 0; i < count; i++)
		lowest = items[i].writer < lowest ? items[i].writer : lowest;
	for (size_t i = 0; i < count; i++)
		items[i].rank = items[i].writer - lowest;
}

static bool is_memory(const struct run_item *item)
{
	return item->kind == RUN_ITEM_MEMORY;
}

static int compare_places(const void *left, const void *right)
{
	const struct run_item *a = left, *b = right;

	if (a->is_stray != b->is_stray)
		return a->is_stray ? 1 : -1;
	if (is_memory(a) != is_memory(b))
		return is_memory(a) ? 1 : -1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->kind == RUN_ITEM_TRACE && a->start_ns != b->start_ns)
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

static enum tscope_status number_windows(struct run_item *items, size_t count,
					 struct tscope_error *err)
{
	for (size_t i = 1; i < count; i++) {
		const struct run_item *before = &items[i - 1];

		if (items[i].is_stray || before->rank != items[i].rank ||
		    before->kind != items[i].kind)
			continue;
		if (items[i].kind == RUN_ITEM_STEPS || overlap(before, &items[i]))
			return fail_claim(err, before, &items[i]);
		items[i].window = before->window + 1;
	}
	return TSCOPE_OK;
}

/* Traces and step records: their ranks, then their windows. */
static enum tscope_status group_steps(struct run_item *items, size_t count, enum group_note *note,
				      struct tscope_error *err)
{
	adopt(items, count);
	if (only_rank(items, count, NULL) == NO_RANK) {
		if (find_writers(items, count, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		if (is_concurrent(items, count)) {
			number_by_writers(items, count);
			*note = GROUP_NUMBERED;
		}
	}
	qsort(items, count, sizeof(*items), compare_places);
	return number_windows(items, count, err);
}

/*
 * Files about memory, which stand behind `step_count` others. What these say of ranks goes
 * first, in a folder as in the run.
 */
static void group_memory(struct run_item *items, size_t step_count, size_t count)
{
	int64_t of_run = only_rank(items, step_count ? step_count : count, NULL);

	for (size_t i = step_count; i < count; i++) {
		struct str folder = folder_of(items[i].path);
		int64_t of_folder = only_rank(items, step_count ? step_count : count, &folder);

		if (items[i].rank >= 0)
			continue;
		if (of_folder >= 0)
			items[i].rank = of_folder;
		else if (of_run >= 0)
			items[i].rank = of_run;
	}
}

/* Where nobody else says a rank, the only one that files about memory say is that of all. */
static void adopt_from_memory(struct run_item *items, size_t step_count, size_t count)
{
	int64_t rank = only_rank(items + step_count, count - step_count, NULL);

	if (rank < 0 || only_rank(items, step_count, NULL) != NO_RANK)
		return;
	for (size_t i = 0; i < step_count; i++)
		items[i].rank = rank;
}

static int compare_kinds(const void *left, const void *right)
{
	const struct run_item *a = left, *b = right;

	return is_memory(a) - is_memory(b);
}

enum tscope_status tsi_group_items(struct run_item *items, size_t count, enum group_note *note,
				   struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;
	size_t step_count = 0;

	*note = GROUP_AS_SAID;
	if (count == 0)
		return TSCOPE_OK;
	for (size_t i = 0; i < count; i++)
		step_count += !is_memory(&items[i]);
	qsort(items, count, sizeof(*items), compare_kinds);
	if (step_count > 0)
		status = group_steps(items, step_count, note, err);
	if (status == TSCOPE_OK)
		adopt_from_memory(items, step_count, count);
	group_memory(items, step_count, count);
	qsort(items, count, sizeof(*items), compare_places);
	return status;
}
