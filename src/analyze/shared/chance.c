/* SPDX-License-Identifier: MIT */
/*
 * Student's t and the normal distribution for the tests of significance. The tail is half an
 * incomplete beta function, as a continued fraction (Lentz's method).
 */
#include "analyze/shared/chance.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

static const double ln_2_high = 0x1.62e42feep-1, ln_2_low = 0x1.a39ef35793c76p-33;
static const double square_root_of_pi = 1.7724538509055160;
static const double square_root_of_2_pi = 2.5066282746310002;

/* From so many degrees on t is normal but for a correction whose next term is below 1e-8. */
static const double many_degrees = 1e5;

enum {
	LOG_TERMS = 14,
	EXP_TERMS = 15,
	FRACTION_TERMS = 2000, /* far more than any arguments of ours take */
	NORMAL_TERMS = 80,
	HALVINGS = 60,
};

/* The logarithm of 1 + x for x >= 0, also of tiny x: of m × 2^e, by the series of artanh. */
static double log_of_more(double x)
{
	int exponent = 0;
	double above = x;

	if (x > 0.4) {
		double mantissa = frexp(1 + x, &exponent);
		above = mantissa - 1;
		if (mantissa < 0.7) {
			above = 2 * mantissa - 1;
			exponent--;
		}
	}
	double s = above / (2 + above), square = s * s, sum = 0;
	for (int term = LOG_TERMS; term-- > 0;)
		sum = sum * square + 1.0 / (2 * term + 1);
	return exponent * ln_2_high + (exponent * ln_2_low + 2 * s * sum);
}

/* e to the power of -x for x >= 0. */
static double exp_of_less(double x)
{
	if (x > 745)
		return 0;
	double twos = floor(x / ln_2_high + 0.5), sum = 1;
	double rest = x - twos * ln_2_high - twos * ln_2_low;

	for (int term = EXP_TERMS; term > 0; term--)
		sum = 1 - rest / term * sum;
	return ldexp(sum, -(int)twos);
}

/* The tail of the normal distribution: a series in the middle, a continued fraction outside. */
static double normal_tail(double z)
{
	double density = exp_of_less(z * z / 2) / square_root_of_2_pi;
	double term = z, sum = z, fraction = z;

	if (z < 3) {
		for (int i = 1; i < NORMAL_TERMS; i++) {
			term *= z * z / (2 * i + 1);
			sum += term;
		}
		return 0.5 - density * sum;
	}
	for (int i = NORMAL_TERMS; i > 0; i--)
		fraction = z + i / fraction;
	return density / fraction;
}

/* gamma(a + 1/2) by gamma(a): its series for large a, from where a is large enough. */
static double gamma_ratio(double a)
{
	double factor = 1;

	for (; a < 30; a++)
		factor *= a / (a + 0.5);
	double x = 1 / (8 * a);
	/* 1 − x + x²/2 + 5x³/2 − 21x⁴/8 − 399x⁵/8 + 869x⁶/16 */
	double series =
		1 + x * (-1 + x * (0.5 + x * (2.5 + x * (-2.625 + x * (-49.875 + x * 54.3125)))));
	return factor * sqrt(a) * series;
}

static double away_from_0(double number)
{
	return fabs(number) < DBL_MIN ? DBL_MIN : number;
}

/* The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8). */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / away_from_0(1 - (a + b) * x / (a + 1)), result = d;

	for (int i = 1; i < FRACTION_TERMS; i++) {
		double even = i * (b - i) * x / ((a + 2 * i - 1) * (a + 2 * i));
		double odd = -(a + i) * (a + b + i) * x / ((a + 2 * i) * (a + 2 * i + 1));
		d = 1 / away_from_0(1 + even * d);
		c = away_from_0(1 + even / c);
		result *= d * c;
		d = 1 / away_from_0(1 + odd * d);
		c = away_from_0(1 + odd / c);
		result *= d * c;
		if (fabs(d * c - 1) < 1e-15)
			break;
	}
	return result;
}

double tsi_student_tail(double t, double degrees)
{
	if (!(t * t < INFINITY))
		return 0;
	if (degrees > many_degrees)
		return normal_tail(t * (1 - 1 / (4 * degrees)) / sqrt(1 + t * t / (2 * degrees)));

	/* Half of I_x(a, 1/2); its first factor is x^a (1 - x)^(1/2) by B(a, 1/2). */
	double a = degrees / 2, above = t * t / degrees, x = 1 / (1 + above), rest = above * x;
	double front = exp_of_less(a * log_of_more(above)) * sqrt(rest) * gamma_ratio(a) /
		       square_root_of_pi;
	if (x < (a + 1) / (a + 2.5))
		return front * beta_fraction(a, 0.5, x) / a / 2;
	return 0.5 - front * beta_fraction(0.5, a, rest);
}

double tsi_student_quantile(double tail, double degrees)
{
	double low = 0, high = 1;

	while (high < 1e300 && tsi_student_tail(high, degrees) > tail) {
		low = high;
		high *= 2;
	}
	for (int i = 0; i < HALVINGS && high - low > 1e-12 * high; i++) {
		double middle = low + (high - low) / 2;
		bool is_below = tsi_student_tail(middle, degrees) > tail;
		*(is_below ? &low : &high) = middle;
	}
	return high;
}
