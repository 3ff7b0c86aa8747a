/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_MEMORY_NAMED_ROWS_H
#define TSCOPE_MODEL_MEMORY_NAMED_ROWS_H

#include "base/arena.h"
#include "base/intern.h"

/*
 * Rows by name, such as sums by allocation site: equal names share a row. Rows lie in an arena,
 * whose failure is theirs.
 */
struct named_rows {
	struct intern names; /* id: index of the row; row 0 is that of "" */
	void *rows;
	size_t count, capacity, row_bytes;
	struct arena *arena;
};

/* No rows. */
void tsi_named_rows_init(struct named_rows *rows, size_t row_bytes, struct arena *arena);
void tsi_named_rows_deinit(struct named_rows *rows); /* frees the names */

/* The row of a name; a new one is zeroed. NULL without memory. Moves when more are added. */
void *tsi_named_row(struct named_rows *rows, struct str name);

/* A row by index, which is also the id of its name. */
static inline void *tsi_named_row_at(const struct named_rows *rows, size_t index)
{
	return (char *)rows->rows + index * rows->row_bytes;
}

#endif
