/* SPDX-License-Identifier: MIT */
/* Makes records of files (rank_record.h): the part of a run that needs no other rank. */
#include <tscope/map.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "base/queue.h"
#include "input/members.h"
#include "run/file_name.h"
#include "run/settle.h"
#include "session/open_trace.h"
#include "session/rank_record.h"

enum { MAX_NAME_CHARS = 200, MAX_MERGED_RANKS = 256 };

/* A file that was read last: as a whole and, where ranks were merged into it, each of them. */
struct reading {
	size_t index; /* in the files of the map */
	struct load **loads;
	size_t count;
	struct tscope_error refusal; /* of one that is not read */
};

struct tscope_map {
	struct tscope_run_options options;
	struct run_files files;         /* those of the shard */
	struct tscope_members *members; /* of archives among them */
	struct arena arena;             /* of the readings */
	struct reading *readings;
	size_t reading_count;
};

/* ---- files ---- */

static bool is_wanted(const struct run_file *file)
{
	return file->kind != RUN_FILE_IGNORED;
}

/* Mapped records are not inputs: they are kept as they are. */
static enum tscope_status check_kinds(const struct run_files *files, struct tscope_error *err)
{
	for (size_t i = 0; i < files->count; i++) {
		const struct run_file *file = &files->items[i];

		if (file->kind == RUN_FILE_RANKS)
			return tsi_fail(err, TSCOPE_E_FORMAT,
					"%.200s was mapped already: give it to tscope report",
					file->path);
		if (file->kind == RUN_FILE_REPORT)
			return tsi_fail(err, TSCOPE_E_FORMAT, "%.200s: %s", file->path,
					file->reason);
	}
	return TSCOPE_OK;
}

static void keep_shard(struct run_files *files, const struct tscope_shard *shard)
{
	size_t kept = 0, place = 0;

	for (size_t i = 0; i < files->count; i++) {
		if (!is_wanted(&files->items[i]))
			continue;
		if (shard->count == 0 || place % shard->count == shard->index)
			files->items[kept++] = files->items[i];
		place++;
	}
	files->count = kept;
}

enum tscope_status tscope_map_open(struct tscope_map **ret, const char *const *paths, size_t count,
				   const struct tscope_shard *shard,
				   const struct tscope_run_options *options,
				   struct tscope_error *err)
{
	static const struct tscope_shard all = { 0, 0 };
	struct tscope_map *map;
	enum tscope_status status = tsi_array_new(&map, 1, sizeof(*map), err);

	if (status != TSCOPE_OK)
		return status;
	if (options)
		map->options = *options;
	status = tsi_open_archives(&map->members, &map->options.trace, err);
	map->files.members = map->members;
	if (status == TSCOPE_OK)
		status = tsi_find_files(&map->files, paths, count, err);
	if (status == TSCOPE_OK)
		status = check_kinds(&map->files, err);
	if (status == TSCOPE_OK) {
		tsi_settle_files(&map->files, &map->arena);
		status = tsi_arena_status(&map->arena, err);
		keep_shard(&map->files, shard ? shard : &all);
	}
	if (status == TSCOPE_OK)
		*ret = map;
	else
		tscope_map_free(map);
	return status;
}

static void forget_readings(struct tscope_map *map)
{
	for (size_t i = 0; i < map->reading_count; i++)
		for (size_t k = 0; k < map->readings[i].count; k++)
			tsi_loaded_free(map->readings[i].loads[k]->loaded);
	map->reading_count = 0;
	tsi_arena_deinit(&map->arena);
}

void tscope_map_free(struct tscope_map *map)
{
	if (!map)
		return;
	forget_readings(map);
	tsi_arena_deinit(&map->files.arena);
	tsi_members_free(map->members);
	free(map);
}

enum tscope_status tscope_map_name_input(struct tscope_map *map, const char *path,
					 struct tscope_error *err)
{
	struct run_file *file = map->files.items;

	if (map->files.count != 1 || strcmp(file->path, "-") != 0)
		return tsi_fail(err, TSCOPE_E_FORMAT,
				"only standard input can be given a name: map --name PATH -");
	file->name_rank = tsi_rank_of_path(path);
	file->is_named = false; /* it is one of many, of which some may be none of ours */
	map->options.trace.stdin_name = tsi_arena_copy(&map->files.arena, tsi_str_of(path));
	return tsi_arena_status(&map->files.arena, err);
}

size_t tscope_map_count(const struct tscope_map *map)
{
	return map->files.count;
}

const char *tscope_map_path(const struct tscope_map *map, size_t index)
{
	return tsi_source_name(map->files.items[index].path, &map->options.trace);
}

const char *tscope_map_name(const struct tscope_map *map, size_t index)
{
	const char *path = tscope_map_path(map, index);
	struct str base = tsi_str_of(tsi_base_name(path));
	char text[MAX_NAME_CHARS + 32];

	if (base.length == 0 || strcmp(path, "-") == 0)
		base = TSI_STR("input");
	/* Files with a dot in front are hidden, also from a search. */
	snprintf(text, sizeof(text), "%s%.*s-%08x.tsr", base.data[0] == '.' ? "_" : "",
		 (int)(base.length < MAX_NAME_CHARS ? base.length : MAX_NAME_CHARS), base.data,
		 tsi_crc32c(0, path, strlen(path)));
	return tsi_arena_copy(&((struct tscope_map *)map)->files.arena, tsi_str_of(text));
}

/* ---- reading ---- */

static struct load *new_load(struct tscope_map *map, const struct run_file *file)
{
	struct load *load = tsi_arena_new(&map->arena, 1, sizeof(*load));

	if (load)
		*load = (struct load){ .file = *file, .keeps_log = true };
	return load;
}

static bool is_read(const struct run_file *file)
{
	return file->kind != RUN_FILE_REFUSED;
}

/* The whole of each file, or what refuses it. */
static enum tscope_status read_whole(struct tscope_map *map, const size_t *indices, size_t count,
				     struct tscope_error *err)
{
	struct load **loads = tsi_arena_new(&map->arena, count, sizeof(struct load *));
	size_t load_count = 0;

	map->readings = tsi_arena_new(&map->arena, count, sizeof(*map->readings));
	for (size_t i = 0; loads && map->readings && i < count; i++) {
		const struct run_file *file = &map->files.items[indices[i]];
		struct reading *reading = &map->readings[i];

		*reading = (struct reading){ .index = indices[i] };
		if (file->unread)
			reading->refusal = *file->unread;
		else if (!is_read(file))
			tsi_fail(&reading->refusal, TSCOPE_E_UNSUPPORTED, "%s", file->reason);
		reading->loads =
			tsi_arena_new(&map->arena, MAX_MERGED_RANKS + 1, sizeof(struct load *));
		struct load *load = is_read(file) ? new_load(map, file) : NULL;
		if (reading->loads && load)
			loads[load_count++] = reading->loads[reading->count++] = load;
	}
	if (map->arena.has_failed)
		return tsi_fail_nomem(err);
	map->reading_count = count;
	return tsi_load_files(loads, load_count, &map->options, err);
}

/* The ranks that were merged into a file, one by one, as split_merged.c would read them. */
static enum tscope_status read_merged(struct tscope_map *map, struct reading *reading,
				      struct tscope_error *err)
{
	const struct load *whole = reading->count > 0 ? reading->loads[0] : NULL;
	const struct merged_ranks *merged = whole && whole->loaded ? &whole->loaded->merged : NULL;
	size_t count = merged ? merged->rank_count : 0;

	if (count < 2 || count > MAX_MERGED_RANKS || strcmp(whole->file.path, "-") == 0)
		return TSCOPE_OK;
	struct rank_filter *filters = tsi_arena_new(&map->arena, count, sizeof(*filters));
	for (size_t i = 0; filters && i < count; i++) {
		struct load *load = new_load(map, &whole->file);

		if (!load)
			break;
		filters[i] = (struct rank_filter){ merged, merged->ranks[i] };
		load->only = &filters[i];
		reading->loads[reading->count++] = load;
	}
	if (map->arena.has_failed)
		return tsi_fail_nomem(err);
	return tsi_load_files(reading->loads + 1, count, &map->options, err);
}

enum tscope_status tscope_map_read(struct tscope_map *map, const size_t *indices, size_t count,
				   struct tscope_error *err)
{
	forget_readings(map);
	enum tscope_status status = read_whole(map, indices, count, err);
	for (size_t i = 0; i < map->reading_count && status == TSCOPE_OK; i++)
		status = read_merged(map, &map->readings[i], err);
	return status;
}

struct tscope_map_outcome tscope_map_outcome(const struct tscope_map *map, size_t place)
{
	const struct reading *reading = &map->readings[place];
	struct tscope_map_outcome outcome = { 0 };

	if (reading->count == 0 || !reading->loads[0]->loaded)
		outcome.error = reading->count > 0 ? &reading->loads[0]->error : &reading->refusal;
	else
		outcome.input = reading->loads[0]->loaded->input;
	return outcome;
}

/* ---- records ---- */

/* A file as it is now; false: errno says why that is not known. */
static bool find_source(struct rank_source *ret, const struct tscope_map *map, size_t index)
{
	const struct run_file *file = &map->files.items[index];
	struct stat found = { 0 };

	*ret = (struct rank_source){ .file = *file, .options = map->options };
	if (strcmp(file->path, "-") != 0 && tsi_members_stat(map->members, file->path, &found) != 0)
		return false;
	ret->file.path = tsi_source_name(file->path, &map->options.trace);
	ret->file_bytes = S_ISREG(found.st_mode) ? (uint64_t)found.st_size : 0;
	return true;
}

/* Is the file that was saved younger? */
static bool is_younger(const struct tscope_map *map, const char *saved_path, const char *path)
{
	const struct member *member = tsi_members_find(map->members, path);
	struct stat saved, source;

	if (member)
		path = member->archive_path;

	if (stat(saved_path, &saved) != 0 || stat(path, &source) != 0)
		return false;
	return saved.st_mtim.tv_sec != source.st_mtim.tv_sec
		       ? saved.st_mtim.tv_sec > source.st_mtim.tv_sec
		       : saved.st_mtim.tv_nsec >= source.st_mtim.tv_nsec;
}

static bool is_of(const struct rank_source *source, const struct rank_source *saved)
{
	return strcmp(saved->file.path, source->file.path) == 0 &&
	       saved->file.kind == source->file.kind &&
	       saved->file.first_batch == source->file.first_batch &&
	       saved->file.batch_count == source->file.batch_count &&
	       saved->file_bytes == source->file_bytes &&
	       tsi_rank_options_equal(&source->options, &saved->options);
}

bool tscope_map_is_done(const struct tscope_map *map, size_t index, const char *saved_path)
{
	struct arena arena = { 0 };
	struct rank_source source, saved;
	struct str bytes;
	size_t length;
	bool is_done =
		find_source(&source, map, index) && is_younger(map, saved_path, source.file.path) &&
		tsi_rank_file_bytes(&bytes, saved_path, &map->options.trace, &arena, NULL) ==
			TSCOPE_OK &&
		tsi_rank_record_measure(bytes, tsi_rank_schema(), &length, NULL) == TSCOPE_OK &&
		length == bytes.length &&
		tsi_rank_record_open(&saved, bytes, &arena, NULL) == TSCOPE_OK &&
		is_of(&source, &saved);

	tsi_arena_deinit(&arena);
	return is_done;
}

size_t tscope_map_batch(const struct tscope_map *map)
{
	unsigned threads = map->options.trace.thread_count;

	return 2 * (size_t)(threads ? threads : tsi_thread_count());
}

enum tscope_status tscope_map_write(FILE *out, const struct tscope_map *map, size_t place,
				    struct tscope_error *err)
{
	const struct reading *reading = &map->readings[place];
	struct rank_writer writer = { 0 };
	struct rank_source source;

	if (!find_source(&source, map, reading->index))
		return tsi_fail(err, TSCOPE_E_IO, "cannot be looked at: %s", strerror(errno));
	enum tscope_status status = tsi_rank_record_write(
		&writer, &source, (const struct load *const *)reading->loads, reading->count, err);

	if (status == TSCOPE_OK && fwrite(writer.bytes, 1, writer.count, out) != writer.count)
		status = tsi_fail(err, TSCOPE_E_WRITE, "cannot be written");
	tsi_rank_writer_deinit(&writer);
	return status;
}
