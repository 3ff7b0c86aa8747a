/* SPDX-License-Identifier: MIT */
/* base/sort.c: in order, stable, for every shape of keys. */
#include "base/sort.h"

#include "base/attributes.h"
#include "check.h"
#include "random_numbers.h"

enum { MAX_COUNT = 3000 };

/* Values count up, so that equal keys must keep ascending values; their sum shows a lost one. */
static void check(struct sort_pair *items, size_t count)
{
	static struct sort_pair scratch[MAX_COUNT];
	uint64_t key_sum = 0, sorted_sum = 0, value_sum = 0;
	for (size_t i = 0; i < count; i++) {
		items[i].value = i;
		key_sum += items[i].key * (2 * i + 1);
	}
	tsi_sort_pairs(items, scratch, count);
	for (size_t i = 0; i < count; i++) {
		sorted_sum += items[i].key * (2 * items[i].value + 1);
		value_sum += items[i].value;
		if (i == 0)
			continue;
		assert_true(items[i - 1].key <= items[i].key);
		if (items[i - 1].key == items[i].key)
			assert_true(items[i - 1].value < items[i].value);
	}
	assert_int_equal(sorted_sum, key_sum);
	assert_int_equal(value_sum, count * (count - (count > 0)) / 2);
}

TEST(test_shapes)
{
	static const size_t counts[] = { 1, 2, 3, 47, 48, 49, 50, 255, 256, 257, MAX_COUNT };
	static const uint64_t masks[] = {
		UINT64_MAX,
		0,
		1,
		0xff,
		0xff00,
		UINT64_C(0xff00000000000000), /* the highest byte only */
		UINT64_C(0x00ff0000000000ff), /* an even number of bytes: no copy back */
		UINT64_C(0x0000000000ffff00),
		UINT64_C(0x0000000001010100), /* an odd number, many equal keys */
	};
	static struct sort_pair items[MAX_COUNT];
	uint64_t seed = 1;
	for (size_t c = 0; c < TSI_COUNT_OF(counts); c++)
		for (size_t m = 0; m < TSI_COUNT_OF(masks); m++) {
			uint64_t base = random_bits(&seed) & ~masks[m];
			for (size_t i = 0; i < counts[c]; i++)
				items[i].key = base | (random_bits(&seed) & masks[m]);
			check(items, counts[c]);
		}
}

TEST(test_orders)
{
	static struct sort_pair items[MAX_COUNT];
	for (size_t i = 0; i < MAX_COUNT; i++)
		items[i].key = i * 1000;
	check(items, MAX_COUNT);
	for (size_t i = 0; i < MAX_COUNT; i++)
		items[i].key = UINT64_MAX - i;
	check(items, MAX_COUNT);
	for (size_t i = 0; i < MAX_COUNT; i++)
		items[i].key = i;
	items[MAX_COUNT - 1].key = 0; /* in order but for the last */
	check(items, MAX_COUNT);
	for (size_t every = 2; every < 20; every++) { /* in order but for each n-th */
		for (size_t i = 0; i < MAX_COUNT; i++)
			items[i].key = i % every ? i / 3 : i / 3 - i % 50 % (i / 3 + 1);
		check(items, MAX_COUNT);
	}
}

/* Numbers of every shape; what sorting pairs says of them is the answer. */
static size_t make_numbers(int64_t *numbers, struct sort_pair *sorted, size_t shape, uint64_t *seed)
{
	static const uint64_t masks[] = { UINT64_MAX, 0,        1,
					  0xff,       0xffff00, UINT64_C(0xff000000000000ff) };
	static struct sort_pair scratch[MAX_COUNT];
	size_t count = 1 + random_bits(seed) % (shape % 2 ? MAX_COUNT : 60);
	uint64_t mask = masks[shape % TSI_COUNT_OF(masks)], base = random_bits(seed) & ~mask;

	for (size_t i = 0; i < count; i++) {
		uint64_t key = base | (random_bits(seed) & mask);
		if (shape > 20 && i % 7 == 3) /* a few far away */
			key = random_bits(seed);
		else if (shape > 30) /* and all others in order */
			key = base + i / 2;
		numbers[i] = tsi_int64_of_sort_key(key);
		sorted[i] = (struct sort_pair){ .key = key };
	}
	tsi_sort_pairs(sorted, scratch, count);
	return count;
}

enum { SHAPES = 40 };

TEST(test_numbers)
{
	static int64_t numbers[MAX_COUNT], scratch[MAX_COUNT];
	static struct sort_pair sorted[MAX_COUNT];
	uint64_t seed = 3;

	for (size_t shape = 0; shape < SHAPES; shape++) {
		size_t count = make_numbers(numbers, sorted, shape, &seed);
		for (int round = 0; round < 2; round++) { /* the second finds them in order */
			tsi_sort_numbers(numbers, scratch, count);
			for (size_t i = 0; i < count; i++)
				assert_true(numbers[i] == tsi_int64_of_sort_key(sorted[i].key));
		}
	}
	tsi_sort_numbers(NULL, NULL, 0);
}

TEST(test_select)
{
	static int64_t numbers[MAX_COUNT];
	static struct sort_pair sorted[MAX_COUNT];
	uint64_t seed = 7;

	for (size_t shape = 0; shape < SHAPES; shape++) {
		size_t count = make_numbers(numbers, sorted, shape, &seed);
		for (int round = 0; round < 20; round++) {
			size_t place = round ? random_bits(&seed) % count : count - 1;
			int64_t expected = tsi_int64_of_sort_key(sorted[place].key);
			tsi_select_number(numbers, count, place);
			assert_true(numbers[place] == expected);
			for (size_t i = 0; i < place; i++)
				assert_true(numbers[i] <= expected);
			for (size_t i = place; i < count; i++)
				assert_true(numbers[i] >= expected);
		}
		static int64_t scratch[MAX_COUNT]; /* none was lost */
		tsi_sort_numbers(numbers, scratch, count);
		for (size_t i = 0; i < count; i++)
			assert_true(numbers[i] == tsi_int64_of_sort_key(sorted[i].key));
	}
}

TEST(test_nothing)
{
	struct sort_pair one = { 5, 6 };
	tsi_sort_pairs(NULL, NULL, 0);
	tsi_sort_pairs(&one, NULL, 1);
	assert_int_equal(one.key, 5);
	assert_int_equal(one.value, 6);
}

TEST(test_signed_keys)
{
	static const int64_t ascending[] = { INT64_MIN, -2, -1, 0, 1, INT64_MAX };
	for (size_t i = 1; i < TSI_COUNT_OF(ascending); i++)
		assert_true(tsi_sort_key_of_int64(ascending[i - 1]) <
			    tsi_sort_key_of_int64(ascending[i]));
}
