/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RULES_GAIN_H
#define TSCOPE_RULES_GAIN_H

#include "base/attributes.h"

#include <tscope/rules.h>

/*
 * What findings win back must not add up to more than the step. Every nanosecond of the mean step
 * lies in one line of the budget, and a finding claims time of a part of a line:
 *
 *	step       |--- compute ---|- comm -|--- launch stall ---|
 *	parts       GEMM  ATTENTION  TRANSFER  PYTHON  COMPILE …
 *
 * Of two claims on one part the larger holds what the smaller asks for, too: they speak of the same
 * time. Claims on different parts add up, within what the line has.
 */
enum gain_part {
	GAIN_STEP, /* nothing says which part: all of the step */
	GAIN_COMPUTE,
	GAIN_GEMM,
	GAIN_ATTENTION,
	GAIN_ELEMENTWISE, /* and norms and reductions */
	GAIN_OPTIMIZER,
	GAIN_LAYOUT,
	GAIN_COMM_TRANSFER,
	GAIN_COMM_WAIT,
	GAIN_COPY,
	GAIN_DATA,
	GAIN_SYNC,
	GAIN_BLOCKING_COPY,
	GAIN_LAUNCH, /* launch calls and dispatch of operators */
	GAIN_PYTHON,
	GAIN_CALLBACK,
	GAIN_GC,
	GAIN_PROFILER,
	GAIN_ALLOC,
	GAIN_STARTUP,
	GAIN_COMPILE,
	GAIN_PEER,
	GAIN_CPU_WORK,
	GAIN_HOST_STALL, /* pauses inside calls and operators */
	GAIN_DEVICE_GAP,
	GAIN_UNRECORDED,
	GAIN_PART_COUNT,
};

enum { GAIN_LINE_COUNT = TSCOPE_BUDGET_LINE_COUNT + 1, MAX_CLAIMS = 4 };

struct gain_claim {
	enum gain_part part;
	int64_t ns; /* of a mean step */
};

/* What is left of the step while claims are granted, the largest finding first. */
struct gain_ledger {
	int64_t step_ns; /* the mean step; 0: not known, and nothing limits a claim */
	int64_t step_left_ns;
	int64_t line_left_ns[GAIN_LINE_COUNT];
	int64_t granted_ns[GAIN_PART_COUNT];
};

struct gain_ledger tsi_gain_ledger(const struct tscope_analysis *analysis);

/* The part of the claims that no earlier finding was granted. */
int64_t tsi_gain_grant(struct gain_ledger *ledger, const struct gain_claim *claims, size_t count);

#endif
