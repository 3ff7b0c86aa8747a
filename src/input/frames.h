/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_INPUT_FRAMES_H
#define TSCOPE_INPUT_FRAMES_H

#include "input/filter.h"

#include <stdint.h>

/*
 * Threads that decode the members of a stream, several at once. They do the
 * plain case only: members whose extent is written in them (pzstd and every
 * other zstd frame, bgzip), of a source whose bytes can be had at any place,
 * and without damage. Where anything is odd they end, and the filter goes on
 * from there by itself: so what comes out, and every message, is what it says
 * alone.
 */
struct frames;

/*
 * From the window's place on, where a member begins; output_bytes: what came
 * before it. NULL: it is not possible, or not worth it.
 */
struct frames *tsi_frames_start(const struct filter *filter, const struct window *from,
				struct flow *flow, uint64_t output_bytes);

/* Writes some of what comes next; false: the filter itself has to go on at tsi_frames_offset(). */
bool tsi_frames_read(struct frames *frames, struct filter_io *io);

/* Offset in the source of the first byte not read, and the members before it. */
uint64_t tsi_frames_offset(const struct frames *frames);
uint64_t tsi_frames_member_count(const struct frames *frames);

/* Stops the threads. NULL is fine. */
void tsi_frames_free(struct frames *frames);

#endif
