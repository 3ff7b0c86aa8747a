/* SPDX-License-Identifier: MIT */
/* model/trace/time_column.c: every value comes back, near or far. */
#include "model/trace/time_column.h"

#include "base/column.h"

#include "check.h"
#include "fail_alloc.h"
#include "random_numbers.h"

enum { ROWS = 16 * TIME_BLOCK };

#define FARTHEST INT64_C(4000000000000000000)

/* Mostly near to 10^15, some at the edge of what is near, some anywhere. */
static int64_t random_time(uint64_t *seed)
{
	static const int64_t edges[] = { FARTHEST, -FARTHEST, 0, -1, UINT32_MAX, INT64_C(1) << 31 };
	int64_t around = INT64_C(1000000000000000);

	switch (random_below(seed, 8)) {
	case 0:
		return edges[random_below(seed, sizeof(edges) / sizeof(edges[0]))];
	case 1:
		return around + (INT64_C(1) << 31) - random_below(seed, 4);
	case 2:
		return around - (INT64_C(1) << 31) + random_below(seed, 4);
	}
	return around + random_below(seed, 1000000);
}

static int64_t random_length(uint64_t *seed)
{
	static const int64_t edges[] = { -1,
					 0,
					 UINT32_MAX - 3,
					 UINT32_MAX - 2,
					 UINT32_MAX - 1,
					 UINT32_MAX,
					 UINT32_MAX + INT64_C(1),
					 FARTHEST };

	return random_below(seed, 8) ? random_below(seed, 1000000)
				     : edges[random_below(seed, sizeof(edges) / sizeof(edges[0]))];
}

/* Puts values in any order, some again, while the column grows; a plain array tells what is there. */
TEST(values_come_back)
{
	uint64_t seed = 1;

	for (int round = 0; round < 200; round++) {
		struct time_column starts = { 0 }, lengths = { 0 };
		int64_t start_ns[ROWS] = { 0 }, length_ns[ROWS] = { 0 };
		bool is_put[ROWS] = { false };

		for (size_t rows = 0; rows < ROWS; rows += TIME_BLOCK) {
			size_t now = rows + TIME_BLOCK;
			assert_true(tsi_time_column_resize(&starts, NULL, now, rows, true));
			assert_true(tsi_time_column_resize(&lengths, NULL, now, rows, false));
			for (size_t i = 0; i < 3 * TIME_BLOCK; i++) {
				uint32_t row = random_below(&seed, (uint32_t)now);
				start_ns[row] = random_time(&seed);
				length_ns[row] = random_length(&seed);
				is_put[row] = true;
				tsi_time_put(&starts, row, start_ns[row]);
				tsi_length_put(&lengths, row, length_ns[row]);
			}
		}
		for (uint32_t row = 0; row < ROWS / 2; row++) {
			if (is_put[row] && round % 2)
				continue;
			is_put[row] = true;
			length_ns[row] = row;
			tsi_length_put(&lengths, row, row);
			start_ns[row] = random_below(&seed, UINT32_MAX) + row * INT64_C(5);
			tsi_time_put(&starts, row, start_ns[row]);
		}
		tsi_column_shrink(&starts.distances, ROWS / 2, sizeof(*starts.distances));
		uint32_t kept = ROWS / 2 - (uint32_t)round % 7;
		if (round % 4)
			tsi_time_column_settle(&starts, kept);
		for (uint32_t row = 0; row < kept; row++) {
			if (!is_put[row])
				continue;
			assert_true(tsi_time_at(&starts, row) == start_ns[row]);
			assert_true(tsi_length_at(&lengths, row) == length_ns[row]);
		}
		tsi_time_column_deinit(&starts);
		tsi_time_column_deinit(&lengths);
	}
}

/* Rows that had others in their places: far from those they are, but near to each other. */
TEST(values_settle)
{
	struct time_column starts = { 0 };

	assert_true(tsi_time_column_resize(&starts, NULL, 2 * TIME_BLOCK, 0, true));
	for (uint32_t row = 0; row < TIME_BLOCK + 5; row++)
		tsi_time_put(&starts, row, 0);
	for (uint32_t row = 0; row < TIME_BLOCK + 5; row++)
		tsi_time_put(&starts, row, FARTHEST - row);
	assert_int_equal(starts.far_count, 2);
	tsi_time_column_settle(&starts, TIME_BLOCK + 5);
	assert_int_equal(starts.far_count, 0);
	for (uint32_t row = 0; row < TIME_BLOCK + 5; row++)
		assert_true(tsi_time_at(&starts, row) == FARTHEST - row);
	tsi_time_column_deinit(&starts);
}

/* Rows of a few seconds need no more than 4 bytes each. */
TEST(near_values_take_no_room)
{
	struct time_column starts = { 0 };

	assert_true(tsi_time_column_resize(&starts, NULL, TIME_BLOCK, 0, true));
	for (uint32_t row = 0; row < TIME_BLOCK; row++)
		tsi_time_put(&starts, row, FARTHEST - row * INT64_C(30000000));
	assert_int_equal(starts.far_count, 0);
	tsi_time_column_deinit(&starts);
}

TEST(shorter_ones_need_no_room)
{
	static const int64_t from[] = { 5, 5, UINT32_MAX, UINT32_MAX, FARTHEST };
	static const int64_t to[] = { 5, 0, 7, UINT32_MAX - INT64_C(1), INT64_C(1) << 40 };
	struct time_column lengths = { 0 };

	assert_true(tsi_time_column_resize(&lengths, NULL, TIME_BLOCK, 0, false));
	for (uint32_t i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
		tsi_length_put(&lengths, i, from[i]);
		fail_alloc_at(1);
		tsi_length_shorten(&lengths, i, to[i]);
		assert_false(fail_alloc_stop());
		assert_true(tsi_length_at(&lengths, i) == to[i]);
	}
	tsi_time_column_deinit(&lengths);
}

TEST(without_memory_it_says_so)
{
	struct alloc_sweep sweep = { 0 };
	while (alloc_sweep_next(&sweep)) {
		struct time_column starts = { 0 };
		alloc_sweep_start(&sweep);
		bool has_room = tsi_time_column_resize(&starts, NULL, TIME_BLOCK, 0, true);
		if (has_room) {
			tsi_time_put(&starts, 0, 0);
			tsi_time_put(&starts, 1, FARTHEST);
			assert_true(tsi_time_at(&starts, 0) == 0); /* stays, whatever failed */
			(void)tsi_time_at(&starts, 1);
		}
		bool has_failed = alloc_sweep_stop(&sweep);
		assert_int_equal(!has_room || starts.has_failed, has_failed);
		if (!has_failed)
			assert_true(tsi_time_at(&starts, 1) == FARTHEST);
		tsi_time_column_deinit(&starts);
	}
}
