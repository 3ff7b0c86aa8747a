/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_CLI_OPTIONS_H
#define TSCOPE_CLI_OPTIONS_H

#include <stdio.h>
#include <tscope/tscope.h>

/* The options, shared by all commands: each means the same in every one. */

enum when {
	WHEN_AUTO,
	WHEN_ALWAYS,
	WHEN_NEVER,
};

struct options {
	struct tscope_trace_options trace;
	struct tscope_timeline_options timeline;
	enum tscope_report_format format;
	const char *output; /* NULL: standard output */
	enum when color, progress;
	size_t top;
	bool strict, quiet, help, version;
	char *const *operands; /* what is no option */
	int operand_count;
};

/*
 * Reads the arguments after the command's name. Operands and options may be
 * mixed; "--" ends the options. Reorders arguments: operands point into it.
 * Returns false after having said on standard error what is wrong.
 */
bool options_parse(struct options *options, int count, char **arguments);

/* The table of options for --help. */
void options_print_help(FILE *out);

#endif
