/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_OPS_OP_ELEMENTWISE_H
#define TSCOPE_ANALYZE_OPS_OP_ELEMENTWISE_H

#include "analyze/ops/op_inputs.h"

/*
 * Operators that compute each element by itself: operands of different sizes are
 * stretched over each other, and PyTorch's rules of promotion give the type of the
 * result. They need more than the trace says where a number or a tensor of one
 * element is of a higher kind than the others (2.5 and integers): then it is unknown.
 */
enum elementwise_result {
	RESULT_PROMOTED, /* of the type that the operands have together */
	RESULT_FLOAT,    /* the same, of floats; of integers it would depend on settings */
	RESULT_BOOL,
};

/* Bytes of the operands (arguments, as a set of bits) and of the result; NAN: not known. */
double tsi_elementwise_bytes(const struct op_call *call, unsigned operands,
			     enum elementwise_result result);

/*
 * Bytes of a tensor; 0 for a number and for what is absent; NAN for a tensor of
 * unknown size or type.
 */
double tsi_argument_bytes(const struct op_call *call, unsigned index);

bool tsi_type_is_float(struct str type);

#endif
