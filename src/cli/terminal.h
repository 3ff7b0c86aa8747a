/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_CLI_TERMINAL_H
#define TSCOPE_CLI_TERMINAL_H

#include "options.h"

/*
 * Layout for the report's destination: colours (--color, NO_COLOR, FORCE_COLOR), width (COLUMNS,
 * the terminal) and characters (LC_ALL, LC_CTYPE, LANG).
 */
struct tscope_report_options terminal_report_options(const struct options *options);

/* As above, of a report that goes into a file of its own. */
struct tscope_report_options terminal_file_options(const struct options *options,
						   const struct report_file *file);

/* That of standard output; 24 x 80 where it is not known. */
struct terminal_size {
	unsigned rows, columns;
};
struct terminal_size terminal_size(void);

/* Writes a text of our own to standard output: in ASCII where the locale is not UTF-8. */
void terminal_print(const char *text, size_t length);

#endif
