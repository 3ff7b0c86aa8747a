/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_CLI_INPUTS_H
#define TSCOPE_CLI_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <tscope/run.h>

struct options;

/* The files that a command reads, by device and inode: no output replaces one. */
struct inputs {
	struct file_id {
		dev_t device;
		ino_t inode;
		bool is_store; /* a folder: all that lies in it is an input */
	} * ids;
	size_t count, room;
	bool has_stores;
	bool may_force;    /* --force: read-only files may be replaced */
	bool is_exhausted; /* no memory: some are missing, and nothing may be replaced */
};

/* Begins with the operands, "-" is standard input, the project file and a list of files. */
void inputs_init(struct inputs *inputs, const struct options *options);
void inputs_deinit(struct inputs *inputs);

/* A path that does not exist is none. */
void inputs_add(struct inputs *inputs, const char *path);

/* The files of a run as tscope_run_open() makes it, or of several; also what was not read. */
void inputs_add_run(struct inputs *inputs, const struct tscope_run *run);
void inputs_add_runs(struct inputs *inputs, const struct tscope_runs *runs);

/* path: NULL: it is known as an open file only. */
bool inputs_have(const struct inputs *inputs, const char *path, const struct stat *status);

#endif
