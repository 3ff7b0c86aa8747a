/* SPDX-License-Identifier: MIT */
/*
 * Parses changes to rules ("MEMORY.GROWTH=off", "DIST.STRAGGLER.threshold=0.02") into the settings
 * of each rule.
 */
#include "rules/change.h"

#include <math.h>

#include "base/error.h"
#include "base/nearest.h"
#include "decode/json.h"
#include "rules/rule_table.h"

/* A change that was understood. */
struct change {
	size_t rule;
	size_t parameter; /* NO_PARAMETER: it is about the rule as a whole */
	bool is_off;
	enum tscope_severity severity;
	double value; /* of the parameter */
};

enum { NO_PARAMETER = TSCOPE_RULE_MAX_PARAMETERS };

/* The index of character c from `from` on, or the text's length. */
static size_t find_char(struct str text, size_t from, char c)
{
	while (from < text.length && text.data[from] != c)
		from++;
	return from;
}

static struct str up_to(struct str text, size_t end)
{
	return (struct str){ text.data, end };
}

static enum tscope_status fail_rule(struct str id, struct tscope_error *err)
{
	struct nearest nearest = { .word = id };

	for (size_t i = 0; i < tscope_rule_count(); i++)
		tsi_nearest_consider(&nearest, tscope_rule(i)->id);
	if (nearest.name)
		return tsi_fail(err, TSCOPE_E_FORMAT, "unknown rule %.*s; did you mean %s?",
				TSI_QUOTE(id), nearest.name);
	return tsi_fail(err, TSCOPE_E_FORMAT, "unknown rule %.*s; 'tscope rules' lists them",
			TSI_QUOTE(id));
}

static enum tscope_status fail_parameter(const struct tscope_rule_def *def, struct str name,
					 struct tscope_error *err)
{
	struct nearest nearest = { .word = name };

	for (size_t i = 0; i < TSCOPE_RULE_MAX_PARAMETERS && def->parameters[i].name; i++)
		tsi_nearest_consider(&nearest, def->parameters[i].name);
	if (nearest.name)
		return tsi_fail(err, TSCOPE_E_FORMAT,
				"%s has no parameter '%.*s'; did you mean %s?", def->id,
				TSI_QUOTE(name), nearest.name);
	if (!def->parameters[0].name)
		return tsi_fail(err, TSCOPE_E_FORMAT, "%s has no parameters", def->id);
	return tsi_fail(err, TSCOPE_E_FORMAT, "%s has no parameter '%.*s', but %s", def->id,
			TSI_QUOTE(name), def->parameters[0].name);
}

static enum tscope_status parse_grade(struct str text, struct change *change,
				      struct tscope_error *err)
{
	change->is_off = tsi_str_is(text, "off");
	if (change->is_off || tsi_severity_parse(text, &change->severity))
		return TSCOPE_OK;
	return tsi_fail(err, TSCOPE_E_FORMAT,
			"expected off, low, med or high after %s=, not '%.*s'",
			tscope_rule(change->rule)->id, TSI_QUOTE(text));
}

static enum tscope_status parse_parameter(struct str name, struct str text, struct change *change,
					  struct tscope_error *err)
{
	const struct tscope_rule_def *def = tscope_rule(change->rule);

	change->parameter = tsi_rule_find_parameter(def, name);
	if (change->parameter == NO_PARAMETER)
		return fail_parameter(def, name, err);
	if (!text.length || !tsi_json_to_double(text, &change->value) || !isfinite(change->value) ||
	    change->value < 0)
		return tsi_fail(err, TSCOPE_E_FORMAT,
				"expected a number such as 0.3 after %s.%.*s=, not '%.*s'", def->id,
				TSI_QUOTE(name), TSI_QUOTE(text));
	return TSCOPE_OK;
}

/* Ids of rules hold one dot: what follows a second one is a parameter. */
static enum tscope_status parse_change(const char *text, struct change *change,
				       struct tscope_error *err)
{
	struct str whole = { text, strlen(text) };
	size_t equals = find_char(whole, 0, '=');
	struct str name = up_to(whole, equals), value = tsi_str_tail(whole, equals + 1);

	if (equals == whole.length)
		return tsi_fail(
			err, TSCOPE_E_FORMAT,
			"expected RULE=off|low|med|high or RULE.PARAMETER=NUMBER, not '%.*s'",
			TSI_QUOTE(whole));
	size_t dot = find_char(name, find_char(name, 0, '.') + 1, '.');
	struct str id = up_to(name, dot < name.length ? dot : name.length);
	change->rule = tsi_rule_find(id);
	change->parameter = NO_PARAMETER;
	if (change->rule == tscope_rule_count())
		return fail_rule(id, err);
	if (id.length == name.length)
		return parse_grade(value, change, err);
	return parse_parameter(tsi_str_tail(name, dot + 1), value, change, err);
}

enum tscope_status tscope_rule_change_check(const char *change, struct tscope_error *err)
{
	struct change parsed;

	return parse_change(change, &parsed, err);
}

struct rule_setting *tsi_rule_settings_new(struct arena *arena)
{
	struct rule_setting *settings =
		tsi_arena_new(arena, tscope_rule_count(), sizeof(*settings));

	for (size_t i = 0; settings && i < tscope_rule_count(); i++)
		for (size_t j = 0; j < TSCOPE_RULE_MAX_PARAMETERS; j++)
			settings[i].parameters[j] = tscope_rule(i)->parameters[j].value;
	return settings;
}

enum tscope_status tsi_rule_settings_change(struct rule_setting *settings, const char *change,
					    struct tscope_error *err)
{
	struct change parsed;
	enum tscope_status status = parse_change(change, &parsed, err);

	if (status != TSCOPE_OK)
		return status;
	struct rule_setting *setting = &settings[parsed.rule];
	if (parsed.parameter != NO_PARAMETER) {
		setting->parameters[parsed.parameter] = parsed.value;
		return TSCOPE_OK;
	}
	setting->is_off = parsed.is_off;
	setting->has_severity = !parsed.is_off;
	setting->severity = parsed.severity;
	return TSCOPE_OK;
}

double tscope_rule_value(const struct tscope_rule_options *options, const char *id,
			 const char *parameter)
{
	size_t rule = tsi_rule_find(tsi_str_of(id));
	size_t index = NO_PARAMETER;
	struct change change;

	if (rule < tscope_rule_count())
		index = tsi_rule_find_parameter(tscope_rule(rule), tsi_str_of(parameter));
	if (index == NO_PARAMETER)
		return NAN;
	double value = tscope_rule(rule)->parameters[index].value;
	for (size_t i = 0; options && i < options->change_count; i++)
		if (parse_change(options->changes[i], &change, NULL) == TSCOPE_OK &&
		    change.rule == rule && change.parameter == index)
			value = change.value;
	return value;
}
