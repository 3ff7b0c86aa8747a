/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_RANKS_RANK_STEPS_H
#define TSCOPE_ANALYZE_RANKS_RANK_STEPS_H

#include "analyze/facts.h"
#include "base/arena.h"
#include "run/steps.h"

/*
 * Times of a run's ranks in the steps that all of them have, or nearly all: tables of step_count ×
 * rank_count times, [step * rank_count + rank].
 */
struct rank_steps {
	size_t step_count, rank_count;
	int64_t *numbers; /* of the steps */
	int64_t *time_ns;
	int64_t *compute_ns; /* tsi_step_compute_ns() */
	int64_t *comm_ns;
	bool *is_missing; /* cells of ranks that lack the step: the others' median; NULL: none */
	/*
	 * The part of comm_ns spent waiting for other ranks in matched collectives; NULL unless the
	 * traces show it for every step and rank.
	 */
	int64_t *wait_ns;
};

/* Fills in the counted steps; step_count may be 0, and is 0 without memory. */
void tsi_rank_steps_fill(struct rank_steps *steps, const struct step_series *ranks,
			 size_t rank_count, unsigned quorum_percent, struct arena *arena);

/* pytscope's COMPUTE_PHASES: forward, backward, optimizer and compute. */
int64_t tsi_step_compute_ns(const struct step_record *record);

/* The number of a rank by its index; absent where its files do not say it. */
struct tscope_value tsi_rank_number(const struct step_series *ranks, size_t rank);

/* An even number of steps or ranks has its median between two of them: halves up. */
int64_t tsi_round_ns(double ns);

/* Why the times of these ranks must not be believed or compared, or NULL. */
const char *tsi_ranks_doubt(const struct step_series *ranks, size_t rank_count);

/* Puts it into a sheet. */
void tsi_put_ranks_doubt(const struct analysis_scope *scope, struct fact_sheet *out);

#endif
