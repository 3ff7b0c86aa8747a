/* SPDX-License-Identifier: MIT */
/*
 * tscope trend: the newest run against those before it, and where figures changed for good. The
 * result is a comparison, which cmd_diff.c reports.
 */
#include "command.h"
#include "diff_report.h"

static enum exit_code run_trend(const struct options *options)
{
	return diff_report(tscope_trend_open, options);
}

const struct command command_trend = {
	.name = "trend",
	.operands = "HISTORY...",
	.summary = "a history of runs: is the newest as usual, and where did figures change",
	.run = run_trend,
};
