/* SPDX-License-Identifier: MIT */
/*
 * How often distributed.slow_ranks is right: generated runs of step records, as
 * many of each kind, go through the analyzer. Some have traces as well, which
 * tell time beside compute. Prints a line for each kind and fails where fewer
 * are right than promised. The numbers are the same each time.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tscope/tscope.h>

#include "analyze/analysis.h"
#include "base/array.h"
#include "comm/world.h"
#include "random_numbers.h"

enum {
	RUN_COUNT = 1000,
	MAX_RANKS = 64,
	BASE_NS = 100 * 1000 * 1000, /* compute of a step without noise */
};

/* What varies the compute of a rank in a step, beside what all ranks share. */
enum noise {
	NOISE_NORMAL,      /* of the given size */
	NOISE_EXPONENTIAL, /* only ever slower, with a long tail */
	NOISE_OUTLIERS,    /* normal, and one step in twenty is up to three times as long */
	NOISE_DRIFT,       /* a walk: steps of a rank resemble the ones before */
};

struct kind {
	const char *name;
	size_t rank_count, step_count;
	enum noise noise;
	double noise_ratio, shared_ratio; /* of each rank alone; of all ranks, step by step */
	size_t odd_count;                 /* the last so many ranks differ from the others ... */
	double odd_ratio;                 /* ... by this much */
	size_t promised;                  /* runs, of all, in which the list is as it should */
	bool is_traced; /* half as much host time beside compute; that of the odd ranks differs */
};

static const struct kind kinds[] = {
	{ "no fault", 8, 30, NOISE_NORMAL, 0.03, 0, 0, 0, 995, false },
	{ "one 5 % slower", 8, 30, NOISE_NORMAL, 0.03, 0, 1, 0.05, 995, false },
	{ "two 10 % slower", 8, 30, NOISE_NORMAL, 0.03, 0, 2, 0.10, 995, false },
	{ "four 10 % slower", 8, 30, NOISE_NORMAL, 0.03, 0, 4, 0.10, 0, false },
	{ "one 10 % faster", 8, 30, NOISE_NORMAL, 0.03, 0, 1, -0.10, 995, false },
	{ "three 10 % faster", 8, 30, NOISE_NORMAL, 0.03, 0, 3, -0.10, 0, false },
	{ "no fault, all vary by 20 %", 8, 30, NOISE_NORMAL, 0.03, 0.2, 0, 0, 995, false },
	{ "one 5 %, all vary by 20 %", 8, 30, NOISE_NORMAL, 0.03, 0.2, 1, 0.05, 995, false },
	{ "no fault, long tail", 8, 30, NOISE_EXPONENTIAL, 0.10, 0, 0, 0, 995, false },
	{ "one 10 %, long tail", 8, 30, NOISE_EXPONENTIAL, 0.10, 0, 1, 0.10, 995, false },
	{ "no fault, outliers", 8, 30, NOISE_OUTLIERS, 0.03, 0, 0, 0, 995, false },
	{ "one 5 %, outliers", 8, 30, NOISE_OUTLIERS, 0.03, 0, 1, 0.05, 0, false },
	{ "no fault, drift", 8, 30, NOISE_DRIFT, 0.03, 0, 0, 0, 995, false },
	{ "no fault", 2, 30, NOISE_NORMAL, 0.03, 0, 0, 0, 995, false },
	{ "one 10 % slower", 2, 30, NOISE_NORMAL, 0.03, 0, 1, 0.10, 0, false },
	{ "no fault", 64, 30, NOISE_NORMAL, 0.03, 0, 0, 0, 995, false },
	{ "one 5 % slower", 64, 30, NOISE_NORMAL, 0.03, 0, 1, 0.05, 995, false },
	{ "eight 5 % slower", 64, 30, NOISE_NORMAL, 0.03, 0, 8, 0.05, 0, false },
	{ "no fault", 8, 5, NOISE_NORMAL, 0.03, 0, 0, 0, 995, false },
	{ "one 20 % slower", 8, 5, NOISE_NORMAL, 0.03, 0, 1, 0.20, 0, false },
	{ "no fault, noise 10 %", 8, 300, NOISE_NORMAL, 0.10, 0, 0, 0, 995, false },
	{ "one 0.5 % slower, noise 3 %", 8, 300, NOISE_NORMAL, 0.03, 0, 1, 0.005, 0, false },
	{ "one 2 % slower, noise 3 %", 8, 300, NOISE_NORMAL, 0.03, 0, 1, 0.02, 995, false },
	{ "one 10 % faster, noise 10 %", 8, 300, NOISE_NORMAL, 0.10, 0, 1, -0.10, 995, false },
	{ "no fault, drift", 8, 12, NOISE_DRIFT, 0.03, 0, 0, 0, 0, false },
	{ "no fault, drift", 8, 6, NOISE_DRIFT, 0.03, 0, 0, 0, 0, false },
	{ "no fault, drift", 64, 30, NOISE_DRIFT, 0.03, 0, 0, 0, 995, false },
	{ "no fault, drift", 64, 12, NOISE_DRIFT, 0.03, 0, 0, 0, 995, false },
	{ "no fault, drift", 64, 6, NOISE_DRIFT, 0.03, 0, 0, 0, 0, false },
	{ "no fault, drift", 8, 200, NOISE_DRIFT, 0.03, 0, 0, 0, 995, false },
	{ "no fault, drift", 2, 60, NOISE_DRIFT, 0.03, 0, 0, 0, 0, false },
	{ "one 10 % slower, drift", 8, 60, NOISE_DRIFT, 0.03, 0, 1, 0.10, 0, false },
	{ "traced: no fault", 8, 30, NOISE_NORMAL, 0.03, 0, 0, 0, 995, true },
	{ "traced: no fault, long tail", 8, 20, NOISE_EXPONENTIAL, 0.10, 0, 0, 0, 995, true },
	{ "traced: no fault, drift", 64, 20, NOISE_DRIFT, 0.03, 0, 0, 0, 995, true },
	{ "traced: no fault", 64, 20, NOISE_NORMAL, 0.03, 0, 0, 0, 995, true },
	{ "traced: one host 5 % slower", 8, 30, NOISE_NORMAL, 0.03, 0, 1, 0.05, 995, true },
	{ "traced: one host 5 % slower", 64, 30, NOISE_NORMAL, 0.03, 0, 1, 0.05, 995, true },
};

/* ---- runs ---- */

struct run {
	const struct kind *kind;
	struct step_series ranks[MAX_RANKS];
	struct rank_log logs[MAX_RANKS];
	struct world *world; /* NULL: no traces */
	double drift[MAX_RANKS];
	uint64_t random;
};

static double noise_of(struct run *run, size_t rank)
{
	double ratio = run->kind->noise_ratio;

	switch (run->kind->noise) {
	case NOISE_NORMAL:
		return ratio * random_normal(&run->random);
	case NOISE_EXPONENTIAL:
		return -ratio * log(random_ratio(&run->random));
	case NOISE_OUTLIERS:
		if (random_ratio(&run->random) <= 0.05)
			return 2 * random_ratio(&run->random);
		return ratio * random_normal(&run->random);
	case NOISE_DRIFT:
		run->drift[rank] =
			0.8 * run->drift[rank] + 0.6 * ratio * random_normal(&run->random);
		return run->drift[rank];
	}
	return 0;
}

static bool is_odd(const struct kind *kind, size_t rank)
{
	return rank >= kind->rank_count - kind->odd_count;
}

/* The step of a trace: all of its time is local. */
static void put_traced(struct run *run, size_t rank, size_t step, double host_ns)
{
	struct step_record *record = &run->ranks[rank].records[step];
	struct step_budget *budget = &run->ranks[rank].budgets[step];
	struct rank_log_step *logged = &run->logs[rank].steps[step];
	struct rank_point *end = &run->logs[rank].points[step + 1];

	record->time_ns += (int64_t)host_ns;
	budget->start_ns = logged->start_ns = (int64_t)step * BASE_NS * 100;
	budget->wall_ns = logged->wall_ns = record->time_ns;
	end->line_ns[TSCOPE_BUDGET_COMPUTE] = record->phase_ns[PHASE_COMPUTE];
	end->line_ns[TSCOPE_BUDGET_LAUNCH_STALL] = (int64_t)host_ns;
}

static double more_than_zero(double ns)
{
	return ns > 0 ? ns : 0;
}

static void generate_step(struct run *run, size_t rank, size_t step, double shared)
{
	const struct kind *kind = run->kind;
	struct step_record *record = &run->ranks[rank].records[step];
	double odd = is_odd(kind, rank) ? kind->odd_ratio : 0;
	double compute = shared * (1 + (kind->is_traced ? 0 : odd)) * (1 + noise_of(run, rank));

	record->time_ns = (int64_t)more_than_zero(BASE_NS * compute);
	record->phase_ns[PHASE_COMPUTE] = record->time_ns;
	if (kind->is_traced)
		put_traced(run, rank, step,
			   more_than_zero(BASE_NS * shared *
					  (0.5 * (1 + noise_of(run, rank)) + 1.5 * odd)));
}

static void generate(struct run *run)
{
	const struct kind *kind = run->kind;

	memset(run->drift, 0, sizeof(run->drift));
	for (size_t step = 0; step < kind->step_count; step++) {
		double shared = exp(kind->shared_ratio * random_normal(&run->random));
		for (size_t rank = 0; rank < kind->rank_count; rank++)
			generate_step(run, rank, step, shared);
	}
}

static void must(enum tscope_status status)
{
	if (status != TSCOPE_OK)
		abort();
}

/* Room for the steps of a trace, and the points where they begin. */
static void log_init(struct run *run, size_t rank)
{
	struct rank_log *log = &run->logs[rank];
	size_t count = run->kind->step_count;

	must(tsi_rank_log_init(log, NULL));
	log->steps = tsi_arena_new(&log->arena, count, sizeof(*log->steps));
	log->points = tsi_arena_new(&log->arena, count + 1, sizeof(*log->points));
	must(tsi_arena_status(&log->arena, NULL));
	log->rank = (int64_t)rank;
	log->step_count = count;
	log->point_count = count + 1;
	for (size_t i = 0; i < count; i++) {
		struct step_budget budget = { 0 };

		log->steps[i] = (struct rank_log_step){ .number = (int64_t)i };
		must(tsi_steps_add_budget(&run->ranks[rank], &budget,
					  &run->ranks[rank].records[i].budget, NULL));
	}
	for (size_t i = 0; i <= count; i++)
		log->points[i] = (struct rank_point){
			.kind = i < count ? RANK_POINT_STEP : RANK_POINT_END,
			.index = (uint32_t)i,
		};
}

static void run_init(struct run *run, const struct kind *kind)
{
	*run = (struct run){ .kind = kind, .random = (uint64_t)(kind - kinds) };
	for (size_t rank = 0; rank < kind->rank_count; rank++) {
		struct step_record *record;
		must(tsi_steps_init(&run->ranks[rank], NULL));
		run->ranks[rank].rank = (int64_t)rank;
		for (size_t step = 0; step < kind->step_count; step++) {
			must(tsi_steps_add(&run->ranks[rank], (int64_t)step, &record, NULL));
			record->has = STEP_HAS_TIME;
		}
		if (kind->is_traced)
			log_init(run, rank);
	}
	if (kind->is_traced)
		must(tsi_world_new(&run->world, run->logs, kind->rank_count, -1, NULL));
}

static void run_deinit(struct run *run)
{
	tsi_world_free(run->world);
	for (size_t rank = 0; rank < run->kind->rank_count; rank++) {
		tsi_steps_deinit(&run->ranks[rank]);
		tsi_rank_log_deinit(&run->logs[rank]);
	}
}

/* ---- what the analyzer says ---- */

struct place {
	size_t analyzer, table;
};

static struct place find_slow_ranks(void)
{
	for (size_t i = 0; i < tscope_analyzer_count(); i++) {
		const struct tscope_analyzer_def *def = tscope_analyzer(i);
		for (size_t j = 0; j < def->table_count; j++)
			if (strcmp(def->id, "distributed") == 0 &&
			    strcmp(def->tables[j].name, "slow_ranks") == 0)
				return (struct place){ i, j };
	}
	abort();
}

/* Are the listed ranks those that were made slow, and no others? */
struct verdict {
	bool is_right, names_healthy;
};

static struct verdict judge(struct run *run, struct place place)
{
	const struct kind *kind = run->kind;
	struct analysis_scope scope = { .steps = &run->ranks[0],
					.ranks = run->ranks,
					.rank_count = kind->rank_count,
					.world = run->world };
	size_t slow_count = kind->odd_ratio > 0.01 ? kind->odd_count : 0, found = 0;
	struct tscope_analysis *analysis;

	generate(run);
	if (tsi_analyze_level(&analysis, LEVEL_RUN, &scope, NULL, NULL) != TSCOPE_OK)
		abort();
	size_t listed = tscope_analysis_row_count(analysis, place.analyzer, place.table,
						  TSCOPE_WHOLE_TRACE);
	for (size_t row = 0; row < listed; row++) {
		struct tscope_value rank = tscope_analysis_cell(
			analysis, place.analyzer, place.table, TSCOPE_WHOLE_TRACE, row, 0);
		found += slow_count > 0 && is_odd(kind, (size_t)rank.integer);
	}
	tscope_analysis_free(analysis);
	return (struct verdict){ .is_right = found == slow_count && listed == found,
				 .names_healthy = listed > found };
}

static bool measure(const struct kind *kind, struct place place)
{
	size_t right = 0, false_alarms = 0;
	static struct run run;

	run_init(&run, kind);
	for (size_t i = 0; i < RUN_COUNT; i++) {
		struct verdict verdict = judge(&run, place);
		right += verdict.is_right;
		false_alarms += verdict.names_healthy;
	}
	run_deinit(&run);
	printf("%5zu %5zu  %-30s %5zu %12zu", kind->rank_count, kind->step_count, kind->name, right,
	       false_alarms);
	if (kind->promised)
		printf("  >= %zu%s", kind->promised, right < kind->promised ? " FAILED" : "");
	putchar('\n');
	return right >= kind->promised;
}

int main(void)
{
	struct place place = find_slow_ranks();
	bool is_kept = true;

	printf("distributed.slow_ranks, of %d runs of each kind\n"
	       "ranks steps  %-30s right false alarms  promised\n",
	       RUN_COUNT, "noise 3 % unless said");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		is_kept &= measure(&kinds[i], place);
	return is_kept ? EXIT_SUCCESS : EXIT_FAILURE;
}
