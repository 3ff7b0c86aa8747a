/* SPDX-License-Identifier: MIT */
/* Levels of a series, by splitting it in two again and again. */
#include "diff/change_points.h"

#include <math.h>

#include "analyze/shared/chance.h"

/* Smaller changes are none, however certain. */
static const double min_ratio = 0.002;

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

static void put_levels(struct walk *walk, size_t count)
{
	struct change_point *items = walk->found.items;

	for (size_t i = 0; i < walk->found.count; i++) {
		size_t begin = i ? items[i - 1].first : 0;
		size_t end = i + 1 < walk->found.count ? items[i + 1].first : count;
		items[i].before = mean_of(&walk->sums, begin, items[i].first);
		items[i].after = mean_of(&walk->sums, items[i].first, end);
	}
}

struct change_points tsi_change_points(const double *values, size_t count, size_t comparisons,
				       struct arena *arena)
{
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
