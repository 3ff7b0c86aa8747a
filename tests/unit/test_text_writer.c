/* SPDX-License-Identifier: MIT */
/*
 * The text writer: numbers as people read them, and names of an input that
 * must neither harm the terminal nor break the columns.
 */
#include "report/text_writer.h"

#include "check.h"
#include "report/number.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tscope/report.h>

struct sink {
	struct text_writer w;
	char *text;
	size_t length;
};

static void sink_open(struct sink *sink, bool color, bool ascii)
{
	*sink = (struct sink){ .w = { .color = color, .ascii = ascii, .width = 80 } };
	sink->w.out = open_memstream(&sink->text, &sink->length);
	assert_non_null(sink->w.out);
}

static void sink_expect(struct sink *sink, const char *expected)
{
	assert_int_equal(fclose(sink->w.out), 0);
	assert_string_equal(sink->text, expected);
	free(sink->text);
}

TEST(test_numbers)
{
	static const struct {
		int64_t value;
		enum tscope_unit unit;
		const char *text;
	} cases[] = {
		{ 0, TSCOPE_UNIT_NS, "0 ns" },
		{ 999, TSCOPE_UNIT_NS, "999 ns" },
		{ 1000, TSCOPE_UNIT_NS, "1.000 µs" },
		{ 9999, TSCOPE_UNIT_NS, "9.999 µs" },
		{ 99994, TSCOPE_UNIT_NS, "99.99 µs" },
		{ 99995, TSCOPE_UNIT_NS, "100.0 µs" },
		{ 999949, TSCOPE_UNIT_NS, "999.9 µs" },
		{ 999950, TSCOPE_UNIT_NS, "1.000 ms" },
		{ 12345678, TSCOPE_UNIT_NS, "12.35 ms" },
		{ 3661000000000, TSCOPE_UNIT_NS, "3661 s" },
		{ -1500, TSCOPE_UNIT_NS, "-1.500 µs" },
		{ 1023, TSCOPE_UNIT_BYTES, "1023 B" },
		{ 1024, TSCOPE_UNIT_BYTES, "1.00 KiB" },
		{ 1048576, TSCOPE_UNIT_BYTES, "1.00 MiB" },
		{ 1047552, TSCOPE_UNIT_BYTES, "1023 KiB" },
		{ 25100000000, TSCOPE_UNIT_BYTES_PER_SECOND, "25.1 GB/s" },
		{ 0, TSCOPE_UNIT_FLOPS, "0 FLOP" },
		{ 999, TSCOPE_UNIT_FLOPS, "999 FLOP" },
		{ 1000, TSCOPE_UNIT_FLOPS, "1.000 kFLOP" },
		{ 2097152, TSCOPE_UNIT_FLOPS, "2.097 MFLOP" },
		{ 137438953472, TSCOPE_UNIT_FLOPS, "137.4 GFLOP" },
		{ 999949999999, TSCOPE_UNIT_FLOPS, "999.9 GFLOP" },
		{ 999950000000, TSCOPE_UNIT_FLOPS, "1.000 TFLOP" },
		{ 6200000000000000, TSCOPE_UNIT_FLOPS, "6.200 PFLOP" },
		{ 1500, TSCOPE_UNIT_FLOPS_PER_SECOND, "1.500 kFLOP/s" },
		{ 312000000000000, TSCOPE_UNIT_FLOPS_PER_SECOND, "312.0 TFLOP/s" },
		{ 0, TSCOPE_UNIT_COUNT, "0" },
		{ 999, TSCOPE_UNIT_COUNT, "999" },
		{ 1000, TSCOPE_UNIT_COUNT, "1,000" },
		{ -1234567, TSCOPE_UNIT_COUNT, "-1,234,567" },
		{ 1, TSCOPE_UNIT_RATIO, "100.0 %" },
		{ 0, TSCOPE_UNIT_RATIO, "0.0 %" },
	};
	char text[NUMBER_MAX];

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct tscope_value value = { .kind = TSCOPE_VALUE_INT, .integer = cases[i].value };

		tsi_number_people(text, value, cases[i].unit);
		assert_string_equal(text, cases[i].text);
	}
}

TEST(test_real_numbers)
{
	static const struct {
		struct tscope_value value;
		enum tscope_unit unit;
		const char *text;
	} cases[] = {
		{ { .kind = TSCOPE_VALUE_REAL, .real = 0.0004 }, TSCOPE_UNIT_RATIO, "<0.1 %" },
		{ { .kind = TSCOPE_VALUE_REAL, .real = 0.0006 }, TSCOPE_UNIT_RATIO, "0.1 %" },
		{ { .kind = TSCOPE_VALUE_REAL, .real = 0.9999 }, TSCOPE_UNIT_RATIO, ">99.9 %" },
		{ { .kind = TSCOPE_VALUE_REAL, .real = 0.398 }, TSCOPE_UNIT_RATIO, "39.8 %" },
		{ { .kind = TSCOPE_VALUE_REAL, .real = 1e308 }, TSCOPE_UNIT_RATIO, NULL },
		{ { .kind = TSCOPE_VALUE_REAL, .real = 1e308 }, TSCOPE_UNIT_NUMBER, NULL },
		{ { .kind = TSCOPE_VALUE_REAL, .real = 2.345 }, TSCOPE_UNIT_NUMBER, "2.35" },
		{ { .kind = TSCOPE_VALUE_REAL, .real = 9.996 }, TSCOPE_UNIT_NUMBER, "10.0" },
		{ { .kind = TSCOPE_VALUE_REAL, .real = 3.4e21 }, TSCOPE_UNIT_FLOPS, "3400 EFLOP" },
		{ { .kind = TSCOPE_VALUE_REAL, .real = 0.4 }, TSCOPE_UNIT_FLOPS, "0 FLOP" },
		/* Peaks are sold in TFLOP/s, however many. */
		{ { .kind = TSCOPE_VALUE_REAL, .real = 9.895e14 },
		  TSCOPE_UNIT_FLOPS_PER_SECOND,
		  "989.5 TFLOP/s" },
		{ { .kind = TSCOPE_VALUE_REAL, .real = 2.25e15 },
		  TSCOPE_UNIT_FLOPS_PER_SECOND,
		  "2250 TFLOP/s" },
		{ { .kind = TSCOPE_VALUE_REAL, .real = 1e308 }, TSCOPE_UNIT_FLOPS, NULL },
		{ { .kind = TSCOPE_VALUE_REAL, .real = 1e308 },
		  TSCOPE_UNIT_FLOPS_PER_SECOND,
		  NULL },
		{ { .kind = TSCOPE_VALUE_FLAG, .flag = true }, TSCOPE_UNIT_FLAG, "yes" },
		{ { .kind = TSCOPE_VALUE_FLAG, .flag = false }, TSCOPE_UNIT_FLAG, "no" },
		{ { .kind = TSCOPE_VALUE_ABSENT }, TSCOPE_UNIT_NS, "-" },
	};
	char text[NUMBER_MAX];

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		tsi_number_people(text, cases[i].value, cases[i].unit);
		if (cases[i].text)
			assert_string_equal(text, cases[i].text);
		else
			assert_true(strlen(text) < NUMBER_MAX); /* cut, but in its room */
	}
}

/* Names in a cell of 20 columns. */
TEST(test_name_cells)
{
	static const struct {
		const char *name, *shown, *ascii;
	} cases[] = {
		{ "aten::mm", "aten::mm            ", "aten::mm            " },
		{ "exactly_20_columns_!", "exactly_20_columns_!", "exactly_20_columns_!" },
		/* 11 columns of the head, …, 8 of the tail */
		{ "abcdefghijklmnopqrstuvwxyz", "abcdefghijk…stuvwxyz", "abcdefghijk~stuvwxyz" },
		/* what says least goes first: return type and parameters */
		{ "void f<4, half>(int, float (*)(int))", "f<4, half>          ",
		  "f<4, half>          " },
		{ "(anonymous namespace)", "(anonymous …mespace)", "(anonymous ~mespace)" },
		/* escapes for the terminal; backslashes of the input stay */
		{ "\x1b[2J\x07", "\\x1b[2J\\x07         ", "\\x1b[2J\\x07         " },
		{ "a\nb\tc\x7f", "a\\x0ab\\x09c\\x7f     ", "a\\x0ab\\x09c\\x7f     " },
		{ "\xC2\x9B"
		  "1m",
		  "\\u009b1m            ", "\\u009b1m            " },
		{ "x\xE2\x80\xAEy", "x\\u202ey            ", "x\\u202ey            " },
		{ "bad\xFF", "bad\\xff             ", "bad\\xff             " },
		/* columns, not bytes: é 1, 你 2, combining accent 0 */
		{ "caf\xC3\xA9", "café                ", "caf\\u00e9           " },
		{ "你好", "你好                ", "\\u4f60\\u597d        " },
		{ "e\xCC\x81", "e\xCC\x81                   ", "e\\u0301             " },
		/* the few characters that we use ourselves have a substitute */
		{ "12 µs", "12 µs               ", "12 us               " },
		/* a wide character that would stick out of the head is left out, not halved */
		{ "你你你你你你你你你你你", "你你你你你…你你你你 ", NULL },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct sink sink;

		sink_open(&sink, false, false);
		tsi_text_name_cell(&sink.w, cases[i].name, 20);
		sink_expect(&sink, cases[i].shown);
		if (!cases[i].ascii)
			continue;
		sink_open(&sink, false, true);
		tsi_text_name_cell(&sink.w, cases[i].name, 20);
		sink_expect(&sink, cases[i].ascii);
	}
}

/* What of a site stays: the line, then the function, then folders. */
TEST(test_site_cells)
{
	static const struct {
		const char *site;
		unsigned columns;
		const char *shown;
	} cases[] = {
		{ "a/b.py:1:f", 10, "a/b.py:1:f" },
		/* folders go from the left, whole names only, and first */
		{ "vllm/worker/cache_engine.py:83:_allocate_kv_cache", 45,
		  "…worker/cache_engine.py:83:_allocate_kv_cache" },
		{ "vllm/worker/cache_engine.py:83:_allocate_kv_cache", 44,
		  "…cache_engine.py:83:_allocate_kv_cache" },
		{ "vllm/worker/cache_engine.py:83:_allocate_kv_cache", 38,
		  "…cache_engine.py:83:_allocate_kv_cache" },
		/* then ends of functions */
		{ "vllm/worker/cache_engine.py:83:_allocate_kv_cache", 37,
		  "…cache_engine.py:83:_allocate_kv_cac…" },
		{ "vllm/worker/cache_engine.py:83:_allocate_kv_cache", 20, "…cache_engine.py:83…" },
		{ "vllm/worker/cache_engine.py:83:_allocate_kv_cache", 19, "…cache_engine.py:83" },
		{ "vllm/worker/cache_engine.py:83:_allocate_kv_cache", 18, "cache_engine.py:83" },
		/* what even a file's name does not fit in keeps the line */
		{ "vllm/worker/cache_engine.py:83:_allocate_kv_cache", 10, "…ine.py:83" },
		{ "C:\\job\\cache.py:83:get", 16, "…cache.py:83:get" },
		{ "cache_engine.py:83:_allocate_kv_cache", 20, "cache_engine.py:83:…" },
		/* the line is the first number that stands alone between colons */
		{ "a.so:7:at::_ops::sum::1::call", 10, "a.so:7:at…" },
		/* of C++ without a place the function stays, without its signature */
		{ "??:0:at::_ops::sum::1::call", 10, "at::_ops:…" },
		{ ":0:void torch::autograd::Engine::run(int)", 30, "torch::autograd::Engine::run" },
		{ "??:0:torch::autograd::generated::DivBackward0::apply(V&&)", 44,
		  "torch::autograd::generated::DivBackward0::a…" },
		{ "a function of nothing", 10, "a functio…" },
		{ "é/你.py:1:caf\xC3\xA9_x", 11, "…你.py:1:c…" },
		/* of several frames each keeps its line: 7 + 3 + 7 and 4 for functions, 2 each */
		{ "a/b.py:1:function < c/d.py:2:gunction", 21, "…b.py:1:… < …d.py:2:…" },
		{ "a/b.py:1:f < c/d.py:2:gunction", 23, "…b.py:1:f < …d.py:2:gu…" },
		{ "a/b.py:1:f < c/d.py:2:g", 22, "…b.py:1:f < c/d.py:2:g" },
		/* outer ones go where there is no room for all lines */
		{ "a/b.py:1:f < c/d.py:2:gunction", 14, "a/b.py:1:f < …" },
		{ "a/b.py:1:f < c/d.py:2:gunction < e.py:3:h", 21, "…b.py:1 < …d.py:2 < …" },
		{ "a/b.py:1:f < c/d.py:2:gunction", 8, "…b.py:1…" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct sink sink;
		unsigned put;

		sink_open(&sink, false, false);
		put = tsi_text_site_cut(&sink.w, cases[i].site, cases[i].columns);
		sink_expect(&sink, cases[i].shown);
		assert_int_equal(put, tsi_text_columns(cases[i].shown));
		assert_true(put <= cases[i].columns);
	}
}

TEST(test_bars_and_sparklines)
{
	static const double values[] = { 10, 20, 30, 80 };
	static const double extremes[] = { -DBL_MAX, NAN, INFINITY, DBL_MAX };
	static const double same[] = { 5, 5 };
	struct sink sink;

	sink_open(&sink, false, false);
	tsi_text_bar(&sink.w, 0.5, 4, TEXT_RED);
	tsi_text_bar(&sink.w, -1, 2, TEXT_RED);
	tsi_text_bar(&sink.w, 7, 2, TEXT_RED);
	/* eighths of the range 10…80: 0, 1.1, 2.3, 8 */
	tsi_text_sparkline(&sink.w, values, 4);
	tsi_text_sparkline(&sink.w, extremes, 4);
	tsi_text_sparkline(&sink.w, same, 2);
	sink_expect(&sink, "██░░░░██▁▂▃█▁××█▁▁");

	sink_open(&sink, false, true);
	tsi_text_bar(&sink.w, 0.5, 4, TEXT_RED);
	tsi_text_put(&sink.w, " µ·…");
	sink_expect(&sink, "##.. u|~");
}

/* With colours the same text, and every style ends. */
TEST(test_styles)
{
	struct sink sink;

	sink_open(&sink, true, false);
	tsi_text_style(&sink.w, TEXT_BOLD);
	tsi_text_put(&sink.w, "title");
	tsi_text_style(&sink.w, TEXT_PLAIN);
	tsi_text_bar(&sink.w, 1, 1, TEXT_GREEN);
	sink_expect(&sink, "\033[1mtitle\033[0m\033[32m█\033[0m\033[2m\033[0m");
}

/* Lines of 20 columns, the first of which begins at column 4. */
TEST(test_paragraphs)
{
	static const struct {
		const char *words, *shown;
	} cases[] = {
		{ "", "\n" },
		{ "one two three four", "one two three\n    four\n" },
		/* a number keeps its unit, a dot the word before it */
		{ "the step took 12 ms", "the step took\n    12 ms\n" },
		{ "1.5 GiB · two · three", "1.5 GiB · two ·\n    three\n" },
		/* a word longer than the line is broken, and nothing of it lost */
		{ "a bcdefghijklmnopqrstu v", "a\n    bcdefghijklmnopq\n    rstu v\n" },
		{ "a\033[31m b", "a\\x1b[31m b\n" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct sink sink;

		sink_open(&sink, false, false);
		sink.w.width = 20;
		tsi_text_paragraph(&sink.w, cases[i].words, 4);
		sink_expect(&sink, cases[i].shown);
	}
}

TEST(test_flows)
{
	struct text_flow flow = { .separator = " · ", .indent = 2 };
	struct sink sink;

	sink_open(&sink, false, true);
	sink.w.width = 20;
	flow.w = &sink.w;
	tsi_text_flow_end(&flow); /* nothing: no line */
	tsi_text_flow(&flow, "mean 12 ms");
	tsi_text_flow(&flow, "p50 9");
	tsi_text_flow(&flow, "µ");
	tsi_text_flow(&flow, "a_name_of_an_input_that_is_too_long");
	tsi_text_flow_end(&flow);
	tsi_text_flow(&flow, "again");
	tsi_text_flow_end(&flow);
	/* 2 + 10 + 3 + 5 = 20 columns, then 18 for the long one */
	sink_expect(&sink, "  mean 12 ms | p50 9\n"
			   "  u\n"
			   "  a_name_of_~oo_long\n"
			   "  again\n");
}

TEST(test_write_escaped)
{
	struct sink sink;

	sink_open(&sink, false, false);
	tscope_write_escaped(sink.w.out, "no\r\x1b]0;file.json");
	sink_expect(&sink, "no\\x0d\\x1b]0;file.json");
}
