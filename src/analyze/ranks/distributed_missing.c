/* SPDX-License-Identifier: MIT */
/* Ranks of the job that were not read, and steps that only some ranks have. */
#include "analyze/ranks/distributed_parts.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/sort.h"

enum { MAX_MISSING_ROWS = 1024 };

static enum tscope_status list_missing_ranks(const struct step_series *ranks, size_t rank_count,
					     int64_t declared, struct fact_sheet *out,
					     struct tscope_error *err)
{
	struct tscope_value *cells;
	size_t read = 0, row_count = 0; /* ranks ascend */

	for (int64_t number = 0; number < declared && row_count < MAX_MISSING_ROWS; number++) {
		if (read < rank_count && ranks[read].rank == number) {
			read++;
			continue;
		}
		if (tsi_table_add(out, MISSING_RANKS, &cells, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		cells[0] = tsi_int(number);
		row_count++;
	}
	return TSCOPE_OK;
}

static enum tscope_status put_missing_ranks(const struct step_series *ranks, size_t rank_count,
					    struct fact_sheet *out, struct tscope_error *err)
{
	int64_t declared = -1, missing_count;

	for (size_t i = 0; i < rank_count; i++)
		if (ranks[i].world_size > declared)
			declared = ranks[i].world_size;
	if (declared < 0)
		return TSCOPE_OK;
	tsi_fact_int(out, DECLARED_WORLD_SIZE, declared);
	if (ranks[0].rank < 0) /* a rank without a number may be any */
		return TSCOPE_OK;
	missing_count = declared;
	for (size_t i = 0; i < rank_count; i++)
		missing_count -= ranks[i].rank < declared;
	tsi_fact_int(out, MISSING_RANK_COUNT, missing_count);
	return list_missing_ranks(ranks, rank_count, declared, out, err);
}

/* The numbers of a rank's counted steps, as keys; returns how many. */
static size_t list_step_numbers(const struct step_series *ranks, size_t rank,
				struct sort_pair *pairs)
{
	size_t count = 0;

	for (size_t i = 0; i < ranks[rank].count; i++)
		if (tsi_step_is_timed(&ranks[rank].records[i]))
			pairs[count++] = (struct sort_pair){
				tsi_sort_key_of_int64(ranks[rank].records[i].number), rank
			};
	return count;
}

/*
 * How many different steps there are in sorted pairs of number and rank. A number is as many
 * steps as the rank that has it most often counts; pairs of one number stand rank by rank.
 */
static size_t count_different(const struct sort_pair *pairs, size_t count)
{
	size_t different = 0, most = 0, same = 0;

	for (size_t i = 0; i < count; i++) {
		bool is_new = i == 0 || pairs[i].key != pairs[i - 1].key;

		if (is_new) {
			different += most;
			most = 0;
		}
		same = is_new || pairs[i].value != pairs[i - 1].value ? 1 : same + 1;
		most = same > most ? same : most;
	}
	return different + most;
}

/* How many steps the ranks have, each counted once. */
static enum tscope_status count_step_numbers(const struct step_series *ranks, size_t rank_count,
					     size_t *ret, struct tscope_error *err)
{
	struct sort_pair *pairs = NULL, *scratch = NULL;
	size_t record_count = 0, count = 0;

	for (size_t i = 0; i < rank_count; i++)
		record_count += ranks[i].count;
	enum tscope_status status = tsi_array_new(&pairs, record_count, sizeof(*pairs), err);
	if (status == TSCOPE_OK)
		status = tsi_array_new(&scratch, record_count, sizeof(*scratch), err);
	if (status == TSCOPE_OK) {
		for (size_t i = 0; i < rank_count; i++)
			count += list_step_numbers(ranks, i, &pairs[count]);
		tsi_sort_pairs(pairs, scratch, count);
		*ret = count_different(pairs, count);
	}
	free(pairs);
	free(scratch);
	return status;
}

enum tscope_status tsi_distributed_put_missing(const struct survey *survey, struct fact_sheet *out,
					       struct tscope_error *err)
{
	size_t rank_count = survey->steps.rank_count, number_count = 0;
	const struct step_series *ranks = survey->scope->ranks;

	if (count_step_numbers(ranks, rank_count, &number_count, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	tsi_fact_int(out, WORLD_SIZE, (int64_t)rank_count);
	tsi_fact_int(out, N_STEPS, (int64_t)survey->steps.step_count);
	tsi_fact_int(out, DROPPED_STEP_COUNT, (int64_t)(number_count - survey->steps.step_count));
	return put_missing_ranks(ranks, rank_count, out, err);
}
