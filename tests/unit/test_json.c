/* SPDX-License-Identifier: MIT */
/* decode/json.c: members, items, numbers, exact times, escapes. */
#include "decode/json.h"

#include <string.h>

#include "check.h"

static struct str text_of(const char *c)
{
	return (struct str){ c, strlen(c) };
}

#define assert_str(actual, expected)                                                               \
	do {                                                                                       \
		struct str actual_ = (actual);                                                     \
		assert_int_equal(actual_.length, strlen(expected));                                \
		assert_memory_equal(actual_.data, expected, actual_.length);                       \
	} while (0)

TEST(test_members)
{
	struct json_cursor members;
	struct str key, value;
	tsi_json_object_open(
		&members,
		text_of(" {\"a\": 1 , \"b\":\"x\\\"}\",\n\"c\": {\"d\": [1, {}]}, \"e\":N/A,}"));
	static const char *const expected[][2] = {
		{ "a", "1" },
		{ "b", "\"x\\\"}\"" },
		{ "c", "{\"d\": [1, {}]}" },
		{ "e", "N/A" },
	};
	for (size_t i = 0; i < 4; i++) {
		assert_true(tsi_json_object_next(&members, &key, &value));
		assert_str(key, expected[i][0]);
		assert_str(value, expected[i][1]);
	}
	assert_false(tsi_json_object_next(&members, &key, &value));
}

TEST(test_members_of_what_is_no_object)
{
	static const char *const texts[] = { "",       "7",       "[1]",  "{",     "{]",
					     "{\"a\"", "{\"a\":", "{\"a", "{1:2}", "{}" };
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct json_cursor members;
		struct str key, value;
		tsi_json_object_open(&members, text_of(texts[i]));
		assert_false(tsi_json_object_next(&members, &key, &value));
	}
}

TEST(test_get_takes_the_last)
{
	struct str object = text_of("{\"a\":1,\"b\":2,\"a\":3}");
	assert_str(tsi_json_object_get(object, TSI_STR("a")), "3");
	assert_int_equal(tsi_json_object_get(object, TSI_STR("c")).length, 0);
}

TEST(test_keys_with_escapes)
{
	static const char *const cases[][2] = {
		{ "{\"\\u0070h\":1}", "ph" },
		{ "{\"a\\/b\\u002ec\":1}", "a/b.c" },
		/* What would be unescaped again, or is not plain, stays as it is written. */
		{ "{\"a\\\\u0070\":1}", "a\\\\u0070" },
		{ "{\"\\u0022\":1}", "\\u0022" },
		{ "{\"\\n\":1}", "\\n" },
		{ "{\"\\u00e9\":1}", "\\u00e9" },
		{ "{\"\\x\":1}", "\\x" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct json_cursor members;
		struct str key, value;

		tsi_json_object_open(&members, text_of(cases[i][0]));
		assert_true(tsi_json_object_next(&members, &key, &value));
		assert_str(key, cases[i][1]);
	}
	assert_str(tsi_json_object_get(text_of("{\"a\":1,\"\\u0061\":3}"), TSI_STR("a")), "3");
}

TEST(test_items)
{
	struct json_cursor items;
	struct str value;
	tsi_json_array_open(&items, text_of("[ 1, [2,3] ,\"]\", ]"));
	static const char *const expected[] = { "1", "[2,3]", "\"]\"" };
	for (size_t i = 0; i < 3; i++) {
		assert_true(tsi_json_array_next(&items, &value));
		assert_str(value, expected[i]);
	}
	assert_false(tsi_json_array_next(&items, &value));
}

TEST(test_times)
{
	static const struct {
		const char *text;
		bool ok;
		int64_t ns;
	} cases[] = {
		{ "0", true, 0 },
		{ "12", true, 12000 },
		{ "-12.5", true, -12500 },
		{ "1704161511420306.491", true, 1704161511420306491 },
		{ "\"1704161511420306.491\"", true, 1704161511420306491 },
		{ "3743411230047.001", true, 3743411230047001 },
		{ "12345678", true, 12345678000 },
		{ "123456789.25", true, 123456789250 },
		{ "1.5", true, 1500 },
		{ "1.0005", true, 1001 }, /* half a ns: up */
		{ "1.00049999", true, 1000 },
		{ "-1.0005", true, -1001 }, /* in magnitude */
		{ "0.4006015155280184", true, 401 },
		{ "1e3", true, 1000000 },
		{ "1E+06", true, 1000000000 },
		{ "25e-1", true, 2500 },
		{ "0.0000001e7", true, 1000 },
		{ "9223372036854775.807", true, INT64_MAX },
		{ "9223372036854775.808", false, 0 },
		{ "-9223372036854775.808", true, INT64_MIN },
		{ "99999999999999999999999999999999999999999999", false, 0 },
		{ "1e400", false, 0 },
		{ "1e-400", true, 0 },
		{ "", false, 0 },
		{ "-", false, 0 },
		{ "1.", false, 0 },
		{ ".5", false, 0 },
		{ "1e", false, 0 },
		{ "100a", false, 0 },
		{ "NaN", false, 0 },
		{ "null", false, 0 },
		{ "1.2.3", false, 0 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t ns = 0;
		bool ok = tsi_json_to_ns(text_of(cases[i].text), &ns);
		if (ok != cases[i].ok || ns != cases[i].ns)
			fail_msg("%s: %d %lld", cases[i].text, ok, (long long)ns);
	}
}

TEST(test_integers)
{
	int64_t number = 0;
	uint64_t large = 0;
	assert_true(tsi_json_to_int64(text_of("-549452224"), &number));
	assert_int_equal(number, -549452224);
	assert_true(tsi_json_to_int64(text_of("\"42\""), &number));
	assert_int_equal(number, 42);
	assert_true(tsi_json_to_int64(text_of("4.1"), &number));
	assert_int_equal(number, 4);
	assert_false(tsi_json_to_int64(text_of("9223372036854775808"), &number));
	assert_false(tsi_json_to_int64(text_of("[1]"), &number));
	assert_true(tsi_json_to_uint64(text_of("10159970886766084423"), &large));
	assert_true(large == 10159970886766084423u);
	assert_true(tsi_json_to_uint64(text_of("18446744073709551615"), &large));
	assert_true(large == UINT64_MAX);
	assert_false(tsi_json_to_uint64(text_of("18446744073709551616"), &large));
	assert_false(tsi_json_to_uint64(text_of("-1"), &large));
}

TEST(test_doubles)
{
	double number = 0;
	assert_true(tsi_json_to_double(text_of("0.25"), &number));
	assert_true(number == 0.25);
	assert_true(tsi_json_to_double(text_of("-1.5e-3"), &number));
	assert_true(number == -1.5e-3);
	assert_true(tsi_json_to_double(text_of("\"16\""), &number));
	assert_true(number == 16);
	assert_true(tsi_json_to_double(text_of("0"), &number));
	assert_true(number == 0);
	assert_true(tsi_json_to_double(text_of("123456789012345.5e-30"), &number));
	assert_true(number == 123456789012345.5e-30);
	assert_true(tsi_json_to_double(text_of("0.1234567890123456789"), &number));
	assert_true(number == 0.1234567890123456789);
	assert_true(tsi_json_to_double(text_of("-1e400"), &number));
	assert_true(number < -1e308);
	assert_true(tsi_json_to_double(text_of("1e-400"), &number));
	assert_true(number == 0);
	assert_false(tsi_json_to_double(text_of("inf"), &number));
	assert_false(tsi_json_to_double(text_of("N/A"), &number));
}

TEST(test_unescape)
{
	static const struct {
		const char *text, *expected;
		unsigned bad;
	} cases[] = {
		{ "plain", "plain", 0 },
		{ "a\\\"b\\\\c\\/d", "a\"b\\c/d", 0 },
		{ "\\b\\f\\n\\r\\t", "\b\f\n\r\t", 0 },
		{ "\\u0041\\u00e9\\u20ac", "A\xc3\xa9\xe2\x82\xac", 0 },
		{ "\\ud83d\\ude00", "\xf0\x9f\x98\x80", 0 },
		{ "\\ud83d", "\xef\xbf\xbd", 0 },
		{ "\\ude00x", "\xef\xbf\xbdx", 0 },
		{ "\\ud83d\\u0041",
		  "\xef\xbf\xbd"
		  "A",
		  0 },
		{ "\\u0000", "\xef\xbf\xbd", 0 },
		{ "C:\\Users\\torch", "C:\\Users\torch",
		  1 }, /* \U is none, \t is one: nothing can tell */
		{ "\\u12", "\\u12", 1 },
		{ "end\\", "end\\", 1 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char out[64];
		uint64_t bad = 0;
		struct str text = text_of(cases[i].text);
		size_t length = tsi_json_unescape(text, out, &bad);
		assert_true(length <= text.length);
		assert_str(((struct str){ out, length }), cases[i].expected);
		assert_int_equal(bad, cases[i].bad);
	}
}
