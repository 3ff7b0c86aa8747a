/* SPDX-License-Identifier: MIT */
/* base/intern.c: equal texts have equal ids, whatever comes. */
#include "base/intern.h"

#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "fail_alloc.h"

enum { MANY = 1000000 };

static uint32_t add(struct intern *set, struct str text)
{
	uint32_t id = UINT32_MAX;
	assert_int_equal(tsi_intern_add(set, text, &id, NULL), TSCOPE_OK);
	return id;
}

TEST(test_ids)
{
	struct intern set;
	assert_int_equal(tsi_intern_init(&set, 100, NULL), TSCOPE_OK);
	assert_int_equal(add(&set, TSI_STR("")), 0);
	assert_int_equal(add(&set, (struct str){ NULL, 0 }), 0);
	assert_int_equal(add(&set, TSI_STR("aten::mm")), 1);
	assert_int_equal(add(&set, TSI_STR("aten::add")), 2);
	assert_int_equal(add(&set, TSI_STR("aten::mm")), 1);
	assert_int_equal(add(&set, TSI_STR("aten::m")), 3);
	assert_int_equal(add(&set, TSI_STR("a\0b")), 4);
	assert_int_equal(add(&set, TSI_STR("a\0c")), 5);
	assert_int_equal(set.count, 6);

	assert_int_equal(tsi_intern_find(&set, TSI_STR("aten::add")), 2);
	assert_int_equal(tsi_intern_find(&set, TSI_STR("aten::sub")), UINT32_MAX);
	assert_true(tsi_str_is(tsi_intern_text(&set, 1), "aten::mm"));
	assert_int_equal(tsi_intern_text(&set, 1).data[8], '\0');
	assert_true(tsi_str_equal(tsi_intern_text(&set, 5), TSI_STR("a\0c")));
	tsi_intern_deinit(&set);
	tsi_intern_deinit(&set); /* a zeroed one */
}

/* Every length around the rounds of the hash; texts that differ in one byte only. */
TEST(test_lengths)
{
	struct intern set;
	assert_int_equal(tsi_intern_init(&set, 100000, NULL), TSCOPE_OK);
	char text[80];
	uint32_t expected = 1;
	for (size_t length = 1; length < sizeof(text); length++)
		for (size_t at = 0; at < length; at++) {
			memset(text, 'a', sizeof(text));
			text[at] = 'b';
			assert_int_equal(add(&set, (struct str){ text, length }), expected++);
		}
	for (uint32_t id = 1; id < expected; id++)
		assert_int_equal(tsi_intern_find(&set, tsi_intern_text(&set, id)), id);
	tsi_intern_deinit(&set);
}

/* Texts that differ in their last byte only, which begin their search side by side. */
TEST(test_last_bytes)
{
	struct intern set;
	unsigned char text[] = { 'i', 'd', ' ', '0', '0' };
	uint32_t expected = 1;
	assert_int_equal(tsi_intern_init(&set, 100000, NULL), TSCOPE_OK);
	for (text[3] = '0'; text[3] <= '9'; text[3]++)
		for (int last = 0; last <= UINT8_MAX; last++) {
			text[4] = (unsigned char)last;
			assert_int_equal(add(&set, (struct str){ (char *)text, sizeof(text) }),
					 expected++);
		}
	for (uint32_t id = 1; id < expected; id++)
		assert_int_equal(tsi_intern_find(&set, tsi_intern_text(&set, id)), id);
	tsi_intern_deinit(&set);
}

/*
 * A million texts: 32-bit hashes of a million texts collide about 116 times
 * (10^12 / 2 / 2^32), so compares of the bytes are exercised too. That the
 * work is linear shows in the test's time limit: it would not end otherwise.
 */
TEST(test_many)
{
	struct intern set;
	char text[32];
	assert_int_equal(tsi_intern_init(&set, MANY + 1, NULL), TSCOPE_OK);
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 1; i <= MANY; i++) {
			int length = snprintf(text, sizeof(text), "void kernel_%u<float>", i);
			struct str name = { text, (size_t)length };
			if (add(&set, name) != i)
				fail_msg("text %u has another id in round %u", i, round);
		}
	assert_int_equal(set.count, MANY + 1);
	assert_true(tsi_str_is(tsi_intern_text(&set, MANY), "void kernel_1000000<float>"));
	tsi_intern_deinit(&set);
}

/* Longer than a chunk, and one that leaves no room in the chunk for the next. */
TEST(test_long_texts)
{
	enum { LENGTH = 200000 };
	char *text = malloc(LENGTH);
	assert_non_null(text);
	memset(text, 'k', LENGTH);
	struct intern set;
	assert_int_equal(tsi_intern_init(&set, 100, NULL), TSCOPE_OK);
	assert_int_equal(add(&set, (struct str){ text, LENGTH }), 1);
	assert_int_equal(add(&set, (struct str){ text, LENGTH - 1 }), 2);
	assert_int_equal(add(&set, (struct str){ text, 60000 }), 3);
	assert_int_equal(add(&set, (struct str){ text, 60001 }), 4);
	assert_int_equal(add(&set, (struct str){ text, LENGTH }), 1);
	assert_int_equal(tsi_intern_text(&set, 1).length, LENGTH);
	assert_memory_equal(tsi_intern_text(&set, 1).data, text, LENGTH);
	tsi_intern_deinit(&set);
	free(text);
}

/*
 * Texts of 16 and of 32 bytes that make a factor of the hash 0. Where that swallows the rest
 * they are all in one place, and this takes minutes.
 */
TEST(test_factors_of_zero)
{
	static const uint64_t zeros[] = { 0xd6e8feb86659fd93u, 0x9e3779b97f4a7c15u };
	enum { COUNT = 200000 };

	for (size_t words = 2; words <= 4; words += 2) {
		struct intern set;

		assert_int_equal(tsi_intern_init(&set, 2 * COUNT, NULL), TSCOPE_OK);
		for (uint64_t i = 1; i <= COUNT; i++) {
			uint64_t text[4] = { zeros[words / 4], i, 0, 0 };
			uint32_t id = add(&set, (struct str){ (const char *)text, 8 * words });
			assert_int_equal(id, i);
		}
		tsi_intern_deinit(&set);
	}
}

TEST(test_limit)
{
	struct intern set;
	struct tscope_error err = { 0 };
	uint32_t id = 77;
	assert_int_equal(tsi_intern_init(&set, 3, NULL), TSCOPE_OK);
	add(&set, TSI_STR("a"));
	add(&set, TSI_STR("b"));
	assert_int_equal(tsi_intern_add(&set, TSI_STR("c"), &id, &err), TSCOPE_E_LIMIT);
	assert_string_equal(err.message, "more than 3 different names (limit: names)");
	assert_int_equal(id, 77);
	assert_int_equal(add(&set, TSI_STR("b")), 2); /* what is there is still found */
	tsi_intern_deinit(&set);
}

static enum tscope_status intern_some(struct tscope_error *err)
{
	struct intern set;
	char text[16];
	uint32_t id;
	enum tscope_status status = tsi_intern_init(&set, 1000, err);
	for (int i = 0; i < 300 && status == TSCOPE_OK; i++) {
		snprintf(text, sizeof(text), "%d", i);
		status = tsi_intern_add(&set, (struct str){ text, strlen(text) }, &id, err);
	}
	tsi_intern_deinit(&set);
	return status;
}

TEST(test_without_memory)
{
	struct alloc_sweep sweep = { .at_least = 3 }; /* slots, entries, a chunk */
	while (alloc_sweep_next(&sweep))
		alloc_sweep_try(&sweep, intern_some(&sweep.err));
}
