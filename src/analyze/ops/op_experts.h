/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_OPS_OP_EXPERTS_H
#define TSCOPE_ANALYZE_OPS_OP_EXPERTS_H

#include "analyze/ops/op_work.h"
#include "model/trace/trace.h"

/* Are the experts of such an operator no arguments of it? vLLM calls layers by name. */
bool tsi_hides_experts(struct str name);

struct expert_sizes {
	double count, rows, tokens; /* experts; rows: tokens × experts of a token */
	double layer_bytes;         /* weights of all experts, without scales */
	double token_bytes;         /* tokens in and out */
};

/*
 * Sets the bytes of experts: of those of a token at least, if all tokens choose the same, and of as
 * many as there are rows at most. bytes is set only where these are one number.
 */
void tsi_expert_bytes(struct op_work *work, const struct expert_sizes *sizes);

/*
 * The products of such an operator by the tensors of the operators within it. Its arguments are
 * tokens [t, h] and the router's scores [t, e]; within it stand, in this order,
 *
 *	the layer up	[e, h, n] or [e, n, h]
 *	the layer down	[e, i, h] or [e, h, i]		n is i, or 2 × i with the half of a gate
 *	what is between	[…, rows, i]			rows: t × experts of a token
 *
 * where h and i of 4-bit weights are half as long, two numbers to an element. False where one of
 * these is missing, or two contradict each other. O(rows within it).
 */
bool tsi_experts_within(struct op_work *work, const struct tscope_trace *trace, uint32_t row);

#endif
