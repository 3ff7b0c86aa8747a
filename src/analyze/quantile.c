/* SPDX-License-Identifier: MIT */
/*
 * Order statistics of nanoseconds, in integers: what several analyzers need to
 * know of a list of durations.
 */
#include "analyze/quantile.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/sort.h"

enum tscope_status tsi_sort_ns(int64_t *numbers, size_t count, struct tscope_error *err)
{
	struct sort_pair *pairs = NULL, *scratch = NULL;
	enum tscope_status status = tsi_array_new(&pairs, count, sizeof(*pairs), err);

	if (status == TSCOPE_OK)
		status = tsi_array_new(&scratch, count, sizeof(*scratch), err);
	if (status == TSCOPE_OK) {
		for (size_t i = 0; i < count; i++)
			pairs[i] = (struct sort_pair){
				.key = tsi_sort_key_of_int64(numbers[i]),
				.value = (uint64_t)numbers[i],
			};
		tsi_sort_pairs(pairs, scratch, count);
		for (size_t i = 0; i < count; i++)
			numbers[i] = (int64_t)pairs[i].value;
	}
	free(pairs);
	free(scratch);
	return status;
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

double tsi_quantile(const int64_t *sorted, size_t count, unsigned percent)
{
	if (count == 0)
		return 0;

	size_t place = (count - 1) * percent;
	size_t below = place / 100, above = (place + 99) / 100;
	double gap = (double)sorted[above] - (double)sorted[below];
	return (double)sorted[below] + gap * (double)(place % 100) / 100;
}
