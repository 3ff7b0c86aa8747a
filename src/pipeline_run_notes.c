/* SPDX-License-Identifier: MIT */
/* Remarks on files that a run has and does not show: they would be missed. */
#include "pipeline_run.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"

enum { RANKS_NAMED = 8, STRANGERS_NAMED = 3 };

/* What stands at this place of the run's items, behind those that its steps are made of. */
static const struct loaded *file_at(const struct tscope_run *run, size_t item)
{
	return &run->loaded[run->items[item].file];
}

/* " (ranks 0, 1, 2 …)": those of the snapshots that failed, ascending as the items do; or "". */
static void list_failed_ranks(const struct tscope_run *run, char *text, size_t size)
{
	char numbers[RANKS_NAMED * 22] = "";
	size_t count = 0, used = 0;
	int64_t last = -1;

	for (size_t i = run->step_item_count; i < run->item_count; i++) {
		if (run->items[i].rank <= last || !tsi_has_failed_request(file_at(run, i)))
			continue;
		last = run->items[i].rank;
		if (count++ < RANKS_NAMED)
			used += (size_t)snprintf(numbers + used, sizeof(numbers) - used,
						 "%s%" PRId64, used ? ", " : "", last);
	}
	*text = '\0';
	if (count > 0)
		snprintf(text, size, " (rank%s %s%s)", count == 1 ? "" : "s", numbers,
			 count > RANKS_NAMED ? " …" : "");
}

/* Each rank of a job fails when one does: the report shows one of the snapshots. */
static enum tscope_status note_failed(struct tscope_run *run, struct tscope_error *err)
{
	const struct tscope_analysis *speaker = run->memory.by_kind[TSCOPE_MEMORY_SNAPSHOT];
	const char *path = NULL;
	char ranks[RANKS_NAMED * 22 + 16];
	size_t count = 0;

	for (size_t i = run->step_item_count; i < run->item_count; i++) {
		const struct loaded *loaded = file_at(run, i);

		count += tsi_has_failed_request(loaded);
		if (speaker && loaded->analysis == speaker)
			path = loaded->input.path;
	}
	if (count < 2 || !path)
		return TSCOPE_OK;
	list_failed_ranks(run, ranks, sizeof(ranks));
	return tsi_run_add_note(run, err,
				"%zu snapshots have a failed request%s; the report shows %s", count,
				ranks, path);
}

/* Is it of a rank that the run, which has steps, does not have? */
static bool is_stranger(const struct tscope_run *run, size_t item)
{
	int64_t rank = run->items[item].rank;

	if (rank < 0 || run->step_item_count == 0)
		return false;
	for (size_t i = 0; i < run->rank_count; i++)
		if (run->series[i].rank == rank)
			return false;
	return true;
}

/* A stranger may speak for the run all the same; then the report shows it. */
static enum tscope_status note_stranger(struct tscope_run *run, size_t item,
					struct tscope_error *err)
{
	const struct loaded *loaded = file_at(run, item);
	const char *remedy = "; tscope memory shows it";

	if (run->items[item].kind == RUN_ITEM_METRICS)
		remedy = ": its metrics are in no figure";
	else if (run->memory.by_kind[loaded->memory_kind] == loaded->analysis)
		remedy = "";
	return tsi_run_add_note(run, err,
				"%s is of rank %" PRId64
				", of which there is neither a trace nor step records%s",
				loaded->input.path, run->items[item].rank, remedy);
}

/* many: what is said of more than a few; what they are, and what becomes of them. */
static enum tscope_status note_strangers(struct tscope_run *run, enum run_item_kind kind,
					 const char *const many[2], struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;
	size_t count = 0;

	for (size_t i = run->step_item_count; i < run->item_count; i++)
		count += run->items[i].kind == kind && is_stranger(run, i);
	if (count > STRANGERS_NAMED)
		return tsi_run_add_note(run, err,
					"%zu %s are of ranks of which there are neither traces nor "
					"step records%s",
					count, many[0], many[1]);
	for (size_t i = run->step_item_count; status == TSCOPE_OK && i < run->item_count; i++)
		if (run->items[i].kind == kind && is_stranger(run, i))
			status = note_stranger(run, i, err);
	return status;
}

enum tscope_status tsi_run_note_files(struct tscope_run *run, struct tscope_error *err)
{
	static const char *const of_memory[] = { "files about memory",
						 "; tscope memory shows them" };
	static const char *const of_metrics[] = { "files of metrics", ": they are in no figure" };
	enum tscope_status status = note_failed(run, err);

	if (status == TSCOPE_OK)
		status = note_strangers(run, RUN_ITEM_MEMORY, of_memory, err);
	if (status == TSCOPE_OK)
		status = note_strangers(run, RUN_ITEM_METRICS, of_metrics, err);
	return status;
}
