/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_EVENTS_EVENT_SINK_H
#define TSCOPE_DECODE_EVENTS_EVENT_SINK_H

#include "base/attributes.h"
#include "base/str.h"

#include <stdbool.h>

#include <tscope/trace.h>

/*
 * Interface from decoders to the model's builder: events, pieces of metadata, and counts of
 * oddities. Decoders know nothing of the model.
 */

enum {
	MAX_RAW_NUMBERS = 8,
	MAX_KINDS = 1 << 15, /* that one scanner ever reports */
	MAX_KIND_LANES = 9,  /* scanners that give events to one sink */
};

/*
 * One element of traceEvents. All texts point into the decoder's buffer and die
 * with the call; TSI_INPUT_PADDING bytes behind them may be read.
 */
struct raw_event {
	char phase; /* first character of "ph" */
	bool has_ts;
	bool has_dur;
	bool name_escaped; /* name holds backslashes: JSON text that needs tsi_json_unescape() */
	int64_t ts_ns;
	int64_t dur_ns;  /* >= 0 */
	struct str name; /* JSON text between the quotes */
	struct str cat;  /* likewise; escapes do not matter there */
	struct str pid;  /* canonical text: digits, or a string without its quotes */
	struct str tid;
	struct str id;   /* likewise, or the JSON text of id2; empty when absent */
	struct str args; /* JSON text of the value, braces and all, or empty; only balanced */
	struct str text; /* all of it, brace to brace, as it stands in the file */
	uint32_t kind;   /* see struct raw_repeat; 0: of none */
};

/* A number in args that differs among the events of a kind, and whose key the sink asks for. */
struct raw_number {
	uint64_t value; /* UINT64_MAX: not of one to fifteen digits alone, read the text */
	uint32_t at;    /* where it begins in the event */
	uint16_t length;
	uint16_t arg; /* what the sink's arg_of() calls its key */
};

/*
 * Most events repeat one before them but for their times and a few numbers in args. Events of one
 * kind are byte for byte alike in phase, name, cat, pid and tid, have all times or lack the same,
 * and are alike in all of args but the numbers listed here and those that the sink does not
 * ask for; so what was found out about one of a kind holds for all.
 */
struct raw_repeat {
	const char *text; /* of the event, from its brace on; dies like those of raw_event */
	int64_t ts_ns;
	int64_t dur_ns; /* >= 0 */
	uint32_t kind;  /* > 0 */
	uint32_t number_count;
	struct raw_number numbers[MAX_RAW_NUMBERS];
};

struct event_sink {
	/*
	 * Takes an event of a kind, with a status as event(). False: it wants the whole event, as
	 * at first of each kind, and gets it by event(), with its kind. May be NULL where
	 * arg_of is.
	 */
	bool (*repeat)(struct event_sink *sink, const struct raw_repeat *repeat,
		       enum tscope_status *status, struct tscope_error *err);
	/* Takes one event. Any failure ends the decoding and is passed on. */
	enum tscope_status (*event)(struct event_sink *sink, const struct raw_event *event,
				    struct tscope_error *err);
	/*
	 * Takes one top-level key beside traceEvents with its value as JSON text.
	 * Values longer than a megabyte do not come here: they are skipped.
	 */
	enum tscope_status (*metadata)(struct event_sink *sink, struct str key, struct str value,
				       struct tscope_error *err);
	/*
	 * The events between two calls stand in the stream from one offset to the other, both
	 * before an element. Many events come outside such stretches. NULL: of no use.
	 */
	void (*stretch)(struct event_sink *sink, uint64_t offset, bool is_end);
	/*
	 * The sink's number for a key of args, 0: it does not ask for it. NULL: the sink has no
	 * use for kinds, and gets none.
	 */
	unsigned (*arg_of)(struct str key);
	/* Counters that the decoder adds to. */
	uint64_t diagnostics[TSCOPE_DIAGNOSTIC_COUNT];
	uint64_t element_count; /* elements of traceEvents seen */
};

#endif
