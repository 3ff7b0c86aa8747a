/* SPDX-License-Identifier: MIT */
/*
 * Sets of time: what the unions of device activity, exposed communication and
 * idle time are computed with. All arithmetic is exact, in half-open intervals
 * of integer nanoseconds, and every operation is one merge of sorted lists.
 */
#include "timeline/interval.h"

#include "base/bisect.h"
#include "base/sum.h"

struct interval_set tsi_intervals_new(size_t capacity, struct arena *arena)
{
	struct interval_set set = { .items = tsi_arena_new(arena, capacity, sizeof(*set.items)) };

	set.capacity = set.items ? capacity : 0;
	return set;
}

void tsi_intervals_append(struct interval_set *set, int64_t start_ns, int64_t end_ns,
			  struct arena *arena)
{
	if (end_ns <= start_ns)
		return;
	if (set->count && start_ns <= set->items[set->count - 1].end_ns) {
		struct interval *last = &set->items[set->count - 1];
		if (end_ns > last->end_ns)
			last->end_ns = end_ns;
		return;
	}
	if (tsi_unlikely(set->count == set->capacity)) {
		struct interval *items = tsi_arena_reserve(arena, set->items, &set->capacity,
							   set->count + 1, sizeof(*items));
		if (!items)
			return;
		set->items = items;
	}
	set->items[set->count++] = (struct interval){ start_ns, end_ns };
}

int64_t tsi_intervals_length(const struct interval_set *set)
{
	int64_t length_ns = 0;

	for (size_t i = 0; i < set->count; i++)
		length_ns += set->items[i].end_ns - set->items[i].start_ns;
	return length_ns;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

int64_t tsi_intervals_common(const struct interval_set *a, const struct interval_set *b)
{
	int64_t common_ns = 0;
	size_t i = 0, j = 0;

	while (i < a->count && j < b->count) {
		const struct interval *x = &a->items[i], *y = &b->items[j];
		int64_t start_ns = later(x->start_ns, y->start_ns);
		int64_t end_ns = earlier(x->end_ns, y->end_ns);
		if (end_ns > start_ns)
			common_ns += end_ns - start_ns;
		if (x->end_ns < y->end_ns)
			i++;
		else
			j++;
	}
	return common_ns;
}

/* The first interval that ends after t, or count. */
static size_t first_ending_after(const struct interval_set *set, int64_t t_ns)
{
	size_t low = 0, high = set->count;

	TSI_BISECT(low, high, set->items[middle].end_ns <= t_ns);
	return low;
}

int64_t tsi_intervals_within(const struct interval_set *set, int64_t start_ns, int64_t end_ns)
{
	int64_t within_ns = 0;

	for (size_t i = first_ending_after(set, start_ns);
	     i < set->count && set->items[i].start_ns < end_ns; i++)
		within_ns += earlier(set->items[i].end_ns, end_ns) -
			     later(set->items[i].start_ns, start_ns);
	return within_ns;
}

/* The one that starts first of two lists from i and j on, which it leaves; NULL at their ends. */
static const struct interval *next_of_both(const struct interval_set *a, size_t *i,
					   const struct interval_set *b, size_t *j)
{
	if (*i < a->count && (*j == b->count || a->items[*i].start_ns <= b->items[*j].start_ns))
		return &a->items[(*i)++];
	return *j < b->count ? &b->items[(*j)++] : NULL;
}

int64_t tsi_intervals_outside(const struct interval_set *a, const struct interval_set *b,
			      int64_t start_ns, int64_t end_ns)
{
	size_t i = first_ending_after(a, start_ns), j = first_ending_after(b, start_ns);
	const struct interval *next;
	int64_t outside_ns = 0;

	while (start_ns < end_ns && (next = next_of_both(a, &i, b, &j))) {
		if (next->start_ns > start_ns)
			tsi_sum(&outside_ns, earlier(next->start_ns, end_ns) - start_ns);
		start_ns = later(start_ns, next->end_ns);
	}
	return start_ns < end_ns ? outside_ns + end_ns - start_ns : outside_ns;
}

void tsi_intervals_union(struct interval_set *out, const struct interval_set *a,
			 const struct interval_set *b, struct arena *arena)
{
	const struct interval *next;
	size_t i = 0, j = 0;

	out->count = 0;
	while ((next = next_of_both(a, &i, b, &j)))
		tsi_intervals_append(out, next->start_ns, next->end_ns, arena);
}

void tsi_intervals_subtract(struct interval_set *out, const struct interval_set *a,
			    const struct interval_set *b, struct arena *arena)
{
	size_t j = 0;

	out->count = 0;
	for (size_t i = 0; i < a->count; i++) {
		int64_t start_ns = a->items[i].start_ns, end_ns = a->items[i].end_ns;
		while (j < b->count && b->items[j].end_ns <= start_ns)
			j++;
		/* The last b looked at may reach into the next a: j stays on it. */
		for (size_t k = j; k < b->count && b->items[k].start_ns < end_ns; k++) {
			tsi_intervals_append(out, start_ns, b->items[k].start_ns, arena);
			start_ns = later(start_ns, b->items[k].end_ns);
		}
		tsi_intervals_append(out, start_ns, end_ns, arena);
	}
}

struct interval_set tsi_intervals_union_all(const struct interval_set *sets, size_t count,
					    struct arena *arena)
{
	struct interval_set ret = { 0 };

	if (count == 1)
		return sets[0];
	struct interval_set low = tsi_intervals_union_all(sets, count / 2, arena),
			    high = tsi_intervals_union_all(sets + count / 2, count - count / 2,
							   arena);
	tsi_intervals_union(&ret, &low, &high, arena);
	return ret;
}
