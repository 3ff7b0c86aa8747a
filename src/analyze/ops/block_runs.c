/* SPDX-License-Identifier: MIT */
/*
 * Lengths that a block may have are the distances between neighbours of one name, the most frequent
 * first. For each, shortest first, one pass finds where the sequence equals itself shifted by it; a
 * run goes on behind a block that differs where the next ones are alike again. O(distances x n).
 */
#include "analyze/ops/block_runs.h"

#include <stdlib.h>
#include <string.h>

#include "base/attributes.h"

enum { MOST_DISTANCES = 24 };

struct block_search {
	struct block_runs *runs;
	const struct block_item *items; /* of the sequence */
	size_t first, count;            /* where it begins in the whole */
	struct arena *arena;            /* of runs */
	uint8_t *is_taken;              /* by item: in a run with shorter blocks */
};

struct distance {
	size_t length;
	uint64_t reach; /* items that it would explain */
};

static int by_reach(const void *left, const void *right)
{
	const struct distance *a = left, *b = right;

	TSI_DESCENDING(a->reach, b->reach);
	TSI_ASCENDING(a->length, b->length);
	return 0;
}

static int by_length(const void *left, const void *right)
{
	const struct distance *a = left, *b = right;

	TSI_ASCENDING(a->length, b->length);
	return 0;
}

/* Lists distances; returns how many. */
static size_t list_distances(const struct block_search *s, uint32_t name_count,
			     struct distance **list, struct arena *scratch)
{
	size_t limit = s->count / LEAST_BLOCKS + 1, count = 0;
	size_t *last = tsi_arena_new(scratch, name_count, sizeof(*last)); /* index + 1 */
	struct distance *all = tsi_arena_new(scratch, limit, sizeof(*all));

	if (!last || !all)
		return 0;
	for (size_t i = 0; i < s->count; i++) {
		size_t *before = &last[s->items[i].name];
		size_t length = *before ? i + 1 - *before : 0;
		*before = i + 1;
		if (length >= LEAST_BLOCK_ITEMS && length < limit)
			all[length] = (struct distance){ length, all[length].reach + length };
	}
	for (size_t i = 0; i < limit; i++)
		if (all[i].reach >= (LEAST_BLOCKS - 1) * all[i].length && all[i].length)
			all[count++] = all[i];
	if (count)
		qsort(all, count, sizeof(*all), by_reach);
	if (count > MOST_DISTANCES)
		count = MOST_DISTANCES;
	if (count)
		qsort(all, count, sizeof(*all), by_length);
	*list = all;
	return count;
}

/* Several anchors between borders are those of several layers: the block is a pass over them. */
static bool is_block(const struct block_item *block, size_t length)
{
	size_t anchors = 0;
	bool has_border = false;
	uint8_t part = 0;

	for (size_t i = 0; i < length; i++) {
		bool is_other = block[i].part && part && block[i].part != part;
		if (is_other || block[i].border == BORDER_SURE)
			return false;
		part = block[i].part ? block[i].part : part;
		anchors += block[i].is_anchor;
		has_border |= block[i].border == BORDER_MAYBE;
	}
	return anchors == 1 || (anchors > 1 && !has_border);
}

static bool is_equal(const struct block_item *a, const struct block_item *b, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (a[i].name != b[i].name)
			return false;
	return true;
}

bool tsi_is_block_alike(const struct block_run *run, const struct block_item *whole, size_t block)
{
	size_t first = run->bounds[block];

	return run->bounds[block + 1] - first == run->period &&
	       is_equal(&whole[first], &whole[run->bounds[run->alike]], run->period);
}

static bool is_free(const struct block_search *s, size_t first, size_t end)
{
	return !memchr(&s->is_taken[first], 1, end - first);
}

/* Is there such a block, which no other run has? */
static bool is_next(const struct block_search *s, size_t block, size_t period, size_t at)
{
	return at + period <= s->count && is_free(s, at, at + period) &&
	       is_equal(&s->items[block], &s->items[at], period);
}

/* May items that are no block like the one at `block` be another layer? */
static bool is_layer(const struct block_search *s, size_t block, size_t period, size_t first,
		     size_t end)
{
	const struct block_item *usual = &s->items[block];
	size_t anchors = 0, common = 0;

	if (!is_free(s, first, end))
		return false;
	for (size_t i = 0; i < period; i++) {
		bool is_there = false;
		anchors += usual[i].is_anchor;
		for (size_t k = first; k < end && !is_there; k++)
			is_there = s->items[k].name == usual[i].name;
		common += is_there;
	}
	for (size_t k = first; k < end; k++) {
		bool is_usual = false;
		anchors -= s->items[k].is_anchor;
		for (size_t i = 0; i < period && !is_usual; i++)
			is_usual = s->items[k].name == usual[i].name;
		if (s->items[k].border && !is_usual)
			return false;
	}
	return anchors == 0 && 2 * common >= period;
}

/*
 * Where the next block like the one at `block` begins behind one that differs; 0: nowhere. That one
 * has from half to twice as many items, and two that are alike follow.
 */
static size_t find_behind(const struct block_search *s, size_t block, size_t period, size_t end)
{
	for (size_t at = end + (period + 1) / 2; at <= end + 2 * period; at++)
		if (is_next(s, block, period, at) && is_next(s, block, period, at + period))
			return is_layer(s, block, period, end, at) ? at : 0;
	return 0;
}

/* Likewise before `start`: where the block that differs begins; SIZE_MAX: nowhere. */
static size_t find_before(const struct block_search *s, size_t block, size_t period, size_t start)
{
	for (size_t gap = (period + 1) / 2; gap <= 2 * period; gap++) {
		if (start < gap + 2 * period)
			return SIZE_MAX;
		if (is_next(s, block, period, start - gap - period) &&
		    is_next(s, block, period, start - gap - 2 * period))
			return is_layer(s, block, period, start - gap, start) ? start - gap
									      : SIZE_MAX;
	}
	return SIZE_MAX;
}

static size_t *push_bound(size_t **bounds, size_t *count, size_t *capacity, size_t at,
			  struct arena *arena)
{
	size_t *bound = tsi_arena_push(arena, bounds, count, capacity, sizeof(*bound));

	if (bound)
		*bound = at;
	return bound;
}

/* The bounds of the blocks before a block, nearest first. */
static void go_back(const struct block_search *s, size_t block, size_t period, size_t **bounds,
		    size_t *count, size_t *capacity)
{
	size_t start = block;

	while (!s->arena->has_failed) {
		size_t odd;
		if (start >= period && is_next(s, block, period, start - period))
			start -= period;
		else if ((odd = find_before(s, block, period, start)) != SIZE_MAX)
			start = odd;
		else
			return;
		push_bound(bounds, count, capacity, start, s->arena);
	}
}

static void go_on(const struct block_search *s, size_t block, size_t period, size_t **bounds,
		  size_t *count, size_t *capacity)
{
	size_t end = block;

	while (!s->arena->has_failed) {
		size_t behind;
		push_bound(bounds, count, capacity, end, s->arena);
		if (is_next(s, block, period, end))
			end += period;
		else if ((behind = find_behind(s, block, period, end)))
			end = behind;
		else
			return;
	}
}

/* Blocks from `block` on, and those before it. */
static void add_run(struct block_search *s, size_t block, size_t period)
{
	struct block_run run = { .period = period };
	size_t capacity = 0, count = 0;

	go_back(s, block, period, &run.bounds, &count, &capacity);
	for (size_t i = 0; i < count / 2; i++) {
		size_t bound = run.bounds[i];
		run.bounds[i] = run.bounds[count - 1 - i];
		run.bounds[count - 1 - i] = bound;
	}
	run.alike = count;
	go_on(s, block, period, &run.bounds, &count, &capacity);
	if (s->arena->has_failed)
		return;
	run.count = count - 1;
	memset(&s->is_taken[run.bounds[0]], 1, run.bounds[run.count] - run.bounds[0]);
	for (size_t i = 0; i < count; i++)
		run.bounds[i] += s->first;
	struct block_run *added = tsi_arena_push(s->arena, &s->runs->items, &s->runs->count,
						 &s->runs->capacity, sizeof(*added));
	if (added)
		*added = run;
}

/* All items [first, end + period) equal those a period behind or before. */
static void take(struct block_search *s, size_t first, size_t end, size_t period)
{
	while (first < end && s->is_taken[first])
		first++; /* what ends a run may begin another */
	if (end + period - first < LEAST_BLOCKS * period)
		return;
	if (is_free(s, first, first + LEAST_BLOCKS * period) && is_block(&s->items[first], period))
		add_run(s, first, period);
}

/* From `at` on the first item that differs from the one a period behind, or the last period. */
static size_t find_difference(const struct block_search *s, size_t at, size_t period)
{
	const struct block_item *item = &s->items[at], *end = &s->items[s->count - period];

	while (item < end && item->name == item[period].name)
		item++;
	return (size_t)(item - s->items);
}

/*
 * A run is so many items in a row that equal those a period behind. Looking at the last of them
 * first, most can be passed over.
 */
static void try_distance(struct block_search *s, size_t period)
{
	const size_t needed = (LEAST_BLOCKS - 1) * period;
	const struct block_item *items = s->items;
	size_t first = 0;

	while (first + needed + period <= s->count && !s->arena->has_failed) {
		size_t at = first + needed;
		while (at > first && items[at - 1].name == items[at - 1 + period].name)
			at--;
		if (at > first) {
			first = at;
			continue;
		}
		size_t end = find_difference(s, first + needed, period);
		take(s, first, end, period);
		first = end + 1;
	}
}

static int by_start(const void *left, const void *right)
{
	const struct block_run *a = left, *b = right;

	TSI_ASCENDING(a->bounds[0], b->bounds[0]);
	return 0;
}

void tsi_find_blocks(struct block_runs *runs, const struct block_item *whole, size_t first,
		     size_t count, uint32_t name_count, struct arena *arena)
{
	struct arena scratch = { 0 };
	struct block_search s = {
		.runs = runs,
		.items = whole + first,
		.first = first,
		.count = count,
		.arena = arena,
		.is_taken = tsi_arena_new(&scratch, count, 1),
	};
	struct distance *distances = NULL;
	size_t before = runs->count;
	size_t distance_count = list_distances(&s, name_count, &distances, &scratch);

	for (size_t i = 0; i < distance_count && s.is_taken; i++)
		try_distance(&s, distances[i].length);
	arena->has_failed |= scratch.has_failed;
	tsi_arena_deinit(&scratch);
	if (!arena->has_failed && runs->count > before)
		qsort(runs->items + before, runs->count - before, sizeof(*runs->items), by_start);
}
