/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RULES_RULE_TABLE_H
#define TSCOPE_RULES_RULE_TABLE_H

#include "base/str.h"
#include "rules/rule.h"

/* The rule with this index (0 … tscope_rule_count() - 1). Static. */
const struct rule *tsi_rule(size_t index);

/* The cause whose findings are merged with those of this one. */
enum rule_cause tsi_cause_kin(enum rule_cause cause);
/* "data_loader": never NULL. */
const char *tsi_cause_name(enum rule_cause cause);

/* The index of the rule with this id, upper or lower case, or tscope_rule_count(). */
size_t tsi_rule_find(struct str id);

/* "low", "med", "high" → severity; false: none of them. */
bool tsi_severity_parse(struct str name, enum tscope_severity *severity);

/* The index of a parameter of a rule, or TSCOPE_RULE_MAX_PARAMETERS. */
size_t tsi_rule_find_parameter(const struct tscope_rule_def *def, struct str name);

#endif
