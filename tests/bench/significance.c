/* SPDX-License-Identifier: MIT */
/*
 * How often a comparison of two runs is right about the step time: generated pairs of step records,
 * which chance alone tells apart or a change beside it. Those whose rates are promised are written
 * to files and go the whole way of `tscope diff`; the other kinds of noise go through the test
 * alone, which is faster. Prints a line for each kind and fails where a promise is not kept. The
 * numbers are the same each time.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tscope/tscope.h>

#include "diff/sample_test.h"
#include "random_numbers.h"

enum {
	PROMISED_PAIR_COUNT = 500,
	PAIR_COUNT = 5000,
	MAX_STEPS = 500,
	PATH_CHARS = 4096,
};

static const double base_ns = 100e6; /* of a step without noise */

enum noise {
	NOISE_NORMAL,
	NOISE_LOGNORMAL,
	NOISE_EXPONENTIAL, /* only ever slower, with a long tail */
	NOISE_OUTLIERS,    /* normal, and of 2 % of the steps three times as long */
	NOISE_NEIGHBOURS,  /* normal, and steps resemble those before (AR(1)) */
	NOISE_TREND,       /* normal, and the last step is 10 % longer than the first */
};

struct kind {
	const char *name;
	enum noise noise;
	size_t a_count, b_count;
	double a_ratio, b_ratio; /* standard deviation of the noise */
	double change;           /* of b */
	double resemblance;      /* correlation with the step before */
};

/* Of 500 pairs each; least or most of them that are called changed. */
struct promise {
	struct kind kind;
	size_t least, most;
};

static const struct promise promises[] = {
	{ { "no change", NOISE_NORMAL, 20, 20, 0.03, 0.03, 0, 0 }, 0, 5 },
	{ { "5 % slower", NOISE_NORMAL, 20, 20, 0.03, 0.03, 0.05, 0 }, 475, 500 },
	{ { "3 % slower", NOISE_NORMAL, 50, 50, 0.03, 0.03, 0.03, 0 }, 475, 500 },
};

static const struct kind kinds[] = {
	{ "no change", NOISE_NORMAL, 20, 20, 0.03, 0.03, 0, 0 },
	{ "no change", NOISE_NORMAL, 6, 6, 0.03, 0.03, 0, 0 },
	{ "no change", NOISE_NORMAL, 5, 5, 0.03, 0.03, 0, 0 },
	{ "no change, long tail", NOISE_EXPONENTIAL, 5, 5, 0.1, 0.1, 0, 0 },
	{ "30 % slower", NOISE_NORMAL, 5, 5, 0.03, 0.03, 0.3, 0 },
	{ "no change", NOISE_NORMAL, 50, 50, 0.03, 0.03, 0, 0 },
	{ "no change", NOISE_NORMAL, 200, 200, 0.03, 0.03, 0, 0 },
	{ "no change", NOISE_NORMAL, 10, 200, 0.03, 0.03, 0, 0 },
	{ "5 % slower", NOISE_NORMAL, 20, 20, 0.03, 0.03, 0.05, 0 },
	{ "3 % slower", NOISE_NORMAL, 50, 50, 0.03, 0.03, 0.03, 0 },
	{ "10 % slower", NOISE_NORMAL, 6, 6, 0.03, 0.03, 0.1, 0 },
	{ "no change, 3 % and 9 % noise", NOISE_NORMAL, 20, 20, 0.03, 0.09, 0, 0 },
	{ "no change, 3 % and 9 % noise", NOISE_NORMAL, 10, 100, 0.03, 0.09, 0, 0 },
	{ "no change, 3 % and 9 % noise", NOISE_NORMAL, 100, 10, 0.03, 0.09, 0, 0 },
	{ "no change, lognormal 30 %", NOISE_LOGNORMAL, 20, 20, 0.3, 0.3, 0, 0 },
	{ "no change, lognormal 30 %", NOISE_LOGNORMAL, 6, 200, 0.3, 0.3, 0, 0 },
	{ "no change, long tail", NOISE_EXPONENTIAL, 20, 20, 0.1, 0.1, 0, 0 },
	{ "no change, long tail", NOISE_EXPONENTIAL, 8, 100, 0.1, 0.1, 0, 0 },
	{ "10 % slower, long tail", NOISE_EXPONENTIAL, 20, 20, 0.1, 0.1, 0.1, 0 },
	{ "no change, outliers", NOISE_OUTLIERS, 20, 20, 0.03, 0.03, 0, 0 },
	{ "no change, outliers", NOISE_OUTLIERS, 50, 500, 0.03, 0.03, 0, 0 },
	{ "5 % slower, outliers", NOISE_OUTLIERS, 20, 20, 0.03, 0.03, 0.05, 0 },
	{ "3 % slower, outliers", NOISE_OUTLIERS, 50, 50, 0.03, 0.03, 0.03, 0 },
	{ "no change, neighbours 0.3", NOISE_NEIGHBOURS, 20, 20, 0.03, 0.03, 0, 0.3 },
	{ "no change, neighbours 0.3", NOISE_NEIGHBOURS, 200, 200, 0.03, 0.03, 0, 0.3 },
	{ "5 % slower, neighbours 0.3", NOISE_NEIGHBOURS, 20, 20, 0.03, 0.03, 0.05, 0.3 },
	{ "no change, neighbours 0.6", NOISE_NEIGHBOURS, 20, 20, 0.03, 0.03, 0, 0.6 },
	{ "no change, neighbours 0.6", NOISE_NEIGHBOURS, 50, 50, 0.03, 0.03, 0, 0.6 },
	{ "no change, neighbours 0.6", NOISE_NEIGHBOURS, 200, 200, 0.03, 0.03, 0, 0.6 },
	{ "3 % slower, neighbours 0.6", NOISE_NEIGHBOURS, 200, 200, 0.03, 0.03, 0.03, 0.6 },
	{ "no change, trend", NOISE_TREND, 50, 50, 0.03, 0.03, 0, 0 },
	{ "20 % slower, trend", NOISE_TREND, 20, 20, 0.03, 0.03, 0.2, 0 },
};

/* ---- samples ---- */

struct steps {
	int64_t time_ns[MAX_STEPS];
	size_t count;
};

/* What a step takes by its noise, around 1; neighbour is that of the step before. */
static double factor_of(const struct kind *kind, double ratio, double place, double *neighbour,
			uint64_t *random)
{
	switch (kind->noise) {
	case NOISE_NORMAL:
		return 1 + ratio * random_normal(random);
	case NOISE_LOGNORMAL:
		return exp(ratio * random_normal(random));
	case NOISE_EXPONENTIAL:
		return 1 - ratio * log(random_ratio(random));
	case NOISE_OUTLIERS:
		return (1 + ratio * random_normal(random)) * (random_ratio(random) <= 0.02 ? 3 : 1);
	case NOISE_NEIGHBOURS:
		*neighbour =
			kind->resemblance * *neighbour +
			sqrt(1 - kind->resemblance * kind->resemblance) * random_normal(random);
		return 1 + ratio * *neighbour;
	case NOISE_TREND:
		return 1 + ratio * random_normal(random) + 0.1 * place;
	}
	return 1;
}

static void generate(struct steps *steps, const struct kind *kind, bool is_b, uint64_t *random)
{
	double neighbour = random_normal(random);
	double ratio = is_b ? kind->b_ratio : kind->a_ratio;

	steps->count = is_b ? kind->b_count : kind->a_count;
	for (size_t i = 0; i < steps->count; i++) {
		double place = (double)i / (double)steps->count;
		double factor = factor_of(kind, ratio, place, &neighbour, random);
		double ns = base_ns * (is_b ? 1 + kind->change : 1) * factor;
		steps->time_ns[i] = ns > 0 ? (int64_t)ns : 0;
	}
}

/* ---- through the files of two runs ---- */

static void fail(const char *what, const char *path)
{
	fprintf(stderr, "%s %s: %s\n", what, path, strerror(errno));
	exit(EXIT_FAILURE);
}

static void write_records(const char *folder, const struct steps *steps)
{
	char path[PATH_CHARS + sizeof("/steps.jsonl")];

	if (mkdir(folder, 0700) != 0 && errno != EEXIST)
		fail("mkdir", folder);
	snprintf(path, sizeof(path), "%s/steps.jsonl", folder);
	FILE *file = fopen(path, "w");
	if (!file)
		fail("open", path);
	for (size_t i = 0; i < steps->count; i++)
		fprintf(file, "{\"step\":%zu,\"phases\":{\"compute\":%" PRId64 ".%09" PRId64 "}}\n",
			i, steps->time_ns[i] / 1000000000, steps->time_ns[i] % 1000000000);
	if (fclose(file) != 0)
		fail("write", path);
}

static void remove_records(const char *folder)
{
	char path[PATH_CHARS + sizeof("/steps.jsonl")];

	snprintf(path, sizeof(path), "%s/steps.jsonl", folder);
	unlink(path);
	rmdir(folder);
}

static bool is_called_changed(const char *const folders[TSCOPE_SIDE_COUNT])
{
	struct tscope_diff *diff;
	struct tscope_error err;
	struct tscope_value verdict;
	enum tscope_unit unit;

	if (tscope_diff_open(&diff, folders, NULL, &err) != TSCOPE_OK) {
		fprintf(stderr, "%s\n", err.message);
		exit(EXIT_FAILURE);
	}
	if (!tscope_analysis_find(tscope_diff_analysis(diff), "step_change.verdict", &verdict,
				  &unit) ||
	    verdict.kind != TSCOPE_VALUE_TEXT)
		abort();
	bool is_changed = strcmp(verdict.text, "changed") == 0;
	tscope_diff_free(diff);
	return is_changed;
}

static bool keep_promise(const struct promise *promise, const char *folder, uint64_t seed)
{
	char a[PATH_CHARS], b[PATH_CHARS];
	const char *const folders[TSCOPE_SIDE_COUNT] = { a, b };
	const struct kind *kind = &promise->kind;
	size_t changed = 0;
	struct steps steps;

	snprintf(a, sizeof(a), "%s/a", folder);
	snprintf(b, sizeof(b), "%s/b", folder);
	for (size_t i = 0; i < PROMISED_PAIR_COUNT; i++) {
		generate(&steps, kind, false, &seed);
		write_records(a, &steps);
		generate(&steps, kind, true, &seed);
		write_records(b, &steps);
		changed += is_called_changed(folders);
	}
	remove_records(a);
	remove_records(b);
	bool is_kept = changed >= promise->least && changed <= promise->most;
	printf("%4zu %4zu  %-30s %4zu of %d called changed (%.1f %%), promised %s %zu%s\n",
	       kind->a_count, kind->b_count, kind->name, changed, PROMISED_PAIR_COUNT,
	       100.0 * (double)changed / PROMISED_PAIR_COUNT,
	       promise->least ? "at least" : "at most",
	       promise->least ? promise->least : promise->most, is_kept ? "" : " FAILED");
	return is_kept;
}

static bool keep_promises(void)
{
	char folder[] = "/tmp/tscope-significance-XXXXXX";
	bool are_kept = true;

	if (!mkdtemp(folder))
		fail("mkdtemp", folder);
	printf("step_change.verdict of `tscope diff`, noise 3 %%\n   A    B steps\n");
	for (size_t i = 0; i < sizeof(promises) / sizeof(promises[0]); i++)
		are_kept &= keep_promise(&promises[i], folder, i + 1);
	rmdir(folder);
	return are_kept;
}

/* ---- through the test alone ---- */

static void measure(const struct kind *kind, uint64_t seed)
{
	size_t changed = 0, typical = 0, undecided = 0;
	struct steps a, b;

	for (size_t i = 0; i < PAIR_COUNT; i++) {
		struct arena memory = { 0 };
		generate(&a, kind, false, &seed);
		generate(&b, kind, true, &seed);
		struct sample sample_a = { a.time_ns, a.count }, sample_b = { b.time_ns, b.count };
		struct sample_test test = tsi_sample_test(&sample_a, &sample_b, 1, &memory);
		if (memory.has_failed)
			abort();
		changed += test.verdict == DIFF_CHANGED;
		typical += test.typical_verdict == DIFF_CHANGED;
		undecided += test.verdict == DIFF_UNDECIDED;
	}
	printf("%4zu %4zu  %-30s %7.2f %8.2f %10.2f\n", kind->a_count, kind->b_count, kind->name,
	       100.0 * (double)changed / PAIR_COUNT, 100.0 * (double)typical / PAIR_COUNT,
	       100.0 * (double)undecided / PAIR_COUNT);
}

int main(void)
{
	bool are_kept = keep_promises();

	printf("\n%% of %d pairs called changed\n"
	       "   A    B steps%34s typical  undecided\n",
	       PAIR_COUNT, "mean");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		measure(&kinds[i], 1000 + i);
	return are_kept ? EXIT_SUCCESS : EXIT_FAILURE;
}
