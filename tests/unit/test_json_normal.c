/* SPDX-License-Identifier: MIT */
/* decode/json_normal.c: what is meant alike has one text, what is not has another. */
#include "decode/json_normal.h"

#include <stdio.h>

#include "check.h"
#include "fail_alloc.h"

static void check(const char *json, const char *expected)
{
	struct arena arena = { 0 };
	struct json_text text = { .arena = &arena };

	tsi_json_normalize(&text, tsi_str_of(json));
	assert_int_equal(tsi_arena_status(&arena, NULL), TSCOPE_OK);
	if (!tsi_str_equal((struct str){ text.chars, text.length }, tsi_str_of(expected)))
		fail_msg("%s: %.*s, expected %s", json, (int)text.length, text.chars, expected);
	tsi_arena_deinit(&arena);
}

TEST(one_form)
{
	static const struct {
		const char *json, *expected;
	} cases[] = {
		{ " [ 1 ,\n\t2 ] ", "[1,2]" },
		{ "[]", "[]" },
		{ "[[],{}]", "[[],{}]" },
		{ "{ \"b\" : 1 , \"a\" : { \"d\" : [ ] , \"c\" : null } }",
		  "{\"a\":{\"c\":null,\"d\":[]},\"b\":1}" },
		/* By bytes, a shorter name before those that it begins. */
		{ "{\"b\":1,\"ab\":2,\"a\":3,\"\":4,\"B\":5,\"\xc3\xa4\":6}",
		  "{\"\":4,\"B\":5,\"a\":3,\"ab\":2,\"b\":1,\"\xc3\xa4\":6}" },
		/* Of one name the last counts, however it is written. */
		{ "{\"a\":1,\"b\":2,\"\\u0061\":3}", "{\"a\":3,\"b\":2}" },
		{ "{\"\":1,\"\":2}", "{\"\":2}" },
		/* Strings. */
		{ "\"a\\u00e4\\/\\t\\\"\\\\\"", "\"a\xc3\xa4/\\u0009\\\"\\\\\"" },
		{ "[\"{\",\"]\",\",\"]", "[\"{\",\"]\",\",\"]" },
		{ "[\"\"]", "[\"\"]" },
		{ "{\"a{\":\"b\",\"{\":2}", "{\"a{\":\"b\",\"{\":2}" },
		/* Words. */
		{ "true", "true" },
		{ "NaN", "NaN" },
		{ "[Infinity,-Infinity]", "[Infinity,-Infinity]" },
		{ "1e999", "Infinity" },
		{ "-1e999", "-Infinity" },
		/* Numbers: integers keep their digits, reals have the fewest. */
		{ "12345678901234567890123", "12345678901234567890123" },
		{ "-7", "-7" },
		{ "-0", "0" },
		{ "-0.0", "0" },
		{ "0e5", "0" },
		{ "1.0", "1" },
		{ "1e-3", "0.001" },
		{ "0.10000000000000000", "0.1" },
		{ "0.1000000000000000055511151231257827", "0.1" },
		{ "0.30000000000000004", "0.30000000000000004" },
		{ "1E2", "100" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		check(cases[i].json, cases[i].expected);
		check(cases[i].expected, cases[i].expected); /* nothing left to do */
	}
}

TEST(it_is_appended)
{
	struct arena arena = { 0 };
	struct json_text text = { .arena = &arena };

	tsi_json_text_add(&text, TSI_STR("x="));
	tsi_json_text_add(&text, (struct str){ 0 });
	tsi_json_normalize(&text, TSI_STR("{ }"));
	tsi_json_text_add_unescaped(&text, TSI_STR("\\u0041"));
	assert_int_equal(tsi_arena_status(&arena, NULL), TSCOPE_OK);
	assert_true(tsi_str_is(((struct str){ text.chars, text.length }), "x={}A"));
	tsi_arena_deinit(&arena);
}

/* 20,000 members in the wrong order: not a matter of seconds. */
TEST(many_members)
{
	enum { COUNT = 20000 };
	struct arena arena = { 0 };
	struct json_text object = { .arena = &arena }, sorted = { .arena = &arena };
	char member[32];

	for (int i = COUNT - 1; i >= 0; i--) {
		snprintf(member, sizeof(member), "%c\"%05d\":%d", i == COUNT - 1 ? '{' : ',', i, i);
		tsi_json_text_add(&object, tsi_str_of(member));
	}
	tsi_json_text_add(&object, TSI_STR("}"));
	tsi_json_normalize(&sorted, (struct str){ object.chars, object.length });
	assert_int_equal(tsi_arena_status(&arena, NULL), TSCOPE_OK);
	assert_int_equal(sorted.length, object.length);
	assert_memory_equal(sorted.chars, "{\"00000\":0,\"00001\":1,", 21);
	tsi_arena_deinit(&arena);
}

TEST(every_allocation_may_fail)
{
	struct alloc_sweep sweep = { .at_least = 2 };
	while (alloc_sweep_next(&sweep)) {
		struct arena arena = { 0 };
		struct json_text text = { .arena = &arena };

		alloc_sweep_start(&sweep);
		tsi_json_normalize(&text,
				   TSI_STR("{\"b\":[1.5,\"\\n\"],\"\\u0061\":{\"c\":true}}"));
		alloc_sweep_check(&sweep, tsi_arena_status(&arena, &sweep.err));
		tsi_arena_deinit(&arena);
	}
}
