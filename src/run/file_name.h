/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RUN_FILE_NAME_H
#define TSCOPE_RUN_FILE_NAME_H

#include "base/attributes.h"
#include "base/str.h"

#include <tscope/error.h>

/* The part of a path behind the last slash. */
const char *tsi_base_name(const char *path);

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

/* A copy of the text, ended by NUL; *ret is the caller's to free. */
TSI_MUST_CHECK
enum tscope_status tsi_text_copy(char **ret, struct str text, struct tscope_error *err);

/* folder/name; an empty folder is the current one, and does not show. */
TSI_MUST_CHECK
enum tscope_status tsi_path_join(char **ret, struct str folder, struct str name,
				 struct tscope_error *err);

#endif
