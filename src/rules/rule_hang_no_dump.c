/* SPDX-License-Identifier: MIT */
/* HANG.NO_DUMP: ranks wait for one that left no dump. */
#include "rules/hang_finding.h"

static void evaluate_hang_no_dump(struct rule_context *ctx)
{
	bool is_one = tsi_rule_int(ctx, "hang.culprit_count") == 1;

	if (tsi_hang_is_found(ctx, "no_dump"))
		tsi_hang_fire(
			ctx, "%s left no dump, and all others called it: %s hung or died first",
			tsi_hang_culprits(ctx).text, is_one ? "it probably" : "they probably");
}

const struct rule tsi_rule_hang_no_dump = {
	.def = {
		.id = "HANG.NO_DUMP",
		.summary = "ranks wait for one that left no dump",
		.facts = { "hang.kind" },
		.trigger = "Fires where all ranks of a group with a flight-recorder dump made "
			   "the call they wait in, alike, and other ranks of the group have "
			   "none; high.",
		.meaning = "A process that died, or that hangs where it holds Python's lock, "
			   "writes no dump: the ranks without one are the most probable "
			   "culprits. Or the dump was not collected.",
		.advice = "read the log and the exit status of these ranks, and collect their "
			  "dumps from their hosts; see that TORCH_NCCL_DUMP_ON_TIMEOUT=1 and "
			  "the buffer size are set on all ranks",
		.example = "Of 8 ranks rank 5 has no dump, the others wait in all_reduce 1841: "
			   "a finding of severity high that names rank 5.",
	},
	.evidence = { "hang.kind", "hang.call", "hang.culprit_ranks", "hang.waiting_count",
		      "hang.timeout_ns", "hang.missing_ranks" },
	.is_separate = true,
	.cause = CAUSE_hang_no_dump,
	.evaluate = evaluate_hang_no_dump,
};
