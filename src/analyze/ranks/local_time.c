/* SPDX-License-Identifier: MIT */
/*
 * Local time by step and rank: the points of a rank's log have it (comm/rank_log.h), and its steps
 * are found by when they began.
 */
#include "analyze/ranks/local_time.h"

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

/* The step of its log that a record is of, if it counts there; or NO_ROW. */
static uint32_t logged_step(const struct analysis_scope *scope, const struct step_record *record,
			    size_t rank)
{
	const struct rank_log *log = &scope->world->logs[rank];

	if (!record || record->budget == NO_ROW)
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

/* False without memory. */
static bool align_logs(struct logged_steps *logged, const struct analysis_scope *scope,
		       struct arena *arena)
{
	size_t count = scope->rank_count;

	if (tsi_align(&logged->alignment, scope->ranks, count, scope->options->quorum_percent,
		      NULL) != TSCOPE_OK)
		arena->has_failed = true;
	logged->steps =
		tsi_arena_new(arena, logged->alignment.count, count * sizeof(*logged->steps));
	logged->is_complete =
		tsi_arena_new(arena, logged->alignment.count, sizeof(*logged->is_complete));
	if (logged->is_complete)
		find_logged_steps(logged, scope);
	return logged->is_complete;
}

/* ---- the time of a rank ---- */

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
			/* It stands still then as well. */
			if (line == TSCOPE_BUDGET_EXPOSED_COMM)
				continue;
			tsi_sum(local_ns, ns);
			tsi_sum(&local->line_ns[rank * LINES + line], ns);
		}
		row++;
	}
}

/* One rank after the other in the same room. */
static void take_ranks(struct local_time *local, const struct logged_steps *logged,
		       const struct world *world, struct arena *arena)
{
	size_t most = 0;

	for (size_t rank = 0; rank < local->rank_count; rank++)
		if (world->logs[rank].step_count > most)
			most = world->logs[rank].step_count;
	int64_t(*lines)[LINES] = tsi_arena_new(arena, most, sizeof(*lines));
	for (size_t rank = 0; lines && rank < local->rank_count; rank++) {
		tsi_rank_log_sum_steps(&world->logs[rank], lines);
		take_rank(local, logged, rank, lines);
	}
}

/* Makes the tables; step_count stays 0 without memory. */
static void make_tables(struct local_time *local, const struct logged_steps *logged,
			const struct analysis_scope *scope, struct arena *arena)
{
	size_t count = 0;

	for (size_t step = 0; step < logged->alignment.count; step++)
		count += logged->is_complete[step];
	local->numbers = tsi_arena_new(arena, count, sizeof(*local->numbers));
	local->local_ns = tsi_arena_new(arena, count, local->rank_count * sizeof(int64_t));
	local->line_ns = tsi_arena_new(arena, local->rank_count, LINES * sizeof(int64_t));
	if (!local->line_ns)
		return;
	for (size_t step = 0; step < logged->alignment.count; step++)
		if (logged->is_complete[step])
			local->numbers[local->step_count++] =
				tsi_aligned(&logged->alignment, scope->ranks, step, 0)->number;
}

void tsi_local_time_fill(struct local_time *local, const struct analysis_scope *scope,
			 struct arena *arena)
{
	struct logged_steps logged = { 0 };
	struct arena scratch = { 0 };

	*local = (struct local_time){ .rank_count = scope->rank_count };
	if (!scope->world)
		return;
	if (align_logs(&logged, scope, &scratch))
		make_tables(local, &logged, scope, arena);
	if (local->step_count > 0)
		take_ranks(local, &logged, scope->world, &scratch);
	tsi_alignment_deinit(&logged.alignment);
	tsi_latch_deinit(arena, &scratch);
}

int64_t tsi_local_ns(const struct local_time *local, size_t rank)
{
	int64_t sum_ns = 0;

	for (size_t line = 0; line < LINES; line++)
		tsi_sum(&sum_ns, local->line_ns[rank * LINES + line]);
	return sum_ns;
}
