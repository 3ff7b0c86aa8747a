/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TIMELINE_INTERVAL_H
#define TSCOPE_TIMELINE_INTERVAL_H

#include "base/attributes.h"

#include <stddef.h>
#include <stdint.h>
#include <tscope/error.h>

/*
 * Sets of time as sorted lists of disjoint half-open intervals [start, end) in
 * ns. Intervals that touch are joined, empty ones vanish. All operations are
 * exact and linear.
 */
struct interval {
	int64_t start_ns, end_ns;
};

struct interval_set {
	struct interval *items;
	size_t count, capacity;
};

void tsi_intervals_deinit(struct interval_set *set); /* fine on a zeroed struct */

/*
 * Adds an interval whose start is not before that of any added before: joins
 * it with the last where they overlap or touch.
 */
TSI_MUST_CHECK
enum tscope_status tsi_intervals_append(struct interval_set *set, int64_t start_ns, int64_t end_ns,
					struct tscope_error *err);

int64_t tsi_intervals_length(const struct interval_set *set);

/* Length of the intersection of both, without building it. */
int64_t tsi_intervals_common(const struct interval_set *a, const struct interval_set *b);

/* Length of the part of the set that lies in [start, end). O(log n + k). */
int64_t tsi_intervals_within(const struct interval_set *set, int64_t start_ns, int64_t end_ns);

/* *out = a ∪ b; *out = a \ b. out must be zeroed or reused, and differ from a and b. */
TSI_MUST_CHECK
enum tscope_status tsi_intervals_union(struct interval_set *out, const struct interval_set *a,
				       const struct interval_set *b, struct tscope_error *err);
TSI_MUST_CHECK
enum tscope_status tsi_intervals_subtract(struct interval_set *out, const struct interval_set *a,
					  const struct interval_set *b, struct tscope_error *err);

#endif
