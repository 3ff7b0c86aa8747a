/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_MEMORY_STACK_SUMS_H
#define TSCOPE_ANALYZE_MEMORY_STACK_SUMS_H

#include "base/attributes.h"
#include "base/intern.h"

#include <stdio.h>
#include <tscope/error.h>

/* Of all texts together: a small file can refer to long ones very often. */
#define STACK_SUMS_MAX_BYTES (UINT64_C(2) << 30)

/*
 * Bytes by stack, for flame graphs: stacks of equal text are one, whichever objects of a file they
 * are.
 */
struct stack_sums {
	struct intern texts;
	int64_t *bytes; /* by id of the text */
	size_t count, capacity;
	uint64_t text_bytes;
};

/* No sums. On failure they may be deinited. */
TSI_MUST_CHECK
enum tscope_status tsi_stack_sums_init(struct stack_sums *sums, struct tscope_error *err);
void tsi_stack_sums_deinit(struct stack_sums *sums); /* fine on a zeroed struct */

/* The id of a stack, "outer;…;inner"; empty: there is none. TSCOPE_E_LIMIT. */
TSI_MUST_CHECK
enum tscope_status tsi_stack_sums_find(struct stack_sums *sums, struct str stack, uint32_t *id,
				       struct tscope_error *err);

TSI_MUST_CHECK
enum tscope_status tsi_stack_sums_add(struct stack_sums *sums, uint32_t id, int64_t bytes,
				      struct tscope_error *err);

/* Writes lines "stack bytes" in the order of the texts, but for sums of 0. TSCOPE_E_WRITE. */
TSI_MUST_CHECK
enum tscope_status tsi_stack_sums_write(FILE *out, const struct stack_sums *sums,
					struct tscope_error *err);

#endif
