/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_EVENTS_FORMAT_H
#define TSCOPE_DECODE_EVENTS_FORMAT_H

#include "decode/events/event_sink.h"
#include "input/input.h"

/*
 * A format: how bytes become events.
 *
 * To add one: write format_<name>.c with a `const struct format
 * tsi_format_<name>`, add FORMAT(name) to format_list.h and the file to
 * meson.build, and a test tests/unit/test_format_<name>.c.
 */
struct decode_options {
	uint64_t max_event_bytes; /* 0: default, 64 MiB */
	unsigned max_depth;       /* 0: default, 512 */
	unsigned thread_count;    /* that may work, the caller's included; 0: 1 */
};

struct format {
	/*
	 * Looks at the first bytes of the stream (at least 4 KiB unless it is shorter) and
	 * says how sure it is, in bits verified; 0: not mine. Consumes nothing.
	 */
	unsigned (*taste)(const char *data, size_t length);
	/*
	 * Reads the stream to its end into the sink.
	 * TSCOPE_OK: read to the end. An error: what came before it has been emitted
	 * and stays good.
	 */
	enum tscope_status (*decode)(struct input *in, const struct decode_options *options,
				     struct event_sink *sink, struct tscope_error *err);
};

/*
 * Finds the format by content and decodes. Fails with TSCOPE_E_FORMAT or
 * TSCOPE_E_UNSUPPORTED, naming what the bytes look like and the remedy, before
 * anything was emitted, or as the format's decode does.
 */
TSI_MUST_CHECK
enum tscope_status tsi_decode(struct input *in, const struct decode_options *options,
			      struct event_sink *sink, struct tscope_error *err);

#endif
