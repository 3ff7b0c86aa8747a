/* SPDX-License-Identifier: MIT */
/*
 * What was found more than once: run.json, which is read with the step records
 * beside it, one file in two compressions, and one file under two names.
 */
#include "run/settle.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/error.h"
#include "run/file_name.h"
#include "run/taste.h"

void tsi_run_file_drop(struct run_file *file)
{
	free(file->path);
	free(file->run_json);
	free(file->reason);
	*file = (struct run_file){ 0 };
}

/* Not left out, and not dropped. */
static bool is_used(const struct run_file *file)
{
	if (!file->path)
		return false;
	return file->kind != RUN_FILE_REFUSED && file->kind != RUN_FILE_IGNORED;
}

static bool is_same_unpacked(const struct run_file *a, const struct run_file *b)
{
	return tsi_str_equal(tsi_unpacked_name(a->path), tsi_unpacked_name(b->path));
}

/*
 * Of trace.json and trace.json.gz in one folder, which stand side by side in
 * this order, the first counts.
 */
static enum tscope_status leave_out_twins(struct run_file *items, size_t count,
					  struct tscope_error *err)
{
	const struct run_file *kept = NULL;

	for (size_t i = 0; i < count; i++) {
		struct tscope_error why;

		if (!is_used(&items[i]))
			continue;
		if (!kept || !is_same_unpacked(kept, &items[i])) {
			kept = &items[i];
			continue;
		}
		tsi_fail(&why, TSCOPE_E_UNSUPPORTED, "%s again, in another compression",
			 tsi_base_name(kept->path));
		if (tsi_run_leave_out(&items[i], RUN_FILE_IGNORED, why.message, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	}
	return TSCOPE_OK;
}

/* run.json is no file of its own where it stands beside step records. */
static void drop_run_json(struct run_file *items, size_t count)
{
	bool has_steps = false;

	for (size_t i = 0; i < count; i++)
		has_steps |= items[i].kind == RUN_FILE_STEPS;
	for (size_t i = 0; i < count && has_steps; i++)
		if (items[i].kind == RUN_FILE_IGNORED &&
		    strcmp(tsi_base_name(items[i].path), "run.json") == 0)
			tsi_run_file_drop(&items[i]);
}

enum tscope_status tsi_settle_folder(struct run_file *items, size_t count, struct tscope_error *err)
{
	drop_run_json(items, count);
	return leave_out_twins(items, count, err);
}

/* A used file, or folder, by what the file system knows it by. */
struct identity {
	dev_t device;
	ino_t inode;
	bool has_rank; /* its name says one: then it is the better name */
	size_t index;
};

static int compare_identities(const void *left, const void *right)
{
	const struct identity *a = left, *b = right;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->inode != b->inode)
		return a->inode < b->inode ? -1 : 1;
	if (a->has_rank != b->has_rank)
		return a->has_rank ? -1 : 1;
	return a->index < b->index ? -1 : 1;
}

static size_t identify(const struct run_files *files, struct identity *identities)
{
	size_t count = 0;

	for (size_t i = 0; i < files->count; i++) {
		const struct run_file *file = &files->items[i];
		struct stat found;

		if (!is_used(file) || stat(file->path, &found) != 0 ||
		    !(S_ISREG(found.st_mode) || S_ISDIR(found.st_mode)))
			continue;
		identities[count++] = (struct identity){
			.device = found.st_dev,
			.inode = found.st_ino,
			.has_rank = file->name_rank >= 0,
			.index = i,
		};
	}
	return count;
}

/* Closes the gaps of what was dropped. */
static void compact(struct run_files *files)
{
	size_t kept = 0;

	for (size_t i = 0; i < files->count; i++)
		if (files->items[i].path)
			files->items[kept++] = files->items[i];
	files->count = kept;
}

enum tscope_status tsi_settle_doubles(struct run_files *files, struct tscope_error *err)
{
	struct identity *identities;

	if (tsi_array_new(&identities, files->count, sizeof(*identities), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	size_t count = identify(files, identities);
	if (count > 0)
		qsort(identities, count, sizeof(*identities), compare_identities);
	for (size_t i = 1; i < count; i++)
		if (identities[i].device == identities[i - 1].device &&
		    identities[i].inode == identities[i - 1].inode)
			tsi_run_file_drop(&files->items[identities[i].index]);
	free(identities);
	compact(files);
	return TSCOPE_OK;
}
