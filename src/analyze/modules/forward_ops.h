/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_MODULES_FORWARD_OPS_H
#define TSCOPE_ANALYZE_MODULES_FORWARD_OPS_H

#include "analyze/modules/places.h"

/*
 * The forward operators of nodes of the backward pass. A thread counts the nodes that it makes:
 * all operators up to the making of one have the same sequence number, and the last of them made
 * it. Nodes say the number, and that of the thread by torch's own count.
 */
struct forward_ops;

/* NULL without memory. */
struct forward_ops *tsi_forward_ops_new(const struct tscope_trace *trace, struct arena *arena);

/* Where an operator is that autograd records. */
void tsi_forward_ops_add(struct forward_ops *ops, uint32_t row, struct op_sequence sequence,
			 struct place place);

/* Where that of a node is, if it was added. */
bool tsi_forward_ops_find(const struct forward_ops *ops, uint32_t row, struct op_sequence sequence,
			  struct place *place);

#endif
