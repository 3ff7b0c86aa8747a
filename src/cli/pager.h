/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_CLI_PAGER_H
#define TSCOPE_CLI_PAGER_H

#include "options.h"

/*
 * Reports that are taller than the terminal go through $TSCOPE_PAGER, $PAGER or less.
 */

/*
 * Makes a process that can become the pager: the sandbox lets none be made later. Nothing where
 * the report does not go to a terminal, or needs no pager.
 */
void pager_prepare(const struct options *options);

/* Is there such a process? Then reports are written into memory first. */
bool pager_is_ready(void);

/*
 * Shows a report that is taller than the terminal, and returns when the reader has seen enough;
 * false: it is not shown, as it is short or the pager cannot be run.
 */
bool pager_show(const char *report, size_t length);

#endif
