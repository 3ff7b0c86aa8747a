/* SPDX-License-Identifier: MIT */
/*
 * Inputs that were found more than once: run.json, which is read with the step records beside it,
 * one file in two compressions, and one file under two names.
 */
#include "run/settle.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/error.h"
#include "input/members.h"
#include "run/batch_folder.h"
#include "run/file_name.h"
#include "run/taste.h"

/* Not left out. */
static bool is_used(const struct run_file *file)
{
	return file->kind != RUN_FILE_REFUSED && file->kind != RUN_FILE_IGNORED;
}

static bool is_same_unpacked(const struct run_file *a, const struct run_file *b)
{
	return tsi_str_equal(tsi_unpacked_name(a->path), tsi_unpacked_name(b->path));
}

/*
 * If a folder has trace.json and trace.json.gz, which stand side by side in this order, the first
 * counts.
 */
static void leave_out_twins(struct run_file *items, size_t count, struct arena *arena)
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
		tsi_run_leave_out(&items[i], RUN_FILE_IGNORED, why.message, arena);
	}
}

/* Without a path it is no file any more. */
static void drop(struct run_file *file)
{
	file->path = NULL;
}

/* Closes the gaps of what was dropped; returns how many files are left. */
static size_t compact(struct run_file *items, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (items[i].path)
			items[kept++] = items[i];
	return kept;
}

/* run.json is no file of its own where it stands beside step records: it is read with them. */
static void drop_run_json(struct run_file *items, size_t count)
{
	bool has_steps = false;

	for (size_t i = 0; i < count; i++)
		has_steps |= items[i].kind == RUN_FILE_STEPS;
	for (size_t i = 0; i < count && has_steps; i++)
		if ((items[i].kind == RUN_FILE_IGNORED || items[i].kind == RUN_FILE_REFUSED) &&
		    strcmp(tsi_base_name(items[i].path), "run.json") == 0)
			drop(&items[i]);
}

size_t tsi_settle_folder(struct run_file *items, size_t count, struct arena *arena)
{
	drop_run_json(items, count);
	count = compact(items, count);
	leave_out_twins(items, count, arena);
	return count;
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

	TSI_ASCENDING(a->device, b->device);
	TSI_ASCENDING(a->inode, b->inode);
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

		if (!is_used(file) || file->saved ||
		    tsi_members_stat(files->members, file->path, &found) != 0 ||
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

void tsi_settle_files(struct run_files *files, struct arena *scratch)
{
	struct identity *identities = tsi_arena_new(scratch, files->count, sizeof(*identities));

	if (!identities)
		return;
	size_t count = identify(files, identities);
	if (count > 0)
		qsort(identities, count, sizeof(*identities), compare_identities);
	for (size_t i = 1; i < count; i++)
		if (identities[i].device == identities[i - 1].device &&
		    identities[i].inode == identities[i - 1].inode)
			drop(&files->items[identities[i].index]);
	files->count = compact(files->items, files->count);
	tsi_find_batches(files, scratch);
}
