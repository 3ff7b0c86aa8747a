/* SPDX-License-Identifier: MIT */
/*
 * TRACE.UNRELIABLE: what the trace says of the device contradicts itself. The
 * rules that read such figures are not evaluated; this one says why.
 */
#include "rules/rule.h"

static const char graphs_advice[] =
	"the profiler lost the kernels of CUDA graphs: record with a newer driver and PyTorch, "
	"with "
	"fewer steps at a time, or once without graphs (mode=\"default\" in torch.compile)";

static void evaluate_trace_unreliable(struct rule_context *ctx)
{
	const char *doubt = tsi_rule_text(ctx, "integrity.doubt");

	if (!*doubt)
		return;
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_HIGH, "the times of the device cannot be believed");
	tsi_rule_detail(ctx, "%s", doubt);
	if (tsi_rule_int(ctx, "integrity.empty_graph_launch_count") > 0)
		tsi_rule_advice(ctx, graphs_advice);
}

const struct rule tsi_rule_trace_unreliable = {
	.def = {
		.id = "TRACE.UNRELIABLE",
		.summary = "the times of the device cannot be believed",
		.trigger = "Fires where integrity.doubt says why the device's times cannot be "
			   "believed: graph launches without kernels, or more than 5 % of them "
			   "impossible; high.",
		.meaning = "Lost or wrong device events look like idle time. Each such figure is "
			   "marked, rules do not use it, and gates on it trip.",
		.advice = "record again; if it stays so update driver and PyTorch, and record "
			  "fewer steps at a time, so that the profiler's buffers do not overflow",
		.example = "A trace holds 40 launches of CUDA graphs and none of their kernels: "
			   "the device seems idle, but is not; a finding of severity high.",
		.facts = { "integrity.verdict" },
	},
	.evidence = { "integrity.doubt", "integrity.empty_graph_launch_count",
		      "integrity.impossible_count", "integrity.impossible_ns" },
	.cause = CAUSE_trace_unreliable,
	.evaluate = evaluate_trace_unreliable,
};
