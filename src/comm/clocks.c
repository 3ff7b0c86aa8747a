/* SPDX-License-Identifier: MIT */
/*
 * The clocks of all ranks against the lowest rank's.
 *
 * In each match the lowest member is the base of the others, so that there are as many ties as
 * there are ranks in groups, and not pairs of them. Ties of groups that share ranks (of tensor,
 * data and pipeline parallelism) connect all ranks: each rank's clock is found on the way from the
 * lowest rank on which the errors sum to least.
 */
#include "comm/clock_tie.h"
#include "comm/world.h"

#include <math.h>
#include <stdlib.h>

#include "base/pair_set.h"
#include "base/sum.h"

/* A member of a match and the match's lowest one: indices in world.members. */
struct sighting {
	uint32_t base, member;
};

/* Two ranks that are together in matches. */
struct tie {
	uint32_t base, rank;
	size_t first_sighting, sighting_count;
	struct clock_tie clock;
};

/* When a rank's matched collectives were, on its own clock. */
struct reach {
	int64_t first_ns, last_ns;
};

struct clock_search {
	struct world *world;
	struct arena arena;
	struct pair_set pairs; /* of base and rank */
	struct tie *ties;      /* by pair */
	struct sighting *sightings;
	struct clock_sample *samples; /* room for those of a tie */
	struct reach *reaches;        /* by rank */
	struct clock_tie *clocks;     /* by rank: against the lowest; infinite error: not known */
};

static const struct rank_op *op_of(const struct world *world, const struct match_member *member)
{
	return &world->logs[member->rank].ops[member->op];
}

/* ---- ties ---- */

static bool is_sighting(const struct match *match)
{
	return match->is_synchronising && match->member_count >= 2;
}

static void extend_reach(struct clock_search *search, const struct match_member *member)
{
	const struct rank_op *op = op_of(search->world, member);
	struct reach *reach = &search->reaches[member->rank];

	if (op->start_ns < reach->first_ns)
		reach->first_ns = op->start_ns;
	if (tsi_op_end(op) > reach->last_ns)
		reach->last_ns = tsi_op_end(op);
}

/* Numbers the pairs, and says of each member of a match which it makes: NO_ROW, of a base. */
static void number_pairs(struct clock_search *search, uint32_t *pair_of_member)
{
	const struct world *world = search->world;

	for (size_t i = 0; i < world->match_count; i++) {
		const struct match *match = &world->matches[i];
		const struct match_member *members = &world->members[match->first_member];

		for (uint32_t k = 0; is_sighting(match) && k < match->member_count; k++) {
			extend_reach(search, &members[k]);
			if (k > 0)
				pair_of_member[match->first_member + k] = tsi_pair_set_add(
					&search->pairs, members[0].rank, members[k].rank);
		}
	}
}

/* Makes the ties, with room for what is known of them. */
static void make_ties(struct clock_search *search, const uint32_t *pair_of_member)
{
	size_t most = 0, sum = 0;

	search->ties = tsi_arena_new(&search->arena, search->pairs.count, sizeof(*search->ties));
	if (!search->ties)
		return;
	for (size_t i = 0; i < search->world->member_count; i++)
		if (pair_of_member[i] != NO_ROW)
			search->ties[pair_of_member[i]].sighting_count++;
	for (size_t i = 0; i < search->pairs.count; i++) {
		struct tie *tie = &search->ties[i];

		tie->base = search->pairs.pairs[i].first;
		tie->rank = search->pairs.pairs[i].second;
		tie->first_sighting = sum;
		sum += tie->sighting_count;
		most = tie->sighting_count > most ? tie->sighting_count : most;
		tie->sighting_count = 0; /* counts up again as they come in */
	}
	search->sightings = tsi_arena_new(&search->arena, sum, sizeof(*search->sightings));
	search->samples = tsi_arena_new(&search->arena, most, sizeof(*search->samples));
}

static void sort_sightings(struct clock_search *search, const uint32_t *pair_of_member)
{
	const struct world *world = search->world;

	for (size_t i = 0; i < world->match_count; i++) {
		uint32_t first = world->matches[i].first_member;

		for (uint32_t k = 0; k < world->matches[i].member_count; k++) {
			uint32_t pair = pair_of_member[first + k];
			if (pair == NO_ROW)
				continue;
			struct tie *tie = &search->ties[pair];
			search->sightings[tie->first_sighting + tie->sighting_count++] =
				(struct sighting){ first, first + k };
		}
	}
}

static void fit_tie(struct clock_search *search, struct tie *tie)
{
	const struct world *world = search->world;

	for (size_t i = 0; i < tie->sighting_count; i++) {
		const struct sighting *sighting = &search->sightings[tie->first_sighting + i];
		const struct rank_op *base = op_of(world, &world->members[sighting->base]);
		const struct rank_op *op = op_of(world, &world->members[sighting->member]);

		search->samples[i] = (struct clock_sample){ base->start_ns, tsi_op_end(base),
							    op->start_ns, tsi_op_end(op) };
	}
	tsi_clock_tie_fit(&tie->clock, search->samples, tie->sighting_count, &search->arena);
}

static void find_ties(struct clock_search *search)
{
	struct arena scratch = { 0 };
	uint32_t *pair_of_member = tsi_latch_rows(&scratch, search->world->member_count);

	if (pair_of_member) {
		number_pairs(search, pair_of_member);
		if (!search->arena.has_failed)
			make_ties(search, pair_of_member);
		if (!search->arena.has_failed)
			sort_sightings(search, pair_of_member);
	}
	tsi_latch_deinit(&search->arena, &scratch);
	for (size_t i = 0; !search->arena.has_failed && i < search->pairs.count; i++)
		fit_tie(search, &search->ties[i]);
}

/* ---- from the lowest rank to all others ---- */

/* How far outside of the first span the second one lies, at most. */
static double outside_ns(const struct clock_tie *clock, int64_t first_ns, int64_t last_ns)
{
	double before_ns = (double)((tsi_wide)clock->first_ns - first_ns);
	double after_ns = (double)((tsi_wide)last_ns - clock->last_ns);

	return fmax(0, fmax(before_ns, after_ns));
}

/*
 * The clock of a rank that is tied to a base whose own clock is known, for the whole reach of the
 * rank. Its reference is the middle of the reach.
 */
static struct clock_tie clock_through(const struct clock_tie *base, const struct clock_tie *tie,
				      struct reach reach)
{
	int64_t reference_ns = tsi_narrow(((tsi_wide)reach.first_ns + reach.last_ns) / 2);
	int64_t at_base_ns = tsi_clock_line_time(&tie->line, reference_ns);
	double tie_slope = 1 - tie->line.drift, base_slope = 1 - base->line.drift;
	double base_error =
		base->error_ns +
		base->drift_error * outside_ns(base,
					       tsi_clock_line_time(&tie->line, reach.first_ns),
					       tsi_clock_line_time(&tie->line, reach.last_ns));
	double tie_error =
		tie->error_ns + tie->drift_error * outside_ns(tie, reach.first_ns, reach.last_ns);
	double base_slope_limit = fabs(base_slope) + base->drift_error;

	return (struct clock_tie){
		.line = { .offset_ns = tsi_difference(tsi_clock_line_time(&base->line, at_base_ns),
						      reference_ns),
			  .reference_ns = reference_ns,
			  .drift = 1 - tie_slope * base_slope },
		.first_ns = reach.first_ns,
		.last_ns = reach.last_ns,
		.error_ns = base_error + tie_error * base_slope_limit + 1,
		.drift_error =
			tie->drift_error * base_slope_limit + base->drift_error * fabs(tie_slope),
		.residual_ns = tie->residual_ns,
		.count = tie->count,
	};
}

/* Takes a way to a rank if it is the first one or has a smaller error. */
static bool try_way(struct clock_search *search, uint32_t from, uint32_t to,
		    const struct clock_tie *tie)
{
	struct clock_tie clock;

	if (!isfinite(search->clocks[from].error_ns))
		return false;
	clock = clock_through(&search->clocks[from], tie, search->reaches[to]);
	if (!(clock.error_ns < search->clocks[to].error_ns))
		return false;
	search->clocks[to] = clock;
	return true;
}

/* Each round follows ways that are longer by a tie; in most worlds few rounds find all. */
static void follow_ties(struct clock_search *search)
{
	bool is_changed = true;

	for (size_t round = 0; is_changed && round < search->world->rank_count; round++) {
		is_changed = false;
		for (size_t i = 0; i < search->pairs.count; i++) {
			const struct tie *tie = &search->ties[i];
			struct clock_tie reversed = tsi_clock_tie_reversed(&tie->clock);

			is_changed |= try_way(search, tie->base, tie->rank, &tie->clock);
			is_changed |= try_way(search, tie->rank, tie->base, &reversed);
		}
	}
}

/* The lowest rank that anything ties to another: all clocks are compared with its. */
static void find_root(struct clock_search *search)
{
	for (size_t i = 0; i < search->world->rank_count; i++) {
		struct reach reach = search->reaches[i];

		if (reach.first_ns > reach.last_ns)
			continue;
		search->clocks[i] = (struct clock_tie){
			.line.reference_ns =
				tsi_narrow(((tsi_wide)reach.first_ns + reach.last_ns) / 2),
			.first_ns = reach.first_ns,
			.last_ns = reach.last_ns,
		};
		return;
	}
}

static int64_t whole_ns(double ns)
{
	return ns >= 0x1p63 ? INT64_MAX : (int64_t)ceil(ns);
}

static void keep_clock(struct rank_clock *clock, const struct clock_tie *found)
{
	if (!isfinite(found->error_ns))
		return;
	*clock = (struct rank_clock){
		.is_known = true,
		.offset_ns = found->line.offset_ns,
		.drift = found->line.drift,
		.reference_ns = found->line.reference_ns,
		.error_ns = whole_ns(found->error_ns),
		.residual_ns = whole_ns(found->residual_ns),
		.match_count = found->count,
	};
}

static void find_clocks(struct clock_search *search)
{
	struct world *world = search->world;

	for (size_t i = 0; i < world->rank_count; i++) {
		search->reaches[i] = (struct reach){ INT64_MAX, INT64_MIN };
		search->clocks[i].error_ns = INFINITY;
	}
	find_ties(search);
	if (search->arena.has_failed)
		return;
	find_root(search);
	follow_ties(search);
	for (size_t i = 0; i < world->rank_count; i++)
		keep_clock(&world->clocks[i], &search->clocks[i]);
}

void tsi_world_find_clocks(struct world *world)
{
	struct clock_search search = { .world = world, .pairs.arena = &search.arena };

	world->clocks = tsi_arena_new(&world->arena, world->rank_count, sizeof(*world->clocks));
	search.reaches = tsi_arena_new(&search.arena, world->rank_count, sizeof(*search.reaches));
	search.clocks = tsi_arena_new(&search.arena, world->rank_count, sizeof(*search.clocks));
	if (world->clocks && search.clocks)
		find_clocks(&search);
	tsi_latch_deinit(&world->arena, &search.arena);
}

int64_t tsi_world_time(const struct world *world, uint32_t rank, int64_t time_ns)
{
	const struct rank_clock *clock = &world->clocks[rank];
	const struct clock_line line = {
		.offset_ns = clock->offset_ns,
		.reference_ns = clock->reference_ns,
		.drift = clock->drift,
	};

	return tsi_clock_line_time(&line, time_ns);
}
