/* SPDX-License-Identifier: MIT */
/*
 * Points of logs are most of what a large run takes, and what replays are made of. Where there are
 * very many, those of a few whole steps stay, chosen evenly among those that all ranks have.
 */
#include "comm/sample_steps.h"

#include <stdlib.h>

#include "comm/latch.h"

struct sampling {
	struct rank_log *logs;
	size_t log_count;
	struct arena scratch;
	int64_t *numbers; /* of the steps, ascending */
	size_t count;
};

/* ---- which steps ---- */

/* The steps that count, of all logs with points; how many logs these are. */
static size_t list_steps(struct sampling *sampling, struct sort_pair **ret, size_t *count)
{
	size_t room = 0, with_points = 0;

	for (size_t i = 0; i < sampling->log_count; i++)
		room += sampling->logs[i].step_count;
	struct sort_pair *steps = tsi_arena_new(&sampling->scratch, room, sizeof(*steps));
	for (size_t i = 0; steps && i < sampling->log_count; i++) {
		const struct rank_log *log = &sampling->logs[i];

		with_points += log->point_count > 0;
		for (size_t k = 0; log->point_count > 0 && k < log->step_count; k++)
			if (log->steps[k].mark == TSCOPE_STEP_COUNTED)
				steps[(*count)++] = (struct sort_pair){
					tsi_sort_key_of_int64(log->steps[k].number), i
				};
	}
	tsi_latch_sort(&sampling->scratch, steps, *count);
	*ret = steps;
	return with_points;
}

/* The numbers that each of these logs has: equal ones stand by log, windows may share some. */
static void find_common(struct sampling *sampling)
{
	struct sort_pair *steps;
	size_t count = 0, with_points = list_steps(sampling, &steps, &count);

	sampling->numbers = tsi_arena_new(&sampling->scratch, count, sizeof(*sampling->numbers));
	for (size_t first = 0, end; sampling->numbers && first < count; first = end) {
		size_t logs = 1;

		for (end = first + 1; end < count && steps[end].key == steps[first].key; end++)
			logs += steps[end].value != steps[end - 1].value;
		if (logs == with_points)
			sampling->numbers[sampling->count++] =
				tsi_int64_of_sort_key(steps[first].key);
	}
}

/* Each stands in the middle of as many steps as it stands for. */
static void choose(struct sampling *sampling, size_t wanted)
{
	size_t of = sampling->count;

	for (size_t i = 0; i < wanted; i++)
		sampling->numbers[i] = sampling->numbers[(2 * i + 1) * of / (2 * wanted)];
	sampling->count = wanted;
}

/* ---- one log ---- */

static bool is_wanted(const struct sampling *sampling, const struct rank_log_step *step)
{
	return step->mark == TSCOPE_STEP_COUNTED &&
	       bsearch(&step->number, sampling->numbers, sampling->count, sizeof(int64_t),
		       tsi_compare_numbers);
}

static void keep_point(struct rank_log *log, size_t *count, struct rank_point point)
{
	log->points[(*count)++] = point;
}

/*
 * Leaves windows: a step that is kept ends where it did, and the time before a step that follows
 * none is dropped, as it is not its own.
 */
static void keep_points(const struct sampling *sampling, struct rank_log *log)
{
	size_t count = 0;
	uint32_t open = NO_ROW; /* the step that is being kept */

	for (size_t i = 0; i < log->point_count; i++) {
		struct rank_point point = log->points[i];
		bool begins = point.kind == RANK_POINT_STEP &&
			      is_wanted(sampling, &log->steps[point.index]);

		if (begins && open == NO_ROW)
			keep_point(log, &count,
				   (struct rank_point){ .time_ns = point.time_ns,
							.kind = point.kind,
							.index = point.index });
		else if (begins || (open != NO_ROW && point.kind != RANK_POINT_STEP))
			keep_point(log, &count, point);
		if (!begins && open != NO_ROW && point.kind == RANK_POINT_STEP) {
			point.kind = RANK_POINT_END;
			point.index = open;
			keep_point(log, &count, point);
		}
		if (point.kind == RANK_POINT_END)
			open = NO_ROW;
		else if (begins)
			open = point.index;
	}
	log->point_count = count;
}

/* Gives what is not needed any more back. */
static void shrink(struct rank_log *log)
{
	struct arena memory = { 0 };
	struct rank_point *points = tsi_arena_new(&memory, log->point_count, sizeof(*log->points));

	if (points && log->point_count > 0)
		memcpy(points, log->points, log->point_count * sizeof(*points));
	log->arena.has_failed |= memory.has_failed;
	tsi_arena_deinit(&log->point_memory);
	log->point_memory = memory;
	log->points = points;
	log->point_count = points ? log->point_count : 0;
	log->point_capacity = log->point_count;
}

static void sample_log(const struct sampling *sampling, struct rank_log *log)
{
	int64_t(*lines)[TSCOPE_BUDGET_LINE_COUNT] =
		tsi_arena_new(&log->arena, log->step_count, sizeof(*lines));

	if (!lines)
		return;
	tsi_rank_log_sum_steps(log, lines);
	log->step_lines = lines;
	keep_points(sampling, log);
	shrink(log);
}

/* ---- all ---- */

struct step_sample tsi_rank_logs_sample(struct rank_log *logs, size_t count, size_t max_points)
{
	struct sampling sampling = { .logs = logs, .log_count = count };
	struct step_sample sample = { 0 };
	size_t point_count = 0, step_count = 0;

	for (size_t i = 0; i < count; i++) {
		point_count += logs[i].point_count;
		step_count += logs[i].point_count > 0 ? logs[i].step_count : 0;
	}
	if (point_count <= max_points)
		return sample;
	find_common(&sampling);
	/* Points of all ranks in a step. */
	double points = (double)point_count * (double)count / (double)(step_count + 1);
	size_t wanted = (double)max_points > points ? (size_t)((double)max_points / points) : 1;
	if (!sampling.scratch.has_failed && wanted < sampling.count) {
		sample = (struct step_sample){ .kept = wanted, .of = sampling.count };
		choose(&sampling, wanted);
		for (size_t i = 0; i < count; i++)
			sample_log(&sampling, &logs[i]);
	}
	for (size_t i = 0; i < count; i++)
		sample.has_failed |= logs[i].arena.has_failed;
	sample.has_failed |= sampling.scratch.has_failed;
	tsi_arena_deinit(&sampling.scratch);
	return sample;
}
