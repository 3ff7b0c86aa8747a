/* SPDX-License-Identifier: MIT */
/*
 * Lines of the budget are sums over steps, devices and ranks. As shares of the
 * wall time that is summed in the same way they mean the same for one device
 * and for a thousand, and times the mean step they are a time in each step.
 */
#include "rules/budget_share.h"

#include <math.h>

double tsi_budget_share(const struct rule_context *ctx, const char *line)
{
	double wall_ns = tsi_rule_real(ctx, "budget.wall_ns");

	return wall_ns > 0 ? tsi_rule_real(ctx, line) / wall_ns : NAN;
}

double tsi_device_share(const struct rule_context *ctx, double ns)
{
	double span_ns = tsi_rule_real(ctx, "device_busy.span_ns");

	return span_ns > 0 ? ns / span_ns : NAN;
}

const struct idle_line tsi_idle_lines[IDLE_LINE_COUNT] = {
	{ "budget.data_stall_ns", "waiting for data",
	  "raise num_workers of the DataLoader, set persistent_workers=True and pin_memory=True, "
	  "raise prefetch_factor",
	  CAUSE_data_loader, GAIN_DATA },
	{ "budget.sync_stall_ns", "the host waits for the device",
	  "remove .item(), .cpu(), print of tensors and torch.cuda.synchronize() from the step; "
	  "see launches.syncs for who waits",
	  CAUSE_sync_drain, GAIN_SYNC },
	{ "budget.launch_stall_ns", "the host launches too slowly",
	  "torch.compile(mode=\"reduce-overhead\") or a CUDA graph, larger batches, a fused "
	  "optimizer; keep logging and Python work out of the step",
	  CAUSE_launch_overhead, GAIN_LAUNCH },
	{ "budget.device_gap_ns", "gaps between work that is launched",
	  "fewer and larger kernels (torch.compile, CUDA graphs); look for events and streams that "
	  "wait for each other",
	  CAUSE_small_kernels, GAIN_DEVICE_GAP },
	{ "budget.unattributed_ns", "no launch to judge by",
	  "record CPU activity together with the device's, and whole steps, to see what the host "
	  "does meanwhile",
	  CAUSE_unrecorded_work, GAIN_UNRECORDED },
};

double tsi_idle_share(const struct rule_context *ctx)
{
	double wall_ns = tsi_rule_real(ctx, "budget.wall_ns"), idle_ns = 0;

	for (size_t i = 0; i < IDLE_LINE_COUNT; i++)
		idle_ns += tsi_rule_real(ctx, tsi_idle_lines[i].fact);
	return wall_ns > 0 ? idle_ns / wall_ns : NAN;
}

const struct idle_line *tsi_longest_idle_line(const struct rule_context *ctx)
{
	const struct idle_line *longest = &tsi_idle_lines[0];

	for (size_t i = 1; i < IDLE_LINE_COUNT; i++)
		if (tsi_rule_int(ctx, tsi_idle_lines[i].fact) > tsi_rule_int(ctx, longest->fact))
			longest = &tsi_idle_lines[i];
	return longest;
}

void tsi_gain_share(struct rule_context *ctx, enum gain_part part, double share)
{
	double ns = share * tsi_rule_real(ctx, "step_time.mean_ns");

	if (isfinite(ns))
		tsi_rule_gain(ctx, part, llround(ns));
}

void tsi_gain_host_share(struct rule_context *ctx, enum gain_part part, double share)
{
	double idle = tsi_idle_share(ctx);

	tsi_gain_share(ctx, part, idle < share ? idle : share);
}
