/* SPDX-License-Identifier: MIT */
/*
 * The progress line on standard error. The only place of tscope that looks at
 * a clock; no figure depends on it.
 */
#include "progress.h"

#include <stdio.h>
#include <unistd.h>

enum { FIRST_LINE_MS = 500, NEXT_LINE_MS = 100 };

static double ms_since(const struct timespec *past, const struct timespec *now)
{
	return (double)(now->tv_sec - past->tv_sec) * 1e3 +
	       (double)(now->tv_nsec - past->tv_nsec) / 1e6;
}

static void update(void *data, uint64_t source_bytes, uint64_t source_size, uint64_t bytes)
{
	struct progress *progress = data;
	struct timespec now;
	double elapsed_ms, all_bytes;

	if (!progress->is_on)
		return;
	if (bytes < progress->file_bytes)
		progress->earlier_bytes += progress->file_bytes; /* the next file has begun */
	progress->file_bytes = bytes;
	clock_gettime(CLOCK_MONOTONIC, &now);
	elapsed_ms = ms_since(&progress->start, &now);
	if (elapsed_ms < FIRST_LINE_MS || ms_since(&progress->last, &now) < NEXT_LINE_MS)
		return;
	progress->last = now;
	progress->is_shown = true;
	all_bytes = (double)(progress->earlier_bytes + bytes);
	fprintf(stderr, "\r\033[K%.2f GB read, %.2f GB/s", all_bytes / 1e9,
		all_bytes / elapsed_ms / 1e6);
	if (!progress->is_of_many && source_bytes > 0 && source_bytes <= source_size)
		fprintf(stderr, ", %.0f %%, %.0f s left",
			100 * (double)source_bytes / (double)source_size,
			elapsed_ms / 1e3 * (double)(source_size - source_bytes) /
				(double)source_bytes);
	fflush(stderr);
}

void progress_start(struct progress *progress, const struct options *options,
		    struct tscope_trace_options *watched)
{
	*progress = (struct progress){
		.is_on = options->progress == WHEN_AUTO && !options->quiet && isatty(STDERR_FILENO),
	};
	clock_gettime(CLOCK_MONOTONIC, &progress->start);
	progress->last = progress->start;
	watched->progress = update;
	watched->progress_data = progress;
}

void progress_clear(struct progress *progress)
{
	if (progress->is_shown)
		fputs("\r\033[K", stderr);
	progress->is_shown = false;
}

void progress_stop(struct progress *progress)
{
	progress_clear(progress);
	progress->is_on = false;
}
