/* SPDX-License-Identifier: MIT */
#include "timeline/idle_cause.h"

#include <string.h>

static const struct {
	const char *name, *words;
	enum tscope_budget_line line;
} causes[] = {
#define CAUSE(id, name, line, words, meaning) { name, words, TSCOPE_BUDGET_##line },
	IDLE_CAUSES(CAUSE)
#undef CAUSE
};

const char *tsi_idle_cause_name(enum idle_cause cause)
{
	return causes[cause].name;
}

const char *tsi_idle_cause_words(enum idle_cause cause)
{
	return causes[cause].words;
}

enum idle_cause tsi_idle_cause_of(const char *name)
{
	unsigned cause = 0;

	while (cause < IDLE_CAUSE_COUNT && strcmp(causes[cause].name, name) != 0)
		cause++;
	return (enum idle_cause)cause;
}

const char *tsi_idle_cause_words_of(const char *name)
{
	enum idle_cause cause = tsi_idle_cause_of(name);

	return cause < IDLE_CAUSE_COUNT ? causes[cause].words : NULL;
}

enum tscope_budget_line tsi_line_of_cause(enum idle_cause cause)
{
	return causes[cause].line;
}
