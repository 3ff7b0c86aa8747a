/* SPDX-License-Identifier: MIT */
#include "packed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attributes.h"
#include "check.h"
#include "random_numbers.h"

#if HAVE_ZLIB
#include <zlib.h>
#endif
#if HAVE_ZSTD
#include <zstd.h>
#endif
#if HAVE_LZ4
#include <lz4frame.h>
#endif

static char *room_for(struct bytes *bytes, size_t count)
{
	if (bytes->length + count >= bytes->capacity) {
		bytes->capacity = 2 * (bytes->length + count) + 1;
		bytes->data = realloc(bytes->data, bytes->capacity);
		assert_non_null(bytes->data);
	}
	return bytes->data + bytes->length;
}

void bytes_add(struct bytes *bytes, const void *data, size_t count)
{
	memcpy(room_for(bytes, count), data, count);
	bytes->length += count;
}

void bytes_reset(struct bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct bytes){ 0 };
}

void bytes_add_text(struct bytes *bytes, size_t count)
{
	uint64_t seed = 7;
	char *at = room_for(bytes, count);
	for (size_t i = 0; i < count; i++) {
		at[i] = random_below(&seed, 4) ? "\"ts\":, "[i % 7]
					       : (char)('0' + random_below(&seed, 10));
	}
	bytes->length += count;
}

#if HAVE_ZLIB
void bytes_add_gzip(struct bytes *to, const void *data, size_t length)
{
	z_stream stream = { 0 };
	assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
			 Z_OK);
	size_t room = deflateBound(&stream, length) + 64;
	stream.next_out = (Bytef *)room_for(to, room);
	stream.avail_out = (uInt)room;
	stream.next_in = (z_const Bytef *)(uintptr_t)data;
	stream.avail_in = (uInt)length;
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	to->length += stream.total_out;
	deflateEnd(&stream);
}
#endif

#if HAVE_ZSTD
void bytes_add_zstd(struct bytes *to, const void *data, size_t length)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();
	assert_non_null(context);
	ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
	size_t room = ZSTD_compressBound(length);
	size_t count = ZSTD_compress2(context, room_for(to, room), room, data, length);
	assert_false(ZSTD_isError(count));
	to->length += count;
	ZSTD_freeCCtx(context);
}
#endif

#if HAVE_LZ4
void bytes_add_lz4(struct bytes *to, const void *data, size_t length)
{
	LZ4F_preferences_t preferences = {
		.frameInfo = { .contentChecksumFlag = LZ4F_contentChecksumEnabled,
			       .contentSize = length },
	};
	size_t room = LZ4F_compressFrameBound(length, &preferences);
	size_t count = LZ4F_compressFrame(room_for(to, room), room, data, length, &preferences);
	assert_false(LZ4F_isError(count));
	to->length += count;
}
#endif

const struct codec codecs[] = {
#if HAVE_ZLIB
	{ "gzip", "member", 2, bytes_add_gzip },
#endif
#if HAVE_ZSTD
	{ "zstd", "frame", 4, bytes_add_zstd },
#endif
#if HAVE_LZ4
	{ "lz4", "frame", 4, bytes_add_lz4 },
#endif
	{ NULL, NULL, 0, NULL },
};

const struct input_options ways[WAY_COUNT] = {
	{ .block_bytes = 1 },
	{ .block_bytes = 2 },
	{ .block_bytes = 3 },
	{ .block_bytes = 64 },
	{ .block_bytes = 4096 },
	{ .block_bytes = 0 },
	{ .block_bytes = 1, .single_thread = true },
	{ .block_bytes = 2, .single_thread = true },
	{ .block_bytes = 3, .single_thread = true },
	{ .block_bytes = 64, .single_thread = true },
	{ .block_bytes = 4096, .single_thread = true },
	{ .block_bytes = 0, .single_thread = true },
};

static enum tscope_status peek_some(struct input *in, size_t min, struct outcome *outcome)
{
	const char *data;
	size_t available;
	enum tscope_status status = tsi_input_peek(in, min, &data, &available, &outcome->error);
	bytes_add(&outcome->output, data, available);
	tsi_input_consume(in, available);
	return status;
}

/* Less and more than blocks hold; every third time a peek of which one byte is consumed. */
static enum tscope_status read_some(struct input *in, size_t round, struct outcome *outcome)
{
	static const size_t rooms[] = { 1, 70, 5000, 100000 };
	struct bytes *output = &outcome->output;
	const char *data;
	size_t got;
	if (round % 3 == 2 && tsi_input_peek(in, 7, &data, &got, NULL) == TSCOPE_OK) {
		bytes_add(output, data, 1);
		tsi_input_consume(in, 1);
	}
	size_t room = rooms[round % TSI_COUNT_OF(rooms)];
	enum tscope_status status =
		tsi_input_read(in, room_for(output, room), room, &got, &outcome->error);
	assert_true(status == TSCOPE_OK ? got == room : got <= room);
	output->length += got;
	return status;
}

struct outcome read_all(const struct bytes *from, const struct input_options *options, size_t min)
{
	struct outcome outcome = { 0 };
	struct input *in;
	outcome.status =
		tsi_input_open_memory(&in, from->data, from->length, options, &outcome.error);
	if (outcome.status != TSCOPE_OK)
		return outcome;
	/* Not 0 where there are skippable frames and no filter. */
	uint64_t start = tsi_input_offset(in);
	for (size_t round = 0; outcome.status == TSCOPE_OK; round++)
		outcome.status =
			min ? peek_some(in, min, &outcome) : read_some(in, round, &outcome);

	const char *data;
	size_t available;
	struct tscope_error again = { 0 };
	assert_int_equal(tsi_input_peek(in, 1, &data, &available, &again), outcome.status);
	assert_int_equal(available, 0);
	assert_string_equal(again.message, outcome.error.message);
	assert_int_equal(tsi_input_offset(in), start + outcome.output.length);
	outcome.source_bytes = tsi_input_source_offset(in);
	outcome.trailing_bytes = tsi_input_trailing_bytes(in);
	snprintf(outcome.filters, sizeof(outcome.filters), "%s", tsi_input_filters(in));
	tsi_input_close(in);
	return outcome;
}

void expect_output(const struct outcome *outcome, const void *data, size_t length)
{
	assert_int_equal(outcome->output.length, length);
	if (length)
		assert_memory_equal(outcome->output.data, data, length);
}

void expect_whole(const struct bytes *from, const struct bytes *text, const char *filters,
		  uint64_t trailing_bytes)
{
	for (size_t w = 0; w < WAY_COUNT; w++) {
		struct outcome outcome = read_all(from, &ways[w], w / 2 % 2 ? w : 0);
		assert_int_equal(outcome.status, TSCOPE_END);
		assert_int_equal(outcome.error.status, TSCOPE_OK);
		assert_string_equal(outcome.filters, filters);
		assert_int_equal(outcome.trailing_bytes, trailing_bytes);
		expect_output(&outcome, text->data, text->length);
		bytes_reset(&outcome.output);
	}
}

void expect_error(const struct bytes *from, enum tscope_status status, const char *message)
{
	for (size_t w = 0; w < WAY_COUNT; w++) {
		struct outcome outcome = read_all(from, &ways[w], w / 2 % 2);
		assert_string_equal(outcome.error.message, message);
		assert_int_equal(outcome.status, status);
		assert_int_equal(outcome.error.status, status);
		bytes_reset(&outcome.output);
	}
}
