/* SPDX-License-Identifier: MIT */
/*
 * SQLite offers trigonometry to SQL. Ours uses none; a trigger that a user added to a database may.
 * The C library has each function for four generations of processors, 225 kB in a static program.
 * These are accurate to a few units in the last place instead of one.
 */
#include <math.h>

static const double half_turn = 3.14159265358979323846;

/* For 0 <= tangent <= 1: half of an angle three times, by which the series needs few terms. */
static double small_angle(double tangent)
{
	double sum = 0;

	for (int i = 0; i < 3; i++)
		tangent /= 1 + sqrt(1 + tangent * tangent);
	for (int i = 17; i > 0; i -= 2)
		sum = 1.0 / i - tangent * tangent * sum;
	return 8 * tangent * sum;
}

double atan2(double y, double x)
{
	double up = fabs(y), along = fabs(x), angle = half_turn / 4;

	if (isnan(x) || isnan(y))
		return x + y;
	if (up < along)
		angle = small_angle(up / along);
	else if (up > along)
		angle = half_turn / 2 - small_angle(along / up);
	else if (up == 0)
		angle = 0;
	return copysign(signbit(x) ? half_turn - angle : angle, y);
}

double atan(double x)
{
	return atan2(x, 1);
}

double asin(double x)
{
	return atan2(x, sqrt((1 - x) * (1 + x)));
}

double acos(double x)
{
	return atan2(sqrt((1 - x) * (1 + x)), x);
}

double tan(double x)
{
	return sin(x) / cos(x);
}
