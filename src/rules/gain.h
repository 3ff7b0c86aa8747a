/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RULES_GAIN_H
#define TSCOPE_RULES_GAIN_H

#include "base/attributes.h"

#include <tscope/rules.h>

/*
 * Gains of findings must not add up to more than the step. Every nanosecond of the mean step lies
 * in one line of the budget, and a finding claims time of a part of a line:
 *
 *	step       |--- compute ---|- comm -|--- launch stall ---|
 *	parts       GEMM  ATTENTION  TRANSFER  PYTHON  COMPILE …
 *
 * Of two claims on one part the larger holds what the smaller asks for, too: they speak of the same
 * time. So do claims on a part and on one that holds it, which are granted last. Claims on
 * different parts add up, within what the line has.
 */
#define GAIN_PARTS(X)                                                                              \
	X(GAIN_STEP, LINE_COUNT)       /* nothing says which part: all of the step */              \
	X(GAIN_SLOW_STEPS, LINE_COUNT) /* more of any part in few steps: it holds all others */    \
	X(GAIN_COMPUTE, COMPUTE)                                                                   \
	X(GAIN_BELOW_PEAK, COMPUTE)     /* it holds all parts of compute */                        \
	X(GAIN_GEMM_SINGLE, COMPUTE)    /* products of float32 and TF32 */                         \
	X(GAIN_GEMM_UNALIGNED, COMPUTE) /* of others, of sizes that tensor cores do not take */    \
	X(GAIN_GEMM_ALIGNED, COMPUTE)                                                              \
	X(GAIN_ATTENTION, COMPUTE)                                                                 \
	X(GAIN_ELEMENTWISE, COMPUTE) /* and norms and reductions */                                \
	X(GAIN_OPTIMIZER, COMPUTE)                                                                 \
	X(GAIN_LAYOUT, COMPUTE)                                                                    \
	X(GAIN_COMM_TRANSFER, EXPOSED_COMM)                                                        \
	X(GAIN_COMM_WAIT, EXPOSED_COMM)                                                            \
	X(GAIN_COPY, EXPOSED_COPY)                                                                 \
	X(GAIN_DATA, DATA_STALL)                                                                   \
	X(GAIN_SYNC, SYNC_STALL)                                                                   \
	X(GAIN_BLOCKING_COPY, SYNC_STALL)                                                          \
	X(GAIN_LAUNCH, LAUNCH_STALL) /* launch calls and operator dispatch */                      \
	X(GAIN_PYTHON, LAUNCH_STALL)                                                               \
	X(GAIN_CALLBACK, LAUNCH_STALL)                                                             \
	X(GAIN_GC, LAUNCH_STALL)                                                                   \
	X(GAIN_PROFILER, LAUNCH_STALL)                                                             \
	X(GAIN_ALLOC, LAUNCH_STALL)                                                                \
	X(GAIN_STARTUP, LAUNCH_STALL)                                                              \
	X(GAIN_COMPILE, LAUNCH_STALL)                                                              \
	X(GAIN_PEER, LAUNCH_STALL)                                                                 \
	X(GAIN_CPU_WORK, LAUNCH_STALL)                                                             \
	X(GAIN_HOST_STALL, LAUNCH_STALL) /* pauses inside calls and operators */                   \
	X(GAIN_DEVICE_GAP, DEVICE_GAP)                                                             \
	X(GAIN_UNRECORDED, UNATTRIBUTED)

#define GAIN_PART_ID(id, line) id,
enum gain_part { GAIN_PARTS(GAIN_PART_ID) GAIN_PART_COUNT };

enum { GAIN_LINE_COUNT = TSCOPE_BUDGET_LINE_COUNT + 1, MAX_CLAIMS = 4 };

struct gain_claim {
	enum gain_part part;
	int64_t ns; /* of a mean step */
};

/* Unclaimed time of the step while claims are granted, the largest finding first. */
struct gain_ledger {
	int64_t step_ns; /* the mean step; 0: not known, and nothing limits a claim */
	int64_t step_left_ns;
	int64_t line_left_ns[GAIN_LINE_COUNT];
	int64_t granted_ns[GAIN_PART_COUNT];
	int64_t line_granted_ns[GAIN_LINE_COUNT], all_granted_ns;
};

struct gain_ledger tsi_gain_ledger(const struct tscope_analysis *analysis);

/* The part of the claims that no earlier finding was granted. */
int64_t tsi_gain_grant(struct gain_ledger *ledger, const struct gain_claim *claims, size_t count);

#endif
