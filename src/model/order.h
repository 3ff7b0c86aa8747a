/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_ORDER_H
#define TSCOPE_MODEL_ORDER_H

#include "base/sort.h"
#include "model/trace.h"

/*
 * Sorts pairs whose value is a row, already in the order of rows or of the
 * file, by key; of equal keys, by second(trace, row); what is equal in both
 * stays as it was. O(count), also where all keys are equal. scratch as for
 * tsi_sort_pairs().
 */
void tsi_sort_rows(struct sort_pair *items, struct sort_pair *scratch, size_t count,
		   const struct tscope_trace *trace,
		   uint64_t (*second)(const struct tscope_trace *trace, uint32_t row));

#endif
