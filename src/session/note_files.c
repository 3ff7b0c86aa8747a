/* SPDX-License-Identifier: MIT */
/* Notes on files that a run has and does not show: they would be missed. */
#include "session/run.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/print_text.h"

enum { RANKS_NAMED = 8, FILES_NAMED = 3 };

/* A joined run. Files about memory stand behind the items that its steps are made of. */
struct view {
	const struct run_members *members;
	const struct run_ranks *ranks;
	struct run_notes *notes;
};

/* " (ranks 0, 1, 2 …)": those of the snapshots that failed, ascending as the items do; or "". */
static void list_failed_ranks(const struct run_members *members, char *text, size_t size)
{
	char numbers[RANKS_NAMED * 22] = "";
	size_t count = 0;
	int64_t last = -1;

	for (size_t i = members->step_item_count; i < members->item_count; i++) {
		if (members->items[i].rank <= last ||
		    !tsi_has_failed_request(tsi_member(members, i)))
			continue;
		last = members->items[i].rank;
		if (count++ < RANKS_NAMED)
			tsi_join_text(numbers, sizeof(numbers), ", ", "%" PRId64, last);
	}
	*text = '\0';
	if (count > 0)
		snprintf(text, size, " (rank%s %s%s)", count == 1 ? "" : "s", numbers,
			 count > RANKS_NAMED ? " …" : "");
}

/* Each rank of a job fails when one does: the report shows one of the snapshots. */
static void note_failed(const struct view *view)
{
	const struct run_members *members = view->members;
	const struct tscope_analysis *speaker = view->ranks->memory.by_kind[TSCOPE_MEMORY_SNAPSHOT];
	const char *path = NULL;
	char ranks[RANKS_NAMED * 22 + 16];
	size_t count = 0;

	for (size_t i = members->step_item_count; i < members->item_count; i++) {
		const struct loaded *loaded = tsi_member(members, i);

		count += tsi_has_failed_request(loaded);
		if (speaker && loaded->analysis == speaker)
			path = loaded->input.path;
	}
	if (count < 2 || !path)
		return;
	list_failed_ranks(members, ranks, sizeof(ranks));
	tsi_run_note(view->notes, "%zu snapshots have a failed request%s; the report shows %s",
		     count, ranks, path);
}

/* Is it of a rank that has neither a trace nor step records, in a run that has some? */
static bool lacks_steps(const struct view *view, size_t item)
{
	int64_t rank = view->members->items[item].rank;

	if (rank < 0 || view->members->step_item_count == 0)
		return false;
	for (size_t i = 0; i < view->ranks->count; i++)
		if (view->ranks->series[i].rank == rank)
			return false;
	return true;
}

/* Such a file may speak for the run all the same; then the report shows it. */
static void note_file(const struct view *view, size_t item)
{
	const struct loaded *loaded = tsi_member(view->members, item);
	const char *remedy = "; tscope memory shows it";

	if (view->members->items[item].kind == RUN_ITEM_METRICS)
		remedy = ": its metrics are in no figure";
	else if (view->ranks->memory.by_kind[loaded->memory_kind] == loaded->analysis)
		remedy = "";
	tsi_run_note(view->notes,
		     "%s is of rank %" PRId64
		     ", of which there is neither a trace nor step records%s",
		     loaded->input.path, view->members->items[item].rank, remedy);
}

/* many: what is said of more than a few; what they are, and what becomes of them. */
static void note_without_steps(const struct view *view, enum run_item_kind kind,
			       const char *const many[2])
{
	const struct run_members *members = view->members;
	size_t count = 0;

	for (size_t i = members->step_item_count; i < members->item_count; i++)
		count += members->items[i].kind == kind && lacks_steps(view, i);
	if (count > FILES_NAMED) {
		tsi_run_note(view->notes,
			     "%zu %s are of ranks of which there are neither traces nor "
			     "step records%s",
			     count, many[0], many[1]);
		return;
	}
	for (size_t i = members->step_item_count; i < members->item_count; i++)
		if (members->items[i].kind == kind && lacks_steps(view, i))
			note_file(view, i);
}

void tsi_note_files(const struct run_members *members, const struct run_ranks *ranks,
		    struct run_notes *notes)
{
	static const char *const memory_formats[] = { "files about memory",
						      "; tscope memory shows them" };
	static const char *const metrics_formats[] = { "files of metrics",
						       ": they are in no figure" };
	const struct view view = { members, ranks, notes };

	note_failed(&view);
	note_without_steps(&view, RUN_ITEM_MEMORY, memory_formats);
	note_without_steps(&view, RUN_ITEM_METRICS, metrics_formats);
}
