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

const char *tsi_idle_cause_words_of(const char *name)
{
	for (size_t i = 0; i < IDLE_CAUSE_COUNT; i++)
		if (strcmp(causes[i].name, name) == 0)
			return causes[i].words;
	return NULL;
}

enum tscope_budget_line tsi_line_of_cause(enum idle_cause cause)
{
	return causes[cause].line;
}
