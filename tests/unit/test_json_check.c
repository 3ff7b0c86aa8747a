/* SPDX-License-Identifier: MIT */
/*
 * decode/json_check.c against the categories of public JSON conformance suites:
 * must accept (y), must reject (n), either (i: what we decided stands here).
 * With bytes that a C string cannot hold the length is given.
 */
#include "decode/json.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

struct check_case {
	const char *text;
	int length; /* 0: that of the C string */
};

static const struct check_case accepted[] = {
	/* structure */
	{ "[]", 0 },
	{ "{}", 0 },
	{ "[ ]", 0 },
	{ " [] ", 0 },
	{ "[[] ]", 0 },
	{ "[1\n]", 0 },
	{ "\t[\r\n]", 0 },
	{ "[1,null,null,null,2]", 0 },
	{ "[[[[[[]]]]]]", 0 },
	{ "[null, 1, \"1\", {}]", 0 },
	{ "{\"a\":\"b\"}", 0 },
	{ "{\"a\":\"b\",\"c\":[]}", 0 },
	{ "{\"\":0}", 0 },
	{ "{\"a\":[]}", 0 },
	{ "{\"a\":{\"b\":{\"c\":[{},{}]}}}", 0 },
	{ "{\"a\":\"b\",\"a\":\"c\"}", 0 },
	{ "{\"a\":1,\"a\":1}", 0 },
	{ "{\n\"a\": \"b\"\n}", 0 },
	{ "{\"long\": \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}", 0 },
	/* scalars alone */
	{ "false", 0 },
	{ "true", 0 },
	{ "null", 0 },
	{ "42", 0 },
	{ "-0.1", 0 },
	{ "\"asd\"", 0 },
	{ "\"\"", 0 },
	/* numbers */
	{ "[0]", 0 },
	{ "[-0]", 0 },
	{ "[0e+1]", 0 },
	{ "[0e1]", 0 },
	{ "[ 4]", 0 },
	{ "[123]", 0 },
	{ "[-123]", 0 },
	{ "[20e1]", 0 },
	{ "[1E22]", 0 },
	{ "[1E-2]", 0 },
	{ "[1E+2]", 0 },
	{ "[123e45]", 0 },
	{ "[123.456e78]", 0 },
	{ "[1e-2]", 0 },
	{ "[1e+2]", 0 },
	{ "[123.456789]", 0 },
	{ "[-0.000000000000000000000000000000000001]", 0 },
	{ "[10159970886766084423]", 0 },
	{ "[1704161511420306.491]", 0 },
	/* strings */
	{ "[\"\\u0060\\u012a\\u12AB\"]", 0 },
	{ "[\"\\uD801\\udc37\"]", 0 },
	{ "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]", 0 },
	{ "[\"\\\\u0000\"]", 0 },
	{ "[\"\\\"\"]", 0 },
	{ "[\"a/*b*/c/*d//e\"]", 0 },
	{ "[\"\\u0000\"]", 0 },
	{ "[\"\x7f\"]", 0 },
	{ "[\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"]", 0 },
	{ "[\" \"]", 0 },
	{ "[\"new\\u000Aline\"]", 0 },
	{ "[\"\\uFFFF\"]", 0 },
	{ "[\"\\u005C\"]", 0 },
	{ "[\"\\uA66D\"]", 0 },
};

static const struct check_case rejected[] = {
	/* structure */
	{ "", 0 },
	{ " ", 0 },
	{ "[", 0 },
	{ "{", 0 },
	{ "]", 0 },
	{ "}", 0 },
	{ "[1", 0 },
	{ "[1,", 0 },
	{ "[1]]", 0 },
	{ "[]a", 0 },
	{ "[1 true]", 0 },
	{ "[a]", 0 },
	{ "[\"\": 1]", 0 },
	{ "[\"\"],", 0 },
	{ "[,1]", 0 },
	{ "[1,,2]", 0 },
	{ "[1,,]", 0 },
	{ "[,]", 0 },
	{ "[,\"\"]", 0 },
	{ "[3[4]]", 0 },
	{ "[1:2]", 0 },
	{ "[\"x\"", 0 },
	{ "[}", 0 },
	{ "{]", 0 },
	{ "[1}", 0 },
	{ "{\"a\":1]", 0 },
	{ "[{}", 0 },
	{ "{\"a\"", 0 },
	{ "{\"a\":", 0 },
	{ "{\"a\" b}", 0 },
	{ "{:\"b\"}", 0 },
	{ "{\"a\" \"b\"}", 0 },
	{ "{a: \"b\"}", 0 },
	{ "{'a':0}", 0 },
	{ "{1:1}", 0 },
	{ "{\"a\":1 \"b\":2}", 0 },
	{ "{\"a\":1,,\"b\":2}", 0 },
	{ "{\"a\":1,,}", 0 },
	{ "{,}", 0 },
	{ "{\"a\":\"a\" 123}", 0 },
	{ "{\"id\":0,,,,,}", 0 },
	{ "{\"a\":\"b\"}#", 0 },
	{ "{\"a\":\"b\"}/**/", 0 },
	{ "{\"a\":/*comment*/1}", 0 },
	{ "[*]", 0 },
	{ "1]", 0 },
	{ "{}}", 0 },
	{ "[1]x", 0 },
	{ "[1][2]", 0 },
	{ "{}[]", 0 },
	{ "<null>", 0 },
	{ "[\x0c]", 0 },
	{ "\xef\xbb\xbf{}", 0 },
	{ "[\xe2\x81\xa0]", 0 },
	{ "[1\0]", 4 },
	{ "abc", 0 },
	/* words */
	{ "[True]", 0 },
	{ "[tru]", 0 },
	{ "[nul]", 0 },
	{ "[fals]", 0 },
	{ "[nulll]", 0 },
	{ "[nan]", 0 },
	{ "[inf]", 0 },
	{ "[N/A]", 0 },
	{ "[undefined]", 0 },
	/* numbers */
	{ "[+1]", 0 },
	{ "[++1]", 0 },
	{ "[-01]", 0 },
	{ "[-]", 0 },
	{ "[- 1]", 0 },
	{ "[-a]", 0 },
	{ "[.123]", 0 },
	{ "[-.123]", 0 },
	{ "[1.]", 0 },
	{ "[2.e3]", 0 },
	{ "[0.e1]", 0 },
	{ "[0e]", 0 },
	{ "[0e+]", 0 },
	{ "[1eE2]", 0 },
	{ "[1e1.5]", 0 },
	{ "[0x42]", 0 },
	{ "[012]", 0 },
	{ "[1 000.0]", 0 },
	{ "[1+2]", 0 },
	{ "[9.e+]", 0 },
	{ "[1.0e]", 0 },
	{ "[1.2.3]", 0 },
	{ "[1ea]", 0 },
	{ "[1a]", 0 },
	{ "[-1x]", 0 },
	{ "[-NaN]", 0 },
	{ "[+Infinity]", 0 },
	/* strings */
	{ "[\"a]", 0 },
	{ "\"", 0 },
	{ "[\"\\\"]", 0 },
	{ "[\"\\\\\\\"]", 0 },
	{ "[\"\\x00\"]", 0 },
	{ "[\"\\a\"]", 0 },
	{ "[\"\\u\"]", 0 },
	{ "[\"\\u00\"]", 0 },
	{ "[\"\\u00A\"]", 0 },
	{ "[\"\\uD834\\u\"]", 0 },
	{ "[\"\\u12g4\"]", 0 },
	{ "[\"new\nline\"]", 0 },
	{ "[\"\t\"]", 0 },
	{ "[\"a\0a\"]", 7 },
	{ "['a']", 0 },
	{ "[\"\\ \"]", 0 },
	{ "[\"\\", 0 },
	{ "\"\\u12", 0 },
	{ "[\\n]", 0 },
};

/* Where the suites leave the choice, and where tolerance is meant (design section 3). */
static const struct check_case tolerated[] = {
	{ "[NaN]", 0 },
	{ "[Infinity]", 0 },
	{ "[-Infinity]", 0 },
	{ "[1,]", 0 },
	{ "{\"a\":1,}", 0 },
	{ "[[1,],]", 0 },
	{ "[1e400]", 0 },
	{ "[-1e+9999]", 0 },
	{ "[0.4e-669999999999999999999]", 0 },
	{ "[100000000000000000000000]", 0 },
	{ "[\"\\uDADA\"]", 0 },
	{ "[\"\\uD888\\u1234\"]", 0 },
	{ "[\"\\uDd1e\\uD834\"]", 0 }, /* lone surrogates: decoded to U+FFFD */
	{ "[\"\xff\"]", 0 },
	{ "[\"\xed\xa0\x80\"]", 0 },
	{ "[\"\xc0\xaf\"]", 0 },
	{ "[\"\xe0\xff\"]", 0 }, /* not UTF-8: marked when printed */
};

static enum tscope_status check(const struct check_case *c, struct tscope_error *err)
{
	size_t length = c->length ? (size_t)c->length : strlen(c->text);
	char *copy = malloc(length + !length); /* so that a sanitizer sees one byte too far */
	memcpy(copy, c->text, length);
	enum tscope_status status = tsi_json_check((struct str){ copy, length }, 100, err);
	free(copy);
	return status;
}

TEST(test_accepted)
{
	for (size_t i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++) {
		struct tscope_error err;
		if (check(&accepted[i], &err) != TSCOPE_OK)
			fail_msg("%s: %s at %d", accepted[i].text, err.message, (int)err.offset);
	}
	for (size_t i = 0; i < sizeof(tolerated) / sizeof(tolerated[0]); i++)
		if (check(&tolerated[i], NULL) != TSCOPE_OK)
			fail_msg("%s is to be tolerated", tolerated[i].text);
}

TEST(test_rejected)
{
	for (size_t i = 0; i < sizeof(rejected) / sizeof(rejected[0]); i++) {
		struct tscope_error err = { 0 };
		if (check(&rejected[i], &err) != TSCOPE_E_DAMAGED || !err.has_offset)
			fail_msg("%s is to be rejected", rejected[i].text);
	}
}

TEST(test_message_and_place)
{
	static const struct {
		const char *text, *message;
		unsigned offset;
	} cases[] = {
		{ "{\"a\":1 \"b\":2}", "expected , or }", 7 },
		{ "[1 2]", "expected , or ]", 3 },
		{ "[1.]", "expected a digit after the point", 3 },
		{ "{\"a\" 1}", "expected a colon", 5 },
		{ "[\"\\q\"]", "expected an escape that JSON knows", 3 },
		{ "[1] 2", "expected the end of the value", 4 },
		{ "[\"ab", "expected a closing quote", 4 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tscope_error err = { 0 };
		struct check_case c = { cases[i].text, 0 };
		assert_int_equal(check(&c, &err), TSCOPE_E_DAMAGED);
		assert_string_equal(err.message, cases[i].message);
		assert_int_equal(err.offset, cases[i].offset);
	}
}

TEST(test_depth)
{
	char text[2048];
	memset(text, '[', 1000);
	memset(text + 1000, ']', 1000);
	struct tscope_error err = { 0 };
	assert_int_equal(tsi_json_check((struct str){ text, 2000 }, 1000, &err), TSCOPE_OK);
	assert_int_equal(tsi_json_check((struct str){ text, 2000 }, 999, &err), TSCOPE_E_LIMIT);
	assert_string_equal(err.message, "values nested deeper than 999 (limit: max-depth)");
	memset(text, '[', sizeof(text));
	assert_int_equal(tsi_json_check((struct str){ text, sizeof(text) }, 100000, &err),
			 TSCOPE_E_LIMIT);
}
