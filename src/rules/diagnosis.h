/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RULES_DIAGNOSIS_H
#define TSCOPE_RULES_DIAGNOSIS_H

#include "base/arena.h"

#include <tscope/rules.h>

/* Answer of a rule with other parameters. */
struct rule_trial {
	const char *title; /* NULL: it does not fire */
	int64_t ns;        /* of the mean step, the time that it is about; 0: it is about none */
};

/*
 * Evaluates a rule again with all its parameters times `factor`: how near is it to its thresholds?
 * While the analysis of the diagnosis lives. The title comes from the arena, which remembers
 * whether there was memory.
 */
struct rule_trial tsi_diagnosis_try(const struct tscope_diagnosis *diagnosis,
				    const struct tscope_rule_def *rule, double factor,
				    struct arena *arena);

#endif
