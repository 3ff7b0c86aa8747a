/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_OPS_OP_FORMULAS_H
#define TSCOPE_ANALYZE_OPS_OP_FORMULAS_H

#include "analyze/ops/op_inputs.h"
#include "analyze/ops/op_work.h"

/*
 * Operators that multiply, by family: a table of names, each with where its
 * arguments stand, and the formula that they share.
 *
 * To add one: a row in the table of its family, a case in test_op_gemm.c, _conv.c or
 * _attention.c; "Input Dims" of a real trace says where the arguments stand. One that
 * reads values must be among concrete_names in model/trace/classify.c, else it gets none.
 */

/*
 * Computes the work of a call of this name, work->kind too. OP_WORK_NO_MODEL where the family has
 * no such name. Sizes that contradict each other are OP_WORK_NO_INPUTS.
 */
typedef enum op_work_result op_formulas(struct op_work *work, struct str name,
					const struct op_call *call);
op_formulas tsi_gemm_work, tsi_conv_work, tsi_attention_work;

enum { OP_NAME_SIZE = 64 }; /* longer than any name in a table */

/*
 * Is it the name of this row? An operator is held against two hundred of them, and most have none:
 * the last letter differs in nearly all. Names stand in their rows, so that it is at hand.
 */
static inline bool tsi_is_op_named(struct str name, const char wanted[OP_NAME_SIZE])
{
	return name.length > 0 && name.length < OP_NAME_SIZE &&
	       wanted[name.length - 1] == name.data[name.length - 1] &&
	       tsi_str_equal(name, tsi_str_of(wanted));
}

/* For the names that share an answer and need no table of their own. */
bool tsi_is_among(struct str name, const char (*names)[OP_NAME_SIZE], size_t count);

/* Bytes of so many elements of this type; NAN where it is not known. */
double tsi_elements_bytes(double elements, struct str type);

/* Precision of both operands if equal, else unknown. */
enum tscope_precision tsi_pair_precision(const struct tensor *a, const struct tensor *b);

/* FLOPs of a multiplication with its addition: 2, of complex numbers 8. */
double tsi_flops_per_product(const struct tensor *a);

/* op_work.alignment of these sizes. */
unsigned tsi_alignment(const int64_t *sizes, size_t count);

#endif
