/* SPDX-License-Identifier: MIT */
/* base/str.c: text by pointer and length. */
#include "base/str.h"

#include <stdio.h>

#include "base/attributes.h"
#include "check.h"
#include "random_numbers.h"

static const struct str nothing = { NULL, 0 };

TEST(test_equal)
{
	assert_true(tsi_str_is(TSI_STR("abc"), "abc"));
	assert_false(tsi_str_is(TSI_STR("abc"), "abd"));
	assert_false(tsi_str_is(TSI_STR("abc"), "ab"));
	assert_true(tsi_str_equal(TSI_STR("a\0b"), TSI_STR("a\0b")));
	assert_false(tsi_str_equal(TSI_STR("a\0b"), TSI_STR("a\0c")));
	assert_true(tsi_str_equal(nothing, TSI_STR("")));
	assert_true(tsi_str_equal_nocase(TSI_STR("Ab_9Z"), TSI_STR("aB_9z")));
	assert_false(tsi_str_equal_nocase(TSI_STR("@"), TSI_STR("`"))); /* 0x40 and 0x60 */
	assert_false(tsi_str_equal_nocase(TSI_STR("ab"), TSI_STR("abc")));
}

TEST(test_prefix)
{
	assert_true(tsi_str_starts(TSI_STR("ProfilerStep#3"), "ProfilerStep#"));
	assert_true(tsi_str_starts(TSI_STR("x"), "x"));
	assert_true(tsi_str_starts(TSI_STR("x"), ""));
	assert_false(tsi_str_starts(TSI_STR("Prof"), "Profiler"));
}

TEST(test_find)
{
	static const struct {
		struct str text, needle;
		ptrdiff_t at, at_nocase;
	} cases[] = {
		{ { "ncclKernel_AllReduce", 20 }, { "AllReduce", 9 }, 11, 11 },
		{ { "ncclKernel_AllReduce", 20 }, { "allreduce", 9 }, -1, 11 },
		{ { "aab", 3 }, { "ab", 2 }, 1, 1 },
		{ { "aaa", 3 }, { "aaaa", 4 }, -1, -1 },
		{ { "abc", 3 }, { "c", 1 }, 2, 2 },
		{ { "abcX", 3 }, { "X", 1 }, -1, -1 }, /* lies behind the text */
		{ { "abc", 3 }, { "", 0 }, 0, 0 },
		{ { "", 0 }, { "a", 1 }, -1, -1 },
		{ { NULL, 0 }, { "a", 1 }, -1, -1 },
	};
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		assert_int_equal(tsi_str_find(cases[i].text, cases[i].needle), cases[i].at);
		assert_int_equal(tsi_str_find_nocase(cases[i].text, cases[i].needle),
				 cases[i].at_nocase);
	}
}

/* As it is defined: place by place. */
static ptrdiff_t find_nocase(struct str text, struct str needle)
{
	for (size_t at = 0; at + needle.length <= text.length; at++)
		if (tsi_str_equal_nocase((struct str){ text.data + at, needle.length }, needle))
			return (ptrdiff_t)at;
	return -1;
}

TEST(test_find_nocase_everywhere)
{
	static const char letters[] =
		"aAbB_?@`z\xc1"; /* '_' and '?', '@' and '`' differ in a bit */
	char text[40], needle[4];
	uint64_t seed = 1;

	for (int round = 0; round < 20000; round++) {
		size_t text_length = random_below(&seed, sizeof(text));
		size_t needle_length = random_below(&seed, sizeof(needle));
		for (size_t i = 0; i < sizeof(text) + sizeof(needle); i++) {
			char c = letters[random_below(&seed, sizeof(letters) - 1)];
			*(i < sizeof(text) ? &text[i] : &needle[i - sizeof(text)]) = c;
		}
		struct str in = { text + sizeof(text) - text_length, text_length };
		struct str what = { needle, needle_length };
		assert_int_equal(tsi_str_find_nocase(in, what), find_nocase(in, what));
		struct letter_pairs pairs;
		tsi_letter_pairs_of(&pairs, in);
		if (!tsi_may_hold(&pairs, what))
			assert_int_equal(find_nocase(in, what), -1);
	}
}

TEST(test_letter_pairs)
{
	struct letter_pairs pairs;

	tsi_letter_pairs_of(&pairs, TSI_STR("volta_Sgemm_128x64"));
	assert_true(tsi_may_hold(&pairs, TSI_STR("sGEMM")));
	assert_true(tsi_may_hold(&pairs, TSI_STR("_128")));
	assert_true(tsi_may_hold(&pairs, TSI_STR("q"))); /* no pair tells */
	assert_true(tsi_may_hold(&pairs, TSI_STR("")));
	assert_false(tsi_may_hold(&pairs, TSI_STR("dgemm")));
	assert_false(tsi_may_hold(&pairs, TSI_STR("gemms")));
	tsi_letter_pairs_of(&pairs, nothing);
	assert_false(tsi_may_hold(&pairs, TSI_STR("ab")));
}

TEST(test_trim)
{
	assert_true(tsi_str_is(tsi_str_trim(TSI_STR(" \t a b\r\n")), "a b"));
	assert_true(tsi_str_is(tsi_str_trim(TSI_STR("a")), "a"));
	assert_int_equal(tsi_str_trim(TSI_STR(" \n ")).length, 0);
	assert_int_equal(tsi_str_trim(nothing).length, 0);
}

TEST(test_to_int64)
{
	static const struct {
		const char *text;
		int64_t number;
	} good[] = {
		{ "0", 0 },
		{ "7", 7 },
		{ "-12", -12 },
		{ "-0", 0 },
		{ "007", 7 },
		{ "9223372036854775807", INT64_MAX },
		{ "-9223372036854775808", INT64_MIN },
	};
	static const char *const bad[] = {
		"",
		"-",
		"+1",
		" 1",
		"1 ",
		"1.0",
		"1e3",
		"0x1",
		"--1",
		"a",
		"9223372036854775808",
		"-9223372036854775809",
		"18446744073709551616",
		"99999999999999999999999",
	};
	int64_t number = 0;
	for (size_t i = 0; i < TSI_COUNT_OF(good); i++) {
		struct str text = { good[i].text, strlen(good[i].text) };
		assert_true(tsi_str_to_int64(text, &number));
		assert_true(number == good[i].number);
	}
	number = 42;
	for (size_t i = 0; i < TSI_COUNT_OF(bad); i++) {
		struct str text = { bad[i], strlen(bad[i]) };
		assert_false(tsi_str_to_int64(text, &number));
		assert_int_equal(number, 42);
	}
}

TEST(test_quote_is_cut)
{
	char text[100], shown[200];
	memset(text, 'n', sizeof(text));
	struct str long_text = { text, sizeof(text) };
	assert_int_equal(snprintf(shown, sizeof(shown), "%.*s", TSI_QUOTE(long_text)), 64);
	assert_int_equal(snprintf(shown, sizeof(shown), "%.*s", TSI_QUOTE(TSI_STR("ab"))), 2);
}

TEST(test_drop_partial)
{
	static const struct {
		const char *text, *kept;
	} cases[] = {
		{ "", "" },
		{ "ab", "ab" },
		{ "a\xc3\xa9", "a\xc3\xa9" }, /* é */
		{ "a\xc3", "a" },
		{ "a\xe2\x82\xac", "a\xe2\x82\xac" }, /* € */
		{ "a\xe2\x82", "a" },
		{ "a\xe2", "a" },
		{ "a\xf0\x9f\x98\x80", "a\xf0\x9f\x98\x80" },
		{ "a\xf0\x9f\x98", "a" },
		{ "\xf0\x9f", "" },
		{ "\xf0", "" },
		/* What is no UTF-8 is no beginning of a character. */
		{ "\x80", "\x80" },
		{ "\x80\x80\x80\x80\x80", "\x80\x80\x80\x80\x80" },
		{ "a\x80\x80", "a\x80\x80" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		char text[16];

		snprintf(text, sizeof(text), "%s", cases[i].text);
		tsi_str_drop_partial(text);
		assert_string_equal(text, cases[i].kept);
	}
}

TEST(a_quoted_text_is_cut_before_a_character)
{
	char text[80], shown[80];

	memset(text, 'a', sizeof(text));
	memcpy(text + 62, "\xe2\x82\xac", 3); /* € */
	snprintf(shown, sizeof(shown), "%.*s", TSI_QUOTE(((struct str){ text, sizeof(text) })));
	assert_int_equal(strlen(shown), 62);
	snprintf(shown, sizeof(shown), "%.*s", TSI_QUOTE(((struct str){ text + 1, 64 })));
	assert_int_equal(strlen(shown), 64);
	/* What is no UTF-8 keeps most of it. */
	memset(text, 0x80, sizeof(text));
	snprintf(shown, sizeof(shown), "%.*s", TSI_QUOTE(((struct str){ text, sizeof(text) })));
	assert_int_equal(strlen(shown), 60);
}
