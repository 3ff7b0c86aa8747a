/* SPDX-License-Identifier: MIT */
/* Which kernel is which: by name, by normal name, by launcher, in this order. */
#include "diff/work_match.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/attributes.h"
#include "check.h"
#include "fail_alloc.h"

enum { MAX_ITEMS = 8, TEXT_BYTES = 512 };

struct match_case {
	struct work_item a[MAX_ITEMS], b[MAX_ITEMS]; /* end with a name of NULL */
	/* A pair a line: how, indices of A, a slash, indices of B. */
	const char *pairs;
};

static size_t count_items(const struct work_item *items)
{
	size_t count = 0;

	while (count < MAX_ITEMS && items[count].name)
		count++;
	return count;
}

static size_t print_items(char *text, const size_t *items, size_t first, size_t count)
{
	size_t length = 0;

	for (size_t i = first; i < first + count; i++)
		length += (size_t)snprintf(text + length, TEXT_BYTES / 4, " %zu", items[i]);
	return length;
}

static void check_case(const struct match_case *c)
{
	char text[TEXT_BYTES] = "";
	size_t length = 0;
	struct arena arena = { 0 };
	struct work_pairs pairs =
		tsi_work_match(c->a, count_items(c->a), c->b, count_items(c->b), &arena);

	assert_false(arena.has_failed);
	for (size_t i = 0; i < pairs.count; i++) {
		const struct work_pair *pair = &pairs.pairs[i];
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s",
					   tsi_work_match_name(pair->match));
		length += print_items(text + length, pairs.a_items, pair->a_first, pair->a_count);
		length += (size_t)snprintf(text + length, sizeof(text) - length, " /");
		length += print_items(text + length, pairs.b_items, pair->b_first, pair->b_count);
		length += (size_t)snprintf(text + length, sizeof(text) - length, "\n");
	}
	assert_string_equal(text, c->pairs);
	tsi_arena_deinit(&arena);
}

TEST(items_are_matched)
{
	static const struct match_case cases[] = {
		{ { { 0 } }, { { 0 } }, "" },
		{ { { "a", NULL, false }, { "b", NULL, false } },
		  { { "b", NULL, false }, { "c", NULL, false }, { "a", NULL, false } },
		  "name 0 / 2\n"
		  "name 1 / 0\n"
		  "none / 1\n" },
		/* A name that both have leaves before its normal name is looked at. */
		{ { { "triton_poi_add_1", NULL, false }, { "triton_poi_add_2", NULL, false } },
		  { { "triton_poi_add_2", NULL, false }, { "triton_poi_add_7", NULL, false } },
		  "normalised_name 0 / 1\n"
		  "name 1 / 0\n" },
		/* Tiles that were chosen anew: two kernels for one, n for m. */
		{ { { "volta_sgemm_128x64_nn", NULL, false }, { "other", NULL, false } },
		  { { "ampere_sgemm_64x64_nn", NULL, false },
		    { "ampere_sgemm_32x32_nn", NULL, false } },
		  "normalised_name 0 / 0 1\n"
		  "none 1 /\n" },
		{ { { "triton_add_1", NULL, false },
		    { "triton_add_2", NULL, false },
		    { "triton_add_3", NULL, false } },
		  { { "triton_add_4", NULL, false },
		    { "x", NULL, false },
		    { "triton_add_5", NULL, false } },
		  "normalised_name 0 1 2 / 0 2\n"
		  "none / 1\n" },
		/* By launcher: only what is left, one for two. */
		{ { { "attention", "aten::sdpa [2]", false },
		    { "softmax", "aten::softmax [2]", false } },
		  { { "softmax", "aten::softmax [2]", false },
		    { "matmul_qk", "aten::sdpa [2]", false },
		    { "matmul_v", "aten::sdpa [2]", false } },
		  "launcher 0 / 1 2\n"
		  "name 1 / 0\n" },
		/* Of other shapes, or of nobody: not the same work. */
		{ { { "k1", "aten::mm [2]", false }, { "k2", NULL, false } },
		  { { "k3", "aten::mm [4]", false }, { "k4", NULL, false } },
		  "none 0 /\n"
		  "none 1 /\n"
		  "none / 0\n"
		  "none / 1\n" },
		/* The same launcher has several names, but no other side. */
		{ { { "k1", "aten::mm", false }, { "k2", "aten::mm", false } },
		  { { 0 } },
		  "none 0 /\n"
		  "none 1 /\n" },
		/* Names that a damaged report has twice. */
		{ { { "a", NULL, false }, { "a", NULL, false } },
		  { { "a", NULL, false } },
		  "name 0 1 / 0\n" },
		{ { { "", NULL, false } }, { { "", NULL, false } }, "name 0 / 0\n" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		check_case(&cases[i]);
}

/* 20,000 names against as many that differ in what normal names leave out. */
TEST(many_items)
{
	enum { COUNT = 20000 };
	struct work_item *a = calloc(COUNT, sizeof(*a)), *b = calloc(COUNT, sizeof(*b));
	char(*names)[32] = calloc(2 * COUNT, sizeof(*names));
	struct arena arena = { 0 };

	assert_true(a && b && names);
	for (size_t i = 0; i < COUNT; i++) {
		snprintf(names[2 * i], sizeof(*names), "k%zux_%d", i, 1);
		snprintf(names[2 * i + 1], sizeof(*names), "k%zux_%d", i, 2);
		a[i].name = names[2 * i];
		b[COUNT - 1 - i].name = names[2 * i + 1];
	}
	struct work_pairs pairs = tsi_work_match(a, COUNT, b, COUNT, &arena);
	assert_int_equal(pairs.count, COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		assert_int_equal(pairs.pairs[i].match, WORK_BY_NORMAL_NAME);
		assert_int_equal(pairs.a_items[pairs.pairs[i].a_first], i);
		assert_int_equal(pairs.b_items[pairs.pairs[i].b_first], COUNT - 1 - i);
	}
	tsi_arena_deinit(&arena);
	free(a);
	free(b);
	free(names);
}

TEST(every_allocation_may_fail)
{
	static const struct work_item a[] = { { "a", NULL, false },
					      { "k_1", NULL, false },
					      { "x", "op", false } };
	static const struct work_item b[] = { { "a", NULL, false },
					      { "k_2", NULL, false },
					      { "y", "op", false } };

	struct alloc_sweep sweep = { .at_least = 2 };
	while (alloc_sweep_next(&sweep)) {
		struct arena arena = { 0 };
		alloc_sweep_start(&sweep);
		struct work_pairs pairs = tsi_work_match(a, 3, b, 3, &arena);
		alloc_sweep_check(&sweep, tsi_arena_status(&arena, &sweep.err));
		if (!sweep.has_failed)
			assert_int_equal(pairs.count, 3);
		tsi_arena_deinit(&arena);
	}
}
