/* SPDX-License-Identifier: MIT */
/*
 * The aligned steps of all ranks as plain tables of times: what the analyzers of
 * a run compare.
 */
#include "analyze/ranks/rank_steps.h"

#include "analyze/shared/robust.h"

#include <math.h>

#include "base/sum.h"
#include "run/align.h"

int64_t tsi_step_compute_ns(const struct step_record *record)
{
	static const enum phase compute_phases[] = { PHASE_FORWARD, PHASE_BACKWARD, PHASE_OPTIMIZER,
						     PHASE_COMPUTE };
	int64_t sum_ns = 0;

	for (size_t i = 0; i < TSI_COUNT_OF(compute_phases); i++)
		tsi_sum(&sum_ns, record->phase_ns[compute_phases[i]]);
	return sum_ns;
}

static void fill_tables(struct rank_steps *steps, const struct step_alignment *alignment,
			const struct step_series *ranks)
{
	for (size_t step = 0; step < steps->step_count; step++) {
		for (size_t rank = 0; rank < steps->rank_count; rank++) {
			const struct step_record *record =
				tsi_aligned(alignment, ranks, step, rank);
			size_t cell = step * steps->rank_count + rank;
			if (!record)
				continue;
			steps->numbers[step] = record->number;
			steps->time_ns[cell] = record->time_ns;
			steps->compute_ns[cell] = tsi_step_compute_ns(record);
			steps->comm_ns[cell] = record->phase_ns[PHASE_COMM];
		}
	}
}

/* Gives ranks that lack a step the median of those that have it; numbers: room for all ranks. */
static void fill_gaps(const struct rank_steps *steps, int64_t *table_ns, double *numbers)
{
	for (size_t step = 0; step < steps->step_count; step++) {
		size_t first = step * steps->rank_count, count = 0;

		for (size_t i = first; i < first + steps->rank_count; i++)
			if (!steps->is_missing[i])
				numbers[count++] = (double)table_ns[i];
		if (count == steps->rank_count)
			continue;
		int64_t median_ns = tsi_round_ns(tsi_median(numbers, count));
		for (size_t i = first; i < first + steps->rank_count; i++)
			if (steps->is_missing[i])
				table_ns[i] = median_ns;
	}
}

static void find_missing(struct rank_steps *steps, const struct step_alignment *alignment,
			 struct arena *arena)
{
	size_t count = steps->step_count * steps->rank_count;
	bool *is_missing = tsi_arena_new(arena, count, sizeof(*is_missing));
	double *numbers = tsi_arena_new(arena, steps->rank_count, sizeof(*numbers));

	for (size_t i = 0; numbers && i < count; i++) {
		is_missing[i] = alignment->records[i] == NO_ROW;
		if (is_missing[i])
			steps->is_missing = is_missing;
	}
	if (!steps->is_missing)
		return;
	fill_gaps(steps, steps->time_ns, numbers);
	fill_gaps(steps, steps->compute_ns, numbers);
	fill_gaps(steps, steps->comm_ns, numbers);
}

/* The budget whose exposed communication is the record's, divided; or NULL. */
static const struct step_budget *split_of(const struct step_series *rank,
					  const struct step_record *record)
{
	if (!rank->is_of_trace || tsi_counted_devices(rank) > 1 || record->budget == NO_ROW)
		return NULL;
	return rank->budgets[record->budget].has_split ? &rank->budgets[record->budget] : NULL;
}

static void fill_waits(struct rank_steps *steps, const struct step_alignment *alignment,
		       const struct step_series *ranks, int64_t *wait_ns)
{
	for (size_t cell = 0; cell < steps->step_count * steps->rank_count; cell++) {
		size_t rank = cell % steps->rank_count;
		uint32_t record = alignment->records[cell];
		const struct step_budget *split =
			record != NO_ROW ? split_of(&ranks[rank], &ranks[rank].records[record])
					 : NULL;

		if (!split)
			return;
		wait_ns[cell] = split->exposed_ns[EXPOSED_WAIT];
	}
	steps->wait_ns = wait_ns;
}

void tsi_rank_steps_fill(struct rank_steps *steps, const struct step_series *ranks,
			 size_t rank_count, unsigned quorum_percent, struct arena *arena)
{
	struct step_alignment alignment;
	size_t step_bytes = rank_count * sizeof(int64_t);

	*steps = (struct rank_steps){ .rank_count = rank_count };
	if (tsi_align(&alignment, ranks, rank_count, quorum_percent, NULL) != TSCOPE_OK)
		arena->has_failed = true;
	steps->numbers = tsi_arena_new(arena, alignment.count, sizeof(*steps->numbers));
	steps->time_ns = tsi_arena_new(arena, alignment.count, step_bytes);
	steps->compute_ns = tsi_arena_new(arena, alignment.count, step_bytes);
	steps->comm_ns = tsi_arena_new(arena, alignment.count, step_bytes);
	int64_t *wait_ns = tsi_arena_new(arena, alignment.count, step_bytes);
	if (wait_ns) {
		steps->step_count = alignment.count;
		fill_tables(steps, &alignment, ranks);
		find_missing(steps, &alignment, arena);
		fill_waits(steps, &alignment, ranks, wait_ns);
	}
	tsi_alignment_deinit(&alignment);
}

int64_t tsi_round_ns(double ns)
{
	return ns < 0x1p62 ? (int64_t)floor(ns + 0.5) : INT64_MAX;
}

struct tscope_value tsi_rank_number(const struct step_series *ranks, size_t rank)
{
	return ranks[rank].rank >= 0 ? tsi_int(ranks[rank].rank) : (struct tscope_value){ 0 };
}

static bool has_comm(const struct step_series *rank)
{
	for (size_t i = 0; i < rank->count; i++)
		if (rank->records[i].phase_ns[PHASE_COMM] > 0)
			return true;
	return false;
}

/*
 * Traces of hosts alone, as Composer writes them, say nothing of communication: a rank waits for
 * others in its backward pass, and who waits looks slower than who is late.
 */
static bool is_blind_to_waiting(const struct step_series *ranks, size_t rank_count)
{
	for (size_t i = 0; i < rank_count; i++)
		if (!ranks[i].is_of_trace || ranks[i].device_count > 0 || has_comm(&ranks[i]))
			return false;
	return rank_count > 1;
}

const char *tsi_ranks_doubt(const struct step_series *ranks, size_t rank_count)
{
	for (size_t i = 0; i < rank_count; i++) {
		if (ranks[i].doubt && ranks[i].is_of_trace)
			return ranks[i].doubt;
		if (ranks[i].is_timeless)
			return tsi_timeless_doubt;
		if (ranks[i].is_of_trace != ranks[0].is_of_trace)
			return "times of some ranks are their own records and of others those of "
			       "traces: they do not compare";
	}
	if (is_blind_to_waiting(ranks, rank_count))
		return "traces of hosts without communication do not separate waiting for other "
		       "ranks "
		       "from compute";
	return NULL;
}

void tsi_put_ranks_doubt(const struct analysis_scope *scope, struct fact_sheet *out)
{
	const char *doubt = tsi_ranks_doubt(scope->ranks, scope->rank_count);

	if (doubt)
		tsi_fact_unreliable(out, doubt);
}
