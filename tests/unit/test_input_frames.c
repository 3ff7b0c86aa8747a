/* SPDX-License-Identifier: MIT */
/*
 * input/frames.c: members that are decoded by several threads. What comes out,
 * and what is said of damage, must be what one thread says.
 */
#include "input/frames.h"

#include <stdlib.h>
#include <string.h>

#include "base/attributes.h"
#include "check.h"
#include "effort.h"
#include "fail_alloc.h"
#include "packed.h"

#if HAVE_ZLIB
#include <zlib.h>
#endif
#if HAVE_ZSTD
#include <zstd.h>
#endif

/* ---- streams that say where their members end -------------------------------------------- */

#if HAVE_ZLIB
enum { BGZF_SIZE_AT = 16 };

static void add_bgzf(struct bytes *to, const void *data, size_t length)
{
	static const char header[] = "\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0\0";
	struct bytes plain = { 0 };
	bytes_add_gzip(&plain, data, length);
	size_t start = to->length, plain_header = 10;
	bytes_add(to, header, sizeof(header));
	bytes_add(to, plain.data + plain_header, plain.length - plain_header);
	size_t last = to->length - start - 1;
	assert_true(last <= 0xffff);
	to->data[start + BGZF_SIZE_AT] = (char)last;
	to->data[start + BGZF_SIZE_AT + 1] = (char)(last >> 8);
	bytes_reset(&plain);
}
#endif

#if HAVE_ZSTD
static void add_zstd(struct bytes *to, const void *data, size_t length, int content_size)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();
	ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
	ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, content_size);
	size_t room = ZSTD_compressBound(length);
	char *packed = malloc(room);
	assert_non_null(packed);
	size_t count = ZSTD_compress2(context, packed, room, data, length);
	assert_false(ZSTD_isError(count));
	bytes_add(to, packed, count);
	free(packed);
	ZSTD_freeCCtx(context);
}

static void add_sized_zstd(struct bytes *to, const void *data, size_t length)
{
	add_zstd(to, data, length, 1);
}

/* As pzstd does it: in front of each frame one to be skipped, and nothing about its size. */
static void add_pzstd(struct bytes *to, const void *data, size_t length)
{
	bytes_add_literal(to, "\x50\x2a\x4d\x18\4\0\0\0size");
	add_zstd(to, data, length, 0);
}
#endif

static const struct codec kinds[] = {
#if HAVE_ZLIB
	{ "gzip", "member", 2, add_bgzf },
#endif
#if HAVE_ZSTD
	{ "zstd", "frame", 4, add_sized_zstd },
	{ "zstd", "frame", 4, add_pzstd },
#endif
	{ NULL, NULL, 0, NULL },
};

/* Text in members of several lengths, an empty one among them. */
static void add_members(struct bytes *to, const struct codec *kind, const struct bytes *text,
			size_t member_count)
{
	size_t at = 0;
	for (size_t i = 1; i < member_count; i++) {
		size_t length = text->length / member_count * (i % 5) / 2;
		kind->add(to, text->data + at, length);
		at += length;
	}
	kind->add(to, text->data + at, text->length - at);
}

/* ---- against one thread ------------------------------------------------------------------ */

/* way as min of read_all: 1 by peeking, 0 by reading. */
static void compare_way(const struct bytes *from, const struct input_options *options, size_t way)
{
	struct input_options alone = *options, together = *options;
	alone.single_thread = true;
	struct outcome expected = read_all(from, &alone, way);
	for (together.thread_count = 2; together.thread_count < 5; together.thread_count += 2) {
		struct outcome outcome = read_all(from, &together, way);
		assert_int_equal(outcome.status, expected.status);
		assert_string_equal(outcome.error.message, expected.error.message);
		assert_int_equal(outcome.error.has_offset, expected.error.has_offset);
		assert_int_equal(outcome.error.offset, expected.error.offset);
		assert_int_equal(outcome.trailing_bytes, expected.trailing_bytes);
		assert_int_equal(outcome.source_bytes, expected.source_bytes);
		expect_output(&outcome, expected.output.data, expected.output.length);
		bytes_reset(&outcome.output);
	}
	bytes_reset(&expected.output);
}

static void compare(const struct bytes *from, const struct input_options *options)
{
	compare_way(from, options, 0);
	compare_way(from, options, 1);
}

TEST(test_whole)
{
	static const size_t block_sizes[] = { 1, 16, 1000, 0 };
	for (const struct codec *kind = kinds; kind->name; kind++)
		for (size_t b = 0; b < TSI_COUNT_OF(block_sizes); b += SETTING_STRIDE) {
			struct input_options options = { .block_bytes = block_sizes[b] };
			struct bytes text = { 0 }, packed = { 0 };
			bytes_add_text(&text, block_sizes[b] ? 5000 : 5000000);
			add_members(&packed, kind, &text, block_sizes[b] ? 12 : 200);
			compare(&packed, &options);
			bytes_add_literal(&packed, "garbage behind");
			compare(&packed, &options);
			bytes_reset(&text);
			bytes_reset(&packed);
		}
}

/*
 * Cut after every byte, and each byte changed in turn. How many wrong bytes come
 * out before a decoder sees damage depends on how its input is cut in pieces:
 * blocks are large enough that no two are shown at once.
 */
TEST(test_damage)
{
	static const struct input_options options = { .block_bytes = 128 };
	for (const struct codec *kind = kinds; kind->name; kind++) {
		struct bytes text = { 0 }, packed = { 0 };
		bytes_add_text(&text, 1500);
		add_members(&packed, kind, &text, 8);
		for (size_t i = 0; i < packed.length; i += EFFORT_STRIDE) {
			struct bytes prefix = { packed.data, i, 0 };
			compare(&prefix, &options);
			packed.data[i] ^= (char)(1 << i % 8);
			compare(&packed, &options);
			packed.data[i] ^= (char)(1 << i % 8);
		}
		bytes_reset(&text);
		bytes_reset(&packed);
	}
}

TEST(test_limits)
{
	for (const struct codec *kind = kinds; kind->name; kind++) {
		struct bytes text = { 0 }, packed = { 0 };
		bytes_add_text(&text, 3000);
		add_members(&packed, kind, &text, 20);
		for (size_t limit = 1; limit < 3100; limit += 89) {
			struct input_options options = { .block_bytes = 16,
							 .max_output_bytes = limit };
			compare(&packed, &options);
		}
		bytes_reset(&packed);
		bytes_reset(&text);
	}
}

/* Members that grow more than they may, the first of them less. The ratio is looked at by blocks. */
TEST(test_ratio)
{
	static char zeros[60000];
	for (const struct codec *kind = kinds; kind->name; kind++) {
		struct bytes text = { 0 }, packed = { 0 }, member = { 0 };
		bytes_add_text(&text, 6000);
		kind->add(&packed, text.data, text.length);
		kind->add(&member, zeros, sizeof(zeros));
		for (size_t i = 0; i < 150; i++)
			bytes_add(&packed, member.data, member.length);
		for (uint64_t ratio = 200; ratio < 1000; ratio += 350 * EFFORT_STRIDE) {
			struct input_options options = { .block_bytes = 4096, .max_ratio = ratio };
			compare_way(&packed, &options, 1);
		}
		bytes_reset(&packed);
		bytes_reset(&member);
		bytes_reset(&text);
	}
}

/* What says where it ends and what does not by turns. */
TEST(test_mixed_members)
{
	static const struct input_options options = { .block_bytes = 16 };
	for (const struct codec *kind = kinds; kind->name; kind++)
		for (const struct codec *codec = codecs; codec->name; codec++) {
			struct bytes text = { 0 }, packed = { 0 };
			bytes_add_text(&text, 300);
			for (size_t i = 0; i < 12; i++)
				(i % 5 ? kind : codec)->add(&packed, text.data, text.length);
			compare(&packed, &options);
			bytes_reset(&packed);
			bytes_reset(&text);
		}
}

TEST(test_without_memory)
{
	for (const struct codec *kind = kinds; kind->name; kind++) {
		struct bytes text = { 0 }, packed = { 0 };
		bytes_add_text(&text, 3000);
		add_members(&packed, kind, &text, 20);
		char *into = malloc(text.length + 1);
		assert_non_null(into);
		struct alloc_sweep sweep = { 0 };
		while (alloc_sweep_next(&sweep)) {
			struct input_options options = { .block_bytes = 16, .thread_count = 3 };
			struct input *in = NULL;
			size_t got;
			alloc_sweep_start(&sweep);
			enum tscope_status status = tsi_input_open_memory(
				&in, packed.data, packed.length, &options, NULL);
			if (status == TSCOPE_OK)
				status = tsi_input_read(in, into, text.length + 1, &got, NULL);
			alloc_sweep_stop(&sweep);
			tsi_input_close(in);
			if (status == TSCOPE_END) { /* what the threads lack, the filter does */
				assert_int_equal(got, text.length);
				assert_memory_equal(into, text.data, got);
			} else {
				assert_true(sweep.has_failed);
				assert_int_equal(status, TSCOPE_E_NOMEM);
			}
		}
		free(into);
		bytes_reset(&packed);
		bytes_reset(&text);
	}
}

/* ---- by themselves ----------------------------------------------------------------------- */

static struct reader *open_source(const struct bytes *packed, struct flow *flow)
{
	struct reader *source;
	flow->block_bytes = 1024;
	flow->thread_count = 3;
	flow->max_output_bytes = flow->max_ratio = UINT64_MAX;
	assert_int_equal(tsi_reader_open_memory(&source, packed->data, packed->length, flow, NULL),
			 TSCOPE_OK);
	return source;
}

/* Of what is skipped in front of the first frame. */
static size_t skipped_bytes(const struct bytes *packed)
{
	static const unsigned char skippable[] = { 0x2a, 0x4d, 0x18 };
	return memcmp(packed->data + 1, skippable, sizeof(skippable)) == 0 ? 12 : 0;
}

/* All is decoded by the threads: nothing is left to the filter. */
TEST(test_alone)
{
	for (const struct codec *kind = kinds; kind->name; kind++) {
		struct bytes text = { 0 }, packed = { 0 };
		struct flow flow = { 0 };
		struct window *window;
		bytes_add_text(&text, 200000);
		add_members(&packed, kind, &text, 40);
		struct reader *source = open_source(&packed, &flow);
		assert_int_equal(tsi_window_new(&window, source, 1024, NULL), TSCOPE_OK);
		struct frames *frames = tsi_frames_start(
			tsi_filter_find(packed.data + skipped_bytes(&packed), 4), window, &flow, 0);
		assert_non_null(frames);

		char *output = malloc(text.length + 1);
		assert_non_null(output);
		struct filter_io io = { .out = output, .out_end = output + text.length + 1 };
		while (tsi_frames_read(frames, &io))
			;
		assert_int_equal(io.out - output, text.length);
		assert_memory_equal(output, text.data, text.length);
		assert_int_equal(tsi_frames_offset(frames), packed.length);
		assert_int_equal(tsi_frames_member_count(frames), 40);
		assert_int_equal(flow.source_bytes, packed.length);

		free(output);
		tsi_frames_free(frames);
		tsi_window_free(window);
		bytes_reset(&packed);
		bytes_reset(&text);
	}
}

/* Closed while the threads are in the midst of it. */
TEST(test_close_early)
{
	static const struct input_options options = { .block_bytes = 1000, .thread_count = 4 };
	for (const struct codec *kind = kinds; kind->name; kind++) {
		struct bytes text = { 0 }, packed = { 0 };
		bytes_add_text(&text, 3000000);
		add_members(&packed, kind, &text, 100);
		for (size_t length = 1; length < text.length; length += 50000 * SETTING_STRIDE) {
			struct input *in;
			char *into = malloc(length);
			size_t got;
			assert_non_null(into);
			assert_int_equal(tsi_input_open_memory(&in, packed.data, packed.length,
							       &options, NULL),
					 TSCOPE_OK);
			assert_int_equal(tsi_input_read(in, into, length, &got, NULL), TSCOPE_OK);
			assert_memory_equal(into, text.data, length);
			tsi_input_close(in);
			free(into);
		}
		bytes_reset(&packed);
		bytes_reset(&text);
	}
}

#if HAVE_ZSTD
/* The library's own word on the length of a frame; shorter pieces are asked for more, in the end. */
TEST(test_extent_of_zstd)
{
	static const size_t lengths[] = { 0, 1, 300, 70000, 131072, 131073, 1000000 };
	for (size_t i = 0; i < TSI_COUNT_OF(lengths); i++)
		for (int content_size = 0; content_size < 2; content_size++) {
			struct bytes text = { 0 }, packed = { 0 };
			bytes_add_text(&text, lengths[i]);
			add_zstd(&packed, text.data, lengths[i], content_size);
			size_t length = packed.length;
			bytes_add_literal(&packed, "what follows");
			assert_int_equal(ZSTD_findFrameCompressedSize(packed.data, packed.length),
					 length);
			const unsigned char *data = (const unsigned char *)packed.data;
			const struct filter *filter = tsi_filter_find(packed.data, 4);
			size_t asked = 1;
			struct extent extent;
			while ((extent = tsi_filter_measure(filter, data, asked)).packed_bytes >
			       asked)
				asked = extent.packed_bytes;
			assert_int_equal(extent.packed_bytes, length);
			assert_true(extent.output_bytes >= lengths[i]);
			assert_true(extent.output_bytes < lengths[i] + 2 * 131072);
			bytes_reset(&packed);
			bytes_reset(&text);
		}
}

/* Too large to be kept whole, and a window that one thread refuses. */
TEST(test_no_extent)
{
	struct bytes text = { 0 }, packed = { 0 };
	bytes_add_text(&text, (16 << 20) + 1);
	add_zstd(&packed, text.data, text.length, 1);
	const unsigned char *data = (const unsigned char *)packed.data;
	const struct filter *filter = tsi_filter_find(packed.data, 4);
	assert_int_equal(tsi_filter_measure(filter, data, packed.length).packed_bytes, 0);
	bytes_reset(&packed);

	/* Window 2^27 + 2^24, or half of that, then a last raw block of one byte. */
	static const unsigned char frame[] = "\x28\xb5\x2f\xfd\0\x89\x09\0\0a";
	unsigned char smaller[sizeof(frame)];
	memcpy(smaller, frame, sizeof(frame));
	smaller[5] -= 8;
	assert_int_equal(tsi_filter_measure(filter, frame, sizeof(frame) - 1).packed_bytes, 0);
	assert_int_equal(tsi_filter_measure(filter, smaller, sizeof(frame) - 1).packed_bytes, 10);
	bytes_reset(&text);
}
#endif
