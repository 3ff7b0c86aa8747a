/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_OPS_KERNEL_PRECISION_H
#define TSCOPE_ANALYZE_OPS_KERNEL_PRECISION_H

#include "analyze/ops/kernel_kind.h"

#include <tscope/device.h>

/*
 * The type of the operands of a matrix kernel, identified by its name. To add one: see
 * kernel_table.h.
 */

/* TSCOPE_PRECISION_UNKNOWN where the name does not say. O(length × rows): ask once a name. */
enum tscope_precision tsi_kernel_precision(struct str kernel_name);

/*
 * FP32 or TF32: how a kernel of this kind multiplies operands of type float; said: the precision
 * of its name. Where that does not say, as PyTorch does by default: convolutions are
 * rounded to TF32 (cudnn.allow_tf32), products are not (matmul.allow_tf32).
 * AMD's matrix cores multiply plain float32, so only "xf32" in a name means TF32 there.
 */
enum tscope_precision tsi_float_precision(enum kernel_kind kind, struct str kernel_name,
					  enum tscope_precision said);

#endif
