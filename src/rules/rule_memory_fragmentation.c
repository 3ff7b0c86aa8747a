/* SPDX-License-Identifier: MIT */
/*
 * MEMORY.FRAGMENTATION: even at its peak the allocator holds much more than it has handed out, and
 * memory is short. Memory that lies idle between steps, before a flush or on a device with room to
 * spare costs nothing: peaks are compared with peaks, and with the device's memory.
 */
#include "rules/rule.h"

#include "base/scaled_text.h"

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

static void fire(struct rule_context *ctx, const struct holding *holding, bool is_pressed)
{
	double peak_bytes = tsi_rule_real(ctx, holding->peak_fact);
	double reserved_bytes = tsi_rule_real(ctx, holding->reserved_fact);
	double ratio = (reserved_bytes - peak_bytes) / reserved_bytes;

	tsi_rule_fire(ctx,
		      is_pressed && ratio >= tsi_rule_parameter(ctx, "med") ? TSCOPE_SEVERITY_MED
									    : TSCOPE_SEVERITY_LOW,
		      "%.1f %% of the reserved device memory is idle even at the peak",
		      100 * ratio);
	tsi_rule_detail(ctx, "%s allocated at the peak, %s reserved",
			tsi_scaled_text(peak_bytes, QUANTITY_SIZE).chars,
			tsi_scaled_text(reserved_bytes, QUANTITY_SIZE).chars);
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
	if (tsi_rule_flag(ctx, "snapshot.expandable_segments"))
		tsi_rule_advice(ctx, advice_when_expandable);
}

static void evaluate_memory_fragmentation(struct rule_context *ctx)
{
	bool has_steps = tsi_rule_has(ctx, steps.peak_fact);
	const struct holding *holding =
		!has_steps && tsi_rule_has(ctx, "snapshot.reserved_bytes") ? &snapshot : &steps;

	if (!tsi_rule_trusts(ctx, holding->peak_fact) ||
	    !tsi_rule_trusts(ctx, holding->reserved_fact))
		return;
	double peak_bytes = tsi_rule_real(ctx, holding->peak_fact);
	double reserved_bytes = tsi_rule_real(ctx, holding->reserved_fact);
	bool is_pressed = has_failed(ctx, holding) || is_nearly_full(ctx, reserved_bytes);

	if (peak_bytes < tsi_rule_parameter(ctx, "bytes") || reserved_bytes <= 0 ||
	    (reserved_bytes - peak_bytes) / reserved_bytes < tsi_rule_parameter(ctx, "threshold") ||
	    (tsi_rule_has(ctx, capacity_fact) && !is_pressed))
		return;
	fire(ctx, holding, is_pressed);
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
			   "trace knows that the device had room.",
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
