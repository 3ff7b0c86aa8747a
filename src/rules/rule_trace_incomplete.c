/* SPDX-License-Identifier: MIT */
/* TRACE.INCOMPLETE: steps are cut, lost, unmarked, or too few to represent the run. */
#include "rules/rule.h"

#include <inttypes.h>
#include <string.h>

static const char lost_advice[] =
	"the profiler drops records at the start of a session, more of them with each session of a "
	"process: record in a new process, with warmup steps in the schedule";

static void fire(struct rule_context *ctx, int64_t count, int64_t cut, int64_t lost)
{
	if (tsi_rule_flag(ctx, "integrity.overflow"))
		tsi_rule_fire(ctx, TSCOPE_SEVERITY_MED,
			      "the profiler's ring buffer overflowed: the oldest events are lost");
	else if (strcmp(tsi_rule_text(ctx, "steps.boundary"), "whole_trace") == 0)
		tsi_rule_fire(ctx, TSCOPE_SEVERITY_LOW,
			      "no steps are marked: the whole trace counts as one step");
	else if (lost > 0)
		tsi_rule_fire(ctx, TSCOPE_SEVERITY_LOW,
			      "the trace lacks kernels of %" PRId64 " step%s, left out here", lost,
			      lost == 1 ? "" : "s");
	else if (count == 0)
		tsi_rule_fire(ctx, TSCOPE_SEVERITY_LOW, "no complete step");
	else if ((double)count < tsi_rule_parameter(ctx, "threshold"))
		tsi_rule_fire(ctx, TSCOPE_SEVERITY_LOW,
			      "only %" PRId64 " complete step%s; record at least %.0f", count,
			      count == 1 ? "" : "s", tsi_rule_parameter(ctx, "threshold"));
	else
		tsi_rule_fire(ctx, TSCOPE_SEVERITY_LOW,
			      "%" PRId64 " step%s cut by the end of the capture", cut,
			      cut == 1 ? " is" : "s are");
}

/* Composer's recordings all end among the callbacks of their last batch: nobody can help that. */
static int64_t count_cut(const struct rule_context *ctx)
{
	if (strcmp(tsi_rule_text(ctx, "steps.boundary"), "train_batch") == 0)
		return 0;
	return tsi_rule_int(ctx, "integrity.incomplete_step_count");
}

/* Neither PyTorch's operators nor a device: its profiler's schedule is no remedy. */
static bool is_unknown_program(const struct rule_context *ctx)
{
	return strcmp(tsi_rule_text(ctx, "steps.boundary"), "whole_trace") == 0 &&
	       tsi_rule_int(ctx, "operators.count") == 0 &&
	       !tsi_rule_has(ctx, "budget.device_gap_total_ns");
}

static void evaluate_trace_incomplete(struct rule_context *ctx)
{
	int64_t count = tsi_rule_int(ctx, "step_time.count");
	int64_t cut = count_cut(ctx);
	int64_t lost = tsi_rule_int(ctx, "integrity.unrecorded_step_count");
	bool is_overflown = tsi_rule_flag(ctx, "integrity.overflow");

	if ((double)count >= tsi_rule_parameter(ctx, "threshold") && cut == 0 && lost == 0 &&
	    !is_overflown)
		return;
	if (tsi_rule_flag(ctx, "launches.is_capture")) /* has no steps, and no need of any */
		return;
	fire(ctx, count, cut, lost);
	if (is_unknown_program(ctx))
		tsi_rule_advice(ctx, "name the slices that mark steps with --step-marker NAME");
	if (is_overflown) {
		tsi_rule_advice(ctx, "raise --tracer_entries of viztracer, or record less: "
				     "--max_stack_depth, --min_duration, --include_files");
		tsi_rule_evidence(ctx, "integrity.overflow");
	}
	if (lost > 0) {
		tsi_rule_advice(ctx, lost_advice);
		tsi_rule_advice_for(ctx, ADVICE_SERVING, lost_advice);
		tsi_rule_evidence(ctx, "integrity.unrecorded_step_count");
	}
	tsi_rule_evidence(ctx, "step_time.count");
	tsi_rule_evidence(ctx, "steps.count");
	tsi_rule_evidence(ctx, "steps.boundary");
	tsi_rule_evidence(ctx, "integrity.incomplete_step_count");
}

const struct rule tsi_rule_trace_incomplete = {
	.def = {
		.id = "TRACE.INCOMPLETE",
		.summary = "the trace holds few complete steps",
		.trigger = "Fires where fewer than threshold steps can be judged, or steps are cut "
			   "by the end of the capture, or more than 5 % of the kernels that a step "
			   "launched are not in the trace; low. Fires where VizTracer's ring "
			   "buffer overflowed; med.",
		.meaning = "A step that is cut or lacks kernels is left out of the statistics. One "
			   "step or two may be unusual: a first batch, a checkpoint; from three on "
			   "an odd one shows as such.",
		.advice = "use schedule(wait=1, warmup=2, active=5, repeat=1) in the training "
			  "loop, with prof.step() after each step; where steps are marked "
			  "otherwise, name the mark with --step-marker",
		.serving_advice = "let the engine's profiler run over more iterations under a "
			  "steady load, between start_profile and stop_profile",
		.inference_advice = "record several forward passes, each marked: by "
			  "torch.profiler's schedule, by an annotation around each, or name what "
			  "each calls with --step-marker",
		.example = "Of 3 steps the last is cut by the end of the capture: 2 are left, a "
			   "finding of severity low.",
		.parameters = {
			{ "threshold", 3, "fewest steps to judge by" },
		},
		.facts = { "integrity.incomplete_step_count" },
	},
	.cause = CAUSE_trace_incomplete,
	.evaluate = evaluate_trace_incomplete,
};
