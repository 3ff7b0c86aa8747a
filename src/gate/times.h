/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_GATE_TIMES_H
#define TSCOPE_GATE_TIMES_H

#include "gate/expression.h"

/* Whether the fact is that of a phase which no step record has: its 0 is no figure. */
bool tsi_gate_is_unrecorded(const struct gate_expression *gate,
			    const struct tscope_analysis *analysis);

/*
 * Makes a verdict that rests on times of steps undecided where it held, but steps were left out, or
 * there are too few, or no step has a phase that it reads: for those it may not hold.
 */
void tsi_gate_judge_times(struct tscope_gate_result *result, const struct gate_expression *gate,
			  const struct tscope_analysis *analysis);

#endif
