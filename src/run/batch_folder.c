/* SPDX-License-Identifier: MIT */
/* Which batches a trace holds, by the folders that it and its neighbours lie in. */
#include "run/batch_folder.h"

#include <stdlib.h>

#include "run/file_name.h"

/* A file that lies in a folder of batches. The texts point into its path. */
struct published {
	struct str above; /* the folder of folders, with its slash */
	struct str name;  /* of the file, without its compression */
	int64_t batch;    /* those that were done */
	struct run_file *file;
};

/* "train/", 100 and "rank0.json" of train/100/rank0.json.gz; false: the path is none of these. */
static bool split_path(struct published *ret, const char *path)
{
	const char *name = tsi_base_name(path), *first = name;

	if (name == path)
		return false;
	for (first = name - 1; first > path && first[-1] != '/'; first--)
		;
	struct str folder = { first, (size_t)(name - 1 - first) };
	for (size_t i = 0; i < folder.length; i++)
		if (!tsi_is_digit(folder.data[i]))
			return false;
	ret->above = (struct str){ path, (size_t)(first - path) };
	ret->name = tsi_unpacked_name(name);
	return tsi_str_starts(ret->name, "rank") && tsi_str_to_int64(folder, &ret->batch);
}

/* 0: both are of one writer. */
static int compare_writers(const struct published *a, const struct published *b)
{
	int order = tsi_str_compare(a->above, b->above);

	return order ? order : tsi_str_compare(a->name, b->name);
}

static int compare_published(const void *left, const void *right)
{
	const struct published *a = left, *b = right;
	int order = compare_writers(a, b);

	return order ? order : (a->batch > b->batch) - (a->batch < b->batch);
}

void tsi_find_batches(struct run_files *files, struct arena *scratch)
{
	struct published *items = tsi_arena_new(scratch, files->count, sizeof(*items));
	size_t count = 0;

	if (!items)
		return;
	for (size_t i = 0; i < files->count; i++) {
		items[count].file = &files->items[i];
		count += items[count].file->kind == RUN_FILE_TRACE &&
			 split_path(&items[count], files->items[i].path);
	}
	if (count > 0)
		qsort(items, count, sizeof(*items), compare_published);
	for (size_t i = 0; i < count; i++) {
		bool is_first = i == 0 || compare_writers(&items[i - 1], &items[i]) != 0;

		items[i].file->first_batch = is_first ? 0 : items[i - 1].batch;
		items[i].file->batch_count = items[i].batch - items[i].file->first_batch;
	}
}
