/* SPDX-License-Identifier: MIT */
/* One view of the two kinds of budget, for the analyzers that look at single steps. */
#include "analyze/step_lines.h"

#include <assert.h>

#include "base/sum.h"

static const char *const host_line_names[HOST_LINE_COUNT] = {
	[HOST_DATA] = "data",           [HOST_FORWARD] = "forward", [HOST_BACKWARD] = "backward",
	[HOST_OPTIMIZER] = "optimizer", [HOST_COMM] = "comm",       [HOST_OTHER] = "other",
};

size_t tsi_step_line_count(const struct tscope_timeline *timeline)
{
	return timeline->host_budgets ? HOST_LINE_COUNT : TSCOPE_BUDGET_LINE_COUNT;
}

const char *tsi_step_line_name(const struct tscope_timeline *timeline, size_t line)
{
	assert(line < tsi_step_line_count(timeline));
	return timeline->host_budgets ? host_line_names[line]
				      : tscope_budget_line_name((enum tscope_budget_line)line);
}

int64_t tsi_step_line_ns(const struct tscope_timeline *timeline, uint32_t step, size_t line)
{
	int64_t line_ns = 0;

	assert(line < tsi_step_line_count(timeline));
	if (timeline->host_budgets)
		return timeline->host_budgets[step].line_ns[line];
	for (uint32_t d = 0; d < timeline->trace->device_count; d++)
		tsi_sum(&line_ns, tsi_timeline_budget(timeline, step, d)->line_ns[line]);
	return line_ns;
}
