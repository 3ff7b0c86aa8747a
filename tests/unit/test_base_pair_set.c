/* SPDX-License-Identifier: MIT */
/* Numbering of pairs. */
#include "base/pair_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fail_alloc.h"

static uint32_t number_of(struct pair_set *set, uint32_t first, uint32_t second)
{
	uint32_t number = UINT32_MAX;

	assert_int_equal(tsi_pair_set_add(set, first, second, &number, NULL), TSCOPE_OK);
	return number;
}

static void numbers_pairs_as_they_come(void **state)
{
	(void)state;
	struct pair_set set = { 0 };

	assert_int_equal(number_of(&set, 1, 2), 0);
	assert_int_equal(number_of(&set, 2, 1), 1);
	assert_int_equal(number_of(&set, UINT32_MAX, UINT32_MAX), 2);
	assert_int_equal(number_of(&set, 1, 2), 0);
	assert_int_equal(set.count, 3);
	assert_int_equal(set.pairs[1].first, 2);
	assert_int_equal(set.pairs[1].second, 1);
	tsi_pair_set_deinit(&set);
	tsi_pair_set_deinit(&set); /* a zeroed set is fine */
}

static void keeps_numbers_while_it_grows(void **state)
{
	(void)state;
	enum { SIDE = 100 };
	struct pair_set set = { 0 };

	for (uint32_t i = 0; i < SIDE * SIDE; i++)
		assert_int_equal(number_of(&set, i / SIDE, i % SIDE), i);
	for (uint32_t i = 0; i < SIDE * SIDE; i++)
		assert_int_equal(number_of(&set, i / SIDE, i % SIDE), i);
	tsi_pair_set_deinit(&set);
}

static void survives_failing_allocations(void **state)
{
	(void)state;
	for (size_t n = 1;; n++) {
		struct pair_set set = { 0 };
		enum tscope_status status = TSCOPE_OK;
		uint32_t number;

		fail_alloc_at(n);
		for (uint32_t i = 0; i < 100 && status == TSCOPE_OK; i++)
			status = tsi_pair_set_add(&set, i, i, &number, NULL);
		bool failed = fail_alloc_stop();
		assert_int_equal(status, failed ? TSCOPE_E_NOMEM : TSCOPE_OK);
		tsi_pair_set_deinit(&set);
		if (!failed)
			break;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_pairs_as_they_come),
		cmocka_unit_test(keeps_numbers_while_it_grows),
		cmocka_unit_test(survives_failing_allocations),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
