/* SPDX-License-Identifier: MIT */
/* base/array.c: growth, sizes that overflow, and memory that runs out. */
#include "base/array.h"

#include <stdlib.h>

#include "check.h"
#include "fail_alloc.h"

TEST(test_reserve_grows)
{
	uint32_t *items = NULL;
	size_t capacity = 0, growth_count = 0;
	for (size_t count = 0; count < 10000; count++) {
		size_t before = capacity;
		assert_int_equal(
			tsi_array_reserve(&items, &capacity, count + 1, sizeof(*items), NULL),
			TSCOPE_OK);
		assert_true(capacity >= count + 1);
		growth_count += capacity != before;
		items[count] = (uint32_t)count;
	}
	for (size_t i = 0; i < 10000; i++)
		assert_int_equal(items[i], i);
	/* 16, 32, ... 16384: eleven times. */
	assert_int_equal(growth_count, 11);
	free(items);
}

TEST(test_reserve_overflow)
{
	struct tscope_error err = { 0 };
	uint64_t *items = NULL;
	size_t capacity = 0;
	static const size_t too_many[] = { SIZE_MAX, SIZE_MAX / 2 + 2, SIZE_MAX / 8 };
	for (size_t i = 0; i < TSI_COUNT_OF(too_many); i++) {
		assert_int_equal(
			tsi_array_reserve(&items, &capacity, too_many[i], sizeof(*items), &err),
			TSCOPE_E_NOMEM);
		assert_string_equal(err.message, "out of memory");
		assert_null(items);
		assert_int_equal(capacity, 0);
	}
}

TEST(test_reserve_without_memory)
{
	char *items = NULL;
	size_t capacity = 0;
	assert_int_equal(tsi_array_reserve(&items, &capacity, 1, 1, NULL), TSCOPE_OK);
	items[0] = 'a';
	char *before = items;

	struct tscope_error err = { 0 };
	fail_alloc_at(1);
	assert_int_equal(tsi_array_reserve(&items, &capacity, 100, 1, &err), TSCOPE_E_NOMEM);
	assert_true(fail_alloc_stop());
	assert_string_equal(err.message, "out of memory");
	assert_ptr_equal(items, before);
	assert_int_equal(capacity, 16);
	assert_int_equal(items[0], 'a');
	free(items);
}

TEST(test_new)
{
	uint64_t *numbers;
	assert_int_equal(tsi_array_new(&numbers, 100, sizeof(*numbers), NULL), TSCOPE_OK);
	for (size_t i = 0; i < 100; i++)
		assert_int_equal(numbers[i], 0);
	free(numbers);

	assert_int_equal(tsi_array_new(&numbers, 0, sizeof(*numbers), NULL), TSCOPE_OK);
	assert_null(numbers);

	struct tscope_error err = { 0 };
	fail_alloc_at(1);
	assert_int_equal(tsi_array_new(&numbers, 1, sizeof(*numbers), &err), TSCOPE_E_NOMEM);
	assert_true(fail_alloc_stop());
	assert_string_equal(err.message, "out of memory");
}
