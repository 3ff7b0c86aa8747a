/* SPDX-License-Identifier: MIT */
/*
 * Puts a trace on its step timeline, stage by stage (build.h): landmarks →
 * step boundaries → windows, work and marks → activity of the devices → what
 * each window's time was spent on. Then hands out what the stages found.
 */
#include "timeline/build.h"

#include <stdlib.h>

#include "base/error.h"

/* Other than batches, as many steps as these would be chance. */
static void number_by_batches(struct tscope_timeline *timeline,
			      const struct tscope_timeline_options *options)
{
	if (timeline->is_numbered || options->batch_count == 0 ||
	    options->batch_count != timeline->step_count)
		return;
	for (uint32_t i = 0; i < timeline->step_count; i++)
		timeline->steps[i].number = options->first_batch + i;
	timeline->is_numbered = true;
}

/* Frees what a stage needed. */
static enum tscope_status end_stage(struct tscope_timeline *timeline, struct tscope_error *err)
{
	timeline->arena.has_failed |= timeline->scratch.has_failed;
	tsi_arena_deinit(&timeline->scratch);
	return tsi_arena_status(&timeline->arena, err);
}

static enum tscope_status find_steps(struct tscope_timeline *timeline,
				     const struct tscope_timeline_options *options,
				     struct tscope_error *err)
{
	timeline->marks = tsi_arena_new(&timeline->arena, 1, sizeof(*timeline->marks));
	if (timeline->marks)
		tsi_landmarks_init(timeline->marks, timeline->trace, options->step_marker,
				   &timeline->arena, &timeline->scratch);
	if (end_stage(timeline, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	tsi_timeline_find_steps(timeline);
	timeline->marks->step_marker = (struct str){ 0 }; /* the options may go */
	if (end_stage(timeline, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	number_by_batches(timeline, options);
	tsi_timeline_finish_steps(timeline, options->warmup);
	return end_stage(timeline, err);
}

static enum tscope_status run_stages(struct tscope_timeline *timeline,
				     const struct tscope_timeline_options *options,
				     struct tscope_error *err)
{
	enum tscope_status status = find_steps(timeline, options, err);

	if (status == TSCOPE_OK && timeline->trace->is_slice)
		tsi_timeline_keep_slice(timeline);
	if (status == TSCOPE_OK && options->has_range)
		status = tsi_timeline_keep_range(timeline, options->first_step, options->last_step,
						 err);
	if (status != TSCOPE_OK)
		return status;
	tsi_timeline_find_activity(timeline);
	status = end_stage(timeline, err);
	if (status == TSCOPE_OK && timeline->trace->device_count)
		status = tsi_timeline_find_device_budget(timeline, options->keep_cold, err);
	else if (status == TSCOPE_OK)
		tsi_timeline_find_host_budget(timeline);
	return status == TSCOPE_OK ? end_stage(timeline, err) : status;
}

enum tscope_status tsi_timeline_build(struct tscope_timeline **ret,
				      const struct tscope_trace *trace,
				      const struct tscope_timeline_options *options,
				      bool wants_pieces, struct tscope_error *err)
{
	static const struct tscope_timeline_options defaults = { 0 };
	struct tscope_timeline *timeline = calloc(1, sizeof(*timeline));

	if (!timeline)
		return tsi_fail_nomem(err);
	timeline->trace = trace;
	timeline->arena.spill = timeline->scratch.spill = trace->spill;
	timeline->wants_pieces = wants_pieces;
	timeline->keeps_causes = options && options->keeps_causes;
	enum tscope_status status = run_stages(timeline, options ? options : &defaults, err);
	if (status != TSCOPE_OK) {
		tscope_timeline_free(timeline);
		return status;
	}
	tsi_trace_release_freed(trace);
	*ret = timeline;
	return TSCOPE_OK;
}

enum tscope_status tscope_timeline_build(struct tscope_timeline **ret,
					 const struct tscope_trace *trace,
					 const struct tscope_timeline_options *options,
					 struct tscope_error *err)
{
	return tsi_timeline_build(ret, trace, options, false, err);
}

void tscope_timeline_free(struct tscope_timeline *timeline)
{
	if (!timeline)
		return;
	tsi_arena_deinit(&timeline->arena);
	tsi_arena_deinit(&timeline->scratch);
	free(timeline);
}

const char *tscope_boundary_name(enum tscope_boundary boundary)
{
	static const char *const names[] = {
		[TSCOPE_BOUNDARY_STEP_MARKER] = "step_marker",
		[TSCOPE_BOUNDARY_PROFILER_STEP] = "profiler_step",
		[TSCOPE_BOUNDARY_TRAIN_BATCH] = "train_batch",
		[TSCOPE_BOUNDARY_OPTIMIZER] = "optimizer",
		[TSCOPE_BOUNDARY_ITERATION] = "iteration",
		[TSCOPE_BOUNDARY_WHOLE_TRACE] = "whole_trace",
	};

	return (size_t)boundary < TSI_COUNT_OF(names) ? names[boundary] : "unknown";
}

const char *tscope_step_mark_name(enum tscope_step_mark mark)
{
	static const char *const names[] = {
		[TSCOPE_STEP_COUNTED] = "",
		[TSCOPE_STEP_FIRST] = "first",
		[TSCOPE_STEP_WARMUP] = "warmup",
		[TSCOPE_STEP_COLD] = "cold",
		[TSCOPE_STEP_INCOMPLETE] = "incomplete",
		[TSCOPE_STEP_CAPTURE] = "capture",
		[TSCOPE_STEP_UNRECORDED] = "unrecorded",
	};

	return (size_t)mark < TSI_COUNT_OF(names) ? names[mark] : "unknown";
}

const char *tscope_budget_line_name(enum tscope_budget_line line)
{
	static const char *const names[] = {
		[TSCOPE_BUDGET_COMPUTE] = "compute",
		[TSCOPE_BUDGET_EXPOSED_COMM] = "exposed_comm",
		[TSCOPE_BUDGET_EXPOSED_COPY] = "exposed_copy",
		[TSCOPE_BUDGET_DATA_STALL] = "data_stall",
		[TSCOPE_BUDGET_SYNC_STALL] = "sync_stall",
		[TSCOPE_BUDGET_LAUNCH_STALL] = "launch_stall",
		[TSCOPE_BUDGET_DEVICE_GAP] = "device_gap",
		[TSCOPE_BUDGET_UNATTRIBUTED] = "unattributed",
	};

	return (size_t)line < TSI_COUNT_OF(names) ? names[line] : "unknown";
}

const char *tsi_host_line_name(enum host_line line)
{
	static const char *const names[HOST_LINE_COUNT] = {
		[HOST_DATA] = "data",         [HOST_FORWARD] = "forward",
		[HOST_BACKWARD] = "backward", [HOST_OPTIMIZER] = "optimizer",
		[HOST_COMM] = "comm",         [HOST_OTHER] = "other",
	};

	return names[line];
}

enum tscope_boundary tscope_timeline_boundary(const struct tscope_timeline *timeline)
{
	return timeline->boundary;
}

uint32_t tscope_timeline_step_count(const struct tscope_timeline *timeline)
{
	return timeline->step_count;
}

struct tscope_step tscope_timeline_step(const struct tscope_timeline *timeline, uint32_t index)
{
	if (index >= timeline->step_count)
		return (struct tscope_step){ 0 };
	return timeline->steps[index];
}

int64_t tscope_timeline_budget(const struct tscope_timeline *timeline, uint32_t index,
			       uint32_t device, enum tscope_budget_line line)
{
	if (index >= timeline->step_count || device >= timeline->trace->device_count ||
	    (unsigned)line >= TSCOPE_BUDGET_LINE_COUNT)
		return 0;
	return tsi_timeline_budget(timeline, index, device)->line_ns[line];
}
