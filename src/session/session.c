/* SPDX-License-Identifier: MIT */
/*
 * Which files were read. Files that turn out to be of several runs are read before that is known:
 * each run takes what it needs from here.
 */
#include "session/session.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/print_text.h"
#include "input/members.h"

enum { NOTE_CHARS = 1024 }; /* has a path in it, and words */

/* The readings of a file: of all of it and, where Composer merged ranks, of each rank. */
struct reading {
	struct load whole;
	struct load *ranks; /* by index in the merged ranks; NULL: it is of one */
	struct rank_filter *filters;
};

/* Frees what was read, but for what a run took. */
static void forget(struct reading *reading)
{
	for (size_t i = 0; reading->ranks && i < reading->whole.loaded->merged.rank_count; i++)
		tsi_loaded_free(reading->ranks[i].loaded);
	tsi_loaded_free(reading->whole.loaded);
	*reading = (struct reading){ 0 };
}

void tsi_session_deinit(struct session *session)
{
	for (size_t i = 0; session->readings && i < session->found.count; i++)
		if (session->readings[i])
			forget(session->readings[i]);
	tsi_member_lists_free(session->lists);
	session->lists = NULL;
	tsi_arena_deinit(&session->arena);
	tsi_members_free(session->members);
	session->members = session->found.members = NULL;
}

static void keep_source(struct session *session, const char *path)
{
	struct run_paths *sources = &session->sources;
	const char **source = tsi_arena_push(&session->found.arena, &sources->items,
					     &sources->count, &sources->capacity, sizeof(*source));

	if (source)
		*source = path;
}

/* The archive in place of its members, once for those that stand together. */
static void keep_file(struct session *session, const char *path)
{
	const struct run_paths *sources = &session->sources;
	const struct member *member = tsi_members_find(session->members, path);

	if (!member)
		keep_source(session, path);
	else if (sources->count == 0 ||
		 strcmp(sources->items[sources->count - 1], member->archive_path) != 0)
		keep_source(session, tsi_arena_copy(&session->found.arena,
						    tsi_str_of(member->archive_path)));
}

void tsi_session_keep_sources(struct session *session)
{
	for (size_t i = 0; i < session->found.count; i++) {
		const struct run_file *file = &session->found.items[i];

		if (file->kind != RUN_FILE_IGNORED)
			keep_file(session, file->path);
		if (file->run_json)
			keep_file(session, file->run_json);
	}
}

void tsi_run_note(struct run_notes *notes, const char *format, ...)
{
	char text[NOTE_CHARS];
	va_list arguments;

	va_start(arguments, format);
	tsi_vprint_text(text, sizeof(text), format, arguments);
	va_end(arguments);
	const char **note = tsi_arena_push(notes->arena, &notes->items, &notes->count,
					   &notes->capacity, sizeof(*note));
	if (note)
		*note = tsi_arena_copy(notes->arena, tsi_str_of(text));
}

/* ---- reading ---- */

static bool is_candidate(const struct run_file *file)
{
	return file->kind == RUN_FILE_TRACE || file->kind == RUN_FILE_STEPS ||
	       file->kind == RUN_FILE_MEMORY || file->kind == RUN_FILE_METRICS;
}

/* The place of a file's reading; NULL without memory. */
static struct reading *reading_of(struct session *session, const struct run_file *file)
{
	if (!session->readings)
		session->readings = tsi_arena_new(&session->arena, session->found.count,
						  sizeof(struct reading *));
	if (!session->readings)
		return NULL;
	struct reading **place = &session->readings[file->id];
	if (!*place)
		*place = tsi_arena_new(&session->arena, 1, sizeof(**place));
	return *place;
}

/* The batches of a trace follow from its neighbours, which differ from run to run. */
static bool is_read(const struct load *load, const struct run_file *file)
{
	return load->file.path && load->file.first_batch == file->first_batch &&
	       load->file.batch_count == file->batch_count;
}

static bool has_several_traces(const struct run_files *files)
{
	size_t count = 0;

	for (size_t i = 0; i < files->count && count < 2; i++)
		count += files->items[i].kind == RUN_FILE_TRACE;
	return count >= 2;
}

enum tscope_status tsi_session_read(struct run_sources *ret, struct session *session,
				    const struct run_files *files, struct tscope_error *err)
{
	struct arena *arena = &session->arena;
	struct load **wanted = tsi_arena_new(arena, files->count, sizeof(struct load *));
	bool keeps_log = has_several_traces(files);
	bool stays_open =
		session->options->analysis.on_demand && !has_several_traces(&session->found);
	size_t wanted_count = 0;

	*ret = (struct run_sources){ 0 };
	if (keeps_log && !session->lists && tsi_member_lists_new(&session->lists, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; wanted && i < files->count; i++) {
		const struct run_file *file = &files->items[i];
		struct run_source *source = tsi_arena_push(arena, &ret->items, &ret->count,
							   &ret->capacity, sizeof(*source));
		struct reading *reading =
			source && is_candidate(file) ? reading_of(session, file) : NULL;

		if (source)
			source->file = file;
		if (!reading)
			continue;
		source->load = &reading->whole;
		if (is_read(&reading->whole, file))
			continue;
		forget(reading);
		reading->whole = (struct load){
			.file = *file,
			.keeps_log = keeps_log,
			.stays_open = stays_open,
			.lists = session->lists,
		};
		wanted[wanted_count++] = &reading->whole;
	}
	enum tscope_status status = tsi_arena_status(arena, err);
	return status == TSCOPE_OK ? tsi_load_files(wanted, wanted_count, session->options, err)
				   : status;
}

struct load *tsi_session_rank(struct session *session, const struct run_file *file, size_t rank)
{
	struct reading *reading = session->readings[file->id];
	const struct merged_ranks *merged = &reading->whole.loaded->merged;

	if (!reading->filters)
		reading->filters = tsi_arena_new(&session->arena, merged->rank_count,
						 sizeof(*reading->filters));
	if (!reading->ranks && reading->filters)
		reading->ranks =
			tsi_arena_new(&session->arena, merged->rank_count, sizeof(*reading->ranks));
	if (!reading->ranks)
		return NULL;
	struct load *load = &reading->ranks[rank];
	if (!load->file.path) {
		reading->filters[rank] = (struct rank_filter){ merged, merged->ranks[rank] };
		load->only = &reading->filters[rank];
		load->keeps_log = true;
		load->lists = session->lists;
	}
	return load;
}
