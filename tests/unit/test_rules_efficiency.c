/* SPDX-License-Identifier: MIT */
/* EFFICIENCY.*: how much of the time is well spent. */
#include "rule_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TOP(line, ratio)                                                                           \
	"step_time.mean_ns 100000000\n"                                                            \
	"efficiency.top_recoverable " line "\n"                                                    \
	"efficiency.top_recoverable_ratio " ratio "\n"
#define MFU(ratio) "efficiency.mfu " ratio "\n"

static const struct rule_case cases[] = {
	{ "EFFICIENCY.LOW_MFU", FIRES,
	  TOP("compute_overhead", "0.35")
		  MFU("0.25") "efficiency.lines line=useful_compute ratio=0.25 recoverable=no\n"
			      "efficiency.lines line=compute_overhead ratio=0.35 recoverable=yes\n"
			      "efficiency.lines line=data_stall ratio=0.30 recoverable=yes\n"
			      "efficiency.lines line=communication ratio=0.096 recoverable=yes\n"
			      "efficiency.lines line=other ratio=0.004 recoverable=yes\n",
	  NULL,
	  "high: the model uses 25.0 % of the device's peak FLOPs (MFU) (compute beyond what the "
	  "FLOPs take 35 %; waiting for data 30 %; communication 10 %) [35000000 ns]" },
	{ "EFFICIENCY.LOW_MFU", FIRES, TOP("other", "0.2") MFU("0.4"), NULL,
	  "med: the model uses 40.0 % of the device's peak FLOPs (MFU) [20000000 ns]" },
	{ "EFFICIENCY.LOW_MFU", QUIET, TOP("data_stall", "0.4") MFU("0.6"), NULL, "" },
	/* Below 0.50, not at it. */
	{ "EFFICIENCY.LOW_MFU", AT, TOP("data_stall", "0.2") MFU("0.5"), NULL, "" },
	{ "EFFICIENCY.LOW_MFU", AT, TOP("data_stall", "0.2") MFU("0.4999"), NULL,
	  "med: the model" },
	{ "EFFICIENCY.LOW_MFU", AT, TOP("data_stall", "0.2") MFU("0.3"), NULL, "med: the model" },
	{ "EFFICIENCY.LOW_MFU", AT, TOP("data_stall", "0.2") MFU("0.2999"), NULL,
	  "high: the model" },
	{ "EFFICIENCY.LOW_MFU", AT, TOP("data_stall", "0.1") MFU("0.4"), NULL, "med: the model" },
	{ "EFFICIENCY.LOW_MFU", AT, TOP("data_stall", "0.0999") MFU("0.4"), NULL, "" },
	{ "EFFICIENCY.LOW_MFU", CHANGED, TOP("data_stall", "0.2") MFU("0.4"),
	  "EFFICIENCY.LOW_MFU.threshold=0.35", "" },
	{ "EFFICIENCY.LOW_MFU", CHANGED, TOP("data_stall", "0.2") MFU("0.4"),
	  "EFFICIENCY.LOW_MFU.high=0.45", "high: the model" },
	{ "EFFICIENCY.LOW_MFU", CHANGED, TOP("data_stall", "0.2") MFU("0.4"),
	  "EFFICIENCY.LOW_MFU.line=0.25", "" },
	{ "EFFICIENCY.LOW_MFU", SKIPPED, TOP("data_stall", "0.2"), NULL,
	  "skipped: no efficiency.mfu: it needs steps with phases, and for mfu their FLOPs and the "
	  "peak of the device" },
	{ "EFFICIENCY.RECOVERABLE", FIRES, TOP("communication", "0.5"), NULL,
	  "high: 50.0 % of the step goes to communication [50000000 ns]" },
	{ "EFFICIENCY.RECOVERABLE", QUIET, TOP("communication", "0.1"), NULL, "" },
	/* EFFICIENCY.LOW_MFU tells it. */
	{ "EFFICIENCY.RECOVERABLE", QUIET, TOP("communication", "0.5") MFU("0.2"), NULL, "" },
	/* Where a trace was read, its budget knows more; GPU.IDLE (0.3 idle) tells of the launches. */
	{ "EFFICIENCY.RECOVERABLE", FIRES,
	  TOP("other", "0.3") "budget.wall_ns 10\nbudget.data_stall_ns 0\nbudget.sync_stall_ns 0\n"
			      "budget.launch_stall_ns 2\nbudget.device_gap_ns 1\n"
			      "budget.unattributed_ns 0\n",
	  NULL,
	  "med: 30.0 % of the step goes to time in which the device neither computes nor "
	  "communicates" },
	{ "EFFICIENCY.RECOVERABLE", AT, TOP("other", "0.2"), NULL,
	  "med: 20.0 % of the step goes to time in no known phase" },
	{ "EFFICIENCY.RECOVERABLE", AT, TOP("other", "0.1999"), NULL, "" },
	{ "EFFICIENCY.RECOVERABLE", AT, TOP("other", "0.35"), NULL, "high: 35.0 %" },
	{ "EFFICIENCY.RECOVERABLE", AT, TOP("other", "0.3499"), NULL, "med: 35.0 %" },
	{ "EFFICIENCY.RECOVERABLE", CHANGED, TOP("other", "0.2"),
	  "EFFICIENCY.RECOVERABLE.threshold=0.25", "" },
};

static void rules_say_what_they_should(void **state)
{
	(void)state;
	check_rule_cases(cases, sizeof(cases) / sizeof(cases[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_say_what_they_should),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
