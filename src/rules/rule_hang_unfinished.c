/* SPDX-License-Identifier: MIT */
/* HANG.UNFINISHED: all ranks made the call, and it does not end. */
#include "rules/hang_finding.h"

#include <inttypes.h>

/* Adds the ranks' common host, if all dumps name their hosts. */
static void add_host(struct rule_context *ctx)
{
	const char *host = tsi_rule_text(ctx, "hang.host");
	const char *shared = tsi_rule_text(ctx, "hang.shared_hosts");
	int64_t count = tsi_rule_int(ctx, "hang.host_count");

	if (*host && count == 1)
		tsi_rule_detail(ctx, "all ranks are on host %.80s, so no network is involved",
				host);
	else if (*host)
		tsi_rule_detail(ctx, "all stalled ranks are on host %.80s", host);
	else if (*shared)
		tsi_rule_detail(ctx, "every stalled call has ranks on %.170s", shared);
	else if (count > 1)
		tsi_rule_detail(ctx, "they are on %" PRId64 " hosts", count);
}

static void evaluate_hang_unfinished(struct rule_context *ctx)
{
	const char *completed = tsi_rule_text(ctx, "hang.completed_ranks");
	const char *started = tsi_rule_text(ctx, "hang.started_ranks");

	if (tsi_hang_is_found(ctx, "not_started")) {
		tsi_hang_fire(ctx, "all called it and the device of %s never began it",
			      tsi_hang_culprits(ctx).text);
		tsi_rule_advice(ctx, "look at the device of this rank: a kernel before the call "
				     "that does not end, a stream that waits, an error in dmesg "
				     "(Xid)");
	} else if (tsi_hang_is(ctx, "unfinished") && *completed) {
		tsi_hang_fire(ctx, "all called it, only ranks %.80s completed it", completed);
	} else if (tsi_hang_is(ctx, "unfinished")) {
		tsi_hang_fire(ctx, "all called it and none completed it: network or device");
		if (*started)
			tsi_rule_detail(ctx, "the devices of ranks %.80s started it", started);
	}
	if (tsi_hang_is(ctx, "not_started unfinished"))
		add_host(ctx);
}

const struct rule tsi_rule_hang_unfinished = {
	.def = {
		.id = "HANG.UNFINISHED",
		.summary = "all ranks made a call and it does not end",
		.facts = { "hang.kind" },
		.trigger = "Fires where flight-recorder dumps show that all ranks of a group "
			   "made the call they wait in, with the same arguments, and it is not "
			   "complete; high. Where most devices began it and a few did not, "
			   "these ranks are to blame. Where the dumps name their "
			   "hosts (host_name), says which host the ranks that stand still share, "
			   "or which one or two all calls that stand still have in common.",
		.meaning = "No rank of the program is to blame: the network between the ranks, "
			   "a device or its driver stands still, or the ranks of a broadcast "
			   "or reduce name different roots, which dumps do not record.",
		.advice = "look for errors of links and devices (dmesg: Xid, NVLink, mlx5; "
			  "NCCL_DEBUG=WARN), run nccl-tests between the nodes of these ranks; "
			  "see if what they share is a node, a switch or a link",
		.example = "All 8 ranks called all_reduce 1841, no rank completed it: a "
			   "finding of severity high that names no rank.",
	},
	.evidence = { "hang.kind", "hang.call", "hang.culprit_ranks", "hang.waiting_count",
		      "hang.timeout_ns", "hang.started_ranks", "hang.completed_ranks" },
	.is_separate = true,
	.cause = CAUSE_hang_unfinished,
	.evaluate = evaluate_hang_unfinished,
};
