/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_SHARED_ROBUST_H
#define TSCOPE_ANALYZE_SHARED_ROBUST_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Statistics that a few wild values do not move, as pytscope defines them (its
 * stats helpers), so that figures of the same name agree.
 */

/* The mean of the two middle numbers (no NaN), 0 for none. Reorders them. O(count log count). */
double tsi_median(double *numbers, size_t count);

/*
 * pytscope's local_spikes: marks each value that towers above the up to 12 finite ones before it
 * (at least 6): above their median by 6 robust standard deviations (1.4826 MAD), or by half where
 * nothing deviates. Values that are not finite are never spikes and not history; spikes are.
 * is_spike has room for count flags.
 */
void tsi_local_spikes(const double *values, size_t count, bool *is_spike);

/*
 * The medians of the first and of the last w values, w = max(1, a tenth of count,
 * rounded down); 0 for none, or without memory.
 */
void tsi_end_medians(const double *values, size_t count, double *first, double *last,
		     struct arena *scratch);

/*
 * pytscope's robust_slope: the median of the last w values less that of the
 * first w, by count - 1; 0 below two values, or without memory.
 */
double tsi_robust_slope(const double *values, size_t count, struct arena *scratch);

/* As tsi_robust_slope(), but by count - w, the distance of the windows' centres: the true slope. */
double tsi_centred_slope(const double *values, size_t count, struct arena *scratch);

#endif
