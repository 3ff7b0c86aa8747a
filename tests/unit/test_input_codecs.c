/* SPDX-License-Identifier: MIT */
/*
 * input/filter_<codec>.c: what only one of them has: header fields, checksums
 * and sizes that lie, windows, dictionaries; and codecs that this build lacks.
 */
#include "input/input.h"

#include "base/attributes.h"
#include "check.h"
#include "packed.h"

#if HAVE_ZLIB
#include <zlib.h> /* crc32 */
#endif

/* Every codec is recognised by its magic. What a build cannot read it knows by name, with a remedy. */
TEST(test_built_or_named)
{
	static const struct {
		const char *magic;
		size_t length;
		bool is_built;
		const char *truncated, *missing;
	} cases[] = {
		{ "\x1f\x8b", 2, HAVE_ZLIB || HAVE_ISAL, "gzip member 1: truncated",
		  "gzip: this build cannot read it: unpack it first (gzip -dc FILE | tscope trace "
		  "-), or build tscope with zlib1g-dev" },
		{ "\x28\xb5\x2f\xfd", 4, HAVE_ZSTD, "zstd frame 1: truncated",
		  "zstd: this build cannot read it: unpack it first (zstd -dc FILE | tscope trace "
		  "-), or build tscope with libzstd-dev" },
		{ "\x04\x22\x4d\x18", 4, HAVE_LZ4, "lz4 frame 1: truncated",
		  "lz4: this build cannot read it: unpack it first (lz4 -dc FILE | tscope trace "
		  "-), or build tscope with liblz4-dev" },
	};
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct bytes packed = { 0 };
		bytes_add(&packed, cases[i].magic, cases[i].length);
		if (cases[i].is_built)
			expect_error(&packed, TSCOPE_E_DAMAGED, cases[i].truncated);
		else
			expect_error(&packed, TSCOPE_E_UNSUPPORTED, cases[i].missing);
		bytes_reset(&packed);
	}
}

#if HAVE_ZLIB

/* Header flags: 2 header checksum, 4 extra field, 8 name, 16 comment. */
static void add_gzip_header(struct bytes *to, unsigned flags)
{
	size_t start = to->length;
	const char fixed[] = { '\x1f', '\x8b', 8, (char)flags, 1, 2, 3, 4, 0, 3 };
	bytes_add(to, fixed, sizeof(fixed));
	if (flags & 4) {
		bytes_add_literal(to, "\x2c\x01");
		bytes_add_text(to, 300);
	}
	if (flags & 8)
		bytes_add_literal(to, "rank-0.json\0");
	if (flags & 16)
		bytes_add_literal(to, "a comment\0");
	if (flags & 2) {
		uLong crc = crc32(0, (const Bytef *)to->data + start, (uInt)(to->length - start));
		const char sum[] = { (char)crc, (char)(crc >> 8) };
		bytes_add(to, sum, sizeof(sum));
	}
}

enum { PLAIN_GZIP_HEADER = 10 };

TEST(test_gzip_header_fields)
{
	struct bytes text = { 0 }, plain = { 0 };
	bytes_add_text(&text, 500);
	bytes_add_gzip(&plain, text.data, text.length);
	for (unsigned flags = 0; flags < 32; flags++) { /* bit 0: "probably text" */
		struct bytes packed = { 0 };
		add_gzip_header(&packed, flags);
		size_t header_end = packed.length;
		bytes_add(&packed, plain.data + PLAIN_GZIP_HEADER,
			  plain.length - PLAIN_GZIP_HEADER);
		expect_whole(&packed, &text, "gzip", 0);

		for (size_t cut = 2; cut < header_end; cut += 7) {
			struct bytes prefix = { packed.data, cut, 0 };
			expect_error(&prefix, TSCOPE_E_DAMAGED, "gzip member 1: truncated");
		}
		if (flags & 2) {
			packed.data[4] ^= 1;
			expect_error(&packed, TSCOPE_E_DAMAGED,
				     "gzip member 1: corrupt: the checksum of the header does not "
				     "match");
		}
		bytes_reset(&packed);
	}
	bytes_reset(&text);
	bytes_reset(&plain);
}

TEST(test_gzip_damage)
{
	static const struct {
		ptrdiff_t at; /* counted from the end of the file if negative */
		char bits;
		const char *message;
	} cases[] = {
		{ 2, 1, "gzip member 1: corrupt: unknown method in the header" },
		{ 3, 0x20, "gzip member 1: corrupt: unknown flags in the header" },
		{ 3, '\x80', "gzip member 1: corrupt: unknown flags in the header" },
		{ 10, 4, "gzip member 1: corrupt: invalid deflate data" }, /* block of kind 3 */
		{ -8, 1, "gzip member 2: corrupt: the checksum of the data does not match" },
		{ -5, 1, "gzip member 2: corrupt: the checksum of the data does not match" },
		{ -4, 1, "gzip member 2: corrupt: the size of the data does not match" },
		{ -1, 1, "gzip member 2: corrupt: the size of the data does not match" },
	};
	struct bytes packed = { 0 };
	/* Few bytes make a block with fixed codes: its kind, bits 1 and 2 of byte 10, is 1. */
	bytes_add_gzip(&packed, "abc", 3);
	bytes_add_gzip(&packed, "def", 3);
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		size_t at = cases[i].at < 0 ? packed.length - (size_t)-cases[i].at
					    : (size_t)cases[i].at;
		char saved = packed.data[at];
		packed.data[at] = (char)(saved ^ cases[i].bits);
		expect_error(&packed, TSCOPE_E_DAMAGED, cases[i].message);
		packed.data[at] = saved;
	}
	bytes_reset(&packed);
}

/* A match that reaches back before the start of its member: 32 KiB of another one are no help. */
TEST(test_gzip_members_stand_alone)
{
	struct bytes text = { 0 }, packed = { 0 };
	bytes_add_text(&text, 40000);
	bytes_add_gzip(&packed, text.data, text.length);
	add_gzip_header(&packed, 0);
	/*
	 * Fixed codes, last block, bits from the lowest: 1, 10; length 3 is 0000001,
	 * distance 1 is 00000; end 0000000. In bytes: 0x03, 0x02, 0x00 with 0x00.
	 */
	bytes_add_literal(&packed, "\x03\x02\x00\x00");
	bytes_add_text(&packed, 8);
	struct outcome outcome = read_all(&packed, &ways[5], 1);
	assert_int_equal(outcome.status, TSCOPE_E_DAMAGED);
	assert_string_equal(outcome.error.message, "gzip member 2: corrupt: invalid deflate data");
	expect_output(&outcome, text.data, text.length);
	bytes_reset(&outcome.output);
	bytes_reset(&text);
	bytes_reset(&packed);
}

#endif

#if HAVE_ZSTD

/* Frames by hand: magic, descriptor, window or size, one last block (3 bytes, then its data). */
TEST(test_zstd_headers)
{
	static const struct {
		const char *bytes;
		size_t length;
		enum tscope_status status;
		const char *message;
	} cases[] = {
		/* window 2^(10 + 17) is the largest, 2^(10 + 18) too large */
		{ "\x28\xb5\x2f\xfd\x00\x88\x01\x00\x00", 9, TSCOPE_END, "" },
		{ "\x28\xb5\x2f\xfd\x00\x90\x01\x00\x00", 9, TSCOPE_E_LIMIT,
		  "zstd frame 1: needs a window of more than 128 MiB (limit: zstd window): unpack "
		  "it first (zstd --long=31 -dc FILE | tscope trace -)" },
		/* dictionary id 7 */
		{ "\x28\xb5\x2f\xfd\x21\x07\x00\x01\x00\x00", 10, TSCOPE_E_UNSUPPORTED,
		  "zstd frame 1: needs dictionary 7: unpack it first (zstd -D DICTIONARY -dc FILE "
		  "| tscope trace -)" },
		/* says that it holds 5 bytes, and holds 2 */
		{ "\x28\xb5\x2f\xfd\x20\x05\x11\x00\x00\x61\x62", 11, TSCOPE_E_DAMAGED,
		  "zstd frame 1: corrupt: Data corruption detected" },
		/* a block of the reserved kind */
		{ "\x28\xb5\x2f\xfd\x00\x00\x07\x00\x00", 9, TSCOPE_E_DAMAGED,
		  "zstd frame 1: corrupt: Data corruption detected" },
	};
	const struct bytes nothing = { 0 };
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct bytes packed = { 0 };
		bytes_add(&packed, cases[i].bytes, cases[i].length);
		if (cases[i].status == TSCOPE_END)
			expect_whole(&packed, &nothing, "zstd", 0);
		else
			expect_error(&packed, cases[i].status, cases[i].message);
		bytes_reset(&packed);
	}
}

TEST(test_zstd_third_frame)
{
	struct bytes text = { 0 }, packed = { 0 };
	bytes_add_text(&text, 3000);
	size_t third_start = 0;
	for (int i = 0; i < 3; i++) {
		third_start = packed.length;
		bytes_add_zstd(&packed, text.data + 1000 * i, 1000);
	}
	packed.data[packed.length - 1] ^= 1; /* of the checksum */
	expect_error(&packed, TSCOPE_E_DAMAGED,
		     "zstd frame 3: corrupt: Restored data doesn't match checksum");
	struct outcome outcome = read_all(&packed, &ways[0], 1);
	assert_int_equal(outcome.error.offset, third_start);
	assert_true(outcome.output.length >= 2000);
	assert_memory_equal(outcome.output.data, text.data, outcome.output.length);
	bytes_reset(&outcome.output);
	bytes_reset(&text);
	bytes_reset(&packed);
}

#endif

#if HAVE_LZ4

TEST(test_lz4_damage)
{
	struct bytes text = { 0 }, packed = { 0 };
	bytes_add_text(&text, 1000);
	bytes_add_lz4(&packed, text.data, text.length);
	packed.data[packed.length - 1] ^= 1;
	expect_error(&packed, TSCOPE_E_DAMAGED,
		     "lz4 frame 1: corrupt: ERROR_contentChecksum_invalid");
	packed.data[packed.length - 1] ^= 1;
	packed.data[4] |= 1;
	expect_error(&packed, TSCOPE_E_UNSUPPORTED,
		     "lz4 frame 1: needs a dictionary: unpack it first (lz4 -D DICTIONARY -dc FILE "
		     "| tscope trace -)");
	bytes_reset(&text);
	bytes_reset(&packed);
}

#endif
