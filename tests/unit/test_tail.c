/* SPDX-License-Identifier: MIT */
/* Tails of binomial counts and of sums of positions, against fractions counted by hand. */
#include "analyze/shared/tail.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/attributes.h"
#include "fail_alloc.h"

static void check_near(double value, double expected)
{
	if (!(fabs(value - expected) <= 1e-9 * expected))
		fail_msg("%.17g, not %.17g", value, expected);
}

static void binomial_tails(void **state)
{
	(void)state;
	static const struct {
		size_t trials, least;
		double chance, expected;
	} cases[] = {
		{ 4, 0, 0.5, 1 },
		{ 4, 3, 0.5, 5.0 / 16 }, /* 4 + 1 of 16 */
		{ 4, 4, 0.5, 1.0 / 16 },
		{ 4, 5, 0.5, 0 },
		{ 2, 1, 1.0 / 3, 5.0 / 9 }, /* 1 - (2/3)² */
		{ 3, 3, 0.125, 1.0 / 512 },
		{ 0, 0, 0.5, 1 },
		/* Far out, and far below the mean of many. */
		{ 1000, 1000, 0.5, 0x1p-1000 },
		{ 100000, 5, 0.5, 1 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		check_near(tsi_binomial_tail(cases[i].trials, cases[i].least, cases[i].chance),
			   cases[i].expected);
}

static void tails_of_position_sums(void **state)
{
	(void)state;
	static const struct {
		size_t steps, ranks;
		uint64_t least;
		double expected;
	} cases[] = {
		/* Two steps of 3 ranks: the sums 0 … 4 come in 1 2 3 2 1 of 9 ways. */
		{ 2, 3, 0, 1 },
		{ 2, 3, 1, 8.0 / 9 },
		{ 2, 3, 2, 6.0 / 9 },
		{ 2, 3, 3, 3.0 / 9 },
		{ 2, 3, 4, 1.0 / 9 },
		{ 2, 3, 5, 0 },
		{ 0, 3, 0, 1 },
		{ 5, 1, 0, 1 },
		/* Always last of 8, and one position short of it once: 1 + 40 ways of 8⁴⁰. */
		{ 40, 8, 280, 0x1p-120 },
		{ 40, 8, 279, 41 * 0x1p-120 },
	};
	struct arena arena = { 0 };

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct position_sums sums;
		tsi_position_sums_init(&sums, cases[i].steps, cases[i].ranks, &arena);
		check_near(tsi_position_sums_tail(&sums, cases[i].least), cases[i].expected);
	}
	tsi_arena_deinit(&arena);
}

/* A position of two ranks is an event that happens or not. */
static void two_ranks_are_binomial(void **state)
{
	(void)state;
	struct arena arena = { 0 };
	struct position_sums sums;

	tsi_position_sums_init(&sums, 30, 2, &arena);
	for (size_t least = 0; least <= 30; least++)
		check_near(tsi_position_sums_tail(&sums, least), tsi_binomial_tail(30, least, 0.5));
	tsi_arena_deinit(&arena);
}

static void many_steps_are_normal_on_the_safe_side(void **state)
{
	(void)state;
	struct arena arena = { 0 };
	struct position_sums exact, normal = { .step_count = 1000, .rank_count = 8 };
	/* The mean is 3500, the standard deviation sqrt(1000 × 63 ÷ 12) = 72.5. */
	static const uint64_t sums[] = { 3720, 3760, 3800, 3900 };

	tsi_position_sums_init(&exact, 1000, 8, &arena);
	assert_non_null(exact.tails);
	for (size_t i = 0; i < TSI_COUNT_OF(sums); i++) {
		double ratio = tsi_position_sums_tail(&normal, sums[i]) /
			       tsi_position_sums_tail(&exact, sums[i]);
		assert_true(ratio > 1 && ratio < 1.1);
	}

	/* 3 standard deviations of 724.6 above a mean of 350,000 */
	tsi_position_sums_init(&normal, 100000, 8, &arena);
	assert_null(normal.tails);
	double tail = tsi_position_sums_tail(&normal, 352174);
	assert_true(tail > 0.00134 && tail < 0.00136);
	tsi_arena_deinit(&arena);
}

static void memory_ends(void **state)
{
	(void)state;
	struct arena arena = { 0 };
	struct position_sums sums;

	fail_alloc_at(1);
	tsi_position_sums_init(&sums, 30, 8, &arena);
	assert_true(fail_alloc_stop());
	assert_true(arena.has_failed);
	tsi_arena_deinit(&arena);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(binomial_tails),
		cmocka_unit_test(tails_of_position_sums),
		cmocka_unit_test(two_ranks_are_binomial),
		cmocka_unit_test(many_steps_are_normal_on_the_safe_side),
		cmocka_unit_test(memory_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
