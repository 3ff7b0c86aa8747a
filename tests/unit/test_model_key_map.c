/* SPDX-License-Identifier: MIT */
/* base/key_map.c: finds what was put, whatever the keys look like. */
#include "base/key_map.h"

#include "check.h"
#include "fail_alloc.h"

enum { MANY = 100000 };

TEST(an_empty_map_has_nothing)
{
	struct key_map map = { 0 };
	assert_int_equal(tsi_key_map_find(&map, 0), UINT32_MAX);
	tsi_key_map_deinit(&map);
}

TEST(put_and_find)
{
	struct key_map map = { 0 };
	assert_int_equal(tsi_key_map_put(&map, 0, 7, NULL), TSCOPE_OK);
	assert_int_equal(tsi_key_map_put(&map, UINT64_MAX, 0, NULL), TSCOPE_OK);
	assert_int_equal(tsi_key_map_find(&map, 0), 7);
	assert_int_equal(tsi_key_map_find(&map, UINT64_MAX), 0);
	assert_int_equal(tsi_key_map_find(&map, 1), UINT32_MAX);

	assert_int_equal(tsi_key_map_put(&map, 0, 8, NULL), TSCOPE_OK);
	assert_int_equal(tsi_key_map_find(&map, 0), 8);
	assert_int_equal(map.count, 2);
	tsi_key_map_deinit(&map);
}

/* Multiples of powers of two fall on one slot where keys are not mixed; then this takes minutes. */
TEST(many_keys_of_any_stride)
{
	static const uint64_t strides[] = { 1, 4096, UINT64_C(1) << 32, UINT64_C(1) << 40 };
	for (size_t s = 0; s < sizeof(strides) / sizeof(strides[0]); s++) {
		struct key_map map = { 0 };
		for (uint32_t i = 0; i < MANY; i++)
			assert_int_equal(tsi_key_map_put(&map, i * strides[s], i, NULL), TSCOPE_OK);
		for (uint32_t i = 0; i < MANY; i++)
			assert_int_equal(tsi_key_map_find(&map, i * strides[s]), i);
		assert_int_equal(tsi_key_map_find(&map, MANY * strides[s]), UINT32_MAX);
		tsi_key_map_deinit(&map);
	}
}

TEST(without_memory_it_stays_as_it_was)
{
	struct key_map map = { 0 };
	struct tscope_error err;
	uint32_t count = 0;
	fail_alloc_at(2); /* the first is the first table, the second comes when it is half full */
	while (tsi_key_map_put(&map, count, count, &err) == TSCOPE_OK)
		count++;
	assert_true(fail_alloc_stop());
	assert_int_equal(err.status, TSCOPE_E_NOMEM);
	assert_string_equal(err.message, "out of memory");
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(tsi_key_map_find(&map, i), i);
	assert_int_equal(tsi_key_map_find(&map, count), UINT32_MAX);
	tsi_key_map_deinit(&map);
}
