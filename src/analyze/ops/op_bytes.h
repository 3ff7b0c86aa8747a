/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_OPS_OP_BYTES_H
#define TSCOPE_ANALYZE_OPS_OP_BYTES_H

#include "analyze/ops/op_inputs.h"
#include "analyze/ops/op_work.h"

/*
 * Operators that multiply no matrices: activations, norms, reductions, copies,
 * lookups. Memory limits them, so what they must move is all that is asked.
 *
 * OP_WORK_NO_INPUTS where the call lacks sizes and types of what is read and
 * written. Lists of tensors (cat, _foreach_*, fused optimizers) have no rows, as
 * traces do not say their types.
 */
enum op_work_result tsi_op_bytes(struct op_work *work, struct str name, const struct op_call *call);

#endif
