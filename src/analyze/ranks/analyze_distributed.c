/* SPDX-License-Identifier: MIT */
/*
 * How evenly the ranks of a run share its work, over the steps that all of them
 * have. First each step is looked at across the ranks, then each rank along the
 * steps. Figures with pytscope's names follow its formulas; where a step has no
 * compute or no time, its share is 0, and it has no part in relative slowdowns.
 *
 * pytscope's communication of a step is that of the rank which had most of it.
 * That rank mostly waited for the slowest one, so imbalance counts twice. Where
 * traces show how long each rank waited in each collective, the transfer is what is
 * left, mean of the ranks. Else what every rank spent is the transfer, and what one
 * spent beyond it, its wait.
 */
#include "analyze/ranks/distributed_parts.h"
#include "analyze/shared/robust.h"

#include <math.h>

#include "base/sum.h"
#include "comm/world.h"

static const struct tscope_fact_def facts[] = { DISTRIBUTED_FACTS(TSI_FACT_DEF) };

static const struct tscope_fact_def rank_columns[] = { DISTRIBUTED_RANK_COLUMNS(TSI_FACT_DEF) };

static const struct tscope_fact_def straggler_columns[] = { DISTRIBUTED_STRAGGLER_COLUMNS(
	TSI_FACT_DEF) };

static const struct tscope_fact_def slow_columns[] = { DISTRIBUTED_SLOW_COLUMNS(TSI_FACT_DEF) };

static const struct tscope_fact_def missing_columns[] = {
	{ "rank", TSCOPE_UNIT_COUNT, "number of the rank" },
};

static const struct tscope_table_def tables[] = {
	[RANKS] = TSI_TABLE_DEF("ranks", rank_columns, "each rank that was read"),
	[STRAGGLER] = { "straggler", straggler_columns, TSI_COUNT_OF(straggler_columns),
			"the only rank with straggler_z of 3 and rel_slowdown of 0.05 or more; "
			"null where ranks are stages of a pipeline",
			TSCOPE_TABLE_OBJECT },
	[SLOW_RANKS] = TSI_TABLE_DEF(
		"slow_ranks", slow_columns,
		"ranks with a p_value of 0.003 or less, an excess_ratio of at least the threshold "
		"of DIST.STRAGGLER and a gain_ns of at least 0.2 % of the step"),
	[MISSING_RANKS] = { "missing_ranks", missing_columns, TSI_COUNT_OF(missing_columns),
			    "ranks of the job that were not read, the first 1024",
			    TSCOPE_TABLE_LIST },
};

static void find_survey(struct survey *survey, struct arena *scratch)
{
	const struct analysis_scope *scope = survey->scope;
	size_t ranks = scope->rank_count, steps;

	tsi_rank_steps_fill(&survey->steps, scope->ranks, ranks, scope->options->quorum_percent,
			    scratch);
	steps = survey->steps.step_count;
	survey->step_views = tsi_arena_new(scratch, steps, sizeof(*survey->step_views));
	survey->rank_views = tsi_arena_new(scratch, ranks, sizeof(*survey->rank_views));
	survey->numbers =
		tsi_arena_new(scratch, steps > ranks ? steps : ranks, sizeof(*survey->numbers));
}

/* ---- each step across the ranks ---- */

/* Standard deviation of the population by mean; 0 where nothing is computed. */
static double variation_of(const int64_t *numbers, size_t count, int64_t sum)
{
	double mean = (double)sum / (double)count, squares = 0;

	if (sum == 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		double deviation = (double)numbers[i] - mean;
		squares += deviation * deviation;
	}
	return sqrt(squares / (double)count) / mean;
}

/* Communication of a step without waiting, mean of the ranks; or of the rank with the least. */
static int64_t transfer_of_step(const struct survey *survey, size_t step)
{
	size_t first = step * survey->steps.rank_count;
	int64_t sum_ns = 0;

	if (!survey->steps.wait_ns)
		return survey->step_views[step].least_comm_ns;
	for (size_t i = first; i < first + survey->steps.rank_count; i++)
		tsi_sum(&sum_ns, survey->steps.comm_ns[i] - survey->steps.wait_ns[i]);
	return tsi_mean(sum_ns, (int64_t)survey->steps.rank_count).integer;
}

static void look_at_step(struct survey *survey, size_t step)
{
	size_t rank_count = survey->steps.rank_count;
	const int64_t *compute_ns = &survey->steps.compute_ns[step * rank_count];
	const int64_t *comm_ns = &survey->steps.comm_ns[step * rank_count];
	struct step_view *view = &survey->step_views[step];

	*view = (struct step_view){ .most_compute_ns = -1, .least_comm_ns = INT64_MAX };
	for (size_t rank = 0; rank < rank_count; rank++) {
		if (compute_ns[rank] > view->most_compute_ns) {
			view->most_compute_ns = compute_ns[rank];
			view->slowest = rank;
		}
		if (comm_ns[rank] > view->most_comm_ns)
			view->most_comm_ns = comm_ns[rank];
		if (comm_ns[rank] < view->least_comm_ns)
			view->least_comm_ns = comm_ns[rank];
		tsi_sum(&view->sum_compute_ns, compute_ns[rank]);
		survey->numbers[rank] = (double)compute_ns[rank];
	}
	view->transfer_ns = transfer_of_step(survey, step);
	view->median_compute_ns = tsi_median(survey->numbers, rank_count);
	view->variation = variation_of(compute_ns, rank_count, view->sum_compute_ns);
}

static double share_of(int64_t part, int64_t rest)
{
	double whole = (double)part + (double)rest;

	return whole > 0 ? (double)part / whole : 0;
}

static void put_means(const struct survey *survey, struct fact_sheet *out)
{
	size_t step_count = survey->steps.step_count;
	int64_t wall_ns = 0, most_ns = 0, sum_ns = 0;
	double comm_fraction = 0, transfer_fraction = 0;

	for (size_t i = 0; i < step_count; i++) {
		const struct step_view *view = &survey->step_views[i];
		tsi_sum(&wall_ns, view->most_compute_ns);
		tsi_sum(&wall_ns, view->most_comm_ns);
		tsi_sum(&most_ns, view->most_compute_ns);
		tsi_sum(&sum_ns, view->sum_compute_ns);
		comm_fraction += share_of(view->most_comm_ns, view->most_compute_ns);
		transfer_fraction += share_of(view->transfer_ns, view->most_compute_ns);
	}
	double lost_ns = (double)most_ns - (double)sum_ns / (double)survey->steps.rank_count;
	tsi_fact_mean(out, MEAN_STEP_WALL_NS, wall_ns, (int64_t)step_count);
	tsi_fact_real(out, MEAN_COMM_FRACTION, comm_fraction / (double)step_count);
	tsi_fact_real(out, MEAN_TRANSFER_FRACTION, transfer_fraction / (double)step_count);
	tsi_fact_real(out, WALL_FRAC_LOST, most_ns > 0 ? lost_ns / (double)most_ns : 0);
	tsi_fact_int(out, WALL_LOST_NS_PER_STEP, tsi_round_ns(lost_ns / (double)step_count));
}

static void put_medians(struct survey *survey, struct fact_sheet *out)
{
	size_t step_count = survey->steps.step_count;

	for (size_t i = 0; i < step_count; i++)
		survey->numbers[i] = survey->step_views[i].variation;
	tsi_fact_real(out, IMBALANCE_CV, tsi_median(survey->numbers, step_count));
	for (size_t i = 0; i < step_count; i++)
		survey->numbers[i] = (double)survey->step_views[i].most_compute_ns -
				     survey->step_views[i].median_compute_ns;
	tsi_fact_int(out, SYNC_SKEW_NS, tsi_round_ns(tsi_median(survey->numbers, step_count)));
}

/* ---- all of it ---- */

/* Ties: the lowest rank. Time in collectives that no other rank recorded says nothing. */
static void put_least_waiting(const struct world *world, struct fact_sheet *out)
{
	int64_t least_ns = INT64_MAX;
	size_t least = SIZE_MAX;

	for (size_t i = 0; i < world->rank_count; i++) {
		const struct rank_wait *wait = &world->waits[i];
		int64_t sum_ns = wait->wait_ns;

		tsi_sum(&sum_ns, wait->transfer_ns);
		if (wait->count == 0 || (least != SIZE_MAX && sum_ns >= least_ns))
			continue;
		least_ns = sum_ns;
		least = i;
	}
	if (least != SIZE_MAX && world->logs[least].rank >= 0)
		tsi_fact_int(out, LEAST_WAITING_RANK, world->logs[least].rank);
}

static void fill_distributed(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct arena *scratch = tsi_sheet_scratch(out);
	struct survey survey = { .scope = scope };

	if (scope->rank_count < 2)
		return;
	tsi_put_ranks_doubt(scope, out);
	if (scope->world)
		put_least_waiting(scope->world, out);
	find_survey(&survey, scratch);
	if (!survey.numbers || survey.steps.step_count == 0 ||
	    !tsi_late_ranks_find(&survey.late, scope, &survey.steps, scratch))
		return;
	for (size_t i = 0; i < survey.steps.step_count; i++)
		look_at_step(&survey, i);
	put_means(&survey, out);
	put_medians(&survey, out);
	tsi_distributed_put_ranks(&survey, out);
	tsi_distributed_put_missing(&survey, out);
	tsi_distributed_put_verdict(&survey, out);
}

const struct analyzer tsi_analyzer_distributed = {
	.def = {
		.id = "distributed",
		.summary = "how evenly the ranks share the work, and who keeps the others waiting",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "steps of two or more ranks with numbers in common",
	},
	.levels = LEVEL_RUN,
	.fill = fill_distributed,
};
