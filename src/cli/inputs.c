/* SPDX-License-Identifier: MIT */
/* Inputs, which must not be overwritten: hard and symbolic links of one file are that file. */
#define _XOPEN_SOURCE 700 /* realpath() */
#include "inputs.h"

#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add(struct inputs *inputs, const char *path, bool is_source)
{
	bool is_stdin = strcmp(path, "-") == 0, is_store;
	struct stat status;

	if ((is_stdin ? fstat(STDIN_FILENO, &status) : stat(path, &status)) != 0)
		return;
	if (inputs->count == inputs->room) {
		size_t room = inputs->room > 0 ? 2 * inputs->room : 16;
		struct file_id *ids = realloc(inputs->ids, room * sizeof(*ids));

		if (!ids) {
			inputs->is_exhausted = true;
			return;
		}
		inputs->ids = ids;
		inputs->room = room;
	}
	is_store = is_source && S_ISDIR(status.st_mode);
	inputs->has_stores |= is_store;
	inputs->ids[inputs->count++] = (struct file_id){ status.st_dev, status.st_ino, is_store };
}

void inputs_add(struct inputs *inputs, const char *path)
{
	add(inputs, path, false);
}

void inputs_init(struct inputs *inputs, const struct options *options)
{
	*inputs = (struct inputs){ .may_force = options->force };
	for (int i = 0; i < options->operand_count; i++)
		inputs_add(inputs, options->operands[i]);
	if (options->project.path)
		inputs_add(inputs, options->project.path);
	if (options->files_from)
		inputs_add(inputs, options->files_from);
}

void inputs_deinit(struct inputs *inputs)
{
	free(inputs->ids);
	*inputs = (struct inputs){ 0 };
}

void inputs_add_run(struct inputs *inputs, const struct tscope_run *run)
{
	for (size_t i = 0; i < tscope_run_source_count(run); i++)
		add(inputs, tscope_run_source(run, i), true);
}

void inputs_add_runs(struct inputs *inputs, const struct tscope_runs *runs)
{
	for (size_t i = 0; i < tscope_runs_source_count(runs); i++)
		add(inputs, tscope_runs_source(runs, i), true);
}

static bool has(const struct inputs *inputs, const struct stat *status, bool as_store)
{
	for (size_t i = 0; i < inputs->count; i++)
		if (inputs->ids[i].device == status->st_dev &&
		    inputs->ids[i].inode == status->st_ino &&
		    (inputs->ids[i].is_store || !as_store))
			return true;
	return false;
}

/* Does a folder that the file lies in count as an input? */
static bool is_in_store(const struct inputs *inputs, const char *path)
{
	char *folder = realpath(path, NULL), *slash;
	bool is_in = !folder;
	struct stat status;

	while (!is_in && (slash = strrchr(folder, '/')) && slash != folder) {
		*slash = '\0';
		is_in = stat(folder, &status) == 0 && has(inputs, &status, true);
	}
	free(folder);
	return is_in;
}

bool inputs_have(const struct inputs *inputs, const char *path, const struct stat *status)
{
	return has(inputs, status, false) ||
	       (path && inputs->has_stores && is_in_store(inputs, path));
}
