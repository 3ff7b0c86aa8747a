/* SPDX-License-Identifier: MIT */
/*
 * Judges ranks role by role. A rank may be late by either of two tables, and roles are judged
 * one by one: chances are corrected for both, so that a run of equal ranks names one as seldom as
 * if there were a single test.
 */
#include "analyze/ranks/late_ranks.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"

static const double default_min_excess = 0.01;

/* One role in one of the tables. */
struct role_judge {
	struct late_ranks *late;
	size_t *members; /* indices of its ranks */
	size_t member_count;
	size_t judged_count, test_count; /* ranks of all roles that are judged, and tables */
	const int64_t *table_ns;         /* [step * late->rank_count + rank] */
	size_t step_count;
	bool is_local;
};

/* [step * member_count + member] */
static enum tscope_status take_members(int64_t **ret, const struct role_judge *judge,
				       struct tscope_error *err)
{
	size_t rank_count = judge->late->rank_count, count = judge->member_count;

	if (tsi_array_new(ret, judge->step_count, count * sizeof(**ret), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t step = 0; step < judge->step_count; step++)
		for (size_t i = 0; i < count; i++)
			(*ret)[step * count + i] =
				judge->table_ns[step * rank_count + judge->members[i]];
	return TSCOPE_OK;
}

static void keep_verdict(const struct role_judge *judge, size_t member, struct rank_verdict verdict)
{
	struct late_rank *rank = &judge->late->ranks[judge->members[member]];
	double tests = (double)judge->test_count * (double)judge->judged_count /
		       (double)judge->member_count;

	verdict.p_value = fmin(verdict.p_value * tests, 1);
	*(judge->is_local ? &rank->local : &rank->compute) = verdict;
}

static enum tscope_status judge_role(const struct role_judge *judge, struct tscope_error *err)
{
	struct rank_verdict *verdicts = NULL;
	int64_t *own_ns = NULL;

	enum tscope_status status = take_members(&own_ns, judge, err);
	if (status == TSCOPE_OK)
		status = tsi_array_new(&verdicts, judge->member_count, sizeof(*verdicts), err);
	if (status == TSCOPE_OK)
		status = tsi_judge_ranks(verdicts, own_ns, judge->step_count, judge->member_count,
					 err);
	for (size_t i = 0; status == TSCOPE_OK && i < judge->member_count; i++)
		keep_verdict(judge, i, verdicts[i]);
	free(own_ns);
	free(verdicts);
	return status;
}

static void find_members(struct role_judge *judge, uint32_t role)
{
	judge->member_count = 0;
	for (size_t i = 0; i < judge->late->rank_count; i++)
		if (judge->late->roles.roles[i] == role)
			judge->members[judge->member_count++] = i;
}

/* Of a role with one rank nothing can be said. */
static void count_judged(struct role_judge *judge)
{
	for (uint32_t role = 0; role < judge->late->roles.role_count; role++) {
		find_members(judge, role);
		if (judge->member_count > 1)
			judge->judged_count += judge->member_count;
	}
}

static enum tscope_status judge_roles(struct role_judge *judge, struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;

	for (uint32_t role = 0; status == TSCOPE_OK && role < judge->late->roles.role_count;
	     role++) {
		find_members(judge, role);
		if (judge->member_count > 1)
			status = judge_role(judge, err);
	}
	return status;
}

static enum tscope_status judge_tables(struct late_ranks *late, const struct rank_steps *steps,
				       struct tscope_error *err)
{
	struct role_judge judge = { .late = late, .test_count = 1 };
	enum tscope_status status =
		tsi_array_new(&judge.members, late->rank_count, sizeof(*judge.members), err);

	if (status == TSCOPE_OK) {
		count_judged(&judge);
		judge.test_count += late->local.step_count > 0;
		judge.table_ns = steps->compute_ns;
		judge.step_count = steps->step_count;
		status = judge_roles(&judge, err);
	}
	if (status == TSCOPE_OK && late->local.step_count > 0) {
		judge.table_ns = late->local.local_ns;
		judge.step_count = late->local.step_count;
		judge.is_local = true;
		status = judge_roles(&judge, err);
	}
	free(judge.members);
	return status;
}

static void decide(struct late_rank *rank, double min_excess)
{
	bool by_compute = tsi_is_slow_rank(&rank->compute, min_excess);
	bool by_local = tsi_is_slow_rank(&rank->local, min_excess);

	rank->is_late = by_compute || by_local;
	rank->is_by_local =
		by_local && (!by_compute || rank->local.excess_ratio > rank->compute.excess_ratio);
}

enum tscope_status tsi_late_ranks_init(struct late_ranks *late, const struct analysis_scope *scope,
				       const struct rank_steps *steps, struct tscope_error *err)
{
	double said = scope->options->slow_rank_min_excess;

	*late = (struct late_ranks){ .rank_count = scope->rank_count };
	if (tsi_rank_roles_init(&late->roles, scope, err) != TSCOPE_OK ||
	    tsi_local_time_init(&late->local, scope, err) != TSCOPE_OK ||
	    tsi_array_new(&late->ranks, late->rank_count, sizeof(*late->ranks), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < late->rank_count; i++)
		late->ranks[i].compute = late->ranks[i].local =
			(struct rank_verdict){ .excess_ratio = NAN, .p_value = 1 };
	if (judge_tables(late, steps, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < late->rank_count; i++)
		decide(&late->ranks[i], said > 0 ? said : default_min_excess);
	return TSCOPE_OK;
}

void tsi_late_ranks_deinit(struct late_ranks *late)
{
	tsi_rank_roles_deinit(&late->roles);
	tsi_local_time_deinit(&late->local);
	free(late->ranks);
	*late = (struct late_ranks){ 0 };
}
