/* SPDX-License-Identifier: MIT */
/*
 * From the paths that somebody gives to the files that may be of a run: walks through
 * folders (folder.c) and tastes what lies there (taste.c).
 */
#include "run/find.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "input/member_name.h"
#include "input/members.h"
#include "run/file_name.h"
#include "run/folder.h"
#include "run/metrics.h"
#include "run/settle.h"
#include "run/taste.h"

struct finder {
	struct run_files *files;
	size_t seen_count, max_count; /* entries of folders */
};

/* A folder that is being searched, within those above it. */
struct level {
	const struct level *above; /* NULL: the folder that was given */
	unsigned depth;            /* 0 there */
	dev_t device;
	ino_t inode;
};

/* Appends a file, for the caller to judge; NULL without memory. */
static struct run_file *add_file(struct finder *finder, const char *path, bool is_named)
{
	struct run_files *files = finder->files;
	struct run_file *file = tsi_arena_push(&files->arena, &files->items, &files->count,
					       &files->capacity, sizeof(*file));

	if (!file)
		return NULL;
	file->path = tsi_arena_copy(&files->arena, tsi_str_of(path));
	file->name_rank = tsi_rank_of_path(path);
	file->is_named = is_named;
	return file;
}

static void add_left_out(struct finder *finder, const char *path, enum run_file_kind kind,
			 const char *reason)
{
	struct run_file *file = add_file(finder, path, false);

	if (file)
		tsi_run_leave_out(file, kind, reason, &finder->files->arena);
}

/* An unreadable file cannot be identified. */
static void add_unread(struct finder *finder, const char *path, const struct tscope_error *why)
{
	struct run_file *file = add_file(finder, path, false);
	struct tscope_error *unread = tsi_arena_new(&finder->files->arena, 1, sizeof(*unread));

	if (!file || !unread)
		return;
	*unread = *why;
	file->unread = unread;
	tsi_run_leave_out(file, RUN_FILE_REFUSED, why->message, &finder->files->arena);
}

/* A file that was given cannot be read: reading it says why. */
static void add_unread_named(struct finder *finder, const char *path,
			     const struct tscope_error *why)
{
	struct run_file *file = add_file(finder, path, true);
	struct tscope_error *unread = tsi_arena_new(&finder->files->arena, 1, sizeof(*unread));

	if (!file || !unread)
		return;
	*unread = *why;
	file->unread = unread;
}

/* ---- what one file is ---- */

static void attach_run_json(struct run_file *steps, const struct tscope_members *members,
			    struct arena *arena)
{
	const char *path = tsi_path_join(arena, tsi_folder_of(steps->path), TSI_STR("run.json"));
	struct stat found;

	if (tsi_members_stat(members, path, &found) == 0 ? S_ISREG(found.st_mode)
							 : tsi_may_be_there(members, path))
		steps->run_json = path;
}

/* Returns whether it is an archive, which is not added. */
static bool add_tasted(struct finder *finder, const char *path, bool is_named)
{
	struct run_files *files = finder->files;
	struct run_file *file = add_file(finder, path, is_named);

	if (!file)
		return false;
	tsi_run_taste(file, files->members, &files->arena);
	if (file->kind == RUN_FILE_STEPS)
		attach_run_json(file, files->members, &files->arena);
	if (file->kind != RUN_FILE_ARCHIVE)
		return false;
	files->count--;
	return true;
}

/* An entry of a folder that is no folder itself. */
static void add_entry(struct finder *finder, const struct folder_entry *entry)
{
	struct tscope_error why;

	if (entry->problem) {
		add_left_out(finder, entry->path,
			     entry->is_ignored ? RUN_FILE_IGNORED : RUN_FILE_REFUSED,
			     entry->problem);
	} else if (entry->error) {
		tsi_fail(&why, TSCOPE_E_IO, "cannot open: %s", strerror(entry->error));
		add_unread(finder, entry->path, &why);
	} else if (!S_ISREG(entry->stat.st_mode)) {
		add_left_out(finder, entry->path, RUN_FILE_IGNORED, "not a regular file");
	} else {
		(void)add_tasted(finder, entry->path, false);
	}
}

/* ---- folders ---- */

/* A store of metrics that is a folder counts as one file. */
static void add_store(struct finder *finder, const char *path, bool is_named,
		      const struct metric_source *source)
{
	struct run_file *file = add_file(finder, path, is_named);

	if (!file)
		return;
	file->kind = RUN_FILE_METRICS;
	file->metrics = source;
}

/* The store among these folders, or NULL. */
static enum tscope_status find_store(const struct finder *finder, const struct folder *folder,
				     const struct metric_source **source, size_t *index,
				     struct tscope_error *err)
{
	*source = NULL;
	for (size_t i = 0; i < folder->count && !*source; i++) {
		if (!tsi_is_folder(&folder->items[i]))
			continue;
		*index = i;
		if (tsi_metric_source_of_folder(source, folder->items[i].path,
						finder->files->members, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	}
	return TSCOPE_OK;
}

/* Does a folder beside a store belong to it? */
static bool belongs_to_store(const struct metric_source *source, const char *path)
{
	for (const char *const *name = source->beside; *name; name++)
		if (strcmp(tsi_base_name(path), *name) == 0)
			return true;
	return false;
}

static void add_files(struct finder *finder, const struct folder *folder)
{
	struct run_files *files = finder->files;
	size_t first = files->count;

	for (size_t i = 0; i < folder->count; i++)
		if (!tsi_is_folder(&folder->items[i]))
			add_entry(finder, &folder->items[i]);
	if (files->count > first)
		files->count = first + tsi_settle_folder(files->items + first, files->count - first,
							 &files->arena);
}

static enum tscope_status search_below(struct finder *finder, const struct folder_entry *entry,
				       const struct level *above, struct tscope_error *err);

/* "rank3" or "rank_3": not what a name may say besides. */
static bool is_of_rank(const char *path)
{
	const char *name = tsi_base_name(path);
	const char *number = name + 4 + (strncmp(name, "rank_", 5) == 0);

	return strncmp(name, "rank", 4) == 0 && *number != '\0' &&
	       number[strspn(number, "0123456789")] == '\0';
}

static bool holds_steps(const struct run_files *files, size_t first)
{
	for (size_t i = first; i < files->count; i++)
		if (files->items[i].kind == RUN_FILE_STEPS ||
		    files->items[i].kind == RUN_FILE_TRACE)
			return true;
	return false;
}

static bool holds_any(const struct run_files *files, size_t first)
{
	for (size_t i = first; i < files->count; i++)
		if (files->items[i].kind != RUN_FILE_IGNORED)
			return true;
	return false;
}

/* Folders of ranks side by side, of which some have steps: a rank without a file is missing. */
struct rank_folders {
	const char *empty[8]; /* so many are named */
	size_t empty_count;
	bool have_steps;
};

static void note_rank_folder(struct rank_folders *ranks, const struct finder *finder,
			     const char *path, size_t first)
{
	if (!is_of_rank(path))
		return;
	ranks->have_steps |= holds_steps(finder->files, first);
	if (!holds_any(finder->files, first) && ranks->empty_count < TSI_COUNT_OF(ranks->empty))
		ranks->empty[ranks->empty_count++] = path;
}

static enum tscope_status search_folders(struct finder *finder, const struct folder *folder,
					 const struct level *level, struct tscope_error *err)
{
	const struct metric_source *source;
	struct rank_folders ranks = { 0 };
	size_t store = 0;
	enum tscope_status status = find_store(finder, folder, &source, &store, err);

	for (size_t i = 0; i < folder->count && status == TSCOPE_OK; i++) {
		const struct folder_entry *entry = &folder->items[i];
		size_t first = finder->files->count;

		if (!tsi_is_folder(entry))
			continue;
		if (source && i == store)
			add_store(finder, entry->path, false, source);
		else if (!source || !belongs_to_store(source, entry->path))
			status = search_below(finder, entry, level, err);
		note_rank_folder(&ranks, finder, entry->path, first);
	}
	for (size_t i = 0; ranks.have_steps && i < ranks.empty_count; i++)
		add_left_out(finder, ranks.empty[i], RUN_FILE_REFUSED,
			     "the folder of a rank that holds no step records and no trace");
	return status;
}

/* The files of a folder, then its folders. */
static enum tscope_status search(struct finder *finder, const char *path, const struct level *level,
				 struct tscope_error *err)
{
	const struct folder_query query = {
		.path = path,
		.prefix = TSI_STR(""),
		.max_count = finder->max_count - finder->seen_count,
		.members = finder->files->members,
	};
	struct folder folder;
	enum tscope_status status = tsi_folder_read(&folder, &query, err);

	finder->seen_count += folder.count;
	if (status == TSCOPE_OK) {
		add_files(finder, &folder);
		status = tsi_arena_status(&finder->files->arena, err);
	}
	if (status == TSCOPE_OK)
		status = search_folders(finder, &folder, level, err);
	tsi_arena_deinit(&folder.arena);
	return status;
}

static bool is_inside(const struct level *level, const struct stat *folder)
{
	for (; level; level = level->above)
		if (level->device == folder->st_dev && level->inode == folder->st_ino)
			return true;
	return false;
}

/* A folder that was found; one that cannot be read is no reason to stop. */
static enum tscope_status search_below(struct finder *finder, const struct folder_entry *entry,
				       const struct level *above, struct tscope_error *err)
{
	const struct level level = {
		.above = above,
		.depth = above ? above->depth + 1 : 0,
		.device = entry->stat.st_dev,
		.inode = entry->stat.st_ino,
	};
	struct tscope_error why = { 0 };
	enum tscope_status status = TSCOPE_OK;

	if (is_inside(above, &entry->stat))
		add_left_out(finder, entry->path, RUN_FILE_IGNORED,
			     "a link to a folder that it lies in");
	else if (level.depth > FIND_MAX_DEPTH)
		add_left_out(finder, entry->path, RUN_FILE_REFUSED,
			     "a folder in too many others (limit: depth of folders): name it");
	else
		status = search(finder, entry->path, &level, &why);
	if (status == TSCOPE_E_IO) {
		add_unread(finder, entry->path, &why);
		return TSCOPE_OK;
	}
	if (status != TSCOPE_OK && err)
		*err = why;
	return status;
}

/* ---- paths that were given ---- */

/* Is name, which begins with base, the base with "_rank<digits>" behind it? */
static bool is_sibling(const char *name, struct str base)
{
	const struct str word = TSI_STR("_rank");
	const char *rest = name + base.length;

	if (strncmp(rest, word.data, word.length) != 0)
		return false;
	rest += word.length;
	return rest[0] && rest[strspn(rest, "0123456789")] == '\0';
}

static enum tscope_status search_siblings_in(struct finder *finder, const struct folder *folder,
					     struct str base, size_t *found_count,
					     struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;

	for (size_t i = 0; i < folder->count && status == TSCOPE_OK; i++) {
		const struct folder_entry *entry = &folder->items[i];

		if (!tsi_is_folder(entry) || !is_sibling(tsi_base_name(entry->path), base))
			continue;
		++*found_count;
		status = search_below(finder, entry, NULL, err);
	}
	return status;
}

/* The folders P_rank0, P_rank1 … beside P, whether or not that exists. */
static enum tscope_status search_siblings(struct finder *finder, const char *path,
					  size_t *found_count, struct tscope_error *err)
{
	const char *name = tsi_base_name(path);
	const struct folder_query query = {
		.path = tsi_arena_copy(&finder->files->arena, tsi_folder_of(path)),
		.prefix = { name, strlen(name) },
		.max_count = finder->max_count,
	};
	struct folder folder;
	struct tscope_error why = { 0 };

	*found_count = 0;
	enum tscope_status status = tsi_folder_read(&folder, &query, &why);
	if (status == TSCOPE_OK)
		status = search_siblings_in(finder, &folder, query.prefix, found_count, err);
	else if (status != TSCOPE_E_IO && err)
		*err = why;
	else if (status == TSCOPE_E_IO && access(*query.path ? query.path : ".", R_OK) == 0)
		add_unread(finder, *query.path ? query.path : ".", &why);
	tsi_arena_deinit(&folder.arena);
	return status == TSCOPE_E_IO ? TSCOPE_OK : status;
}

/* A folder that was given; it may be a store itself. */
static enum tscope_status search_folder(struct finder *finder, const char *path,
					const struct stat *found, struct tscope_error *err)
{
	const struct level level = { .device = found->st_dev, .inode = found->st_ino };
	const struct metric_source *source;

	if (tsi_metric_source_of_folder(&source, path, finder->files->members, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (source) {
		add_store(finder, path, true, source);
		return TSCOPE_OK;
	}
	enum tscope_status status = search(finder, path, &level, err);
	if (status == TSCOPE_E_IO)
		tsi_fail_within(err, "%s", path);
	return status;
}

/* ---- archives ---- */

/* Adds an archive that `in` shows, unless it was added before, and the files in it. */
static enum tscope_status search_archive(struct finder *finder, const char *path, struct input *in,
					 struct tscope_error *err)
{
	struct tscope_members *members = finder->files->members;
	struct tscope_error why = { 0 };
	enum tscope_status status = TSCOPE_OK;
	struct stat found;

	if (tsi_members_find(members, path))
		tsi_input_close(in);
	else
		status = tsi_members_add(members, path, in, &why);
	if (status == TSCOPE_E_NOMEM)
		return tsi_fail_nomem(err);
	if (status != TSCOPE_OK) {
		add_unread_named(finder, path, &why);
		return TSCOPE_OK;
	}
	status = tsi_members_stat(members, path, &found) == 0
			 ? search_folder(finder, path, &found, err)
			 : TSCOPE_OK;
	const struct member *archive = tsi_members_find(members, path);
	if (archive && archive->end)
		add_unread(finder, path, archive->end);
	return status;
}

/* Opens an archive, or what may be one: its bytes. NULL: it cannot be opened, why is filled. */
static struct input *show_archive(struct finder *finder, const char *path, struct tscope_error *why)
{
	struct input_options options = *tsi_members_options(finder->files->members);
	struct input *in = NULL;

	options.archives = INPUT_SHOWS_ARCHIVES;
	if (tsi_input_open_file(&in, path, &options, why) != TSCOPE_OK)
		return NULL;
	return in;
}

static enum tscope_status open_archive(struct finder *finder, const char *path,
				       struct tscope_error *err)
{
	struct tscope_error why = { 0 };
	struct input *in = show_archive(finder, path, &why);

	if (in && tsi_input_archive(in))
		return search_archive(finder, path, in, err);
	tsi_input_close(in);
	if (in)
		tsi_fail(&why, TSCOPE_E_IO, "it changed while it was read");
	if (why.status == TSCOPE_E_NOMEM)
		return tsi_fail_nomem(err);
	add_unread_named(finder, path, &why);
	return TSCOPE_OK;
}

/* A pipe can be looked at only once: what is no archive goes to who reads it. */
static enum tscope_status search_standard_input(struct finder *finder, struct tscope_error *err)
{
	struct tscope_members *members = finder->files->members;
	struct tscope_error why = { 0 };
	struct input *in = members ? show_archive(finder, "-", &why) : NULL;

	if (in && tsi_input_archive(in))
		return search_archive(finder, "-", in, err);
	if (members && !in) {
		add_unread_named(finder, "-", &why);
		return TSCOPE_OK;
	}
	(void)add_file(finder, "-", true);
	if (in)
		tsi_members_keep_input(members, in);
	return TSCOPE_OK;
}

/* "ranks.tar/rank0.json", or a folder in it; *found: the archive is there, and holds it. */
static enum tscope_status search_in_archive(struct finder *finder, const char *path, bool *found,
					    struct tscope_error *err)
{
	struct run_files *files = finder->files;
	size_t length = files->members ? tsi_member_archive_length(path) : 0;
	const char *archive = tsi_arena_copy(&files->arena, (struct str){ path, length });
	struct tscope_error why = { 0 };
	struct stat about;
	struct input *in;

	*found = false;
	if (length == 0)
		return TSCOPE_OK;
	if (!tsi_members_find(files->members, archive)) {
		in = show_archive(finder, archive, &why);
		if (!in || !tsi_input_archive(in)) {
			tsi_input_close(in);
			return TSCOPE_OK;
		}
		enum tscope_status status = tsi_members_add(files->members, archive, in, &why);
		if (status != TSCOPE_OK && err)
			*err = why;
		if (status != TSCOPE_OK)
			return status == TSCOPE_E_NOMEM ? status
							: tsi_fail_within(err, "%s", archive);
	}
	*found = tsi_members_find(files->members, path) != NULL;
	if (!*found || tsi_members_stat(files->members, path, &about) != 0)
		return TSCOPE_OK;
	if (S_ISDIR(about.st_mode))
		return search_folder(finder, path, &about, err);
	(void)add_tasted(finder, path, true);
	return TSCOPE_OK;
}

static enum tscope_status search_path(struct finder *finder, const char *path,
				      struct tscope_error *err)
{
	bool is_in_archive = false;
	size_t sibling_count;
	struct stat found;
	enum tscope_status status = TSCOPE_OK;
	int error = stat(path, &found) == 0 ? 0 : errno;

	if (error == 0 && !S_ISDIR(found.st_mode)) {
		if (!S_ISREG(found.st_mode))
			(void)add_file(finder, path, true); /* tasting a pipe would empty it */
		else if (add_tasted(finder, path, true))
			return open_archive(finder, path, err);
		return TSCOPE_OK;
	}
	if (error == ENOTDIR)
		status = search_in_archive(finder, path, &is_in_archive, err);
	if (is_in_archive || status != TSCOPE_OK)
		return status;
	if (error == 0)
		status = search_folder(finder, path, &found, err);
	if (status == TSCOPE_OK)
		status = search_siblings(finder, path, &sibling_count, err);
	if (status == TSCOPE_OK && error && sibling_count == 0)
		return tsi_fail(err, TSCOPE_E_IO, "%s: cannot open: %s", path, strerror(error));
	return status;
}

enum tscope_status tsi_find_files(struct run_files *files, const char *const *paths,
				  size_t path_count, struct tscope_error *err)
{
	struct finder finder = {
		.files = files,
		.max_count = files->max_count ? files->max_count : FIND_MAX_FILES,
	};
	enum tscope_status status = TSCOPE_OK;

	for (size_t i = 0; i < path_count && status == TSCOPE_OK; i++) {
		const char *path = tsi_arena_copy(&files->arena, tsi_path_trim(paths[i]));

		if (strcmp(path, "-") == 0)
			status = search_standard_input(&finder, err);
		else if (!files->arena.has_failed)
			status = search_path(&finder, path, err);
	}
	for (size_t i = 0; i < files->count; i++)
		files->items[i].id = i;
	return status == TSCOPE_OK ? tsi_arena_status(&files->arena, err) : status;
}
