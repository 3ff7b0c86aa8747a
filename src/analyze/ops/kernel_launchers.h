/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_OPS_KERNEL_LAUNCHERS_H
#define TSCOPE_ANALYZE_OPS_KERNEL_LAUNCHERS_H

#include "base/pair_set.h"
#include "model/trace/trace.h"

/*
 * Kernels by name and by the operator, with its inputs, that launched them: what a kernel of
 * another name may have come in the place of.
 */
struct launched {
	int64_t count, ns;
};

struct kernel_launchers {
	const struct tscope_trace *trace;
	struct pair_set operators; /* (name, signature); ids of texts, 0: none, or not recorded */
	struct pair_set kernels;   /* (name, number of its operator) */
	struct launched *launched; /* by number of the kernel */
	size_t capacity;
};

void tsi_kernel_launchers_init(struct kernel_launchers *launchers, const struct tscope_trace *trace,
			       struct arena *arena);
void tsi_kernel_launchers_deinit(struct kernel_launchers *launchers);

TSI_MUST_CHECK
enum tscope_status tsi_kernel_launchers_add(struct kernel_launchers *launchers, uint32_t row,
					    struct tscope_error *err);

#endif
