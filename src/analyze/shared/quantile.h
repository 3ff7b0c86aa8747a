/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_SHARED_QUANTILE_H
#define TSCOPE_ANALYZE_SHARED_QUANTILE_H

#include <stddef.h>
#include <stdint.h>

/*
 * The quantile of sorted numbers at percent (0 to 100), linear between the two
 * nearest, rounded half up. 0 where count is 0.
 */
int64_t tsi_quantile_ns(const int64_t *sorted, size_t count, unsigned percent);

/* As tsi_quantile_ns(), of numbers in any order; reorders them. O(count), cheaper than sorting. */
int64_t tsi_find_quantile_ns(int64_t *numbers, size_t count, unsigned percent);

/* As tsi_quantile_ns(), not rounded: for the ratio of two quantiles. */
double tsi_quantile(const int64_t *sorted, size_t count, unsigned percent);

#endif
