/* SPDX-License-Identifier: MIT */
/* Order statistics of durations, in integers. */
#include "analyze/shared/quantile.h"

#include "base/sort.h"

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
