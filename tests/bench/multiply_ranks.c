/* SPDX-License-Identifier: MIT */
/*
 * Makes a file of as many ranks as wanted out of the .tsr files of a few: each rank is one of
 * these under another number, in one group of all. For measuring what reading them costs.
 *
 * usage: multiply_ranks COUNT stated|unstated FILE.tsr… > many.tsr
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

/* All ranks are in a group that is stated, as those of a job that shares its data are. */
static void rename_group(struct rank_log *log, int64_t rank_count, bool is_stated)
{
	bool has_members = is_stated && log->member_count > 0;

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
		     bool is_stated)
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
	rename_group(&loaded.log, rank_count, is_stated);
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
	struct tscope_trace_options options = { 0 };
	struct tscope_error err = { 0 };

	if (argc < 4) {
		fprintf(stderr, "usage: multiply_ranks COUNT stated|unstated FILE.tsr...\n");
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
		write_as(path, (struct str){ bytes.data, length }, rank, count,
			 strcmp(argv[2], "stated") == 0);
		tsi_arena_deinit(&bytes_arena);
	}
	return fflush(stdout) == 0 ? 0 : 1;
}
