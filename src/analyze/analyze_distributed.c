/* SPDX-License-Identifier: MIT */
/*
 * How evenly the ranks of a run share its work, over the steps that all of them
 * have. First each step is looked at across the ranks, then each rank along the
 * steps. Figures with pytscope's names follow its formulas; where a step has no
 * compute or no time, its share is 0, and it has no part in relative slowdowns.
 *
 * pytscope's communication of a step is that of the rank which had most of it.
 * That rank mostly waited for the slowest one, so imbalance counts twice. What
 * every rank spent is the transfer; what one spent beyond it, its wait.
 */
#include "analyze/facts.h"
#include "analyze/rank_steps.h"
#include "analyze/robust.h"
#include "analyze/slow_ranks.h"
#include "analyze/tail.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/sort.h"
#include "base/sum.h"

enum fact {
	WORLD_SIZE,
	DECLARED_WORLD_SIZE,
	MISSING_RANK_COUNT,
	N_STEPS,
	DROPPED_STEP_COUNT,
	MEAN_STEP_WALL_NS,
	MEAN_COMM_FRACTION,
	MEAN_TRANSFER_FRACTION,
	IMBALANCE_CV,
	SYNC_SKEW_NS,
	WALL_FRAC_LOST,
	WALL_LOST_NS_PER_STEP,
};

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
				     "mean share of least communication (no waiting) in most "
				     "compute + least communication" },
	[IMBALANCE_CV] = { "imbalance_cv", TSCOPE_UNIT_NUMBER,
			   "compute over ranks: standard deviation by mean, median of the steps" },
	[SYNC_SKEW_NS] = { "sync_skew_ns", TSCOPE_UNIT_NS,
			   "slowest less median rank's compute, median of the steps" },
	[WALL_FRAC_LOST] = { "wall_frac_lost_to_imbalance", TSCOPE_UNIT_RATIO,
			     "slowest less mean compute, share of the slowest" },
	[WALL_LOST_NS_PER_STEP] = { "wall_lost_ns_per_step", TSCOPE_UNIT_NS,
				    "slowest less mean compute, mean of the steps" },
};

enum rank_column {
	RANK,
	MEAN_COMPUTE_NS,
	MEDIAN_COMPUTE_NS,
	SLOWEST_COUNT,
	SLOWEST_FRACTION,
	STRAGGLER_Z,
	REL_SLOWDOWN,
	SLOWEST_P_VALUE,
	EXCESS_RATIO,
	P_VALUE,
	MEAN_COMM_NS,
	MEAN_WAIT_NS,
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
			   "its level of compute above the median of the others'" },
	[P_VALUE] = { "p_value", TSCOPE_UNIT_RATIO,
		      "chance that any of equal ranks is as steadily among the slow, exact" },
	[MEAN_COMM_NS] = { "mean_comm_ns", TSCOPE_UNIT_NS, "communication of a step, mean" },
	[MEAN_WAIT_NS] = { "mean_wait_ns", TSCOPE_UNIT_NS,
			   "of that, beyond the rank with the least: waiting" },
};

enum straggler_column {
	STRAGGLER_RANK,
	STRAGGLER_STRAGGLER_Z,
	STRAGGLER_REL_SLOWDOWN,
	STRAGGLER_SLOWEST_FRACTION,
	STRAGGLER_EXCESS_RATIO,
};

static const struct tscope_fact_def straggler_columns[] = {
	[STRAGGLER_RANK] = { "rank", TSCOPE_UNIT_COUNT, "number of the rank" },
	[STRAGGLER_STRAGGLER_Z] = { "straggler_z", TSCOPE_UNIT_NUMBER, "as in ranks" },
	[STRAGGLER_REL_SLOWDOWN] = { "rel_slowdown", TSCOPE_UNIT_NUMBER, "as in ranks" },
	[STRAGGLER_SLOWEST_FRACTION] = { "slowest_fraction", TSCOPE_UNIT_RATIO, "as in ranks" },
	[STRAGGLER_EXCESS_RATIO] = { "excess_ratio", TSCOPE_UNIT_NUMBER, "as in ranks" },
};

enum slow_column { SLOW_RANK, SLOW_EXCESS_RATIO, SLOW_P_VALUE };

static const struct tscope_fact_def slow_columns[] = {
	[SLOW_RANK] = { "rank", TSCOPE_UNIT_COUNT, "number of the rank" },
	[SLOW_EXCESS_RATIO] = { "excess_ratio", TSCOPE_UNIT_NUMBER, "as in ranks" },
	[SLOW_P_VALUE] = { "p_value", TSCOPE_UNIT_RATIO, "as in ranks" },
};

static const struct tscope_fact_def missing_columns[] = {
	{ "rank", TSCOPE_UNIT_COUNT, "number of the rank" },
};

enum table { RANKS, STRAGGLER, SLOW_RANKS, MISSING_RANKS };

static const struct tscope_table_def tables[] = {
	[RANKS] = { "ranks", rank_columns, TSI_COUNT_OF(rank_columns), "each rank that was read",
		    TSCOPE_TABLE_ROWS },
	[STRAGGLER] = { "straggler", straggler_columns, TSI_COUNT_OF(straggler_columns),
			"the only rank with straggler_z of 3 and rel_slowdown of 0.05 or more",
			TSCOPE_TABLE_OBJECT },
	[SLOW_RANKS] = { "slow_ranks", slow_columns, TSI_COUNT_OF(slow_columns),
			 "ranks with a p_value of 0.001 or less and an excess_ratio of at least "
			 "the threshold of DIST.STRAGGLER",
			 TSCOPE_TABLE_ROWS },
	[MISSING_RANKS] = { "missing_ranks", missing_columns, TSI_COUNT_OF(missing_columns),
			    "ranks of the job that were not read, the first 1024",
			    TSCOPE_TABLE_LIST },
};

enum { MAX_MISSING_ROWS = 1024 };

static const double min_straggler_z = 3.0, min_rel_slowdown = 0.05; /* pytscope's */
static const double default_min_excess = 0.01;

/* A step across the ranks. */
struct step_view {
	int64_t most_compute_ns, sum_compute_ns, most_comm_ns, least_comm_ns;
	double median_compute_ns, variation;
	size_t slowest; /* of equals, the first */
	bool is_alone;  /* the slowest has no equal */
};

/* What the columns of a rank's row need, along the steps. */
struct rank_view {
	int64_t sum_compute_ns, sum_comm_ns, sum_wait_ns;
	size_t slowest_count, alone_count;
	double median_compute_ns, straggler_z, rel_slowdown;
};

struct survey {
	struct rank_steps steps;
	struct step_view *step_views;
	struct rank_view *rank_views;
	struct rank_verdict *verdicts; /* by rank */
	double *numbers;               /* room for a median over steps or ranks */
};

static void survey_deinit(struct survey *survey)
{
	tsi_rank_steps_deinit(&survey->steps);
	free(survey->step_views);
	free(survey->rank_views);
	free(survey->verdicts);
	free(survey->numbers);
}

static enum tscope_status survey_init(struct survey *survey, const struct step_series *ranks,
				      size_t rank_count, struct tscope_error *err)
{
	if (tsi_rank_steps_init(&survey->steps, ranks, rank_count, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;

	size_t steps = survey->steps.step_count, most = steps > rank_count ? steps : rank_count;
	if (tsi_array_new(&survey->step_views, steps, sizeof(*survey->step_views), err) !=
		    TSCOPE_OK ||
	    tsi_array_new(&survey->rank_views, rank_count, sizeof(*survey->rank_views), err) !=
		    TSCOPE_OK ||
	    tsi_array_new(&survey->verdicts, rank_count, sizeof(*survey->verdicts), err) !=
		    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	return tsi_array_new(&survey->numbers, most, sizeof(*survey->numbers), err);
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
	view->median_compute_ns = tsi_median(survey->numbers, rank_count);
	view->variation = variation_of(compute_ns, rank_count, view->sum_compute_ns);
}

/* An even number of steps or ranks has its median between two of them: halves up. */
static int64_t round_ns(double ns)
{
	return ns < 0x1p62 ? (int64_t)floor(ns + 0.5) : INT64_MAX;
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
		transfer_fraction += share_of(view->least_comm_ns, view->most_compute_ns);
	}
	double lost_ns = (double)most_ns - (double)sum_ns / (double)survey->steps.rank_count;
	tsi_fact_mean(out, MEAN_STEP_WALL_NS, wall_ns, (int64_t)step_count);
	tsi_fact_real(out, MEAN_COMM_FRACTION, comm_fraction / (double)step_count);
	tsi_fact_real(out, MEAN_TRANSFER_FRACTION, transfer_fraction / (double)step_count);
	tsi_fact_real(out, WALL_FRAC_LOST, most_ns > 0 ? lost_ns / (double)most_ns : 0);
	tsi_fact_int(out, WALL_LOST_NS_PER_STEP, round_ns(lost_ns / (double)step_count));
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
	tsi_fact_int(out, SYNC_SKEW_NS, round_ns(tsi_median(survey->numbers, step_count)));
}

/* ---- each rank along the steps ---- */

/* How far `count` of the steps is above what a rank has by chance, in standard deviations. */
static double z_of(size_t count, size_t step_count, size_t rank_count)
{
	double steps = (double)step_count, chance = 1 / (double)rank_count;
	double deviation = sqrt(steps * chance * (1 - chance));

	return ((double)count - steps * chance) / (deviation > 0 ? deviation : 1);
}

static double rel_slowdown_of(struct survey *survey, size_t rank)
{
	const struct rank_steps *steps = &survey->steps;
	size_t count = 0;

	for (size_t i = 0; i < steps->step_count; i++) {
		double median_ns = survey->step_views[i].median_compute_ns;
		double compute_ns = (double)steps->compute_ns[i * steps->rank_count + rank];
		if (median_ns > 0)
			survey->numbers[count++] = compute_ns / median_ns - 1;
	}
	return tsi_median(survey->numbers, count);
}

static void look_at_rank(struct survey *survey, size_t rank)
{
	const struct rank_steps *steps = &survey->steps;
	struct rank_view *view = &survey->rank_views[rank];

	for (size_t i = 0; i < steps->step_count; i++) {
		const struct step_view *step = &survey->step_views[i];
		size_t cell = i * steps->rank_count + rank;
		view->slowest_count += step->slowest == rank;
		view->alone_count += step->slowest == rank && step->is_alone;
		tsi_sum(&view->sum_compute_ns, steps->compute_ns[cell]);
		tsi_sum(&view->sum_comm_ns, steps->comm_ns[cell]);
		tsi_sum(&view->sum_wait_ns, steps->comm_ns[cell] - step->least_comm_ns);
		survey->numbers[i] = (double)steps->compute_ns[cell];
	}
	view->median_compute_ns = tsi_median(survey->numbers, steps->step_count);
	view->straggler_z = z_of(view->slowest_count, steps->step_count, steps->rank_count);
	view->rel_slowdown = rel_slowdown_of(survey, rank);
}

static struct tscope_value number_of(const struct step_series *rank)
{
	return rank->rank >= 0 ? tsi_int(rank->rank) : (struct tscope_value){ 0 };
}

static double slowest_p_value(const struct survey *survey, size_t rank)
{
	double rank_count = (double)survey->steps.rank_count;
	double tail = tsi_binomial_tail(survey->steps.step_count,
					survey->rank_views[rank].alone_count, 1 / rank_count);

	return fmin(tail * rank_count, 1);
}

static enum tscope_status list_ranks(const struct survey *survey, const struct step_series *ranks,
				     struct fact_sheet *out, struct tscope_error *err)
{
	int64_t step_count = (int64_t)survey->steps.step_count;

	for (size_t i = 0; i < survey->steps.rank_count; i++) {
		const struct rank_view *view = &survey->rank_views[i];
		struct tscope_value *cells;
		if (tsi_table_add(out, RANKS, &cells, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		cells[RANK] = number_of(&ranks[i]);
		cells[MEAN_COMPUTE_NS] = tsi_mean(view->sum_compute_ns, step_count);
		cells[MEDIAN_COMPUTE_NS] = tsi_int(round_ns(view->median_compute_ns));
		cells[SLOWEST_COUNT] = tsi_int((int64_t)view->slowest_count);
		cells[SLOWEST_FRACTION] = tsi_ratio((int64_t)view->slowest_count, step_count);
		cells[STRAGGLER_Z] = tsi_real(view->straggler_z);
		cells[REL_SLOWDOWN] = tsi_real(view->rel_slowdown);
		cells[SLOWEST_P_VALUE] = tsi_real(slowest_p_value(survey, i));
		cells[EXCESS_RATIO] = tsi_real(survey->verdicts[i].excess_ratio);
		cells[P_VALUE] = tsi_real(survey->verdicts[i].p_value);
		cells[MEAN_COMM_NS] = tsi_mean(view->sum_comm_ns, step_count);
		cells[MEAN_WAIT_NS] = tsi_mean(view->sum_wait_ns, step_count);
	}
	return TSCOPE_OK;
}

/* pytscope's rule: nobody, where several ranks qualify. */
static enum tscope_status put_straggler(const struct survey *survey,
					const struct step_series *ranks, struct fact_sheet *out,
					struct tscope_error *err)
{
	size_t straggler = 0, count = 0;
	struct tscope_value *cells;

	for (size_t i = 0; i < survey->steps.rank_count; i++) {
		const struct rank_view *view = &survey->rank_views[i];
		if (view->straggler_z < min_straggler_z || view->rel_slowdown < min_rel_slowdown)
			continue;
		straggler = i;
		count++;
	}
	if (count != 1)
		return TSCOPE_OK;
	if (tsi_table_add(out, STRAGGLER, &cells, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	const struct rank_view *view = &survey->rank_views[straggler];
	cells[STRAGGLER_RANK] = number_of(&ranks[straggler]);
	cells[STRAGGLER_STRAGGLER_Z] = tsi_real(view->straggler_z);
	cells[STRAGGLER_REL_SLOWDOWN] = tsi_real(view->rel_slowdown);
	cells[STRAGGLER_SLOWEST_FRACTION] =
		tsi_ratio((int64_t)view->slowest_count, (int64_t)survey->steps.step_count);
	cells[STRAGGLER_EXCESS_RATIO] = tsi_real(survey->verdicts[straggler].excess_ratio);
	return TSCOPE_OK;
}

static enum tscope_status list_slow_ranks(const struct survey *survey,
					  const struct analysis_scope *scope,
					  struct fact_sheet *out, struct tscope_error *err)
{
	double min_excess = scope->options->slow_rank_min_excess > 0
				    ? scope->options->slow_rank_min_excess
				    : default_min_excess;

	for (size_t i = 0; i < survey->steps.rank_count; i++) {
		const struct rank_verdict *verdict = &survey->verdicts[i];
		struct tscope_value *cells;
		if (!tsi_is_slow_rank(verdict, min_excess))
			continue;
		if (tsi_table_add(out, SLOW_RANKS, &cells, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		cells[SLOW_RANK] = number_of(&scope->ranks[i]);
		cells[SLOW_EXCESS_RATIO] = tsi_real(verdict->excess_ratio);
		cells[SLOW_P_VALUE] = tsi_real(verdict->p_value);
	}
	return TSCOPE_OK;
}

/* ---- what is not there ---- */

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

/* ---- all of it ---- */

static enum tscope_status put_world(const struct survey *survey, const struct step_series *ranks,
				    struct fact_sheet *out, struct tscope_error *err)
{
	size_t rank_count = survey->steps.rank_count, number_count = 0;

	if (count_step_numbers(ranks, rank_count, &number_count, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	tsi_fact_int(out, WORLD_SIZE, (int64_t)rank_count);
	tsi_fact_int(out, N_STEPS, (int64_t)survey->steps.step_count);
	tsi_fact_int(out, DROPPED_STEP_COUNT, (int64_t)(number_count - survey->steps.step_count));
	return put_missing_ranks(ranks, rank_count, out, err);
}

static enum tscope_status put_all(struct survey *survey, const struct analysis_scope *scope,
				  struct fact_sheet *out, struct tscope_error *err)
{
	const struct rank_steps *steps = &survey->steps;

	for (size_t i = 0; i < steps->step_count; i++)
		look_at_step(survey, i);
	for (size_t i = 0; i < steps->rank_count; i++)
		look_at_rank(survey, i);
	put_means(survey, out);
	put_medians(survey, out);
	if (tsi_judge_ranks(survey->verdicts, steps->compute_ns, steps->step_count,
			    steps->rank_count, err) != TSCOPE_OK ||
	    list_ranks(survey, scope->ranks, out, err) != TSCOPE_OK ||
	    put_straggler(survey, scope->ranks, out, err) != TSCOPE_OK ||
	    list_slow_ranks(survey, scope, out, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	return put_world(survey, scope->ranks, out, err);
}

static enum tscope_status run(const struct analysis_scope *scope, struct fact_sheet *out,
			      struct tscope_error *err)
{
	struct survey survey = { 0 };
	const char *doubt = tsi_ranks_doubt(scope->ranks, scope->rank_count);

	if (scope->rank_count < 2)
		return TSCOPE_OK;
	if (doubt)
		tsi_fact_unreliable(out, doubt);
	enum tscope_status status = survey_init(&survey, scope->ranks, scope->rank_count, err);
	if (status == TSCOPE_OK && survey.steps.step_count > 0)
		status = put_all(&survey, scope, out, err);
	survey_deinit(&survey);
	return status;
}

const struct analyzer tsi_analyzer_distributed = {
	.def = {
		.id = "distributed",
		.summary = "how evenly the ranks share the work, and who keeps the others waiting",
		.facts = facts,
		.fact_count = TSI_COUNT_OF(facts),
		.tables = tables,
		.table_count = TSI_COUNT_OF(tables),
		.needs = "steps of two or more ranks with numbers in common",
	},
	.levels = LEVEL_RUN,
	.run = run,
};
