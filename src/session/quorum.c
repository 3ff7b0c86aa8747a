/* SPDX-License-Identifier: MIT */
/*
 * Ranks that lack most of the steps that a quorum of the ranks has are left out: one trace of a
 * thousand that was cut short, or numbers its steps as no other does, must not take the steps of
 * all the others from every figure that compares ranks.
 *
 * So are ranks whose trace breaks off, of few ranks as well, while most are whole: profilers write
 * thread after thread and stream after stream, so that what is lost is no last step but somebody's
 * events in all of them. Collectives that are not there make waiting look like work, and those
 * that are match the wrong ones of the others.
 */
#include "session/run.h"

#include <inttypes.h>

#include "run/align.h"

/* How many of the aligned steps a rank has. */
static size_t count_steps_of(const struct step_alignment *alignment, size_t rank)
{
	size_t count = 0;

	for (size_t step = 0; step < alignment->count; step++)
		count += alignment->records[step * alignment->rank_count + rank] != NO_ROW;
	return count;
}

/* Damage that ended the reading of a file of the rank early, or NULL; first: its first item. */
static const struct tscope_error *damage_of(const struct run_members *members, size_t first)
{
	for (size_t i = first, end = tsi_end_of_rank(members, first); i < end; i++)
		if (tsi_member(members, i)->input.damage)
			return tsi_member(members, i)->input.damage;
	return NULL;
}

static const char *reason_of(const struct step_alignment *alignment, size_t having, int64_t rank,
			     const struct tscope_error *damage, struct arena *arena)
{
	return tsi_arena_print(
		arena, "rank %" PRId64 " lacks %zu of the %zu steps that nearly all ranks have%s%s",
		rank, alignment->count - having, alignment->count, damage ? ": " : "",
		damage ? damage->message : "");
}

/* Why a rank with such a trace, and no records of its own, compares with no other; or NULL. */
static const char *break_of(const struct run_members *members, size_t first, struct arena *arena)
{
	for (size_t i = first, end = tsi_end_of_rank(members, first); i < end; i++) {
		const struct tscope_error *damage = tsi_member(members, i)->input.damage;

		if (members->items[i].kind == RUN_ITEM_STEPS)
			return NULL;
		if (members->items[i].kind == RUN_ITEM_TRACE && damage)
			return tsi_arena_print(arena,
					       "%s; of collectives, any may be lost: it is "
					       "compared with no other rank",
					       damage->message);
	}
	return NULL;
}

/* Returns how many are broken; none where no two others, or not most, are whole. */
static size_t find_broken_ranks(const char **reasons, const struct run_ranks *ranks,
				const struct run_members *members, struct arena *arena)
{
	size_t count = 0, item = 0;

	for (size_t i = 0; i < ranks->count && item < members->step_item_count; i++) {
		reasons[i] = break_of(members, item, arena);
		count += reasons[i] != NULL;
		item = tsi_end_of_rank(members, item);
	}
	if (ranks->count - count >= 2 && 2 * count < ranks->count)
		return count;
	for (size_t i = 0; i < ranks->count; i++)
		reasons[i] = NULL;
	return 0;
}

static void add_left_out(struct run_members *members, size_t item, const char *reason)
{
	members->others[members->other_count++].shown = (struct tscope_run_other){
		.path = members->items[item].path,
		.reason = reason,
		.is_problem = true,
		.is_left_out = true,
	};
}

/* Moves the files of such ranks to those that are in no figure. */
static void leave_items_out(struct run_members *members, const char *const *reasons,
			    const struct run_ranks *ranks)
{
	size_t kept = 0, kept_of_steps = 0, rank = 0;

	for (size_t i = 0; i < members->item_count; i++) {
		bool has_steps = i < members->step_item_count;

		while (has_steps && ranks->series[rank].rank != members->items[i].rank)
			rank++;
		if (has_steps && reasons[rank]) {
			add_left_out(members, i, reasons[rank]);
			continue;
		}
		members->items[kept++] = members->items[i];
		kept_of_steps += has_steps;
	}
	members->item_count = kept;
	members->step_item_count = kept_of_steps;
}

static void leave_series_out(struct run_ranks *ranks, const char *const *reasons)
{
	size_t kept = 0;

	for (size_t i = 0; i < ranks->count; i++) {
		if (reasons[i]) {
			ranks->left_out[ranks->left_out_count++] = ranks->series[i].rank;
			tsi_steps_deinit(&ranks->series[i]);
			continue;
		}
		ranks->series[kept] = ranks->series[i];
		ranks->ranks[kept++] = ranks->ranks[i];
	}
	ranks->count = kept;
}

/* Adds why; returns how many are short and nothing else. */
static size_t find_short_ranks(const char **reasons, const struct step_alignment *alignment,
			       const struct run_ranks *ranks, const struct run_members *members,
			       struct arena *arena)
{
	size_t count = 0;

	for (size_t i = 0, item = 0; i < ranks->count; i++) {
		size_t having = count_steps_of(alignment, i);

		while (members->items[item].rank != ranks->series[i].rank)
			item++;
		if (reasons[i] || 2 * having > alignment->count || alignment->count == 0)
			continue;
		reasons[i] = reason_of(alignment, having, ranks->series[i].rank,
				       damage_of(members, item), arena);
		count++;
	}
	return count;
}

static enum tscope_status leave_out(struct run_ranks *ranks, struct run_members *members,
				    const char *const *reasons, size_t count, struct arena *arena,
				    struct tscope_error *err)
{
	ranks->left_out = tsi_arena_new(arena, count, sizeof(*ranks->left_out));
	enum tscope_status status = tsi_arena_status(arena, err);

	if (status != TSCOPE_OK || count == 0)
		return status;
	leave_items_out(members, reasons, ranks);
	leave_series_out(ranks, reasons);
	return TSCOPE_OK;
}

enum tscope_status tsi_leave_ranks_out(struct run_ranks *ranks, struct run_members *members,
				       unsigned quorum_percent, struct arena *arena,
				       struct tscope_error *err)
{
	struct step_alignment alignment;

	if (members->step_item_count == 0)
		return TSCOPE_OK;
	const char **reasons = tsi_arena_new(arena, ranks->count, sizeof(*reasons));
	enum tscope_status status = tsi_arena_status(arena, err);
	if (status != TSCOPE_OK)
		return status;
	size_t count = find_broken_ranks(reasons, ranks, members, arena);
	if (tsi_quorum_spare(ranks->count, quorum_percent) == 0)
		return leave_out(ranks, members, reasons, count, arena, err);
	status = tsi_align(&alignment, ranks->series, ranks->count, quorum_percent, err);
	if (status != TSCOPE_OK)
		return status;
	count += find_short_ranks(reasons, &alignment, ranks, members, arena);
	tsi_alignment_deinit(&alignment);
	return leave_out(ranks, members, reasons, count, arena, err);
}
