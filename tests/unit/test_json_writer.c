/* SPDX-License-Identifier: MIT */
/*
 * The JSON writer: layout, escapes of hostile texts, and numbers that read back
 * as they were.
 */
#include "report/json_writer.h"

#include "base/attributes.h"
#include "check.h"

#include <stdlib.h>
#include <string.h>

/* A writer into memory. */
struct sink {
	struct json_writer w;
	char *text;
	size_t length;
};

static void sink_open(struct sink *sink)
{
	*sink = (struct sink){ 0 };
	sink->w.out = open_memstream(&sink->text, &sink->length);
	assert_non_null(sink->w.out);
}

static void sink_expect(struct sink *sink, const char *expected)
{
	assert_int_equal(fclose(sink->w.out), 0);
	assert_string_equal(sink->text, expected);
	free(sink->text);
}

/* One that comes again, and one that is equal and not the same. */
TEST(test_equal_reals)
{
	static const double values[] = { 0.0, -0.0, 0.5, 0.5, 0.25, 0.5, 0.0 };
	struct sink sink;

	sink_open(&sink);
	tsi_jw_row_array(&sink.w);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		tsi_jw_real(&sink.w, values[i]);
	tsi_jw_end_array(&sink.w);
	sink_expect(&sink, "[0, -0, 0.5, 0.5, 0.25, 0.5, 0]\n");
}

TEST(test_layout)
{
	struct sink sink;
	struct json_writer *w = &sink.w;

	sink_open(&sink);
	tsi_jw_object(w);
	tsi_jw_key(w, "a");
	tsi_jw_int(w, -1);
	tsi_jw_key(w, "empty");
	tsi_jw_object(w);
	tsi_jw_end_object(w);
	tsi_jw_key(w, "rows");
	tsi_jw_array(w);
	for (int i = 0; i < 2; i++) {
		tsi_jw_row(w);
		tsi_jw_key(w, "x");
		tsi_jw_uint(w, UINT64_MAX);
		tsi_jw_key(w, "y");
		tsi_jw_array(w);
		tsi_jw_flag(w, true);
		tsi_jw_null(w);
		tsi_jw_end_array(w);
		tsi_jw_end_object(w);
	}
	tsi_jw_end_array(w);
	tsi_jw_key(w, "none");
	tsi_jw_array(w);
	tsi_jw_end_array(w);
	tsi_jw_key(w, "list");
	tsi_jw_row_array(w);
	tsi_jw_int(w, 12);
	tsi_jw_int(w, 40);
	tsi_jw_end_array(w);
	tsi_jw_key(w, "last");
	tsi_jw_flag(w, false);
	tsi_jw_end_object(w);
	sink_expect(&sink, "{\n"
			   "  \"a\": -1,\n"
			   "  \"empty\": {},\n"
			   "  \"rows\": [\n"
			   "    {\"x\": 18446744073709551615, \"y\": [true, null]},\n"
			   "    {\"x\": 18446744073709551615, \"y\": [true, null]}\n"
			   "  ],\n"
			   "  \"none\": [],\n"
			   "  \"list\": [12, 40],\n"
			   "  \"last\": false\n"
			   "}\n");
}

TEST(test_texts)
{
	static const struct {
		const char *text, *json;
	} cases[] = {
		{ "plain", "\"plain\"" },
		{ "", "\"\"" },
		{ NULL, "null" },
		{ "a\"b\\c/", "\"a\\\"b\\\\c/\"" },
		{ "\b\t\n\f\r\x01\x1b[31m\x7f", "\"\\b\\t\\n\\f\\r\\u0001\\u001b[31m\\u007f\"" },
		{ "µ 你 😀", "\"µ 你 😀\"" },
		{ "\xC2\x9B", "\"\\u009b\"" },                  /* C1: CSI in one character */
		{ "\xE2\x80\xAE", "\"\\u202e\"" },              /* right-to-left override */
		{ "\xF3\xA0\x80\x81", "\"\\udb40\\udc01\"" },   /* tag, beyond the BMP */
		{ "a\xFFz", "\"a\xEF\xBF\xBDz\"" },             /* no UTF-8 */
		{ "\xC0\xAF", "\"\xEF\xBF\xBD\xEF\xBF\xBD\"" }, /* overlong */
		{ "\xED\xA0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"" }, /* surrogate */
		{ "\xF4\x90\x80\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"" },
		{ "cut \xE4\xBD", "\"cut \xEF\xBF\xBD\xEF\xBF\xBD\"" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct sink sink;
		char expected[80];

		sink_open(&sink);
		tsi_jw_row_array(&sink.w);
		tsi_jw_text(&sink.w, cases[i].text);
		tsi_jw_end_array(&sink.w);
		snprintf(expected, sizeof(expected), "[%s]\n", cases[i].json);
		sink_expect(&sink, expected);
	}
}

TEST(test_integers)
{
	struct sink sink;

	sink_open(&sink);
	tsi_jw_row_array(&sink.w);
	tsi_jw_int(&sink.w, INT64_MIN);
	tsi_jw_int(&sink.w, -10);
	tsi_jw_int(&sink.w, 0);
	tsi_jw_int(&sink.w, INT64_MAX);
	tsi_jw_uint(&sink.w, UINT64_MAX);
	tsi_jw_end_array(&sink.w);
	sink_expect(&sink, "[-9223372036854775808, -10, 0, 9223372036854775807, "
			   "18446744073709551615]\n");
}

/* Texts around the size of what the writer gathers come out in order, and none is lost. */
TEST(test_long_texts)
{
	const size_t room = sizeof(((struct json_writer *)NULL)->pending);

	for (size_t length = room - 8; length < room + 8; length++) {
		struct sink sink;
		char *text = calloc(length + 1, 1), *expected = calloc(3 * length + 16, 1);

		assert_non_null(text);
		assert_non_null(expected);
		memset(text, 'x', length);
		text[length - 1] = 'y';
		sink_open(&sink);
		tsi_jw_row_array(&sink.w);
		for (int i = 0; i < 3; i++)
			tsi_jw_text(&sink.w, text);
		tsi_jw_end_array(&sink.w);
		sprintf(expected, "[\"%s\", \"%s\", \"%s\"]\n", text, text, text);
		sink_expect(&sink, expected);
		free(text);
		free(expected);
	}
}
