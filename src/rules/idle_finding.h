/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RULES_IDLE_FINDING_H
#define TSCOPE_RULES_IDLE_FINDING_H

#include "rules/rule.h"
#include "timeline/idle_cause.h"

/*
 * Findings on idle time have one form: devices idle for a share of the mean step because of these
 * causes (facts `idle.CAUSE_ns`); the names behind them and the longest gaps are given, and all of
 * the time is claimed.
 */
enum { MAX_IDLE_CAUSES = 4 };

struct idle_claim {
	const char *causes[MAX_IDLE_CAUSES]; /* of idle.culprits and idle.gaps: "op_overhead" */
};

/* The share of the mean step that the causes take; NaN where it is not known. */
double tsi_idle_claim_share(const struct rule_context *ctx, const struct idle_claim *claim);

/*
 * Once the rule has fired: puts causes and culprits into the detail, the largest culprit into the
 * subject, the longest gaps into the places, and claims the time.
 */
void tsi_describe_idle(struct rule_context *ctx, const struct idle_claim *claim);

/*
 * Fires with the title "BEFORE 12.3 % of the stepBEHIND" where the causes take at least the
 * parameter "threshold" of the step, and names them as above. Severity follows the gain. Returns
 * whether it fired.
 */
bool tsi_judge_idle(struct rule_context *ctx, const struct idle_claim *claim, const char *before,
		    const char *behind);

/* The culprit that has half of the time of all causes, or "". */
const char *tsi_main_culprit(const struct rule_context *ctx, const struct idle_claim *claim);

/*
 * Idle time of the mean step in functions of Python that only wait, and the largest of them, which
 * stays as it is where there is none; at least, as small ones are not known.
 */
double tsi_waiting_ns(const struct rule_context *ctx, const char **largest);

/*
 * Is a row about what a culprit names: "aten::mm", "cudaMalloc in aten::empty"? The column has the
 * name, "op" the operator.
 */
bool tsi_is_call_of(const struct rule_context *ctx, const char *table, size_t row,
		    const char *column, const char *culprit);

/* Is it an operator by which a script reads a number from the device? */
bool tsi_reads_number(const char *op);

/*
 * Does the largest culprit of a cause have less than half of it? Then it is in no single place.
 * False where no culprit is known.
 */
bool tsi_is_idle_spread(const struct rule_context *ctx, const char *cause);

struct step_text {
	char chars[48];
};

/* ", most of it in step 12" where one of several steps has more than half of it, else "". */
struct step_text tsi_main_step(const struct rule_context *ctx, const struct idle_claim *claim);

/* Is the longest gap of a claim half of its idle time in a mean step? Then it is in one place. */
bool tsi_is_long_gap(const struct rule_context *ctx, const struct idle_claim *claim);

/* Is more than half of a claim's idle time in all steps one gap? Then it need not come again. */
bool tsi_is_one_gap(const struct rule_context *ctx, const struct idle_claim *claim);

/* "idle.op_overhead_ns": the idle time of a cause in a mean step. */
const char *tsi_idle_fact(enum idle_cause cause);

/* The cause of a finding on it. */
enum rule_cause tsi_rule_cause_of_idle(enum idle_cause cause);

/* The idle time of the mean step, as a share; NaN where it is not known. */
double tsi_idle_share(const struct rule_context *ctx);

/* The largest cause. */
enum idle_cause tsi_main_idle_cause(const struct rule_context *ctx);

/* Puts the causes worth a word into the detail of a finding. */
void tsi_describe_idle_causes(struct rule_context *ctx);

/* Claims the idle time of a cause, for a finding that no rule on the cause makes. */
void tsi_claim_idle_cause(struct rule_context *ctx, enum idle_cause cause);

#endif
