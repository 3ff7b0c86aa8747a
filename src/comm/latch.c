/* SPDX-License-Identifier: MIT */
/* Calls that may run out of memory, for code that asks its arena about that at the end. */
#include "comm/latch.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"

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

void tsi_latch_sort(struct arena *arena, struct sort_pair *items, size_t count)
{
	struct sort_pair *scratch = count > 1 ? malloc(count * sizeof(*scratch)) : NULL;

	if (scratch)
		tsi_sort_pairs(items, scratch, count);
	else if (count > 1)
		arena->has_failed = true;
	free(scratch);
}

void tsi_latch_sort_numbers(struct arena *arena, int64_t *items, size_t count)
{
	int64_t *scratch = count > 1 ? malloc(count * sizeof(*scratch)) : NULL;

	if (scratch)
		tsi_sort_numbers(items, scratch, count);
	else if (count > 1)
		arena->has_failed = true;
	free(scratch);
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
