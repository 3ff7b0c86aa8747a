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

#endif
