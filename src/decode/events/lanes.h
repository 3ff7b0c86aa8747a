/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_EVENTS_LANES_H
#define TSCOPE_DECODE_EVENTS_LANES_H

#include "decode/events/scan.h"
#include "input/input.h"

/*
 * Several threads that read the elements of traceEvents of one stream. Each
 * takes a chunk of it, guesses where an event begins, and reads from there
 * (chunk.h). One at a time, in the order of the stream, chunks are joined:
 * where the reading of all that comes before arrives at the place that was
 * guessed, the chunk's events go to the sink, and the reading is at their end.
 * Else, and wherever something is odd, the reader (format_chrome_json.c) goes on
 * in the text of the chunk as if there were no lanes. So events, counters,
 * messages and their order are those of one thread, whatever was guessed.
 */
struct lanes;

/* With no more than this left of a window the reader shows one block more, else several. */
enum { SMALL_TAIL = 64 * 1024 };

/* How many threads read, where so many may work: building is one's work at a time. */
static inline unsigned tsi_lane_count(unsigned thread_count)
{
	enum { MOST = MAX_KIND_LANES - 1 }; /* the reader's own scanner is one more */
	return thread_count < MOST ? thread_count : MOST;
}

struct lanes_options {
	unsigned thread_count; /* the caller's included */
	uint64_t max_event_bytes;
};

/*
 * From the end of the reader's window on, the lanes take the bytes of `in`,
 * which nobody else may touch until they are freed; the window becomes theirs.
 * NULL: there is no memory, or no thread, for more than one, and all is as before.
 */
struct lanes *tsi_lanes_start(struct input *in, struct scanner *reader,
			      const struct lanes_options *options);

/* As a scan() of the reader in a window without end: SCAN_MORE says that it must look itself. */
enum scan_result tsi_lanes_scan(struct lanes *lanes, struct tscope_error *err);

/* Makes the reader's window show at least min bytes from `at` on; as tsi_input_peek(). */
TSI_MUST_CHECK
enum tscope_status tsi_lanes_show(struct lanes *lanes, size_t min, struct tscope_error *err);

/* Stops the threads. The bytes shown by the window count as read of the input. NULL is fine. */
void tsi_lanes_free(struct lanes *lanes);

#endif
