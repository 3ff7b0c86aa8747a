/* SPDX-License-Identifier: MIT */
/*
 * Sorting rows by two keys: by the first, then within each run that is equal
 * in it by the second. Runs are rare and short in real traces, so the second
 * key is hardly ever computed.
 */
#include "model/order.h"

static void sort_run(struct sort_pair *items, struct sort_pair *scratch, size_t count,
		     const struct tscope_trace *trace,
		     uint64_t (*second)(const struct tscope_trace *trace, uint32_t row))
{
	uint64_t first_key = items[0].key;
	for (size_t i = 0; i < count; i++)
		items[i].key = second(trace, (uint32_t)items[i].value);
	tsi_sort_pairs(items, scratch, count);
	for (size_t i = 0; i < count; i++)
		items[i].key = first_key;
}

void tsi_sort_rows(struct sort_pair *items, struct sort_pair *scratch, size_t count,
		   const struct tscope_trace *trace,
		   uint64_t (*second)(const struct tscope_trace *trace, uint32_t row))
{
	tsi_sort_pairs(items, scratch, count);
	for (size_t start = 0, end; start < count; start = end) {
		for (end = start + 1; end < count && items[end].key == items[start].key;)
			end++;
		if (end - start > 1)
			sort_run(items + start, scratch, end - start, trace, second);
	}
}
