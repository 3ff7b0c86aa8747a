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
 * Steps may resemble the ones before: a rank that is slow by chance then stays so
 * for a while. How much they do shows in the relative times, less each rank's mean,
 * of neighbouring steps (lag-1 autocorrelation, pooled over the ranks). Where that is
 * beyond chance, the steps count as the number of independent ones whose mean varies
 * as much; or, where that yields a smaller p-value, the excess is held against how much
 * levels vary by with such noise. With two ranks nothing is significant below 11 steps,
 * with eight below 5.
 */
#include "analyze/ranks/slow_ranks.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/shared/robust.h"
#include "analyze/shared/tail.h"
#include "comm/latch.h"

/* A run of equal ranks lists one with at most this chance, however many ranks there are. */
static const double max_p_value = 0.001;

/* Times that are further off their level than so many times the usual distance are outliers. */
static const double outlier_spreads = 5;
/* An autocorrelation of fewer standard deviations is taken for chance. */
static const double chance_deviations = 2.5;
/* More is not told from steps that never change. */
static const double max_correlation = 0.98;
/* The standard deviation of a median by that of a mean. */
static const double median_deviation = 1.2533;
static const double square_root_of_2 = 1.4142135623730951;
/* A sum of positions is whole or, with equal times, half; then the lower whole is safe. */
static const double rounding = 1e-6;

/* A rank in a list that is sorted by some value. */
struct placed {
	double value;
	size_t rank;
};

struct judge {
	struct arena *arena;
	const int64_t *compute_ns;
	size_t step_count, rank_count;
	size_t judged_count; /* steps to judge by */
	double *centres;     /* by step: the median of the ranks; 0: no step to judge by */
	double *levels;      /* by rank */
	double *lifts;       /* by rank: what lifts its level to the lower median level, relative */
	uint64_t *halves;    /* by rank: the sum of its positions, in halves */
	double *numbers;     /* room for a median over steps or ranks */
	struct placed *placed; /* room for the ranks */
};

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
		judge->judged_count += judge->centres[step] > 0;
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

/* ---- steps that resemble the ones before ---- */

/* Relative times less their rank's mean. */
struct noise {
	double limit;             /* what is further off the level is an outlier, counts as this */
	double squares, products; /* sums, the latter over neighbouring steps */
};

static double off_level(const struct judge *judge, size_t step, size_t rank)
{
	return compute_of(judge, step, rank) / judge->centres[step] - judge->levels[rank];
}

/* The median distance of a rank's relative times from its level. */
static double spread_of(struct judge *judge, size_t rank)
{
	size_t count = 0;

	for (size_t step = 0; step < judge->step_count; step++)
		if (judge->centres[step] > 0)
			judge->numbers[count++] = fabs(off_level(judge, step, rank));
	return tsi_median(judge->numbers, count);
}

/* Leaves the times of a rank less its level in judge->numbers, and returns their mean. */
static double take_times(struct judge *judge, size_t rank, double limit)
{
	double sum = 0;
	size_t count = 0;

	for (size_t step = 0; step < judge->step_count; step++) {
		if (judge->centres[step] <= 0)
			continue;
		double off = off_level(judge, step, rank);
		judge->numbers[count] = fmax(fmin(off, limit), -limit);
		sum += judge->numbers[count++];
	}
	return count > 0 ? sum / (double)count : 0;
}

static void add_noise(struct noise *noise, struct judge *judge, size_t rank)
{
	double mean = take_times(judge, rank, noise->limit), before = 0;

	for (size_t i = 0; i < judge->judged_count; i++) {
		double off = judge->numbers[i] - mean;
		noise->squares += off * off;
		noise->products += off * before;
		before = off;
	}
}

static struct noise find_noise(struct judge *judge)
{
	struct noise noise = { 0 };
	double spread = 0;

	for (size_t rank = 0; rank < judge->rank_count; rank++)
		spread += spread_of(judge, rank) / (double)judge->rank_count;
	noise.limit = spread > 0 ? outlier_spreads * spread : INFINITY;
	for (size_t rank = 0; rank < judge->rank_count; rank++)
		add_noise(&noise, judge, rank);
	return noise;
}

/* Lag-1 autocorrelation; 0 where it is no more than chance. */
static double correlation_of(const struct noise *noise, const struct judge *judge)
{
	double steps = (double)judge->judged_count, ranks = (double)judge->rank_count;

	if (judge->judged_count < 3 || !(noise->squares > 0))
		return 0;
	double seen = noise->products / noise->squares;
	/* Less each rank's mean of the same steps, it comes out too small. */
	double correlation = fmin(seen + (1 + 4 * seen) / steps, max_correlation);
	/* One rank's times follow from the others': the median of a step is given. */
	return correlation > chance_deviations / sqrt((ranks - 1) * (steps - 1)) ? correlation : 0;
}

/*
 * By how much levels vary with such noise. The variance of the mean of so many correlated steps is
 * this share of that of a step; what is left within a rank is the rest.
 */
static double deviation_of_levels(const struct noise *noise, const struct judge *judge,
				  double correlation)
{
	double steps = (double)judge->judged_count, ranks = (double)judge->rank_count;
	/* The true correlation may well be larger. */
	double likely = fmin(correlation + 1 / sqrt((ranks - 1) * (steps - 1)), max_correlation);
	double rest = 1 - likely;
	double share = (1 + likely) / rest / steps -
		       2 * likely * (1 - pow(likely, steps)) / (rest * rest * steps * steps);

	return median_deviation * sqrt(noise->squares / (ranks * steps) * share / (1 - share));
}

/* ---- p-values ---- */

/* That the excess is chance, if levels vary by so much. */
static double normal_tail(const struct judge *judge, const struct rank_verdict *verdict,
			  size_t rank, double deviation)
{
	double others = judge->levels[rank] / (1 + verdict->excess_ratio);

	return erfc((judge->levels[rank] - others) / deviation / square_root_of_2) / 2;
}

/*
 * Raises the p-values to what the ranks' positions say if this share of the steps is independent;
 * or to those of excess where these are smaller and deviation is not 0.
 */
static void raise_p_values(const struct judge *judge, struct rank_verdict *verdicts, double share,
			   double deviation)
{
	size_t step_count = (size_t)((double)judge->judged_count * share);
	struct position_sums sums;

	tsi_position_sums_init(&sums, step_count, judge->rank_count, judge->arena);
	for (size_t rank = 0; rank < judge->rank_count; rank++) {
		double mean = (double)judge->halves[rank] / 2 / (double)judge->judged_count;
		double sum = mean * (double)step_count + rounding;
		double tail = tsi_position_sums_tail(&sums, step_count ? (uint64_t)sum : 0);

		if (deviation > 0)
			tail = fmin(tail, normal_tail(judge, &verdicts[rank], rank, deviation));
		tail = fmin(tail * (double)judge->rank_count, 1);
		verdicts[rank].p_value = fmax(verdicts[rank].p_value, tail);
	}
}

static void find_p_values(struct judge *judge, struct rank_verdict *verdicts)
{
	struct noise noise = find_noise(judge);
	double correlation = correlation_of(&noise, judge);

	for (size_t rank = 0; rank < judge->rank_count; rank++)
		verdicts[rank].p_value = judge->lifts[rank] > 0 ? 1 : 0;
	raise_p_values(judge, verdicts, 1, 0);
	if (correlation > 0)
		raise_p_values(judge, verdicts, (1 - correlation) / (1 + correlation),
			       deviation_of_levels(&noise, judge, correlation));
}

static void judge_all(struct judge *judge, struct rank_verdict *verdicts)
{
	size_t steps = judge->step_count, ranks = judge->rank_count;
	size_t most = steps > ranks ? steps : ranks;

	judge->centres = tsi_arena_new(judge->arena, steps, sizeof(*judge->centres));
	judge->levels = tsi_arena_new(judge->arena, ranks, sizeof(*judge->levels));
	judge->lifts = tsi_arena_new(judge->arena, ranks, sizeof(*judge->lifts));
	judge->halves = tsi_arena_new(judge->arena, ranks, sizeof(*judge->halves));
	judge->numbers = tsi_arena_new(judge->arena, most, sizeof(*judge->numbers));
	judge->placed = tsi_arena_new(judge->arena, ranks, sizeof(*judge->placed));
	if (!judge->placed)
		return;
	find_centres(judge);
	find_levels(judge);
	measure_excess(judge, verdicts);
	for (size_t step = 0; step < steps; step++)
		if (judge->centres[step] > 0)
			add_positions(judge, step);
	find_p_values(judge, verdicts);
}

void tsi_judge_ranks(struct rank_verdict *verdicts, const int64_t *compute_ns, size_t step_count,
		     size_t rank_count, struct arena *arena)
{
	struct arena scratch = { 0 };
	struct judge judge = {
		.arena = &scratch,
		.compute_ns = compute_ns,
		.step_count = step_count,
		.rank_count = rank_count,
	};

	judge_all(&judge, verdicts);
	tsi_latch_deinit(arena, &scratch);
}

bool tsi_is_slow_rank(const struct rank_verdict *verdict, double min_excess_ratio)
{
	return verdict->p_value <= max_p_value && verdict->excess_ratio >= min_excess_ratio;
}
