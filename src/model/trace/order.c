/* SPDX-License-Identifier: MIT */
/*
 * A merge sort of lists of numbers, for lists that are nearly sorted: operators lie close to
 * where they belong, and calls come thread by thread. Most halves are in order when they meet.
 */
#include "model/trace/order.h"

#include "base/bisect.h"
#include "base/column.h"
#include "model/trace/build.h"

#include <string.h>

enum { SHORT_LIST = 16 };

struct order {
	tsi_is_behind *is_behind;
	const void *context;
	uint32_t *scratch;
};

static void insertion_sort(const struct order *order, uint32_t *list, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		uint32_t item = list[i], at = i;
		for (; at > 0 && order->is_behind(order->context, list[at - 1], item); at--)
			list[at] = list[at - 1];
		list[at] = item;
	}
}

/* How many of these sorted items are in place before `item`. By halving: mostly all are. */
static uint32_t count_before(const struct order *order, const uint32_t *list, uint32_t count,
			     uint32_t item)
{
	uint32_t low = 0, high = count;
	TSI_BISECT(low, high, !order->is_behind(order->context, list[middle], item));
	return low;
}

/* Makes one sorted list of two, list[0 … left_count) and what follows it. */
static void merge(const struct order *order, uint32_t *list, uint32_t left_count, uint32_t count)
{
	if (!order->is_behind(order->context, list[left_count - 1], list[left_count]))
		return;
	uint32_t settled = count_before(order, list, left_count, list[left_count]);
	uint32_t *to = list + settled;
	const uint32_t *right = list + left_count, *right_end = list + count;
	uint32_t moved = left_count - settled;
	memcpy(order->scratch, to, moved * sizeof(*to));
	for (const uint32_t *left = order->scratch; left < order->scratch + moved;) {
		if (right < right_end && order->is_behind(order->context, *left, *right))
			*to++ = *right++;
		else
			*to++ = *left++;
	}
}

static void sort(const struct order *order, uint32_t *list, uint32_t count)
{
	if (count <= SHORT_LIST) {
		insertion_sort(order, list, count);
		return;
	}
	uint32_t half = count / 2;
	sort(order, list, half);
	sort(order, list + half, count - half);
	merge(order, list, half, count);
}

void tsi_sort_list(struct builder *b, uint32_t *list, uint32_t count, tsi_is_behind *is_behind,
		   const void *context)
{
	struct order order = { .is_behind = is_behind, .context = context };
	if (count < 2)
		return;
	order.scratch = tsi_builder_new_array(b, count / 2, sizeof(*order.scratch));
	if (order.scratch)
		sort(&order, list, count);
	tsi_column_free(order.scratch);
}
