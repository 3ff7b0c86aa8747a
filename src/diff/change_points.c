/* SPDX-License-Identifier: MIT */
/* Levels of a series, by splitting it in two again and again. */
#include "diff/change_points.h"

#include <math.h>
#include <string.h>

#include "analyze/shared/chance.h"
#include "analyze/shared/robust.h"

/* Smaller changes are none, however certain. */
static const double min_ratio = 0.002;
/*
 * A run is odd by so many robust standard deviations. They are of distances from medians that the
 * runs are part of, and so too small: from 5 on, chance would make more changes than promised.
 */
static const double odd_deviations = 8;
/*
 * Splits of which twice the logarithm of the likelihood is less than the best one's by more are
 * excluded: one falls so far short by chance with a probability of 1 - (1 - exp(-x / 2))^2.
 */
static const double excluded_by = 7.35;

enum { NEIGHBOURHOOD = 5 };

struct split {
	size_t first; /* 0: none */
	double p_value;
};

/* Sums of all values before each, about the first one. */
struct sums {
	const double *values;
	double *sums, *squares;
};

static double mean_of(const struct sums *sums, size_t begin, size_t end)
{
	return sums->values[0] + (sums->sums[end] - sums->sums[begin]) / (double)(end - begin);
}

/* Squared distances from the mean of [begin, end). */
static double scatter_of(const struct sums *sums, size_t begin, size_t end)
{
	double sum = sums->sums[end] - sums->sums[begin];
	double scatter =
		sums->squares[end] - sums->squares[begin] - sum * sum / (double)(end - begin);

	return scatter > 0 ? scatter : 0;
}

static double p_of(const struct sums *sums, size_t begin, size_t at, size_t end)
{
	double left = (double)(at - begin), right = (double)(end - at), degrees = left + right - 2;
	double difference = mean_of(sums, at, end) - mean_of(sums, begin, at);
	double variance = (scatter_of(sums, begin, at) + scatter_of(sums, at, end)) / degrees;

	if (fabs(difference) <= min_ratio * fabs(mean_of(sums, begin, at)))
		return 1;
	if (variance <= 0)
		return 0;
	return 2 * tsi_student_tail(fabs(difference) / sqrt(variance * (1 / left + 1 / right)),
				    degrees);
}

/* The median of the runs around one, itself among them. */
static double local_median(const double *values, size_t count, size_t i)
{
	size_t half = NEIGHBOURHOOD / 2, begin = i > half ? i - half : 0;
	double near[NEIGHBOURHOOD];

	if (begin > count - NEIGHBOURHOOD)
		begin = count - NEIGHBOURHOOD;
	memcpy(near, values + begin, sizeof(near));
	return tsi_median(near, NEIGHBOURHOOD);
}

/*
 * The values, without odd runs. Of a count that is 0 in most runs all others would be odd, and
 * three of them close together a level that varies by nothing: as many as a level has are not odd.
 */
static const double *tame(const double *values, size_t count, struct arena *arena)
{
	double *tamed = tsi_arena_new(arena, count, sizeof(*tamed));
	double *distances = tsi_arena_new(arena, count, sizeof(*distances));

	if (!tamed || !distances || count < NEIGHBOURHOOD)
		return values;
	for (size_t i = 0; i < count; i++)
		distances[i] = fabs(values[i] - local_median(values, count, i));
	memcpy(tamed, distances, count * sizeof(*tamed));
	double most = odd_deviations * 1.4826 * tsi_median(tamed, count);
	size_t odd_count = 0;
	for (size_t i = 0; i < count; i++)
		odd_count += distances[i] > most;
	if (!(most > 0) && odd_count >= CHANGE_POINT_MIN_LEVEL)
		return values;
	for (size_t i = 0; i < count; i++)
		tamed[i] = distances[i] > most ? local_median(values, count, i) : values[i];
	return tamed;
}

/* The split that leaves the least scatter. */
static struct split best_split(const struct sums *sums, size_t begin, size_t end)
{
	double least = INFINITY;
	struct split best = { 0, 1 };

	for (size_t at = begin + CHANGE_POINT_MIN_LEVEL; at + CHANGE_POINT_MIN_LEVEL <= end; at++) {
		double scatter = scatter_of(sums, begin, at) + scatter_of(sums, at, end);
		if (scatter >= least)
			continue;
		least = scatter;
		best.first = at;
	}
	if (best.first)
		best.p_value = fmin(1, p_of(sums, begin, best.first, end) * (double)(end - begin));
	return best;
}

struct walk {
	struct sums sums;
	struct change_points found;
	double alpha;
};

/* The deepest of it is a few levels: each split leaves fewer runs. */
static void split(struct walk *walk, size_t begin, size_t end)
{
	if (end - begin < CHANGE_POINT_MIN_RUNS)
		return;
	struct split best = best_split(&walk->sums, begin, end);
	if (!best.first || best.p_value > walk->alpha)
		return;
	split(walk, begin, best.first);
	walk->found.items[walk->found.count++] =
		(struct change_point){ .first = best.first, .p_value = best.p_value };
	split(walk, best.first, end);
}

static void put_reach(const struct sums *sums, struct change_point *point, size_t begin, size_t end)
{
	double least = scatter_of(sums, begin, point->first) + scatter_of(sums, point->first, end);

	point->earliest = point->latest = point->first;
	for (size_t at = begin + 1; least > 0 && at < end; at++) {
		double scatter = scatter_of(sums, begin, at) + scatter_of(sums, at, end);
		if ((double)(end - begin) * log(scatter / least) > excluded_by)
			continue;
		point->earliest = at < point->earliest ? at : point->earliest;
		point->latest = at > point->latest ? at : point->latest;
	}
}

static void put_levels(struct walk *walk, size_t count)
{
	struct change_point *items = walk->found.items;

	for (size_t i = 0; i < walk->found.count; i++) {
		size_t begin = i ? items[i - 1].first : 0;
		size_t end = i + 1 < walk->found.count ? items[i + 1].first : count;
		items[i].before = mean_of(&walk->sums, begin, items[i].first);
		items[i].after = mean_of(&walk->sums, items[i].first, end);
		put_reach(&walk->sums, &items[i], begin, end);
	}
}

struct change_points tsi_change_points(const double *values, size_t count, size_t comparisons,
				       struct arena *arena)
{
	values = tame(values, count, arena);
	struct walk walk = {
		.sums = { .values = values,
			  .sums = tsi_arena_new(arena, count + 1, sizeof(double)),
			  .squares = tsi_arena_new(arena, count + 1, sizeof(double)) },
		.found.items = tsi_arena_new(arena, count, sizeof(*walk.found.items)),
		.alpha = CHANGE_POINT_ALPHA / (double)comparisons,
	};

	if (!walk.found.items || !walk.sums.sums || !walk.sums.squares)
		return (struct change_points){ 0 };
	for (size_t i = 0; i < count; i++) {
		double distance = values[i] - values[0];
		walk.sums.sums[i + 1] = walk.sums.sums[i] + distance;
		walk.sums.squares[i + 1] = walk.sums.squares[i] + distance * distance;
	}
	split(&walk, 0, count);
	put_levels(&walk, count);
	return walk.found;
}
