/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_GATE_H
#define TSCOPE_GATE_H

#include <tscope/diff.h>
#include <tscope/rules.h>

/*
 * A gate is a condition that fails a CI job:
 *
 *	step_time.p95_ms>320	a fact, one of < <= > >= == !=, and a number; a text, true
 *				or false by == and != only
 *	DIST.STRAGGLER		a rule that must not fire
 *	straggler		distributed.slow_ranks must be empty
 *	severity>=high		no finding as severe
 *
 * A _ns fact may be named with _us, _ms or _s; bytes and times may have a unit (20GiB, 5ms);
 * "mfu" is efficiency.mfu.
 *
 * In a comparison a signed number is a change from A to B, in percent of A or in the fact's unit;
 * findings are those that only B has (or more severely); everything else refers to B:
 *
 *	step_time.mean_ms>+5%
 *	memory.peak_alloc_bytes>+200MiB
 *	mfu<-2%
 *	new-finding             any new finding
 *	severity>=high          a new one as severe
 *	step_time.p95_ms>320    B's
 */

/* TSCOPE_E_FORMAT: what is wrong with it, with the nearest name for an unknown one. */
enum tscope_status tscope_gate_check(const char *expression, struct tscope_error *err);

struct tscope_gate_result {
	const char *expression; /* as it was given: borrowed */
	bool held;
	bool is_evaluated; /* false: the input lacks the figure; the gate trips unless excused */
	/*
	 * Undecided: too few steps or ranks, or a figure that is doubtful, a bound or cut. held is
	 * false.
	 */
	bool is_inconclusive;
	/* Comparisons only: held because the change, which would trip, is within noise. */
	bool is_noise;
	bool has_reach; /* held, and the reason says what effect would have shown */
	bool has_value;
	double value;          /* of the fact, in the unit that the expression names */
	enum tscope_unit unit; /* value * scale is in this one; a scale of 0: value has no unit */
	double scale;
	char reason[256]; /* "0.31 < 0.35", "holds: 0.41" */
};

/*
 * Evaluates a gate that tscope_gate_check() takes. A missing fact trips, an unreliable one
 * leaves it undecided: silence never passes.
 */
struct tscope_gate_result tscope_gate_evaluate(const char *expression,
					       const struct tscope_analysis *analysis,
					       const struct tscope_diagnosis *diagnosis);

/* As tscope_gate_check(), for those on a comparison. */
enum tscope_status tscope_gate_check_change(const char *expression, struct tscope_error *err);

/*
 * Evaluates a gate that tscope_gate_check_change() takes. A change that can be tested over the
 * steps counts only if it is significant (step_change, fact_changes), unless ignore_significance.
 * value is the change: in percent if the expression is. Figures missing on one side trip; so do
 * gates on findings if B could not evaluate a rule that A could.
 */
struct tscope_gate_result tscope_gate_evaluate_change(const char *expression,
						      const struct tscope_diff *diff,
						      bool ignore_significance);

/*
 * A run takes what is not made of all its ranks (memory, losses, kernels and more; rules that read
 * such) from the lowest. A gate on that is to be judged by the other ranks, too.
 */
enum tscope_gate_need {
	TSCOPE_GATE_NEEDS_NO_RANK,  /* it is about the whole */
	TSCOPE_GATE_NEEDS_FACTS,    /* of each rank */
	TSCOPE_GATE_NEEDS_FINDINGS, /* likewise, and facts */
};

enum tscope_gate_need tscope_gate_need(const char *expression);
/* As above, for those on a comparison. */
enum tscope_gate_need tscope_gate_need_change(const char *expression);

/*
 * Judges such a gate by another rank, too: the worst verdict of all counts, and the reason names
 * the rank. A figure that this rank lacks is no verdict. Others stay unchanged. diagnosis may be
 * NULL if the gate needs facts only.
 */
void tscope_gate_judge_rank(struct tscope_gate_result *result, int64_t rank,
			    const struct tscope_analysis *analysis,
			    const struct tscope_diagnosis *diagnosis);

/*
 * As above, by a comparison of tscope_diff_open_rank(). A figure that both ranks lack is no
 * verdict; a change is undecided on a rank that A has not, or that is held to a trend.
 */
void tscope_gate_judge_rank_change(struct tscope_gate_result *result,
				   const struct tscope_diff *rank_diff, bool ignore_significance);

/*
 * Leaves a gate that holds undecided: the input is not whole (damaged, or without some of its ranks
 * or files), and what is missing may be what would trip it. Other gates stay unchanged.
 */
void tscope_gate_lack(struct tscope_gate_result *result, const char *why);

/*
 * Lets a gate hold that was not evaluated on one of several inputs because another input has the
 * figure. The reason says so: "not evaluated here: one snapshot". Evaluated gates stay unchanged.
 */
void tscope_gate_excuse(struct tscope_gate_result *result);

#endif
