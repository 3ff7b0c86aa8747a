/* SPDX-License-Identifier: MIT */
/* Numbering of pairs. */
#include "base/pair_set.h"

#include "check.h"
#include "fail_alloc.h"

TEST(numbers_pairs_as_they_come)
{
	struct arena arena = { 0 };
	struct pair_set set = { .arena = &arena };

	assert_int_equal(tsi_pair_set_add(&set, 1, 2), 0);
	assert_int_equal(tsi_pair_set_add(&set, 2, 1), 1);
	assert_int_equal(tsi_pair_set_add(&set, UINT32_MAX, UINT32_MAX), 2);
	assert_int_equal(tsi_pair_set_add(&set, 1, 2), 0);
	assert_int_equal(set.count, 3);
	assert_int_equal(set.pairs[1].first, 2);
	assert_int_equal(set.pairs[1].second, 1);
	tsi_arena_deinit(&arena);
}

TEST(keeps_numbers_while_it_grows)
{
	enum { SIDE = 100 };
	struct arena arena = { 0 };
	struct pair_set set = { .arena = &arena };

	for (uint32_t i = 0; i < SIDE * SIDE; i++)
		assert_int_equal(tsi_pair_set_add(&set, i / SIDE, i % SIDE), i);
	for (uint32_t i = 0; i < SIDE * SIDE; i++)
		assert_int_equal(tsi_pair_set_add(&set, i / SIDE, i % SIDE), i);
	tsi_arena_deinit(&arena);
}

TEST(survives_failing_allocations)
{
	struct alloc_sweep sweep = { 0 };
	while (alloc_sweep_next(&sweep)) {
		struct arena arena = { 0 };
		struct pair_set set = { .arena = &arena };
		uint32_t number = 0;

		alloc_sweep_start(&sweep);
		for (uint32_t i = 0; i < 100 && number != UINT32_MAX; i++)
			number = tsi_pair_set_add(&set, i, i);
		alloc_sweep_check(&sweep, tsi_arena_status(&arena, &sweep.err));
		assert_int_equal(number, sweep.has_failed ? UINT32_MAX : 99);
		tsi_arena_deinit(&arena);
	}
}
