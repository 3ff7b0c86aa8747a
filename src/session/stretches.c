/* SPDX-License-Identifier: MIT */
#include "session/stretches.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

#include "base/array.h"
#include "base/sum.h"

enum {
	KIND_BITS = MAX_KINDS * (MAX_KIND_LANES + 1),
	MOST_BYTES = 256 << 20, /* that are held of a file; with more, it is read whole */
};

static struct stretch *open_one(struct stretches *stretches)
{
	return stretches->is_open ? &stretches->items[stretches->count - 1] : NULL;
}

static void note(struct stretch *stretch, int64_t start_ns, int64_t dur_ns)
{
	int64_t end_ns = tsi_narrow((tsi_wide)start_ns + dur_ns);

	if (start_ns < stretch->first_ns)
		stretch->first_ns = start_ns;
	if (start_ns > stretch->last_ns)
		stretch->last_ns = start_ns;
	if (end_ns > stretch->end_ns)
		stretch->end_ns = end_ns;
}

/* Kinds are known by the first event of each, which comes here. */
static enum tscope_status take_event(struct event_sink *sink, const struct raw_event *event,
				     struct tscope_error *err)
{
	struct stretches *stretches = (struct stretches *)sink;
	struct stretch *stretch = open_one(stretches);
	bool is_timeless = !event->has_ts || event->phase == 'M';

	if (is_timeless && event->kind > 0 && event->kind < KIND_BITS)
		stretches->timeless[event->kind / 8] |= (unsigned char)(1U << event->kind % 8);
	if (stretch && is_timeless)
		stretch->is_needed = true;
	else if (stretch)
		note(stretch, event->ts_ns, event->has_dur ? event->dur_ns : 0);
	return stretches->to->event(stretches->to, event, err);
}

static bool take_repeat(struct event_sink *sink, const struct raw_repeat *repeat,
			enum tscope_status *status, struct tscope_error *err)
{
	struct stretches *stretches = (struct stretches *)sink;
	struct stretch *stretch = open_one(stretches);

	if (!stretches->to->repeat(stretches->to, repeat, status, err))
		return false;
	if (!stretch)
		return true;
	if (repeat->kind >= KIND_BITS ||
	    stretches->timeless[repeat->kind / 8] & 1U << repeat->kind % 8)
		stretch->is_needed = true;
	note(stretch, repeat->ts_ns, repeat->dur_ns);
	return true;
}

static enum tscope_status take_metadata(struct event_sink *sink, struct str key, struct str value,
					struct tscope_error *err)
{
	struct event_sink *to = ((struct stretches *)sink)->to;

	return to->metadata(to, key, value, err);
}

/* One that has no room is not there: its bytes are read again. */
static void take_stretch(struct event_sink *sink, uint64_t offset, bool is_end)
{
	struct stretches *stretches = (struct stretches *)sink;

	if (is_end && stretches->is_open) {
		stretches->items[stretches->count - 1].to = offset;
	} else if (!is_end &&
		   tsi_array_reserve(&stretches->items, &stretches->capacity, stretches->count + 1,
				     sizeof(*stretches->items), NULL) == TSCOPE_OK) {
		stretches->items[stretches->count++] = (struct stretch){ .from = offset,
									 .to = offset,
									 .first_ns = INT64_MAX,
									 .last_ns = INT64_MIN,
									 .end_ns = INT64_MIN };
	}
	stretches->is_open = !is_end && stretches->count > 0 &&
			     stretches->items[stretches->count - 1].from == offset;
}

enum tscope_status tsi_stretches_begin(struct stretches *stretches, struct event_sink *to,
				       struct tscope_error *err)
{
	stretches->to = to;
	stretches->sink = (struct event_sink){ .repeat = to->repeat ? take_repeat : NULL,
					       .event = take_event,
					       .metadata = take_metadata,
					       .stretch = take_stretch,
					       .arg_of = to->arg_of };
	return tsi_array_new(&stretches->timeless, KIND_BITS / 8, 1, err);
}

void tsi_stretches_end(struct stretches *stretches)
{
	for (size_t i = 0; i < TSCOPE_DIAGNOSTIC_COUNT; i++)
		stretches->to->diagnostics[i] += stretches->sink.diagnostics[i];
	stretches->to->element_count += stretches->sink.element_count;
}

void tsi_stretches_deinit(struct stretches *stretches)
{
	free(stretches->items);
	free(stretches->timeless);
}

/* ---- reading again ---- */

/* Appends the bytes of a file from one place to another; false: they are not there. */
static bool append(FILE *file, uint64_t from, uint64_t to, char *text, size_t *length)
{
	size_t wanted = (size_t)(to - from);

	if (fseeko(file, (off_t)from, SEEK_SET) != 0 ||
	    fread(text + *length, 1, wanted, file) != wanted)
		return false;
	*length += wanted;
	return true;
}

static uint64_t size_of(FILE *file)
{
	off_t end = fseeko(file, 0, SEEK_END) == 0 ? ftello(file) : -1;

	return end > 0 ? (uint64_t)end : 0;
}

/* The rest of a file, or NULL: it is to be read whole. */
static char *read_rest(FILE *file, const struct stretches *stretches, size_t *length)
{
	uint64_t size = size_of(file), rest = size, at = 0;
	bool is_read = true;
	char *text;

	for (size_t i = 0; i < stretches->count; i++)
		rest -= stretches->items[i].is_out
				? stretches->items[i].to - stretches->items[i].from
				: 0;
	if (rest > size / 2 || rest > MOST_BYTES ||
	    tsi_array_new(&text, (size_t)rest + TSI_INPUT_PADDING, 1, NULL) != TSCOPE_OK)
		return NULL;
	for (size_t i = 0; i < stretches->count && is_read; i++) {
		if (!stretches->items[i].is_out)
			continue;
		is_read = append(file, at, stretches->items[i].from, text, length);
		at = stretches->items[i].to;
	}
	if (is_read && append(file, at, size, text, length))
		return text;
	free(text);
	return NULL;
}

enum tscope_status tsi_stretches_open(struct input **ret, char **text,
				      const struct stretches *stretches, const char *path,
				      const struct input_options *options, struct tscope_error *err)
{
	FILE *file = stretches->count > 0 ? fopen(path, "rb") : NULL;
	size_t length = 0;

	*text = file ? read_rest(file, stretches, &length) : NULL;
	if (file)
		fclose(file);
	if (*text)
		return tsi_input_open_memory(ret, *text, length, options, err);
	return tsi_input_open_file(ret, path, options, err);
}
