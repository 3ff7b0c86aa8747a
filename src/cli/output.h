/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_CLI_OUTPUT_H
#define TSCOPE_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

/*
 * The report's destination: standard output, or a file that is replaced whole or not at all.
 * Functions that fail have printed why.
 */
struct output {
	FILE *stream;
	const char *path; /* NULL: standard output */
	char *temporary;  /* what becomes path in the end; NULL where path is written directly */
};

/* path NULL: standard output. After success end with commit or abandon. */
bool output_open(struct output *out, const char *path);

/*
 * All is written: gives the stream back, so that many files can be made ready
 * before the first one stays. Abandons it where that fails.
 */
bool output_close(struct output *out);

/* Makes it stay; closes it first where that is not done. Abandons it where it cannot. */
bool output_commit(struct output *out);

/* Leaves the file as it was. */
void output_abandon(struct output *out);

#endif
