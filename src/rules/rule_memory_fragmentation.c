/* SPDX-License-Identifier: MIT */
/*
 * MEMORY.FRAGMENTATION: even at its peak the allocator holds much more than it has handed out, and
 * memory is short. Memory that lies idle between steps, before a flush or on a device with room to
 * spare costs nothing: peaks are compared with peaks, and with the device's memory. Free memory of
 * private pools is for these alone: graphs with several pools that could share one are another
 * finding.
 */
#include "rules/rule.h"

#include <inttypes.h>

#include "base/scaled_text.h"
#include "rules/budget_share.h"
#include "rules/private_pools.h"

/* The peaks of a source, and whether it saw a request fail or flush the cache. */
struct holding {
	const char *peak_fact, *reserved_fact;
	const char *failures[2]; /* counts */
};

static const struct holding steps = {
	"memory.peak_alloc_bytes",
	"memory.peak_reserved_bytes",
	{ "memory.oom_count", "memory_stats.num_alloc_retries" },
};
static const struct holding snapshot = {
	"snapshot.peak_allocated_bytes",
	"snapshot.peak_reserved_bytes",
	{ "snapshot.oom_count", "snapshot.retry_count" },
};

#define ADVICE                                                                                     \
	"pad or bucket batches so that shapes repeat; empty_cache() only between phases such as "  \
	"training and evaluation, never in each step"

static const char advice_of_graphs[] =
	"capture the graphs into one pool (pool=torch.cuda.graph_pool_handle()), the largest "
	"first, "
	"where they never replay at once and no output is needed after the next replay; or "
	"capture fewer sizes; expandable segments and empty_cache() do not help here";
static const char advice_of_streams[] =
	"memory freed on a stream serves that stream alone: let side streams reuse buffers that "
	"they keep, or allocate on the main stream and call record_stream(); limit how far they "
	"run ahead (FSDP: limit_all_gathers=True)";
static const char advice_when_expandable[] = "expandable segments are in use already: " ADVICE;
static const char capacity_fact[] = "device_busy.memory_max_bytes";

static bool has_failed(const struct rule_context *ctx, const struct holding *holding)
{
	return tsi_rule_int(ctx, holding->failures[0]) > 0 ||
	       tsi_rule_int(ctx, holding->failures[1]) > 0;
}

static bool is_nearly_full(const struct rule_context *ctx, double reserved_bytes)
{
	return tsi_rule_has(ctx, capacity_fact) &&
	       reserved_bytes >=
		       tsi_rule_parameter(ctx, "full") * tsi_rule_real(ctx, capacity_fact);
}

/* Idle memory at the peak, less what nobody but private pools could have had. */
struct idle {
	double peak_bytes, reserved_bytes;
	struct private_pools pools;
	double side_bytes;  /* free on side streams */
	double ratio;       /* without these pools, of what was reserved */
	double graph_ratio; /* what graphs could share in one pool */
};

static struct idle measure(const struct rule_context *ctx, const struct holding *holding)
{
	struct idle idle = { .peak_bytes = tsi_rule_real(ctx, holding->peak_fact),
			     .reserved_bytes = tsi_rule_real(ctx, holding->reserved_fact) };

	if (!(idle.reserved_bytes > 0))
		return idle;
	double bytes = idle.reserved_bytes - idle.peak_bytes;
	if (holding == &snapshot) {
		idle.pools = tsi_private_pools(ctx);
		idle.side_bytes = tsi_free_on_side_streams(ctx, &idle.pools);
	}
	double own_bytes = bytes > idle.pools.free_bytes ? bytes - idle.pools.free_bytes : 0;
	double shared_bytes = tsi_shareable_bytes(&idle.pools);
	idle.ratio = own_bytes / idle.reserved_bytes;
	idle.graph_ratio = (shared_bytes < bytes - own_bytes ? shared_bytes : bytes - own_bytes) /
			   idle.reserved_bytes;
	return idle;
}

static void describe(struct rule_context *ctx, const struct holding *holding,
		     const struct idle *idle, bool is_pressed)
{
	tsi_rule_detail(ctx, "%s allocated at the peak, %s reserved",
			tsi_scaled_text(idle->peak_bytes, QUANTITY_SIZE).chars,
			tsi_scaled_text(idle->reserved_bytes, QUANTITY_SIZE).chars);
	if (tsi_rule_has(ctx, capacity_fact))
		tsi_rule_detail(
			ctx, "the device has %s",
			tsi_scaled_text(tsi_rule_real(ctx, capacity_fact), QUANTITY_SIZE).chars);
	if (has_failed(ctx, holding))
		tsi_rule_detail(ctx, "requests failed or flushed the cache");
	else if (!is_pressed)
		tsi_rule_detail(ctx, "no request failed: harmless while the device has room");
	tsi_rule_evidence(ctx, holding->peak_fact);
	tsi_rule_evidence(ctx, holding->reserved_fact);
	tsi_rule_evidence(ctx, capacity_fact);
}

static enum tscope_severity grade(const struct rule_context *ctx, double ratio, bool is_pressed)
{
	return is_pressed && ratio >= tsi_rule_parameter(ctx, "med") ? TSCOPE_SEVERITY_MED
								     : TSCOPE_SEVERITY_LOW;
}

static void fire(struct rule_context *ctx, const struct holding *holding, const struct idle *idle,
		 bool is_pressed)
{
	tsi_rule_fire(ctx, grade(ctx, idle->ratio, is_pressed),
		      "%.1f %% of the reserved device memory is idle even at the peak",
		      100 * idle->ratio);
	if (tsi_is_worth_naming(idle->side_bytes / idle->reserved_bytes))
		tsi_rule_detail(ctx,
				"at the end at least %s is free on side streams, for these alone",
				tsi_scaled_text(idle->side_bytes, QUANTITY_SIZE).chars);
	describe(ctx, holding, idle, is_pressed);
	if (idle->pools.free_bytes > 0)
		tsi_rule_detail(ctx, "another %s is free in private pools, for these alone",
				tsi_scaled_text(idle->pools.free_bytes, QUANTITY_SIZE).chars);
	if (idle->side_bytes >= idle->ratio * idle->reserved_bytes / 2)
		tsi_rule_advice(ctx, advice_of_streams);
	else if (tsi_rule_flag(ctx, "snapshot.expandable_segments"))
		tsi_rule_advice(ctx, advice_when_expandable);
}

static void fire_graphs(struct rule_context *ctx, const struct holding *holding,
			const struct idle *idle, bool is_pressed)
{
	tsi_rule_fire(
		ctx, grade(ctx, idle->graph_ratio, is_pressed),
		"%" PRId64 " pools of CUDA graphs hold %s that one pool could share",
		idle->pools.graph_count,
		tsi_scaled_text(idle->graph_ratio * idle->reserved_bytes, QUANTITY_SIZE).chars);
	tsi_rule_detail(ctx, "%s is free in these pools, for replays of their own graphs",
			tsi_scaled_text(idle->pools.graph_bytes, QUANTITY_SIZE).chars);
	describe(ctx, holding, idle, is_pressed);
	tsi_rule_advice(ctx, advice_of_graphs);
}

static void evaluate_memory_fragmentation(struct rule_context *ctx)
{
	bool has_steps = tsi_rule_has(ctx, steps.peak_fact);
	const struct holding *holding =
		!has_steps && tsi_rule_has(ctx, "snapshot.reserved_bytes") ? &snapshot : &steps;
	double threshold = tsi_rule_parameter(ctx, "threshold");

	if (!tsi_rule_trusts(ctx, holding->peak_fact) ||
	    !tsi_rule_trusts(ctx, holding->reserved_fact))
		return;
	struct idle idle = measure(ctx, holding);
	bool is_pressed = has_failed(ctx, holding) || is_nearly_full(ctx, idle.reserved_bytes);

	if (idle.peak_bytes < tsi_rule_parameter(ctx, "bytes") ||
	    (tsi_rule_has(ctx, capacity_fact) && !is_pressed))
		return;
	if (idle.ratio >= threshold)
		fire(ctx, holding, &idle, is_pressed);
	else if (idle.graph_ratio >= threshold)
		fire_graphs(ctx, holding, &idle, is_pressed);
}

const struct rule tsi_rule_memory_fragmentation = {
	.def = {
		.id = "MEMORY.FRAGMENTATION",
		.summary = "the allocator holds much memory that is not in use",
		.trigger = "Fires where at least bytes were allocated at the peak, and of what was "
			   "reserved at the most at least threshold was not even allocated then: "
			   "1 - peak allocated \xc3\xb7 peak reserved. Med from med on where "
			   "memory was short: a request failed or flushed the cache, or at least "
			   "full of the device's memory was reserved; else low. Not where the "
			   "trace knows that the device had room. Of a snapshot of one device, "
			   "free memory of private pools counts apart: where CUDA graphs that have "
			   "several pools could share at least threshold. What is free on streams "
			   "beside the one that holds most is named, too.",
		.meaning = "Memory that is cut into pieces cannot serve a large request: the run "
			   "ends out of memory although enough is free. What lies idle between "
			   "peaks waits for the next one and costs nothing.",
		.advice = "set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, " ADVICE,
		.example = "At most 6 GiB are allocated of 10 GiB reserved on a device with 12: "
			   "0.40 is idle and 0.83 of the device is taken, a finding of severity "
			   "med.",
		.parameters = {
			{ "threshold", 0.20, "idle share of reserved memory at which it fires" },
			{ "med", 0.40, "share from which it is of severity med" },
			{ "full", 0.80, "reserved share of the device that makes memory short" },
			{ "bytes", 67108864, "least peak of allocated memory (64 MiB)" },
		},
	},
	.cause = CAUSE_memory_fragmentation,
	.evaluate = evaluate_memory_fragmentation,
};
