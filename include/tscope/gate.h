/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_GATE_H
#define TSCOPE_GATE_H

#include <tscope/diff.h>
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
 * A _ns fact may be named with _us, _ms or _s; numbers of bytes and times may end in their unit,
 * 20GiB, 5ms; "mfu" is efficiency.mfu.
 *
 * Of a comparison a signed number is a change from A to B, in percent of A or in the
 * fact's unit; findings are those that B has and A has not (or not as severe); all else is of B:
 *
 *	step_time.mean_ms>+5%
 *	memory.peak_alloc_bytes>+200MiB
 *	mfu<-2%
 *	new-finding             any new finding
 *	severity>=high          a new one as severe
 *	step_time.p95_ms>320    B's
 */

/* TSCOPE_E_FORMAT: what is wrong with it, with the nearest name for one that is not known. */
enum tscope_status tscope_gate_check(const char *expression, struct tscope_error *err);

struct tscope_gate_result {
	const char *expression; /* as it was given: borrowed */
	bool held;
	bool is_evaluated; /* false: the input does not tell, and it trips, unless excused */
	/*
	 * Of a comparison: too few steps to tell chance from change. held is false; the exit code
	 * heeds it with --strict only.
	 */
	bool is_inconclusive;
	/* Of a comparison: held, since what was measured would trip but is no more than noise. */
	bool is_noise;
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

/* As tscope_gate_check(), for those on a comparison. */
enum tscope_status tscope_gate_check_change(const char *expression, struct tscope_error *err);

/*
 * Evaluates a gate that tscope_gate_check_change() takes. A change of a figure that can be tested
 * over the steps counts as none where it is not significant (step_change, fact_changes), unless
 * ignore_significance. value is the change: in percent where the expression is. What one side does
 * not tell trips; so do gates on findings where B cannot tell of a rule that A could tell of.
 */
struct tscope_gate_result tscope_gate_evaluate_change(const char *expression,
						      const struct tscope_diff *diff,
						      bool ignore_significance);

/*
 * Lets a gate that was not evaluated hold: for one of several inputs, where another one tells
 * what is asked. The reason says so: "not evaluated here: one snapshot". One that was evaluated
 * stays as it is.
 */
void tscope_gate_excuse(struct tscope_gate_result *result);

#endif
