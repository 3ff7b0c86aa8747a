/* SPDX-License-Identifier: MIT */
/* One view of the two kinds of budget, for the analyzers that look at single steps. */
#include "analyze/step_lines.h"

#include <assert.h>

size_t tsi_step_line_count(const struct step_series *steps)
{
	return steps->device_count ? TSCOPE_BUDGET_LINE_COUNT : HOST_LINE_COUNT;
}

const char *tsi_step_line_name(const struct step_series *steps, size_t line)
{
	assert(line < tsi_step_line_count(steps));
	return steps->device_count ? tscope_budget_line_name((enum tscope_budget_line)line)
				   : tsi_host_line_name((enum host_line)line);
}

int64_t tsi_step_line_ns(const struct step_series *steps, const struct step_budget *budget,
			 size_t line)
{
	assert(line < tsi_step_line_count(steps));
	return steps->device_count ? budget->device.line_ns[line] : budget->host.line_ns[line];
}
