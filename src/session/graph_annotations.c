/* SPDX-License-Identifier: MIT */
#include "session/graph_annotations.h"

#include "decode/plain/plain_reader.h"
#include "input/members.h"
#include "run/file_name.h"
#include "run/find.h"
#include "run/folder.h"
#include "session/open_trace.h"

#define PREFIX "kernel_annotations_rank"

enum { MAX_CANDIDATES = 4096 };

/* The number that a text begins with, or -1. */
static int64_t leading_number(struct str text)
{
	size_t digits = tsi_count_digits(text);
	int64_t number;

	return tsi_str_to_int64((struct str){ text.data, digits }, &number) ? number : -1;
}

/* torchtitan writes "000003.1718.pt.trace.json.gz". */
static int64_t rank_of_trace(const char *path)
{
	int64_t rank = tsi_rank_of_path(path);
	const char *base = tsi_base_name(path);

	return rank >= 0 || !strstr(base, ".pt.trace.json") ? rank
							    : leading_number(tsi_str_of(base));
}

static bool is_annotations(const struct folder_entry *entry)
{
	struct str name = tsi_str_of(tsi_base_name(entry->path));

	return tsi_may_be_file(entry) &&
	       (tsi_name_ends(name, TSI_STR(".json")) || tsi_name_ends(name, TSI_STR(".pkl")));
}

static int64_t rank_of(const struct folder_entry *entry)
{
	return leading_number(tsi_str_of(tsi_base_name(entry->path) + sizeof(PREFIX) - 1));
}

/* In the order of names, where .json comes before .pkl. NULL: none, or of several ranks. */
static const char *choose(const struct folder *folder, int64_t rank)
{
	const struct folder_entry *found = NULL;

	for (size_t i = 0; i < folder->count; i++) {
		const struct folder_entry *entry = &folder->items[i];
		if (!is_annotations(entry) || (rank >= 0 && rank_of(entry) != rank))
			continue;
		if (found && rank_of(found) != rank_of(entry))
			return NULL;
		found = found ? found : entry;
	}
	return found ? found->path : NULL;
}

static enum tscope_status read_file(struct node_modules *modules, const char *path,
				    const struct tscope_trace_options *options,
				    struct tscope_error *err)
{
	struct input_options input_options = tsi_input_options_of(options);
	struct plain *plain = NULL;
	const char *form;
	struct input *in = NULL;
	enum tscope_status status = tsi_input_open_file(&in, path, &input_options, err);

	if (status != TSCOPE_OK)
		return status;
	status = tsi_plain_read(&plain, &form, in, NULL, err);
	tsi_input_close(in);
	return status == TSCOPE_OK ? tsi_node_modules_init(modules, plain, err) : status;
}

/* The folder of a trace, or the one around it: in an archive by its name, without "..". */
static const char *path_beside(struct arena *arena, struct str trace_folder, bool is_above,
			       const struct tscope_members *members)
{
	struct str folder = tsi_folder_above(trace_folder);
	const char *path = tsi_arena_copy(arena, folder);

	if (!members || !tsi_members_find(members, path))
		return tsi_arena_print(arena, "%.*s%s", (int)trace_folder.length, trace_folder.data,
				       is_above ? "../" : "");
	return is_above ? tsi_arena_copy(arena, tsi_folder_above(folder)) : path;
}

/* above: the folder is "..", or the one around that of the trace. */
static enum tscope_status read_beside(struct node_modules *modules, struct str trace_folder,
				      bool is_above, int64_t rank,
				      const struct tscope_trace_options *options,
				      struct tscope_error *err)
{
	struct folder folder = { 0 };
	struct arena arena = { 0 };
	struct folder_query query = {
		.path = path_beside(&arena, trace_folder, is_above, options->members),
		.prefix = TSI_STR(PREFIX),
		.max_count = MAX_CANDIDATES,
		.members = options->members,
	};
	enum tscope_status status = TSCOPE_OK;

	/* A folder that cannot be read has nothing for us. */
	if (!arena.has_failed && tsi_folder_read(&folder, &query, NULL) == TSCOPE_OK) {
		const char *path = choose(&folder, rank);
		if (path)
			status = read_file(modules, path, options, err);
	}
	tsi_arena_deinit(&folder.arena);
	tsi_arena_deinit(&arena);
	return status;
}

enum tscope_status tsi_graph_annotations_read(struct node_modules *modules, const char *trace_path,
					      const struct tscope_trace_options *options,
					      struct tscope_error *err)
{
	int64_t rank = rank_of_trace(trace_path);
	struct str folder = tsi_folder_of(trace_path);
	enum tscope_status status = TSCOPE_OK;

	for (int i = 0; i < 2 && status == TSCOPE_OK && !modules->plain; i++)
		status = read_beside(modules, folder, i == 1, rank, options, err);
	return status;
}
