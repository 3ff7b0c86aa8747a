/* SPDX-License-Identifier: MIT */
/*
 * input/filter.c: what all codecs have in common. Each goes through the same
 * cases, with every size of block, in the caller's thread and in its own.
 */
#include "input/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/attributes.h"
#include "check.h"
#include "effort.h"
#include "fail_alloc.h"
#include "packed.h"

TEST(test_round_trip)
{
	static const size_t lengths[] = { 0, 1, 300, 20000 };
	for (const struct codec *codec = codecs; codec->name; codec++)
		for (size_t i = 0; i < TSI_COUNT_OF(lengths); i++) {
			struct bytes text = { 0 }, packed = { 0 };
			bytes_add_text(&text, lengths[i]);
			codec->add(&packed, text.data, text.length);
			expect_whole(&packed, &text, codec->name, 0);
			bytes_reset(&text);
			bytes_reset(&packed);
		}
}

/* Many default-size blocks, so that the ring goes round; peeks that span some of them. */
TEST(test_long_streams)
{
	static const size_t mins[] = { 0, 1, 60000, 200000, 700000 };
	struct bytes text = { 0 };
	bytes_add_text(&text, 5000000);
	for (const struct codec *codec = codecs; codec->name; codec++) {
		struct bytes packed = { 0 };
		codec->add(&packed, text.data, text.length);
		for (size_t m = 0; m < TSI_COUNT_OF(mins); m += SETTING_STRIDE)
			for (size_t w = 4; w < WAY_COUNT; w++) {
				if (ways[w].block_bytes > 0 && ways[w].block_bytes < 4096)
					continue;
				struct outcome outcome = read_all(&packed, &ways[w], mins[m]);
				assert_int_equal(outcome.status, TSCOPE_END);
				expect_output(&outcome, text.data, text.length);
				bytes_reset(&outcome.output);
			}
		bytes_reset(&packed);
	}
	bytes_reset(&text);
}

/* Members, empty ones among them, are one stream. */
TEST(test_members)
{
	for (const struct codec *codec = codecs; codec->name; codec++) {
		struct bytes text = { 0 }, packed = { 0 };
		bytes_add_text(&text, 5000);
		codec->add(&packed, text.data, 0);
		codec->add(&packed, text.data, 1000);
		codec->add(&packed, text.data, 0);
		codec->add(&packed, text.data, 0);
		codec->add(&packed, text.data + 1000, 1);
		codec->add(&packed, text.data + 1001, 3999);
		codec->add(&packed, text.data, 0);
		expect_whole(&packed, &text, codec->name, 0);
		bytes_reset(&text);
		bytes_reset(&packed);
	}
}

TEST(test_trailing_bytes)
{
	static const char padding[512];
	static const struct {
		const char *bytes;
		size_t length;
	} cases[] = {
		{ padding, 512 },
		{ padding, 1 },
		{ "\n", 1 },
		{ "  \r\n", 4 },
	};
	for (const struct codec *codec = codecs; codec->name; codec++)
		for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
			struct bytes text = { 0 }, packed = { 0 };
			bytes_add_text(&text, 100);
			codec->add(&packed, text.data, text.length);
			bytes_add(&packed, cases[i].bytes, cases[i].length);
			expect_whole(&packed, &text, codec->name, cases[i].length);
			bytes_reset(&text);
			bytes_reset(&packed);
		}
}

/* Damaged magic of a member, or a file that was appended. */
TEST(test_what_follows_is_no_member)
{
	static const char padded[512] = { [511] = 'x' };
	static const struct {
		const char *bytes;
		size_t length;
	} cases[] = {
		{ "garbage", 7 }, { "\x1f\x8c", 2 }, { padded, 512 }, { "{\"step\": 1}", 11 }
	};

	for (const struct codec *codec = codecs; codec->name; codec++)
		for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
			struct bytes text = { 0 }, packed = { 0 };
			char message[64];
			bytes_add_text(&text, 100);
			codec->add(&packed, text.data, text.length);
			bytes_add(&packed, cases[i].bytes, cases[i].length);
			snprintf(message, sizeof(message),
				 "%s %s 1: followed by bytes that are no %s", codec->name,
				 codec->member, codec->name);
			expect_error(&packed, TSCOPE_E_DAMAGED, message);
			bytes_reset(&text);
			bytes_reset(&packed);
		}
}

TEST(test_skippable_frames)
{
	for (const struct codec *codec = codecs; codec->name; codec++) {
		if (strcmp(codec->member, "frame") != 0)
			continue;
		struct bytes text = { 0 }, packed = { 0 };
		bytes_add_text(&text, 600);
		bytes_add_literal(&packed, "\x50\x2a\x4d\x18\x00\x00\x00\x00");
		bytes_add_literal(&packed, "\x5f\x2a\x4d\x18\x04\x00\x00\x00\x61\x62\x63\x64");
		codec->add(&packed, text.data, 300);
		bytes_add_literal(&packed, "\x5e\x2a\x4d\x18\x00\x02\x00\x00");
		bytes_add_text(&packed, 0x200);
		codec->add(&packed, text.data + 300, 300);
		bytes_add_literal(&packed, "\x53\x2a\x4d\x18\x01\x00\x00\x00\x78");
		expect_whole(&packed, &text, codec->name, 0);

		char message[64];
		snprintf(message, sizeof(message), "%s frame 2: truncated", codec->name);
		packed.length--; /* inside the last skippable frame */
		expect_error(&packed, TSCOPE_E_DAMAGED, message);
		bytes_reset(&text);
		bytes_reset(&packed);
	}
}

/* A file of nothing but skippable frames holds nothing; one cut inside of one is damaged. */
TEST(test_only_skippable_frames)
{
	struct bytes nothing = { 0 }, packed = { 0 };
	bytes_add_literal(&packed, "\x50\x2a\x4d\x18\x02\x00\x00\x00\x61\x62");
	expect_whole(&packed, &nothing, "none", 0);
	packed.length--;
	expect_error(&packed, TSCOPE_E_DAMAGED, "truncated");
	packed.length = 5;
	expect_error(&packed, TSCOPE_E_DAMAGED, "truncated");
	bytes_reset(&packed);
}

TEST(test_nested)
{
	for (const struct codec *codec = codecs; codec->name; codec++)
		for (const struct codec *inside = codecs; inside->name; inside++) {
			struct bytes text = { 0 }, inner = { 0 }, outer = { 0 };
			char filters[64];
			bytes_add_text(&text, 3000);
			inside->add(&inner, text.data, text.length);
			codec->add(&outer, inner.data, inner.length);
			snprintf(filters, sizeof(filters), "%s+%s", codec->name, inside->name);
			expect_whole(&outer, &text, filters, 0);

			/* Damage inside is placed in the inner stream, padding is counted. */
			bytes_reset(&outer);
			codec->add(&outer, inner.data, inner.length - 1);
			for (size_t w = 0; w < WAY_COUNT; w++) {
				struct outcome outcome = read_all(&outer, &ways[w], 1);
				char message[64];
				snprintf(message, sizeof(message), "%s %s 1: truncated",
					 inside->name, inside->member);
				assert_int_equal(outcome.status, TSCOPE_E_DAMAGED);
				assert_string_equal(outcome.error.message, message);
				assert_int_equal(outcome.error.offset, inner.length - 1);
				bytes_reset(&outcome.output);
			}
			bytes_reset(&outer);
			bytes_add_literal(&inner, "\n \n");
			codec->add(&outer, inner.data, inner.length);
			bytes_add_literal(&outer, "\r\n");
			expect_whole(&outer, &text, filters, 5);
			bytes_reset(&text);
			bytes_reset(&inner);
			bytes_reset(&outer);
		}
}

TEST(test_filter_depth)
{
	for (const struct codec *codec = codecs; codec->name; codec++) {
		struct bytes packed = { 0 };
		bytes_add_literal(&packed, "[]");
		for (int depth = 1; depth <= 5; depth++) {
			struct bytes outer = { 0 };
			codec->add(&outer, packed.data, packed.length);
			bytes_reset(&packed);
			packed = outer;
			struct outcome outcome = read_all(&packed, &ways[0], 1);
			assert_int_equal(outcome.status, depth <= 4 ? TSCOPE_END : TSCOPE_E_LIMIT);
			if (depth <= 4)
				expect_output(&outcome, "[]", 2);
			bytes_reset(&outcome.output);
		}
		expect_error(&packed, TSCOPE_E_LIMIT,
			     "compressed more than 4 times (limit: filter depth)");

		struct input_options deeper = { .max_filter_depth = 5 };
		struct outcome outcome = read_all(&packed, &deeper, 1);
		assert_int_equal(outcome.status, TSCOPE_END);
		bytes_reset(&outcome.output);
		bytes_reset(&packed);
	}
}

/*
 * Cut after every byte. Before the magic is whole the file is something else;
 * between members it is whole; everywhere else truncated, at the cut.
 */
TEST(test_truncated)
{
	for (const struct codec *codec = codecs; codec->name; codec++) {
		struct bytes text = { 0 }, packed = { 0 };
		bytes_add_text(&text, 200);
		codec->add(&packed, text.data, 120);
		size_t first_end = packed.length;
		codec->add(&packed, text.data + 120, 80);
		for (size_t cut = codec->magic_bytes; cut < packed.length; cut += SETTING_STRIDE)
			for (size_t w = 0; w < WAY_COUNT; w++) {
				struct bytes prefix = { packed.data, cut, 0 };
				struct outcome outcome =
					read_all(&prefix, &ways[w], w / 2 % 2 ? w : 0);
				assert_string_equal(outcome.filters, codec->name);
				assert_true(outcome.output.length <= text.length);
				if (outcome.output.length)
					assert_memory_equal(outcome.output.data, text.data,
							    outcome.output.length);
				if (cut >= first_end)
					assert_true(outcome.output.length >= 120);
				if (cut == first_end) {
					assert_int_equal(outcome.status, TSCOPE_END);
				} else {
					char message[64];
					snprintf(message, sizeof(message), "%s %s %d: truncated",
						 codec->name, codec->member,
						 cut < first_end ? 1 : 2);
					assert_int_equal(outcome.status, TSCOPE_E_DAMAGED);
					assert_string_equal(outcome.error.message, message);
					assert_true(outcome.error.has_offset);
					assert_int_equal(outcome.error.offset, cut);
				}
				bytes_reset(&outcome.output);
			}
		bytes_reset(&text);
		bytes_reset(&packed);
	}
}

/*
 * Each bit flipped in turn. Either it does not matter (the time in a gzip
 * header), or it makes something else of the file (the magic), or it is an
 * error that names the member.
 */
TEST(test_flipped_bits)
{
	for (const struct codec *codec = codecs; codec->name; codec++) {
		struct bytes text = { 0 }, packed = { 0 };
		bytes_add_text(&text, 150);
		codec->add(&packed, text.data, 100);
		codec->add(&packed, text.data + 100, 50);
		size_t error_count = 0;
		for (size_t bit = 0; bit < 8 * packed.length; bit++) {
			packed.data[bit / 8] ^= (char)(1 << bit % 8);
			struct outcome outcome =
				read_all(&packed, &ways[bit % WAY_COUNT], bit / 2 % 2);
			if (strcmp(outcome.filters, "none") == 0) {
				assert_true(bit / 8 < codec->magic_bytes);
			} else if (outcome.status == TSCOPE_END) {
				assert_int_equal(outcome.output.length, text.length);
				assert_memory_equal(outcome.output.data, text.data, text.length);
			} else {
				assert_memory_equal(outcome.error.message, codec->name,
						    strlen(codec->name));
				assert_true(outcome.status == TSCOPE_E_DAMAGED ||
					    outcome.status == TSCOPE_E_UNSUPPORTED ||
					    outcome.status == TSCOPE_E_LIMIT);
				if (outcome.status == TSCOPE_E_DAMAGED)
					assert_true(outcome.error.has_offset &&
						    outcome.error.offset <= packed.length);
				error_count++;
			}
			bytes_reset(&outcome.output);
			packed.data[bit / 8] ^= (char)(1 << bit % 8);
		}
		/* All have checksums: of the bits few can be flipped unnoticed. */
		assert_true(error_count > 6 * packed.length);
		bytes_reset(&text);
		bytes_reset(&packed);
	}
}

TEST(test_output_limit)
{
	for (const struct codec *codec = codecs; codec->name; codec++) {
		struct bytes text = { 0 }, packed = { 0 };
		bytes_add_text(&text, 3000);
		codec->add(&packed, text.data, text.length);
		char message[128];
		snprintf(message, sizeof(message),
			 "%s %s 1: more than 2000 bytes (limit: decompressed bytes)", codec->name,
			 codec->member);
		for (size_t w = 0; w < WAY_COUNT; w++) {
			struct input_options options = ways[w];
			options.max_output_bytes = 2000;
			struct outcome outcome = read_all(&packed, &options, 1);
			assert_int_equal(outcome.status, TSCOPE_E_LIMIT);
			assert_string_equal(outcome.error.message, message);
			expect_output(&outcome, text.data, 2000);
			bytes_reset(&outcome.output);

			options.max_output_bytes = 3000;
			outcome = read_all(&packed, &options, 1);
			assert_int_equal(outcome.status, TSCOPE_END);
			bytes_reset(&outcome.output);
		}
		bytes_reset(&text);
		bytes_reset(&packed);
	}
}

/* 70 MB of one byte grow by far more than the 50 times that are allowed here. */
TEST(test_bomb)
{
	enum { LENGTH = 70 << 20, CHECKED_FROM = 64 << 20 };
	char *zeros = calloc(1, LENGTH);
	assert_non_null(zeros);
	for (const struct codec *codec = codecs; codec->name; codec++) {
		struct bytes packed = { 0 };
		codec->add(&packed, zeros, LENGTH);
		struct input_options options = { .max_ratio = 50 };
		struct outcome outcome = read_all(&packed, &options, 1);
		char message[128];
		snprintf(message, sizeof(message),
			 "%s %s 1: grows to more than 50 times its size (limit: decompression "
			 "ratio)",
			 codec->name, codec->member);
		assert_int_equal(outcome.status, TSCOPE_E_LIMIT);
		assert_string_equal(outcome.error.message, message);
		assert_true(outcome.output.length >= CHECKED_FROM &&
			    outcome.output.length <= CHECKED_FROM + (512 << 10));
		bytes_reset(&outcome.output);

		options.max_ratio = 1000000;
		outcome = read_all(&packed, &options, 1);
		assert_int_equal(outcome.status, TSCOPE_END);
		assert_int_equal(outcome.output.length, LENGTH);
		bytes_reset(&outcome.output);
		bytes_reset(&packed);
	}
	free(zeros);
}

TEST(test_archive_inside)
{
	for (const struct codec *codec = codecs; codec->name; codec++) {
		static char tar[512];
		struct bytes packed = { 0 };
		char message[128];
		memcpy(tar + 257, "ustar", 5);
		codec->add(&packed, tar, sizeof(tar));
		snprintf(message, sizeof(message),
			 "%s-compressed tar archive: unpack it first, then give the files that are "
			 "in it",
			 codec->name);
		expect_error(&packed, TSCOPE_E_UNSUPPORTED, message);
		bytes_reset(&packed);
	}
}

/* Closing early must not wait for the rest of the stream, nor leave a thread behind. */
TEST(test_close_early)
{
	struct bytes text = { 0 };
	bytes_add_text(&text, 4000000);
	for (const struct codec *codec = codecs; codec->name; codec++) {
		struct bytes packed = { 0 };
		codec->add(&packed, text.data, text.length);
		for (size_t w = 3; w < WAY_COUNT; w++) {
			struct input *in;
			const char *data;
			size_t available;
			assert_int_equal(tsi_input_open_memory(&in, packed.data, packed.length,
							       &ways[w], NULL),
					 TSCOPE_OK);
			assert_int_equal(tsi_input_peek(in, 1000, &data, &available, NULL),
					 TSCOPE_OK);
			tsi_input_consume(in, 500);
			tsi_input_close(in);
		}
		bytes_reset(&packed);
	}
	bytes_reset(&text);
}

/* The other end of the pipe keeps it open and says nothing more: the alarm would end the test. */
TEST(test_close_with_silent_pipe)
{
	for (const struct codec *codec = codecs; codec->name; codec++) {
		struct bytes text = { 0 }, packed = { 0 };
		bytes_add_text(&text, 40000);
		codec->add(&packed, text.data, text.length);
		bytes_add(&packed, packed.data, 10); /* the beginning of another member */
		int ends[2], saved = dup(STDIN_FILENO);
		assert_int_equal(pipe(ends), 0);
		assert_int_equal(write(ends[1], packed.data, packed.length), packed.length);
		assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);

		struct input *in;
		const char *data;
		size_t available;
		struct input_options options = { .block_bytes = 4096 };
		alarm(60);
		assert_int_equal(tsi_input_open_file(&in, "-", &options, NULL), TSCOPE_OK);
		assert_int_equal(tsi_input_peek(in, 300, &data, &available, NULL), TSCOPE_OK);
		assert_memory_equal(data, text.data, 300);
		tsi_input_close(in);
		alarm(0);

		dup2(saved, STDIN_FILENO);
		close(saved);
		close(ends[0]);
		close(ends[1]);
		bytes_reset(&text);
		bytes_reset(&packed);
	}
}

/* On the caller's thread or on another one, copied or looked at: in four ways. */
static void read_whole(struct alloc_sweep *sweep, const struct bytes *packed, unsigned way)
{
	struct input_options options = { .block_bytes = 100, .single_thread = way % 2 };
	struct input *in = NULL;
	const char *data;
	size_t available;
	char into[70];

	alloc_sweep_start(sweep);
	enum tscope_status status =
		tsi_input_open_memory(&in, packed->data, packed->length, &options, &sweep->err);
	while (status == TSCOPE_OK && way / 2)
		status = tsi_input_read(in, into, sizeof(into), &available, &sweep->err);
	while (status == TSCOPE_OK) {
		status = tsi_input_peek(in, 70, &data, &available, &sweep->err);
		tsi_input_consume(in, available);
	}
	alloc_sweep_check(sweep, status == TSCOPE_END ? TSCOPE_OK : status);
	tsi_input_close(in);
}

TEST(test_without_memory)
{
	struct bytes text = { 0 };
	bytes_add_text(&text, 3000);
	for (const struct codec *codec = codecs; codec->name; codec++) {
		struct bytes packed = { 0 };
		codec->add(&packed, text.data, text.length);
		for (unsigned way = 0; way < 4; way++) {
			struct alloc_sweep sweep = { .at_least = 6, .may_survive = true };
			while (alloc_sweep_next(&sweep))
				read_whole(&sweep, &packed, way);
		}
		bytes_reset(&packed);
	}
	bytes_reset(&text);
}
