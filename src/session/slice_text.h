/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_SESSION_SLICE_TEXT_H
#define TSCOPE_SESSION_SLICE_TEXT_H

#include "comm/world.h"
#include "decode/events/event_sink.h"
#include "session/redact.h"

/* A rank among others in one file: its clock becomes that of the lowest one. */
struct slice_rank {
	int64_t number;
	const struct world *world; /* NULL: nothing ties the clocks */
	uint32_t index;            /* in the world */
	int64_t base_ns;           /* Unix time of "ts": 0 of this trace … */
	int64_t shared_base_ns;    /* … and of the file that is written */
};

/* A time of the rank's trace as the file that is written has it. Saturates. */
int64_t tsi_slice_time(const struct slice_rank *rank, int64_t ns);

/* How texts of a trace are written. */
struct slice_form {
	const struct slice_rank *rank;     /* NULL: clock, processes and ids stay */
	const struct redaction *redaction; /* NULL: names stay */
};

/*
 * Writes an event, byte for byte but for what the form changes. Names are only taken out of what
 * is JSON: of other events nothing is written then.
 */
void tsi_slice_event(struct gzip_out *out, const struct raw_event *event,
		     const struct slice_form *form);

/* Writes a value of metadata, likewise; null in place of what is no JSON. */
void tsi_slice_value(struct gzip_out *out, struct str key, struct str value,
		     const struct slice_form *form);

#endif
