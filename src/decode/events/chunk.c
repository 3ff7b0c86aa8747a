/* SPDX-License-Identifier: MIT */
/*
 * Reads the events of a piece of the stream into memory. Their texts are not
 * copied: they stay where they are, in the chunk.
 */
#include "decode/events/chunk.h"

#include "base/array.h"
#include "base/error.h"
#include "input/input.h"

#include <stdlib.h>

/* A struct raw_repeat takes so many bytes: few events have all the numbers that they could have. */
static size_t bytes_of_repeat(const struct raw_repeat *repeat)
{
	return offsetof(struct raw_repeat, numbers) +
	       repeat->number_count * sizeof(repeat->numbers[0]);
}

/* Stands before an event that is kept whole. */
static const struct raw_repeat no_repeat;

/* Room for one event more, of so many bytes. */
static enum tscope_status make_room(struct chunk *chunk, size_t bytes, char **room,
				    struct tscope_error *err)
{
	if (tsi_unlikely(chunk->event_count == chunk->max_event_count))
		return tsi_fail(err, TSCOPE_E_LIMIT, "enough events");
	if (tsi_array_reserve(&chunk->events, &chunk->event_capacity, chunk->event_bytes + bytes, 1,
			      err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	*room = chunk->events + chunk->event_bytes;
	chunk->event_bytes += bytes;
	chunk->event_count++;
	return TSCOPE_OK;
}

static enum tscope_status keep_event(struct event_sink *sink, const struct raw_event *event,
				     struct tscope_error *err)
{
	size_t bytes = bytes_of_repeat(&no_repeat);
	char *room = NULL;
	enum tscope_status status =
		make_room((struct chunk *)sink, bytes + sizeof(*event), &room, err);
	if (status != TSCOPE_OK)
		return status;
	memcpy(room, &no_repeat, bytes);
	memcpy(room + bytes, event, sizeof(*event));
	return TSCOPE_OK;
}

/* In pieces of known length: a call of memcpy() would take longer than the copying. */
static bool keep_repeat(struct event_sink *sink, const struct raw_repeat *repeat,
			enum tscope_status *status, struct tscope_error *err)
{
	char *room = NULL;
	*status = make_room((struct chunk *)sink, bytes_of_repeat(repeat), &room, err);
	if (*status != TSCOPE_OK)
		return true;
	memcpy(room, repeat, offsetof(struct raw_repeat, numbers));
	room += offsetof(struct raw_repeat, numbers);
	for (uint32_t i = 0; i < repeat->number_count; i++)
		memcpy(room + i * sizeof(repeat->numbers[0]), &repeat->numbers[i],
		       sizeof(repeat->numbers[0]));
	return true;
}

enum tscope_status tsi_chunk_init(struct chunk *chunk, size_t room, struct tscope_error *err)
{
	if (tsi_array_new(&chunk->memory, CHUNK_HEADROOM + room + TSI_INPUT_PADDING, 1, err) !=
	    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	chunk->text = chunk->memory + CHUNK_HEADROOM;
	chunk->sink.event = keep_event;
	chunk->sink.repeat = keep_repeat;
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

static void point_at(struct scanner *scanner, const struct chunk *chunk, size_t place)
{
	scanner->window = chunk->text;
	scanner->offset = chunk->offset;
	scanner->at = chunk->text + place;
	scanner->end = chunk->text + chunk->length;
}

/* Reads from a place on. False: the events did not fit. */
static bool read_from(struct chunk *chunk, struct scanner *scanner, size_t start)
{
	chunk->event_count = chunk->event_bytes = 0;
	chunk->sink.element_count = 0;
	memset(chunk->sink.diagnostics, 0, sizeof(chunk->sink.diagnostics));
	scanner->sink = &chunk->sink;
	point_at(scanner, chunk, start);
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

/* ---- handing on ----------------------------------------------------------------------- */

/* Gets one event and stops the scanner. */
struct one_event {
	struct event_sink sink;
	struct event_sink *to;
	uint32_t kind;
	bool has_come;
	enum tscope_status status;
};

static enum tscope_status hand_on_one(struct event_sink *sink, const struct raw_event *event,
				      struct tscope_error *err)
{
	struct one_event *one = (struct one_event *)sink;
	struct raw_event with_kind = *event;
	with_kind.kind = one->kind;
	one->has_come = true;
	one->status = one->to->event(one->to, &with_kind, err);
	return TSCOPE_E_LIMIT;
}

/*
 * Reads the event once more, the general way, or else carefully: seldom is more wanted of it than
 * what repeats.
 */
static enum tscope_status hand_on_whole(const struct chunk *chunk, struct scanner *scanner,
					const struct raw_repeat *repeat, struct event_sink *to,
					struct tscope_error *err)
{
	struct one_event one = { .sink.event = hand_on_one, .to = to, .kind = repeat->kind };
	struct kinds *kinds = scanner->kinds;
	scanner->kinds = NULL;
	scanner->sink = &one.sink;
	point_at(scanner, chunk, (size_t)(repeat->text - chunk->text));
	tsi_scan_isa(NULL)->scan(scanner, err);
	if (!one.has_come)
		(void)tsi_element_read(scanner, true, err);
	scanner->kinds = kinds;
	if (!one.has_come)
		return tsi_fail(err, TSCOPE_E_INTERNAL, "an event was read in two ways");
	return one.status;
}

/* The event at *at, which moves behind it. */
static inline enum tscope_status hand_on_next(const struct chunk *chunk, struct scanner *scanner,
					      const char **at, struct event_sink *to,
					      struct tscope_error *err)
{
	const struct raw_repeat *repeat = (const struct raw_repeat *)(const void *)*at;
	enum tscope_status status;
	*at += bytes_of_repeat(repeat);
	if (tsi_likely(repeat->kind))
		return to->repeat(to, repeat, &status, err)
			       ? status
			       : hand_on_whole(chunk, scanner, repeat, to, err);
	const struct raw_event *event = (const struct raw_event *)(const void *)*at;
	*at += sizeof(*event);
	return to->event(to, event, err);
}

enum tscope_status tsi_chunk_hand_on(struct chunk *chunk, struct scanner *scanner,
				     struct event_sink *to, struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;
	const char *at = chunk->events;
	size_t taken = 0;
	for (; taken < chunk->event_count && status == TSCOPE_OK; taken++)
		status = hand_on_next(chunk, scanner, &at, to, err);
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
