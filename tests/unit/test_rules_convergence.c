/* SPDX-License-Identifier: MIT */
/* CONVERGENCE.*: where the loss goes. */
#include "rule_check.h"

#include "base/attributes.h"
#include "check.h"

#define TREND(trend, count)                                                                        \
	"convergence.loss_trend " trend "\n"                                                       \
	"convergence.loss_count " count "\n"                                                       \
	"convergence.best_loss 1.5\n"                                                              \
	"convergence.final_loss 2.25\n"

static const struct rule_case cases[] = {
	{ "CONVERGENCE.DIVERGED", FIRES,
	  "convergence.loss_trend diverged\n"
	  "convergence.diverged_at 12\n"
	  "convergence.best_loss 1.9\n",
	  NULL, "high: the loss is NaN or infinite, first in step 12 (best finite loss 1.9)" },
	/* No loss was ever finite. */
	{ "CONVERGENCE.DIVERGED", FIRES,
	  "convergence.loss_trend diverged\n"
	  "convergence.diverged_at 0\n",
	  NULL, "high: the loss is NaN or infinite, first in step 0" },
	{ "CONVERGENCE.DIVERGED", QUIET, TREND("worsening", "50"), NULL, "" },
	{ "CONVERGENCE.DIVERGED", SKIPPED, "convergence.loss_count 0\n", NULL,
	  "skipped: no convergence.loss_trend: it needs step records with a loss" },
	{ "CONVERGENCE.NO_PROGRESS", FIRES, TREND("worsening", "100"), NULL,
	  "high: the loss rises: best 1.5, last 2.25 (100 losses were logged)" },
	{ "CONVERGENCE.NO_PROGRESS", FIRES, TREND("plateau", "100"), NULL,
	  "low: the loss does not fall: best 1.5, last 2.25 (100 losses were logged)" },
	{ "CONVERGENCE.NO_PROGRESS", QUIET, TREND("improving", "100"), NULL, "" },
	{ "CONVERGENCE.NO_PROGRESS", SKIPPED,
	  TREND("worsening", "100") "! convergence.loss_trend a reward is logged\n", NULL,
	  "skipped: convergence.loss_trend is not reliable: a reward is logged" },
	/* That is told by CONVERGENCE.DIVERGED. */
	{ "CONVERGENCE.NO_PROGRESS", QUIET, TREND("diverged", "100"), NULL, "" },
	{ "CONVERGENCE.NO_PROGRESS", AT, TREND("worsening", "50"), NULL, "high: the loss rises" },
	{ "CONVERGENCE.NO_PROGRESS", AT, TREND("worsening", "49"), NULL,
	  "skipped: 49 losses: it needs 50" },
	{ "CONVERGENCE.NO_PROGRESS", CHANGED, TREND("plateau", "10"),
	  "CONVERGENCE.NO_PROGRESS.steps=10", "low: the loss does not fall" },
	{ "CONVERGENCE.NO_PROGRESS", CHANGED, TREND("plateau", "50"),
	  "CONVERGENCE.NO_PROGRESS=high", "high: the loss does not fall" },
};

TEST(rules_say_what_they_should)
{
	check_rule_cases(cases, TSI_COUNT_OF(cases));
}
