/* SPDX-License-Identifier: MIT */
/* Rows of any type by name, in an arena. */
#include "model/memory/named_rows.h"

void tsi_named_rows_init(struct named_rows *rows, size_t row_bytes, struct arena *arena)
{
	*rows = (struct named_rows){ .row_bytes = row_bytes, .arena = arena };
	if (tsi_intern_init(&rows->names, UINT32_MAX - 1, NULL) != TSCOPE_OK)
		arena->has_failed = true;
}

void tsi_named_rows_deinit(struct named_rows *rows)
{
	tsi_intern_deinit(&rows->names);
}

void *tsi_named_row(struct named_rows *rows, struct str name)
{
	uint32_t id;

	if (rows->arena->has_failed)
		return NULL;
	if (tsi_intern_add(&rows->names, name, &id, NULL) != TSCOPE_OK) {
		rows->arena->has_failed = true;
		return NULL;
	}
	if (id >= rows->count) {
		void *moved = tsi_arena_reserve(rows->arena, rows->rows, &rows->capacity,
						(size_t)id + 1, rows->row_bytes);
		if (!moved)
			return NULL;
		rows->rows = moved;
		memset(tsi_named_row_at(rows, rows->count), 0,
		       (id + 1 - rows->count) * rows->row_bytes);
		rows->count = (size_t)id + 1;
	}
	return tsi_named_row_at(rows, id);
}
