/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_CLI_PROJECT_FILE_H
#define TSCOPE_CLI_PROJECT_FILE_H

#include "exit_code.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * .tscope.yaml: options of a project, by their names without dashes; those of one command stand in
 * a section of its name. The meaning of the names is not known here.
 */

#define PROJECT_FILE ".tscope.yaml"

struct project_entry {
	char *section; /* NULL: of all commands */
	char *key, *value;
	size_t line;
	bool is_item; /* one of a list */
};

struct project_file {
	char *path; /* NULL: there is none */
	struct project_entry *entries;
	size_t count, room;
};

/*
 * Reads the file at `path`; NULL: the nearest one from the working directory upwards. Returns
 * EXIT_CODE_OK, also where there is none, or another code after having said what is wrong; in
 * either case end with project_file_deinit().
 */
enum exit_code project_file_read(struct project_file *file, const char *path);
void project_file_deinit(struct project_file *file);

/* Reads a text; file->path is what messages call it. */
enum exit_code project_file_parse(struct project_file *file, const char *text, size_t length);

#endif
