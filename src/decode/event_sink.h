/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_EVENT_SINK_H
#define TSCOPE_DECODE_EVENT_SINK_H

#include "base/attributes.h"
#include "base/str.h"

#include <tscope/trace.h>

/*
 * What a decoder emits and the model's builder takes: events, pieces of
 * metadata, and counts of what was odd. Decoders know nothing of the model.
 */

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
};

struct event_sink {
	/* Takes one event. Any failure ends the decoding and is passed on. */
	enum tscope_status (*event)(struct event_sink *sink, const struct raw_event *event,
				    struct tscope_error *err);
	/*
	 * Takes one top-level key beside traceEvents with its value as JSON text.
	 * Values longer than a megabyte do not come here: they are skipped.
	 */
	enum tscope_status (*metadata)(struct event_sink *sink, struct str key, struct str value,
				       struct tscope_error *err);
	/* Counters that the decoder adds to. */
	uint64_t diagnostics[TSCOPE_DIAGNOSTIC_COUNT];
	uint64_t element_count; /* elements of traceEvents seen */
};

#endif
