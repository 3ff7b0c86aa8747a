/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_COMM_CLOCK_TIE_H
#define TSCOPE_COMM_CLOCK_TIE_H

#include "base/arena.h"

/*
 * One rank's clock against another's, the base's: what the collectives say that both were in and
 * whose members end together.
 */

/* Such a collective; each time is on the clock of the rank that it is of. */
struct clock_sample {
	int64_t base_start_ns, base_end_ns;
	int64_t start_ns, end_ns;
};

/* A clock that shows t is ahead of its base by offset_ns + drift × (t − reference_ns). */
struct clock_line {
	int64_t offset_ns, reference_ns;
	double drift; /* s per s */
};

struct clock_tie {
	struct clock_line line;
	int64_t first_ns, last_ns; /* from the first start to the last end, on the rank's clock */
	double error_ns;           /* between these the line is at most so far off, */
	double drift_error;        /* and outside by so much more for each ns */
	double residual_ns;        /* robust standard deviation of the ends from the line */
	size_t count;              /* samples */
};

/* The base clock's time at this clock's time_ns. Saturates. */
int64_t tsi_clock_line_time(const struct clock_line *line, int64_t time_ns);

/* The tie of the samples; count ≥ 1, in any order. O(count). arena: remembers a failure. */
void tsi_clock_tie_fit(struct clock_tie *tie, const struct clock_sample *samples, size_t count,
		       struct arena *arena);

/* The base's clock against the rank's. */
struct clock_tie tsi_clock_tie_reversed(const struct clock_tie *tie);

#endif
