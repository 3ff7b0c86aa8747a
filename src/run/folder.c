/* SPDX-License-Identifier: MIT */
/* One folder of the file system as a sorted list: what find.c walks through. */
#include "run/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "run/file_name.h"

static enum tscope_status fail_errno(struct tscope_error *err)
{
	return tsi_fail(err, TSCOPE_E_IO, "cannot open the folder: %s", strerror(errno));
}

static int compare_entries(const void *left, const void *right)
{
	const struct folder_entry *a = left, *b = right;

	return tsi_compare_names(a->path, b->path);
}

static enum tscope_status add_entry(struct folder *folder, DIR *dir, const char *path,
				    const char *name, struct tscope_error *err)
{
	struct str folder_path = { path, strlen(path) };
	struct folder_entry entry = { 0 };

	if (tsi_array_reserve(&folder->items, &folder->capacity, folder->count + 1,
			      sizeof(*folder->items), err) != TSCOPE_OK ||
	    tsi_path_join(&entry.path, folder_path, tsi_str_of(name), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (fstatat(dirfd(dir), name, &entry.stat, 0) != 0)
		entry.error = errno;
	folder->items[folder->count++] = entry;
	return TSCOPE_OK;
}

static enum tscope_status read_entries(struct folder *folder, DIR *dir,
				       const struct folder_query *query, struct tscope_error *err)
{
	for (;;) {
		errno = 0;
		const struct dirent *found = readdir(dir);
		if (!found)
			return errno ? fail_errno(err) : TSCOPE_OK;

		struct str name = { found->d_name, strlen(found->d_name) };
		if (name.data[0] == '.' || !tsi_str_has_prefix(name, query->prefix))
			continue;
		if (folder->count == query->max_count)
			return tsi_fail(err, TSCOPE_E_LIMIT,
					"more files than a run may have (limit: files of a run)");
		if (add_entry(folder, dir, query->path, name.data, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	}
}

enum tscope_status tsi_folder_read(struct folder *ret, const struct folder_query *query,
				   struct tscope_error *err)
{
	struct folder folder = { 0 };
	DIR *dir = opendir(query->path[0] ? query->path : ".");
	if (!dir)
		return fail_errno(err);

	enum tscope_status status = read_entries(&folder, dir, query, err);
	closedir(dir);
	if (status != TSCOPE_OK) {
		tsi_folder_deinit(&folder);
		return status;
	}
	if (folder.count > 0)
		qsort(folder.items, folder.count, sizeof(*folder.items), compare_entries);
	*ret = folder;
	return TSCOPE_OK;
}

void tsi_folder_deinit(struct folder *folder)
{
	for (size_t i = 0; i < folder->count; i++)
		free(folder->items[i].path);
	free(folder->items);
	*folder = (struct folder){ 0 };
}
