/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_OPS_KERNEL_VOTE_H
#define TSCOPE_ANALYZE_OPS_KERNEL_VOTE_H

#include "analyze/ops/kernel_kind.h"
#include "model/trace/trace.h"

/*
 * The kind of each kernel name of a trace: that of most of its time, as the
 * operators that launched it see it; where these say nothing, that of the name.
 *
 *	status = tsi_kernel_vote_init(&vote, trace, err);
 *	for (each kernel)
 *		tsi_kernel_vote_add(&vote, row);
 *	tsi_kernel_vote_settle(&vote);
 *	... vote.kinds[name]
 *	tsi_kernel_vote_deinit(&vote);
 */
struct kernel_vote {
	const struct tscope_trace *trace;
	/*
	 * By name id. Until it is settled: what is ahead in a vote in which other
	 * kinds take back its nanoseconds. NO_KERNEL: no kernel has this name.
	 */
	uint8_t *kinds;
	int64_t *lead_ns;
	uint8_t *kind_of_op; /* by name id: kind + 1; 0: not asked yet */
};

enum { NO_KERNEL = KERNEL_KIND_COUNT };

TSI_MUST_CHECK
enum tscope_status tsi_kernel_vote_init(struct kernel_vote *vote, const struct tscope_trace *trace,
					struct tscope_error *err);
void tsi_kernel_vote_deinit(struct kernel_vote *vote); /* fine on a zeroed one */

/*
 * The same of all kernels of a trace: by name id, enum kernel_kind or NO_KERNEL. The caller frees
 * it with free().
 */
TSI_MUST_CHECK
enum tscope_status tsi_kernel_kinds_new(uint8_t **kinds, const struct tscope_trace *trace,
					struct tscope_error *err);

/* row: a span of class TSCOPE_SPAN_KERNEL or _COMM. */
void tsi_kernel_vote_add(struct kernel_vote *vote, uint32_t row);
void tsi_kernel_vote_settle(struct kernel_vote *vote);

#endif
