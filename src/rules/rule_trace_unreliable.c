/* SPDX-License-Identifier: MIT */
/*
 * TRACE.UNRELIABLE: what the trace says of the device, or of its steps, contradicts itself. The
 * rules that read such figures are not evaluated; this one says why.
 */
#include "base/scaled_text.h"
#include "rules/advice.h"
#include "rules/rule.h"

#include <inttypes.h>

static const char graphs_advice[] =
	"the profiler lost the kernels of CUDA graphs: record with a newer driver and PyTorch, "
	"with "
	"fewer steps at a time, or once without graphs (mode=\"default\" in torch.compile)";

static const char no_device_advice[] =
	"record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA] and stop the "
	"profiler after " SYNCHRONIZE "; if launches come without kernels again the vendor's "
	"library (CUPTI, roctracer) delivered none: look for its warnings on stderr, end other "
	"profilers "
	"that hold it (nsys, ncu, DCGM), drop profiler_metrics of _ExperimentalConfig, and allow "
	"profiling to all users of the container or driver (NVreg_RestrictProfilingToAdminUsers=0)";

static void fire_no_device(struct rule_context *ctx)
{
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_HIGH,
		      "device activity was not recorded: %" PRId64 " launches, no kernel or copy",
		      tsi_rule_int(ctx, "launches.launch_count"));
	tsi_rule_detail(ctx, "what the device did, and when it was idle, is unknown");
	tsi_rule_evidence(ctx, "launches.launch_count");
	tsi_rule_evidence(ctx, "integrity.device_event_count");
	tsi_rule_advice(ctx, no_device_advice);
}

static const char overlap_advice[] =
	"call profiler.step() once in an iteration, of one profiler, and let no step's annotation "
	"be open when the next begins; --step-marker NAME goes by other slices";

static void fire_overlap(struct rule_context *ctx)
{
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_HIGH, "step times are not reliable: steps overlap");
	tsi_rule_detail(ctx, "marks of %" PRId64 " of %" PRId64 " steps end after the next begins",
			tsi_rule_int(ctx, "steps.overlap_count"), tsi_rule_int(ctx, "steps.count"));
	tsi_rule_evidence(ctx, "steps.overlap_count");
	tsi_rule_advice(ctx, overlap_advice);
}

static void fire_mixed(struct rule_context *ctx, const char *fact, const char *what)
{
	const char *process = tsi_rule_text(ctx, "steps.process");

	tsi_rule_fire(ctx, TSCOPE_SEVERITY_HIGH,
		      "the file mixes the events of %" PRId64 " %s: no figure is that of one",
		      tsi_rule_int(ctx, fact), what);
	if (*process != '\0')
		tsi_rule_detail(ctx, "the steps are those of process %.64s", process);
	tsi_rule_evidence(ctx, fact);
}

/* False: it is the trace of one process. */
static bool fire_if_mixed(struct rule_context *ctx)
{
	if (tsi_rule_has(ctx, "steps.merged_rank_count")) {
		fire_mixed(ctx, "steps.merged_rank_count", "ranks");
		tsi_rule_advice(ctx, "run tscope report on it, which reads each rank by itself");
	} else if (tsi_rule_has(ctx, "steps.process_count")) {
		fire_mixed(ctx, "steps.process_count", "processes");
		tsi_rule_advice(ctx, "read the traces that it was merged from: those of ranks "
				     "together, with tscope report FOLDER");
	} else {
		return false;
	}
	return true;
}

static void evaluate_trace_unreliable(struct rule_context *ctx)
{
	const char *doubt = tsi_rule_text(ctx, "integrity.doubt");

	if (fire_if_mixed(ctx))
		return;
	if (!*doubt && tsi_rule_int(ctx, "steps.overlap_count") > 0) {
		fire_overlap(ctx);
		return;
	}
	if (!*doubt || tsi_rule_flag(ctx, "launches.is_capture")) /* does not claim any */
		return;
	if (tsi_rule_has(ctx, "integrity.device_event_count") &&
	    tsi_rule_int(ctx, "integrity.device_event_count") == 0) {
		fire_no_device(ctx);
		return;
	}
	if (tsi_rule_has(ctx, "integrity.short_graph_replay_ms"))
		tsi_rule_fire(
			ctx, TSCOPE_SEVERITY_HIGH, "device times are not reliable from %s on",
			tsi_time_text(1e6 * tsi_rule_real(ctx, "integrity.short_graph_replay_ms"))
				.chars);
	else
		tsi_rule_fire(ctx, TSCOPE_SEVERITY_HIGH, "device times are not reliable");
	tsi_rule_detail(ctx, "%s", doubt);
	if (tsi_rule_int(ctx, "integrity.empty_graph_launch_count") > 0 ||
	    tsi_rule_int(ctx, "integrity.short_graph_replay_count") > 0)
		tsi_rule_advice(ctx, graphs_advice);
}

const struct rule tsi_rule_trace_unreliable = {
	.def = {
		.id = "TRACE.UNRELIABLE",
		.summary = "device or step times are not reliable",
		.trigger = "Fires where integrity.doubt says why the device's times cannot be "
			   "believed: launches without any device activity, more than 5 % of the "
			   "launches of each step without kernels, graph launches "
			   "without kernels, graph replays with fewer nodes than others of their "
			   "graph (but the last launch), or more than 5 % of the device time "
			   "impossible; where the file holds several ranks or processes; or where "
			   "steps.overlap_count says that marks of steps end "
			   "after the next one begins; high.",
		.meaning = "Lost or wrong device events look like idle time, and of steps that "
			   "overlap nobody knows how long they take. Each such figure is marked, "
			   "rules do not use it, and gates on it are undecided.",
		.advice = "record again; if it stays so update driver and PyTorch, and record "
			  "fewer steps at a time, so that the profiler's buffers do not overflow",
		.example = "A trace holds 40 launches of CUDA graphs and none of their kernels: "
			   "the device seems idle, but is not; a finding of severity high.",
		.facts = { "integrity.verdict" },
	},
	.evidence = { "integrity.doubt", "integrity.empty_graph_launch_count",
		      "integrity.short_graph_replay_count", "integrity.short_graph_replay_ms",
		      "integrity.impossible_count", "integrity.impossible_ns" },
	.cause = CAUSE_trace_unreliable,
	.evaluate = evaluate_trace_unreliable,
};
