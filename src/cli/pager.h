/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_CLI_PAGER_H
#define TSCOPE_CLI_PAGER_H

#include "options.h"

#include <stdbool.h>
#include <stdio.h>

/*
 * Reports that are taller than the terminal go through $TSCOPE_PAGER, $PAGER or less.
 */

/*
 * Makes a process that can become the pager: the sandbox lets none be made later. Nothing where
 * the report does not go to a terminal, or needs no pager.
 */
void pager_prepare(const struct options *options);

/* Is there such a process? */
bool pager_is_ready(void);

/*
 * A stream that shows a report of this height, if it is taller than the terminal; else NULL, and
 * the process ends. Who reads may leave before all is written: that is no error.
 */
FILE *pager_open(const char *report, size_t length);

/* Returns when the reader has seen enough; false: nothing is shown, as it cannot be run. */
bool pager_close(FILE *stream);

#endif
