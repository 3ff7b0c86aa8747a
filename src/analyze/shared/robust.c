/* SPDX-License-Identifier: MIT */
/*
 * Medians and what is built on them: spikes of a series and its slope, for the
 * analyzers of steps. All of it works on copies, so that a series keeps the
 * order of time.
 */
#include "analyze/shared/robust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

/* pytscope's local_spikes: these numbers are its. */
enum {
	SPIKE_WINDOW = 12,     /* values looked back at */
	SPIKE_MIN_HISTORY = 6, /* fewer values before: no judgement */
};
static const double spike_scales = 6.0; /* above the median, in robust deviations */
static const double spike_growth = 1.5; /* times the median, where nothing deviates */
static const double deviations_per_mad = 1.4826;

/* Insertion sort for up to a spike window, which is sorted in every step. */
static void sort_doubles(double *numbers, size_t count)
{
	if (count > SPIKE_WINDOW) {
		qsort(numbers, count, sizeof(*numbers), tsi_compare_doubles);
		return;
	}
	for (size_t i = 1; i < count; i++) {
		double number = numbers[i];
		size_t place = i;

		for (; place > 0 && numbers[place - 1] > number; place--)
			numbers[place] = numbers[place - 1];
		numbers[place] = number;
	}
}

double tsi_median(double *numbers, size_t count)
{
	if (count == 0)
		return 0;
	sort_doubles(numbers, count);
	/* Halves, whose sum does not overflow. */
	return numbers[(count - 1) / 2] / 2 + numbers[count / 2] / 2;
}

static bool towers_above(double value, const double *history, size_t count)
{
	double numbers[SPIKE_WINDOW];

	memcpy(numbers, history, count * sizeof(*numbers));
	double median = tsi_median(numbers, count);
	for (size_t i = 0; i < count; i++)
		numbers[i] = fabs(numbers[i] - median);
	double scale = deviations_per_mad * tsi_median(numbers, count);
	if (scale > 0)
		return value > median + spike_scales * scale;
	return value > (median > 0 ? spike_growth * median : median);
}

void tsi_local_spikes(const double *values, size_t count, bool *is_spike)
{
	double history[SPIKE_WINDOW]; /* the order within it does not matter: a ring */
	size_t seen = 0;

	for (size_t i = 0; i < count; i++) {
		is_spike[i] = false;
		if (!isfinite(values[i]))
			continue;
		if (seen >= SPIKE_MIN_HISTORY)
			is_spike[i] = towers_above(values[i], history,
						   seen < SPIKE_WINDOW ? seen : SPIKE_WINDOW);
		history[seen++ % SPIKE_WINDOW] = values[i];
	}
}

static size_t window_of(size_t count)
{
	return count < 10 ? 1 : count / 10;
}

void tsi_end_medians(const double *values, size_t count, double *first, double *last,
		     struct arena *scratch)
{
	size_t window = window_of(count);
	double *numbers = tsi_arena_new(scratch, window, sizeof(*numbers));

	*first = *last = 0;
	if (count == 0 || !numbers)
		return;
	memcpy(numbers, values, window * sizeof(*numbers));
	*first = tsi_median(numbers, window);
	memcpy(numbers, values + count - window, window * sizeof(*numbers));
	*last = tsi_median(numbers, window);
}

/* How much the end lies above the beginning, spread over a distance in values. */
static double slope_over(const double *values, size_t count, size_t distance, struct arena *scratch)
{
	double first, last;

	if (count < 2)
		return 0;
	tsi_end_medians(values, count, &first, &last, scratch);
	return (last - first) / (double)distance;
}

double tsi_robust_slope(const double *values, size_t count, struct arena *scratch)
{
	return slope_over(values, count, count - 1, scratch);
}

double tsi_centred_slope(const double *values, size_t count, struct arena *scratch)
{
	return slope_over(values, count, count - window_of(count), scratch);
}
