/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RULES_RULE_H
#define TSCOPE_RULES_RULE_H

#include "base/attributes.h"

#include <tscope/rules.h>

/*
 * A rule has an opinion on facts and computes nothing else.
 *
 * To add one: write rule_<name>.c with a `const struct rule tsi_rule_<name>`,
 * add RULE(<name>, "<ID>") to rule_list.h, the file to meson.build and cases to
 * tests/unit/test_rules_<group>.c: fires, quiet, exactly at the threshold. Its
 * entry in man/tscope-rules.7 is written by tests/lint/check_rules.py --update.
 *
 *	static void evaluate(struct rule_context *ctx)
 *	{
 *		double ratio = tsi_rule_real(ctx, "step_time.phase.data_ratio");
 *
 *		if (ratio < tsi_rule_parameter(ctx, "threshold"))
 *			return;
 *		tsi_rule_fire(ctx, tsi_rule_grade(ctx, ratio),
 *			      "waiting for data takes %.1f %% of the step", 100 * ratio);
 *		tsi_rule_evidence(ctx, "step_time.phase.data_ratio");
 *		tsi_rule_recoverable(ctx, tsi_rule_int(ctx, "step_time.phase.data_ns"));
 *		tsi_rule_cause(ctx, CAUSE_DATA);
 *	}
 */
struct rule_context;

/* What findings are about: of those with one cause only one is told. */
enum rule_cause {
	CAUSE_OWN, /* the rule's alone */
	CAUSE_DATA,
	CAUSE_COMM,
	CAUSE_SLOW_RANK,
	CAUSE_LAUNCH,
	CAUSE_SYNC,
	CAUSE_COPY,
	CAUSE_IDLE,
	CAUSE_TRACE,
	CAUSE_FRAGMENTATION,
};

struct rule {
	struct tscope_rule_def def;
	/*
	 * Called only where all of def.facts are there and reliable. Fires at most
	 * once.
	 */
	void (*evaluate)(struct rule_context *ctx);
};

const struct tscope_analysis *tsi_rule_analysis(const struct rule_context *ctx);

/* A parameter of this rule, as the user changed it. */
double tsi_rule_parameter(const struct rule_context *ctx, const char *name);

/* HIGH from the parameter "high" on, else MED. */
enum tscope_severity tsi_rule_grade(const struct rule_context *ctx, double value);

/* Facts of the run: absent ones read as 0 (int), NaN (real; integers are converted), false, "". */
bool tsi_rule_has(const struct rule_context *ctx, const char *fact);
int64_t tsi_rule_int(const struct rule_context *ctx, const char *fact);
double tsi_rule_real(const struct rule_context *ctx, const char *fact);
bool tsi_rule_flag(const struct rule_context *ctx, const char *fact);
const char *tsi_rule_text(const struct rule_context *ctx, const char *fact);

/* Rows and cells of a table of the run ("distributed.slow_ranks"). */
size_t tsi_rule_rows(const struct rule_context *ctx, const char *table);
struct tscope_value tsi_rule_cell(const struct rule_context *ctx, const char *table, size_t row,
				  const char *column);

/* A value as a real number: integers are converted, what is no number is NaN. */
double tsi_value_real(struct tscope_value value);

/* A value as text: "" for what is none. */
static inline const char *tsi_value_text(struct tscope_value value)
{
	return value.kind == TSCOPE_VALUE_TEXT ? value.text : "";
}

/* For titles and details, which speak of milliseconds. */
static inline double tsi_ms(int64_t ns)
{
	return (double)ns / 1e6;
}

/* Instead of a finding: the facts are there, but do not suffice ("9 steps: it needs 10"). */
TSI_PRINTF(2, 3)
void tsi_rule_skip(struct rule_context *ctx, const char *reason, ...);

/* The same where a fact is absent, else true: for one that serves even where it is in doubt. */
bool tsi_rule_needs(struct rule_context *ctx, const char *fact);

/* The same where it is absent or in doubt: for one that def.facts cannot name, others may serve. */
bool tsi_rule_trusts(struct rule_context *ctx, const char *fact);

/* Why a fact must not be believed, or NULL: for one that says so, or has others to go by. */
const char *tsi_rule_doubt(const struct rule_context *ctx, const char *fact);

/* The finding. Later calls add to it; before it they are errors of ours. */
TSI_PRINTF(3, 4)
void tsi_rule_fire(struct rule_context *ctx, enum tscope_severity severity, const char *title, ...);
/* A second detail follows the first after a semicolon. */
TSI_PRINTF(2, 3)
void tsi_rule_detail(struct rule_context *ctx, const char *format, ...);
void tsi_rule_advice(struct rule_context *ctx,
		     const char *advice); /* instead of def.advice; static */
/* A fact that is absent is left out. */
void tsi_rule_evidence(struct rule_context *ctx, const char *fact);
void tsi_rule_recoverable(struct rule_context *ctx, int64_t ns_per_step);
/* The same by simulation of the run: estimates of rules with the same cause do not replace it. */
void tsi_rule_simulated(struct rule_context *ctx, int64_t ns_per_step);
void tsi_rule_cause(struct rule_context *ctx, enum rule_cause cause);

#endif
