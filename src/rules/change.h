/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RULES_CHANGE_H
#define TSCOPE_RULES_CHANGE_H

#include "base/arena.h"
#include "rules/rule.h"

/* Settings of a rule that the user can change. */
struct rule_setting {
	bool is_off;
	bool has_severity;
	enum tscope_severity severity;                 /* of its findings, if has_severity */
	double parameters[TSCOPE_RULE_MAX_PARAMETERS]; /* as in the rule's definition */
};

/* Settings of all rules as they are defined: tscope_rule_count() of them. NULL without memory. */
struct rule_setting *tsi_rule_settings_new(struct arena *arena);

/* Applies "ID=off", "ID=high" or "ID.parameter=0.3"; the last change of a thing holds. */
TSI_MUST_CHECK
enum tscope_status tsi_rule_settings_change(struct rule_setting *settings, const char *change,
					    struct tscope_error *err);

#endif
