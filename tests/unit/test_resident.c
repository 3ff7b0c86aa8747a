/* SPDX-License-Identifier: MIT */
/* Resident memory over time: few points of many records, and whether it keeps growing. */
#include "model/memory/resident.h"

#include "base/attributes.h"
#include "check.h"
#include "fail_alloc.h"

static struct arena arena; /* of the series at hand */

static void add(struct resident *resident, int64_t time_ms, uint64_t rss_bytes)
{
	const struct resident_record record = { time_ms, rss_bytes, (int64_t)rss_bytes / 2 };

	assert_true(tsi_resident_add(resident, &record, &arena));
	assert_false(arena.has_failed);
}

static void forget(struct resident *resident)
{
	tsi_arena_deinit(&arena);
	*resident = (struct resident){ 0 };
}

TEST(records_are_points)
{
	struct resident resident = { 0 };

	add(&resident, 0, 500);
	add(&resident, 10, 900);
	add(&resident, 10, 700);
	assert_int_equal(resident.count, 3);
	assert_int_equal(resident.first_bytes, 500);
	assert_int_equal(resident.peak_bytes, 900);
	assert_int_equal(resident.last_bytes, 700);
	assert_int_equal(resident.points[1].time_ms, 10);
	assert_int_equal(resident.points[1].low_bytes, 900);
	assert_int_equal(resident.points[1].heap_bytes, 450);
	forget(&resident);
}

/*
 * 10000 records at 1 ms: 4096 points at one each, then 2048 at two with room for 2048 more (up
 * to record 8192), then 2048 at four and 452 more: (10000 − 8192) ÷ 4 = 452. Record i has i
 * bytes, so point p is of 4p to 4p + 3.
 */
TEST(many_records_make_few_points)
{
	struct resident resident = { 0 };

	for (int i = 0; i < 10000; i++)
		add(&resident, i, (uint64_t)i);
	assert_int_equal(resident.count, 2048 + 452);
	assert_int_equal(resident.stride, 4);
	for (size_t p = 0; p < resident.count; p++) {
		assert_int_equal(resident.points[p].low_bytes, 4 * p);
		assert_int_equal(resident.points[p].high_bytes, 4 * p + 3);
		assert_int_equal(resident.points[p].time_ms, 4 * p + 3);
		assert_int_equal(resident.points[p].heap_bytes, (4 * p + 3) / 2);
	}
	forget(&resident);
}

TEST(what_cannot_be_is_not_taken)
{
	static const struct resident_record bad[] = {
		{ 99, 1, 0 },
		{ -1, 1, 0 },
		{ 200, UINT64_MAX, 0 },
		{ INT64_MAX, 1, 0 },
	};
	struct resident resident = { 0 };

	add(&resident, 100, 5);
	for (size_t i = 0; i < TSI_COUNT_OF(bad); i++)
		assert_false(tsi_resident_add(&resident, &bad[i], &arena));
	assert_int_equal(resident.count, 1);
	assert_int_equal(resident.peak_bytes, 5);
	forget(&resident);
}

/* ---- growth ---- */

/*
 * 160 s, a record each second: the second half begins at 79.5 s, and its eighths are 9.9 s
 * long.
 */
static struct resident fill(int64_t (*bytes_of)(int second))
{
	struct resident resident = { 0 };

	for (int i = 0; i < 160; i++)
		add(&resident, INT64_C(1000) * i, (uint64_t)bytes_of(i));
	return resident;
}

static int64_t rise(int second)
{
	return 1000 + 10 * second;
}

static int64_t stand_still(int second)
{
	return second < 80 ? 10 * second : 1000;
}

/* To and fro within each ten seconds, around what does not change. */
static int64_t saw(int second)
{
	return 1000 + 100 * (second % 10);
}

/* A cache fills once. */
static int64_t one_step(int second)
{
	return second < 120 ? 1000 : 2000;
}

static int64_t fall(int second)
{
	return 5000 - 10 * second;
}

/*
 * The first eighth begins at second 80, the lowest of the last one is of second 149: 79.5 +
 * 7 · 9.9375 = 149.06, so 150. They are 7 · 9.9375 s = 69.5625 s apart.
 */
TEST(what_keeps_growing_rises_in_each_part)
{
	static const struct {
		int64_t (*bytes_of)(int second);
		int64_t first_bytes, bytes;
		unsigned rising_steps;
	} cases[] = {
		{ rise, 1800, 700, 7 },
		{ stand_still, 1000, 0, 0 },
		{ saw, 1000, 0, 0 },
		{ one_step, 1000, 1000, 1 },
		/* Of a falling one the lowest is the last of a part: 89 and 159. */
		{ fall, 5000 - 890, -700, 0 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct resident resident = fill(cases[i].bytes_of);
		struct resident_growth growth;

		assert_true(tsi_resident_growth(&resident, &growth));
		assert_int_equal(growth.first_bytes, cases[i].first_bytes);
		assert_int_equal(growth.bytes, cases[i].bytes);
		assert_int_equal(growth.rising_steps, cases[i].rising_steps);
		assert_in_range(growth.duration_ns, INT64_C(69550000000), INT64_C(69562500000));
		forget(&resident);
	}
}

/* Nothing was recorded between second 85 and 150: nobody knows. */
TEST(a_gap_tells_nothing)
{
	struct resident resident = { 0 };
	struct resident_growth growth;

	assert_false(tsi_resident_growth(&resident, &growth));
	for (int i = 0; i < 160; i++)
		if (i < 85 || i > 150)
			add(&resident, INT64_C(1000) * i, 1000);
	assert_false(tsi_resident_growth(&resident, &growth));
	forget(&resident);
	for (int i = 0; i <= 15; i++) /* half of it has no eight milliseconds */
		add(&resident, i, 1000);
	assert_false(tsi_resident_growth(&resident, &growth));
	forget(&resident);
	add(&resident, 7, 1);
	add(&resident, 7, 1); /* no time at all */
	assert_false(tsi_resident_growth(&resident, &growth));
	forget(&resident);
}

/* The ends of what numbers can be. */
TEST(absurd_times_are_no_trap)
{
	struct resident resident = { 0 };
	struct resident_growth growth;

	for (int i = 0; i <= 64; i++)
		add(&resident, INT64_MAX / 1000000 / 64 * i, i % 2 ? INT64_MAX : 0);
	assert_true(tsi_resident_growth(&resident, &growth));
	assert_int_equal(growth.bytes, 0);
	assert_true(growth.duration_ns > 0);
	forget(&resident);
}

TEST(memory_may_end)
{
	const struct resident_record record = { 0, 1, 0 };
	struct resident resident = { 0 };

	fail_alloc_at(1);
	tsi_resident_add(&resident, &record, &arena);
	assert_true(fail_alloc_stop());
	assert_true(arena.has_failed);
	forget(&resident);
}
