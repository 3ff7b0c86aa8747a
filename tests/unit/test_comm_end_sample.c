/* SPDX-License-Identifier: MIT */
/* Whether collectives of two ranks can be the same ones, by their ends. */
#include "comm/end_sample.h"

#include "base/attributes.h"
#include "check.h"

enum { US = 1000, MAX_PAIRS = 4 };

struct end_case {
	int64_t times_us[MAX_PAIRS][4]; /* start and end on one rank, and on the other */
	size_t count;                   /* of pairs */
	int64_t spread_ns, transfer_ns;
	bool is_possible;
};

static struct rank_op op_of(int64_t start_us, int64_t end_us)
{
	return (struct rank_op){ .start_ns = start_us * US,
				 .dur_ns = (end_us - start_us) * US,
				 .kind = COLLECTIVE_ALL_REDUCE };
}

static const struct end_case cases[] = {
	/* The second clock is 500 ahead, each time. */
	{ { { 0, 10, 505, 510 }, { 100, 120, 610, 620 }, { 200, 230, 720, 730 } },
	  3,
	  0,
	  10 * US,
	  true },
	/*
	 * Differences of 0, 12, 3 and 3: changes of 12, 9 and 0, of which the median is 9; less the
	 * 2 of the clocks' resolution and 1/10000 of the 50 from the second to the third end.
	 */
	{ { { 0, 50, 0, 50 },
	    { 50, 100, 50, 112 },
	    { 100, 150, 100, 153 },
	    { 150, 200, 150, 203 } },
	  4,
	  7 * US - 5,
	  50 * US,
	  true },
	/* 100 µs in a second is drift: of 110, 8 are more than that and the resolution. */
	{ { { 0, 10, 0, 10 }, { 1000000, 1000010, 1000100, 1000120 } }, 2, 8 * US, 10 * US, true },
	/*
	 * The second one's clock is between 10 behind and 10 ahead by the first pair, between 23
	 * and 43 ahead by the second: 13 apart, and 2 are the resolution.
	 */
	{ { { 0, 10, 0, 10 }, { 100, 110, 133, 143 } }, 2, 31 * US - 10, 10 * US, false },
	/* 3 apart; 1 apart is no contradiction yet. */
	{ { { 0, 10, 0, 10 }, { 100, 110, 123, 133 } }, 2, 21 * US - 10, 10 * US, false },
	{ { { 0, 10, 0, 10 }, { 100, 110, 121, 131 } }, 2, 19 * US - 10, 10 * US, true },
	/* The other way round. */
	{ { { 0, 10, 0, 10 }, { 133, 143, 100, 110 } }, 2, 31 * US - 13, 10 * US, false },
	/* One pair says nothing. */
	{ { { 0, 10, 0, 10 } }, 1, 0, 0, true },
};

TEST(ends_by_hand)
{
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		const struct end_case *c = &cases[i];
		struct end_sample sample = { 0 };

		for (size_t k = 0; k < c->count; k++) {
			struct rank_op a = op_of(c->times_us[k][0], c->times_us[k][1]);
			struct rank_op b = op_of(c->times_us[k][2], c->times_us[k][3]);

			tsi_end_sample_add(&sample, &a, &b);
		}
		struct end_agreement ends = tsi_end_agreement(&sample);
		assert_int_equal(ends.count, c->count - 1);
		assert_int_equal(ends.spread_ns, c->spread_ns);
		assert_int_equal(ends.transfer_ns, c->transfer_ns);
		assert_int_equal(ends.is_possible, c->is_possible);
	}
}

/* Of 100 changes, 5 may be impossible: clocks are set. 6 are too many. */
TEST(clocks_are_set)
{
	for (int jumps = 5; jumps <= 6; jumps++) {
		struct end_sample sample = { 0 };

		for (int i = 0; i <= 100; i++) {
			int64_t clock_us = i < jumps ? 500 * i : 500 * jumps;
			struct rank_op a = op_of(1000 * i, 1000 * i + 10);
			struct rank_op b = op_of(1000 * i + clock_us, 1000 * i + 10 + clock_us);

			tsi_end_sample_add(&sample, &a, &b);
		}
		struct end_agreement ends = tsi_end_agreement(&sample);
		assert_int_equal(ends.count, 100);
		assert_int_equal(ends.is_possible, jumps == 5);
		assert_int_equal(ends.spread_ns, 0);
		assert_int_equal(tsi_do_end_together(&ends), jumps == 5);
	}
}

TEST(what_does_not_end_together)
{
	struct end_sample sample = { 0 };
	struct rank_op a = op_of(0, 10);

	a.kind = COLLECTIVE_BROADCAST;
	for (int i = 0; i < 3; i++)
		tsi_end_sample_add(&sample, &a, &a);
	struct end_agreement ends = tsi_end_agreement(&sample);
	assert_int_equal(ends.count, 0);
	assert_true(ends.is_possible);
}

TEST(room_and_absurd_times)
{
	struct end_sample sample = { 0 };
	struct rank_op early = { .start_ns = INT64_MIN, .kind = COLLECTIVE_BARRIER };
	struct rank_op late = { .start_ns = INT64_MAX,
				.dur_ns = INT64_MAX,
				.kind = COLLECTIVE_BARRIER };

	for (int i = 0; i < 2 * END_SAMPLE_ROOM; i++)
		tsi_end_sample_add(&sample, i % 2 ? &late : &early, i % 3 ? &late : &early);
	assert_int_equal(sample.count, END_SAMPLE_ROOM);
	assert_true(tsi_end_sample_is_decided(&sample));
	struct end_agreement ends = tsi_end_agreement(&sample);
	assert_false(ends.is_possible);
	assert_true(ends.spread_ns >= 0);
}
