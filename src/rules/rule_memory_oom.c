/* SPDX-License-Identifier: MIT */
/*
 * MEMORY.OOM: a request for device memory failed. A snapshot shows what was free then, in which
 * pieces, and what the rest was for, so the advice is what would have let the request succeed;
 * traces and statistics only count failures.
 */
#include "rules/rule.h"

#include <inttypes.h>
#include <string.h>

#include "analyze/memory/site_words.h"
#include "base/scaled_text.h"
#include "rules/live_memory.h"
#include "rules/private_pools.h"

static struct scaled_text size(const struct rule_context *ctx, const char *fact)
{
	return tsi_size_text(tsi_rule_int(ctx, fact));
}

static bool has_cause(const struct rule_context *ctx, const char *cause)
{
	return strcmp(tsi_rule_text(ctx, "snapshot.oom_cause"), cause) == 0;
}

/* "", or the first thing to do: pools of CUDA graphs hold more than what is short. */
static const char *advise_graphs(struct rule_context *ctx)
{
	const struct private_pools pools = tsi_private_pools(ctx);
	double short_bytes = tsi_rule_real(ctx, "snapshot.oom_shortfall_bytes");

	if (!(short_bytes > 0) || tsi_shareable_bytes(&pools) < short_bytes)
		return "";
	tsi_rule_detail(ctx,
			"%s is free in %" PRId64 " pools of CUDA graphs, of which one pool could "
			"share %s",
			tsi_scaled_text(pools.graph_bytes, QUANTITY_SIZE).chars, pools.graph_count,
			tsi_scaled_text(tsi_shareable_bytes(&pools), QUANTITY_SIZE).chars);
	return "capture the CUDA graphs into one pool (pool=torch.cuda.graph_pool_handle()), the "
	       "largest first, where they never replay at once; or ";
}

/*
 * Advice by what expandable segments would have achieved, and by what fills the memory, which is
 * put between.
 */
static void advise(struct rule_context *ctx)
{
	static const struct {
		const char *helps, *before, *behind;
	} advices[] = {
		{ "likely",
		  "set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True: the free pages would "
		  "probably have held the request; for more room lower the peak",
		  "" },
		{ "perhaps",
		  "try PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, the free pages may "
		  "suffice; be ready to lower the peak, too",
		  "" },
		{ "hardly", "lower the peak",
		  "; what is free lies in holes smaller than a page, so that expandable segments "
		  "alone would not do" },
		{ "no", "lower the peak",
		  "; no setting of the allocator would have let this pass" },
		{ "in_use", "lower the peak", "; expandable segments are in use already" },
		{ "", "lower the peak", "" },
	};
	const char *helps = tsi_rule_text(ctx, "snapshot.oom_expandable_segments");
	int64_t short_bytes = tsi_rule_int(ctx, "snapshot.oom_shortfall_bytes");
	const struct memory_advice less = tsi_memory_advice(ctx);
	const char *graphs = advise_graphs(ctx);

	if (has_cause(ctx, "limit")) {
		tsi_rule_advice(ctx, "raise the limit of the process "
				     "(torch.cuda.set_per_process_memory_fraction),"
				     " or lower the peak to fit below it; where no limit is set, "
				     "another process "
				     "held the memory a moment before: give each its share");
		return;
	}
	for (size_t i = 0; i < TSI_COUNT_OF(advices); i++)
		if (strcmp(helps, advices[i].helps) == 0)
			tsi_rule_advice_print(ctx, "%s%s%s%s%s%s", graphs, advices[i].before,
					      short_bytes > 0 ? " by at least " : "",
					      short_bytes > 0 ? tsi_size_text(short_bytes).chars
							      : "",
					      less.chars, advices[i].behind);
}

/* Enough was free, in pieces. */
static void describe_pieces(struct rule_context *ctx)
{
	int64_t largest_bytes = tsi_rule_int(ctx, "snapshot.oom_largest_free_bytes");

	tsi_rule_detail(ctx, "fragmentation: %s was free in segments and %s on the device",
			size(ctx, "snapshot.oom_free_bytes").chars,
			size(ctx, "snapshot.oom_device_free_bytes").chars);
	/* Else it was for a pool of its own, and this is a piece of the default one. */
	if (largest_bytes < tsi_rule_int(ctx, "snapshot.oom_size_bytes"))
		tsi_rule_detail(ctx, "the largest free block was %s",
				tsi_size_text(largest_bytes).chars);
	tsi_rule_merge_with(ctx, CAUSE_memory_fragmentation);
}

static void describe_why(struct rule_context *ctx)
{
	if (has_cause(ctx, "limit")) {
		tsi_rule_detail(ctx, "the driver had enough left: a process limit such as "
				     "set_per_process_memory_fraction refused it");
	} else if (has_cause(ctx, "rounding")) {
		tsi_rule_detail(ctx, "torch rounds it up to %s, more than the driver had left",
				size(ctx, "snapshot.oom_driver_bytes").chars);
		tsi_rule_evidence(ctx, "snapshot.oom_driver_bytes");
	} else if (has_cause(ctx, "fragmentation")) {
		describe_pieces(ctx);
	} else if (tsi_rule_has(ctx, "snapshot.oom_shortfall_bytes")) {
		tsi_rule_detail(ctx, "%s short even if all free memory were in one piece",
				size(ctx, "snapshot.oom_shortfall_bytes").chars);
		tsi_rule_evidence(ctx, "snapshot.oom_shortfall_bytes");
	}
	struct str site = tsi_site_words(tsi_rule_text(ctx, "snapshot.oom_site"));
	if (site.length)
		tsi_rule_detail(ctx, "requested by %.*s", TSI_QUOTE(site));
}

static void describe_snapshot(struct rule_context *ctx)
{
	static const char *const evidence[] = {
		"snapshot.oom_count",
		"snapshot.oom_size_bytes",
		"snapshot.oom_device_free_bytes",
		"snapshot.oom_free_bytes",
		"snapshot.oom_largest_free_bytes",
		"snapshot.oom_cause",
		"snapshot.oom_expandable_segments",
		"snapshot.oom_live_bytes",
		"snapshot.oom_reserved_bytes",
	};
	int64_t count = tsi_rule_int(ctx, "snapshot.oom_count");

	if (tsi_rule_has(ctx, "snapshot.oom_device_free_bytes"))
		tsi_rule_fire(ctx, TSCOPE_SEVERITY_HIGH,
			      "CUDA OOM on device %" PRId64 ": tried to allocate %s, %s free",
			      tsi_rule_int(ctx, "snapshot.oom_device"),
			      size(ctx, "snapshot.oom_size_bytes").chars,
			      size(ctx, "snapshot.oom_device_free_bytes").chars);
	else
		tsi_rule_fire(ctx, TSCOPE_SEVERITY_HIGH, "CUDA OOM: tried to allocate %s",
			      size(ctx, "snapshot.oom_size_bytes").chars);
	if (count > 1)
		tsi_rule_detail(ctx, "the last of %" PRId64 " requests that failed", count);
	describe_why(ctx);
	tsi_describe_live(ctx);
	advise(ctx);
	for (size_t i = 0; i < TSI_COUNT_OF(evidence); i++)
		tsi_rule_evidence(ctx, evidence[i]);
}

static void evaluate_memory_oom(struct rule_context *ctx)
{
	static const char *const counters[] = { "memory.oom_count", "memory_stats.num_ooms" };
	bool is_known = tsi_rule_has(ctx, "snapshot.oom_count");

	if (tsi_rule_int(ctx, "snapshot.oom_count") > 0) {
		describe_snapshot(ctx);
		return;
	}
	for (size_t i = 0; i < TSI_COUNT_OF(counters); i++) {
		int64_t count = tsi_rule_int(ctx, counters[i]);

		is_known |= tsi_rule_has(ctx, counters[i]);
		if (count <= 0)
			continue;
		tsi_rule_fire(ctx, TSCOPE_SEVERITY_HIGH,
			      "out of memory: %" PRId64 " request%s for device memory failed",
			      count, count == 1 ? "" : "s");
		tsi_rule_evidence(ctx, counters[i]);
		return;
	}
	if (!is_known)
		(void)tsi_rule_needs(ctx, tsi_rule_has(ctx, "memory_stats.call_count")
						  ? "memory_stats.num_ooms"
						  : "snapshot.oom_count");
}

const struct rule tsi_rule_memory_oom = {
	.def = {
		.id = "MEMORY.OOM",
		.summary = "a request for device memory failed",
		.trigger = "Fires where a snapshot holds an out-of-memory entry, or a trace or "
			   "memory statistics count one; high. It describes the last of several.",
		.meaning = "The job ended here, or went on after it had caught the error and lost "
			   "a step. Either there is too little memory at the peak, or enough that "
			   "lies in pieces which are too small, or the driver had enough and a "
			   "limit of the process (set_per_process_memory_fraction) refused it.",
		.advice = "lower the peak: activation checkpointing, a smaller micro-batch, "
			  "sharded or offloaded optimizer state; where enough was free in pieces, "
			  "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
		.example = "512 MiB are asked for with 40 MiB free on the device and 700 MiB in "
			   "segments, the largest piece 256 MiB: a finding of severity high that "
			   "blames fragmentation.",
	},
	.cause = CAUSE_oom,
	.evaluate = evaluate_memory_oom,
};
