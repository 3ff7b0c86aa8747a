/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_GATE_CHANGE_H
#define TSCOPE_GATE_CHANGE_H

#include <tscope/gate.h>

/* Input of gates on a comparison. */
struct gate_sides {
	const struct tscope_analysis *changes; /* the comparison */
	const struct tscope_analysis *a, *b;
	const struct tscope_diagnosis *diagnoses[TSCOPE_SIDE_COUNT];
	bool is_of_rank; /* of one rank each: other findings are the run's */
};

/* As tscope_gate_evaluate_change(). */
struct tscope_gate_result tsi_gate_evaluate_change(const char *expression,
						   const struct gate_sides *sides,
						   bool ignore_significance);

#endif
