/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_SESSION_OPEN_TRACE_H
#define TSCOPE_SESSION_OPEN_TRACE_H

#include "input/input.h"
#include "model/trace/merged_ranks.h"
#include "session/stretches.h"

#include <tscope/trace.h>

/*
 * tscope_trace_open() of one rank of a merged trace; only NULL: of all that is in it. Keeps which
 * kernels calls launch, if asked to.
 */
TSI_MUST_CHECK
enum tscope_status tsi_trace_open_rank(struct tscope_trace **ret, const char *path,
				       const struct tscope_trace_options *options,
				       const struct rank_filter *only, bool keeps_launches,
				       struct tscope_error *err);

/*
 * tscope_trace_open() that notes which times are where in the file, unless it is compressed. The
 * caller deinits *stretches, on failure, too.
 */
TSI_MUST_CHECK
enum tscope_status tsi_trace_open_indexed(struct tscope_trace **ret, const char *path,
					  const struct tscope_trace_options *options,
					  struct stretches *stretches, struct tscope_error *err);

/* Name of a file: its path, or the options' name for standard input. */
const char *tsi_source_name(const char *path, const struct tscope_trace_options *options);

/* How a file is to be opened, as far as the options of a trace say it. */
struct input_options tsi_input_options_of(const struct tscope_trace_options *options);

/*
 * A new set of archives, which the options lead to from now on; the caller frees it, on failure,
 * too. Whoever finds files adds those among them.
 */
TSI_MUST_CHECK
enum tscope_status tsi_open_archives(struct tscope_members **ret,
				     struct tscope_trace_options *options,
				     struct tscope_error *err);

/* The data of tsi_report_progress(), which looks how far the input is and passes that on. */
struct progress_report {
	const struct tscope_trace_options *options; /* with a progress */
	const struct input *in;
};
void tsi_report_progress(void *report);

/* Name and sizes of an input, known once it was read. */
struct source {
	char *path; /* a copy, and behind its NUL the filters; the caller frees */
	const char *compression;
	uint64_t source_bytes, bytes;
};
TSI_MUST_CHECK
enum tscope_status tsi_describe_source(struct source *source, const char *path,
				       const struct input *in, struct tscope_error *err);

#endif
