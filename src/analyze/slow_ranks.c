/* SPDX-License-Identifier: MIT */
/*
 * Judges which ranks of a run are persistently slow.
 *
 * How slow: a step's times are taken relative to the step's median over the ranks
 * (steps may differ as they like: long sequences are long for everybody). A rank's
 * level is the median of its relative times over the steps, and its excess is its
 * level above the median of the others' levels.
 *
 * How sure: a rank's position in a step is the number of ranks that are faster
 * (half for each that is equal). If all ranks are alike, each position has the same
 * chance in each step, whatever the distribution of the times, so the sum of a
 * rank's positions has a distribution that can be counted out. The p-value is its
 * tail from the rank's sum on, times the number of ranks (Bonferroni). Positions
 * tell more than "slowest or not", which slow ranks take from each other, and than
 * "above the median or not": of 30 steps of 8 ranks with 3 % noise, a rank that is
 * 5 % slow is missed in 4 of 10,000 runs, and one of equal ranks is listed in 4 of
 * 10,000 (tests/bench/slow_ranks.c).
 *
 * A fast rank makes all others look late. So ranks whose level is below the
 * (lower) median level are moved up to it before positions are taken, and are not
 * judged themselves. That can only lower the positions of the others: the p-value
 * stays an upper bound, but for equal times, which share their positions. Up to half
 * of the ranks can be slow; of more, the fewer are the exception, and they are fast.
 *
 * Not claimed: steps are taken as independent. A rank that is slow by chance for
 * many steps on end counts as slow: in this run it was. With two ranks nothing is
 * significant below 11 steps, with eight below 5.
 */
#include "analyze/slow_ranks.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/robust.h"
#include "analyze/tail.h"
#include "base/array.h"

/* A run of equal ranks lists one with at most this chance, however many ranks there are. */
static const double max_p_value = 0.001;

/* A rank in a list that is sorted by some value. */
struct placed {
	double value;
	size_t rank;
};

struct judge {
	const int64_t *compute_ns;
	size_t step_count, rank_count;
	double *centres;  /* by step: the median of the ranks; 0: no step to judge by */
	double *levels;   /* by rank */
	double *lifts;    /* by rank: what lifts its level to the lower median level, relative */
	uint64_t *halves; /* by rank: the sum of its positions, in halves */
	double *numbers;  /* room for a median over steps or ranks */
	struct placed *placed; /* room for the ranks */
};

static void judge_deinit(struct judge *judge)
{
	free(judge->centres);
	free(judge->levels);
	free(judge->lifts);
	free(judge->halves);
	free(judge->numbers);
	free(judge->placed);
}

static enum tscope_status judge_init(struct judge *judge, struct tscope_error *err)
{
	size_t steps = judge->step_count, ranks = judge->rank_count;

	if (tsi_array_new(&judge->centres, steps, sizeof(*judge->centres), err) != TSCOPE_OK ||
	    tsi_array_new(&judge->levels, ranks, sizeof(*judge->levels), err) != TSCOPE_OK ||
	    tsi_array_new(&judge->lifts, ranks, sizeof(*judge->lifts), err) != TSCOPE_OK ||
	    tsi_array_new(&judge->halves, ranks, sizeof(*judge->halves), err) != TSCOPE_OK ||
	    tsi_array_new(&judge->numbers, steps > ranks ? steps : ranks, sizeof(*judge->numbers),
			  err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	return tsi_array_new(&judge->placed, ranks, sizeof(*judge->placed), err);
}

static double compute_of(const struct judge *judge, size_t step, size_t rank)
{
	return (double)judge->compute_ns[step * judge->rank_count + rank];
}

static int compare_values(const void *left, const void *right)
{
	const struct placed *a = left, *b = right;

	return (a->value > b->value) - (a->value < b->value);
}

static void find_centres(struct judge *judge)
{
	for (size_t step = 0; step < judge->step_count; step++) {
		for (size_t rank = 0; rank < judge->rank_count; rank++)
			judge->numbers[rank] = compute_of(judge, step, rank);
		judge->centres[step] = tsi_median(judge->numbers, judge->rank_count);
	}
}

static double find_level(struct judge *judge, size_t rank)
{
	size_t count = 0;

	for (size_t step = 0; step < judge->step_count; step++)
		if (judge->centres[step] > 0)
			judge->numbers[count++] =
				compute_of(judge, step, rank) / judge->centres[step];
	return tsi_median(judge->numbers, count);
}

/* Leaves the ranks placed by level. */
static void find_levels(struct judge *judge)
{
	for (size_t rank = 0; rank < judge->rank_count; rank++) {
		judge->levels[rank] = find_level(judge, rank);
		judge->placed[rank] = (struct placed){ judge->levels[rank], rank };
	}
	qsort(judge->placed, judge->rank_count, sizeof(*judge->placed), compare_values);
}

/* The median of all placed values but the one at `own`. */
static double median_of_others(const struct placed *placed, size_t count, size_t own)
{
	size_t lower = (count - 2) / 2, upper = (count - 1) / 2; /* among the others */

	return (placed[lower + (lower >= own)].value + placed[upper + (upper >= own)].value) / 2;
}

/* Needs the ranks placed by level. */
static void measure_excess(struct judge *judge, struct rank_verdict *verdicts)
{
	double lower_median = judge->placed[(judge->rank_count - 1) / 2].value;

	for (size_t i = 0; i < judge->rank_count; i++) {
		const struct placed *own = &judge->placed[i];
		double others = median_of_others(judge->placed, judge->rank_count, i);
		verdicts[own->rank].excess_ratio = others > 0 ? own->value / others - 1 : NAN;
		judge->lifts[own->rank] = fmax(lower_median - own->value, 0);
	}
}

/* Adds the positions of one step: values that are equal share the mean of their places. */
static void add_positions(struct judge *judge, size_t step)
{
	struct placed *placed = judge->placed;
	size_t count = judge->rank_count;

	for (size_t rank = 0; rank < count; rank++)
		placed[rank] = (struct placed){ compute_of(judge, step, rank) +
							judge->lifts[rank] * judge->centres[step],
						rank };
	qsort(placed, count, sizeof(*placed), compare_values);
	for (size_t first = 0, end; first < count; first = end) {
		for (end = first + 1; end < count && placed[end].value == placed[first].value;)
			end++;
		for (size_t i = first; i < end; i++)
			judge->halves[placed[i].rank] += first + end - 1;
	}
}

static enum tscope_status find_p_values(struct judge *judge, struct rank_verdict *verdicts,
					struct tscope_error *err)
{
	struct position_sums sums;
	size_t judged_count = 0;

	for (size_t step = 0; step < judge->step_count; step++) {
		if (judge->centres[step] <= 0)
			continue;
		add_positions(judge, step);
		judged_count++;
	}
	if (tsi_position_sums_init(&sums, judged_count, judge->rank_count, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t rank = 0; rank < judge->rank_count; rank++) {
		double tail = tsi_position_sums_tail(&sums, judge->halves[rank] / 2);
		verdicts[rank].p_value =
			judge->lifts[rank] > 0 ? 1 : fmin(tail * (double)judge->rank_count, 1);
	}
	tsi_position_sums_deinit(&sums);
	return TSCOPE_OK;
}

enum tscope_status tsi_judge_ranks(struct rank_verdict *verdicts, const int64_t *compute_ns,
				   size_t step_count, size_t rank_count, struct tscope_error *err)
{
	struct judge judge = { .compute_ns = compute_ns,
			       .step_count = step_count,
			       .rank_count = rank_count };
	enum tscope_status status = judge_init(&judge, err);

	if (status == TSCOPE_OK) {
		find_centres(&judge);
		find_levels(&judge);
		measure_excess(&judge, verdicts);
		status = find_p_values(&judge, verdicts, err);
	}
	judge_deinit(&judge);
	return status;
}

bool tsi_is_slow_rank(const struct rank_verdict *verdict, double min_excess_ratio)
{
	return verdict->p_value <= max_p_value && verdict->excess_ratio >= min_excess_ratio;
}
