/* SPDX-License-Identifier: MIT */
/* base/arena.c: room for anything, arrays that grow, and memory that runs out once for all. */
#include "base/arena.h"

#include <string.h>

#include "check.h"
#include "fail_alloc.h"

TEST(test_pieces_are_zeroed_and_aligned)
{
	struct arena arena = { 0 };

	for (size_t bytes = 0; bytes < 20000; bytes += 1 + bytes / 7) {
		char *piece = tsi_arena_new(&arena, bytes, 1);

		assert_non_null(piece);
		assert_int_equal((uintptr_t)piece % 16, 0);
		for (size_t i = 0; i < bytes; i++)
			assert_int_equal(piece[i], 0);
		memset(piece, 0xa5, bytes); /* pieces do not overlap: none is found dirty */
	}
	assert_int_equal(tsi_arena_status(&arena, NULL), TSCOPE_OK);
	tsi_arena_deinit(&arena);
}

/* Two arrays grow in turn, past the size at which a piece gets a block of its own. */
TEST(test_arrays_grow)
{
	struct arena arena = { 0 };
	uint32_t *odd = NULL, *even = NULL;
	size_t odd_count = 0, even_count = 0, odd_capacity = 0, even_capacity = 0;

	for (uint32_t i = 0; i < 40000; i++) {
		uint32_t *item =
			i % 2 ? tsi_arena_push(&arena, &odd, &odd_count, &odd_capacity, 4)
			      : tsi_arena_push(&arena, &even, &even_count, &even_capacity, 4);
		assert_non_null(item);
		assert_int_equal(*item, 0);
		*item = i;
	}
	assert_int_equal(odd_count, 20000);
	for (uint32_t i = 0; i < 20000; i++) {
		assert_int_equal(odd[i], 2 * i + 1);
		assert_int_equal(even[i], 2 * i);
	}
	tsi_arena_deinit(&arena);
}

TEST(test_texts)
{
	struct arena arena = { 0 };

	assert_string_equal(tsi_arena_copy(&arena, TSI_STR("rank")), "rank");
	assert_string_equal(tsi_arena_copy(&arena, (struct str){ 0 }), "");
	assert_string_equal(tsi_arena_print(&arena, "%s %d", "rank", 3), "rank 3");
	tsi_arena_deinit(&arena);
}

/* After one failure everything fails, though there would be memory again. */
TEST(test_failure_is_sticky)
{
	struct arena arena = { 0 };
	struct tscope_error err = { 0 };
	uint64_t *items = NULL;
	size_t count = 0, capacity = 0;

	assert_non_null(tsi_arena_push(&arena, &items, &count, &capacity, sizeof(*items)));
	fail_alloc_at(1);
	assert_null(tsi_arena_new(&arena, 100000, 1));
	assert_true(fail_alloc_stop());

	assert_null(tsi_arena_new(&arena, 1, 1));
	assert_null(tsi_arena_reserve(&arena, items, &capacity, 1000, sizeof(*items)));
	assert_int_equal(count, 1);
	assert_string_equal(tsi_arena_copy(&arena, TSI_STR("lost")), "");
	assert_string_equal(tsi_arena_print(&arena, "lost"), "");
	assert_int_equal(tsi_arena_status(&arena, &err), TSCOPE_E_NOMEM);
	assert_string_equal(err.message, "out of memory");
	tsi_arena_deinit(&arena);
	assert_int_equal(tsi_arena_status(&arena, NULL), TSCOPE_OK);
}

/* realloc that fails leaves the array as it was. */
TEST(test_growth_without_memory)
{
	struct arena arena = { 0 };
	char *items = NULL;
	size_t count = 0, capacity = 0;

	while (count < 10000) {
		char *item = tsi_arena_push(&arena, &items, &count, &capacity, 1);
		assert_non_null(item);
		*item = (char)count;
	}
	fail_alloc_at(1);
	assert_null(tsi_arena_reserve(&arena, items, &capacity, capacity + 1, 1));
	assert_true(fail_alloc_stop());
	for (size_t i = 0; i < count; i++)
		assert_int_equal(items[i], (char)(i + 1));
	tsi_arena_deinit(&arena);
}

TEST(test_sizes_that_overflow)
{
	static const struct {
		size_t count, item_bytes;
	} cases[] = {
		{ SIZE_MAX, 2 }, { SIZE_MAX / 8 + 1, 8 }, { SIZE_MAX, 1 }, { SIZE_MAX - 8, 1 }
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct arena arena = { 0 };
		size_t capacity = 0;

		assert_null(tsi_arena_new(&arena, cases[i].count, cases[i].item_bytes));
		assert_int_equal(tsi_arena_status(&arena, NULL), TSCOPE_E_NOMEM);
		tsi_arena_deinit(&arena);
		assert_null(tsi_arena_reserve(&arena, NULL, &capacity, cases[i].count,
					      cases[i].item_bytes));
		assert_int_equal(capacity, 0);
		tsi_arena_deinit(&arena);
	}
}
