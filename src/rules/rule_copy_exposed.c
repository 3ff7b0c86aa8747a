/* SPDX-License-Identifier: MIT */
/* COPY.EXPOSED: the device copies or fills memory while no kernel runs. */
#include "base/scaled_text.h"
#include "rules/budget_share.h"
#include "rules/main_caller.h"

#include <math.h>
#include <string.h>

#define DIRECTIONS "copies.by_direction"

/* Other directions than from the host, for which the rule's own advice is. */
static const struct {
	const char *direction;
	const char *advice[ADVICE_USER_COUNT]; /* NULL: inference as training, serving the rule's */
} advices[] = {
	{ "d2h",
	  { [ADVICE_TRAINING] =
		    "copy results to pinned memory (torch.empty(..., pin_memory=True)) with "
		    "non_blocking=True on a stream of its own, and read them a step later; reduce "
		    "them on the device first; of offloaded states move each layer's while the "
		    "next one is computed",
	    [ADVICE_INFERENCE] =
		    "copy results to pinned memory (torch.empty(..., pin_memory=True)) with "
		    "non_blocking=True on a stream of its own, and read them a request later; "
		    "reduce them on the device first" } },
	{ "d2d",
	  { [ADVICE_TRAINING] =
		    "look for clone(), contiguous(), cat() and buffers that are copied each step "
		    "(with_stack=True names the line): write into the final tensor (out=, "
		    "views)" } },
	{ "p2p",
	  { [ADVICE_TRAINING] =
		    "compute one microbatch while another is copied "
		    "(torch.distributed.pipelining), or prefetch the next layer's on a stream of "
		    "its own; copy less: fewer boundaries between devices, bf16; where the "
		    "bandwidth is that of PCIe, choose devices that NVLink joins (nvidia-smi topo "
		    "-m)",
	    [ADVICE_INFERENCE] =
		    "instead of moving activations from device to device (device_map=\"auto\") "
		    "split each layer over them (tp_plan=\"auto\", an engine) or keep a replica "
		    "on each; where the bandwidth is that of PCIe, choose devices that NVLink "
		    "joins (nvidia-smi topo -m)",
	    [ADVICE_SERVING] =
		    "overlap the exchange between devices with computation; where the bandwidth "
		    "is that of PCIe, choose devices that NVLink joins (nvidia-smi topo -m); a "
		    "lower --tensor-parallel-size with more replicas" } },
	{ "fill",
	  { [ADVICE_TRAINING] = "zero_grad(set_to_none=True), and torch.empty() instead of "
				"torch.zeros() for what is overwritten",
	    [ADVICE_INFERENCE] = "torch.empty() instead of torch.zeros() for what is "
				 "overwritten" } },
};

static void advise(struct rule_context *ctx, const char *direction)
{
	for (size_t i = 0; i < TSI_COUNT_OF(advices); i++) {
		const char *const *advice = advices[i].advice;
		if (strcmp(advices[i].direction, direction) != 0)
			continue;
		tsi_rule_advice_for(ctx, ADVICE_TRAINING, advice[ADVICE_TRAINING]);
		tsi_rule_advice_for(
			ctx, ADVICE_INFERENCE,
			advice[advice[ADVICE_INFERENCE] ? ADVICE_INFERENCE : ADVICE_TRAINING]);
		if (advice[ADVICE_SERVING])
			tsi_rule_advice_for(ctx, ADVICE_SERVING, advice[ADVICE_SERVING]);
	}
}

static double exposed_ns(const struct rule_context *ctx, size_t row)
{
	return tsi_rule_cell_real(ctx, DIRECTIONS, row, "exposed_ns");
}

/* The direction of most copies that nothing hides, or SIZE_MAX. */
static size_t find_direction(const struct rule_context *ctx)
{
	size_t most = tsi_rule_rows(ctx, DIRECTIONS) ? 0 : SIZE_MAX;

	for (size_t row = 1; row < tsi_rule_rows(ctx, DIRECTIONS); row++)
		if (exposed_ns(ctx, row) > exposed_ns(ctx, most))
			most = row;
	return most;
}

static void describe_direction(struct rule_context *ctx, size_t row, const char *direction)
{
	struct scaled_text time = tsi_time_text(exposed_ns(ctx, row));
	double speed = tsi_rule_cell_real(ctx, DIRECTIONS, row, "bytes_per_second");

	if (isfinite(speed))
		tsi_rule_detail(ctx, "mostly %s: %s in the trace, %.1f GB/s", direction, time.chars,
				speed / 1e9);
	else
		tsi_rule_detail(ctx, "mostly %s: %s in the trace", direction, time.chars);
	advise(ctx, direction);
}

static void evaluate_copy_exposed(struct rule_context *ctx)
{
	double share = tsi_budget_share(ctx, "budget.exposed_copy_total_ns");
	size_t row = find_direction(ctx);
	const char *direction =
		row == SIZE_MAX ? "" : tsi_rule_cell_text(ctx, DIRECTIONS, row, "direction");
	bool is_between_devices = strcmp(direction, "p2p") == 0;

	if (!(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx, tsi_rule_grade(ctx, share),
		      "exposed memory copies%s take %.1f %% of the step",
		      is_between_devices ? ", mostly between devices," : "", 100 * share);
	if (row != SIZE_MAX)
		describe_direction(ctx, row, direction);
	tsi_describe_copier(ctx, "", "exposed_ns");
	if (is_between_devices)
		tsi_rule_cause(ctx, CAUSE_peer_copy);
	/* Overlapped, a step still takes as long as its copies; those of peers are waited for. */
	if (share > 0.5 || is_between_devices)
		tsi_rule_bound(ctx);
	tsi_gain_share(ctx, GAIN_COPY, fmin(share, 1 - share));
}

const struct rule tsi_rule_copy_exposed = {
	.def = {
		.id = "COPY.EXPOSED",
		.summary = "copies are not hidden behind compute",
		.trigger = "Fires where copies and fills that no kernel overlaps take at least "
			   "threshold of the steps' time; high from high on, else med.",
		.meaning = "The device has engines that copy while kernels run, so that most "
			   "copies can be free. A twentieth of the step that only copies is more "
			   "than setting up a batch needs. Where copies take more than half of "
			   "the step, hiding all else behind them wins no more than the rest. "
			   "What a copy brings from another device the next kernel needs: only "
			   "other work hides it, such as another microbatch.",
		.advice = "copy the next batch on a stream of its own while this one is computed, "
			  "from pinned memory with non_blocking=True; make tensors on the device "
			  "(device=) instead of moving them; for offloaded states prefetch the "
			  "next layer",
		.serving_advice = "keep weights and cache on the device: offloading copies them in "
			  "each iteration (weights: --cpu-offload-gb of vLLM and SGLang; cache: "
			  "SGLang --enable-hierarchical-cache)",
		.inference_advice = "copy the inputs of the next request while the device "
			  "computes; keep weights on the device instead of offloading them",
		.example = "In a step of 100 ms the batch is copied for 10 ms before the first "
			   "kernel starts: 0.10, a finding of severity med with 10 ms a step to "
			   "win.",
		.parameters = {
			{ "threshold", 0.05, "share of the step at which it fires" },
			{ "high", 0.20, "share of the step from which it is severe" },
		},
		.facts = { "budget.exposed_copy_total_ns", "budget.wall_total_ns" },
	},
	.evidence = { "budget.exposed_copy_total_ns", "budget.wall_total_ns", "copies.exposed_ns",
		      "copies.total_ns", "copies.bytes" },
	.cause = CAUSE_copy_exposed,
	.evaluate = evaluate_copy_exposed,
};
