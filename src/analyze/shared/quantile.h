/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_SHARED_QUANTILE_H
#define TSCOPE_ANALYZE_SHARED_QUANTILE_H

#include "base/attributes.h"

#include <stddef.h>
#include <stdint.h>
#include <tscope/error.h>

/* Sorts ascending. O(count), with room for as many meanwhile. */
TSI_MUST_CHECK
enum tscope_status tsi_sort_ns(int64_t *numbers, size_t count, struct tscope_error *err);

/*
 * The quantile of sorted numbers at percent (0 to 100), linear between the two
 * nearest, rounded half up. 0 where count is 0.
 */
int64_t tsi_quantile_ns(const int64_t *sorted, size_t count, unsigned percent);

/* The same of numbers in any order, which it changes. O(count), less than sorting takes. */
int64_t tsi_find_quantile_ns(int64_t *numbers, size_t count, unsigned percent);

/* That of sorted numbers, not rounded: for a ratio of two of them. */
double tsi_quantile(const int64_t *sorted, size_t count, unsigned percent);

#endif
