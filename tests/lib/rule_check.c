/* SPDX-License-Identifier: MIT */
/* Runs cases of rules, through the public interface, and shows what comes of each as text. */
#include "rule_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

enum { OUTCOME_CHARS = 2048 };

static void show_finding(const struct tscope_finding *finding, char text[OUTCOME_CHARS])
{
	int length = snprintf(text, OUTCOME_CHARS, "%s: %s",
			      tscope_severity_name(finding->severity), finding->title);

	if (finding->detail[0] != '\0')
		length += snprintf(text + length, OUTCOME_CHARS - (size_t)length, " (%s)",
				   finding->detail);
	if (finding->has_gain)
		snprintf(text + length, OUTCOME_CHARS - (size_t)length, " [%" PRId64 " ns]",
			 finding->gain_ns);
	assert_non_null(finding->advice);
	assert_true(finding->evidence_count > 0);
}

/* What the diagnosis says of one rule; other rules may tell of the same facts. */
static void show_outcome(const struct tscope_diagnosis *diagnosis,
			 const struct tscope_rule_def *rule, char text[OUTCOME_CHARS])
{
	text[0] = '\0';
	for (size_t i = 0; i < tscope_diagnosis_finding_count(diagnosis); i++) {
		struct tscope_finding finding = tscope_diagnosis_finding(diagnosis, i);
		if (finding.rule == rule)
			show_finding(&finding, text);
	}
	for (size_t i = 0; i < tscope_diagnosis_not_evaluated_count(diagnosis); i++) {
		struct tscope_not_evaluated skipped = tscope_diagnosis_not_evaluated(diagnosis, i);
		if (skipped.rule == rule)
			snprintf(text, OUTCOME_CHARS, "skipped: %s", skipped.reason);
	}
}

/* All rules but one are off, so that none tells its finding. */
static size_t leave_only(const struct tscope_rule_def *rule, char (*changes)[64],
			 const char **pointers)
{
	size_t count = 0;

	for (size_t i = 0; i < tscope_rule_count(); i++) {
		if (tscope_rule(i) == rule)
			continue;
		snprintf(changes[count], sizeof(changes[count]), "%s=off", tscope_rule(i)->id);
		pointers[count] = changes[count];
		count++;
	}
	return count;
}

static void check_case(const struct rule_case *c)
{
	enum { MAX_CHANGES = 128 };
	char off[MAX_CHANGES][64], outcome[OUTCOME_CHARS];
	const char *changes[MAX_CHANGES];
	const struct tscope_rule_def *rule = tscope_rule_find(c->rule);
	struct tscope_analysis *facts = fact_values(c->facts);
	struct tscope_diagnosis *diagnosis;
	struct tscope_error err = { 0 };

	assert_non_null(rule);
	assert_true(tscope_rule_count() < MAX_CHANGES);
	struct tscope_rule_options options = { changes, leave_only(rule, off, changes) };
	if (c->change)
		changes[options.change_count++] = c->change;
	if (tscope_diagnose(&diagnosis, facts, &options, &err) != TSCOPE_OK)
		fail_msg("%s", err.message);
	show_outcome(diagnosis, rule, outcome);
	bool is_whole = c->outcome[0] == '\0' || strncmp(c->outcome, "skipped", 7) == 0;
	if (is_whole ? strcmp(outcome, c->outcome) != 0
		     : strncmp(outcome, c->outcome, strlen(c->outcome)) != 0)
		fail_msg("%s with\n%s%s\nsays    '%s'\nand not '%s'", c->rule, c->facts,
			 c->change ? c->change : "", outcome, c->outcome);
	tscope_diagnosis_free(diagnosis);
}

void check_rule_cases(const struct rule_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check_case(&cases[i]);
}

static void check_advice(const struct advice_case *c)
{
	struct tscope_analysis *facts = fact_values(c->facts);
	struct tscope_diagnosis *diagnosis;
	bool is_found = false;

	assert_int_equal(tscope_diagnose(&diagnosis, facts, NULL, NULL), TSCOPE_OK);
	for (size_t i = 0; i < tscope_diagnosis_finding_count(diagnosis); i++) {
		struct tscope_finding finding = tscope_diagnosis_finding(diagnosis, i);
		if (finding.rule != tscope_rule_find(c->rule))
			continue;
		is_found = true;
		if (!strstr(finding.advice, c->advice))
			fail_msg("%s with\n%sadvises '%s'\nand not '%s'", c->rule, c->facts,
				 finding.advice, c->advice);
	}
	if (!is_found)
		fail_msg("%s does not fire with\n%s", c->rule, c->facts);
	tscope_diagnosis_free(diagnosis);
}

void check_rule_advice(const struct advice_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check_advice(&cases[i]);
}
