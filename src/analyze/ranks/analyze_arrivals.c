/* SPDX-License-Identifier: MIT */
/*
 * Who comes late to the collectives. When a rank comes is when its part of the collective starts,
 * on the lowest rank's clock (comm/world.h). Who came last is known without clocks, too: who waited
 * least.
 *
 * How certain clocks are is said in two ways. Their largest possible error is proven, but is hardly
 * ever less than the shortest transfer. If members end together, as waiting is measured by, the
 * scatter of their ends is what they are off by: arrivals are judged by that.
 */
#include "analyze/ranks/rank_steps.h"
#include "analyze/shared/quantile.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/sum.h"
#include "comm/world.h"

#define FACTS(X)                                                                                   \
	X(COUNT, "count", COUNT, "synchronising collectives of two or more ranks that match")      \
	X(MEAN_SKEW_NS, "mean_skew_ns", NS, "last less first arrival, mean")                       \
	X(P95_SKEW_NS, "p95_skew_ns", NS, "likewise, 95th percentile")                             \
	X(MAX_SKEW_NS, "max_skew_ns", NS, "likewise, most")                                        \
	X(MAX_CLOCK_ERROR_NS, "max_clock_error_ns", NS,                                            \
	  "most that a clock may be off after correction, whatever the ends of collectives look "  \
	  "like")                                                                                  \
	X(MAX_CLOCK_RESIDUAL_NS, "max_clock_residual_ns", NS,                                      \
	  "standard deviation of a rank's ends of collectives from those of others after "         \
	  "correction, robust, most")                                                              \
	X(ORDER_IS_KNOWN, "order_is_known", FLAG,                                                  \
	  "clocks are certain enough to tell who came last: the ends scatter by less than half "   \
	  "of the mean skew")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define RANKS_COLUMNS(X)                                                                           \
	X(RANKS_RANK, "rank", COUNT, "number of the rank")                                         \
	X(RANKS_COUNT, "count", COUNT, "matched synchronising collectives it was in")              \
	X(RANKS_LAST_COUNT, "last_count", COUNT, "in which it waited least: the last to come")     \
	X(RANKS_LAST_FRACTION, "last_fraction", RATIO, "their share")                              \
	X(RANKS_MEAN_LATENESS_NS, "mean_lateness_ns", NS,                                          \
	  "its arrival after that of the median member, mean")

TSI_FACT_LIST(enum ranks_column, ranks_columns, RANKS_COLUMNS);

#define TABLES(X) X(TABLE_RANKS, "ranks", ranks_columns, "each rank")

TSI_TABLE_LIST(enum table, tables, TABLES);

/* Fewer ends than this say nothing about the scatter. */
enum { MIN_SCATTERED = 3 };

static const char clock_doubt[] = "the ends of collectives scatter too much for that";

/* How a rank comes, over all collectives. */
struct arrivals {
	int64_t count;
	int64_t lateness_ns; /* sum over those whose members' clocks are known */
	int64_t clocked_count;
};

struct survey {
	const struct world *world;
	struct arrivals *ranks;
	int64_t *skews_ns; /* by collective whose members' clocks are known */
	size_t skew_count;
	size_t count;
	int64_t *times_ns, *sorted_ns; /* room for the arrivals at a collective */
};

/* ---- one collective ---- */

/* When its members came; false: a clock is not known. */
static bool find_times(struct survey *survey, const struct match *match)
{
	const struct world *world = survey->world;

	for (uint32_t i = 0; i < match->member_count; i++) {
		const struct match_member *member = &world->members[match->first_member + i];

		if (!world->clocks[member->rank].is_known)
			return false;
		survey->times_ns[i] = tsi_world_time(
			world, member->rank, world->logs[member->rank].ops[member->op].start_ns);
	}
	return true;
}

/* Rounds a mean of either sign, halves up. */
static int64_t round_mean(tsi_wide total_ns, int64_t count)
{
	tsi_wide twice = 2 * total_ns + count, divisor = 2 * (tsi_wide)count;

	return tsi_narrow(twice / divisor - (twice % divisor < 0));
}

static void add_match(struct survey *survey, const struct match *match)
{
	const struct match_member *members = &survey->world->members[match->first_member];
	size_t count = match->member_count;

	survey->count++;
	for (size_t i = 0; i < count; i++)
		survey->ranks[members[i].rank].count++;
	if (!find_times(survey, match))
		return;
	memcpy(survey->sorted_ns, survey->times_ns, count * sizeof(*survey->times_ns));
	qsort(survey->sorted_ns, count, sizeof(*survey->sorted_ns), tsi_compare_numbers);
	int64_t median_ns = round_mean(
		(tsi_wide)survey->sorted_ns[(count - 1) / 2] + survey->sorted_ns[count / 2], 2);
	for (size_t i = 0; i < count; i++) {
		struct arrivals *arrivals = &survey->ranks[members[i].rank];

		arrivals->clocked_count++;
		tsi_sum_signed(&arrivals->lateness_ns,
			       tsi_difference(median_ns, survey->times_ns[i]));
	}
	survey->skews_ns[survey->skew_count++] =
		tsi_difference(survey->sorted_ns[0], survey->sorted_ns[count - 1]);
}

/* ---- all ---- */

/* How far off the clocks are that arrivals were measured by: that of the worst one. */
struct certainty {
	int64_t error_ns, residual_ns; /* of struct rank_clock */
	int64_t likely_ns;             /* the residual, where there are enough ends to scatter */
};

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static struct certainty least_certain(const struct survey *survey)
{
	struct certainty worst = { 0 };

	for (size_t i = 0; i < survey->world->rank_count; i++) {
		const struct rank_clock *clock = &survey->world->clocks[i];
		bool is_enough = clock->match_count >= MIN_SCATTERED;

		if (survey->ranks[i].clocked_count == 0)
			continue;
		worst.error_ns = larger(worst.error_ns, clock->error_ns);
		worst.residual_ns = larger(worst.residual_ns, clock->residual_ns);
		worst.likely_ns =
			larger(worst.likely_ns, is_enough ? clock->residual_ns : clock->error_ns);
	}
	return worst;
}

static void put_skews(struct survey *survey, struct fact_sheet *out)
{
	size_t count = survey->skew_count;
	struct certainty worst = least_certain(survey);
	int64_t sum_ns = 0;

	for (size_t i = 0; i < count; i++)
		tsi_sum(&sum_ns, survey->skews_ns[i]);

	const struct {
		enum fact fact;
		int64_t ns;
	} skews[] = {
		{ MEAN_SKEW_NS, round_mean(sum_ns, (int64_t)count) },
		{ P95_SKEW_NS, tsi_quantile_ns(survey->skews_ns, count, 95) },
		{ MAX_SKEW_NS, survey->skews_ns[count - 1] },
	};
	for (size_t i = 0; i < TSI_COUNT_OF(skews); i++) {
		tsi_fact_int(out, skews[i].fact, skews[i].ns);
		if (worst.likely_ns >= skews[i].ns / 2)
			tsi_fact_doubt(out, skews[i].fact, clock_doubt);
	}
	tsi_fact_int(out, MAX_CLOCK_ERROR_NS, worst.error_ns);
	tsi_fact_int(out, MAX_CLOCK_RESIDUAL_NS, worst.residual_ns);
	tsi_fact_flag(out, ORDER_IS_KNOWN, worst.likely_ns < skews[0].ns / 2);
}

static void list_ranks(const struct survey *survey, const struct analysis_scope *scope,
		       struct fact_sheet *out)
{
	for (size_t i = 0; i < scope->rank_count; i++) {
		const struct arrivals *arrivals = &survey->ranks[i];
		int64_t last_count = (int64_t)survey->world->waits[i].last_count;
		struct tscope_value *cells = tsi_table_row(out, TABLE_RANKS);

		cells[RANKS_RANK] = tsi_rank_number(scope->ranks, i);
		cells[RANKS_COUNT] = tsi_int(arrivals->count);
		if (arrivals->count > 0)
			cells[RANKS_LAST_COUNT] = tsi_int(last_count);
		cells[RANKS_LAST_FRACTION] = tsi_ratio(last_count, arrivals->count);
		if (arrivals->clocked_count > 0)
			cells[RANKS_MEAN_LATENESS_NS] =
				tsi_int(round_mean(arrivals->lateness_ns, arrivals->clocked_count));
	}
}

static void fill_arrivals(const struct analysis_scope *scope, struct fact_sheet *out)
{
	const struct world *world = scope->world;
	struct survey survey = { .world = world };
	struct arena *scratch = tsi_sheet_scratch(out);

	if (!world)
		return;
	survey.ranks = tsi_arena_new(scratch, world->rank_count, sizeof(*survey.ranks));
	survey.skews_ns = tsi_arena_new(scratch, world->match_count, sizeof(*survey.skews_ns));
	survey.times_ns = tsi_arena_new(scratch, world->rank_count, sizeof(*survey.times_ns));
	survey.sorted_ns = tsi_arena_new(scratch, world->rank_count, sizeof(*survey.sorted_ns));
	if (!survey.sorted_ns)
		return;
	for (size_t i = 0; i < world->match_count; i++)
		if (world->matches[i].is_synchronising && world->matches[i].member_count >= 2)
			add_match(&survey, &world->matches[i]);
	if (survey.count == 0)
		return;
	tsi_latch_sort_numbers(scratch, survey.skews_ns, survey.skew_count);
	tsi_fact_int(out, COUNT, (int64_t)survey.count);
	if (survey.skew_count > 0)
		put_skews(&survey, out);
	list_ranks(&survey, scope, out);
}

const struct analyzer tsi_analyzer_arrivals = {
	.def = {
		.id = "arrivals",
		.summary = "who comes late to the collectives, by the ranks' corrected clocks",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "traces of two or more ranks with collectives that match",
		.total = TSCOPE_TOTAL_CAPTURE,
	},
	.levels = LEVEL_RUN,
	.fill = fill_arrivals,
};
