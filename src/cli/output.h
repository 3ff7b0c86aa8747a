/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_CLI_OUTPUT_H
#define TSCOPE_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Where the report goes: standard output, or a file that shows the whole report
 * or stays as it was. Failing functions have said so on standard error.
 */
struct output {
	FILE *stream;
	const char *path; /* NULL: standard output */
	char *temporary;  /* what becomes path in the end; NULL where path is written directly */
};

/* path NULL: standard output. After success end with commit or abandon. */
bool output_open(struct output *out, const char *path);

/* All is written: makes it stay. Says why where it cannot, and abandons it. */
bool output_commit(struct output *out);

/* Leaves the file as it was. */
void output_abandon(struct output *out);

#endif
