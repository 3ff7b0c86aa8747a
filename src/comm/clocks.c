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

#include "base/pair_set.h"
#include "base/sum.h"

/* Two ranks that are together in matches. */
struct tie {
	uint32_t base, rank;
	struct clock_tie clock;
};

/* When a rank's matched collectives were, on its own clock. */
struct reach {
	int64_t first_ns, last_ns;
};

struct clock_search {
	struct world *world;
	struct arena arena;
	struct pair_set pairs;    /* of base and rank */
	struct tie *ties;         /* by pair */
	struct reach *reaches;    /* by rank */
	struct clock_tie *clocks; /* by rank: against the lowest; infinite error: not known */
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

/*
 * Lists each member of a match with the match's lowest one: by pair of ranks, the indices of both
 * in world.members. Returns how many there are.
 */
static size_t list_sightings(struct clock_search *search, struct sort_pair *sightings)
{
	const struct world *world = search->world;
	size_t count = 0;

	for (size_t i = 0; i < world->match_count; i++) {
		size_t first = world->matches[i].first_member;
		const struct match_member *members = &world->members[first];

		for (uint32_t k = 0;
		     is_sighting(&world->matches[i]) && k < world->matches[i].member_count; k++) {
			extend_reach(search, &members[k]);
			if (k > 0)
				sightings[count++] =
					(struct sort_pair){ tsi_pair_set_add(&search->pairs,
									     members[0].rank,
									     members[k].rank),
							    (uint64_t)first << 32 | (first + k) };
		}
	}
	tsi_latch_sort(&search->arena, sightings, count);
	return count;
}

/* Fits the tie of a pair of ranks; samples has room for one per sighting. */
static void fit_tie(struct clock_search *search, const struct sort_pair *sightings, size_t count,
		    struct clock_sample *samples)
{
	const struct world *world = search->world;
	const struct pair *pair = &search->pairs.pairs[sightings[0].key];
	struct tie *tie = &search->ties[sightings[0].key];

	*tie = (struct tie){ .base = pair->first, .rank = pair->second };
	for (size_t i = 0; i < count; i++) {
		const struct rank_op *base =
			op_of(world, &world->members[sightings[i].value >> 32]);
		const struct rank_op *op =
			op_of(world, &world->members[(uint32_t)sightings[i].value]);

		samples[i] = (struct clock_sample){ base->start_ns, tsi_op_end(base), op->start_ns,
						    tsi_op_end(op) };
	}
	tsi_clock_tie_fit(&tie->clock, samples, count, &search->arena);
}

static void find_ties(struct clock_search *search)
{
	const struct world *world = search->world;
	struct arena scratch = { 0 };
	struct sort_pair *sightings =
		tsi_arena_new(&scratch, world->member_count, sizeof(*sightings));
	struct clock_sample *samples =
		tsi_arena_new(&scratch, world->match_count, sizeof(*samples));
	size_t count = samples ? list_sightings(search, sightings) : 0;

	search->ties = tsi_arena_new(&search->arena, search->pairs.count, sizeof(*search->ties));
	for (size_t at = 0, end; search->ties && at < count; at = end) {
		for (end = at + 1; end < count && sightings[end].key == sightings[at].key;)
			end++;
		fit_tie(search, &sightings[at], end - at, samples);
	}
	tsi_latch_deinit(&search->arena, &scratch);
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
