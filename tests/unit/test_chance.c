/* SPDX-License-Identifier: MIT */
/* Tails of Student's t against published tables and against closed forms. */
#include "analyze/shared/chance.h"

#include <math.h>

#include "base/attributes.h"
#include "check.h"

static void check_near(double value, double expected, double error)
{
	if (!(fabs(value - expected) <= error))
		fail_msg("%.17g, not %.17g", value, expected);
}

/* The quantiles of any textbook, to its last digit (NIST/SEMATECH 1.3.6.7.2; Abramowitz 26.10). */
TEST(published_quantiles)
{
	static const struct {
		double tail, degrees, t, error;
	} cases[] = {
		{ 0.25, 1, 1.000, 5e-4 },
		{ 0.10, 1, 3.078, 5e-4 },
		{ 0.025, 1, 12.706, 5e-4 },
		{ 0.0005, 1, 636.619, 5e-4 },
		{ 0.05, 2, 2.920, 5e-4 },
		{ 0.001, 2, 22.327, 5e-4 },
		{ 0.025, 4, 2.776, 5e-4 },
		{ 0.01, 5, 3.365, 5e-4 },
		{ 0.005, 8, 3.355, 5e-4 },
		{ 0.025, 10, 2.228, 5e-4 },
		{ 0.001, 12, 3.930, 5e-4 },
		{ 0.05, 15, 1.753, 5e-4 },
		{ 0.005, 20, 2.845, 5e-4 },
		{ 0.0005, 20, 3.850, 5e-4 },
		{ 0.01, 29, 2.462, 5e-4 },
		{ 0.001, 30, 3.385, 5e-4 },
		{ 0.025, 60, 2.000, 5e-4 },
		{ 0.005, 100, 2.626, 5e-4 },
		{ 0.001, 100, 3.174, 5e-4 },
		{ 0.0005, 120, 3.373, 5e-4 },
		{ 0.025, INFINITY, 1.959963984540, 1e-11 },
		{ 0.005, INFINITY, 2.575829303549, 1e-11 },
		{ 0.001, INFINITY, 3.090232306168, 1e-11 },
		{ 0.5, 7, 0, 1e-11 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		check_near(tsi_student_quantile(cases[i].tail, cases[i].degrees), cases[i].t,
			   cases[i].error);
}

/* 2 degrees: 1/2 − t ÷ (2 √(2 + t²)), for large t without the difference: 1 ÷ (s (s + t)). */
TEST(two_degrees_have_a_closed_form)
{
	for (double t = 1e-6; t < 1e6; t *= 7) {
		double s = sqrt(2 + t * t), expected = 1 / (s * (s + t));
		check_near(tsi_student_tail(t, 2), expected, 1e-9 * expected);
	}
}

/* Upper tails of the normal distribution (Abramowitz and Stegun, table 26.2). */
TEST(published_normal_tails)
{
	static const struct {
		double z, tail;
	} cases[] = {
		{ 0, 0.5 },
		{ 1, 0.158655253931457 },
		{ 2, 0.0227501319481792 },
		{ 3, 1.3498980316301e-3 },
		{ 5, 2.866515718791939e-7 },
		{ 10, 7.61985302416e-24 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		check_near(tsi_student_tail(cases[i].z, INFINITY), cases[i].tail,
			   1e-11 * cases[i].tail);
}

/* Nothing jumps where one way to compute takes over from another. */
TEST(the_ways_to_compute_agree)
{
	double below = tsi_student_tail(3, 99999.999), above = tsi_student_tail(3, 100000.001);

	check_near(above, below, 1e-8 * below);
	check_near(tsi_student_tail(3 - 1e-12, INFINITY), tsi_student_tail(3, INFINITY), 1e-14);
	/* 8 ÷ (t² + 8) passes (4 + 1) ÷ (4 + 2.5) at t² = 2.4. */
	double t = sqrt(2.4);
	check_near(tsi_student_tail(t - 1e-12, 8), tsi_student_tail(t + 1e-12, 8), 1e-11);
}

TEST(the_ends)
{
	check_near(tsi_student_tail(0, 3), 0.5, 1e-15);
	assert_true(tsi_student_tail(1e200, 3) == 0);
	assert_true(tsi_student_tail(INFINITY, INFINITY) == 0);
	assert_true(tsi_student_tail(1e200, INFINITY) == 0);
	assert_true(tsi_student_tail(40, INFINITY) == 0);
	/* A tail that nothing reaches has a quantile all the same. */
	assert_true(isfinite(tsi_student_quantile(1e-300, INFINITY)));
	assert_true(isfinite(tsi_student_quantile(1e-300, 1)));
}
