/* SPDX-License-Identifier: MIT */
/*
 * Judges ranks role by role. A rank may be late by either of two tables, and roles are judged
 * one by one: chances are corrected for both, so that a run of equal ranks names one as seldom as
 * if there were a single test.
 */
#include "analyze/ranks/late_ranks.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/ranks/late_gain.h"
#include "comm/latch.h"

static const double default_min_excess = 0.03;
static const double min_gain = 0.002, min_stall_gain = 0.01; /* of the step */

/* One role in one of the tables. */
struct role_judge {
	struct late_ranks *late;
	struct arena *arena;
	size_t *members; /* indices of its ranks */
	size_t member_count;
	size_t judged_count, test_count; /* ranks of all roles that are judged, and tables */
	const int64_t *table_ns;         /* [step * late->rank_count + rank] */
	const bool *is_missing;          /* likewise, or NULL */
	size_t step_count;
	bool is_local;
	bool has_stalls; /* they are looked for here */
};

static int64_t cell_of(const struct role_judge *judge, size_t cell)
{
	bool is_missing = judge->is_missing && judge->is_missing[cell];

	return is_missing ? NO_RANK_TIME : judge->table_ns[cell];
}

/* Fills [step * member_count + member]. */
static void take_members(int64_t *own_ns, const struct role_judge *judge)
{
	size_t rank_count = judge->late->rank_count, count = judge->member_count;

	for (size_t step = 0; step < judge->step_count; step++)
		for (size_t i = 0; i < count; i++)
			own_ns[step * count + i] =
				cell_of(judge, step * rank_count + judge->members[i]);
}

/* Stalls of a member, by the ranks of all roles. */
static void keep_stalls(const struct role_judge *judge, uint32_t role,
			const struct rank_stalls *stalls)
{
	struct rank_stalls *kept = &judge->late->stalls[role];

	if (stalls->count == 0)
		return;
	*kept = *stalls;
	kept->rank = judge->members[stalls->rank];
	judge->late->ranks[kept->rank].stalls = kept;
}

/* Returns the least excess that would have shown. */
static double judge_role(const struct role_judge *judge, uint32_t role)
{
	size_t count = judge->member_count;
	struct arena scratch = { 0 };
	struct rank_verdict *verdicts = tsi_arena_new(&scratch, count, sizeof(*verdicts));
	int64_t *own_ns = tsi_arena_new(&scratch, judge->step_count, count * sizeof(*own_ns));
	double role_count = (double)judge->judged_count / (double)count;
	struct rank_times times = {
		own_ns,
		judge->step_count,
		count,
		(double)judge->test_count * role_count,
	};
	struct rank_stalls stalls = { .test_count = role_count };
	double detectable = INFINITY;

	if (own_ns) {
		take_members(own_ns, judge);
		detectable = tsi_judge_ranks(verdicts, judge->has_stalls ? &stalls : NULL, &times,
					     judge->arena);
		keep_stalls(judge, role, &stalls);
	}
	for (size_t i = 0; own_ns && i < count; i++) {
		struct late_rank *rank = &judge->late->ranks[judge->members[i]];

		*(judge->is_local ? &rank->local : &rank->compute) = verdicts[i];
	}
	tsi_latch_deinit(judge->arena, &scratch);
	return detectable;
}

static void find_members(struct role_judge *judge, uint32_t role)
{
	judge->member_count = 0;
	for (size_t i = 0; i < judge->late->rank_count; i++)
		if (judge->late->roles.roles[i] == role)
			judge->members[judge->member_count++] = i;
}

/* A role with one rank cannot be judged. */
static void count_judged(struct role_judge *judge)
{
	for (uint32_t role = 0; role < judge->late->roles.role_count; role++) {
		find_members(judge, role);
		if (judge->member_count > 1)
			judge->judged_count += judge->member_count;
	}
}

/* Returns what would have shown in any role. */
static double judge_roles(struct role_judge *judge)
{
	double detectable = judge->judged_count > 0 ? 0 : INFINITY;

	for (uint32_t role = 0; role < judge->late->roles.role_count; role++) {
		find_members(judge, role);
		if (judge->member_count > 1)
			detectable = fmax(detectable, judge_role(judge, role));
	}
	return detectable;
}

static void judge_tables(struct late_ranks *late, const struct rank_steps *steps,
			 struct arena *arena)
{
	struct role_judge judge = { .late = late, .arena = arena, .test_count = 1 };

	judge.members = tsi_arena_new(arena, late->rank_count, sizeof(*judge.members));
	if (!judge.members)
		return;
	count_judged(&judge);
	late->peerless_count = late->rank_count - judge.judged_count;
	judge.test_count += late->local.step_count > 0;
	judge.table_ns = steps->compute_ns;
	judge.is_missing = steps->is_missing;
	judge.step_count = late->stall_step_count = steps->step_count;
	judge.has_stalls = late->local.step_count == 0;
	late->stall_numbers = steps->numbers;
	late->detectable_ratio = judge_roles(&judge);
	if (late->local.step_count == 0)
		return;
	judge.has_stalls = true;
	late->stall_numbers = late->local.numbers;
	late->stall_step_count = late->local.step_count;
	judge.table_ns = late->local.local_ns;
	judge.step_count = late->local.step_count;
	judge.is_missing = NULL;
	judge.is_local = true;
	late->detectable_ratio = fmin(late->detectable_ratio, judge_roles(&judge));
}

static int compare_steps(const void *left, const void *right)
{
	const size_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static void decide(struct late_rank *rank, double min_excess)
{
	bool by_compute = tsi_is_slow_rank(&rank->compute, min_excess);
	bool by_local = tsi_is_slow_rank(&rank->local, min_excess);

	if (by_compute || by_local)
		rank->stalls = NULL;
	rank->is_late = by_compute || by_local || rank->stalls;
	rank->is_by_local =
		by_local && (!by_compute || rank->local.excess_ratio > rank->compute.excess_ratio);
}

bool tsi_is_late_in(const struct late_rank *rank, size_t step)
{
	const struct rank_stalls *stalls = rank->stalls;

	return rank->is_late && (!stalls || bsearch(&step, stalls->steps, stalls->count,
						    sizeof(step), compare_steps));
}

/* Keeps those whose lateness costs something, and what they cost together. */
static void weigh(struct late_ranks *late, const struct analysis_scope *scope,
		  const struct rank_steps *steps, struct arena *arena)
{
	bool is_less = false;

	tsi_late_gain_find(late, scope, steps, arena);
	for (size_t i = 0; i < late->rank_count; i++) {
		struct late_rank *rank = &late->ranks[i];

		double least = rank->stalls ? min_stall_gain : min_gain;

		if (!rank->is_late || (double)rank->gain_ns >= least * (double)late->gain.step_ns)
			continue;
		rank->is_late = false;
		is_less = true;
	}
	if (is_less)
		tsi_late_gain_find(late, scope, steps, arena);
}

bool tsi_late_ranks_find(struct late_ranks *late, const struct analysis_scope *scope,
			 const struct rank_steps *steps, struct arena *arena)
{
	double said = scope->options->slow_rank_min_excess;

	*late = (struct late_ranks){ .rank_count = scope->rank_count,
				     .detectable_ratio = INFINITY };
	tsi_rank_roles_find(&late->roles, scope, arena);
	tsi_local_time_fill(&late->local, scope, arena);
	late->ranks = tsi_arena_new(arena, late->rank_count, sizeof(*late->ranks));
	late->stalls = tsi_arena_new(arena, late->roles.role_count, sizeof(*late->stalls));
	if (!late->ranks || !late->stalls)
		return false;
	for (size_t i = 0; i < late->rank_count; i++)
		late->ranks[i].compute = late->ranks[i].local =
			(struct rank_verdict){ .excess_ratio = NAN, .p_value = 1 };
	judge_tables(late, steps, arena);
	for (size_t i = 0; i < late->rank_count; i++)
		decide(&late->ranks[i], said > 0 ? said : default_min_excess);
	if (!arena->has_failed)
		weigh(late, scope, steps, arena);
	return !arena->has_failed;
}
