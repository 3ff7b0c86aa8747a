/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_RULE_CHECK_H
#define TSCOPE_TESTS_RULE_CHECK_H

#include "fact_values.h"

#include <tscope/rules.h>

/*
 * Cases for one rule each. Every rule has one that FIRES and one that is QUIET, and
 * those with parameters have some AT their thresholds; a lint demands them.
 *
 *	{ "TIMING.OPTIMIZER_HEAVY", AT, "step_time.phase.optimizer_ratio 0.15\n", NULL,
 *	  "low: the optimizer takes 15.0 % of the step" },
 */
enum rule_case_kind {
	FIRES,
	QUIET,
	AT,      /* exactly at a threshold, or with it right above the value */
	CHANGED, /* by --rule */
	SKIPPED, /* the facts are there, but do not suffice */
};

struct rule_case {
	const char *rule;
	enum rule_case_kind kind;
	const char *facts;  /* as in fact_values.h */
	const char *change; /* to the rule, or NULL */
	/*
	 * What comes of it: "" if it is quiet, "skipped: reason", or "high: " and the beginning
	 * of "title (detail) [recoverable ns]"; the latter two only if they are there.
	 */
	const char *outcome;
};

void check_rule_cases(const struct rule_case *cases, size_t count);

/* What a rule that fires advises holds this text. */
struct advice_case {
	const char *rule, *facts, *advice;
};

void check_rule_advice(const struct advice_case *cases, size_t count);

#endif
