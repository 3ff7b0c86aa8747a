/* SPDX-License-Identifier: MIT */
#include "timeline/idle_cause.h"

static const struct {
	const char *name;
	enum tscope_budget_line line;
} causes[] = {
#define CAUSE(id, name, line, meaning) { name, TSCOPE_BUDGET_##line },
	IDLE_CAUSES(CAUSE)
#undef CAUSE
};

const char *tsi_idle_cause_name(enum idle_cause cause)
{
	return causes[cause].name;
}

enum tscope_budget_line tsi_line_of_cause(enum idle_cause cause)
{
	return causes[cause].line;
}
