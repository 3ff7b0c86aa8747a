/* SPDX-License-Identifier: MIT */
/* src/cli/angles.c: as the C library's, to a few units in the last place. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

static double libm_atan(double x)
{
	return atan(x);
}

static double libm_asin(double x)
{
	return asin(x);
}

static double libm_acos(double x)
{
	return acos(x);
}

static double libm_tan(double x)
{
	return tan(x);
}

static double libm_atan2(double y, double x)
{
	return atan2(y, x);
}

#define atan ours_atan
#define asin ours_asin
#define acos ours_acos
#define tan ours_tan
#define atan2 ours_atan2
double ours_atan(double x);
double ours_asin(double x);
double ours_acos(double x);
double ours_tan(double x);
double ours_atan2(double y, double x);
#include "../../src/cli/angles.c"

enum { UNITS = 8, STEPS = 20000 };

static int failures;

static bool is_near(double ours, double expected)
{
	double unit = nextafter(fabs(expected), INFINITY) - fabs(expected);

	if (isnan(expected) || isnan(ours))
		return isnan(expected) && isnan(ours);
	if (ours == expected)
		return !signbit(ours) == !signbit(expected);
	return fabs(ours - expected) <= UNITS * unit;
}

static void check(const char *name, double x, double ours, double expected)
{
	if (!is_near(ours, expected) && failures++ < 10)
		fprintf(stderr, "%s %.17g: %.17g, not %.17g\n", name, x, ours, expected);
}

static void check_all(double x)
{
	check("atan", x, ours_atan(x), libm_atan(x));
	check("asin", x, ours_asin(x), libm_asin(x));
	check("acos", x, ours_acos(x), libm_acos(x));
	check("tan", x, ours_tan(x), libm_tan(x));
}

int main(void)
{
	static const double edges[] = { 0.0, -0.0,     1,         -1,     0.5,  3,
					1e9, -1e300,   1e-300,    -1e-9,  2e-8, 0.41421356237309503,
					NAN, INFINITY, -INFINITY, 1.5708, -2 };
	enum { EDGES = sizeof(edges) / sizeof(edges[0]) };

	for (size_t i = 0; i < EDGES; i++) {
		check_all(edges[i]);
		for (size_t j = 0; j < EDGES; j++)
			check("atan2", edges[i], ours_atan2(edges[i], edges[j]),
			      libm_atan2(edges[i], edges[j]));
	}
	for (int i = -STEPS; i <= STEPS; i++) {
		check_all((double)i / STEPS);
		check_all((double)i / 97);
		check("atan2", i, ours_atan2(i, 777), libm_atan2(i, 777));
		check("atan2", i, ours_atan2(3, i), libm_atan2(3, i));
	}
	printf("%d wrong\n", failures);
	return failures != 0;
}
