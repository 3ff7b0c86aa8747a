/* SPDX-License-Identifier: MIT */
#include "decoding.h"

#include <string.h>

#include "input/reader.h"

/* Bytes in order only, as those of a filter: as many as there is room for. */
struct stream {
	struct reader reader;
	struct str left;
};

static enum tscope_status read_stream(struct reader *reader, char *into, size_t room, size_t *got,
				      struct tscope_error *err)
{
	struct stream *stream = (struct stream *)reader;
	(void)err;
	*got = room < stream->left.length ? room : stream->left.length;
	if (*got == 0)
		return TSCOPE_END;
	memcpy(into, stream->left.data, *got);
	stream->left.data += *got;
	stream->left.length -= *got;
	return TSCOPE_OK;
}

static void close_stream(struct reader *reader)
{
	(void)reader;
}

struct decoded decode_text(struct str text, const struct decoding *how, struct event_sink *sink)
{
	struct input_options input_options = { .block_bytes = how->block_bytes,
					       .single_thread = true };
	struct decode_options options = { how->max_event_bytes, how->max_depth, how->thread_count };
	struct stream stream = { .reader = { .read = read_stream, .close = close_stream },
				 .left = text };
	struct decoded decoded = { 0 };
	struct input *in;
	decoded.status =
		how->is_stream
			? tsi_input_open_reader(&in, &stream.reader, &input_options, NULL)
			: tsi_input_open_memory(&in, text.data, text.length, &input_options, NULL);
	if (decoded.status != TSCOPE_OK)
		return decoded;
	decoded.status = tsi_decode(in, &options, sink, &decoded.err);
	decoded.offset = tsi_input_offset(in);
	if (!how->is_stream && strcmp(tsi_input_filters(in), "none") == 0)
		decoded.source_offset = tsi_input_source_offset(in);
	tsi_input_close(in);
	return decoded;
}

bool is_decoded_alike(const struct decoded *a, const struct decoded *b)
{
	return a->status == b->status && strcmp(a->err.message, b->err.message) == 0 &&
	       a->offset == b->offset && a->source_offset == b->source_offset;
}

unsigned decoding_arg_of(struct str key)
{
	return tsi_str_is(key, "correlation");
}
