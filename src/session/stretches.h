/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_SESSION_STRETCHES_H
#define TSCOPE_SESSION_STRETCHES_H

#include "decode/events/event_sink.h"
#include "input/input.h"

/*
 * Which times are where in a file, so that a second reading can leave out what it need not see: a
 * trace has its events by thread and stream, nearly in order of time.
 */
struct stretch {
	uint64_t from, to;         /* bytes of the stream, each before an element */
	int64_t first_ns, last_ns; /* the earliest and the latest start in it … */
	int64_t end_ns;            /* … and the latest end */
	bool is_needed; /* has events without a time, or names of processes and threads */
	bool is_out;    /* another reading may leave it out: for who reads again to say */
};

struct stretches {
	struct event_sink sink; /* first: a pointer to it is one to the stretches */
	struct event_sink *to;  /* gets all events */
	struct stretch *items;  /* in order; they do not overlap */
	size_t count, capacity;
	bool is_open;            /* the last one goes on */
	unsigned char *timeless; /* a bit for each kind of such events */
};

/* All zero before. Events come to stretches->sink and go on to `to`. */
TSI_MUST_CHECK
enum tscope_status tsi_stretches_begin(struct stretches *stretches, struct event_sink *to,
				       struct tscope_error *err);

/* No more events come: what the decoder counted goes to where they went. */
void tsi_stretches_end(struct stretches *stretches);

void tsi_stretches_deinit(struct stretches *stretches);

/*
 * Opens a file once more, without the stretches that are out where that is worth it: then *text is
 * what the input reads, which the caller frees after it, else NULL.
 */
TSI_MUST_CHECK
enum tscope_status tsi_stretches_open(struct input **ret, char **text,
				      const struct stretches *stretches, const char *path,
				      const struct input_options *options,
				      struct tscope_error *err);

#endif
