/* SPDX-License-Identifier: MIT */
/*
 * Ranks on one clock without collectives. When a recording begins, Composer's ranks write down
 * their clocks between two barriers, and how long those took, which bounds the error: the offset
 * of a rank is its clock then less that of the lowest rank. A step starts on a rank where its
 * window does (event/train_batch begins), less the offset; its skew is the last of these less
 * the first, over the steps that all ranks with a clock have.
 *
 * Of recordings at different moments nothing can be compared: ranks count only where the first step
 * behind that moment is the lowest rank's. Times that Composer's merger has shifted already are not
 * shifted again.
 */
#include "analyze/facts.h"

#include <stdlib.h>

#include "analyze/ranks/rank_steps.h"
#include "base/sum.h"
#include "comm/world.h"

#define FACTS(X)                                                                                   \
	X(RANK_COUNT, "rank_count", COUNT, "ranks that wrote their clock down")                    \
	X(MAX_OFFSET_NS, "max_offset_ns", NS,                                                      \
	  "most that a clock is off from that of the lowest rank")                                 \
	X(MAX_ERROR_NS, "max_error_ns", NS, "bound of the error that the ranks state, most")       \
	X(STEP_COUNT, "step_count", COUNT, "steps that all of them have")                          \
	X(MEAN_STEP_SKEW_NS, "mean_step_skew_ns", NS,                                              \
	  "last less first start of a step, by corrected clocks, mean")                            \
	X(MAX_STEP_SKEW_NS, "max_step_skew_ns", NS, "likewise, most")                              \
	X(SKEW_IS_KNOWN, "skew_is_known", FLAG,                                                    \
	  "the mean skew is larger than the bound of the error")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define RANKS_COLUMNS(X)                                                                           \
	X(RANKS_RANK, "rank", COUNT, "number of the rank")                                         \
	X(RANKS_OFFSET_NS, "offset_ns", NS,                                                        \
	  "its clock less that of the lowest rank: positive is ahead")                             \
	X(RANKS_ERROR_NS, "error_ns", NS, "bound of the error that it states")                     \
	X(RANKS_COLLECTIVES_OFFSET_NS, "collectives_offset_ns", NS,                                \
	  "the same by matched collectives, as clock_offset_ns of distributed.ranks")              \
	X(RANKS_MEAN_LATENESS_NS, "mean_lateness_ns", NS,                                          \
	  "start of its steps after the first rank that starts, mean")

TSI_FACT_LIST(enum ranks_column, ranks_columns, RANKS_COLUMNS);

#define TABLES(X) X(TABLE_RANKS, "ranks", ranks_columns, "each rank")

TSI_TABLE_LIST(enum table, tables, TABLES);

/* A rank that says its clock, and its steps by number. */
struct clocked_rank {
	const struct step_series *steps;
	size_t index; /* in the scope */
	int64_t offset_ns, error_ns;
	int64_t correction_ns; /* what its times lack to be on the lowest rank's clock */
	struct sort_pair *steps_by_number;
	size_t step_count, at;
	int64_t start_ns;    /* of the present step */
	int64_t lateness_ns; /* sum over the steps */
};

struct survey {
	const struct analysis_scope *scope;
	struct clocked_rank *ranks;
	size_t rank_count;
	int64_t step_count;           /* that all of them have */
	int64_t skew_ns, max_skew_ns; /* sum over these, and most */
};

static void add_rank(struct survey *survey, size_t index, struct arena *arena)
{
	const struct step_series *steps = &survey->scope->ranks[index];
	struct clocked_rank *rank = &survey->ranks[survey->rank_count++];

	rank->steps = steps;
	rank->index = index;
	rank->offset_ns =
		tsi_difference(survey->ranks[0].steps->clock.sync_ns, steps->clock.sync_ns);
	rank->error_ns = steps->clock.error_ns;
	/* The merger has corrected some already: their times are off by the rest. */
	rank->correction_ns = tsi_narrow(-(tsi_wide)rank->offset_ns - steps->clock.shifted_ns);
	if (tsi_steps_by_number(&rank->steps_by_number, &rank->step_count, steps, false, NULL) !=
	    TSCOPE_OK)
		arena->has_failed = true;
}

/* Only ranks that wrote down the same moment as the lowest one that wrote any. */
static void list_clocks(struct survey *survey, struct arena *arena)
{
	const struct analysis_scope *scope = survey->scope;
	const struct step_clock *first = NULL;

	survey->ranks = tsi_arena_new(arena, scope->rank_count, sizeof(*survey->ranks));
	for (size_t i = 0; survey->ranks && i < scope->rank_count; i++) {
		const struct step_clock *clock = &scope->ranks[i].clock;

		if (!clock->is_known || !scope->ranks[i].has_start ||
		    (first && clock->first_step != first->first_step))
			continue;
		first = first ? first : clock;
		add_rank(survey, i, arena);
	}
}

/* ---- steps that all have ---- */

static const struct step_record *record_at(const struct clocked_rank *rank)
{
	return &rank->steps->records[rank->steps_by_number[rank->at].value];
}

/* The next record of the rank with this number or a higher one; NULL: there is none. */
static const struct step_record *go_to(struct clocked_rank *rank, int64_t number)
{
	while (rank->at < rank->step_count && record_at(rank)->number < number)
		rank->at++;
	return rank->at < rank->step_count ? record_at(rank) : NULL;
}

/* Notes when each rank started the step; false: not all of them say it. */
static bool find_starts(struct survey *survey, int64_t number)
{
	for (size_t i = 0; i < survey->rank_count; i++) {
		struct clocked_rank *rank = &survey->ranks[i];
		const struct step_record *record = go_to(rank, number);

		if (!record || record->number != number || record->budget == NO_ROW)
			return false;
		rank->start_ns =
			tsi_narrow((tsi_wide)rank->steps->budgets[record->budget].start_ns +
				   rank->correction_ns);
	}
	return true;
}

static void take_step(struct survey *survey)
{
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;

	for (size_t i = 0; i < survey->rank_count; i++) {
		int64_t start_ns = survey->ranks[i].start_ns;

		first_ns = start_ns < first_ns ? start_ns : first_ns;
		last_ns = start_ns > last_ns ? start_ns : last_ns;
	}
	int64_t skew_ns = tsi_difference(first_ns, last_ns);
	survey->step_count++;
	tsi_sum(&survey->skew_ns, skew_ns);
	survey->max_skew_ns = skew_ns > survey->max_skew_ns ? skew_ns : survey->max_skew_ns;
	for (size_t i = 0; i < survey->rank_count; i++)
		tsi_sum(&survey->ranks[i].lateness_ns,
			tsi_difference(first_ns, survey->ranks[i].start_ns));
}

static void take_steps(struct survey *survey)
{
	struct clocked_rank *lowest = &survey->ranks[0];

	while (lowest->at < lowest->step_count) {
		int64_t number = record_at(lowest)->number;

		if (find_starts(survey, number))
			take_step(survey);
		if (number == INT64_MAX || !go_to(lowest, number + 1))
			return;
	}
}

/* ---- what came of it ---- */

static void put_facts(const struct survey *survey, struct fact_sheet *out)
{
	int64_t max_offset_ns = 0, max_error_ns = 0;

	for (size_t i = 0; i < survey->rank_count; i++) {
		int64_t offset_ns = survey->ranks[i].offset_ns;
		int64_t size_ns = offset_ns < 0 ? tsi_difference(offset_ns, 0) : offset_ns;

		max_offset_ns = size_ns > max_offset_ns ? size_ns : max_offset_ns;
		if (survey->ranks[i].error_ns > max_error_ns)
			max_error_ns = survey->ranks[i].error_ns;
	}
	tsi_fact_int(out, RANK_COUNT, (int64_t)survey->rank_count);
	tsi_fact_int(out, MAX_OFFSET_NS, max_offset_ns);
	tsi_fact_int(out, MAX_ERROR_NS, max_error_ns);
	tsi_fact_int(out, STEP_COUNT, survey->step_count);
	if (survey->step_count == 0)
		return;
	struct tscope_value mean = tsi_mean(survey->skew_ns, survey->step_count);
	tsi_fact_int(out, MEAN_STEP_SKEW_NS, mean.integer);
	tsi_fact_int(out, MAX_STEP_SKEW_NS, survey->max_skew_ns);
	tsi_fact_flag(out, SKEW_IS_KNOWN, mean.integer > max_error_ns);
}

/* The offset by matched collectives, where they show it (comm/world.h). */
static const struct rank_clock *world_clock(const struct survey *survey, size_t index)
{
	const struct world *world = survey->scope->world;

	return world && world->clocks[index].is_known ? &world->clocks[index] : NULL;
}

static void list_ranks(const struct survey *survey, struct fact_sheet *out)
{
	for (size_t i = 0; i < survey->rank_count; i++) {
		const struct clocked_rank *rank = &survey->ranks[i];
		const struct rank_clock *clock = world_clock(survey, rank->index);

		struct tscope_value *cells = tsi_table_row(out, TABLE_RANKS);
		cells[RANKS_RANK] = tsi_rank_number(survey->scope->ranks, rank->index);
		cells[RANKS_OFFSET_NS] = tsi_int(rank->offset_ns);
		cells[RANKS_ERROR_NS] = tsi_int(rank->error_ns);
		if (clock)
			cells[RANKS_COLLECTIVES_OFFSET_NS] = tsi_int(clock->offset_ns);
		cells[RANKS_MEAN_LATENESS_NS] = tsi_mean(rank->lateness_ns, survey->step_count);
	}
}

static void fill_clock_sync(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct survey survey = { .scope = scope };
	struct arena *scratch = tsi_sheet_scratch(out);

	list_clocks(&survey, scratch);
	if (survey.rank_count >= 2 && !scratch->has_failed) {
		take_steps(&survey);
		put_facts(&survey, out);
		list_ranks(&survey, out);
	}
	for (size_t i = 0; i < survey.rank_count; i++)
		free(survey.ranks[i].steps_by_number);
}

const struct analyzer tsi_analyzer_clock_sync = {
	.def = {
		.id = "clock_sync",
		.summary = "ranks on one clock, by the moment that Composer's ranks wrote down "
			   "together",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "Composer traces of two or more ranks",
	},
	.levels = LEVEL_RUN,
	.fill = fill_clock_sync,
};
