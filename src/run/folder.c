/* SPDX-License-Identifier: MIT */
/* One folder of the file system as a sorted list: what find.c walks through. */
#include "run/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "input/members.h"
#include "run/file_name.h"

static enum tscope_status fail_errno(struct tscope_error *err)
{
	if (errno == ENOMEM)
		return tsi_fail_nomem(err);
	return tsi_fail(err, TSCOPE_E_IO, "cannot open the folder: %s", strerror(errno));
}

bool tsi_may_be_there(const struct tscope_members *members, const char *path)
{
	struct stat found;

	return tsi_members_stat(members, path, &found) == 0 ||
	       (errno != ENOENT && errno != ENOTDIR);
}

static int compare_entries(const void *left, const void *right)
{
	const struct folder_entry *a = left, *b = right;

	return tsi_compare_names(a->path, b->path);
}

static void add_entry(struct folder *folder, DIR *dir, const char *path, const char *name)
{
	struct folder_entry *entry = tsi_arena_push(&folder->arena, &folder->items, &folder->count,
						    &folder->capacity, sizeof(*entry));

	if (!entry)
		return;
	entry->path = tsi_path_join(&folder->arena, tsi_str_of(path), tsi_str_of(name));
	if (fstatat(dirfd(dir), name, &entry->stat, 0) != 0)
		entry->error = errno;
	folder->arena.has_failed |= entry->error == ENOMEM;
}

static enum tscope_status fail_limit(struct tscope_error *err)
{
	return tsi_fail(err, TSCOPE_E_LIMIT,
			"more files than a run may have (limit: files of a run)");
}

/* A folder in an archive, or one itself. */
static enum tscope_status read_members(struct folder *folder, const struct member *above,
				       const struct folder_query *query, struct tscope_error *err)
{
	const struct member *member = tsi_members_first(query->members, above);

	for (; member; member = tsi_members_next(query->members, member)) {
		struct str name = tsi_str_of(tsi_base_name(member->path));
		struct folder_entry *entry;

		if (name.length == 0 || name.data[0] == '.' ||
		    !tsi_str_has_prefix(name, query->prefix))
			continue;
		if (folder->count == query->max_count)
			return fail_limit(err);
		entry = tsi_arena_push(&folder->arena, &folder->items, &folder->count,
				       &folder->capacity, sizeof(*entry));
		if (entry)
			*entry = (struct folder_entry){ .path = member->path,
							.stat = member->stat,
							.problem = member->problem,
							.is_ignored = member->is_ignored };
	}
	return tsi_arena_status(&folder->arena, err);
}

static enum tscope_status read_entries(struct folder *folder, DIR *dir,
				       const struct folder_query *query, struct tscope_error *err)
{
	for (;;) {
		errno = 0;
		const struct dirent *found = readdir(dir);
		if (!found)
			return errno ? fail_errno(err) : tsi_arena_status(&folder->arena, err);

		struct str name = { found->d_name, strlen(found->d_name) };
		if (name.data[0] == '.' || !tsi_str_has_prefix(name, query->prefix))
			continue;
		if (folder->count == query->max_count)
			return fail_limit(err);
		add_entry(folder, dir, query->path, name.data);
	}
}

enum tscope_status tsi_folder_read(struct folder *ret, const struct folder_query *query,
				   struct tscope_error *err)
{
	const struct member *above =
		query->members ? tsi_members_find(query->members, query->path) : NULL;
	enum tscope_status status;
	DIR *dir = NULL;

	*ret = (struct folder){ 0 };
	if (above) {
		status = read_members(ret, above, query, err);
	} else {
		dir = opendir(query->path[0] ? query->path : ".");
		if (!dir)
			return fail_errno(err);
		status = read_entries(ret, dir, query, err);
		closedir(dir);
	}
	if (status != TSCOPE_OK)
		return status;
	if (ret->count > 0)
		qsort(ret->items, ret->count, sizeof(*ret->items), compare_entries);
	return TSCOPE_OK;
}
