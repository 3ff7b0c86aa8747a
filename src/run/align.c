/* SPDX-License-Identifier: MIT */
/*
 * Aligns ranks by step number: each rank's records are put in the order of their
 * numbers, and all lists are then walked together, as in a merge.
 */
#include "run/align.h"

#include <stdlib.h>

#include "base/array.h"

/* One rank's counted steps by number: pairs of number (as a key) and index of the record. */
struct numbered {
	struct sort_pair *pairs;
	size_t count, at;
};

/* Moves every rank to the next number that all have; false: there is none. */
static bool find_common(struct numbered *ranks, size_t rank_count)
{
	uint64_t wanted = 0; /* the largest key that any rank stands at */

	for (size_t i = 0, agreeing = 0; agreeing < rank_count; i = (i + 1) % rank_count) {
		struct numbered *rank = &ranks[i];
		while (rank->at < rank->count && rank->pairs[rank->at].key < wanted)
			rank->at++;
		if (rank->at == rank->count)
			return false;
		agreeing = rank->pairs[rank->at].key == wanted ? agreeing + 1 : 1;
		wanted = rank->pairs[rank->at].key;
	}
	return true;
}

static void take_common(struct step_alignment *alignment, struct numbered *ranks)
{
	uint32_t *row = &alignment->records[alignment->count++ * alignment->rank_count];

	for (size_t i = 0; i < alignment->rank_count; i++)
		row[i] = (uint32_t)ranks[i].pairs[ranks[i].at++].value;
}

static enum tscope_status align_numbered(struct step_alignment *alignment, struct numbered *ranks,
					 struct tscope_error *err)
{
	size_t most = SIZE_MAX;

	for (size_t i = 0; i < alignment->rank_count; i++)
		most = ranks[i].count < most ? ranks[i].count : most;
	if (tsi_array_new(&alignment->records, most,
			  alignment->rank_count * sizeof(*alignment->records), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	while (find_common(ranks, alignment->rank_count))
		take_common(alignment, ranks);
	return TSCOPE_OK;
}

enum tscope_status tsi_align(struct step_alignment *alignment, const struct step_series *ranks,
			     size_t rank_count, struct tscope_error *err)
{
	struct numbered *numbered = NULL;

	*alignment = (struct step_alignment){ .rank_count = rank_count };
	if (rank_count == 0)
		return TSCOPE_OK;
	enum tscope_status status = tsi_array_new(&numbered, rank_count, sizeof(*numbered), err);
	for (size_t i = 0; status == TSCOPE_OK && i < rank_count; i++)
		status = tsi_steps_by_number(&numbered[i].pairs, &numbered[i].count, &ranks[i],
					     true, err);
	if (status == TSCOPE_OK)
		status = align_numbered(alignment, numbered, err);
	for (size_t i = 0; numbered && i < rank_count; i++)
		free(numbered[i].pairs);
	free(numbered);
	return status;
}

void tsi_alignment_deinit(struct step_alignment *alignment)
{
	free(alignment->records);
	*alignment = (struct step_alignment){ 0 };
}
