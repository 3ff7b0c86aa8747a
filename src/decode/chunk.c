/* SPDX-License-Identifier: MIT */
/*
 * Reads the events of a piece of the stream into memory. Their texts are not
 * copied: they stay where they are, in the chunk.
 */
#include "decode/chunk.h"

#include "base/array.h"
#include "base/error.h"
#include "input/input.h"

#include <stdlib.h>

/* Few events have all the numbers that they could have. */
static size_t bytes_of(const struct raw_event *event)
{
	return offsetof(struct raw_event, numbers) +
	       event->number_count * sizeof(event->numbers[0]);
}

static enum tscope_status take_event(struct event_sink *sink, const struct raw_event *event,
				     struct tscope_error *err)
{
	struct chunk *chunk = (struct chunk *)sink;
	size_t bytes = bytes_of(event);
	if (tsi_unlikely(chunk->event_count == chunk->max_event_count))
		return tsi_fail(err, TSCOPE_E_LIMIT, "enough events");
	if (tsi_array_reserve(&chunk->events, &chunk->event_capacity, chunk->event_bytes + bytes, 1,
			      err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	memcpy(chunk->events + chunk->event_bytes, event, bytes);
	chunk->event_bytes += bytes;
	chunk->event_count++;
	return TSCOPE_OK;
}

enum tscope_status tsi_chunk_init(struct chunk *chunk, size_t room, struct tscope_error *err)
{
	if (tsi_array_new(&chunk->memory, CHUNK_HEADROOM + room + TSI_INPUT_PADDING, 1, err) !=
	    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	chunk->text = chunk->memory + CHUNK_HEADROOM;
	chunk->sink.event = take_event;
	return TSCOPE_OK;
}

void tsi_chunk_deinit(struct chunk *chunk)
{
	free(chunk->memory);
	free(chunk->events);
}

void tsi_boundary_learn(struct boundary *boundary, const struct scanner *scanner)
{
	const char *from = scanner->at, *to = tsi_skip_space(scanner->at, scanner->end);
	if (from == scanner->window || *--from != ',')
		return;
	while (from > scanner->window && tsi_is_space(from[-1]))
		from--;
	if (from == scanner->window || *--from != '}')
		return;
	if (to == scanner->end || *to != '{')
		return;
	to = tsi_skip_space(to + 1, scanner->end);
	if (to == scanner->end || *to != '"')
		return;
	to = memchr(to + 1, '"', (size_t)(scanner->end - to - 1));
	if (!to || to + 1 - from > BOUNDARY_BYTES)
		return;
	boundary->length = (size_t)(to + 1 - from);
	boundary->comma = (size_t)(scanner->at - from);
	memcpy(boundary->text, from, boundary->length);
}

/* Reads from a place on. False: the events did not fit. */
static bool read_from(struct chunk *chunk, struct scanner *scanner, size_t start)
{
	chunk->event_count = chunk->event_bytes = 0;
	chunk->sink.element_count = 0;
	memset(chunk->sink.diagnostics, 0, sizeof(chunk->sink.diagnostics));
	scanner->sink = &chunk->sink;
	scanner->window = chunk->text;
	scanner->offset = chunk->offset;
	scanner->at = chunk->text + start;
	scanner->end = chunk->text + chunk->length;
	chunk->result = tsi_scan_isa(NULL)->scan(scanner, NULL);
	chunk->start = start;
	chunk->stop = (size_t)(scanner->at - chunk->text);
	return chunk->result != SCAN_FAILED;
}

void tsi_chunk_read(struct chunk *chunk, struct scanner *scanner, const struct boundary *boundary)
{
	struct str text = { chunk->text, chunk->length };
	struct str between = { boundary->text, boundary->length };
	chunk->has_events = false;
	chunk->max_event_count = SIZE_MAX;
	ptrdiff_t found = between.length ? tsi_str_find(text, between) : -1;
	if (found >= 0)
		chunk->has_events = read_from(chunk, scanner, (size_t)found + boundary->comma);
}

enum tscope_status tsi_chunk_hand_on(struct chunk *chunk, struct scanner *scanner,
				     struct event_sink *to, struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;
	size_t taken = 0;
	const char *at = chunk->events;
	for (; taken < chunk->event_count && status == TSCOPE_OK; taken++) {
		const struct raw_event *event = (const struct raw_event *)at;
		status = to->event(to, event, err);
		at += bytes_of(event);
	}
	if (status != TSCOPE_OK) {
		/* Seldom enough to find by a second reading what had been counted by then. */
		chunk->max_event_count = taken - 1;
		read_from(chunk, scanner, chunk->start);
	}
	for (size_t i = 0; i < TSCOPE_DIAGNOSTIC_COUNT; i++)
		to->diagnostics[i] += chunk->sink.diagnostics[i];
	to->element_count += chunk->sink.element_count;
	return status;
}
