/* SPDX-License-Identifier: MIT */
/*
 * Puts the ranks of each role together, cuts their steps into stretches that can be compared, and
 * takes the middle and the mean of each.
 */
#include "analyze/ranks/rank_peers.h"

#include <stdlib.h>

#include "base/sum.h"

static size_t world_rank_count(const struct rank_peers *peers)
{
	return peers->graph->world->rank_count;
}

static const struct replay_step *step_of(const struct rank_peers *peers, size_t step, size_t rank)
{
	return &peers->graph->steps[step * world_rank_count(peers) + rank];
}

static struct peer_step *peer_step_of(const struct rank_peers *peers, size_t step, size_t rank)
{
	return &peers->steps[step * world_rank_count(peers) + rank];
}

/* One more word into a hash (splitmix64's last step). */
static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) + UINT64_C(0x9e3779b97f4a7c15);
	hash = (hash ^ (hash >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	hash = (hash ^ (hash >> 27)) * UINT64_C(0x94d049bb133111eb);
	return hash ^ (hash >> 31);
}

/* ---- stretches ---- */

/*
 * Hash of kind, direction and group size: equal on all members of a collective, but different on
 * the two ends of a send.
 */
static uint64_t role_of(const struct rank_peers *peers, uint32_t rank, uint32_t op_index)
{
	const struct world *world = peers->graph->world;
	const struct rank_op *op = &world->logs[rank].ops[op_index];
	const struct match *match = &world->matches[world->match_of_op[rank][op_index]];
	uint64_t size = (uint64_t)world->groups[match->group].size;

	return mix(mix(op->kind, op->is_send), size);
}

static bool is_cut_here(const struct rank_peers *peers, uint32_t rank,
			const struct rank_point *point)
{
	size_t number = peers->graph->ranks[rank].first_op + point->index;

	return point->kind == RANK_POINT_READY && peers->graph->ops[number].match != NO_ROW;
}

static void add_stretch(struct rank_peers *peers, const struct peer_stretch *stretch)
{
	struct peer_stretch *added =
		tsi_arena_push(peers->arena, &peers->stretches, &peers->stretch_count,
			       &peers->stretch_capacity, sizeof(*added));

	if (added)
		*added = *stretch;
}

/* A stretch ends with the READY of a collective; the last one with the step. */
static void cut_step(struct rank_peers *peers, size_t step_index, uint32_t rank)
{
	const struct replay_step *at = step_of(peers, step_index, rank);
	const struct rank_point *points = peers->graph->world->logs[rank].points;
	const int64_t *local_ns = &peers->graph->local_ns[peers->graph->ranks[rank].first_point];
	struct peer_step *step = peer_step_of(peers, step_index, rank);
	struct peer_stretch stretch = { .first_point = at->first_point + 1 };

	*step = (struct peer_step){ .first_stretch = peers->stretch_count };
	for (uint32_t i = at->first_point + 1; i <= at->end_point; i++) {
		bool is_cut = is_cut_here(peers, rank, &points[i]);

		tsi_sum(&stretch.local_ns, local_ns[i]);
		tsi_sum(&step->local_ns, local_ns[i]);
		if (is_cut)
			step->shape = mix(step->shape, role_of(peers, rank, points[i].index));
		if (!is_cut && i < at->end_point)
			continue;
		stretch.end_point = i + 1;
		add_stretch(peers, &stretch);
		stretch = (struct peer_stretch){ .first_point = i + 1 };
	}
	step->stretch_count = peers->stretch_count - step->first_stretch;
}

static void join_stretches(struct rank_peers *peers, struct peer_step *step)
{
	struct peer_stretch *first = &peers->stretches[step->first_stretch];

	first->end_point = first[step->stretch_count - 1].end_point;
	first->local_ns = step->local_ns;
	step->stretch_count = 1;
}

/* ---- roles ---- */

static void find_roles(struct rank_peers *peers, const struct rank_roles *roles)
{
	size_t rank_count = world_rank_count(peers), count = 0;
	struct sort_pair *pairs = tsi_arena_new(peers->arena, rank_count, sizeof(*pairs));

	for (uint32_t rank = 0; pairs && rank < rank_count; rank++)
		if (step_of(peers, 0, rank)->first_point != NO_ROW)
			pairs[count++] = (struct sort_pair){ roles->roles[rank], rank };
	tsi_latch_sort(peers->arena, pairs, count);
	for (uint32_t i = 0, first = 0; i < count; i++) {
		if (pairs[i].key != pairs[first].key)
			first = i;
		peers->peers[i] = (uint32_t)pairs[i].value;
		peers->first_of[pairs[i].value] = first;
		peers->count_of[first]++;
		peers->role_count += first == i;
	}
	peers->rank_count = (uint32_t)count;
}

/* ---- levels ---- */

static int64_t mean_of(tsi_wide sum_ns, uint32_t count)
{
	return tsi_narrow((sum_ns + count / 2) / count);
}

/* Level of the stretch with this index in the step of each peer; numbers has room for them. */
static void find_level(struct rank_peers *peers, size_t step, uint32_t first_peer, size_t index,
		       int64_t *numbers)
{
	uint32_t count = peers->count_of[first_peer], middle = count / 2;
	size_t at = peer_step_of(peers, step, peers->peers[first_peer])->first_stretch + index;
	tsi_wide sum_ns = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct peer_step *peer =
			peer_step_of(peers, step, peers->peers[first_peer + i]);

		numbers[i] = peers->stretches[peer->first_stretch + index].local_ns;
		sum_ns += numbers[i];
	}
	tsi_latch_sort_numbers(peers->arena, numbers, count);
	peers->levels[at] = (struct peer_level){
		.low_ns = numbers[middle > 0 ? middle - 1 : 0],
		.middle_ns = numbers[middle],
		.high_ns = numbers[middle + 1 < count ? middle + 1 : middle],
		.mean_ns = mean_of(sum_ns, count),
	};
}

static bool is_comparable(const struct rank_peers *peers, size_t step, uint32_t first_peer)
{
	const struct peer_step *first = peer_step_of(peers, step, peers->peers[first_peer]);

	for (uint32_t i = 1; i < peers->count_of[first_peer]; i++) {
		const struct peer_step *other =
			peer_step_of(peers, step, peers->peers[first_peer + i]);

		if (other->shape != first->shape || other->stretch_count != first->stretch_count)
			return false;
	}
	return true;
}

static void level_role(struct rank_peers *peers, size_t step, uint32_t first_peer, int64_t *numbers)
{
	const struct peer_step *first = peer_step_of(peers, step, peers->peers[first_peer]);

	if (!is_comparable(peers, step, first_peer))
		for (uint32_t i = 0; i < peers->count_of[first_peer]; i++)
			join_stretches(peers,
				       peer_step_of(peers, step, peers->peers[first_peer + i]));
	for (size_t i = 0; i < first->stretch_count; i++)
		find_level(peers, step, first_peer, i, numbers);
}

static void find_levels(struct rank_peers *peers)
{
	int64_t *numbers = tsi_arena_new(peers->arena, peers->rank_count, sizeof(*numbers));

	peers->levels = tsi_arena_new(peers->arena, peers->stretch_count, sizeof(*peers->levels));
	for (size_t step = 0; peers->levels && step < peers->graph->step_count; step++) {
		tsi_wide sum_ns = 0;

		for (uint32_t i = 0; i < peers->rank_count; i++)
			sum_ns += peer_step_of(peers, step, peers->peers[i])->local_ns;
		peers->mean_ns[step] = mean_of(sum_ns, peers->rank_count);
		for (uint32_t i = 0; i < peers->rank_count; i += peers->count_of[i])
			level_role(peers, step, i, numbers);
	}
}

/* ---- all ---- */

static void cut_steps(struct rank_peers *peers)
{
	for (size_t step = 0; step < peers->graph->step_count; step++)
		for (uint32_t rank = 0; rank < world_rank_count(peers); rank++)
			if (step_of(peers, step, rank)->first_point != NO_ROW)
				cut_step(peers, step, rank);
}

bool tsi_rank_peers_find(struct rank_peers *peers, const struct replay_graph *graph,
			 const struct rank_roles *roles, struct arena *arena)
{
	size_t ranks = graph->world->rank_count, steps = graph->step_count;

	*peers = (struct rank_peers){ .graph = graph, .arena = arena };
	if (steps == 0)
		return true;
	peers->peers = tsi_arena_new(arena, ranks, sizeof(*peers->peers));
	peers->first_of = tsi_latch_rows(arena, ranks);
	peers->count_of = tsi_arena_new(arena, ranks, sizeof(*peers->count_of));
	peers->steps = tsi_arena_new(arena, ranks * steps, sizeof(*peers->steps));
	peers->mean_ns = tsi_arena_new(arena, steps, sizeof(*peers->mean_ns));
	if (!peers->mean_ns)
		return false;
	find_roles(peers, roles);
	cut_steps(peers);
	if (!arena->has_failed)
		find_levels(peers);
	return !arena->has_failed;
}

bool tsi_has_peers(const struct rank_peers *peers, uint32_t rank)
{
	return peers->rank_count > 0 && peers->first_of[rank] != NO_ROW &&
	       peers->count_of[peers->first_of[rank]] > 1;
}

static const struct peer_level *levels_of(const struct rank_peers *peers, size_t step,
					  uint32_t rank)
{
	uint32_t first = peers->peers[peers->first_of[rank]];

	return &peers->levels[peer_step_of(peers, step, first)->first_stretch];
}

/* The median of all but one number: which those in the middle are depends on where it stood. */
static int64_t median_of_others(const struct peer_level *level, uint32_t count, int64_t own_ns)
{
	int64_t a_ns = level->middle_ns, b_ns = level->middle_ns;

	if (count % 2 == 0)
		return own_ns < level->middle_ns ? level->middle_ns : level->low_ns;
	if (own_ns <= level->middle_ns)
		b_ns = level->high_ns;
	if (own_ns >= level->middle_ns)
		a_ns = level->low_ns;
	return tsi_narrow(((tsi_wide)a_ns + b_ns) / 2);
}

int64_t tsi_rank_excess_ns(const struct rank_peers *peers, uint32_t rank)
{
	uint32_t count = peers->count_of[peers->first_of[rank]];
	tsi_wide excess_ns = 0;

	for (size_t step = 0; step < peers->graph->step_count; step++) {
		const struct peer_step *own = peer_step_of(peers, step, rank);
		const struct peer_level *levels = levels_of(peers, step, rank);

		for (size_t i = 0; i < own->stretch_count; i++) {
			int64_t own_ns = peers->stretches[own->first_stretch + i].local_ns;

			excess_ns += (tsi_wide)own_ns - median_of_others(&levels[i], count, own_ns);
		}
	}
	return tsi_narrow(excess_ns);
}

/* ---- where a rank is late ---- */

static int64_t stretch_excess(const struct rank_peers *peers, size_t step, uint32_t rank, size_t i)
{
	const struct peer_step *own = peer_step_of(peers, step, rank);
	uint32_t count = peers->count_of[peers->first_of[rank]];
	int64_t own_ns = peers->stretches[own->first_stretch + i].local_ns;

	return own_ns - median_of_others(&levels_of(peers, step, rank)[i], count, own_ns);
}

static bool is_cut_alike(const struct peer_step *a, const struct peer_step *b)
{
	return a->shape == b->shape && a->stretch_count == b->stretch_count;
}

/* The collective that a stretch of the first step ends at. */
static void find_op(const struct rank_peers *peers, uint32_t rank, size_t stretch,
		    struct late_place *place)
{
	const struct rank_log *log = &peers->graph->world->logs[rank];
	const struct peer_step *step = peer_step_of(peers, 0, rank);
	uint32_t last = peers->stretches[step->first_stretch + stretch].end_point - 1;

	if (!is_cut_here(peers, rank, &log->points[last]))
		return;
	place->op = &log->ops[log->points[last].index];
	for (uint32_t i = peers->stretches[step->first_stretch].first_point; i <= last; i++)
		place->number += is_cut_here(peers, rank, &log->points[i]) &&
				 log->ops[log->points[i].index].kind == place->op->kind;
}

bool tsi_rank_late_place(const struct rank_peers *peers, uint32_t rank, struct late_place *place,
			 struct arena *arena)
{
	const struct peer_step *first = peer_step_of(peers, 0, rank);
	int64_t *sums_ns = tsi_arena_new(arena, first->stretch_count, sizeof(*sums_ns));
	size_t worst = 0, step_count = 0;

	if (!sums_ns || first->stretch_count < 2)
		return false;
	for (size_t step = 0; step < peers->graph->step_count; step++) {
		if (!is_cut_alike(first, peer_step_of(peers, step, rank)))
			continue;
		for (size_t i = 0; i < first->stretch_count; i++)
			tsi_sum(&sums_ns[i], stretch_excess(peers, step, rank, i));
		step_count++;
	}
	for (size_t i = 1; i < first->stretch_count; i++)
		if (sums_ns[i] > sums_ns[worst])
			worst = i;
	*place = (struct late_place){ .excess_ns = sums_ns[worst] / (int64_t)step_count };
	find_op(peers, rank, worst, place);
	return place->excess_ns > 0;
}

/* ---- other local times ---- */

/* Makes the points of a stretch take so much together, each in proportion to what it took. */
static void stretch_to(int64_t *local_ns, const struct peer_stretch *stretch, int64_t sum_ns)
{
	tsi_wide own_ns = 0, given_ns = 0;

	if (stretch->local_ns == 0)
		local_ns[stretch->first_point] = sum_ns;
	for (uint32_t i = stretch->first_point; stretch->local_ns > 0 && i < stretch->end_point;
	     i++) {
		own_ns += local_ns[i];
		if (own_ns > stretch->local_ns) /* a sum that went beyond all numbers */
			own_ns = stretch->local_ns;
		tsi_wide until_ns = own_ns * sum_ns / stretch->local_ns;
		local_ns[i] = tsi_narrow(until_ns - given_ns);
		given_ns = until_ns;
	}
}

static int64_t *copy_local_ns(const struct rank_peers *peers, uint32_t rank, struct arena *arena)
{
	const struct replay_graph *graph = peers->graph;
	size_t count = graph->world->logs[rank].point_count;
	int64_t *local_ns = tsi_arena_new(arena, count, sizeof(*local_ns));

	for (size_t i = 0; local_ns && i < count; i++)
		local_ns[i] = graph->local_ns[graph->ranks[rank].first_point + i];
	return local_ns;
}

/* A step begins at a point that names it in the log. */
static bool is_chosen(const struct rank_peers *peers, size_t step, uint32_t rank,
		      const struct step_choice *choice)
{
	const struct rank_log *log = &peers->graph->world->logs[rank];
	uint32_t first = step_of(peers, step, rank)->first_point;

	return !choice || bsearch(&log->steps[log->points[first].index].number, choice->numbers,
				  choice->count, sizeof(int64_t), tsi_compare_numbers);
}

int64_t *tsi_like_peers(const struct rank_peers *peers, uint32_t rank,
			const struct step_choice *choice, struct arena *arena)
{
	uint32_t count = peers->count_of[peers->first_of[rank]];
	int64_t *local_ns = copy_local_ns(peers, rank, arena);

	for (size_t step = 0; local_ns && step < peers->graph->step_count; step++) {
		const struct peer_step *own = peer_step_of(peers, step, rank);
		const struct peer_level *levels = levels_of(peers, step, rank);

		if (!is_chosen(peers, step, rank, choice))
			continue;
		for (size_t i = 0; i < own->stretch_count; i++) {
			const struct peer_stretch *stretch =
				&peers->stretches[own->first_stretch + i];

			stretch_to(local_ns, stretch,
				   median_of_others(&levels[i], count, stretch->local_ns));
		}
	}
	return local_ns;
}

int64_t *tsi_balanced(const struct rank_peers *peers, uint32_t rank, struct arena *arena)
{
	int64_t *local_ns = copy_local_ns(peers, rank, arena);

	for (size_t step = 0; local_ns && step < peers->graph->step_count; step++) {
		struct peer_step *own = peer_step_of(peers, step, rank);
		const struct peer_stretch *stretches = &peers->stretches[own->first_stretch];

		if (peers->role_count > 1) {
			/* Ranks that do different things are compared by whole steps only. */
			struct peer_stretch whole = stretches[0];

			whole.end_point = stretches[own->stretch_count - 1].end_point;
			whole.local_ns = own->local_ns;
			stretch_to(local_ns, &whole, peers->mean_ns[step]);
			continue;
		}
		for (size_t i = 0; i < own->stretch_count; i++)
			stretch_to(local_ns, &stretches[i],
				   levels_of(peers, step, rank)[i].mean_ns);
	}
	return local_ns;
}
