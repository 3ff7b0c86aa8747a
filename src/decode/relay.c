/* SPDX-License-Identifier: MIT */
/*
 * From the decoder's thread to the builder's. Two queues make a ring of a few
 * batches that stay in the cache: empty ones go to the decoder, filled ones to
 * the builder. The texts of an event lie close together in the decoder's
 * window, so one copy of all that lies between the first and the last of them
 * is cheaper than one for each.
 */
#include "decode/relay.h"

#include "base/array.h"
#include "base/error.h"
#include "base/queue.h"
#include "input/input.h"

#include <stdatomic.h>
#include <stdlib.h>

enum {
	BATCHES = 4,
	BATCH_EVENTS = 256,
	BATCH_TEXT_BYTES = 64 * 1024, /* more where one event needs it */
};

struct batch {
	size_t count;
	struct raw_event
		events[BATCH_EVENTS]; /* phase 0: metadata, its key in name, its value in args */
	char *text;                   /* what the events point into */
	size_t text_length, text_capacity;
};

struct relay {
	struct event_sink sink; /* first: a pointer to it is one to the relay */
	struct event_sink *to;
	struct batch batches[BATCHES];
	struct batch *filling;
	struct queue *empty, *filled;
	struct thread *thread;
	atomic_bool has_failed;    /* set once status and err are */
	enum tscope_status status; /* of `to` */
	struct tscope_error err;
};

/* ---- in the builder's thread --------------------------------------------------------- */

static enum tscope_status pass_on(struct relay *relay, const struct batch *batch)
{
	struct event_sink *to = relay->to;
	enum tscope_status status = TSCOPE_OK;
	for (size_t i = 0; i < batch->count && status == TSCOPE_OK; i++) {
		const struct raw_event *event = &batch->events[i];
		status = event->phase ? to->event(to, event, &relay->err)
				      : to->metadata(to, event->name, event->args, &relay->err);
	}
	return status;
}

/* After a failure batches are still taken, so that the decoder does not wait for ever. */
static void run(void *argument)
{
	struct relay *relay = argument;
	struct batch *batch;
	while ((batch = tsi_queue_pop(relay->filled)) != NULL) {
		if (relay->status == TSCOPE_OK) {
			relay->status = pass_on(relay, batch);
			if (relay->status != TSCOPE_OK)
				atomic_store(&relay->has_failed, true);
		}
		batch->count = 0;
		batch->text_length = 0;
		if (!tsi_queue_push(relay->empty, batch))
			return;
	}
}

/* ---- in the decoder's thread --------------------------------------------------------- */

static enum tscope_status failure(const struct relay *relay, struct tscope_error *err)
{
	if (err)
		*err = relay->err;
	return relay->status;
}

/* Hands the batch over and takes an empty one. */
static enum tscope_status turn(struct relay *relay, struct tscope_error *err)
{
	if (!tsi_queue_push(relay->filled, relay->filling))
		return tsi_fail(err, TSCOPE_E_INTERNAL, "the relay of events is closed");
	relay->filling = tsi_queue_pop(relay->empty);
	return atomic_load(&relay->has_failed) ? failure(relay, err) : TSCOPE_OK;
}

enum { EVENT_TEXTS = 6 };

static void list_texts(struct raw_event *event, struct str *texts[EVENT_TEXTS])
{
	texts[0] = &event->name;
	texts[1] = &event->cat;
	texts[2] = &event->pid;
	texts[3] = &event->tid;
	texts[4] = &event->id;
	texts[5] = &event->args;
}

/* The stretch of memory that holds all texts of an event. */
static struct str stretch_of(struct str *const texts[EVENT_TEXTS])
{
	const char *start = NULL, *end = NULL;
	for (size_t i = 0; i < EVENT_TEXTS; i++) {
		const struct str *text = texts[i];
		if (text->length == 0)
			continue;
		if (!start || text->data < start)
			start = text->data;
		if (!end || text->data + text->length > end)
			end = text->data + text->length;
	}
	return (struct str){ start, (size_t)(end - start) };
}

static enum tscope_status add(struct relay *relay, struct raw_event *event,
			      struct tscope_error *err)
{
	struct str *texts[EVENT_TEXTS];
	list_texts(event, texts);
	struct str stretch = stretch_of(texts);
	struct batch *batch = relay->filling;
	size_t needed = batch->text_length + stretch.length + TSI_INPUT_PADDING;
	if (batch->count == BATCH_EVENTS || (batch->count && needed > batch->text_capacity)) {
		enum tscope_status status = turn(relay, err);
		if (status != TSCOPE_OK)
			return status;
		batch = relay->filling;
		needed = stretch.length + TSI_INPUT_PADDING;
	}
	if (tsi_array_reserve(&batch->text, &batch->text_capacity, needed, 1, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;

	char *copy = batch->text + batch->text_length;
	if (stretch.length)
		memcpy(copy, stretch.data, stretch.length);
	for (size_t i = 0; i < EVENT_TEXTS; i++)
		texts[i]->data = texts[i]->length ? copy + (texts[i]->data - stretch.data) : copy;
	batch->text_length += stretch.length;
	batch->events[batch->count++] = *event;
	return TSCOPE_OK;
}

static enum tscope_status take_event(struct event_sink *sink, const struct raw_event *event,
				     struct tscope_error *err)
{
	struct raw_event copy = *event;
	return add((struct relay *)sink, &copy, err);
}

/* Key and value may lie anywhere: two stretches, so two copies. */
static enum tscope_status take_metadata(struct event_sink *sink, struct str key, struct str value,
					struct tscope_error *err)
{
	struct relay *relay = (struct relay *)sink;
	size_t length = key.length + value.length;
	char *both = malloc(length + 1);
	if (!both)
		return tsi_fail_nomem(err);
	if (key.length)
		memcpy(both, key.data, key.length);
	if (value.length)
		memcpy(both + key.length, value.data, value.length);
	struct raw_event event = {
		.name = { both, key.length },
		.args = { both + key.length, value.length },
	};
	enum tscope_status status = add(relay, &event, err);
	free(both);
	return status;
}

/* ---- life ---------------------------------------------------------------------------- */

static enum tscope_status start(struct relay *relay, struct tscope_error *err)
{
	if (tsi_queue_new(&relay->empty, BATCHES, err) != TSCOPE_OK ||
	    tsi_queue_new(&relay->filled, BATCHES, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < BATCHES; i++) {
		struct batch *batch = &relay->batches[i];
		if (tsi_array_reserve(&batch->text, &batch->text_capacity, BATCH_TEXT_BYTES, 1,
				      err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		if (i > 0 && !tsi_queue_push(relay->empty, batch))
			return tsi_fail(err, TSCOPE_E_INTERNAL, "the relay of events is closed");
	}
	relay->filling = &relay->batches[0];
	return tsi_thread_start(&relay->thread, run, relay, err);
}

enum tscope_status tsi_relay_new(struct relay **ret, struct event_sink *to,
				 struct tscope_error *err)
{
	struct relay *relay = calloc(1, sizeof(*relay));
	if (!relay)
		return tsi_fail_nomem(err);
	relay->sink.event = take_event;
	relay->sink.metadata = take_metadata;
	relay->sink.arg_of = to->arg_of;
	relay->to = to;
	enum tscope_status status = start(relay, err);
	if (status == TSCOPE_OK)
		*ret = relay;
	else
		tsi_relay_free(relay);
	return status;
}

struct event_sink *tsi_relay_sink(struct relay *relay)
{
	return &relay->sink;
}

/* Lets the thread take what is filled, and end. */
static void join(struct relay *relay)
{
	if (!relay->thread)
		return;
	tsi_queue_close(relay->filled);
	tsi_thread_join(relay->thread);
	relay->thread = NULL;
}

enum tscope_status tsi_relay_finish(struct relay *relay, struct tscope_error *err)
{
	enum tscope_status status = turn(relay, err);
	join(relay);
	for (size_t i = 0; i < TSCOPE_DIAGNOSTIC_COUNT; i++)
		relay->to->diagnostics[i] += relay->sink.diagnostics[i];
	relay->to->element_count += relay->sink.element_count;
	return status == TSCOPE_OK && relay->status != TSCOPE_OK ? failure(relay, err) : status;
}

void tsi_relay_free(struct relay *relay)
{
	if (!relay)
		return;
	join(relay);
	tsi_queue_free(relay->empty);
	tsi_queue_free(relay->filled);
	for (size_t i = 0; i < BATCHES; i++)
		free(relay->batches[i].text);
	free(relay);
}
