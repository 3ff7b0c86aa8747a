/* SPDX-License-Identifier: MIT */
/*
 * Joins what the files of a rank say to one series of steps: its own records, its traces window
 * after window, its metrics; and finds the files about memory that speak for it.
 */
#include "session/run.h"

#include "run/scalars.h"
#include "run/settings.h"

struct joining {
	struct run_ranks *ranks;
	const struct run_members *members;
	struct run_notes *notes;
};

/* Takes what a file says once for all steps of its rank; the first file that says it wins. */
static void take_description(struct step_series *steps, const struct step_series *from)
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
	tsi_settings_take(steps, from);
}

/* All traces of the last rank as one series; the one with the most steps speaks for the rank. */
static void join_windows(const struct joining *joining, size_t first, size_t end,
			 struct step_series *windows)
{
	struct run_rank *rank = &joining->ranks->ranks[joining->ranks->count - 1];
	size_t most = 0;

	rank->windows = tsi_arena_new(joining->notes->arena, end - first, sizeof(*rank->windows));
	rank->analyses = tsi_arena_new(joining->notes->arena, end - first, sizeof(*rank->analyses));
	if (!rank->windows || !rank->analyses)
		return;
	for (size_t i = first; i < end; i++) {
		struct loaded *loaded = tsi_member(joining->members, i);
		size_t count = tsi_count_timed(&loaded->steps);

		if (joining->members->items[i].kind == RUN_ITEM_SECONDARY) {
			tsi_keep_secondary(rank, loaded);
			continue;
		}
		rank->windows[rank->window_count++] = loaded;
		take_description(windows, &loaded->steps);
		tsi_steps_append(windows, &loaded->steps);
		if (count >= most) {
			most = count;
			rank->trace = loaded;
		}
	}
}

/* Joins the traces [first, end) to the records that the job wrote itself. */
static void join_traces(const struct joining *joining, size_t first, size_t end)
{
	struct step_series *steps = &joining->ranks->series[joining->ranks->count - 1], windows;
	size_t record_count = steps->count;

	tsi_steps_init(&windows);
	join_windows(joining, first, end, &windows);
	take_description(steps, &windows);
	if (windows.count > 0)
		tsi_steps_join(steps, &windows);
	if (steps->count > record_count)
		tsi_run_note(joining->notes,
			     "%zu steps of the trace have no step record of their number",
			     steps->count - record_count);
	steps->has_failed |= windows.has_failed;
	tsi_steps_deinit(&windows);
}

static struct step_series *add_rank(struct run_ranks *ranks)
{
	return &ranks->series[ranks->count++];
}

/*
 * The series of the rank that items [first, end) belong to: its own records stand first, its
 * metrics last.
 */
static void join_rank(const struct joining *joining, size_t first, size_t end)
{
	const struct run_members *members = joining->members;
	struct step_series *steps = add_rank(joining->ranks);
	struct loaded *loaded = tsi_member(members, first);
	size_t metrics = first;

	while (metrics < end && members->items[metrics].kind != RUN_ITEM_METRICS)
		metrics++;
	if (members->items[first].kind == RUN_ITEM_STEPS) {
		tsi_steps_move(steps, &loaded->steps);
		tsi_scalars_note(steps, loaded->input.format);
		join_traces(joining, first + 1, metrics);
	} else {
		tsi_steps_init(steps);
		join_windows(joining, first, metrics, steps);
	}
	tsi_join_metrics(steps, members, metrics, end);
	steps->rank = members->items[first].rank;
}

static void add_empty_rank(struct run_ranks *ranks, int64_t rank)
{
	struct step_series *steps = add_rank(ranks);

	tsi_steps_init(steps);
	steps->rank = rank;
}

/* For a run of files about memory alone: the ranks that they name, or one without a number. */
static void add_memory_ranks(const struct joining *joining)
{
	const struct run_members *members = joining->members;
	int64_t last = -1;

	for (size_t i = 0; i < members->item_count; i++) {
		if (members->items[i].rank <= last)
			continue;
		last = members->items[i].rank;
		add_empty_rank(joining->ranks, last);
	}
	if (joining->ranks->count == 0)
		add_empty_rank(joining->ranks, -1);
}

/* Statistics of memory go to the steps, too, where their rank has any. */
static void join_memory_steps(const struct joining *joining, size_t rank,
			      const struct loaded *loaded)
{
	size_t step_count = 0;

	if (loaded->memory_steps.count > 0)
		step_count =
			tsi_memory_steps_join(&joining->ranks->series[rank], &loaded->memory_steps);
	if (step_count > 0)
		tsi_run_note(joining->notes,
			     "memory of %zu step%s is that of %s, where "
			     "iteration 1 of training_step is step 0",
			     step_count, step_count == 1 ? "" : "s", loaded->input.path);
}

/* A file whose rank is not one of the run's, or not known, speaks for the run alone. */
static void join_memory(const struct joining *joining)
{
	const struct run_members *members = joining->members;
	struct run_ranks *ranks = joining->ranks;

	for (size_t i = members->step_item_count; i < members->item_count; i++) {
		const struct loaded *loaded = tsi_member(members, i);

		for (size_t rank = 0; rank < ranks->count; rank++) {
			if (ranks->series[rank].rank != members->items[i].rank)
				continue;
			if (members->items[i].kind == RUN_ITEM_MEMORY)
				tsi_run_memory_offer(&ranks->ranks[rank].memory, loaded);
			join_memory_steps(joining, rank, loaded);
		}
		if (members->items[i].kind == RUN_ITEM_MEMORY)
			tsi_run_memory_offer(&ranks->memory, loaded);
	}
}

enum tscope_status tsi_join_ranks(struct run_ranks *ret, const struct run_members *members,
				  struct run_notes *notes, struct tscope_error *err)
{
	const struct joining joining = { ret, members, notes };
	size_t room = members->item_count + 1; /* one for the run that nobody names a rank of */

	*ret = (struct run_ranks){
		.series = tsi_arena_new(notes->arena, room, sizeof(*ret->series)),
		.ranks = tsi_arena_new(notes->arena, room, sizeof(*ret->ranks)),
		.failure = tsi_arena_new(notes->arena, 1, sizeof(*ret->failure)),
	};
	enum tscope_status status = tsi_arena_status(notes->arena, err);
	if (status != TSCOPE_OK)
		return status;
	for (size_t first = 0, end; first < members->step_item_count; first = end) {
		end = tsi_end_of_rank(members, first);
		join_rank(&joining, first, end);
	}
	if (ret->count == 0)
		add_memory_ranks(&joining);
	join_memory(&joining);
	status = tsi_arena_status(notes->arena, err);
	for (size_t i = 0; status == TSCOPE_OK && i < ret->count; i++)
		status = tsi_steps_status(&ret->series[i], err);
	return status;
}

void tsi_run_ranks_deinit(struct run_ranks *ranks)
{
	for (size_t i = 0; i < ranks->count; i++) {
		tscope_analysis_free(ranks->ranks[i].analysis);
		tsi_steps_deinit(&ranks->series[i]);
	}
}

/* Steps of a run that say how long they took, marked ones included. */
static size_t timed_records(const struct step_series *steps)
{
	size_t count = 0;

	for (size_t i = 0; i < steps->count; i++)
		count += (steps->records[i].has & STEP_HAS_TIME) != 0 &&
			 steps->records[i].mark != TSCOPE_STEP_CAPTURE;
	return count;
}

void tsi_note_no_step(const struct run_ranks *ranks, struct run_notes *notes)
{
	size_t count = 0, counted_count = 0;

	for (size_t i = 0; i < ranks->count; i++) {
		count += timed_records(&ranks->series[i]);
		counted_count += tsi_count_timed(&ranks->series[i]);
	}
	if (count > 0 && counted_count == 0)
		tsi_run_note(notes,
			     "no step is left to judge by: all that were read (%zu) are warm-up, "
			     "the first or incomplete",
			     count);
}
