/* SPDX-License-Identifier: MIT */
/* Ranks of the job that were not read, and steps that only some ranks have. */
#include "analyze/ranks/distributed_parts.h"

#include "comm/latch.h"

enum { MAX_MISSING_ROWS = 1024 };

static void list_missing_ranks(const struct step_series *ranks, size_t rank_count, int64_t declared,
			       struct fact_sheet *out)
{
	size_t read = 0, row_count = 0; /* ranks ascend */

	for (int64_t number = 0; number < declared && row_count < MAX_MISSING_ROWS; number++) {
		if (read < rank_count && ranks[read].rank == number) {
			read++;
			continue;
		}
		tsi_table_row(out, MISSING_RANKS)[0] = tsi_int(number);
		row_count++;
	}
}

static void put_missing_ranks(const struct step_series *ranks, size_t rank_count,
			      struct fact_sheet *out)
{
	int64_t declared = -1, missing_count;

	for (size_t i = 0; i < rank_count; i++)
		if (ranks[i].world_size > declared)
			declared = ranks[i].world_size;
	if (declared < 0)
		return;
	tsi_fact_int(out, DECLARED_WORLD_SIZE, declared);
	if (ranks[0].rank < 0) /* a rank without a number may be any */
		return;
	missing_count = declared;
	for (size_t i = 0; i < rank_count; i++)
		missing_count -= ranks[i].rank < declared;
	tsi_fact_int(out, MISSING_RANK_COUNT, missing_count);
	list_missing_ranks(ranks, rank_count, declared, out);
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
static size_t count_step_numbers(const struct step_series *ranks, size_t rank_count,
				 struct arena *arena)
{
	struct arena scratch = { 0 };
	size_t record_count = 0, count = 0;

	for (size_t i = 0; i < rank_count; i++)
		record_count += ranks[i].count;
	struct sort_pair *pairs = tsi_arena_new(&scratch, record_count, sizeof(*pairs));
	for (size_t i = 0; pairs && i < rank_count; i++)
		count += list_step_numbers(ranks, i, &pairs[count]);
	tsi_latch_sort(&scratch, pairs, count);
	size_t different = count_different(pairs, count);
	tsi_latch_deinit(arena, &scratch);
	return different;
}

void tsi_distributed_put_missing(const struct survey *survey, struct fact_sheet *out)
{
	size_t rank_count = survey->steps.rank_count;
	const struct step_series *ranks = survey->scope->ranks;
	size_t number_count = count_step_numbers(ranks, rank_count, tsi_sheet_scratch(out));

	tsi_fact_int(out, WORLD_SIZE, (int64_t)rank_count);
	tsi_fact_int(out, N_STEPS, (int64_t)survey->steps.step_count);
	tsi_fact_int(out, DROPPED_STEP_COUNT, (int64_t)(number_count - survey->steps.step_count));
	put_missing_ranks(ranks, rank_count, out);
}
