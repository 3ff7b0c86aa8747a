/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_CLI_OUTPUT_H
#define TSCOPE_CLI_OUTPUT_H

#include "exit_code.h"
#include "inputs.h"

#include <stdbool.h>
#include <stdio.h>

struct temporary;

/*
 * A report's destination: standard output, or a file that is replaced whole or not at all. The
 * only place of the program that writes files. Functions that fail have printed why.
 */
struct output {
	FILE *stream;
	const char *path;            /* as given; NULL: standard output */
	char *target;                /* what is replaced, links resolved; NULL: written directly */
	struct temporary *temporary; /* what becomes target in the end */
};

/*
 * path NULL: standard output. Refuses to touch an input, and without inputs->may_force a file that
 * is read-only. After success end with finish, commit or abandon.
 */
bool output_open(struct output *out, const char *path, const struct inputs *inputs);

/*
 * Everything is written: gives the stream back, so that many files can be made ready
 * before the first one stays. Abandons it where that fails.
 */
bool output_close(struct output *out);

/* Makes it stay; closes it first where that is not done. Abandons it where it cannot. */
bool output_commit(struct output *out);

/* Leaves the file as it was. */
void output_abandon(struct output *out);

/* Commits what a writer returned success for, or that failed to be written, which says why. */
enum exit_code output_finish(struct output *out, enum tscope_status status);

/* Why a file that others write must not be touched, as output_open() would say; or NULL. */
const char *output_refusal(const char *path, const struct inputs *inputs);

/*
 * A file that others make, and that a signal is to take away until it is whole. NULL: no memory;
 * end with release.
 */
struct temporary *output_guard(const char *path);
void output_release(struct temporary *guard, bool is_whole);

/* Creates a folder, where it is not there yet. It goes again unless something comes into it. */
bool output_make_folder(const char *path);

/* Likewise all folders that lead to a file. */
bool output_make_folders(char *path);

/* Takes away the folders that nothing came into. */
void output_end(void);

#endif
