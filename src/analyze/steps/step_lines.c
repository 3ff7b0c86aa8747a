/* SPDX-License-Identifier: MIT */
/* One view of the two kinds of budget, for the analyzers that look at single steps. */
#include "analyze/steps/step_lines.h"

#include <assert.h>

#include "analyze/facts.h"
#include "base/sum.h"

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

void tsi_divide_lines(int64_t *lines, size_t count, int64_t rank_count)
{
	int64_t sum_ns = 0, before_ns = 0;

	for (size_t i = 0; i < count; i++) {
		tsi_sum(&sum_ns, lines[i]);
		int64_t mean_ns = tsi_mean(sum_ns, rank_count).integer;
		lines[i] = mean_ns - before_ns;
		before_ns = mean_ns;
	}
}
