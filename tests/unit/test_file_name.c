/* SPDX-License-Identifier: MIT */
/* run/file_name.c: parts and order of names. */
#include "run/file_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/attributes.h"
#include "fail_alloc.h"

/* Each comes before the next. */
static const char *const in_order[] = {
	"",
	"2.json",
	"10.json",
	"rank",
	"rank-1",
	"rank0",
	"rank01", /* the same number: the longer way to write it comes first */
	"rank1",
	"rank1.json",
	"rank1.json.gz",
	"rank1.json.zst",
	"rank1.json.lz4",
	"rank1.json.old",
	"rank1a",
	"rank2",
	"rank10",
	"rank18446744073709551617", /* beyond 64 bits */
	"rank99999999999999999999999",
	"ranks",
	"\xc3\xa4.json",
};

static void test_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < TSI_COUNT_OF(in_order); i++)
		for (size_t j = 0; j < TSI_COUNT_OF(in_order); j++) {
			int order = tsi_compare_names(in_order[i], in_order[j]);
			int expected = i < j ? -1 : i > j;

			if ((order > 0) - (order < 0) != expected)
				fail_msg("%s, %s: %d", in_order[i], in_order[j], order);
		}
}

static void test_parts(void **state)
{
	static const char *const cases[][3] = {
		{ "a/b/c.json.gz", "c.json.gz", "a/b/c.json" },
		{ "c.json", "c.json", "c.json" },
		{ "c.GZ", "c.GZ", "c" },
		{ "a/", "", "a/" },
		{ ".gz", ".gz", ".gz" },
		{ "x.zst.lz4", "x.zst.lz4", "x.zst" },
	};

	(void)state;
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct str unpacked = tsi_unpacked_name(cases[i][0]);

		assert_string_equal(tsi_base_name(cases[i][0]), cases[i][1]);
		assert_int_equal(unpacked.length, strlen(cases[i][2]));
		assert_memory_equal(unpacked.data, cases[i][2], unpacked.length);
	}
}

static void test_join(void **state)
{
	static const char *const cases[][3] = {
		{ "a", "b", "a/b" }, { "a/", "b", "a/b" }, { "/", "b", "/b" },
		{ "", "b", "b" },    { "a", "", "a/" },    { "", "", "" },
	};

	(void)state;
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct str folder = { cases[i][0], strlen(cases[i][0]) };
		struct str name = { cases[i][1], strlen(cases[i][1]) };
		struct arena arena = { 0 };

		assert_string_equal(tsi_path_join(&arena, folder, name), cases[i][2]);
		tsi_arena_deinit(&arena);
	}
}

static void test_join_nomem(void **state)
{
	struct arena arena = { 0 };

	(void)state;
	fail_alloc_at(1);
	const char *path = tsi_path_join(&arena, TSI_STR("a"), TSI_STR("b"));
	assert_true(fail_alloc_stop());
	assert_string_equal(path, "");
	assert_true(arena.has_failed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_join_nomem),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
