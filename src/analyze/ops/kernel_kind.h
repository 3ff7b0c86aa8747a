/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_OPS_KERNEL_KIND_H
#define TSCOPE_ANALYZE_OPS_KERNEL_KIND_H

#include "base/str.h"

/*
 * What a kernel computes, told by the operator that launched it or by its own
 * name. To add a kind: a line here, its name and its patterns in kernel_kind.c,
 * cases in test_kernel_kind.c.
 */
enum kernel_kind {
	KERNEL_OTHER, /* no pattern fits */
	KERNEL_GEMM,
	KERNEL_ATTENTION,
	KERNEL_CONV,
	KERNEL_NORM,
	KERNEL_SOFTMAX,
	KERNEL_EMBEDDING, /* and indexing: gather, scatter, index_select */
	KERNEL_OPTIMIZER,
	KERNEL_MOE,
	KERNEL_SORT,
	KERNEL_COPY,
	KERNEL_REDUCTION,
	KERNEL_ELEMENTWISE,
	KERNEL_TRITON, /* generated, and the name says no more */
	KERNEL_COMM,
	KERNEL_KIND_COUNT,
};

/* Products of matrices: GEMM, attention, convolution, mixture of experts. */
bool tsi_kernel_kind_multiplies(enum kernel_kind kind);

/* "gemm", "attention" …: never NULL. */
const char *tsi_kernel_kind_name(enum kernel_kind kind);

/* By the kernel's own name. O(length × patterns): ask once for each name. */
enum kernel_kind tsi_kernel_kind_of_name(struct str kernel_name);

/* By the name of the operator that launched it; KERNEL_OTHER where that says nothing. */
enum kernel_kind tsi_kernel_kind_of_op(struct str op_name);

enum tensor_core_use { TENSOR_CORES_NOT_USED, TENSOR_CORES_USED, TENSOR_CORES_UNKNOWN };

/*
 * Whether a kernel of this kind and name runs on tensor or matrix cores. Only
 * matrix products can; of these, the names of libraries say it, while those of
 * generated code do not (unknown).
 */
enum tensor_core_use tsi_tensor_core_use(enum kernel_kind kind, struct str kernel_name);

#endif
