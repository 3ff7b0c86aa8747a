/* SPDX-License-Identifier: MIT */
/* CROSS.*: what several signals say together. */
#include "rule_check.h"

#include "base/attributes.h"
#include "check.h"

static const struct rule_case cases[] = {
	{ "CROSS.CORRELATED_INSTABILITY", FIRES,
	  "correlation.group_count 1\n"
	  "correlation.groups first_step=25 last_step=25 peak_step=25 axes=grad_norm,loss "
	  "loss=8.125 grad_norm=40.0 step_ns=130000000 alloc_bytes=2147483648\n",
	  NULL,
	  "high: grad_norm,loss jump together in step 25 (loss 8.125, grad_norm 40, 130.0 ms, 2.00 "
	  "GiB)" },
	/* The loss was not finite. */
	{ "CROSS.CORRELATED_INSTABILITY", FIRES,
	  "correlation.group_count 1\n"
	  "correlation.groups first_step=30 last_step=33 peak_step=31 axes=loss,step_time "
	  "step_ns=7000000\n",
	  NULL,
	  "high: loss,step_time jump together in steps 30 to 33 (step 31: loss,step_time (7.000 "
	  "ms))" },
	{ "CROSS.CORRELATED_INSTABILITY", FIRES,
	  "correlation.group_count 4\n"
	  "correlation.groups first_step=25 last_step=25 peak_step=25 axes=grad_norm,loss "
	  "loss=8.125 grad_norm=40.0 step_ns=130000000 alloc_bytes=2147483648\n"
	  "correlation.groups first_step=40 last_step=40 peak_step=40 axes=loss,memory loss=3.5\n"
	  "correlation.groups first_step=50 last_step=50 peak_step=50 axes=loss,memory loss=3.5\n"
	  "correlation.groups first_step=60 last_step=60 peak_step=60 axes=loss,memory loss=3.5\n",
	  NULL,
	  "high: signals jump together 4 times, first in step 25 (step 25: grad_norm,loss (loss "
	  "8.125, grad_norm 40, 130.0 ms, 2.00 GiB); step 40: loss,memory (loss 3.5); step 50: "
	  "loss,memory (loss 3.5); and 1 more in correlation.groups)" },
	{ "CROSS.CORRELATED_INSTABILITY", QUIET, "correlation.group_count 0\n", NULL, "" },
	{ "CROSS.CORRELATED_INSTABILITY", CHANGED,
	  "correlation.group_count 1\n"
	  "correlation.groups first_step=25 last_step=25 peak_step=25 axes=grad_norm,loss "
	  "loss=8.125 grad_norm=40.0 step_ns=130000000 alloc_bytes=2147483648\n",
	  "CROSS.CORRELATED_INSTABILITY=low", "low: grad_norm,loss jump" },
	{ "CROSS.CORRELATED_INSTABILITY", SKIPPED, "correlation.event_count 0\n", NULL,
	  "skipped: no correlation.group_count: it needs 8 or more steps with a loss, a gradient "
	  "norm or memory beside their time" },
};

TEST(rules_say_what_they_should)
{
	check_rule_cases(cases, TSI_COUNT_OF(cases));
}
