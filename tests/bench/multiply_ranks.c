/* SPDX-License-Identifier: MIT */
/*
 * Makes a file of as many ranks as wanted out of the .tsr files of a few: each rank is one of
 * these under another number, in one group of all, or in one of two that no stride describes. For
 * measuring what reading them costs.
 *
 * usage: multiply_ranks COUNT stated|unstated|irregular FILE.tsr… > many.tsr
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "session/open_trace.h"
#include "session/rank_record.h"

static void fail(const char *path, const struct tscope_error *err)
{
	fprintf(stderr, "multiply_ranks: %s: %s\n", path, err->message);
	exit(1);
}

enum grouping { STATED, UNSTATED, IRREGULAR };

/* Which of two groups a rank is in; neighbours are in either. */
static unsigned half_of(int64_t rank)
{
	uint64_t hash = (uint64_t)rank * UINT64_C(0x9e3779b97f4a7c15);

	hash = (hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
	return hash >> 40 & 1;
}

static void list_half(struct rank_log *log, int64_t rank_count)
{
	log->member_count = 0;
	for (int64_t rank = 0; rank < rank_count; rank++)
		if (half_of(rank) == half_of(log->rank))
			tsi_rank_log_add_member(log, rank);
	for (size_t i = 0; i < log->group_count; i++) {
		struct rank_group *group = &log->groups[i];

		group->first_member = 0;
		group->stride = 0;
		group->size = (int64_t)log->member_count;
		group->member_count = (uint32_t)log->member_count;
	}
}

/* All ranks are in a group that is stated, as those of a job that shares its data are. */
static void rename_group(struct rank_log *log, int64_t rank_count, enum grouping grouping)
{
	bool is_stated = grouping == STATED, has_members = is_stated && log->member_count > 0;

	if (grouping == IRREGULAR) {
		list_half(log, rank_count);
		return;
	}

	for (size_t i = 0; i < log->group_count; i++) {
		struct rank_group *group = &log->groups[i];

		group->size = is_stated ? rank_count : NO_NUMBER;
		group->first_member = 0;
		group->member_count = has_members ? (uint32_t)rank_count : 0;
		group->stride = has_members;
		if (!is_stated)
			group->name = group->description = 0;
	}
	log->member_count = has_members;
	if (has_members)
		log->members[0] = 0;
}

/* The record of a file, read, renamed and written again. */
static void write_as(const char *path, struct str record, int64_t rank, int64_t rank_count,
		     enum grouping grouping)
{
	struct rank_writer writer = { 0 };
	struct arena arena = { 0 };
	struct rank_source source;
	struct loaded loaded = { 0 };
	struct tscope_error err = { 0 };

	if (tsi_rank_record_open(&source, record, &arena, &err) != TSCOPE_OK)
		fail(path, &err);
	source.file.saved_first_batch = source.file.first_batch;
	source.file.saved_batch_count = source.file.batch_count;
	struct load load = { .file = source.file, .keeps_log = true, .loaded = &loaded };
	tsi_steps_init(&loaded.steps);
	if (tsi_rank_record_load(&loaded, &load, &err) != TSCOPE_OK)
		fail(path, &err);
	source.file.path = tsi_arena_print(&arena, "many/rank%lld.pt.trace.json", (long long)rank);
	source.file.name_rank = (int)rank;
	loaded.input.path = source.file.path;
	loaded.input.rank = rank;
	if (tsi_loaded_analyse(&loaded, &err) != TSCOPE_OK)
		fail(path, &err);
	loaded.log.rank = rank;
	loaded.steps.world_size = rank_count;
	rename_group(&loaded.log, rank_count, grouping);
	load.file = source.file;
	if (tsi_rank_record_write(&writer, &source, &(const struct load *){ &load }, 1, &err) !=
		    TSCOPE_OK ||
	    fwrite(writer.bytes, 1, writer.count, stdout) != writer.count)
		fail(path, &err);
	tsi_rank_writer_deinit(&writer);
	tsi_loaded_deinit(&loaded);
	tsi_arena_deinit(&arena);
}

int main(int argc, char **argv)
{
	static const char *const groupings[] = { "stated", "unstated", "irregular", NULL };
	enum grouping grouping = STATED;

	struct tscope_trace_options options = { 0 };
	struct tscope_error err = { 0 };

	while (argc >= 4 && groupings[grouping] && strcmp(argv[2], groupings[grouping]) != 0)
		grouping++;
	if (argc < 4 || !groupings[grouping]) {
		fprintf(stderr,
			"usage: multiply_ranks COUNT stated|unstated|irregular FILE.tsr...\n");
		return 2;
	}
	int64_t count = atoll(argv[1]);
	for (int64_t rank = 0; rank < count; rank++) {
		const char *path = argv[3 + rank % (argc - 3)];
		struct arena bytes_arena = { 0 };
		struct str bytes;
		size_t length = 0;

		if (tsi_rank_file_bytes(&bytes, path, &options, &bytes_arena, &err) != TSCOPE_OK ||
		    tsi_rank_record_measure(bytes, tsi_rank_schema(), &length, &err) != TSCOPE_OK)
			fail(path, &err);
		write_as(path, (struct str){ bytes.data, length }, rank, count, grouping);
		tsi_arena_deinit(&bytes_arena);
	}
	return fflush(stdout) == 0 ? 0 : 1;
}
