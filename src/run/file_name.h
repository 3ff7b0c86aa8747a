/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RUN_FILE_NAME_H
#define TSCOPE_RUN_FILE_NAME_H

#include "base/arena.h"

/* The part of a path behind the last slash. */
const char *tsi_base_name(const char *path);

/* The folder that a path is in, with its slash; empty: the current one. */
static inline struct str tsi_folder_of(const char *path)
{
	return (struct str){ path, (size_t)(tsi_base_name(path) - path) };
}

/* Is neither file in the folder of the other, or below it? */
bool tsi_are_in_folders_apart(const char *a, const char *b);

/* The folder that a file or a folder is in, without its slash. */
static inline struct str tsi_folder_above(struct str path)
{
	while (path.length > 0 && path.data[path.length - 1] != '/')
		path.length--;
	path.length -= path.length > 0;
	return path;
}

/* The path without the slashes that it ends in: "run" of "run/", but "/" of "/". */
struct str tsi_path_trim(const char *path);

/* Is there something before this ending (of ASCII letters in any case) of the name? */
bool tsi_name_ends(struct str name, struct str ending);

/* The path, or name, without the ending of a compression: "a.json" of "a.json.gz". */
struct str tsi_unpacked_name(const char *path);

/*
 * For sorting: numbers by value ("rank2" before "rank10"), all else by its bytes; of
 * a name with several compressions the plain one first, then .gz, .zst, .lz4.
 */
int tsi_compare_names(const char *left, const char *right);

/* folder/name; an empty folder is the current one, and does not show. "" without memory. */
const char *tsi_path_join(struct arena *arena, struct str folder, struct str name);

#endif
