/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_GATE_EVALUATE_H
#define TSCOPE_GATE_EVALUATE_H

#include "gate/expression.h"

/* What gates on facts and gates on changes have in common. */

/* Sets verdict and reason; a reason that is too long is cut. */
TSI_PRINTF(3, 4)
void tsi_gate_judge(struct tscope_gate_result *result, bool held, const char *reason, ...);

/* Is it so, where `order` is below, at or above 0 as the left side is to the right one? */
bool tsi_gate_is_so(int order, enum gate_comparison comparison);

/*
 * All digits of an integer; of other numbers six, or as many as it takes to tell the value from
 * the bound: never "0.35 < 0.35".
 */
enum { GATE_NUMBER_MAX = 40 };
void tsi_gate_number_text(char text[GATE_NUMBER_MAX], double value, double bound);

/* Trips for want of a fact: it was not evaluated. */
void tsi_gate_judge_unknown(struct tscope_gate_result *result, size_t analyzer, const char *fact);

void tsi_gate_judge_fact(struct tscope_gate_result *result, const struct gate_expression *gate,
			 const struct tscope_analysis *analysis);
void tsi_gate_judge_rule(struct tscope_gate_result *result, const struct tscope_rule_def *rule,
			 const struct tscope_diagnosis *diagnosis);
void tsi_gate_judge_straggler(struct tscope_gate_result *result,
			      const struct tscope_analysis *analysis);

#endif
