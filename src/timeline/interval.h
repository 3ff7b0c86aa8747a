/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TIMELINE_INTERVAL_H
#define TSCOPE_TIMELINE_INTERVAL_H

#include "base/arena.h"

/*
 * Sets of time as sorted lists of disjoint half-open intervals [start, end) in
 * ns. Intervals that touch are joined, empty ones vanish. All operations are
 * exact and linear.
 */
struct interval {
	int64_t start_ns, end_ns;
};

/*
 * Where spans overlap, the one that started first has the instant. Of a span
 * that starts no earlier than those before it: what they have left of it.
 */
static inline struct interval tsi_unclaimed(int64_t *claimed_until_ns, int64_t start_ns,
					    int64_t end_ns)
{
	if (start_ns < *claimed_until_ns)
		start_ns = *claimed_until_ns;
	if (end_ns > *claimed_until_ns)
		*claimed_until_ns = end_ns;
	return (struct interval){ start_ns, end_ns };
}

/*
 * A zeroed set is empty. Functions that grow one take the arena of its items, which remembers
 * failures.
 */
struct interval_set {
	struct interval *items;
	size_t count, capacity;
};

/* Makes an empty set with room for exactly so many; none without memory. */
struct interval_set tsi_intervals_new(size_t capacity, struct arena *arena);

/*
 * Adds an interval whose start is not before that of any added before: joins
 * it with the last where they overlap or touch.
 */
void tsi_intervals_append(struct interval_set *set, int64_t start_ns, int64_t end_ns,
			  struct arena *arena);

int64_t tsi_intervals_length(const struct interval_set *set);

/* Length of the intersection of both, without building it. */
int64_t tsi_intervals_common(const struct interval_set *a, const struct interval_set *b);

/* Length of the part of the set that lies in [start, end). O(log n + k). */
int64_t tsi_intervals_within(const struct interval_set *set, int64_t start_ns, int64_t end_ns);

/* Length of the part of [start, end) that lies in neither set. O(log n + k). */
int64_t tsi_intervals_outside(const struct interval_set *a, const struct interval_set *b,
			      int64_t start_ns, int64_t end_ns);

/* *out = a ∪ b; *out = a \ b. out must be zeroed or reused, and differ from a and b. */
void tsi_intervals_union(struct interval_set *out, const struct interval_set *a,
			 const struct interval_set *b, struct arena *arena);
void tsi_intervals_subtract(struct interval_set *out, const struct interval_set *a,
			    const struct interval_set *b, struct arena *arena);

/* The union of count > 0 sets, which is one of them where there is only one. */
struct interval_set tsi_intervals_union_all(const struct interval_set *sets, size_t count,
					    struct arena *arena);

/*
 * Intersects a set with pieces of time, one after the other; the pieces come in order and do not
 * overlap:
 *
 *	struct interval_cursor cursor = { .set = set };
 *	while (tsi_intervals_next(&cursor, &piece, &part))
 *		…
 */
struct interval_cursor {
	const struct interval_set *set;
	size_t at; /* the first that may have time in common with this piece */
};

/* The next common part, which the piece loses with all before it; false: that was all. */
static inline bool tsi_intervals_next(struct interval_cursor *cursor, struct interval *piece,
				      struct interval *part)
{
	const struct interval *items = cursor->set->items;

	while (cursor->at < cursor->set->count && items[cursor->at].end_ns <= piece->start_ns)
		cursor->at++;
	if (cursor->at == cursor->set->count || piece->start_ns >= piece->end_ns)
		return false;
	*part = items[cursor->at];
	if (part->start_ns >= piece->end_ns)
		return false;
	if (part->start_ns < piece->start_ns)
		part->start_ns = piece->start_ns;
	if (part->end_ns > piece->end_ns)
		part->end_ns = piece->end_ns;
	piece->start_ns = part->end_ns;
	return true;
}

#endif
