/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_BASE_SUM_H
#define TSCOPE_BASE_SUM_H

#include "base/ckd.h"

#include <stdint.h>

/*
 * Adds a part (≥ 0) to a sum of durations or bytes that an input chose: a sum
 * that no honest trace reaches (292 years) stays at the largest number.
 */
static inline void tsi_sum(int64_t *sum, int64_t part)
{
	if (tsi_ckd_add(sum, *sum, part))
		*sum = INT64_MAX;
}

/* As above, for parts of either sign: the sum saturates at both ends. */
static inline void tsi_sum_signed(int64_t *sum, int64_t part)
{
	if (tsi_ckd_add(sum, *sum, part))
		*sum = part < 0 ? INT64_MIN : INT64_MAX;
}

/* Room for the sum of all numbers of 64 bits that memory can hold; then the nearest of these. */
__extension__ typedef __int128 tsi_wide;

static inline int64_t tsi_narrow(tsi_wide sum)
{
	return sum > INT64_MAX ? INT64_MAX : sum < INT64_MIN ? INT64_MIN : (int64_t)sum;
}

/* to − from, or the nearest number that there is. */
static inline int64_t tsi_difference(int64_t from, int64_t to)
{
	return tsi_narrow((tsi_wide)to - from);
}

#endif
