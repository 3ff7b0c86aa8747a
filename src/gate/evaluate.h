/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_GATE_EVALUATE_H
#define TSCOPE_GATE_EVALUATE_H

#include "gate/expression.h"

/* Shared by gates on facts and gates on changes. */

/* Sets verdict and reason; cuts a reason that is too long. */
TSI_PRINTF(3, 4)
void tsi_gate_judge(struct tscope_gate_result *result, bool held, const char *reason, ...);

/* order: <0, 0 or >0 as the left operand is less than, equal to or greater than the right. */
bool tsi_gate_satisfies(int order, enum gate_comparison comparison);

/*
 * All digits of an integer; of other numbers six, or as many as it takes to distinguish the value
 * from the bound: never "0.35 < 0.35".
 */
enum { GATE_NUMBER_MAX = 40 };
void tsi_gate_number_text(char text[GATE_NUMBER_MAX], double value, double bound);

/* Trips the gate because a fact is missing: it was not evaluated. */
void tsi_gate_judge_unknown(struct tscope_gate_result *result, size_t analyzer, const char *fact);

void tsi_gate_judge_fact(struct tscope_gate_result *result, const struct gate_expression *gate,
			 const struct tscope_analysis *analysis);
void tsi_gate_judge_rule(struct tscope_gate_result *result, const struct tscope_rule_def *rule,
			 const struct tscope_diagnosis *diagnosis);
/* Neither held nor tripped: the reason begins with "inconclusive". */
void tsi_gate_judge_undecided(struct tscope_gate_result *result, const char *reason);

enum tscope_gate_need tsi_gate_need(const struct gate_expression *gate);
/* Whether a rule reads a figure that a run takes from its lowest rank. */
bool tsi_gate_reads_one_rank(const struct tscope_rule_def *rule);
/* Takes over the verdict on another rank if it is worse. */
void tsi_gate_add_rank(struct tscope_gate_result *result, int64_t rank,
		       struct tscope_gate_result own);

void tsi_gate_judge_straggler(struct tscope_gate_result *result,
			      const struct tscope_analysis *analysis);

#endif
