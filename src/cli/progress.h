/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_CLI_PROGRESS_H
#define TSCOPE_CLI_PROGRESS_H

#include "options.h"

#include <time.h>

/*
 * A progress line on the terminal. Appears after half a second and is erased at the end. Nothing if
 * standard error is not a terminal.
 */
struct progress {
	bool is_on, is_shown;
	bool is_of_many;             /* files are read one after the other: no end is in sight */
	uint64_t earlier_bytes;      /* of the files before the present one */
	uint64_t file_bytes;         /* of this one */
	struct timespec start, last; /* of the work; of the last line */
};

/*
 * watched: the options used for reading, which get the callback; progress must outlive the reading.
 */
void progress_start(struct progress *progress, const struct options *options,
		    struct tscope_trace_options *watched);

/* Makes room for a message. */
void progress_clear(struct progress *progress);

void progress_stop(struct progress *progress);

#endif
