/* SPDX-License-Identifier: MIT */
/*
 * How often the verdict on slow ranks is right: generated runs of step records, as many of each
 * kind, go through analyzers, rules and gates. Some have traces as well, which tell time beside
 * compute. Prints a line for each kind: runs in which the finding names the slow ranks and no
 * others, in which it or the gate blames a healthy rank, and in which the gate trips, holds or
 * says that it cannot tell. Fails where a promise is not kept. The numbers are the same each time.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tscope/tscope.h>

#include "analyze/analysis.h"
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
	NOISE_NEIGHBOURS,  /* normal, and steps of a rank resemble the ones before: AR(0.8) */
};

struct kind {
	const char *name;
	size_t rank_count, step_count;
	enum noise noise;
	double noise_ratio;
	double offset_ratio; /* by which healthy ranks differ for good: standard deviation */
	size_t odd_count;    /* the last so many ranks differ from the others ... */
	double odd_ratio;    /* ... by this much */
	int promised;        /* runs that are right; 0: none are promised */
	double shared_ratio; /* all ranks vary by so much, step by step */
	bool is_traced; /* half as much host time beside compute; that of the odd ranks differs */
	double stall_ratio; /* stalls: of the odd ranks in every 16th step, or, without any odd ... */
	double stall_chance; /* ... of all alike: in so many of the steps */
};

enum { NOBODY = 990, ONE = 990, MOST = 800 };

#define EQUAL(ranks)                                                                               \
	{ "equal", ranks, 100, NOISE_NORMAL, 0.03, 0, 0, 0, NOBODY, 0, false, 0, 0 },              \
		{ "equal, neighbours alike",                                                       \
		  ranks,                                                                           \
		  100,                                                                             \
		  NOISE_NEIGHBOURS,                                                                \
		  0.03,                                                                            \
		  0,                                                                               \
		  0,                                                                               \
		  0,                                                                               \
		  NOBODY,                                                                          \
		  0,                                                                               \
		  false,                                                                           \
		  0,                                                                               \
		  0 },                                                                             \
		{ "offsets", ranks, 100, NOISE_NORMAL, 0.01, 0.01, 0, 0, NOBODY, 0, false, 0, 0 }, \
	{                                                                                          \
		"offsets, neighbours alike", ranks, 100, NOISE_NEIGHBOURS, 0.03, 0.01, 0, 0,       \
			NOBODY, 0, false, 0, 0                                                     \
	}

#define ONE_SLOW(ranks)                                                                            \
	{ "one 5 % slow", ranks, 100, NOISE_NORMAL, 0.03, 0, 1, 0.05, ONE, 0, false, 0, 0 },       \
		{ "one 10 % slow, offsets",                                                        \
		  ranks,                                                                           \
		  100,                                                                             \
		  NOISE_NORMAL,                                                                    \
		  0.01,                                                                            \
		  0.01,                                                                            \
		  1,                                                                               \
		  0.10,                                                                            \
		  ONE,                                                                             \
		  0,                                                                               \
		  false,                                                                           \
		  0,                                                                               \
		  0 },                                                                             \
	{                                                                                          \
		"one 10 % slow, neighbours", ranks, 100, NOISE_NEIGHBOURS, 0.03, 0, 1, 0.10, MOST, \
			0, false, 0, 0                                                             \
	}

#define ONE_STALLS(ranks, steps, kind, offset, ratio, traced)                                      \
	{                                                                                          \
		"one stalls", ranks, steps, kind, 0.03, offset, 1, 0, ONE, 0, traced, ratio, 0     \
	}
#define ALL_STALL(ranks, times)                                                                    \
	{                                                                                          \
		"all stall " #times " times", ranks, 50, NOISE_NORMAL, 0.03, 0, 0, 0, NOBODY, 0,   \
			false, 3, (times) / 50.0 / (ranks)                                         \
	}
#define STALLS(ranks)                                                                              \
	ONE_STALLS(ranks, 48, NOISE_NORMAL, 0, 3, false),                                          \
		ONE_STALLS(ranks, 96, NOISE_NEIGHBOURS, 0.01, 1, false),                           \
		ONE_STALLS(ranks, 48, NOISE_NORMAL, 0, 3, true), ALL_STALL(ranks, 3),              \
		ALL_STALL(ranks, 12)

static const struct kind kinds[] = {
	EQUAL(8),
	EQUAL(16),
	EQUAL(64),
	{ "equal, few steps", 64, 3, NOISE_NORMAL, 0.08, 0, 0, 0, NOBODY, 0, false, 0, 0 },
	{ "equal, few steps", 64, 5, NOISE_NORMAL, 0.08, 0, 0, 0, NOBODY, 0, false, 0, 0 },
	ONE_SLOW(8),
	ONE_SLOW(16),
	ONE_SLOW(64),
	/* Like the others but for 3 or 6 steps; or all stall alike, 3 or 12 times in all. */
	STALLS(8),
	STALLS(16),
	STALLS(64),
	/* Few ranks, few steps. */
	{ "equal", 2, 100, NOISE_NORMAL, 0.03, 0, 0, 0, NOBODY, 0, false, 0, 0 },
	{ "offsets, neighbours alike", 2, 100, NOISE_NEIGHBOURS, 0.03, 0.01, 0, 0, NOBODY, 0, false,
	  0, 0 },
	{ "equal", 2, 5, NOISE_NORMAL, 0.08, 0, 0, 0, NOBODY, 0, false, 0, 0 },
	{ "one 50 % slow", 2, 100, NOISE_NORMAL, 0.03, 0, 1, 0.5, ONE, 0, false, 0, 0 },
	{ "equal", 3, 100, NOISE_NORMAL, 0.03, 0, 0, 0, NOBODY, 0, false, 0, 0 },
	{ "offsets, neighbours alike", 3, 100, NOISE_NEIGHBOURS, 0.03, 0.01, 0, 0, NOBODY, 0, false,
	  0, 0 },
	{ "one 20 % slow", 3, 100, NOISE_NORMAL, 0.03, 0, 1, 0.2, ONE, 0, false, 0, 0 },
	{ "offsets, neighbours alike", 4, 100, NOISE_NEIGHBOURS, 0.03, 0.01, 0, 0, NOBODY, 0, false,
	  0, 0 },
	{ "two 20 % slow", 4, 100, NOISE_NORMAL, 0.03, 0, 2, 0.2, ONE, 0, false, 0, 0 },
	{ "equal", 8, 5, NOISE_NORMAL, 0.03, 0, 0, 0, NOBODY, 0, false, 0, 0 },
	{ "equal", 8, 1, NOISE_NORMAL, 0.08, 0, 0, 0, NOBODY, 0, false, 0, 0 },
	{ "one 20 % slow", 8, 5, NOISE_NORMAL, 0.03, 0, 1, 0.20, ONE, 0, false, 0, 0 },
	{ "one 100 % slow", 8, 1, NOISE_NORMAL, 0.03, 0, 1, 1.0, ONE, 0, false, 0, 0 },
	/* Several slow ranks, fast ones, other noise. */
	{ "two 10 % slow, offsets", 8, 100, NOISE_NORMAL, 0.01, 0.01, 2, 0.10, ONE, 0, false, 0,
	  0 },
	{ "four 10 % slow", 8, 100, NOISE_NORMAL, 0.03, 0, 4, 0.10, ONE, 0, false, 0, 0 },
	{ "eight 10 % slow, offsets", 64, 100, NOISE_NORMAL, 0.01, 0.01, 8, 0.10, ONE, 0, false, 0,
	  0 },
	{ "one 10 % fast", 8, 30, NOISE_NORMAL, 0.03, 0, 1, -0.10, NOBODY, 0, false, 0, 0 },
	{ "three 10 % fast", 8, 30, NOISE_NORMAL, 0.03, 0, 3, -0.10, NOBODY, 0, false, 0, 0 },
	{ "equal, all vary by 20 %", 8, 30, NOISE_NORMAL, 0.03, 0, 0, 0, NOBODY, 0.2, false, 0, 0 },
	{ "one 5 % slow, all vary by 20 %", 8, 100, NOISE_NORMAL, 0.03, 0, 1, 0.05, ONE, 0.2, false,
	  0, 0 },
	{ "equal, long tail", 8, 30, NOISE_EXPONENTIAL, 0.10, 0, 0, 0, NOBODY, 0, false, 0, 0 },
	{ "one 10 % slow, long tail", 8, 100, NOISE_EXPONENTIAL, 0.10, 0, 1, 0.10, MOST, 0, false,
	  0, 0 },
	{ "equal, outliers", 8, 30, NOISE_OUTLIERS, 0.03, 0, 0, 0, NOBODY, 0, false, 0, 0 },
	{ "one 5 % slow, outliers", 8, 100, NOISE_OUTLIERS, 0.03, 0, 1, 0.05, 0, 0, false, 0, 0 },
	{ "neighbours alike", 64, 12, NOISE_NEIGHBOURS, 0.03, 0, 0, 0, NOBODY, 0, false, 0, 0 },
	{ "neighbours alike", 8, 12, NOISE_NEIGHBOURS, 0.03, 0, 0, 0, NOBODY, 0, false, 0, 0 },
	{ "neighbours alike", 2, 12, NOISE_NEIGHBOURS, 0.03, 0, 0, 0, 0, 0, false, 0, 0 },
	{ "traced: equal", 8, 30, NOISE_NORMAL, 0.03, 0, 0, 0, NOBODY, 0, true, 0, 0 },
	{ "traced: offsets, neighbours", 64, 20, NOISE_NEIGHBOURS, 0.03, 0.01, 0, 0, NOBODY, 0,
	  true, 0, 0 },
	{ "traced: one host 5 % slower", 8, 100, NOISE_NORMAL, 0.03, 0, 1, 0.05, ONE, 0, true, 0,
	  0 },
	{ "traced: one host 5 % slower", 64, 30, NOISE_NORMAL, 0.03, 0, 1, 0.05, ONE, 0, true, 0,
	  0 },
};

/* ---- runs ---- */

struct run {
	const struct kind *kind;
	struct step_series ranks[MAX_RANKS];
	struct rank_log logs[MAX_RANKS];
	struct world *world; /* NULL: no traces */
	double offsets[MAX_RANKS], drift[MAX_RANKS];
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
	case NOISE_NEIGHBOURS:
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

static bool stalls_in(struct run *run, size_t rank, size_t step)
{
	const struct kind *kind = run->kind;

	if (kind->odd_count > 0)
		return is_odd(kind, rank) && step % 16 == 7;
	return kind->stall_chance > 0 && random_ratio(&run->random) <= kind->stall_chance;
}

static void generate_step(struct run *run, size_t rank, size_t step, double shared)
{
	const struct kind *kind = run->kind;
	struct step_record *record = &run->ranks[rank].records[step];
	double odd = is_odd(kind, rank) ? kind->odd_ratio : 0;
	double stall = stalls_in(run, rank, step) ? kind->stall_ratio : 0;
	double compute = shared * (1 + (kind->is_traced ? 0 : odd + stall)) *
			 (1 + run->offsets[rank]) * (1 + noise_of(run, rank));

	record->time_ns = (int64_t)more_than_zero(BASE_NS * compute);
	record->phase_ns[PHASE_COMPUTE] = record->time_ns;
	if (kind->is_traced)
		put_traced(run, rank, step,
			   more_than_zero(BASE_NS * shared *
					  (0.5 * (1 + noise_of(run, rank)) + 1.5 * (odd + stall))));
}

static void generate(struct run *run)
{
	const struct kind *kind = run->kind;

	for (size_t rank = 0; rank < kind->rank_count; rank++) {
		run->offsets[rank] = kind->offset_ratio * random_normal(&run->random);
		run->drift[rank] = kind->noise_ratio * random_normal(&run->random);
	}
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
		run->ranks[rank].records[i].budget =
			tsi_steps_add_budget(&run->ranks[rank], &budget);
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

		tsi_steps_init(&run->ranks[rank]);
		run->ranks[rank].rank = (int64_t)rank;
		for (size_t step = 0; step < kind->step_count; step++) {
			struct step_record *record =
				tsi_steps_add(&run->ranks[rank], (int64_t)step);

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

/* ---- what is said ---- */

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

/* Runs of a kind by what was said of them. */
struct verdicts {
	int right; /* the finding and the gate name the slow ranks and no others */
	int blamed_by_finding, blamed_by_gate; /* a healthy rank is named */
	int tripped, unsure;
};

static void judge(struct run *run, struct place place, struct verdicts *verdicts)
{
	const struct tscope_rule_def *rule = tscope_rule_find("DIST.STRAGGLER");
	const struct kind *kind = run->kind;
	const struct tscope_analysis_options options = { 0 };
	struct analysis_scope scope = { .steps = &run->ranks[0],
					.ranks = run->ranks,
					.rank_count = kind->rank_count,
					.world = run->world,
					.options = &options };
	bool is_slow = kind->odd_ratio > 0 || kind->stall_ratio > 0;
	size_t slow_count = is_slow ? kind->odd_count : 0, found = 0;
	struct tscope_analysis *analysis;
	struct tscope_diagnosis *diagnosis;

	generate(run);
	must(tsi_analyze_level(&analysis, LEVEL_RUN, &scope, NULL, NULL));
	must(tscope_diagnose(&diagnosis, analysis, NULL, NULL));
	struct tscope_gate_result gate = tscope_gate_evaluate("straggler", analysis, diagnosis);
	size_t listed = tscope_analysis_row_count(analysis, place.analyzer, place.table,
						  TSCOPE_WHOLE_TRACE);
	for (size_t row = 0; row < listed; row++) {
		struct tscope_value rank = tscope_analysis_cell(
			analysis, place.analyzer, place.table, TSCOPE_WHOLE_TRACE, row, 0);
		found += slow_count > 0 && is_odd(kind, (size_t)rank.integer);
	}
	bool is_told = tscope_diagnosis_fired(diagnosis, rule),
	     has_tripped = !gate.held && !gate.is_inconclusive;
	verdicts->right += found == slow_count && listed == found && is_told == (found > 0) &&
			   has_tripped == is_told;
	verdicts->blamed_by_finding += is_told && listed != found;
	verdicts->blamed_by_gate += has_tripped && (slow_count == 0 || listed != found);
	verdicts->tripped += has_tripped;
	verdicts->unsure += gate.is_inconclusive;
	tscope_diagnosis_free(diagnosis);
	tscope_analysis_free(analysis);
}

static bool measure(const struct kind *kind, struct place place)
{
	struct verdicts verdicts = { 0 };
	static struct run run;

	run_init(&run, kind);
	for (size_t i = 0; i < RUN_COUNT; i++)
		judge(&run, place, &verdicts);
	run_deinit(&run);
	printf("%5zu %5zu  %-31s %5d %7d %6d %7d %4d %6d", kind->rank_count, kind->step_count,
	       kind->name, verdicts.right, verdicts.blamed_by_finding, verdicts.blamed_by_gate,
	       verdicts.tripped, RUN_COUNT - verdicts.tripped - verdicts.unsure, verdicts.unsure);
	bool is_kept = verdicts.right >= kind->promised;
	if (kind->promised)
		printf("  >= %d%s", kind->promised, is_kept ? "" : " FAILED");
	putchar('\n');
	return is_kept;
}

int main(void)
{
	struct place place = find_slow_ranks();
	bool is_kept = true;

	printf("Of %d runs of each kind:\n"
	       "                                               healthy blamed  gate\n"
	       "ranks steps  kind                            right finding   gate tripped held "
	       "unsure"
	       "  right\n",
	       RUN_COUNT);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		is_kept &= measure(&kinds[i], place);
	return is_kept ? EXIT_SUCCESS : EXIT_FAILURE;
}
