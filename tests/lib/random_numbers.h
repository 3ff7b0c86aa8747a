/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_RANDOM_NUMBERS_H
#define TSCOPE_TESTS_RANDOM_NUMBERS_H

#include <math.h>
#include <stdint.h>

/* Chance that is the same each time (splitmix64); *state is any number at first. */
static inline uint64_t random_bits(uint64_t *state)
{
	uint64_t bits = *state += UINT64_C(0x9e3779b97f4a7c15);

	bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
	return bits ^ (bits >> 31);
}

static inline uint32_t random_below(uint64_t *state, uint32_t limit)
{
	return (uint32_t)(random_bits(state) % limit);
}

/* In (0, 1]. */
static inline double random_ratio(uint64_t *state)
{
	return (double)((random_bits(state) >> 11) + 1) * 0x1p-53;
}

static inline double random_normal(uint64_t *state)
{
	const double pi = 3.14159265358979323846;
	double radius = sqrt(-2 * log(random_ratio(state)));

	return radius * cos(2 * pi * random_ratio(state));
}

#endif
