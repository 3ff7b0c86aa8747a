/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_EVENTS_KINDS_H
#define TSCOPE_DECODE_EVENTS_KINDS_H

#include "decode/events/event_sink.h"
#include "decode/events/layout.h"

/*
 * Kinds: whole events that a scanner has learned by heart.
 *
 * Training repeats. The same layer's events come again and again, and one of them differs from the
 * one before only in its times and in a few numbers of its args. So an event is kept as a kind: its
 * text from the opening brace to where the next one begins, the comma included, cut at the numbers
 * that differ. To read such an event again is to compare the pieces 32 bytes at a time and to read
 * or skip the numbers between them: no key is looked for, no string's end, no bracket. An event
 * that matches byte for byte is read as the first one was.
 *
 * Which kind comes next is predicted like a branch: by the one that followed the same sixteen kinds
 * last time, else the same three. Where neither matches the event is read the general way, but only
 * up to its name: kinds of that name are tried then. Where none matches, the event is read to its
 * end, and learned.
 *
 * Times always differ. That another number does is found out: of two events
 * that are alike but for the digits of numbers, the keys of those
 * that differ are remembered, and their numbers cut out of all kinds learned from
 * then on. Numbers that say what an event is (pid, tid, device, stream) never are.
 *
 * Only events without any flaw are learned, so a match is all that the general
 * way would have said. Learning costs as much as reading many events of known kind; where
 * nothing comes again it is soon done rarely (`credit`).
 */
enum {
	MAX_KINDS_KEPT = 4096,     /* at a time; then all are forgotten, and learned anew */
	MAX_KIND_BYTES = 8192,     /* of an event that is learned */
	MAX_KIND_NUMBERS = 24,     /* in its text that may differ */
	KIND_TEXT_BYTES = 2 << 20, /* of all kinds that are kept */
	KIND_TEXT_REACH = 32,      /* bytes behind a text that comparing it may read */
	KIND_NAME_BITS = 12,
	KIND_LONG_BITS = 14,
	KIND_SHORT_BITS = 12,
	KIND_NUMBER_REACH = 64, /* bytes behind its beginning that matching a number may read */
	MAX_VARYING_KEYS = 64,
};

/* A gap between two pieces of a kind's text. */
enum kind_slot {
	SLOT_TS,
	SLOT_DUR,
	SLOT_TIME, /* one that nobody needs */
	SLOT_TIME_COUNT,
	SLOT_NUMBER,
	SLOT_ASKED, /* a number that the sink asks for */
	SLOT_END,   /* nothing: it was the last piece */
};

/* A piece of text and the slot behind it. The text is compared in blocks of 32 bytes. */
struct kind_piece {
	uint32_t mask;       /* of the bytes that count in its last block */
	uint16_t blocks;     /* bytes in the blocks before that one */
	uint8_t tail;        /* bytes that count in its last block */
	uint8_t slot;        /* enum kind_slot */
	uint16_t arg;        /* of a number: what the sink calls it, or 0 */
	uint8_t last_digits; /* of the number there, the last time that it was usual */
};

/* A text of the event: how far behind the beginning of a piece it begins and ends. */
struct kind_text {
	uint16_t from, to, length;
	uint8_t from_piece, to_piece;
};

enum { KIND_TEXT_COUNT = 6 }; /* name, cat, pid, tid, id, args */

struct kind {
	struct kind_piece *pieces;
	const char *text;
	const uint32_t *digests; /* of the numbers in the first event of this kind */
	uint64_t shape;          /* hash of its text but for those numbers */
	size_t reach;            /* bytes behind its beginning that matching may read */
	uint32_t number;         /* passed to the sink */
	uint16_t digest_count;
	uint16_t next;  /* kind whose name has the same hash */
	uint16_t space; /* white space at its end */
	char phase;
	bool has_ts, has_dur, name_escaped;
	bool is_simple; /* all texts but args are in the first piece, and there is no id */
	struct kind_text texts[KIND_TEXT_COUNT];
};

struct scan_isa;

struct kinds {
	uint16_t *predicted; /* by the long history; points into by_long */
	uint64_t history;    /* the last sixteen kinds, four bits and more of each */
	unsigned (*arg_of)(struct str key);
	unsigned lane, lane_count;
	uint32_t reported; /* so many numbers: lane_count + lane, and on in steps of it */
	unsigned count;    /* of kinds kept; they are [1 … count] */
	int64_t credit;    /* earned by matches, spent by learning */
	size_t text_used;
	uint64_t varying[MAX_VARYING_KEYS]; /* hashes of the keys whose numbers are slots */
	unsigned varying_count;
	struct layout args_layout;             /* of events that are learned */
	uint16_t by_long[1 << KIND_LONG_BITS]; /* kind that followed */
	uint16_t by_short[1 << KIND_SHORT_BITS];
	uint16_t by_name[1 << KIND_NAME_BITS]; /* the last one matched of a chain */
	struct kind kinds[MAX_KINDS_KEPT + 1]; /* [0] is none, and matches nothing */
	_Alignas(8) char text[KIND_TEXT_BYTES + KIND_TEXT_REACH]; /* pieces, digests, texts */
};

/*
 * lane: which of the scanners that give events to one sink, MAX_KIND_LANES at most; their numbers
 * lie close together, so that the sink can have an array of them. arg_of: the sink's; gives numbers
 * below GLUE_END. NULL: no memory.
 */
struct kinds *tsi_kinds_new(unsigned lane, unsigned lane_count, unsigned (*arg_of)(struct str key));
void tsi_kinds_free(struct kinds *kinds);

/* A member of an event, which may be a number that differs, or args. */
struct kind_member {
	struct str value;
	unsigned field; /* enum event_field */
};

/* An event that was read. */
struct kind_source {
	struct str text; /* with the comma and all white space behind */
	const char *end; /* of the window */
	unsigned member_count;
	struct kind_member members[MAX_KIND_NUMBERS];
};

/*
 * Learns an event without flaws and sets its kind. The kind's index, for correct_kind();
 * 0: it was not learned. `isa` reads it.
 */
unsigned tsi_kinds_learn(struct kinds *kinds, const struct scan_isa *isa,
			 const struct kind_source *source, struct raw_event *event);

#endif
