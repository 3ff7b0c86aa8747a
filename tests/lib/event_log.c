/* SPDX-License-Identifier: MIT */
#include "event_log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(struct event_log *log, const void *bytes, size_t length)
{
	if (log->length + length + 1 > log->capacity) {
		log->capacity = (log->length + length + 1) * 2;
		log->text = realloc(log->text, log->capacity);
	}
	if (length)
		memcpy(log->text + log->length, bytes, length);
	log->length += length;
	log->text[log->length] = '\0';
}

static void put_field(struct event_log *log, struct str text)
{
	put(log, text.data, text.length);
	put(log, "|", 1);
}

static enum tscope_status take_event(struct event_sink *sink, const struct raw_event *event,
				     struct tscope_error *err)
{
	struct event_log *log = (struct event_log *)sink;
	char times[64];
	(void)err;

	put(log, &event->phase, 1);
	put(log, "|~", event->name_escaped ? 2 : 1);
	put_field(log, event->name);
	put_field(log, event->cat);
	put_field(log, event->pid);
	put_field(log, event->tid);
	put_field(log, event->id);
	int length = snprintf(times, sizeof(times), "%" PRId64 "|%" PRId64 "|", event->ts_ns,
			      event->dur_ns);
	put(log, times, (size_t)length);
	put(log, event->args.data, event->args.length);
	put(log, "\n", 1);
	return TSCOPE_OK;
}

static enum tscope_status take_metadata(struct event_sink *sink, struct str key, struct str value,
					struct tscope_error *err)
{
	struct event_log *log = (struct event_log *)sink;
	(void)err;
	put(log, "M: ", 3);
	put(log, key.data, key.length);
	put(log, "=", 1);
	put(log, value.data, value.length);
	put(log, "\n", 1);
	return TSCOPE_OK;
}

/* A line says more of an event than what repeats. */
static bool refuse(struct event_sink *sink, const struct raw_repeat *repeat,
		   enum tscope_status *status, struct tscope_error *err)
{
	(void)sink, (void)repeat, (void)status, (void)err;
	return false;
}

void event_log_init(struct event_log *log)
{
	*log = (struct event_log){
		.sink = { .event = take_event, .repeat = refuse, .metadata = take_metadata },
	};
	put(log, "", 0);
}

void event_log_deinit(struct event_log *log)
{
	free(log->text);
	*log = (struct event_log){ 0 };
}

bool event_log_equal(const struct event_log *a, const struct event_log *b)
{
	return a->length == b->length && memcmp(a->text, b->text, a->length) == 0 &&
	       memcmp(a->sink.diagnostics, b->sink.diagnostics, sizeof(a->sink.diagnostics)) == 0 &&
	       a->sink.element_count == b->sink.element_count;
}
