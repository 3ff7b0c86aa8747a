/* SPDX-License-Identifier: MIT */
/*
 * Clocks out of the ends of collectives. Worlds are made here with known clocks: a time t that all
 * ranks share is shown by a rank's clock as t + skew + drift × t.
 */
#include "comm/world.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "check.h"
#include "fail_alloc.h"
#include "random_numbers.h"
#include "world_text.h"

enum { MAX_RANKS = 16 };

/* What a rank's clock is made of. */
struct true_clock {
	double skew_ns, drift;
};

struct made {
	struct world world;
	struct rank_log logs[MAX_RANKS];
	struct true_clock clocks[MAX_RANKS];
};

/* Where a collective was on a rank, in the time that all share. */
struct seen {
	uint32_t rank;
	double start_ns, end_ns;
};

static int64_t shown(const struct made *made, uint32_t rank, double true_ns)
{
	const struct true_clock *clock = &made->clocks[rank];

	return (int64_t)floor(true_ns + clock->skew_ns + clock->drift * true_ns);
}

static double true_time(const struct made *made, uint32_t rank, double shown_ns)
{
	const struct true_clock *clock = &made->clocks[rank];

	return (shown_ns - clock->skew_ns) / (1 + clock->drift);
}

#define APPEND(array, count, capacity, item)                                                       \
	do {                                                                                       \
		assert_int_equal(tsi_array_reserve(&(array), &(capacity), (count) + 1,             \
						   sizeof(*(array)), NULL),                        \
				 TSCOPE_OK);                                                       \
		(array)[(count)++] = (item);                                                       \
	} while (0)

static struct made *made_new(size_t rank_count)
{
	struct made *made = calloc(1, sizeof(*made));

	assert_non_null(made);
	made->world.logs = made->logs;
	made->world.rank_count = rank_count;
	return made;
}

static void made_free(struct made *made)
{
	for (size_t i = 0; i < made->world.rank_count; i++)
		free(made->logs[i].ops);
	free(made->world.matches);
	free(made->world.members);
	tsi_arena_deinit(&made->world.arena);
	free(made);
}

static void add_match(struct made *made, const struct seen *seen, uint32_t count)
{
	struct world *world = &made->world;
	struct match match = { .first_member = (uint32_t)world->member_count,
			       .member_count = count,
			       .is_synchronising = true };

	for (uint32_t i = 0; i < count; i++) {
		struct rank_log *log = &made->logs[seen[i].rank];
		struct match_member member = { .rank = seen[i].rank,
					       .op = (uint32_t)log->op_count };
		struct rank_op op = { .start_ns = shown(made, seen[i].rank, seen[i].start_ns) };

		op.dur_ns = shown(made, seen[i].rank, seen[i].end_ns) - op.start_ns;
		APPEND(log->ops, log->op_count, log->op_capacity, op);
		APPEND(world->members, world->member_count, world->member_capacity, member);
	}
	APPEND(world->matches, world->match_count, world->match_capacity, match);
}

static void find_clocks(struct made *made)
{
	assert_int_equal(test_stage(tsi_world_find_clocks, &made->world, NULL), TSCOPE_OK);
}

/* ---- worked out by hand ---- */

static void check_clock(const struct made *made, uint32_t rank, int64_t offset_ns, int64_t error_ns,
			uint64_t match_count)
{
	const struct rank_clock *clock = &made->world.clocks[rank];

	assert_true(clock->is_known);
	assert_int_equal(clock->offset_ns, offset_ns);
	assert_int_equal(clock->error_ns, error_ns);
	assert_int_equal(clock->match_count, match_count);
}

TEST(an_offset_is_the_median_of_the_ends)
{
	/*
	 * Rank 1's clock is 1000 ahead. All begin together and end so much later on rank 1: -3, 0,
	 * 4, 5 and 1: the median is 1.
	 */
	static const double later_ns[] = { -3, 0, 4, 5, 1 };
	struct made *made = made_new(2);

	made->clocks[1].skew_ns = 1000;
	for (size_t i = 0; i < TSI_COUNT_OF(later_ns); i++) {
		double at = (double)i * 10000;
		struct seen seen[] = { { 0, at, at + 100 }, { 1, at, at + 100 + later_ns[i] } };
		add_match(made, seen, 2);
	}
	find_clocks(made);
	const struct rank_clock *clock = &made->world.clocks[1];
	assert_true(clock->is_known);
	assert_int_equal(clock->offset_ns, 1001);
	assert_true(clock->drift == 0);
	/* From the first start, 1000, to the last end, 41000 + 101. */
	assert_int_equal(clock->reference_ns, 21050);
	/* Deviations from 1 are 4, 1, 3, 4, 0: their median is 3, × 1.4826 = 4.45, up. */
	assert_int_equal(clock->residual_ns, 5);
	assert_int_equal(clock->match_count, 5);
	/* At least what is possible at any one time: 1000 ± 97 … 100 less what is estimated. */
	assert_in_range(clock->error_ns, 101, 115);
	assert_int_equal(tsi_world_time(&made->world, 1, 5000), 3999);
	assert_int_equal(tsi_world_time(&made->world, 0, 5000), 5000);
	check_clock(made, 0, 0, 0, 0);
	made_free(made);
}

TEST(an_impossible_median_is_moved)
{
	/*
	 * Both clocks are the same, and rank 1 ends 30 later three times. But once both were there
	 * for 10 only, and rank 1 ended with the other: it is not ahead by more than 10.
	 */
	struct made *made = made_new(2);

	for (size_t i = 0; i < 4; i++) {
		double at = (double)i * 1000;
		struct seen seen[] = { { 0, at, at + 100 }, { 1, at, at + 130 } };
		add_match(made, seen, 2);
	}
	struct seen seen[] = { { 0, 2500, 2510 }, { 1, 2500, 2510 } };
	add_match(made, seen, 2);
	find_clocks(made);
	assert_int_equal(made->world.clocks[1].offset_ns, 10);
	assert_true(made->world.clocks[1].drift == 0);
	/* The ends are 20 from that, but one. */
	assert_int_equal(made->world.clocks[1].residual_ns, 30);
	made_free(made);
}

TEST(clocks_are_tied_through_others)
{
	/* 0 and 2, 1 and 2, 1 and 4; 3 and 5 on their own. Offsets 0, 10, -20, 0, 70 · 1000. */
	static const uint32_t pairs[][2] = { { 0, 2 }, { 1, 2 }, { 1, 4 }, { 3, 5 } };
	static const double skews_ns[] = { 0, 10000, -20000, 0, 70000, 5 };
	struct made *made = made_new(6);

	for (size_t i = 0; i < 6; i++)
		made->clocks[i].skew_ns = skews_ns[i];
	for (size_t k = 0; k < 20; k++)
		for (size_t i = 0; i < TSI_COUNT_OF(pairs); i++) {
			double at = (double)(k * 4 + i) * 1e6;
			struct seen seen[] = { { pairs[i][0], at, at + 50 },
					       { pairs[i][1], at, at + 50 } };
			add_match(made, seen, 2);
		}
	find_clocks(made);
	for (uint32_t i = 0; i < 6; i++) {
		const struct rank_clock *clock = &made->world.clocks[i];
		bool is_tied = i != 3 && i != 5;

		assert_int_equal(clock->is_known, is_tied);
		assert_int_equal(clock->offset_ns, is_tied ? (int64_t)skews_ns[i] : 0);
		assert_true(clock->drift == 0);
	}
	/* Each tie is certain to a bit more than 50, and they add up. */
	assert_in_range(made->world.clocks[2].error_ns, 50, 60);
	assert_in_range(made->world.clocks[1].error_ns, 100, 120);
	assert_in_range(made->world.clocks[4].error_ns, 150, 180);
	made_free(made);
}

TEST(nothing_matched_nothing_known)
{
	struct made *made = made_new(3);
	struct seen seen[] = { { 0, 0, 10 }, { 1, 0, 10 } }, alone[] = { { 2, 0, 10 } };

	add_match(made, seen, 2);
	add_match(made, alone, 1);
	made->world.matches[0].is_synchronising = false;
	find_clocks(made);
	for (size_t i = 0; i < 3; i++)
		assert_false(made->world.clocks[i].is_known);
	assert_int_equal(tsi_world_time(&made->world, 1, 77), 77);
	made_free(made);
}

/* The lowest rank has nothing in common with others: the lowest that has is the one to compare with. */
TEST(the_lowest_rank_that_is_tied)
{
	struct made *made = made_new(3);
	struct seen seen[] = { { 1, 0, 10 }, { 2, 0, 10 } };

	made->clocks[1].skew_ns = 500;
	made->clocks[2].skew_ns = 700;
	add_match(made, seen, 2);
	find_clocks(made);
	assert_false(made->world.clocks[0].is_known);
	check_clock(made, 1, 0, 0, 0);
	assert_int_equal(made->world.clocks[2].offset_ns, 200);
	made_free(made);
}

TEST(a_drift_is_found)
{
	/* 20 ms ahead at time 0, and 30 µs per second faster; ends differ by up to 4 µs. */
	struct made *made = made_new(2);
	uint64_t seed = 7;

	made->clocks[1] = (struct true_clock){ 20e6, 30e-6 };
	for (size_t i = 0; i < 500; i++) {
		double at = (double)i * 1e7;
		struct seen seen[] = { { 0, at, at + 1e5 + 4e3 * random_ratio(&seed) },
				       { 1, at, at + 1e5 + 4e3 * random_ratio(&seed) } };
		add_match(made, seen, 2);
	}
	find_clocks(made);
	const struct rank_clock *clock = &made->world.clocks[1];
	/* Its own clock runs by 1 + 30e-6, so its offset grows by 30e-6 / (1 + 30e-6) of it. */
	assert_true(fabs(clock->drift - 30e-6) < 1e-6);
	/* In the middle, after 2.495 s, it is 20 ms + 74.85 µs ahead. */
	assert_true(llabs(clock->offset_ns - 20074850) < 500);
	assert_in_range(clock->error_ns, 100000, 110000);
	made_free(made);
}

/* Ends that differ by up to 100 µs, in 2 s. */
TEST(noise_is_no_drift)
{
	struct made *made = made_new(2);
	uint64_t seed = 11;

	for (size_t i = 0; i < 200; i++) {
		double at = (double)i * 1e7;
		struct seen seen[] = { { 0, at, at + 1e6 + 1e5 * random_ratio(&seed) },
				       { 1, at, at + 1e6 + 1e5 * random_ratio(&seed) } };
		add_match(made, seen, 2);
	}
	find_clocks(made);
	assert_true(made->world.clocks[1].drift == 0);
	made_free(made);
}

/* The largest error of corrected times in shares of its bound. */
static double worst_error(const struct made *made)
{
	double worst = 0;

	for (uint32_t i = 0; i < made->world.rank_count; i++) {
		const struct rank_clock *clock = &made->world.clocks[i];
		double bound = fmax((double)clock->error_ns, 2); /* clocks show whole ns */

		assert_true(clock->is_known);
		double truth =
			(double)clock->reference_ns -
			(double)shown(made, 0, true_time(made, i, (double)clock->reference_ns));
		worst = fmax(worst, fabs((double)clock->offset_ns - truth) / bound);
		for (size_t k = 0; k < made->logs[i].op_count; k++) {
			int64_t end_ns = tsi_op_end(&made->logs[i].ops[k]);
			double at = (double)shown(made, 0, true_time(made, i, (double)end_ns));
			double found = (double)tsi_world_time(&made->world, i, end_ns);
			worst = fmax(worst, fabs(found - at) / bound);
		}
	}
	return worst;
}

/*
 * Rank 1 meets rank 0 at the begin only, too shortly to tell how its clock drifts, and rank 2 for a
 * second on end: whatever the drift was, the bound covers it.
 */
TEST(a_bound_covers_what_is_outside_of_it)
{
	struct made *made = made_new(3);

	made->clocks[1].drift = made->clocks[2].drift = 1e-3;
	for (size_t i = 0; i < 1000; i++) {
		double at = (double)i * 1e6;
		struct seen seen[] = { { 0, at, at + 5e4 },
				       { 1, at, at + 5e4 },
				       { 2, at, at + 5e4 } };

		if (i < 3)
			add_match(made, seen, 2);
		add_match(made, &seen[1], 2);
	}
	find_clocks(made);
	/* By the end of it rank 1 is 1 ms ahead. */
	assert_true(made->world.clocks[1].error_ns > 1000000);
	assert_true(made->world.clocks[2].error_ns > made->world.clocks[1].error_ns);
	assert_true(worst_error(made) < 1);
	made_free(made);
}

/* Set forward by 1 ms, half-way: no line is right before and after that. */
TEST(a_clock_that_jumps_has_a_wide_bound)
{
	struct made *made = made_new(2);

	for (size_t i = 0; i < 100; i++) {
		double at = (double)i * 1e6;
		struct seen seen[] = { { 0, at, at + 100 }, { 1, at, at + 100 } };

		add_match(made, seen, 2);
		made->logs[1].ops[i].start_ns += i < 50 ? 0 : 1000000;
	}
	find_clocks(made);
	for (size_t i = 0; i < 100; i++) {
		int64_t start_ns = made->logs[1].ops[i].start_ns;
		int64_t off_ns =
			tsi_world_time(&made->world, 1, start_ns) - made->logs[0].ops[i].start_ns;

		assert_true(llabs(off_ns) <= made->world.clocks[1].error_ns);
	}
	/* But not wider than the jump. */
	assert_true(made->world.clocks[1].error_ns < 1100000);
	made_free(made);
}

/* ---- many worlds by chance ---- */

/* How collectives of such a world are. */
struct habit {
	double capture_ns;
	double wait_ns, transfer_ns, noise_ns; /* at most, or typically */
	size_t count;
};

static double exponential(uint64_t *seed, double mean)
{
	return -mean * log(random_ratio(seed));
}

static void make_collective(struct made *made, const struct habit *habit, const uint32_t *ranks,
			    uint32_t count, double at_ns, uint64_t *seed)
{
	struct seen seen[MAX_RANKS];
	double begin_ns = 0;
	double transfer_ns = habit->transfer_ns * (0.1 + random_ratio(seed));

	for (uint32_t i = 0; i < count; i++) {
		seen[i].rank = ranks[i];
		seen[i].start_ns = at_ns + exponential(seed, habit->wait_ns);
		begin_ns = fmax(begin_ns, seen[i].start_ns);
	}
	for (uint32_t i = 0; i < count; i++)
		seen[i].end_ns = begin_ns + transfer_ns + exponential(seed, habit->noise_ns);
	add_match(made, seen, count);
}

/* All ranks in one group, a grid of rows and columns, or each with the next. */
static void make_world(struct made *made, const struct habit *habit, unsigned shape, uint64_t *seed)
{
	uint32_t rank_count = (uint32_t)made->world.rank_count;

	for (size_t k = 0; k < habit->count; k++) {
		double at = habit->capture_ns * (double)k / (double)habit->count;
		uint32_t ranks[MAX_RANKS];

		for (uint32_t i = 0; i < rank_count; i++)
			ranks[i] = i;
		if (shape == 0)
			make_collective(made, habit, ranks, rank_count, at, seed);
		for (uint32_t i = 0; shape == 1 && i + 1 < rank_count; i++)
			make_collective(made, habit, &ranks[i], 2, at, seed);
		if (shape != 2)
			continue;
		for (uint32_t i = 0; i < rank_count; i += 2)
			make_collective(made, habit, &ranks[i], rank_count - i < 2 ? 1 : 2, at,
					seed);
		for (uint32_t parity = 0; parity < 2; parity++) {
			uint32_t count = 0;
			for (uint32_t i = parity; i < rank_count; i += 2)
				ranks[count++] = i;
			make_collective(made, habit, ranks, count, at, seed);
		}
	}
}

static double between(uint64_t *seed, double least, double most)
{
	return least * pow(most / least, random_ratio(seed));
}

TEST(the_truth_lies_within_the_bound)
{
	enum { CASES = 600 };
	uint64_t seed = 42;

	for (unsigned n = 0; n < CASES; n++) {
		struct made *made = made_new(2 + random_bits(&seed) % 8);
		struct habit habit = { .capture_ns = between(&seed, 1e9, 2e10),
				       .wait_ns = between(&seed, 1e2, 1e7),
				       .transfer_ns = between(&seed, 1e3, 1e7),
				       .noise_ns = between(&seed, 1, 1e5),
				       .count = (size_t)between(&seed, 1, 300) };

		for (size_t i = 0; i < made->world.rank_count; i++) {
			made->clocks[i].skew_ns = 1e8 * random_ratio(&seed) - 5e7;
			if (n % 2)
				made->clocks[i].drift =
					(1e8 * random_ratio(&seed) - 5e7) / habit.capture_ns;
		}
		make_world(made, &habit, n % 3, &seed);
		find_clocks(made);
		double worst = worst_error(made);
		if (worst > 1)
			fail_msg("world %u: %g times the bound", n, worst);
		made_free(made);
	}
}

/* ---- what no clock shows ---- */

TEST(figures_may_be_absurd)
{
	static const int64_t times[][4] = {
		/* starts and durations of both ranks */
		{ INT64_MIN, 0, INT64_MAX, 0 },
		{ INT64_MAX, 0, INT64_MIN, INT64_MAX },
		{ 0, INT64_MAX, 0, 0 },
		{ INT64_MIN, INT64_MAX, INT64_MAX, 0 },
		{ 0, 0, 0, 0 },
	};

	for (size_t first = 0; first < TSI_COUNT_OF(times); first++) {
		struct made *made = made_new(2);
		struct seen seen[] = { { 0, 0, 1 }, { 1, 0, 1 } };

		for (size_t i = first; i < TSI_COUNT_OF(times); i++) {
			add_match(made, seen, 2);
			for (size_t k = 0; k < 2; k++) {
				struct rank_op *op = &made->logs[k].ops[i - first];
				op->start_ns = times[i][2 * k];
				op->dur_ns = times[i][2 * k + 1];
			}
		}
		find_clocks(made);
		assert_true(made->world.clocks[1].is_known);
		assert_true(made->world.clocks[1].error_ns >= 0);
		(void)tsi_world_time(&made->world, 1, INT64_MIN);
		(void)tsi_world_time(&made->world, 1, INT64_MAX);
		made_free(made);
	}
}

/* One knows its Unix time, the other counts from its boot. */
TEST(clocks_may_be_years_apart)
{
	struct made *made = made_new(2);

	for (size_t i = 0; i < 30; i++) {
		double at = (double)i * 1000;
		struct seen seen[] = { { 0, at, at + 8 }, { 1, at, at + 8 } };
		add_match(made, seen, 2);
		made->logs[0].ops[i].start_ns += INT64_C(1767189312000000000);
	}
	find_clocks(made);
	assert_int_equal(made->world.clocks[1].offset_ns, -INT64_C(1767189312000000000));
	assert_in_range(made->world.clocks[1].error_ns, 8, 12);
	made_free(made);
}

TEST(memory_may_end)
{
	struct made *made = made_new(3);
	struct seen seen[] = { { 0, 0, 10 }, { 1, 0, 10 }, { 2, 0, 10 } };

	for (size_t i = 0; i < 10; i++)
		add_match(made, seen, 3);
	struct alloc_sweep sweep = { 0 };
	while (alloc_sweep_next(&sweep)) {
		alloc_sweep_try(&sweep,
				test_stage(tsi_world_find_clocks, &made->world, &sweep.err));
		tsi_arena_deinit(&made->world.arena);
	}
	made_free(made);
}
