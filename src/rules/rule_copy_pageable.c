/* SPDX-License-Identifier: MIT */
/* COPY.PAGEABLE: copies from or to host memory that is not pinned: slow, and nothing hides them. */
#include "rules/budget_share.h"
#include "rules/main_caller.h"

#include <math.h>
#include <string.h>

#include "base/scaled_text.h"

/* Share of calls that wait for their copies. */
#define BLOCKING_RATIO 0.5

#define DIRECTIONS "copies.by_direction"

static bool is_pageable(const struct rule_context *ctx, size_t row)
{
	struct tscope_value pageable = tsi_rule_cell(ctx, DIRECTIONS, row, "pageable");

	return pageable.kind == TSCOPE_VALUE_FLAG && pageable.flag;
}

/* The pageable direction with most time (rows come in that order), or "". */
static const char *main_direction(const struct rule_context *ctx)
{
	for (size_t row = 0; row < tsi_rule_rows(ctx, DIRECTIONS); row++)
		if (is_pageable(ctx, row))
			return tsi_rule_cell_text(ctx, DIRECTIONS, row, "direction");
	return "";
}

static void describe_copies(struct rule_context *ctx)
{
	const char *direction = main_direction(ctx);
	double seconds = tsi_rule_real(ctx, "copies.pageable_ns") / 1e9;
	double bytes = tsi_rule_real(ctx, "copies.pageable_bytes");

	if (isfinite(bytes) && seconds > 0)
		tsi_rule_detail(ctx, "%s at %.1f GB/s", tsi_scaled_text(bytes, QUANTITY_SIZE).chars,
				bytes / seconds / 1e9);
	if (strcmp(direction, "h2d") == 0)
		tsi_rule_detail(ctx, "mostly from the host to the device");
	if (strcmp(direction, "d2h") != 0)
		return;
	tsi_rule_detail(ctx, "mostly from the device to the host");
	tsi_rule_advice(ctx,
			"copy into a tensor made once with torch.empty(..., pin_memory=True) by "
			"copy_(..., non_blocking=True), and fewer times: every few steps, or "
			"only what has been reduced on the device");
}

/* The host's time in calls that copy, by the copies' own: near 1 where the calls block. */
static double blocked_ratio(const struct rule_context *ctx)
{
	double calls_ns = 0;

	for (size_t row = 0; row < tsi_rule_rows(ctx, "launches.by_name"); row++)
		if (strcmp(tsi_rule_cell_text(ctx, "launches.by_name", row, "kind"), "memcpy") == 0)
			calls_ns += tsi_rule_cell_real(ctx, "launches.by_name", row, "total_ns");
	return calls_ns / tsi_rule_real(ctx, "copies.pageable_ns");
}

static void evaluate_copy_pageable(struct rule_context *ctx)
{
	double share = tsi_device_share(ctx, tsi_rule_real(ctx, "copies.pageable_ns"));

	if (!(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx, tsi_rule_grade(ctx, share),
		      "copies of pageable (unpinned) host memory take %.1f %% of device time",
		      100 * share);
	describe_copies(ctx);
	tsi_describe_copier(ctx, "Pageable", "ns");
	for (size_t row = 0; row < tsi_rule_rows(ctx, DIRECTIONS); row++)
		if (is_pageable(ctx, row))
			tsi_rule_longest(ctx, DIRECTIONS, row);
	if (blocked_ratio(ctx) >= BLOCKING_RATIO)
		tsi_rule_cause(ctx, CAUSE_blocking_copy);
	/* Only what no kernel hides makes the step longer; how fast the link is is not known. */
	tsi_rule_bound(ctx);
	tsi_rule_confidence(ctx, TSCOPE_CONFIDENCE_MED);
	double exposed = tsi_budget_share(ctx, "budget.exposed_copy_total_ns");
	tsi_gain_share(ctx, GAIN_COPY, exposed < share ? exposed : share);
}

const struct rule tsi_rule_copy_pageable = {
	.def = {
		.id = "COPY.PAGEABLE",
		.summary = "copies use host memory that is not pinned",
		.trigger = "Fires where copies from or to pageable host memory take at least "
			   "threshold of the devices' time, from their first event to their last; "
			   "high from high on, else med.",
		.meaning = "The driver sends pageable memory through a buffer of its own, at half "
			   "the speed or less, and makes the host wait for it, non_blocking=True "
			   "or not. Single numbers (.item()) do not matter; a hundredth of the "
			   "time means that batches go this way.",
		.advice = "DataLoader(pin_memory=True) and .to(device, non_blocking=True); a "
			  "collate function that returns a class of its own needs a pin_memory() "
			  "method",
		.serving_advice = "pin what the engine copies to the device each iteration: it "
			  "comes from pageable memory, as inputs of custom code do",
		.inference_advice = "pin what is copied each time (torch.empty(..., "
			  "pin_memory=True)) and pass non_blocking=True",
		.example = "In 100 ms 4 ms are copies Pageable -> Device: 0.04, a finding of "
			   "severity med.",
		.parameters = {
			{ "threshold", 0.01, "share of the devices' time at which it fires" },
			{ "high", 0.10, "share of the devices' time from which it is severe" },
		},
		.facts = { "copies.pageable_ns", "device_busy.span_ns" },
	},
	.evidence = { "copies.pageable_count", "copies.pageable_ns", "copies.pageable_bytes",
		      "device_busy.span_ns" },
	.cause = CAUSE_pageable_copy,
	.evaluate = evaluate_copy_pageable,
};
