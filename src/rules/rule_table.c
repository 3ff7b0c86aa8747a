/* SPDX-License-Identifier: MIT */
/*
 * All rules, made of rule_list.h: what the diagnosis walks over and the public
 * listing shows.
 */
#include "rules/rule_table.h"

#include <assert.h>

#define RULE(name, id) extern const struct rule tsi_rule_##name;
#include "rules/rule_list.h"
#undef RULE

static const struct rule *const rules[] = {
#define RULE(name, id) &tsi_rule_##name,
#include "rules/rule_list.h"
#undef RULE
};

const struct rule *tsi_rule(size_t index)
{
	assert(index < TSI_COUNT_OF(rules));
	return rules[index];
}

size_t tsi_rule_find(struct str id)
{
	size_t i = 0;

	while (i < TSI_COUNT_OF(rules) && !tsi_str_equal_nocase(id, tsi_str_of(rules[i]->def.id)))
		i++;
	return i;
}

size_t tsi_rule_find_parameter(const struct tscope_rule_def *def, struct str name)
{
	for (size_t i = 0; i < TSCOPE_RULE_MAX_PARAMETERS && def->parameters[i].name; i++) {
		const char *known = def->parameters[i].name;
		if (tsi_str_equal(name, tsi_str_of(known)))
			return i;
	}
	return TSCOPE_RULE_MAX_PARAMETERS;
}

size_t tscope_rule_count(void)
{
	return TSI_COUNT_OF(rules);
}

const struct tscope_rule_def *tscope_rule(size_t index)
{
	return &tsi_rule(index)->def;
}

const struct tscope_rule_def *tscope_rule_find(const char *id)
{
	size_t index = tsi_rule_find(tsi_str_of(id));

	return index < TSI_COUNT_OF(rules) ? &rules[index]->def : NULL;
}

static const struct {
	const char *name;
	enum rule_cause kin;
} causes[] = {
#define CAUSE(name, kin) [CAUSE_##name] = { #name, CAUSE_##kin },
#include "rules/cause_list.h"
#undef CAUSE
};

enum rule_cause tsi_cause_kin(enum rule_cause cause)
{
	return causes[cause].kin;
}

const char *tsi_cause_name(enum rule_cause cause)
{
	return causes[cause].name;
}

static const char *const severity_names[] = {
	[TSCOPE_SEVERITY_LOW] = "low",
	[TSCOPE_SEVERITY_MED] = "med",
	[TSCOPE_SEVERITY_HIGH] = "high",
};

const char *tscope_severity_name(enum tscope_severity severity)
{
	return severity_names[severity];
}

const char *tscope_confidence_name(enum tscope_confidence confidence)
{
	static const char *const names[] = {
		[TSCOPE_CONFIDENCE_LOW] = "low",
		[TSCOPE_CONFIDENCE_MED] = "med",
		[TSCOPE_CONFIDENCE_HIGH] = "high",
	};

	return names[confidence];
}

const char *tscope_gain_basis_name(enum tscope_gain_basis basis)
{
	static const char *const names[] = {
		[TSCOPE_GAIN_MEASURED] = "measured",
		[TSCOPE_GAIN_SIMULATED] = "simulated",
		[TSCOPE_GAIN_BOUND] = "bound",
	};

	return names[basis];
}

bool tsi_severity_parse(struct str name, enum tscope_severity *severity)
{
	for (size_t i = 0; i < TSI_COUNT_OF(severity_names); i++) {
		const char *known = severity_names[i];
		if (!tsi_str_equal(name, tsi_str_of(known)))
			continue;
		*severity = (enum tscope_severity)i;
		return true;
	}
	return false;
}
