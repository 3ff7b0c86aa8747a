/* SPDX-License-Identifier: MIT */
/* Groups transfers into rows of tables. */
#include "analyze/ranks/transfer_rows.h"

#include <math.h>
#include <stdlib.h>

#include "base/sum.h"

void tsi_transfer_rows_init(struct transfer_rows *rows, const struct transfer_list *list,
			    struct arena *arena)
{
	rows->order = tsi_arena_new(arena, list->count, sizeof(*rows->order));
	rows->items = tsi_arena_new(arena, list->count, sizeof(*rows->items));
	if (!rows->items)
		return;
	rows->transfer_count = list->count;
	for (size_t i = 0; i < list->count; i++)
		rows->order[i] = &list->items[i];
}

#define COMPARE(field)                                                                             \
	do {                                                                                       \
		if (a->field != b->field)                                                          \
			return a->field < b->field ? -1 : 1;                                       \
	} while (0)

static int compare_kinds(const struct transfer *a, const struct transfer *b)
{
	COMPARE(kind);
	COMPARE(group_name);
	COMPARE(group_size);
	COMPARE(span);
	return 0;
}

static int compare_sizes(const struct transfer *a, const struct transfer *b)
{
	COMPARE(kind);
	COMPARE(dtype);
	COMPARE(group_size);
	COMPARE(span);
	COMPARE(is_on_host);
	COMPARE(bytes);
	return 0;
}

typedef int transfer_order(const struct transfer *a, const struct transfer *b);

/* Of pointers to transfers: equal ones stay in the order of matches. */
static int compare_pointers(transfer_order *compare, const void *left, const void *right)
{
	const struct transfer *const *first = left, *const *second = right;
	const struct transfer *a = *first, *b = *second;
	int order = compare(a, b);

	if (order)
		return order;
	COMPARE(match);
	return 0;
}

static int compare_by_kind(const void *left, const void *right)
{
	return compare_pointers(compare_kinds, left, right);
}

static int compare_by_size(const void *left, const void *right)
{
	return compare_pointers(compare_sizes, left, right);
}

static int compare_rows(const void *left, const void *right)
{
	const struct transfer_row *a = left, *b = right;

	if (a->transfer_ns != b->transfer_ns)
		return a->transfer_ns > b->transfer_ns ? -1 : 1;
	COMPARE(first);
	return 0;
}

/* The transfers are in an order in which those that are equal stand together. */
static void divide(struct transfer_rows *rows, transfer_order *compare)
{
	rows->count = 0;
	for (size_t i = 0; i < rows->transfer_count; i++) {
		if (i == 0 || compare(rows->order[i - 1], rows->order[i]) != 0)
			rows->items[rows->count++] = (struct transfer_row){ .first = i };
		struct transfer_row *row = &rows->items[rows->count - 1];
		row->count++;
		tsi_sum(&row->transfer_ns, rows->order[i]->transfer_ns);
	}
	if (rows->count > 0)
		qsort(rows->items, rows->count, sizeof(*rows->items), compare_rows);
}

void tsi_transfer_rows_by_kind(struct transfer_rows *rows)
{
	if (rows->transfer_count > 0)
		qsort(rows->order, rows->transfer_count, sizeof(struct transfer *),
		      compare_by_kind);
	divide(rows, compare_kinds);
}

void tsi_transfer_rows_by_size(struct transfer_rows *rows)
{
	if (rows->transfer_count > 0)
		qsort(rows->order, rows->transfer_count, sizeof(struct transfer *),
		      compare_by_size);
	divide(rows, compare_sizes);
}

struct transfer_sums tsi_transfer_sums(const struct transfer_rows *rows,
				       const struct transfer_row *row)
{
	struct transfer_sums sums = { 0 };

	for (size_t i = 0; i < row->count; i++) {
		const struct transfer *transfer = tsi_row_transfer(rows, row, i);

		if (transfer->is_synchronising) {
			tsi_sum(&sums.wait_ns, transfer->wait_ns);
			sums.wait_count += transfer->member_count;
		}
		if (transfer->bytes == NO_NUMBER)
			continue;
		tsi_sum(&sums.bytes, transfer->bytes);
		tsi_sum(&sums.sized_ns, transfer->transfer_ns);
		if (isfinite(transfer->bus_bytes)) {
			sums.bus_bytes += transfer->bus_bytes;
			sums.bus_ns += (double)transfer->transfer_ns;
		}
	}
	return sums;
}
