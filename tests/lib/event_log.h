/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_EVENT_LOG_H
#define TSCOPE_TESTS_EVENT_LOG_H

#include "decode/events/event_sink.h"

/*
 * A sink that writes down what it gets, for tests of decoders: a line for each
 * event and each piece of metadata.
 *
 *	X|aten::mm|cpu_op|1|2||100000|5000|{"a": 1}	phase, name, cat, pid, tid, id, ts_ns, dur_ns, args
 *	M: baseTimeNanoseconds=17
 *
 * A name with escapes gets a '~' in front.
 */
struct event_log {
	struct event_sink sink;
	char *text; /* NUL-terminated, never NULL */
	size_t length, capacity;
};

void event_log_init(struct event_log *log);
void event_log_deinit(struct event_log *log);

/* Are lines and counters alike? */
bool event_log_equal(const struct event_log *a, const struct event_log *b);

#endif
