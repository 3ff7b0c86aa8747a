/* SPDX-License-Identifier: MIT */
/* Missing input of a run, for those who believe its exit code. */
#include "session/run.h"

#include <inttypes.h>
#include <string.h>

#include "base/rank_text.h"

enum { MISSING_LOOKED_AT = 1 << 20 }; /* a world may be said to be of any size */

const char *tsi_missing_ranks(const struct run_ranks *ranks, struct arena *arena)
{
	struct rank_text missing = { .text = "" };
	int64_t world_size = -1;
	size_t at = 0, out = 0;

	/* Ranks are numbered without gaps, whatever is said of how many there are. */
	for (size_t i = 0; i < ranks->count; i++) {
		const struct step_series *series = &ranks->series[i];
		int64_t least = series->rank < INT64_MAX ? series->rank + 1 : INT64_MAX;

		world_size = series->world_size > world_size ? series->world_size : world_size;
		world_size = least > world_size ? least : world_size;
	}
	size_t read_count = ranks->count + ranks->left_out_count;
	if (ranks->count < 2 || ranks->series[0].rank < 0 || world_size <= (int64_t)read_count)
		return NULL;
	for (int64_t rank = 0; rank < world_size && rank < MISSING_LOOKED_AT; rank++)
		if (at < ranks->count && ranks->series[at].rank == rank)
			at++;
		else if (out < ranks->left_out_count && ranks->left_out[out] == rank)
			out++;
		else
			tsi_rank_text_add(&missing, rank);
	tsi_rank_text_end(&missing);
	return tsi_arena_print(arena, "%zu of %" PRId64 " ranks were read; missing: %.100s%s",
			       read_count, world_size, missing.text,
			       strlen(missing.text) > 100 || world_size > MISSING_LOOKED_AT ? " ..."
											    : "");
}

const char *tsi_lone_rank(const struct run_ranks *ranks, struct arena *arena)
{
	int64_t world_size = ranks->count == 1 ? ranks->series[0].world_size : 1;
	int64_t rank = ranks->count == 1 ? ranks->series[0].rank : 0;

	/* Ranks are numbered without gaps. */
	if (rank >= world_size && rank < INT64_MAX)
		world_size = rank + 1;
	return world_size <= 1
		       ? NULL
		       : tsi_arena_print(arena, "1 of %" PRId64 " ranks was read", world_size);
}

const char *tsi_incomplete(const struct run_members *members, struct arena *arena)
{
	for (size_t i = 0; i < members->other_count; i++) {
		const struct tscope_run_other *other = &members->others[i].shown;

		if (other->is_problem)
			return tsi_arena_print(arena, "%.150s %s", other->path,
					       other->is_left_out ? "is left out" : "was not read");
	}
	for (size_t i = 0; i < members->item_count; i++) {
		const struct tscope_run_input *input = &tsi_member(members, i)->input;

		if (input->damage || input->dropped_count > 0)
			return tsi_arena_print(arena, "%.150s is damaged", input->path);
	}
	return NULL;
}
