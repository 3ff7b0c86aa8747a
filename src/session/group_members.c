/* SPDX-License-Identifier: MIT */
/* Gives the files that were read their places in the run; the others go to a list of their own. */
#include "session/run.h"

#include <inttypes.h>

#include "base/error.h"
#include "comm/latch.h"

static void add_other(struct run_members *members, const struct run_file *file, bool is_problem,
		      const char *reason)
{
	members->others[members->other_count++].shown = (struct tscope_run_other){
		.path = file->path,
		.reason = reason,
		.is_problem = is_problem || file->is_named,
		.is_named = file->is_named,
	};
}

/* Adds one that was to be read; the error is copied. */
static void add_failed(struct run_members *members, const struct run_file *file, bool is_problem,
		       const struct tscope_error *error, struct arena *arena)
{
	struct tscope_error *copy = tsi_arena_new(arena, 1, sizeof(*copy));

	if (!copy)
		return;
	*copy = *error;
	add_other(members, file, is_problem, copy->message);
	members->others[members->other_count - 1].error = copy;
}

/* A file of a folder that turns out to be something else, or to hold nothing, is no loss. */
static bool is_foreign(const struct run_file *file, enum tscope_status status)
{
	return status == TSCOPE_E_FORMAT || status == TSCOPE_E_UNSUPPORTED ||
	       (status == TSCOPE_E_EMPTY &&
		(file->kind == RUN_FILE_MEMORY || file->kind == RUN_FILE_METRICS));
}

/* Adds what became of a file. Fails where that was no fault of the file. */
static enum tscope_status add_source(struct run_members *members, const struct run_source *source,
				     struct arena *arena, struct tscope_error *err)
{
	const struct run_file *file = source->file;
	struct load *load = source->load;
	const struct tscope_error *error = source->refusal;

	if (file->kind == RUN_FILE_DUMP)
		return TSCOPE_OK; /* join_hang.c's */
	if (!load) {
		add_other(members, file, file->kind == RUN_FILE_REFUSED, file->reason);
		return TSCOPE_OK;
	}
	if (load->status == TSCOPE_E_NOMEM || load->status == TSCOPE_E_INTERNAL) {
		if (err)
			*err = load->error;
		return load->status;
	}
	if (!error && load->status != TSCOPE_OK)
		error = &load->error;
	if (error) {
		add_failed(members, file, !is_foreign(file, error->status), error, arena);
		if (members->other_count > 0 && load->loaded && load->loaded->is_capture) {
			struct tscope_run_other *other =
				&members->others[members->other_count - 1].shown;
			other->is_capture = true;
			other->is_problem = false;
		}
		return TSCOPE_OK;
	}
	members->loads[members->read_count] = load;
	members->loaded[members->read_count++] = load->loaded;
	return TSCOPE_OK;
}

/* ---- copies ---- */

/* A copy of a trace, compressed or not: it claims the same rank at the same time. */
static bool is_copy(const struct loaded *a, const struct loaded *b)
{
	return a->input.kind == TSCOPE_INPUT_TRACE && b->input.kind == TSCOPE_INPUT_TRACE &&
	       a->input.rank >= 0 && a->input.rank == b->input.rank && a->start_ns == b->start_ns &&
	       a->end_ns == b->end_ns && a->input.event_count == b->input.event_count;
}

/* Copies stand beside each other once sorted; the first of them stays. */
static void drop_copies(struct run_members *members, struct arena *arena)
{
	size_t count = members->read_count, kept = 0;
	struct sort_pair *pairs = tsi_arena_new(arena, count, sizeof(*pairs));
	const char **originals = tsi_arena_new(arena, count, sizeof(*originals));

	for (size_t i = 0; pairs && i < count; i++)
		pairs[i] = (struct sort_pair){
			tsi_sort_key_of_int64(members->loaded[i]->start_ns) * 1000003 +
				(uint64_t)members->loaded[i]->input.rank,
			i,
		};
	if (!pairs || !originals)
		return;
	tsi_latch_sort(arena, pairs, count);
	for (size_t i = 1; i < count; i++) {
		const struct loaded *before = members->loaded[pairs[i - 1].value];

		if (is_copy(before, members->loaded[pairs[i].value]))
			originals[pairs[i].value] = before->input.path;
	}
	for (size_t i = 0; i < count; i++) {
		if (originals[i]) {
			add_other(members, &members->loads[i]->file, false,
				  tsi_arena_print(arena, "a copy of %s", originals[i]));
			continue;
		}
		members->loads[kept] = members->loads[i];
		members->loaded[kept++] = members->loaded[i];
	}
	members->read_count = kept;
}

static const enum run_item_kind item_kinds[] = {
	[TSCOPE_INPUT_TRACE] = RUN_ITEM_TRACE,
	[TSCOPE_INPUT_STEPS] = RUN_ITEM_STEPS,
	[TSCOPE_INPUT_MEMORY] = RUN_ITEM_MEMORY,
	[TSCOPE_INPUT_METRICS] = RUN_ITEM_METRICS,
};

static void list_items(struct run_members *members)
{
	for (size_t i = 0; i < members->read_count; i++) {
		const struct loaded *loaded = members->loaded[i];

		members->items[i] = (struct run_item){
			.file = i,
			.path = loaded->input.path,
			.kind = item_kinds[loaded->input.kind],
			.rank = loaded->input.rank,
			.start_ns = loaded->start_ns,
			.end_ns = loaded->end_ns,
			.depth = tsi_depth_of(loaded),
		};
	}
}

static void add_claimed(struct run_members *members, const struct run_item *item,
			struct arena *arena)
{
	const struct run_file file = { .path = item->path };

	add_other(members, &file, true,
		  tsi_arena_print(arena, "rank %" PRId64 " is claimed by %.150s, too", item->rank,
				  item->rival));
	members->others[members->other_count - 1].shown.is_left_out = true;
}

/* Counts the items; strays go to the files that are in no figure. */
static void count_items(struct run_members *members, struct arena *arena)
{
	struct tscope_error error = { 0 };

	tsi_fail(&error, TSCOPE_E_DAMAGED,
		 "does not say its rank as the others do; put the rank into its name (rank3.json)");
	for (size_t i = 0; i < members->read_count; i++) {
		const struct run_item *item = &members->items[i];
		const struct run_file stray = { .path = item->path };

		if (item->rival)
			add_claimed(members, item, arena);
		else if (item->is_stray)
			add_failed(members, &stray, true, &error, arena);
		else
			members->item_count++;
		members->step_item_count +=
			!item->is_stray && !item->is_apart && item->kind != RUN_ITEM_MEMORY;
	}
}

enum tscope_status tsi_group_members(struct run_members *ret, const struct run_sources *sources,
				     unsigned quorum_percent, struct run_notes *notes,
				     struct tscope_error *err)
{
	struct arena *arena = notes->arena;
	enum group_note note;

	*ret = (struct run_members){
		.loaded = tsi_arena_new(arena, sources->count, sizeof(*ret->loaded)),
		.loads = tsi_arena_new(arena, sources->count, sizeof(*ret->loads)),
		.items = tsi_arena_new(arena, sources->count, sizeof(*ret->items)),
		.others = tsi_arena_new(arena, sources->count, sizeof(*ret->others)),
	};
	enum tscope_status status = tsi_arena_status(arena, err);
	for (size_t i = 0; status == TSCOPE_OK && i < sources->count; i++)
		status = add_source(ret, &sources->items[i], arena, err);
	if (status != TSCOPE_OK)
		return status;
	drop_copies(ret, arena);
	list_items(ret);
	status = tsi_arena_status(arena, err); /* a copy that stayed would claim its rank again */
	if (status == TSCOPE_OK)
		status = tsi_group_items(ret->items, ret->read_count, quorum_percent, &note, err);
	if (status != TSCOPE_OK)
		return status;
	count_items(ret, arena);
	if (note == GROUP_NUMBERED)
		tsi_run_note(notes, "no file says its rank: processes were numbered in the order "
				    "of their names");
	return tsi_arena_status(arena, err);
}

size_t tsi_end_of_rank(const struct run_members *members, size_t first)
{
	size_t end = first + 1;

	while (end < members->step_item_count &&
	       members->items[end].rank == members->items[first].rank)
		end++;
	return end;
}
