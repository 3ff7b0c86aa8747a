/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_MEMORY_STACK_SUMS_H
#define TSCOPE_ANALYZE_MEMORY_STACK_SUMS_H

#include "model/memory/named_rows.h"

#include <stdio.h>

/* Limit of the text of all stacks: a small file can refer to long ones very often. */
#define STACK_SUMS_MAX_BYTES (UINT64_C(2) << 30)

/*
 * Bytes by stack, for flame graphs: stacks of equal text are one, whichever objects of a file they
 * are. Without memory, or behind the limit, nothing is added; tsi_stack_sums_write() says so.
 */
struct stack_sums {
	struct named_rows rows; /* of int64_t: bytes */
	uint64_t text_bytes;
	struct arena arena;
};

void tsi_stack_sums_init(struct stack_sums *sums);
void tsi_stack_sums_deinit(struct stack_sums *sums);

/* Whether more can be added. */
static inline bool tsi_stack_sums_has_room(const struct stack_sums *sums)
{
	return sums->text_bytes <= STACK_SUMS_MAX_BYTES && !sums->arena.has_failed;
}

/* The row of a stack, "outer;…;inner", "": there is none; SIZE_MAX without room. */
size_t tsi_stack_sums_find(struct stack_sums *sums, struct str stack);

void tsi_stack_sums_add(struct stack_sums *sums, size_t row, int64_t bytes);

/*
 * Writes lines "stack bytes" in the order of the texts, but for sums of 0. TSCOPE_E_WRITE,
 * TSCOPE_E_LIMIT, TSCOPE_E_NOMEM.
 */
TSI_MUST_CHECK
enum tscope_status tsi_stack_sums_write(FILE *out, struct stack_sums *sums,
					struct tscope_error *err);

#endif
