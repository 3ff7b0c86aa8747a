/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_OP_CHECK_H
#define TSCOPE_TESTS_OP_CHECK_H

#include "analyze/ops/op_work.h"

/*
 * Calls of operators and what they compute and move. Write the arithmetic, so that
 * a reader sees where a figure comes from: 2 for each multiplication with its addition.
 *
 *	{ "aten::mm", "[[8, 128], [128, 64]] float, float", "", 2.0 * 8 * 64 * 128,
 *	  4.0 * (8 * 128 + 128 * 64 + 8 * 64), FP32, 16 },
 */
struct op_case {
	const char *name, *signature, *concrete;
	double flops, bytes; /* bytes NAN: not known */
	int precision;       /* enum tscope_precision, by its short name below */
	unsigned alignment;
};

enum {
	FP64 = TSCOPE_PRECISION_FP64,
	FP32 = TSCOPE_PRECISION_FP32,
	FP16 = TSCOPE_PRECISION_FP16,
	BF16 = TSCOPE_PRECISION_BF16,
	FP8 = TSCOPE_PRECISION_FP8,
	INT8 = TSCOPE_PRECISION_INT8,
	FP4 = TSCOPE_PRECISION_FP4,
	UNKNOWN = TSCOPE_PRECISION_UNKNOWN,
};

/* If the formula reads values, the model must keep them: tsi_needs_concrete(). */
void check_needs_concrete(const char *name, const char *signature, const char *concrete);

void check_op_cases(const struct op_case *cases, size_t count, enum kernel_kind kind);

#endif
