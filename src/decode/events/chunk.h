/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_EVENTS_CHUNK_H
#define TSCOPE_DECODE_EVENTS_CHUNK_H

#include "decode/events/scan.h"

/*
 * A piece of the stream and the events that were read of it before anybody
 * knew whether one begins there.
 *
 *	room for a tail | .... },  { "ph": ... },  { ... },  { "ph": ...
 *	                text     ^start                    ^stop        ^length
 *
 * Where a chunk begins in the middle of an event, a place is guessed behind
 * which the next one begins, and the scanner reads from there as far as it
 * gets. Whether it was right to start there shows when the reading of what
 * comes before arrives: at that very place or not.
 */
enum {
	CHUNK_HEADROOM = 64 * 1024,
	BOUNDARY_BYTES = 64,
};

/* The text between two events that were met, from one's brace into the other's first key. */
struct boundary {
	char text[BOUNDARY_BYTES];
	size_t length; /* 0: not known */
	size_t comma;  /* behind it an event begins */
};

struct chunk {
	struct event_sink sink; /* first: a pointer to it is one to the chunk */
	char *memory;
	char *text; /* in it; TSI_INPUT_PADDING behind it */
	size_t length;
	uint64_t offset;           /* of text, in the stream */
	enum tscope_status ending; /* what comes behind: TSCOPE_OK if the stream goes on */
	struct tscope_error ending_err;
	bool is_ready; /* filled and read; whoever owns the chunks sees to it */

	bool has_events;         /* read from start to stop */
	size_t start, stop;      /* in text, each before an element */
	enum scan_result result; /* why it stopped */
	/*
	 * The events one behind the other: of each a struct raw_repeat cut off behind its last
	 * number; of those of no kind that says only so, and a struct raw_event follows it.
	 */
	char *events;
	size_t event_bytes, event_capacity;
	size_t event_count;
	size_t max_event_count; /* of this reading */
};

/* All of them zero before. room: the longest text. */
TSI_MUST_CHECK
enum tscope_status tsi_chunk_init(struct chunk *chunk, size_t room, struct tscope_error *err);
void tsi_chunk_deinit(struct chunk *chunk);

/* Takes the boundary before the scanner's position, where one is to be seen. */
void tsi_boundary_learn(struct boundary *boundary, const struct scanner *scanner);

/* Reads the events behind the first boundary in the text, if there is one. */
void tsi_chunk_read(struct chunk *chunk, struct scanner *scanner, const struct boundary *boundary);

/*
 * Hands the events on, with what was counted. Where `to` refuses one, no more
 * is counted than a scanner would have that handed over each as it comes.
 */
TSI_MUST_CHECK
enum tscope_status tsi_chunk_hand_on(struct chunk *chunk, struct scanner *scanner,
				     struct event_sink *to, struct tscope_error *err);

#endif
