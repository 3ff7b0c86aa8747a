/* SPDX-License-Identifier: MIT */
/* HANG.*: what flight-recorder dumps say, in one sentence. */
#include "rule_check.h"

#include "base/attributes.h"
#include "check.h"

/* Of kind: rank 6 of four; the others wait since 12:04:31 UTC. */
#define HANG(kind, more)                                                                           \
	"hang.kind " kind "\n"                                                                     \
	"hang.call all_reduce #1841\n"                                                             \
	"hang.culprit_count 1\n"                                                                   \
	"hang.culprit_ranks 6\n"                                                                   \
	"hang.culprit_rank 6\n"                                                                    \
	"hang.culprit_call all_gather #1840\n"                                                     \
	"hang.culprit_state completed\n"                                                           \
	"hang.waiting_count 3\n"                                                                   \
	"hang.waiting_ranks 4-5, 7\n"                                                              \
	"hang.since_ns 43471000000000\n"                                                           \
	"hang.timeout_ns 600000000000\n" more
#define WAIT "; ranks 4-5, 7 wait since 12:04:31 UTC (timeout 600 s)"

static const struct rule_case cases[] = {
	{ "HANG.MISSING_CALL", FIRES, HANG("missing_call", ""), NULL,
	  "high: all_reduce #1841: rank 6 never called it; its last call is all_gather #1840, "
	  "completed" WAIT },
	{ "HANG.MISSING_CALL", FIRES,
	  HANG("missing_call", "hang.behind_count 3\nhang.culprit_site train.py:212 step\n"), NULL,
	  "high: all_reduce #1841: rank 6 never called it; its last call is all_gather #1840, "
	  "completed" WAIT " (rank 6 at train.py:212 step; it is 3 collectives behind its group)" },
	{ "HANG.MISSING_CALL", FIRES, HANG("late", "hang.late_ns 612000000000\n"), NULL,
	  "high: all_reduce #1841: rank 6 called it 612 s after the first, too late" WAIT },
	{ "HANG.MISSING_CALL", FIRES,
	  HANG("missing_call", "stragglers.slow_rank_count 1\nstragglers.causes rank=6\n"), NULL,
	  "high: all_reduce #1841: rank 6 never called it; its last call is all_gather #1840, "
	  "completed" WAIT " (the traces show rank 6 late as well)" },
	{ "HANG.MISSING_CALL", FIRES,
	  HANG("missing_call", "hang.trace_after_ns 4000000000\nhang.trace_place aten::item\n"),
	  NULL,
	  "high: all_reduce #1841: rank 6 never called it; its last call is all_gather #1840, "
	  "completed" WAIT " (the trace of rank 6 ends 4.0 s after that, in aten::item)" },
	{ "HANG.MISSING_CALL", QUIET, HANG("in_flight", ""), NULL, "" },
	{ "HANG.MISSING_CALL", QUIET, HANG("none", ""), NULL, "" },
	{ "HANG.MISMATCH", FIRES, HANG("size", "hang.detail rank 6 has [8], rank 4 [4]\n"), NULL,
	  "high: all_reduce #1841: rank 6 passed another size: rank 6 has [8], rank 4 [4]" WAIT },
	{ "HANG.MISMATCH", FIRES,
	  HANG("size", "hang.detail x\nhang.culprit_site a.py:3 step\n"
		       "hang.waiter_site a.py:3 step\nhang.waiter_rank 4\n"),
	  NULL,
	  "high: all_reduce #1841: rank 6 passed another size: x" WAIT
	  " (rank 6 and rank 4, which waits, are both at a.py:3 step)" },
	{ "HANG.MISMATCH", FIRES, HANG("dtype", "hang.detail x\nhang.is_tie yes\n"), NULL,
	  "high: all_reduce #1841: rank 6 do not agree: x" WAIT },
	{ "HANG.MISMATCH", FIRES,
	  "hang.kind split\nhang.call all_to_all #3\nhang.culprit_count 0\nhang.detail sums\n",
	  NULL, "high: all_to_all #3: its ranks do not agree: sums" },
	{ "HANG.MISMATCH", QUIET, HANG("missing_call", ""), NULL, "" },
	{ "HANG.DEADLOCK", FIRES, HANG("order", ""), NULL,
	  "high: all_reduce #1841: deadlock: rank 6 waits in all_gather #1840 first" WAIT },
	{ "HANG.DEADLOCK", FIRES, HANG("order", "hang.is_tie yes\n"), NULL,
	  "high: all_reduce #1841: deadlock: rank 6 wait for each other, each in another "
	  "call" WAIT },
	{ "HANG.DEADLOCK", FIRES,
	  HANG("order", "hang.chain ranks=4-5 call=c waits_for=6\n"
			"hang.chain ranks=6 call=d waits_for=4-5\n"),
	  NULL,
	  "high: all_reduce #1841: deadlock: rank 6 waits in all_gather #1840 first" WAIT
	  " (rank 6 waits for ranks 4-5)" },
	{ "HANG.DEADLOCK", FIRES,
	  HANG("order", "hang.is_tie yes\nhang.chain ranks=4 call=c waits_for=6\n"
			"hang.chain ranks=6 call=d waits_for=4\n"),
	  NULL,
	  "high: all_reduce #1841: deadlock: rank 6 wait for each other, each in another "
	  "call" WAIT " (rank 4 waits in c for rank 6; rank 6 waits in d for rank 4)" },
	{ "HANG.DEADLOCK", QUIET, HANG("other_collective", ""), NULL, "" },
	{ "HANG.NO_DUMP", FIRES, HANG("no_dump", ""), NULL,
	  "high: all_reduce #1841: rank 6 left no dump, and all others called it: it probably hung "
	  "or died first" WAIT },
	{ "HANG.NO_DUMP", QUIET, HANG("missing_call", ""), NULL, "" },
	{ "HANG.UNFINISHED", FIRES, HANG("not_started", ""), NULL,
	  "high: all_reduce #1841: all called it and the device of rank 6 never began it" WAIT },
	{ "HANG.UNFINISHED", FIRES, HANG("unfinished", "hang.completed_ranks 0-2\n"), NULL,
	  "high: all_reduce #1841: all called it, only ranks 0-2 completed it" WAIT },
	{ "HANG.UNFINISHED", FIRES, HANG("unfinished", ""), NULL,
	  "high: all_reduce #1841: all called it and none completed it: network or device" WAIT },
	{ "HANG.UNFINISHED", FIRES, HANG("not_started", "hang.host_count 2\nhang.host node-7\n"),
	  NULL,
	  "high: all_reduce #1841: all called it and the device of rank 6 never began it" WAIT
	  " (all stalled ranks are on host node-7)" },
	{ "HANG.UNFINISHED", FIRES, HANG("unfinished", "hang.host_count 1\nhang.host node-7\n"),
	  NULL,
	  "high: all_reduce #1841: all called it and none completed it: network or device" WAIT
	  " (all ranks are on host node-7, so no network is involved)" },
	{ "HANG.UNFINISHED", FIRES, HANG("unfinished", "hang.host_count 2\n"), NULL,
	  "high: all_reduce #1841: all called it and none completed it: network or device" WAIT
	  " (they are on 2 hosts)" },
	{ "HANG.UNFINISHED", FIRES,
	  HANG("unfinished", "hang.host_count 3\nhang.shared_hosts a and b\n"), NULL,
	  "high: all_reduce #1841: all called it and none completed it: network or device" WAIT
	  " (every stalled call has ranks on a and b)" },
	{ "HANG.UNFINISHED", QUIET, HANG("none", ""), NULL, "" },
};

TEST(rules_say_what_they_should)
{
	check_rule_cases(cases, TSI_COUNT_OF(cases));
}

TEST(advice_is_for_what_went_wrong)
{
	static const struct advice_case advice[] = {
		{ "HANG.MISSING_CALL", HANG("late", "hang.late_ns 612000000000\n"),
		  "did before it made the call" },
		{ "HANG.MISSING_CALL", HANG("missing_call", ""), "did after its last call" },
		{ "HANG.MISMATCH", HANG("size", "hang.detail x\n"), "drop_last=True" },
		{ "HANG.MISMATCH", HANG("split", "hang.detail x\n"), "exchange the counts" },
		{ "HANG.DEADLOCK", HANG("order", ""), "in the same order" },
		{ "HANG.DEADLOCK",
		  HANG("order", "hang.call send to 1\nhang.culprit_call send to 0\n"),
		  "let one side of each pair receive first" },
	};

	check_rule_advice(advice, TSI_COUNT_OF(advice));
}
