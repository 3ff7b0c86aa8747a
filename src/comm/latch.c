/* SPDX-License-Identifier: MIT */
/* Calls that may run out of memory, for code that asks its arena about that at the end. */
#include "comm/latch.h"

#include <string.h>

#include "base/bisect.h"
#include "base/column.h"

uint32_t tsi_latch_text(struct arena *arena, struct intern *set, struct str text)
{
	uint32_t id = 0;

	if (arena->has_failed)
		return 0;
	arena->has_failed =
		(!set->slots && tsi_intern_init(set, UINT32_MAX - 1, NULL) != TSCOPE_OK) ||
		tsi_intern_add(set, text, &id, NULL) != TSCOPE_OK;
	return id;
}

/* NULL where one item or none is to be sorted, and without memory. */
static void *sort_room(struct arena *arena, size_t count, size_t item_bytes)
{
	void *scratch = NULL;

	if (count > 1 && !tsi_column_make(&scratch, arena->spill, count, item_bytes))
		arena->has_failed = true;
	return scratch;
}

void tsi_latch_sort(struct arena *arena, struct sort_pair *items, size_t count)
{
	struct sort_pair *scratch = sort_room(arena, count, sizeof(*scratch));

	if (scratch)
		tsi_sort_pairs(items, scratch, count);
	tsi_column_free(scratch);
}

void tsi_latch_sort_numbers(struct arena *arena, int64_t *items, size_t count)
{
	int64_t *scratch = sort_room(arena, count, sizeof(*scratch));

	if (scratch)
		tsi_sort_numbers(items, scratch, count);
	tsi_column_free(scratch);
}

uint32_t *tsi_latch_rows(struct arena *arena, size_t count)
{
	uint32_t *rows = tsi_arena_new(arena, count, sizeof(*rows));

	if (rows)
		memset(rows, 0xff, count * sizeof(*rows));
	return rows;
}

void tsi_latch_deinit(struct arena *arena, struct arena *scratch)
{
	arena->has_failed |= scratch->has_failed;
	tsi_arena_deinit(scratch);
}

size_t tsi_count_up_to(const struct sort_pair *pairs, size_t count, uint64_t key)
{
	size_t first = 0, end = count;

	TSI_BISECT(first, end, pairs[middle].key <= key);
	return first;
}
