/* SPDX-License-Identifier: MIT */
/*
 * The aligned steps of all ranks as plain tables of times: what the analyzers of
 * a run compare.
 */
#include "analyze/ranks/rank_steps.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
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

static enum tscope_status make_tables(struct rank_steps *steps, struct tscope_error *err)
{
	size_t step_bytes = steps->rank_count * sizeof(int64_t);

	if (tsi_array_new(&steps->time_ns, steps->step_count, step_bytes, err) != TSCOPE_OK ||
	    tsi_array_new(&steps->compute_ns, steps->step_count, step_bytes, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	return tsi_array_new(&steps->comm_ns, steps->step_count, step_bytes, err);
}

static void fill_tables(struct rank_steps *steps, const struct step_alignment *alignment,
			const struct step_series *ranks)
{
	for (size_t step = 0; step < steps->step_count; step++) {
		for (size_t rank = 0; rank < steps->rank_count; rank++) {
			const struct step_record *record =
				tsi_aligned(alignment, ranks, step, rank);
			size_t cell = step * steps->rank_count + rank;
			steps->time_ns[cell] = record->time_ns;
			steps->compute_ns[cell] = tsi_step_compute_ns(record);
			steps->comm_ns[cell] = record->phase_ns[PHASE_COMM];
		}
	}
}

/* The budget whose exposed communication is the record's, divided; or NULL. */
static const struct step_budget *split_of(const struct step_series *rank,
					  const struct step_record *record)
{
	if (!rank->is_of_trace || tsi_counted_devices(rank) > 1 || record->budget == NO_ROW)
		return NULL;
	return rank->budgets[record->budget].has_split ? &rank->budgets[record->budget] : NULL;
}

static enum tscope_status fill_waits(struct rank_steps *steps,
				     const struct step_alignment *alignment,
				     const struct step_series *ranks, struct tscope_error *err)
{
	if (tsi_array_new(&steps->wait_ns, steps->step_count, steps->rank_count * sizeof(int64_t),
			  err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t cell = 0; cell < steps->step_count * steps->rank_count; cell++) {
		size_t rank = cell % steps->rank_count;
		const struct step_budget *split =
			split_of(&ranks[rank], &ranks[rank].records[alignment->records[cell]]);

		if (!split) {
			free(steps->wait_ns);
			steps->wait_ns = NULL;
			return TSCOPE_OK;
		}
		steps->wait_ns[cell] = split->exposed_wait_ns;
	}
	return TSCOPE_OK;
}

enum tscope_status tsi_rank_steps_init(struct rank_steps *steps, const struct step_series *ranks,
				       size_t rank_count, struct tscope_error *err)
{
	struct step_alignment alignment;
	enum tscope_status status = tsi_align(&alignment, ranks, rank_count, err);

	*steps = (struct rank_steps){ .step_count = alignment.count, .rank_count = rank_count };
	if (status == TSCOPE_OK)
		status = make_tables(steps, err);
	if (status == TSCOPE_OK) {
		fill_tables(steps, &alignment, ranks);
		status = fill_waits(steps, &alignment, ranks, err);
	}
	tsi_alignment_deinit(&alignment);
	return status;
}

void tsi_rank_steps_deinit(struct rank_steps *steps)
{
	free(steps->time_ns);
	free(steps->compute_ns);
	free(steps->comm_ns);
	free(steps->wait_ns);
	*steps = (struct rank_steps){ 0 };
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
		return "traces of hosts without communication do not tell waiting for other ranks "
		       "from compute";
	return NULL;
}
