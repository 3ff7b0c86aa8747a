/* SPDX-License-Identifier: MIT */
/*
 * Puts a trace on its step timeline, stage by stage (build.h): landmarks →
 * step boundaries → windows, work and marks → activity of the devices → what
 * each window's time was spent on. Then hands out what the stages found.
 */
#include "timeline/build.h"

#include <stdlib.h>

#include "base/array.h"

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

static enum tscope_status run_stages(struct tscope_timeline *timeline, struct landmarks *marks,
				     const struct tscope_timeline_options *options,
				     struct tscope_error *err)
{
	enum tscope_status status =
		tsi_landmarks_init(marks, timeline->trace, options->step_marker, err);

	if (status == TSCOPE_OK)
		status = tsi_timeline_find_steps(timeline, marks, err);
	if (status == TSCOPE_OK)
		number_by_batches(timeline, options);
	if (status == TSCOPE_OK)
		status = tsi_timeline_finish_steps(timeline, marks, options->warmup, err);
	if (status == TSCOPE_OK && options->has_range)
		status = tsi_timeline_keep_range(timeline, options->first_step, options->last_step,
						 err);
	if (status == TSCOPE_OK)
		status = tsi_timeline_find_activity(timeline, err);
	if (status != TSCOPE_OK)
		return status;
	return timeline->trace->device_count ? tsi_timeline_find_device_budget(timeline, marks, err)
					     : tsi_timeline_find_host_budget(timeline, marks, err);
}

enum tscope_status tsi_timeline_build(struct tscope_timeline **ret,
				      const struct tscope_trace *trace,
				      const struct tscope_timeline_options *options,
				      bool wants_pieces, struct tscope_error *err)
{
	static const struct tscope_timeline_options defaults = { 0 };
	struct tscope_timeline *timeline;

	if (tsi_array_new(&timeline, 1, sizeof(*timeline), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	timeline->trace = trace;
	timeline->wants_pieces = wants_pieces;
	enum tscope_status status =
		tsi_array_new(&timeline->marks, 1, sizeof(*timeline->marks), err);
	if (status == TSCOPE_OK)
		status = run_stages(timeline, timeline->marks, options ? options : &defaults, err);
	if (timeline->marks)
		timeline->marks->step_marker = (struct str){ 0 }; /* the options may go */
	if (status != TSCOPE_OK) {
		tscope_timeline_free(timeline);
		return status;
	}
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
	if (timeline->marks)
		tsi_landmarks_deinit(timeline->marks);
	free(timeline->marks);
	for (uint32_t d = 0; timeline->activity && d < timeline->trace->device_count; d++) {
		tsi_intervals_deinit(&timeline->activity[d].compute);
		tsi_intervals_deinit(&timeline->activity[d].comm);
		tsi_intervals_deinit(&timeline->activity[d].copy);
	}
	free(timeline->activity);
	free(timeline->steps);
	free(timeline->step_device_events);
	for (unsigned line = 0; line < TSI_PART_LINES; line++)
		free(timeline->parts[line].items);
	for (uint32_t i = 0; timeline->pieces && i < tsi_piece_list_count(timeline); i++)
		free(timeline->pieces[i].items);
	free(timeline->pieces);
	free(timeline->budgets);
	free(timeline->host_budgets);
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
		[TSCOPE_STEP_INCOMPLETE] = "incomplete",
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
