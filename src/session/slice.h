/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_SESSION_SLICE_H
#define TSCOPE_SESSION_SLICE_H

#include <tscope/slice.h>

#include "session/gzip_out.h"

/* What of a trace goes into a slice. Times are those of the trace's clock. */
struct slice_choice {
	int64_t first_ns, end_ns; /* all that overlaps [first, end) … */
	int64_t *times_ns;        /* … and what starts at one of these, in order */
	size_t time_count, time_capacity;
	bool has_steps; /* these were asked for: starts of the first and the last */
	int64_t first_step_ns, last_step_ns;
	int64_t first_number;
};

/* slice_tracks.c: our own events, each behind a comma and a line end. */
void tsi_slice_tracks(FILE *out, const struct slice_choice *choice,
		      const struct tscope_analysis *analysis,
		      const struct tscope_diagnosis *diagnosis);

#endif
