/* SPDX-License-Identifier: MIT */
/*
 * Merged traces: the events of several ranks are in one file, and no figure of all of them means
 * anything. Such a file is read once for each rank, but not for ranks whose own traces of that time
 * were read, too: Composer and SGLang leave both in one folder.
 */
#include "session/session.h"

#include <string.h>

#include "base/error.h"
#include "base/rank_text.h"
#include "run/file_name.h"

enum { MERGED_MAX_RANKS = 256 };

/* A rank of a merged file that is to be read by itself. */
struct part {
	size_t source;
	struct load *load;
};

struct parts {
	struct part *items;
	size_t count, capacity;
};

static const struct merged_ranks *merged_of(const struct run_source *source)
{
	const struct load *load = source->load;

	return load && load->loaded && load->loaded->merged.rank_count >= 2 ? &load->loaded->merged
									    : NULL;
}

/* ---- which ranks to read ---- */

/* Is it a trace of one rank that overlaps the merged one in time? */
static bool is_own_trace(const struct run_source *source, const struct loaded *whole)
{
	const struct loaded *other = source->load ? source->load->loaded : NULL;

	return other && !merged_of(source) && other->input.kind == TSCOPE_INPUT_TRACE &&
	       other->start_ns < whole->end_ns && whole->start_ns < other->end_ns;
}

static bool has_own_trace(const struct run_sources *sources, const struct loaded *whole,
			  int64_t rank)
{
	for (size_t i = 0; i < sources->count; i++)
		if (is_own_trace(&sources->items[i], whole) &&
		    sources->items[i].load->loaded->input.rank == rank)
			return true;
	return false;
}

/*
 * Ranks of replicas were counted through, but in their own traces begin at 0 in each. SGLang merges
 * all that it leaves in the folder, of which a run has one replica's.
 */
static bool is_beside_replicas(const struct run_sources *sources, const struct run_source *source)
{
	const struct loaded *whole = source->load->loaded;
	struct str folder = tsi_folder_of(source->file->path);

	for (size_t i = 0; whole->merged.is_counted && i < sources->count; i++)
		if (is_own_trace(&sources->items[i], whole) &&
		    tsi_str_equal(tsi_folder_of(sources->items[i].file->path), folder))
			return true;
	return false;
}

/* Each part is a reading of the whole file. False: so it cannot be read, and why is filled. */
static bool can_be_read(const struct run_source *source, const struct merged_ranks *merged,
			struct tscope_error *why)
{
	if (merged->rank_count > MERGED_MAX_RANKS)
		tsi_fail(why, TSCOPE_E_LIMIT,
			 "merged from the traces of %zu ranks, more than %d; read "
			 "the ranks' own files",
			 merged->rank_count, MERGED_MAX_RANKS);
	else if (strcmp(source->file->path, "-") == 0 && !source->file->saved)
		tsi_fail(why, TSCOPE_E_UNSUPPORTED,
			 "merged from the traces of %zu ranks, for each of which it "
			 "has to be read; give a file",
			 merged->rank_count);
	else
		return true;
	return false;
}

/* Nothing of it is left to read: it goes to the files that are in no figure. */
static void fail_all_read(const struct merged_ranks *merged, struct tscope_error *why)
{
	struct rank_text ranks = { .text = "" };

	for (size_t i = 0; i < merged->rank_count; i++)
		tsi_rank_text_add(&ranks, merged->ranks[i]);
	tsi_rank_text_end(&ranks);
	tsi_fail(why, TSCOPE_E_UNSUPPORTED,
		 "merged from the traces of ranks %.100s, which were read", ranks.text);
}

/* Adds the parts of a source, or says why there are none. */
static void plan_source(struct parts *parts, struct run_sources *sources, size_t index,
			struct session *session)
{
	struct run_source *source = &sources->items[index];
	const struct merged_ranks *merged = merged_of(source);
	struct tscope_error *why = tsi_arena_new(&session->arena, 1, sizeof(*why));
	size_t before = parts->count;

	if (!why)
		return;
	source->refusal = why;
	if (!can_be_read(source, merged, why))
		return;
	bool is_read = is_beside_replicas(sources, source);
	for (size_t i = 0; !is_read && i < merged->rank_count; i++) {
		struct part *part;

		if (has_own_trace(sources, source->load->loaded, merged->ranks[i]))
			continue;
		part = tsi_arena_push(&session->arena, &parts->items, &parts->count,
				      &parts->capacity, sizeof(*part));
		if (part)
			*part = (struct part){ index, tsi_session_rank(session, source->file, i) };
	}
	if (parts->count == before)
		fail_all_read(merged, why);
	else
		source->refusal = NULL;
}

/* ---- reading ---- */

static enum tscope_status load_parts(const struct parts *parts, const struct run_sources *sources,
				     struct session *session, struct tscope_error *err)
{
	struct load **wanted = tsi_arena_new(&session->arena, parts->count, sizeof(struct load *));
	size_t count = 0;

	if (!wanted)
		return tsi_arena_status(&session->arena, err);
	for (size_t i = 0; i < parts->count; i++) {
		struct load *load = parts->items[i].load;

		if (load->file.path)
			continue; /* for another run */
		load->file = *sources->items[parts->items[i].source].file;
		wanted[count++] = load;
	}
	return tsi_load_files(wanted, count, session->options, err);
}

/* The first part of a file takes its place, the others stand behind all files. */
static void place_parts(struct run_sources *sources, const struct parts *parts, struct arena *arena)
{
	size_t last = SIZE_MAX;

	for (size_t i = 0; i < parts->count; i++) {
		const struct part *part = &parts->items[i];
		struct run_source *place = &sources->items[part->source];

		if (part->source == last)
			place = tsi_arena_push(arena, &sources->items, &sources->count,
					       &sources->capacity, sizeof(*place));
		if (!place)
			return;
		*place = (struct run_source){ .file = sources->items[part->source].file,
					      .load = part->load };
		last = part->source;
	}
}

/* Composer's merger assigns all ranks of an earlier recording to the lowest rank. */
static void note_mixed(const struct run_source *source, struct run_notes *notes)
{
	if (merged_of(source)->is_mixed)
		tsi_run_note(notes,
			     "%s: the merger mixed ranks of several recordings; spans of "
			     "Composer were separated, events of torch were not: read the "
			     "ranks' own files",
			     source->file->path);
}

enum tscope_status tsi_split_merged(struct run_sources *sources, struct session *session,
				    struct run_notes *notes, struct tscope_error *err)
{
	struct parts parts = { 0 };

	for (size_t i = 0; i < sources->count; i++) {
		if (!merged_of(&sources->items[i]))
			continue;
		plan_source(&parts, sources, i, session);
		note_mixed(&sources->items[i], notes);
	}
	enum tscope_status status = tsi_arena_status(&session->arena, err);
	if (status == TSCOPE_OK && parts.count > 0)
		status = load_parts(&parts, sources, session, err);
	if (status == TSCOPE_OK)
		place_parts(sources, &parts, &session->arena);
	return status == TSCOPE_OK ? tsi_arena_status(&session->arena, err) : status;
}
