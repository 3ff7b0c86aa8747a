/* SPDX-License-Identifier: MIT */
/* run/file_name.c: parts and order of names. */
#include "run/file_name.h"

#include <string.h>

#include "base/attributes.h"
#include "check.h"
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

TEST(test_order)
{
	for (size_t i = 0; i < TSI_COUNT_OF(in_order); i++)
		for (size_t j = 0; j < TSI_COUNT_OF(in_order); j++) {
			int order = tsi_compare_names(in_order[i], in_order[j]);
			int expected = i < j ? -1 : i > j;

			if ((order > 0) - (order < 0) != expected)
				fail_msg("%s, %s: %d", in_order[i], in_order[j], order);
		}
}

TEST(test_parts)
{
	static const char *const cases[][3] = {
		{ "a/b/c.json.gz", "c.json.gz", "a/b/c.json" },
		{ "c.json", "c.json", "c.json" },
		{ "c.GZ", "c.GZ", "c" },
		{ "a/", "", "a/" },
		{ ".gz", ".gz", ".gz" },
		{ "x.zst.lz4", "x.zst.lz4", "x.zst" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct str unpacked = tsi_unpacked_name(cases[i][0]);

		assert_string_equal(tsi_base_name(cases[i][0]), cases[i][1]);
		assert_int_equal(unpacked.length, strlen(cases[i][2]));
		assert_memory_equal(unpacked.data, cases[i][2], unpacked.length);
	}
}

TEST(test_join)
{
	static const char *const cases[][3] = {
		{ "a", "b", "a/b" }, { "a/", "b", "a/b" }, { "/", "b", "/b" },
		{ "", "b", "b" },    { "a", "", "a/" },    { "", "", "" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct str folder = { cases[i][0], strlen(cases[i][0]) };
		struct str name = { cases[i][1], strlen(cases[i][1]) };
		struct arena arena = { 0 };

		assert_string_equal(tsi_path_join(&arena, folder, name), cases[i][2]);
		tsi_arena_deinit(&arena);
	}
}

TEST(test_join_nomem)
{
	struct arena arena = { 0 };

	fail_alloc_at(1);
	const char *path = tsi_path_join(&arena, TSI_STR("a"), TSI_STR("b"));
	assert_true(fail_alloc_stop());
	assert_string_equal(path, "");
	assert_true(arena.has_failed);
}
