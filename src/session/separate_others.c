/* SPDX-License-Identifier: MIT */
/*
 * Files that do not record a process of their own (step records, metrics, memory, traces of
 * secondary profilers) go with the traces of their folder, or of the nearest one above.
 */
#include "session/separate.h"

#include "base/intern.h"
#include "run/file_name.h"

/* Which run the traces in and below a folder are of. */
struct folder_runs {
	struct intern names;
	uint32_t *run_of; /* by id of the folder; RUN_OF_NONE: several */
	size_t count, capacity;
};

static void add_folders(struct folder_runs *folders, const char *path, uint32_t run,
			struct arena *arena)
{
	struct str folder = tsi_str_of(path);
	uint32_t id;

	do {
		folder = tsi_folder_above(folder);
		if (tsi_intern_add(&folders->names, folder, &id, NULL) != TSCOPE_OK) {
			arena->has_failed = true;
			return;
		}
		while (id >= folders->count) {
			uint32_t *place = tsi_arena_push(arena, &folders->run_of, &folders->count,
							 &folders->capacity, sizeof(*place));
			if (!place)
				return;
			*place = run;
		}
		if (folders->run_of[id] != run)
			folders->run_of[id] = RUN_OF_NONE;
	} while (folder.length > 0);
}

static uint32_t run_of_folder(const struct folder_runs *folders, const char *path)
{
	struct str folder = tsi_str_of(path);
	uint32_t id;

	do {
		folder = tsi_folder_above(folder);
		id = tsi_intern_find(&folders->names, folder);
	} while (id >= folders->count && folder.length > 0);
	return id < folders->count ? folders->run_of[id] : RUN_OF_NONE;
}

void tsi_place_others(struct run_partition *partition, const struct run_members *members,
		      struct arena *arena)
{
	struct folder_runs folders = { 0 };

	if (tsi_intern_init(&folders.names, SIZE_MAX, NULL) != TSCOPE_OK)
		arena->has_failed = true;
	for (size_t i = 0; i < members->read_count && !arena->has_failed; i++)
		if (partition->run_of[i] != RUN_OF_NONE)
			add_folders(&folders, members->loaded[i]->input.path, partition->run_of[i],
				    arena);
	for (size_t i = 0; i < members->read_count && !arena->has_failed; i++)
		if (partition->run_of[i] == RUN_OF_NONE)
			partition->run_of[i] =
				run_of_folder(&folders, members->loaded[i]->input.path);
	tsi_intern_deinit(&folders.names);
}
