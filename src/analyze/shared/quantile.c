/* SPDX-License-Identifier: MIT */
/*
 * Order statistics of nanoseconds, in integers: what several analyzers need to
 * know of a list of durations.
 */
#include "analyze/shared/quantile.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/sort.h"

enum tscope_status tsi_sort_ns(int64_t *numbers, size_t count, struct tscope_error *err)
{
	int64_t *scratch;

	if (tsi_array_new(&scratch, count, sizeof(*scratch), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	tsi_sort_numbers(numbers, scratch, count);
	free(scratch);
	return TSCOPE_OK;
}

int64_t tsi_quantile_ns(const int64_t *sorted, size_t count, unsigned percent)
{
	if (count == 0)
		return 0;

	/* The place (count - 1) × percent ÷ 100 lies `part` hundredths behind `below`. */
	size_t place = (count - 1) * percent;
	size_t below = place / 100;
	int64_t part = (int64_t)(place % 100);
	if (part == 0)
		return sorted[below];

	/* In two steps, so that no product of a long time and `part` overflows. */
	int64_t gap = sorted[below + 1] - sorted[below];
	return sorted[below] + gap / 100 * part + (gap % 100 * part + 50) / 100;
}

int64_t tsi_find_quantile_ns(int64_t *numbers, size_t count, unsigned percent)
{
	if (count == 0)
		return 0;
	size_t below = (count - 1) * percent / 100, next = below + 1;
	tsi_select_number(numbers, count, below);
	for (size_t i = next; i < count; i++) {
		if (numbers[i] < numbers[next]) {
			int64_t least = numbers[i];
			numbers[i] = numbers[next];
			numbers[next] = least;
		}
	}
	return tsi_quantile_ns(numbers, count, percent);
}

double tsi_quantile(const int64_t *sorted, size_t count, unsigned percent)
{
	if (count == 0)
		return 0;

	size_t place = (count - 1) * percent;
	size_t below = place / 100, above = (place + 99) / 100;
	double gap = (double)sorted[above] - (double)sorted[below];
	return (double)sorted[below] + gap * (double)(place % 100) / 100;
}
