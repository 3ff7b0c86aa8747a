/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_OPS_OP_WALK_H
#define TSCOPE_ANALYZE_OPS_OP_WALK_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flops_count; /* flops_count.h */
struct op_kind;     /* op_sums.h */

/*
 * The one walk over the operators (cpu_op) of a trace as they enclose each other, thread by
 * thread: an operator opens before those within it, and ends after them. It fills the sums of
 * operators (op_sums.h) and drives the counting of FLOPs (flops_count.h) of those in which device
 * work was launched, which are few.
 *
 * An operator that crosses the end of the one that encloses its start is a child up to there, and
 * takes no time from the parent beyond.
 */
struct open_op {
	int64_t dur_ns;
	int64_t end_ns;       /* its own, or that of one around it, if earlier */
	int64_t children_ns;  /* what operators directly in it take of its time */
	int64_t device_ns;    /* of what was launched in it, up to now */
	struct op_kind *kind; /* in op_sums.kinds */
	uint32_t *open_at;    /* where the outermost of its name stands on the stack, or 0 */
	uint32_t row;
	uint32_t step;     /* that it began in, if that counts; or NO_ROW */
	uint32_t launcher; /* its rank in flops_count.launcher_rows, or NO_ROW: it is none */
	uint32_t node;     /* of the counting of FLOPs, or NO_NODE */
};

#define NO_NODE UINT32_MAX

/* The first stands for the thread: it has no node, and never ends. */
struct op_stack {
	struct open_op *open; /* each within the one before */
	size_t depth;         /* with the thread's: at least 1 */
	bool is_autograd;     /* the thread is one of the backward pass */
};

void tsi_walk_ops(struct flops_count *c);

#endif
