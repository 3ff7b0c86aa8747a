/* SPDX-License-Identifier: MIT */
/* One folder of the file system as a sorted list: what find.c walks through. */
#include "run/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "run/file_name.h"

static enum tscope_status fail_errno(struct tscope_error *err)
{
	if (errno == ENOMEM)
		return tsi_fail_nomem(err);
	return tsi_fail(err, TSCOPE_E_IO, "cannot open the folder: %s", strerror(errno));
}

bool tsi_may_be_there(const char *path)
{
	struct stat found;

	return stat(path, &found) == 0 || (errno != ENOENT && errno != ENOTDIR);
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
			return tsi_fail(err, TSCOPE_E_LIMIT,
					"more files than a run may have (limit: files of a run)");
		add_entry(folder, dir, query->path, name.data);
	}
}

enum tscope_status tsi_folder_read(struct folder *ret, const struct folder_query *query,
				   struct tscope_error *err)
{
	*ret = (struct folder){ 0 };
	DIR *dir = opendir(query->path[0] ? query->path : ".");
	if (!dir)
		return fail_errno(err);

	enum tscope_status status = read_entries(ret, dir, query, err);
	closedir(dir);
	if (status != TSCOPE_OK)
		return status;
	if (ret->count > 0)
		qsort(ret->items, ret->count, sizeof(*ret->items), compare_entries);
	return TSCOPE_OK;
}
