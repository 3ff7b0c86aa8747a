/* SPDX-License-Identifier: MIT */
/* model/trace/order.c: lists come out as from an insertion of each item behind all that is not behind it. */
#include "model/trace/order.h"

#include "check.h"
#include "model/trace/build.h"
#include "random_numbers.h"

enum { MOST = 300 };

static bool has_larger_key(const void *context, uint32_t a, uint32_t b)
{
	const uint32_t *keys = context;

	return keys[a] > keys[b];
}

static void slow_sort(const uint32_t *keys, uint32_t *list, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		for (uint32_t at = i; at > 0 && keys[list[at - 1]] > keys[list[at]]; at--) {
			uint32_t item = list[at];
			list[at] = list[at - 1];
			list[at - 1] = item;
		}
}

TEST(lists_of_all_lengths)
{
	struct tscope_trace trace = { 0 };
	struct builder b = { .trace = &trace };
	uint64_t seed = 3;

	for (uint32_t count = 0; count < MOST; count++) {
		uint32_t keys[MOST], list[MOST], expected[MOST];
		uint32_t run = 1 + random_below(&seed, 100), kinds = 1 + random_below(&seed, 100);
		for (uint32_t i = 0; i < count; i++) {
			/* In order but for some, in runs, or as it comes. */
			keys[i] = count % 3 == 0   ? i / 2 + random_below(&seed, 3)
				  : count % 3 == 1 ? i % run
						   : random_below(&seed, kinds);
			list[i] = expected[i] = count - 1 - i;
		}
		slow_sort(keys, expected, count);
		tsi_sort_list(&b, list, count, has_larger_key, keys);
		assert_int_equal(b.status, TSCOPE_OK);
		assert_memory_equal(list, expected, count * sizeof(*list));
	}
	tsi_sort_list(&b, NULL, 0, has_larger_key, NULL);
}
