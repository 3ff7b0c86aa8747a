/* SPDX-License-Identifier: MIT */
/*
 * Aligns ranks by step number: each rank's records are put in the order of their
 * numbers, and all lists are then walked together, as in a merge. One short rank of
 * hundreds must not take its steps from all.
 */
#include "run/align.h"

#include <stdlib.h>

#include "base/array.h"

/* One rank's counted steps by number: pairs of number (as a key) and index of the record. */
struct numbered {
	struct sort_pair *pairs;
	size_t count, at;
};

enum { DEFAULT_QUORUM_PERCENT = 99 };

size_t tsi_quorum_spare(size_t rank_count, unsigned quorum_percent)
{
	unsigned percent = quorum_percent ? quorum_percent : DEFAULT_QUORUM_PERCENT;

	return percent < 100 ? rank_count / 100 * (100 - percent) +
				       rank_count % 100 * (100 - percent) / 100
			     : 0;
}

/*
 * The next number that any of the first ranks stands at. A number that `spare` ranks lack at most,
 * one more rank than that cannot all lack.
 */
static bool find_next(const struct numbered *ranks, size_t spare, uint64_t *key)
{
	bool is_any = false;

	for (size_t i = 0; i <= spare; i++) {
		if (ranks[i].at == ranks[i].count ||
		    (is_any && ranks[i].pairs[ranks[i].at].key >= *key))
			continue;
		*key = ranks[i].pairs[ranks[i].at].key;
		is_any = true;
	}
	return is_any;
}

/* Moves all ranks past one step of this number, and keeps it if enough have it. */
static void take_number(struct step_alignment *alignment, struct numbered *ranks, size_t spare,
			uint64_t key)
{
	uint32_t *row = &alignment->records[alignment->count * alignment->rank_count];
	size_t having = 0;

	for (size_t i = 0; i < alignment->rank_count; i++) {
		struct numbered *rank = &ranks[i];

		while (rank->at < rank->count && rank->pairs[rank->at].key < key)
			rank->at++;
		bool has_it = rank->at < rank->count && rank->pairs[rank->at].key == key;
		row[i] = has_it ? (uint32_t)rank->pairs[rank->at++].value : NO_ROW;
		having += has_it;
	}
	alignment->count += having + spare >= alignment->rank_count;
}

static enum tscope_status align_numbered(struct step_alignment *alignment, struct numbered *ranks,
					 size_t spare, struct tscope_error *err)
{
	size_t rank_count = alignment->rank_count, total = 0;
	uint64_t key = 0;

	for (size_t i = 0; i < rank_count; i++)
		total += ranks[i].count;
	size_t most = total / (rank_count - spare);
	/* One more row than can be kept, for the number that is looked at. */
	if (tsi_array_new(&alignment->records, most + 1, rank_count * sizeof(*alignment->records),
			  err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	while (find_next(ranks, spare, &key))
		take_number(alignment, ranks, spare, key);
	return TSCOPE_OK;
}

enum tscope_status tsi_align(struct step_alignment *alignment, const struct step_series *ranks,
			     size_t rank_count, unsigned quorum_percent, struct tscope_error *err)
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
		status = align_numbered(alignment, numbered,
					tsi_quorum_spare(rank_count, quorum_percent), err);
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
