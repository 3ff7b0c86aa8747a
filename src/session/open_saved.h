/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_SESSION_OPEN_SAVED_H
#define TSCOPE_SESSION_OPEN_SAVED_H

#include "analyze/saved_report.h"

#include <tscope/run.h>

struct arena;

/*
 * Reads the file where it is a saved report, as *is_saved says. A file that cannot be opened is
 * none: whoever reads it as something else knows the remedies.
 */
TSI_MUST_CHECK
enum tscope_status tsi_saved_open(struct saved_report *ret, const char *path,
				  const struct tscope_trace_options *options, bool *is_saved,
				  struct tscope_error *err);

/*
 * A run of a saved report: its facts, ranks and notes. Files, steps one by one and what ranks did
 * are not in it. The path lives as long as the run does. Fails with the path in front.
 */
TSI_MUST_CHECK
enum tscope_status tsi_saved_run(struct tscope_run **ret, const char *path,
				 const struct tscope_trace_options *options,
				 struct tscope_error *err);

/*
 * Ranks that were missing when it was saved, as tscope_run_missing_ranks() says it, in the arena;
 * or NULL, also without memory.
 */
const char *tsi_saved_missing_ranks(const struct saved_report *report, struct arena *arena);
/* Likewise tscope_run_unsaved_ranks(). */
const char *tsi_unsaved_ranks(const struct saved_report *report, struct arena *arena);

#endif
