/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_CLI_OPTION_TABLE_H
#define TSCOPE_CLI_OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <tscope/error.h>

struct option_row {
	const char *commands; /* those that take it, separated by ", "; NULL: all */
	const char *name;     /* without its dashes */
	const char *value;    /* what it takes, as --help calls it; NULL: it takes nothing */
	const char *help;     /* NULL: the formats of reports */
	/* Sets the field of struct options at `offset`. Returns NULL, or what is expected. */
	const char *(*parse)(const char *text, void *field);
	size_t offset;
	/* Explains what is wrong with a value; NULL: the parser's message suffices. */
	enum tscope_status (*check)(const char *text, struct tscope_error *err);
};

/* In the order of --help. */
extern const struct option_row option_rows[];
extern const size_t option_row_count;

/* Whether the command takes this option. */
bool option_is_taken(const struct option_row *row, const char *command);

/* Whether several values add up. */
bool option_is_repeatable(const struct option_row *row);

/* Whether it stands on the command line only. */
bool option_is_typed_only(const struct option_row *row);

/* The row of "name" or "name=value": the command's own, or else another command's, or NULL. */
const struct option_row *option_find(const char *name, const char *command);

#endif
