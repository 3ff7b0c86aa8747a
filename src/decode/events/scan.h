/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_EVENTS_SCAN_H
#define TSCOPE_DECODE_EVENTS_SCAN_H

#include "decode/events/event_sink.h"
#include "decode/events/kinds.h"
#include "decode/events/layout.h"

/*
 * The scanner: the hot loop over the elements of traceEvents. It knows the
 * usual form of an event, whatever the order of its keys and its white space,
 * reads it 32 and 64 bytes at a time and hands it to the sink. Whatever is not
 * usual it leaves where it is, for element.c, which is careful instead of fast
 * and gives the same events (a test compares the two).
 *
 * scan.c is compiled once per instruction set; scan_table.c picks at run time.
 */
enum scan_result {
	SCAN_MORE,   /* the window ends inside the element at `at`, or before what follows it */
	SCAN_CLOSED, /* the bracket that closes the events was read; `at` is behind it */
	SCAN_ODD,    /* the element at `at` is not of the usual form */
	SCAN_FAILED, /* the sink failed; see err */
};

struct scanner {
	const char *at, *end; /* the window, with TSI_INPUT_PADDING behind; scan() moves `at` */
	const char *window;   /* where the window begins … */
	uint64_t offset;      /* … in the decompressed stream */
	size_t max_depth;     /* deepest nesting of an event's values */
	struct event_sink *sink;
	struct layout layout; /* of the events */
	struct kinds *kinds;  /* of the events; NULL: all are read the general way */
};

struct members;

/* The functions compiled for one instruction set. */
struct scan_isa {
	const char *name; /* "avx2" */
	bool (*is_supported)(void);
	/* See members.h. */
	bool (*next_member)(struct members *members, unsigned *field, struct str *value);
	/* Reads elements from `at`, which is before an element (not before a comma). */
	enum scan_result (*scan)(struct scanner *scanner, struct tscope_error *err);
};

/* The name of a function of one instruction set: tsi_next_member_avx2. */
#define TSI_ISA_NAME(name) TSI_ISA_NAME_OF(name, TSI_ISA)
#define TSI_ISA_NAME_OF(name, isa) TSI_ISA_JOIN(name, isa)
#define TSI_ISA_JOIN(name, isa) name##_##isa

/* The best one this machine runs, or the one named by name (tests); NULL: not here. */
const struct scan_isa *tsi_scan_isa(const char *name);

/* Oddities in the text of one event that was read all the same. */
struct event_flaws {
	bool bad_time; /* ts or dur there, but no number */
	bool duplicate_key;
	bool control_character;
	bool has_tdur; /* duration on the thread's clock: stands in for a missing dur */
	int64_t tdur_ns;
};

/*
 * Where both readers end: counts an element, its flaws and what it lacks. True: it lacks
 * nothing that its phase needs, and is to be passed to the sink; which emit does, too.
 */
bool tsi_event_settle(struct event_sink *sink, struct raw_event *event,
		      const struct event_flaws *flaws);
enum tscope_status tsi_event_emit(struct event_sink *sink, struct raw_event *event,
				  const struct event_flaws *flaws, struct tscope_error *err);

/*
 * The careful reader: takes the one element at `at`, in whatever form, with
 * the comma or bracket behind it. Repairs what writers get wrong,
 * skips and counts what cannot be read, and never stands still.
 */
enum element_result {
	ELEMENT_TAKEN,  /* read or skipped; `at` moved */
	ELEMENT_CLOSED, /* the bracket that closes the events was read */
	ELEMENT_MORE,   /* the window ends inside it */
	ELEMENT_FAILED, /* the sink failed or a limit was hit; see err */
};

/* is_last: nothing follows the window. */
enum element_result tsi_element_read(struct scanner *scanner, bool is_last,
				     struct tscope_error *err);

#endif
