/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_GATE_H
#define TSCOPE_GATE_H

#include <tscope/rules.h>

/*
 * Gates let a CI job fail. A gate says what must not be:
 *
 *	step_time.p95_ms>320	a fact, one of < <= > >= == !=, and a number; a text, true
 *				or false by == and != only
 *	DIST.STRAGGLER		a rule that must not fire
 *	straggler		distributed.straggler or slow_ranks
 *	severity>=high		no finding as severe
 *
 * A _ns fact may be named with _us, _ms or _s; "mfu" is efficiency.mfu.
 */

/* TSCOPE_E_FORMAT: what is wrong with it, with the nearest name for one that is not known. */
enum tscope_status tscope_gate_check(const char *expression, struct tscope_error *err);

struct tscope_gate_result {
	const char *expression; /* as it was given: borrowed */
	bool held;
	bool is_evaluated; /* false: the input does not tell, and it trips, unless excused */
	bool has_value;
	double value;     /* of the fact, in the unit that the expression names */
	char reason[256]; /* "0.31 < 0.35", "holds: 0.41" */
};

/*
 * Evaluates a gate that tscope_gate_check() takes. A fact that the input cannot
 * yield, or that is not to be believed, trips: silence never passes.
 */
struct tscope_gate_result tscope_gate_evaluate(const char *expression,
					       const struct tscope_analysis *analysis,
					       const struct tscope_diagnosis *diagnosis);

/*
 * Lets a gate that was not evaluated hold: for one of several inputs, where another one tells
 * what is asked. The reason says so: "not evaluated here: one snapshot". One that was evaluated
 * stays as it is.
 */
void tscope_gate_excuse(struct tscope_gate_result *result);

#endif
