/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_OPS_KERNEL_KIND_H
#define TSCOPE_ANALYZE_OPS_KERNEL_KIND_H

#include "model/trace/kernel_table.h"

/*
 * Kind of a kernel's computation, identified by the operator that launched it or by its own name.
 * To add a kind: see kernel_table.h.
 */

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
