/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RUN_ALIGN_H
#define TSCOPE_RUN_ALIGN_H

#include "run/steps.h"

/*
 * The steps of several ranks side by side: the numbers for which a quorum of the ranks has a
 * counted time, ascending. Windows may begin to count again: the first step of a number stands
 * beside the first ones of the other ranks, the second beside the second ones, as far as a quorum
 * has them. (Step records hold a number once.)
 */
struct step_alignment {
	size_t count, rank_count;
	uint32_t *records; /* [step * rank_count + rank]: index in the rank's records, or NO_ROW */
};

/* How many of the ranks may lack a step that counts all the same. quorum_percent 0: 99. */
size_t tsi_quorum_spare(size_t rank_count, unsigned quorum_percent);

/* O(records × (1 + tsi_quorum_spare())), but for sorting. */
TSI_MUST_CHECK
enum tscope_status tsi_align(struct step_alignment *alignment, const struct step_series *ranks,
			     size_t rank_count, unsigned quorum_percent, struct tscope_error *err);
void tsi_alignment_deinit(struct step_alignment *alignment); /* fine on a zeroed struct */

/* NULL: the rank lacks the step. */
static inline const struct step_record *tsi_aligned(const struct step_alignment *alignment,
						    const struct step_series *ranks, size_t step,
						    size_t rank)
{
	uint32_t record = alignment->records[step * alignment->rank_count + rank];

	return record != NO_ROW ? &ranks[rank].records[record] : NULL;
}

#endif
