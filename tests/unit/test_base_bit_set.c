/* SPDX-License-Identifier: MIT */
/* Sets of numbers as bits, and the numbers of their members. */
#include "base/bit_set.h"

#include "check.h"
#include "fail_alloc.h"

enum { LIMIT = 1000 };

TEST(numbers_members_in_order)
{
	static const uint32_t members[] = { 0, 1, 63, 64, 127, 128, 640, 998, LIMIT - 1 };
	struct bit_set set;

	assert_true(tsi_bit_set_init(&set, NULL, LIMIT));
	for (size_t i = TSI_COUNT_OF(members); i-- > 0;) {
		tsi_bit_set_add(&set, members[i]);
		tsi_bit_set_add(&set, members[i]); /* once is enough */
	}
	assert_int_equal(tsi_bit_set_close(&set), TSI_COUNT_OF(members));
	uint32_t next = 0;
	for (uint32_t number = 0; number < LIMIT; number++) {
		bool is_member = next < TSI_COUNT_OF(members) && members[next] == number;
		assert_int_equal(tsi_bit_set_has(&set, number), is_member);
		uint32_t following = next < TSI_COUNT_OF(members) ? members[next] : UINT32_MAX;
		assert_int_equal(tsi_bit_set_next(&set, number), following);
		if (is_member)
			assert_int_equal(tsi_bit_set_rank(&set, number), next++);
	}
	assert_int_equal(next, TSI_COUNT_OF(members));
	assert_int_equal(tsi_bit_set_next(&set, 2 * LIMIT), UINT32_MAX);
	tsi_bit_set_deinit(&set);
}

TEST(may_be_empty)
{
	struct bit_set set;

	assert_true(tsi_bit_set_init(&set, NULL, 0));
	assert_int_equal(tsi_bit_set_close(&set), 0);
	tsi_bit_set_deinit(&set);
	assert_null(set.words);
	tsi_bit_set_deinit(&set);
}

TEST(says_when_memory_ends)
{
	struct alloc_sweep sweep = { 0 };
	while (alloc_sweep_next(&sweep)) {
		struct bit_set set;

		alloc_sweep_start(&sweep);
		bool has_memory = tsi_bit_set_init(&set, NULL, LIMIT);
		assert_true(has_memory == !alloc_sweep_stop(&sweep));
		tsi_bit_set_deinit(&set);
	}
}
