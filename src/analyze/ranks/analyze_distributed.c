/* SPDX-License-Identifier: MIT */
/*
 * How evenly the ranks of a run share its work, over the steps that all of them
 * have. First each step is looked at across the ranks, then each rank along the
 * steps. Figures with pytscope's names follow its formulas; where a step has no
 * compute or no time, its share is 0, and it has no part in relative slowdowns.
 *
 * pytscope's communication of a step is that of the rank which had most of it.
 * That rank mostly waited for the slowest one, so imbalance counts twice. Where
 * traces tell how long each rank waited in each collective, the transfer is what is
 * left, mean of the ranks. Else what every rank spent is the transfer, and what one
 * spent beyond it, its wait.
 */
#include "analyze/ranks/distributed_parts.h"
#include "analyze/shared/robust.h"

#include <math.h>

#include "base/sum.h"
#include "comm/world.h"

static const struct tscope_fact_def facts[] = {
	[WORLD_SIZE] = { "world_size", TSCOPE_UNIT_COUNT, "ranks that were read" },
	[DECLARED_WORLD_SIZE] = { "declared_world_size", TSCOPE_UNIT_COUNT,
				  "ranks that the job had, as its files say" },
	[MISSING_RANK_COUNT] = { "missing_rank_count", TSCOPE_UNIT_COUNT, "of these, not read" },
	[N_STEPS] = { "n_steps", TSCOPE_UNIT_COUNT, "steps that all ranks have" },
	[DROPPED_STEP_COUNT] = { "dropped_step_count", TSCOPE_UNIT_COUNT,
				 "steps that only some ranks have, in no figure here" },
	[MEAN_STEP_WALL_NS] = { "mean_step_wall_ns", TSCOPE_UNIT_NS,
				"mean of most compute + most communication of any rank" },
	[MEAN_COMM_FRACTION] = { "mean_comm_fraction", TSCOPE_UNIT_RATIO,
				 "mean share of most communication in that" },
	[MEAN_TRANSFER_FRACTION] = { "mean_transfer_fraction", TSCOPE_UNIT_RATIO,
				     "mean share of communication without waiting in most compute "
				     "+ "
				     "that: the ranks' mean where traces tell it, else the least "
				     "of "
				     "any rank" },
	[IMBALANCE_CV] = { "imbalance_cv", TSCOPE_UNIT_NUMBER,
			   "compute over ranks: standard deviation by mean, median of the steps" },
	[SYNC_SKEW_NS] = { "sync_skew_ns", TSCOPE_UNIT_NS,
			   "slowest less median rank's compute, median of the steps" },
	[WALL_FRAC_LOST] = { "wall_frac_lost_to_imbalance", TSCOPE_UNIT_RATIO,
			     "slowest less mean compute, share of the slowest" },
	[WALL_LOST_NS_PER_STEP] = { "wall_lost_ns_per_step", TSCOPE_UNIT_NS,
				    "slowest less mean compute, mean of the steps" },
	[LEAST_WAITING_RANK] = { "least_waiting_rank", TSCOPE_UNIT_COUNT,
				 "rank with the shortest matched collectives that all members end "
				 "together, in sum: for which the others wait" },
};

static const struct tscope_fact_def rank_columns[] = {
	[RANK] = { "rank", TSCOPE_UNIT_COUNT, "number of the rank" },
	[MEAN_COMPUTE_NS] = { "mean_compute_ns", TSCOPE_UNIT_NS, "compute of a step, mean" },
	[MEDIAN_COMPUTE_NS] = { "median_compute_ns", TSCOPE_UNIT_NS, "median" },
	[SLOWEST_COUNT] = { "slowest_count", TSCOPE_UNIT_COUNT,
			    "steps in which it was slowest (of equals, the lowest rank)" },
	[SLOWEST_FRACTION] = { "slowest_fraction", TSCOPE_UNIT_RATIO, "their share" },
	[STRAGGLER_Z] = { "straggler_z", TSCOPE_UNIT_NUMBER,
			  "their excess over chance in standard deviations" },
	[REL_SLOWDOWN] = { "rel_slowdown", TSCOPE_UNIT_NUMBER,
			   "compute by that of the median rank - 1, median of the steps" },
	[SLOWEST_P_VALUE] = { "slowest_p_value", TSCOPE_UNIT_RATIO,
			      "chance that any of equal ranks is alone slowest as often, exact" },
	[EXCESS_RATIO] = { "excess_ratio", TSCOPE_UNIT_NUMBER,
			   "its level of compute above the median of the others' (of its stage)" },
	[P_VALUE] = { "p_value", TSCOPE_UNIT_RATIO,
		      "chance that any of equal ranks is as steadily among the slow, exact" },
	[MEAN_COMM_NS] = { "mean_comm_ns", TSCOPE_UNIT_NS, "communication of a step, mean" },
	[MEAN_WAIT_NS] = { "mean_wait_ns", TSCOPE_UNIT_NS,
			   "of that, waiting for other ranks: in matched collectives where traces "
			   "tell it, else beyond the rank with the least" },
	[WAIT_NS] = { "wait_ns", TSCOPE_UNIT_NS,
		      "waiting in matched collectives that all members end together, exposed or "
		      "not, whole capture" },
	[TRANSFER_NS] = { "transfer_ns", TSCOPE_UNIT_NS, "the rest of their duration" },
	[CLOCK_OFFSET_NS] = { "clock_offset_ns", TSCOPE_UNIT_NS,
			      "its clock less the lowest rank's: positive is ahead" },
	[CLOCK_DRIFT_PPM] = { "clock_drift_ppm", TSCOPE_UNIT_NUMBER,
			      "µs that this grows by in each second" },
	[CLOCK_ERROR_NS] = { "clock_error_ns", TSCOPE_UNIT_NS,
			     "most that the offset can be wrong by" },
};

static const struct tscope_fact_def straggler_columns[] = {
	[STRAGGLER_RANK] = { "rank", TSCOPE_UNIT_COUNT, "number of the rank" },
	[STRAGGLER_STRAGGLER_Z] = { "straggler_z", TSCOPE_UNIT_NUMBER, "as in ranks" },
	[STRAGGLER_REL_SLOWDOWN] = { "rel_slowdown", TSCOPE_UNIT_NUMBER, "as in ranks" },
	[STRAGGLER_SLOWEST_FRACTION] = { "slowest_fraction", TSCOPE_UNIT_RATIO, "as in ranks" },
	[STRAGGLER_EXCESS_RATIO] = { "excess_ratio", TSCOPE_UNIT_NUMBER, "as in ranks" },
};

static const struct tscope_fact_def slow_columns[] = {
	[SLOW_RANK] = { "rank", TSCOPE_UNIT_COUNT, "number of the rank" },
	[SLOW_EXCESS_RATIO] = { "excess_ratio", TSCOPE_UNIT_NUMBER,
				"as in ranks, or in stragglers.ranks: see basis" },
	[SLOW_P_VALUE] = { "p_value", TSCOPE_UNIT_RATIO, "likewise" },
	[SLOW_BASIS] = { "basis", TSCOPE_UNIT_TEXT,
			 "what it has more of: compute or, by traces, local_time (in which it does "
			 "not wait for others)" },
};

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
		"ranks with a p_value of 0.001 or less and an excess_ratio of at least "
		"the threshold of DIST.STRAGGLER"),
	[MISSING_RANKS] = { "missing_ranks", missing_columns, TSI_COUNT_OF(missing_columns),
			    "ranks of the job that were not read, the first 1024",
			    TSCOPE_TABLE_LIST },
};

static void find_survey(struct survey *survey, struct arena *scratch)
{
	const struct analysis_scope *scope = survey->scope;
	size_t ranks = scope->rank_count, steps;

	tsi_rank_steps_fill(&survey->steps, scope->ranks, ranks, scratch);
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
			view->is_alone = true;
		} else if (compute_ns[rank] == view->most_compute_ns) {
			view->is_alone = false;
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

/* Of equals, the lowest. Time in collectives that nobody else was read of says nothing. */
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
