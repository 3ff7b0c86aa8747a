/* SPDX-License-Identifier: MIT */
/*
 * Joins what the files of a rank say to one series of steps: its own records, its traces window
 * after window, its metrics; and beside it what files about memory say of it.
 */
#include "pipeline_run.h"

#include <inttypes.h>

#include "base/array.h"
#include "run/scalars.h"
#include "run/settings.h"

/* What a rank's files say once for all steps; what came first stays. */
static enum tscope_status take_description(struct step_series *steps,
					   const struct step_series *from, struct tscope_error *err)
{
	if (steps->world_size < 0)
		steps->world_size = from->world_size;
	if (steps->flops_per_step <= 0) {
		steps->flops_per_step = from->flops_per_step;
		steps->hardware_flops_per_step = from->hardware_flops_per_step;
	}
	if (steps->peak_flops <= 0)
		steps->peak_flops = from->peak_flops;
	if (!steps->clock.is_known)
		steps->clock = from->clock;
	return tsi_settings_take(steps, from, err);
}

/* Says so where the records of a rank and its trace number their steps differently. */
static enum tscope_status note_strangers(struct tscope_run *run, const struct step_series *steps,
					 size_t record_count, struct tscope_error *err)
{
	size_t strangers = steps->count - record_count;

	if (strangers == 0)
		return TSCOPE_OK;
	return tsi_run_add_note(
		run, err, "%zu steps of the trace have no step record of their number", strangers);
}

/* All traces of a rank as one series; the one with the most steps speaks for the rank. */
static enum tscope_status join_windows(struct tscope_run *run, size_t first, size_t end,
				       struct step_series *windows, struct tscope_error *err)
{
	struct run_rank *rank = &run->ranks[run->rank_count - 1];
	size_t most = 0;

	for (size_t i = first; i < end; i++) {
		struct loaded *loaded = &run->loaded[run->items[i].file];
		size_t count = tsi_count_timed(&loaded->steps);

		if (run->items[i].kind == RUN_ITEM_BESIDE) {
			tsi_run_keep_beside(rank, loaded);
			continue;
		}
		if (take_description(windows, &loaded->steps, err) != TSCOPE_OK ||
		    tsi_steps_append(windows, &loaded->steps, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		if (count >= most) {
			most = count;
			rank->trace_analysis = loaded->analysis;
		}
	}
	return TSCOPE_OK;
}

/* Joins the traces [first, end) to the records that the job wrote itself. */
static enum tscope_status join_traces(struct tscope_run *run, size_t first, size_t end,
				      struct tscope_error *err)
{
	struct step_series *steps = &run->series[run->rank_count - 1], windows;
	size_t record_count = steps->count;
	enum tscope_status status = tsi_steps_init(&windows, err);

	if (status == TSCOPE_OK)
		status = join_windows(run, first, end, &windows, err);
	if (status == TSCOPE_OK)
		status = take_description(steps, &windows, err);
	if (status == TSCOPE_OK && windows.count > 0)
		status = tsi_steps_join(steps, &windows, err);
	if (status == TSCOPE_OK)
		status = note_strangers(run, steps, record_count, err);
	tsi_steps_deinit(&windows);
	return status;
}

static size_t first_metrics(const struct tscope_run *run, size_t first, size_t end)
{
	while (first < end && run->items[first].kind != RUN_ITEM_METRICS)
		first++;
	return first;
}

/*
 * The series of the rank that items [first, end) belong to: its own records stand first, its
 * metrics last.
 */
static enum tscope_status join_rank(struct tscope_run *run, size_t first, size_t end,
				    struct tscope_error *err)
{
	struct step_series *steps = &run->series[run->rank_count++];
	struct loaded *loaded = &run->loaded[run->items[first].file];
	int64_t rank = run->items[first].rank;
	size_t metrics = first_metrics(run, first, end);
	enum tscope_status status;

	if (run->items[first].kind == RUN_ITEM_STEPS) {
		tsi_steps_move(steps, &loaded->steps);
		status = tsi_scalars_note(steps, loaded->input.format, err);
		if (status == TSCOPE_OK)
			status = join_traces(run, first + 1, metrics, err);
	} else {
		status = tsi_steps_init(steps, err);
		if (status == TSCOPE_OK)
			status = join_windows(run, first, metrics, steps, err);
	}
	if (status == TSCOPE_OK)
		status = tsi_run_join_metrics(run, metrics, end, err);
	steps->rank = rank;
	return status;
}

static enum tscope_status add_empty_rank(struct tscope_run *run, int64_t rank,
					 struct tscope_error *err)
{
	struct step_series *steps = &run->series[run->rank_count++];
	enum tscope_status status = tsi_steps_init(steps, err);

	steps->rank = rank;
	return status;
}

/* Of files about memory alone: the ranks that they name, or one that nobody names. No steps. */
static enum tscope_status add_memory_ranks(struct tscope_run *run, struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;
	int64_t last = -1;

	for (size_t i = 0; status == TSCOPE_OK && i < run->item_count; i++) {
		if (run->items[i].rank <= last)
			continue;
		last = run->items[i].rank;
		status = add_empty_rank(run, last, err);
	}
	if (status == TSCOPE_OK && run->rank_count == 0)
		status = add_empty_rank(run, -1, err);
	return status;
}

/* A file whose rank is not one of the run's, or not known, speaks for the run alone. */
static void join_memory(struct tscope_run *run)
{
	for (size_t i = run->step_item_count; i < run->item_count; i++) {
		const struct loaded *loaded = &run->loaded[run->items[i].file];

		if (run->items[i].kind != RUN_ITEM_MEMORY)
			continue;
		for (size_t rank = 0; rank < run->rank_count; rank++)
			if (run->series[rank].rank == run->items[i].rank)
				tsi_run_memory_offer(&run->ranks[rank].memory, loaded);
		tsi_run_memory_offer(&run->memory, loaded);
	}
}

/* Statistics of memory stand beside the steps, too, where their rank has any. */
static enum tscope_status join_memory_steps(struct tscope_run *run, size_t item,
					    struct tscope_error *err)
{
	const struct loaded *loaded = &run->loaded[run->items[item].file];
	enum tscope_status status = TSCOPE_OK;
	size_t step_count;

	for (size_t rank = 0; status == TSCOPE_OK && rank < run->rank_count; rank++) {
		if (run->series[rank].rank != run->items[item].rank)
			continue;
		status = tsi_memory_steps_join(&run->series[rank], &loaded->memory_steps,
					       &step_count, err);
		if (status == TSCOPE_OK && step_count > 0)
			status = tsi_run_add_note(run, err,
						  "memory of %zu step%s is that of %s, where "
						  "iteration 1 of training_step is step 0",
						  step_count, step_count == 1 ? "" : "s",
						  loaded->input.path);
	}
	return status;
}

enum tscope_status tsi_run_join(struct tscope_run *run, struct tscope_error *err)
{
	enum tscope_status status =
		tsi_array_new(&run->series, run->read_count, sizeof(*run->series), err);

	if (status == TSCOPE_OK)
		status = tsi_array_new(&run->ranks, run->read_count, sizeof(*run->ranks), err);
	for (size_t first = 0, end; status == TSCOPE_OK && first < run->step_item_count;
	     first = end) {
		for (end = first + 1; end < run->step_item_count; end++)
			if (run->items[end].rank != run->items[first].rank)
				break;
		status = join_rank(run, first, end, err);
	}
	if (status == TSCOPE_OK && run->rank_count == 0)
		status = add_memory_ranks(run, err);
	if (status == TSCOPE_OK)
		join_memory(run);
	for (size_t i = run->step_item_count; status == TSCOPE_OK && i < run->item_count; i++)
		status = join_memory_steps(run, i, err);
	return status;
}

/* Steps that say how long they took, marked ones included. */
static size_t timed_records(const struct step_series *steps)
{
	size_t count = 0;

	for (size_t i = 0; i < steps->count; i++)
		count += (steps->records[i].has & STEP_HAS_TIME) != 0;
	return count;
}

enum tscope_status tsi_run_note_no_step(struct tscope_run *run, struct tscope_error *err)
{
	size_t count = 0, counted_count = 0;

	for (size_t i = 0; i < run->rank_count; i++) {
		count += timed_records(&run->series[i]);
		counted_count += tsi_count_timed(&run->series[i]);
	}
	if (count == 0 || counted_count > 0)
		return TSCOPE_OK;
	return tsi_run_add_note(
		run, err,
		"no step is left to judge by: all that were read (%zu) are warm-up, the "
		"first or incomplete",
		count);
}
