/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_OPS_KERNEL_VOTE_H
#define TSCOPE_ANALYZE_OPS_KERNEL_VOTE_H

#include "analyze/ops/kernel_kind.h"
#include "base/arena.h"
#include "model/trace/trace.h"

enum { NO_KERNEL = KERNEL_KIND_COUNT };

/*
 * The kind of each kernel name of a trace: that of most of its time, as the
 * operators that launched it see it; where these say nothing, that of the name.
 * By name id: enum kernel_kind, or NO_KERNEL. NULL without memory.
 */
uint8_t *tsi_kernel_kinds(const struct tscope_trace *trace, struct arena *arena);

#endif
