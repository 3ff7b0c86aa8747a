/* SPDX-License-Identifier: MIT */
/*
 * How often a history of runs is right about where the mean step changed: generated histories of
 * 300 runs, without a change and with one of 3 % between runs 150 and 151. Steps have a noise of
 * 2 %, so that the mean of a run of 20 has 0.45 %; a second kind has the 2 % between runs, where no
 * test can tell the very run. Fails where a promise is not kept. The numbers are the same each time.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "diff/change_points.h"
#include "random_numbers.h"

enum { RUNS = 300, STEPS = 20, CHANGED = 150, HISTORIES = 1000, FIGURES = 4 };

static const double noise = 0.02, change = 0.03;

static void make(double *values, uint64_t *random, double change_ratio, double run_noise)
{
	for (size_t i = 0; i < RUNS; i++) {
		double level = i < CHANGED ? 100 : 100 * (1 + change_ratio);
		values[i] = level * (1 + run_noise * random_normal(random));
	}
}

struct rates {
	int none, exact, near, others;
};

static struct rates measure(double change_ratio, double run_noise)
{
	uint64_t random = 1;
	struct rates rates = { 0 };

	for (int i = 0; i < HISTORIES; i++) {
		struct arena arena = { 0 };
		double values[RUNS];
		make(values, &random, change_ratio, run_noise);
		struct change_points points = tsi_change_points(values, RUNS, FIGURES, &arena);
		size_t distance = RUNS;
		for (size_t p = 0; p < points.count; p++) {
			size_t off = points.items[p].first > CHANGED
					     ? points.items[p].first - CHANGED
					     : CHANGED - points.items[p].first;
			distance = off < distance ? off : distance;
		}
		rates.none += points.count == 0;
		rates.exact += distance == 0 && points.count == 1;
		rates.near += distance <= 5;
		rates.others += points.count > 1;
		tsi_arena_deinit(&arena);
	}
	return rates;
}

static void print(const char *name, const struct rates *rates)
{
	printf("%-36s none %5.1f %%  at the very run %5.1f %%  within 5 runs %5.1f %%  more than "
	       "one "
	       "%4.1f %%\n",
	       name, 100.0 * rates->none / HISTORIES, 100.0 * rates->exact / HISTORIES,
	       100.0 * rates->near / HISTORIES, 100.0 * rates->others / HISTORIES);
}

int main(void)
{
	double of_mean = noise / sqrt(STEPS);
	struct rates still = measure(0, of_mean), changed = measure(change, of_mean);
	struct rates wide_still = measure(0, noise), wide = measure(change, noise);

	print("steps of 2 % noise, no change", &still);
	print("steps of 2 % noise, +3 %", &changed);
	print("runs of 2 % noise, no change", &wide_still);
	print("runs of 2 % noise, +3 %", &wide);
	if (still.none >= HISTORIES * 0.99 && changed.exact >= HISTORIES * 0.99 &&
	    wide_still.none >= HISTORIES * 0.99 && wide.near >= HISTORIES * 0.95)
		return EXIT_SUCCESS;
	printf("a promise is not kept\n");
	return EXIT_FAILURE;
}
