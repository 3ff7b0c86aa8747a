/* SPDX-License-Identifier: MIT */
/* What must not be overwritten: hard and symbolic links of one file are that file. */
#include "inputs.h"

#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add_id(struct inputs *inputs, const struct stat *status)
{
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
	inputs->ids[inputs->count++] = (struct file_id){ status->st_dev, status->st_ino };
}

void inputs_add(struct inputs *inputs, const char *path)
{
	bool is_stdin = strcmp(path, "-") == 0;
	struct stat status;

	if ((is_stdin ? fstat(STDIN_FILENO, &status) : stat(path, &status)) == 0)
		add_id(inputs, &status);
}

void inputs_init(struct inputs *inputs, const struct options *options)
{
	*inputs = (struct inputs){ .may_force = options->force };
	for (int i = 0; i < options->operand_count; i++)
		inputs_add(inputs, options->operands[i]);
}

void inputs_deinit(struct inputs *inputs)
{
	free(inputs->ids);
	*inputs = (struct inputs){ 0 };
}

/* Step records are read with the run.json beside them. */
static void add_companion(struct inputs *inputs, const char *path)
{
	const char *slash = strrchr(path, '/');
	int folder_length = slash ? (int)(slash + 1 - path) : 0;
	size_t size = (size_t)folder_length + sizeof("run.json");
	char *companion = malloc(size);

	if (!companion) {
		inputs->is_exhausted = true;
		return;
	}
	snprintf(companion, size, "%.*srun.json", folder_length, path);
	inputs_add(inputs, companion);
	free(companion);
}

void inputs_add_other(struct inputs *inputs, struct tscope_run_other other)
{
	if (other.is_problem || other.is_named)
		inputs_add(inputs, other.path);
}

void inputs_add_run(struct inputs *inputs, const struct tscope_run *run)
{
	for (size_t i = 0; i < tscope_run_input_count(run); i++) {
		struct tscope_run_input input = tscope_run_input(run, i);

		inputs_add(inputs, input.path);
		if (input.kind == TSCOPE_INPUT_STEPS)
			add_companion(inputs, input.path);
	}
	for (size_t i = 0; i < tscope_run_other_count(run); i++)
		inputs_add_other(inputs, tscope_run_other(run, i));
}

bool inputs_have(const struct inputs *inputs, const struct stat *status)
{
	for (size_t i = 0; i < inputs->count; i++)
		if (inputs->ids[i].device == status->st_dev &&
		    inputs->ids[i].inode == status->st_ino)
			return true;
	return false;
}
