/* SPDX-License-Identifier: MIT */
/*
 * The input as decoders see it: opens a source, tastes what comes out of it,
 * puts a filter on it and tastes again until no filter wants it. Then, if there
 * is something to decompress, a thread does it ahead of the decoder.
 */
#include "input/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/queue.h"
#include "input/filter.h"
#include "input/magic.h"
#include "input/reader.h"
#include "input/window.h"

/* Limits of a hostile file, and what they are unless the options say otherwise. */
enum {
	DEFAULT_BLOCK_BYTES = 256 * 1024,
	MAX_BLOCK_BYTES = 64 * 1024 * 1024,
	DEFAULT_MAX_FILTER_DEPTH = 4,
	DEFAULT_MAX_RATIO = 1000, /* traces have up to 30; gzip can do no more than 1032 */
	FILTER_NAMES_BYTES = 64,
	TICK_BYTES = 8 << 20,
};

#define DEFAULT_MAX_OUTPUT_BYTES (UINT64_C(1) << 40)

struct input {
	struct window *window; /* over the last reader: the bytes of the decoder */
	struct flow flow;
	struct reader *source; /* the first reader, which the windows own */
	size_t block_bytes;
	unsigned filter_count, max_filter_count;
	char filters[FILTER_NAMES_BYTES]; /* "zstd+gzip" */
	void (*tick)(void *tick_data);    /* NULL: nobody watches */
	void *tick_data;
	uint64_t next_tick; /* offset */
};

static struct input *new_input(const struct input_options *options)
{
	static const struct input_options defaults = { 0 };
	const struct input_options *o = options ? options : &defaults;
	struct input *in = calloc(1, sizeof(*in));
	if (!in)
		return NULL;
	in->block_bytes = o->block_bytes ? o->block_bytes : DEFAULT_BLOCK_BYTES;
	if (in->block_bytes > MAX_BLOCK_BYTES)
		in->block_bytes = MAX_BLOCK_BYTES;
	in->max_filter_count = o->max_filter_depth ? o->max_filter_depth : DEFAULT_MAX_FILTER_DEPTH;
	in->flow.max_output_bytes =
		o->max_output_bytes ? o->max_output_bytes : DEFAULT_MAX_OUTPUT_BYTES;
	in->flow.block_bytes = in->block_bytes;
	in->flow.thread_count = o->single_thread  ? 1
				: o->thread_count ? o->thread_count
						  : tsi_thread_count();
	in->flow.max_ratio = o->max_ratio ? o->max_ratio : DEFAULT_MAX_RATIO;
	return in;
}

static void add_name(struct input *in, const char *name)
{
	size_t used = strlen(in->filters);
	snprintf(in->filters + used, sizeof(in->filters) - used, "%s%s", used ? "+" : "", name);
}

static enum tscope_status refuse(const struct input *in, const char *name, const char *remedy,
				 struct tscope_error *err)
{
	const char *wrapping = in->filter_count ? "-compressed " : "";
	return tsi_fail(err, TSCOPE_E_UNSUPPORTED, "%s%s%s: %s", in->filters, wrapping, name,
			remedy);
}

static enum tscope_status add_filter(struct input *in, const struct filter *filter,
				     struct tscope_error *err)
{
	if (filter->missing)
		return refuse(in, filter->name, filter->missing, err);
	if (in->filter_count == in->max_filter_count)
		return tsi_fail(err, TSCOPE_E_LIMIT,
				"compressed more than %u times (limit: filter depth)",
				in->max_filter_count);

	struct window *from = in->window;
	struct reader *reader;
	in->window = NULL;
	enum tscope_status status = tsi_filter_open(&reader, filter, from, &in->flow, err);
	if (status == TSCOPE_OK)
		status = tsi_window_new(&in->window, reader, in->block_bytes, err);
	add_name(in, filter->name);
	in->filter_count++;
	return status;
}

/*
 * Damage is not reported here: whoever peeks at the damaged place will see it,
 * and the bytes before it.
 */
static enum tscope_status add_filters(struct input *in, struct tscope_error *err)
{
	for (;;) {
		const char *data;
		size_t available;
		enum tscope_status status = tsi_filter_skip_frames(in->window, err);
		if (status != TSCOPE_OK)
			return status;
		status = tsi_window_peek(in->window, MAGIC_BYTES_MAX, &data, &available, err);
		if (status < 0 && status != TSCOPE_E_DAMAGED && available == 0)
			return status;

		const struct magic *kind = tsi_magic_find(data, available);
		if (kind && kind->remedy)
			return refuse(in, kind->name, kind->remedy, err);
		const struct filter *filter = tsi_filter_find(data, available);
		if (!filter)
			return TSCOPE_OK;
		status = add_filter(in, filter, err);
		if (status != TSCOPE_OK)
			return status;
	}
}

/* Goes on with opening once that of the source ended with `status`. Owns both, also on failure. */
static enum tscope_status start(struct input **ret, struct input *in, enum tscope_status status,
				bool single_thread, struct tscope_error *err)
{
	if (status == TSCOPE_OK)
		status = tsi_window_new(&in->window, in->source, in->block_bytes, err);
	if (status == TSCOPE_OK)
		status = add_filters(in, err);
	if (status == TSCOPE_OK && in->filter_count > 0 && !single_thread)
		tsi_window_read_ahead(in->window);
	if (status != TSCOPE_OK) {
		tsi_input_close(in);
		return status;
	}
	*ret = in;
	return TSCOPE_OK;
}

enum tscope_status tsi_input_open_file(struct input **ret, const char *path,
				       const struct input_options *options,
				       struct tscope_error *err)
{
	struct input *in = new_input(options);
	if (!in)
		return tsi_fail_nomem(err);
	enum tscope_status status = tsi_reader_open_file(&in->source, path, &in->flow, err);
	return start(ret, in, status, options && options->single_thread, err);
}

enum tscope_status tsi_input_open_memory(struct input **ret, const void *data, size_t length,
					 const struct input_options *options,
					 struct tscope_error *err)
{
	struct input *in = new_input(options);
	if (!in)
		return tsi_fail_nomem(err);
	enum tscope_status status =
		tsi_reader_open_memory(&in->source, data, length, &in->flow, err);
	return start(ret, in, status, options && options->single_thread, err);
}

enum tscope_status tsi_input_open_reader(struct input **ret, struct reader *source,
					 const struct input_options *options,
					 struct tscope_error *err)
{
	struct input *in = new_input(options);
	if (!in) {
		source->close(source);
		return tsi_fail_nomem(err);
	}
	enum tscope_status status = tsi_window_new(&in->window, source, in->block_bytes, err);
	if (status != TSCOPE_OK) {
		free(in);
		return status;
	}
	*ret = in;
	return TSCOPE_OK;
}

void tsi_input_close(struct input *in)
{
	if (!in)
		return;
	atomic_store(&in->flow.stop, true); /* the thread may be waiting for a pipe */
	tsi_window_free(in->window);
	free(in);
}

void tsi_input_watch(struct input *in, void (*tick)(void *tick_data), void *tick_data)
{
	in->tick = tick;
	in->tick_data = tick_data;
	in->next_tick = tsi_input_offset(in) + TICK_BYTES;
}

static TSI_COLD void tick_if_due(struct input *in)
{
	uint64_t offset = tsi_input_offset(in);

	if (offset < in->next_tick)
		return;
	in->next_tick = offset + TICK_BYTES;
	in->tick(in->tick_data);
}

enum tscope_status tsi_input_peek(struct input *in, size_t min, const char **data,
				  size_t *available, struct tscope_error *err)
{
	if (in->tick)
		tick_if_due(in);
	return tsi_window_peek(in->window, min, data, available, err);
}

enum tscope_status tsi_input_read(struct input *in, char *into, size_t room, size_t *got,
				  struct tscope_error *err)
{
	if (in->tick)
		tick_if_due(in);
	return tsi_window_read(in->window, into, room, got, err);
}

void tsi_input_consume(struct input *in, size_t count)
{
	tsi_window_consume(in->window, count);
}

size_t tsi_input_block_bytes(const struct input *in)
{
	return in->block_bytes;
}

bool tsi_input_has_places(const struct input *in)
{
	return in->filter_count == 0 && in->source && in->source->read_at;
}

enum tscope_status tsi_input_read_at(const struct input *in, uint64_t offset, char *into,
				     size_t room, size_t *got, struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;
	size_t count = 1;
	for (*got = 0; *got < room && count && status == TSCOPE_OK; *got += count)
		status = in->source->read_at(in->source, offset + *got, into + *got, room - *got,
					     &count, err);
	return status;
}

void tsi_input_skip_to(struct input *in, uint64_t offset)
{
	tsi_window_skip_to(in->window, offset);
	if (tsi_input_has_places(in))
		atomic_store(&in->flow.source_bytes, offset);
}

void tsi_input_stop(struct input *in)
{
	atomic_store(&in->flow.stop, true);
}

uint64_t tsi_input_offset(const struct input *in)
{
	return tsi_window_offset(in->window);
}

uint64_t tsi_input_source_offset(const struct input *in)
{
	return atomic_load(&in->flow.source_bytes);
}

uint64_t tsi_input_source_bytes(const struct input *in)
{
	return in->flow.source_size_bytes;
}

uint64_t tsi_input_stored_bytes(const struct input *in)
{
	uint64_t size_bytes = tsi_input_source_bytes(in);
	return size_bytes ? size_bytes : tsi_input_source_offset(in);
}

const char *tsi_input_filters(const struct input *in)
{
	return in->filter_count ? in->filters : "none";
}

uint64_t tsi_input_trailing_bytes(const struct input *in)
{
	return atomic_load(&in->flow.trailing_bytes);
}
