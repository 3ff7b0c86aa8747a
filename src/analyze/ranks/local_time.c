/* SPDX-License-Identifier: MIT */
/*
 * Local time by step and rank: the points of a rank's log have it (comm/rank_log.h), and its steps
 * are found by when they began.
 */
#include "analyze/ranks/local_time.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/sum.h"
#include "comm/world.h"
#include "run/align.h"

enum { LINES = TSCOPE_BUDGET_LINE_COUNT };

/* The aligned steps in the logs. */
struct logged_steps {
	struct step_alignment alignment;
	uint32_t *steps;   /* [aligned step * rank_count + rank]: index in the log, or NO_ROW */
	bool *is_complete; /* by aligned step: the logs of all ranks have it */
};

static void logged_steps_deinit(struct logged_steps *logged)
{
	tsi_alignment_deinit(&logged->alignment);
	free(logged->steps);
	free(logged->is_complete);
}

/* The step of its log that a record is of, if it counts there; or NO_ROW. */
static uint32_t logged_step(const struct analysis_scope *scope, const struct step_record *record,
			    size_t rank)
{
	const struct rank_log *log = &scope->world->logs[rank];

	if (record->budget == NO_ROW)
		return NO_ROW;
	const struct step_budget *budget = &scope->ranks[rank].budgets[record->budget];
	uint32_t step = tsi_rank_log_find_step(log, budget->start_ns, budget->wall_ns);
	return step != NO_ROW && log->steps[step].mark == TSCOPE_STEP_COUNTED ? step : NO_ROW;
}

static void find_logged_steps(struct logged_steps *logged, const struct analysis_scope *scope)
{
	const struct step_alignment *alignment = &logged->alignment;
	size_t rank_count = alignment->rank_count;

	for (size_t step = 0; step < alignment->count; step++) {
		logged->is_complete[step] = true;
		for (size_t rank = 0; rank < rank_count; rank++) {
			uint32_t at = logged_step(
				scope, tsi_aligned(alignment, scope->ranks, step, rank), rank);
			logged->steps[step * rank_count + rank] = at;
			if (at == NO_ROW)
				logged->is_complete[step] = false;
		}
	}
}

static enum tscope_status logged_steps_init(struct logged_steps *logged,
					    const struct analysis_scope *scope,
					    struct tscope_error *err)
{
	*logged = (struct logged_steps){ 0 };
	if (tsi_align(&logged->alignment, scope->ranks, scope->rank_count, err) != TSCOPE_OK ||
	    tsi_array_new(&logged->steps, logged->alignment.count,
			  scope->rank_count * sizeof(*logged->steps), err) != TSCOPE_OK ||
	    tsi_array_new(&logged->is_complete, logged->alignment.count,
			  sizeof(*logged->is_complete), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	find_logged_steps(logged, scope);
	return TSCOPE_OK;
}

/* ---- the time of a rank ---- */

/* Time between two points is of the step that began before the second. lines: [step][line]. */
static void sum_points(int64_t (*lines)[LINES], const struct rank_log *log)
{
	uint32_t step = NO_ROW;

	for (size_t i = 0; i < log->point_count; i++) {
		const struct rank_point *point = &log->points[i];

		for (size_t line = 0; step != NO_ROW && line < LINES; line++)
			if (point->line_ns[line] > 0)
				tsi_sum(&lines[step][line], point->line_ns[line]);
		if (point->kind == RANK_POINT_STEP)
			step = point->index;
		else if (point->kind == RANK_POINT_END)
			step = NO_ROW;
	}
}

static void take_rank(struct local_time *local, const struct logged_steps *logged, size_t rank,
		      int64_t (*lines)[LINES])
{
	size_t row = 0;

	for (size_t step = 0; step < logged->alignment.count; step++) {
		int64_t *local_ns = &local->local_ns[row * local->rank_count + rank];

		if (!logged->is_complete[step])
			continue;
		for (size_t line = 0; line < LINES; line++) {
			int64_t ns = lines[logged->steps[step * local->rank_count + rank]][line];
			tsi_sum(local_ns, ns);
			tsi_sum(&local->line_ns[rank * LINES + line], ns);
		}
		row++;
	}
}

static enum tscope_status take_ranks(struct local_time *local, const struct logged_steps *logged,
				     const struct world *world, struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;

	for (size_t rank = 0; status == TSCOPE_OK && rank < local->rank_count; rank++) {
		const struct rank_log *log = &world->logs[rank];
		int64_t(*lines)[LINES] = NULL;

		status = tsi_array_new(&lines, log->step_count, sizeof(*lines), err);
		if (status == TSCOPE_OK) {
			sum_points(lines, log);
			take_rank(local, logged, rank, lines);
		}
		free(lines);
	}
	return status;
}

static enum tscope_status make_tables(struct local_time *local, const struct logged_steps *logged,
				      const struct analysis_scope *scope, struct tscope_error *err)
{
	for (size_t step = 0; step < logged->alignment.count; step++)
		local->step_count += logged->is_complete[step];
	if (tsi_array_new(&local->numbers, local->step_count, sizeof(*local->numbers), err) !=
		    TSCOPE_OK ||
	    tsi_array_new(&local->local_ns, local->step_count,
			  local->rank_count * sizeof(*local->local_ns), err) != TSCOPE_OK ||
	    tsi_array_new(&local->line_ns, local->rank_count, LINES * sizeof(*local->line_ns),
			  err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t step = 0, row = 0; step < logged->alignment.count; step++)
		if (logged->is_complete[step])
			local->numbers[row++] =
				tsi_aligned(&logged->alignment, scope->ranks, step, 0)->number;
	return TSCOPE_OK;
}

enum tscope_status tsi_local_time_init(struct local_time *local, const struct analysis_scope *scope,
				       struct tscope_error *err)
{
	struct logged_steps logged;

	*local = (struct local_time){ .rank_count = scope->rank_count };
	if (!scope->world)
		return TSCOPE_OK;
	enum tscope_status status = logged_steps_init(&logged, scope, err);
	if (status == TSCOPE_OK)
		status = make_tables(local, &logged, scope, err);
	if (status == TSCOPE_OK)
		status = take_ranks(local, &logged, scope->world, err);
	logged_steps_deinit(&logged);
	return status;
}

int64_t tsi_local_ns(const struct local_time *local, size_t rank)
{
	int64_t sum_ns = 0;

	for (size_t line = 0; line < LINES; line++)
		tsi_sum(&sum_ns, local->line_ns[rank * LINES + line]);
	return sum_ns;
}

void tsi_local_time_deinit(struct local_time *local)
{
	free(local->numbers);
	free(local->local_ns);
	free(local->line_ns);
	*local = (struct local_time){ 0 };
}
