/* SPDX-License-Identifier: MIT */
/* decode/records/memray_lines.h: line tables as CPython 3.9, 3.10 and 3.11 wrote them. */
#include "decode/records/memray_lines.h"

#include "check.h"
#include "fail_alloc.h"

enum { V39 = 0x030905f0, V310 = 0x030a00a1, V311 = 0x030b00a7, V313 = 0x030d05f0 };
enum { MAX_LOOKS = 16, FIRST_LINE = 10 };

#define TABLE(bytes) bytes, sizeof(bytes) - 1

/* Instructions and their lines; the rest, offset 0 with line 0, is not looked at. */
struct look {
	int32_t offset, line;
};

static const struct {
	int32_t python_version;
	const char *table;
	size_t length;
	struct look looks[MAX_LOOKS];
} cases[] = {
	/*
	 * 3.11: 0x80 | code << 3 | (units - 1), a unit is two bytes of code.
	 * 0x81: code 0, 2 units, one byte: the same line, 10
	 * 0xd8: code 11, 1 unit, two bytes: line 10 + 1 = 11
	 * 0xea: code 13, 3 units; 9 = 4 << 1 | 1 is -4: line 11 - 4 = 7
	 * 0xff: code 15, 8 units: no line
	 * 0xf0: code 14, 1 unit; 0x48 0x03 is 8 + 3 * 64 = 200 = 100 << 1: line 107; then three
	 * numbers, the second of which has two bytes
	 */
	{ V311,
	  TABLE("\x81\x00\xd8\x01\x02\xea\x09\xff\xf0\x48\x03\x00\x41\x01\x05"),
	  { { -1, 10 },
	    { 1, 10 },
	    { 3, 10 },
	    { 4, 11 },
	    { 5, 11 },
	    { 6, 7 },
	    { 11, 7 },
	    { 12, 0 },
	    { 27, 0 },
	    { 28, 107 },
	    { 29, 107 },
	    { 30, 0 },
	    { INT32_MAX, 0 },
	    { INT32_MIN, 10 } } },
	/* later versions alike: 0xd0 is code 10, a difference of 0; 0xe0 code 12, of 2 */
	{ V313, TABLE("\xd0\x01\x02\xe0\x01\x02"), { { 1, 10 }, { 2, 12 }, { 3, 12 }, { 4, 0 } } },
	/* broken: no first byte, an entry cut, a number of more than 32 bits, cut numbers */
	{ V311, TABLE("\x80\x00\x00\x80\x00"), { { 1, 10 }, { 2, 0 } } },
	{ V311, TABLE("\x80\x00\xd8\x01"), { { 1, 10 }, { 2, 0 } } },
	{ V311, TABLE("\x80\x00\x80"), { { 1, 10 }, { 2, 0 } } },
	{ V311,
	  TABLE("\x80\x00\xe8\x7f\x7f\x7f\x7f\x7f\x7f\x00\x80\x00"),
	  { { 1, 10 }, { 2, 0 }, { 4, 0 } } },
	{ V311, TABLE("\x80\x00\xe8\x41"), { { 1, 10 }, { 2, 0 } } },
	{ V311, TABLE("\x80\x00\xf0\x02\x00\x00"), { { 1, 10 }, { 2, 0 } } },
	{ V311, TABLE("\x80\x00\xf0\x02\x00"), { { 1, 10 }, { 2, 0 } } },
	/* lines that are none: -2 of 10 - 12, and 10 - 10 (25 = 12 << 1 | 1, 21 = 10 << 1 | 1) */
	{ V311, TABLE("\xe8\x19\xe8\x18"), { { 1, 0 }, { 2, 10 } } },
	{ V311, TABLE("\xe8\x15"), { { 1, 0 } } },
	/* 1 << 30 in six bytes is 1 << 29 = 536870912 */
	{ V311, TABLE("\xe8\x40\x40\x40\x40\x40\x01"), { { 1, 536870922 }, { 2, 0 } } },
	{ V311, "", 0, { { -1, 10 }, { 2, 0 } } },

	/*
	 * 3.10: (bytes of code, difference); offsets count words of two bytes.
	 * 4 bytes of line 11; none of 14; 2 bytes without a line; 6 bytes of 14 - 2 = 12; the last
	 * byte is half a pair
	 */
	{ V310,
	  TABLE("\x04\x01\x00\x03\x02\x80\x06\xfe\x08"),
	  { { -1, 10 }, { 1, 11 }, { 2, 0 }, { 3, 12 }, { 5, 12 }, { 6, 0 }, { INT32_MAX, 0 } } },
	/* a difference of 200 = 127 + 73, and 254 + 4 = 258 bytes of it: words up to 129 */
	{ V310,
	  TABLE("\x00\x7f\xfe\x49\x04\x00\x02\x01"),
	  { { 1, 210 }, { 126, 210 }, { 127, 210 }, { 128, 210 }, { 129, 211 }, { 130, 0 } } },
	{ V310, "", 0, { { 1, 0 } } },

	/*
	 * 3.9: (bytes of code further on, difference). 11 from the first byte, 13 from byte 8,
	 * 12 from byte 8 + 255 + 10 = 273 to the end
	 */
	{ V39,
	  TABLE("\x00\x01\x08\x02\xff\x00\x0a\xff"),
	  { { -1, 10 },
	    { 1, 11 },
	    { 7, 11 },
	    { 8, 13 },
	    { 272, 13 },
	    { 273, 12 },
	    { 5000, 12 },
	    { INT32_MAX, 12 } } },
	/* all of it in one line; nobody said which version */
	{ V39, "", 0, { { 1, 10 }, { 900, 10 } } },
	{ 0, TABLE("\x02\x05"), { { 1, 10 }, { 2, 15 } } },
};

TEST(test_tables)
{
	struct memray_lines lines = { 0 };
	struct memray_line_range ranges[TSI_COUNT_OF(cases)];

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct str table = { cases[i].table, cases[i].length };
		ranges[i] = (struct memray_line_range){ .first_line = FIRST_LINE };
		assert_int_equal(tsi_memray_lines_add(&lines, cases[i].python_version, table,
						      &ranges[i], NULL),
				 TSCOPE_OK);
	}
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		for (const struct look *look = cases[i].looks; look->offset || look->line; look++) {
			int32_t line = tsi_memray_lines_find(&lines, ranges[i], look->offset);
			if (line != look->line)
				fail_msg("case %zu at %d: expected %d, found %d", i, look->offset,
					 look->line, line);
		}
	tsi_memray_lines_deinit(&lines);
}

/* Neighbours of one line are one range: 200 entries of it, then one of another. */
TEST(test_ranges)
{
	enum { ENTRIES = 200 };
	struct memray_lines lines = { 0 };
	struct memray_line_range range = { .first_line = 1 };
	char table[2 * ENTRIES + 3];

	for (size_t i = 0; i < ENTRIES; i++)
		memcpy(table + 2 * i, "\x80\x00", 2);
	memcpy(table + sizeof(table) - 3, "\xd8\x00", 3);
	assert_int_equal(tsi_memray_lines_add(&lines, V311, (struct str){ table, sizeof(table) },
					      &range, NULL),
			 TSCOPE_OK);
	assert_int_equal(range.count, 2);
	assert_int_equal(tsi_memray_lines_find(&lines, range, 2 * ENTRIES - 1), 1);
	assert_int_equal(tsi_memray_lines_find(&lines, range, 2 * ENTRIES), 2);
	tsi_memray_lines_deinit(&lines);
}

TEST(test_first_line_is_none)
{
	struct memray_lines lines = { 0 };
	struct memray_line_range range = { .first_line = -3 };

	assert_int_equal(tsi_memray_lines_add(&lines, V39, TSI_STR("\x02\x05"), &range, NULL),
			 TSCOPE_OK);
	assert_int_equal(tsi_memray_lines_find(&lines, range, -1), 0);
	assert_int_equal(tsi_memray_lines_find(&lines, range, 0), 0);
	assert_int_equal(tsi_memray_lines_find(&lines, range, 2), 2);
	tsi_memray_lines_deinit(&lines);
}

TEST(test_no_memory)
{
	struct memray_lines lines = { 0 };
	struct memray_line_range range = { .first_line = 1 };
	struct tscope_error err = { 0 };

	fail_alloc_at(1);
	assert_int_equal(tsi_memray_lines_add(&lines, V311, TSI_STR("\x80\x00"), &range, &err),
			 TSCOPE_E_NOMEM);
	assert_true(fail_alloc_stop());
	assert_int_equal(err.status, TSCOPE_E_NOMEM);
	tsi_memray_lines_deinit(&lines);
}
