/* SPDX-License-Identifier: MIT */
/*
 * Judges which ranks of a run stand out as slow.
 *
 * How slow: a step's times are taken relative to the step's median over the ranks (steps may
 * differ as they like: long sequences are long for everybody). A rank's level is the median of its
 * relative times over the steps, and its excess is its level above the median of the others'.
 *
 * How sure: healthy ranks are not equal. Devices differ by 1 % for good, and more steps only prove
 * it. So a rank is slow if it is an outlier among the levels of the others, by Student's t. Their
 * variation is known in two ways, which are pooled: from themselves, and as what is usual of
 * healthy devices plus the noise of a level (the steps' noise over as many steps; counted as so few
 * ranks that it decides only where there are few). So two ranks can be distinguished, by a large
 * excess only, and one of eight that is 5 % slow is missed in none of 200 runs
 * (tests/bench/slow_ranks.c).
 *
 * Several slow ranks must not mask one another: for each number of them, up to half of the ranks,
 * the least slow is held against the ranks below all of them; the largest number that stands out
 * counts (Rosner's many-outlier procedure, one-sided). Of more than half the fewer are the
 * exception, and they are fast.
 *
 * Steps may resemble the ones before: a rank that is slow by chance then stays so for a while. How
 * much they do shows in the relative times, less each rank's mean, of neighbouring steps (lag-1
 * autocorrelation, pooled over the ranks). Where that is beyond chance, the steps count as the
 * number of independent ones whose mean varies as much.
 *
 * A rank may also stall now and then, which its level, a median, does not show. A stall is a step
 * so far above the rank's level as no usual noise gets. It is held against the rank only if nearly
 * all stalls are that rank's and are too many for ranks that stall alike.
 */
#include "analyze/ranks/slow_ranks.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/ranks/rank_steps.h"
#include "analyze/shared/chance.h"
#include "analyze/shared/robust.h"
#include "comm/latch.h"

/* A run of healthy ranks lists one with at most this chance, however many ranks there are. */
static const double max_p_value = 0.003;

/* The standard deviation of levels of healthy ranks, and of how many ranks this is worth. */
static const double usual_deviation = 0.01, usual_degrees = 4;

/* Times that are further off their level than so many times the usual distance are outliers. */
static const double outlier_spreads = 5;
/* An autocorrelation of fewer standard deviations is taken for chance. */
static const double chance_deviations = 2.5;
/* Above this, steps cannot be distinguished from ones that never change. */
static const double max_correlation = 0.98;
/* The standard deviation of a median by that of a mean. */
static const double median_deviation = 1.2533;

/*
 * A stall: so many usual distances, and so much of a usual step, above the level. Of the stalls of
 * all ranks so many are one rank's, and by chance with no more than this.
 */
static const double stall_spreads = 12, min_stall = 0.10;
static const double min_stall_share = 0.8, max_stall_p_value = 0.02;
enum { MIN_STALLS = 3 };

/* A rank in a list that is sorted by some value. */
struct placed {
	double value;
	size_t rank;
};

struct judge {
	struct arena *arena;
	const int64_t *compute_ns;
	size_t step_count, rank_count;
	double test_count;     /* comparisons like this one, which may all name somebody */
	size_t judged_count;   /* steps to judge by */
	double *centres;       /* by step: the median of the ranks; 0: no step to judge by */
	double *levels;        /* by rank */
	double *numbers;       /* room for a median over steps or ranks */
	struct placed *placed; /* the ranks by level */
	double variance;       /* of levels of healthy ranks, by noise and as is usual ... */
	double degrees;        /* ... of freedom that it counts as */
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
		size_t count = 0;

		for (size_t rank = 0; rank < judge->rank_count; rank++)
			if (compute_of(judge, step, rank) >= 0)
				judge->numbers[count++] = compute_of(judge, step, rank);
		judge->centres[step] = tsi_median(judge->numbers, count);
		judge->judged_count += judge->centres[step] > 0;
	}
}

static bool is_judged(const struct judge *judge, size_t step, size_t rank)
{
	return judge->centres[step] > 0 && compute_of(judge, step, rank) >= 0;
}

/* Nothing is said against a rank without any of the steps. */
static double find_level(struct judge *judge, size_t rank)
{
	size_t count = 0;

	for (size_t step = 0; step < judge->step_count; step++)
		if (is_judged(judge, step, rank))
			judge->numbers[count++] =
				compute_of(judge, step, rank) / judge->centres[step];
	return count > 0 || judge->judged_count == 0 ? tsi_median(judge->numbers, count) : 1;
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
	for (size_t i = 0; i < judge->rank_count; i++) {
		const struct placed *own = &judge->placed[i];
		double others = median_of_others(judge->placed, judge->rank_count, i);
		verdicts[own->rank].excess_ratio = others > 0 ? own->value / others - 1 : NAN;
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
		if (is_judged(judge, step, rank))
			judge->numbers[count++] = fabs(off_level(judge, step, rank));
	return tsi_median(judge->numbers, count);
}

/* Leaves the times of a rank less its level in judge->numbers, and returns how many. */
static size_t take_times(struct judge *judge, size_t rank, double limit, double *mean)
{
	double sum = 0;
	size_t count = 0;

	for (size_t step = 0; step < judge->step_count; step++) {
		if (!is_judged(judge, step, rank))
			continue;
		double off = off_level(judge, step, rank);
		judge->numbers[count] = fmax(fmin(off, limit), -limit);
		sum += judge->numbers[count++];
	}
	*mean = count > 0 ? sum / (double)count : 0;
	return count;
}

static void add_noise(struct noise *noise, struct judge *judge, size_t rank)
{
	double mean, before = 0;
	size_t count = take_times(judge, rank, noise->limit, &mean);

	for (size_t i = 0; i < count; i++) {
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
 * The variance of levels with such noise. That of the mean of so many correlated steps is this
 * share of that of a step; what is left within a rank is the rest.
 */
static double variance_of_levels(const struct noise *noise, const struct judge *judge,
				 double correlation)
{
	double steps = (double)judge->judged_count, ranks = (double)judge->rank_count;
	double likely = correlation, rest, share;

	if (correlation > 0) /* the true one may well be larger */
		likely = fmin(correlation + 1 / sqrt((ranks - 1) * (steps - 1)), max_correlation);
	rest = 1 - likely;
	share = (1 + likely) / rest / steps -
		2 * likely * (1 - pow(likely, steps)) / (rest * rest * steps * steps);
	return median_deviation * median_deviation * noise->squares / ((ranks - 1) * steps) *
	       share / (1 - share);
}

/* A single step has no noise to know: then the ranks alone say what they vary by. */
static void find_variance(struct judge *judge)
{
	struct noise noise = find_noise(judge);
	double correlation = correlation_of(&noise, judge);
	double steps = (double)judge->judged_count, ranks = (double)judge->rank_count;

	judge->variance = usual_deviation * usual_deviation;
	if (judge->judged_count < 2)
		return;
	judge->variance += variance_of_levels(&noise, judge, correlation);
	judge->degrees = fmin(usual_degrees,
			      (ranks - 1) * (steps - 1) * (1 - correlation) / (1 + correlation));
}

/* ---- who stands out ---- */

/* The ranks below those that are slow: what one above them is held against. */
struct healthy {
	double centre, deviation, degrees; /* deviation: of one more, from the centre */
};

static double value_in_middle(const struct placed *placed, size_t count)
{
	return (placed[(count - 1) / 2].value + placed[count / 2].value) / 2;
}

/* squares: sum over the ranks of the squared distance from their mean. */
static struct healthy describe_healthy(const struct judge *judge, size_t count, double squares)
{
	double centre = value_in_middle(judge->placed, count);
	double usual = judge->variance * centre * centre;
	double degrees = judge->degrees + (double)count - 1;
	double variance = degrees > 0 ? (judge->degrees * usual + squares) / degrees : usual;

	if (judge->degrees == 0)
		variance = fmax(variance, usual);
	return (struct healthy){ centre, sqrt(variance * (1 + 1 / (double)count)), degrees };
}

/* That any of the ranks is so slow by chance. */
static double p_value_of(const struct judge *judge, const struct healthy *healthy, double level)
{
	double tail = 0.5;

	if (level > healthy->centre && healthy->degrees > 0 && healthy->deviation > 0)
		tail = tsi_student_tail((level - healthy->centre) / healthy->deviation,
					healthy->degrees);
	return fmin(tail * (double)judge->rank_count * judge->test_count, 1);
}

/* Those below the largest number of ranks that all stand out; all but one where nobody does. */
static struct healthy find_healthy(const struct judge *judge)
{
	size_t count = judge->rank_count, least = count - count / 2;
	double sum = 0, squares = 0, middle = value_in_middle(judge->placed, count);
	struct healthy healthy = { 0 };

	for (size_t i = 0; i + 1 < count; i++) {
		double off = judge->placed[i].value - middle;
		sum += off;
		squares += off * off;
		if (i + 1 < least)
			continue;
		double below = fmax(squares - sum * sum / (double)(i + 1), 0);
		healthy = describe_healthy(judge, i + 1, below);
		if (p_value_of(judge, &healthy, judge->placed[i + 1].value) <= max_p_value)
			break;
	}
	return healthy;
}

/* The least excess that would have stood out. */
static double detectable_excess(const struct judge *judge, const struct healthy *healthy)
{
	double tail = max_p_value / (double)judge->rank_count / judge->test_count;

	if (!(healthy->degrees > 0 && healthy->centre > 0))
		return INFINITY;
	return tsi_student_quantile(tail, healthy->degrees) * healthy->deviation / healthy->centre;
}

/* ---- who stalls now and then ---- */

/* By how much of the step a rank's time must be above its level to be a stall. */
static double stall_limit(struct judge *judge, size_t rank, double usual_spread)
{
	return fmax(min_stall, stall_spreads * fmax(spread_of(judge, rank), usual_spread));
}

/* Steps in a row count once. steps: room for all, or NULL. */
static size_t count_stalls(struct judge *judge, size_t rank, double usual_spread, size_t *steps,
			   size_t *step_count)
{
	double limit = stall_limit(judge, rank, usual_spread);
	bool was_stall = false;
	size_t count = 0;

	*step_count = 0;
	for (size_t step = 0; step < judge->step_count; step++) {
		if (!is_judged(judge, step, rank))
			continue;
		bool is_stall = off_level(judge, step, rank) > limit;
		count += is_stall && !was_stall;
		if (is_stall && steps)
			steps[*step_count] = step;
		*step_count += is_stall;
		was_stall = is_stall;
	}
	return count;
}

/* That any of so many ranks has so many of the stalls, if each stalls alike: at most this. */
static double chance_of_stalls(size_t count, size_t all, size_t rank_count)
{
	double chance = (double)rank_count;

	for (size_t i = 0; i < count; i++)
		chance *= (double)(all - i) / (double)(i + 1) / (double)rank_count;
	return fmin(chance, 1);
}

static void describe_stalls(const struct judge *judge, struct rank_stalls *stalls)
{
	double sum = 0, level = judge->levels[stalls->rank];

	for (size_t i = 0; i < stalls->count; i++) {
		size_t step = stalls->steps[i];
		double off = off_level(judge, step, stalls->rank);
		int64_t ns = tsi_round_ns(off * judge->centres[step]);

		sum += off;
		stalls->most_ns = ns > stalls->most_ns ? ns : stalls->most_ns;
	}
	stalls->excess_ratio = sum / (double)stalls->count / level;
}

/* The median rank's. */
static double usual_spread_of(struct judge *judge)
{
	double *spreads = tsi_arena_new(judge->arena, judge->rank_count, sizeof(*spreads));

	for (size_t rank = 0; spreads && rank < judge->rank_count; rank++)
		spreads[rank] = spread_of(judge, rank);
	return spreads ? tsi_median(spreads, judge->rank_count) : INFINITY;
}

static void find_stalls(struct judge *judge, struct rank_stalls *stalls, struct arena *arena)
{
	double usual_spread = usual_spread_of(judge);
	size_t most = 0, all = 0, step_count = 0;

	for (size_t rank = 0; rank < judge->rank_count; rank++) {
		size_t steps, count = count_stalls(judge, rank, usual_spread, NULL, &steps);

		all += count;
		if (count <= most)
			continue;
		most = count;
		step_count = steps;
		stalls->rank = rank;
	}
	stalls->p_value = chance_of_stalls(most, all, judge->rank_count) * stalls->test_count;
	if (most < MIN_STALLS || (double)most < min_stall_share * (double)all ||
	    stalls->p_value > max_stall_p_value || !(judge->levels[stalls->rank] > 0))
		return;
	stalls->steps = tsi_arena_new(arena, step_count, sizeof(*stalls->steps));
	if (!stalls->steps)
		return;
	(void)count_stalls(judge, stalls->rank, usual_spread, stalls->steps, &stalls->count);
	describe_stalls(judge, stalls);
}

static double judge_all(struct judge *judge, struct rank_verdict *verdicts)
{
	size_t steps = judge->step_count, ranks = judge->rank_count;
	size_t most = steps > ranks ? steps : ranks;

	judge->centres = tsi_arena_new(judge->arena, steps, sizeof(*judge->centres));
	judge->levels = tsi_arena_new(judge->arena, ranks, sizeof(*judge->levels));
	judge->numbers = tsi_arena_new(judge->arena, most, sizeof(*judge->numbers));
	judge->placed = tsi_arena_new(judge->arena, ranks, sizeof(*judge->placed));
	if (!judge->placed)
		return INFINITY;
	find_centres(judge);
	find_levels(judge);
	measure_excess(judge, verdicts);
	for (size_t rank = 0; rank < ranks; rank++)
		verdicts[rank].p_value = 1;
	if (judge->judged_count == 0)
		return INFINITY;
	find_variance(judge);
	struct healthy healthy = find_healthy(judge);
	for (size_t rank = 0; rank < ranks; rank++)
		verdicts[rank].p_value = p_value_of(judge, &healthy, judge->levels[rank]);
	return detectable_excess(judge, &healthy);
}

double tsi_judge_ranks(struct rank_verdict *verdicts, struct rank_stalls *stalls,
		       const struct rank_times *times, struct arena *arena)
{
	struct arena scratch = { 0 };
	struct judge judge = {
		.arena = &scratch,
		.compute_ns = times->ns,
		.step_count = times->step_count,
		.rank_count = times->rank_count,
		.test_count = times->test_count,
	};
	double detectable = judge_all(&judge, verdicts);

	if (stalls)
		*stalls = (struct rank_stalls){ .test_count = stalls->test_count, .p_value = 1 };
	if (stalls && judge.judged_count > 0 && !scratch.has_failed)
		find_stalls(&judge, stalls, arena);
	tsi_latch_deinit(arena, &scratch);
	return detectable;
}

bool tsi_is_slow_rank(const struct rank_verdict *verdict, double min_excess_ratio)
{
	return verdict->p_value <= max_p_value && verdict->excess_ratio >= min_excess_ratio;
}
