/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MAP_H
#define TSCOPE_MAP_H

#include <stdio.h>
#include <tscope/run.h>

/*
 * For runs of more ranks than one machine reads: what a run keeps of a file, as a file (.tsr).
 * Such files are opened with tscope_run_open() as the ones that they were made of, with the same
 * figures. One after the other in one file they stay what they are.
 */
struct tscope_map;

/* The part of the files that is wanted: those whose place is index modulo count. */
struct tscope_shard {
	size_t index, count; /* count 0: all of them */
};

/*
 * Finds the files of paths as tscope_run_open() does. Each shard is to be given the same paths. Of
 * the options those of traces and steps are used, and kept; options may be NULL.
 */
enum tscope_status tscope_map_open(struct tscope_map **ret, const char *const *paths, size_t count,
				   const struct tscope_shard *shard,
				   const struct tscope_run_options *options,
				   struct tscope_error *err);
void tscope_map_free(struct tscope_map *map);

/*
 * Names standard input, the only file of the map, in the run: a path that contains its rank, such
 * as that of an archive's member. TSCOPE_E_FORMAT: it is not the only file.
 */
enum tscope_status tscope_map_name_input(struct tscope_map *map, const char *path,
					 struct tscope_error *err);

/* The files of the shard: those that are read, and those that should be and cannot. */
size_t tscope_map_count(const struct tscope_map *map);
const char *tscope_map_path(const struct tscope_map *map, size_t index);

/* Name for the file to write of it: "rank3.json-1f2e3d4c.tsr", different for each path. */
const char *tscope_map_name(const struct tscope_map *map, size_t index);

/* Whether such a file is there: whole, and of the same file and options. */
bool tscope_map_is_done(const struct tscope_map *map, size_t index, const char *saved_path);

/* How many files are best read at once. */
size_t tscope_map_batch(const struct tscope_map *map);

/*
 * Reads files, several at once; what was read before goes. tscope_map_outcome() gives the error of
 * each.
 */
enum tscope_status tscope_map_read(struct tscope_map *map, const size_t *indices, size_t count,
				   struct tscope_error *err);

/* Outcome of the file at a place among those that were read last. */
struct tscope_map_outcome {
	const struct tscope_error *error; /* it was not read: why; or NULL */
	struct tscope_run_input input;    /* else what was read */
};
struct tscope_map_outcome tscope_map_outcome(const struct tscope_map *map, size_t place);

/* Writes what was read, or why nothing was. */
enum tscope_status tscope_map_write(FILE *out, const struct tscope_map *map, size_t place,
				    struct tscope_error *err);

/*
 * Files of records as one file, so that a node or pod sends one. A merge of merges is the merge of
 * all, byte for byte, in any order: records are written in the order of the files that they are
 * of, each once.
 */
struct tscope_merge;

/*
 * Reads the files of paths, or of folders, and checks each record. Records that a run could not
 * read are refused, and so are files that are not mapped. Of the options those of input are used;
 * NULL: none.
 */
enum tscope_status tscope_merge_open(struct tscope_merge **ret, const char *const *paths,
				     size_t count, const struct tscope_trace_options *options,
				     struct tscope_error *err);
void tscope_merge_free(struct tscope_merge *merge);

/* The files that were read. */
size_t tscope_merge_source_count(const struct tscope_merge *merge);
const char *tscope_merge_source(const struct tscope_merge *merge, size_t index);

size_t tscope_merge_record_count(const struct tscope_merge *merge);

enum tscope_status tscope_merge_write(FILE *out, const struct tscope_merge *merge,
				      struct tscope_error *err);

#endif
