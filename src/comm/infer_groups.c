/* SPDX-License-Identifier: MIT */
/*
 * Divides ops among groups where nobody says whose they are. Ranks of a group did the same ops in
 * the same order, and their collectives ended together: not at the same time on clocks that
 * differ, but so that the difference hardly changes. Of the groups that both hold for, the largest
 * is taken, since what holds for a group holds for its parts.
 *
 * Looks among the groups that are known. Without any, a group is made of all ranks that did the
 * same if they can have done it together, else of those whose ops end together.
 */
#include "comm/alignment.h"
#include "comm/end_sample.h"
#include "comm/group_search.h"

#include <stdlib.h>

enum {
	MATCHED_PER_ERROR = 10,    /* as many must match for each op that does not */
	MAX_COMPARISONS = 1 << 23, /* every rank with every other: for one pool that is enough */
};

/* A rank's share of the ops that are looked at. */
struct rank_ops {
	uint32_t rank;
	size_t first, count; /* in the ops */
};

/* The ops that are looked at, rank by rank. */
struct op_share {
	const struct sort_pair *ops; /* value: rank and op */
	struct rank_ops *ranks;
	size_t rank_count;
};

/* Do some ranks form a group? */
struct verdict {
	bool agrees;               /* their ops do */
	struct end_agreement ends; /* of the first rank with another: the median one */
};

struct inference {
	struct group_search *search;
	const struct op_pool *pool;
	struct arena arena;
	struct op_alignment alignment;
	struct op_share share;
	struct end_agreement *ends; /* room for one of each rank */
	size_t *places;             /* room for an index of each rank */
	/* Among groups that are known: */
	struct sort_pair *candidates; /* value: index in search->stated; the largest first */
	size_t candidate_count;
	bool is_only_group;       /* nobody knows any but the candidate */
	struct verdict *verdicts; /* by candidate */
	size_t *share_of_rank;    /* by rank: index in the share + 1, 0: it has no such ops left */
	/* Groups of ranks that nobody names: */
	struct intern sets; /* ranks of groups that were made */
	uint32_t *group_of_set;
	size_t set_count, set_capacity;
	size_t comparison_count; /* of two ranks with one another */
};

static uint32_t rank_of(const struct sort_pair *op)
{
	return (uint32_t)(op->value >> 32);
}

/* Looks at these ops from now on. */
static void set_share(struct inference *inference, const struct sort_pair *ops, size_t count)
{
	struct op_share *share = &inference->share;

	share->ops = ops;
	share->rank_count = 0;
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || rank_of(&ops[i]) != rank_of(&ops[i - 1]))
			share->ranks[share->rank_count++] =
				(struct rank_ops){ rank_of(&ops[i]), i, 0 };
		share->ranks[share->rank_count - 1].count++;
	}
}

/* The ops of a rank of the share are the group's. */
static void take_ops(struct inference *inference, size_t rank, uint32_t group)
{
	const struct rank_ops *ops = &inference->share.ranks[rank];
	uint32_t *groups = inference->search->world->group_of_op[ops->rank];

	for (size_t i = ops->first; i < ops->first + ops->count; i++)
		groups[(uint32_t)inference->share.ops[i].value] = group;
}

/* ---- are these a group? ---- */

/* The ranks must have most of the shortest of them in common, and hardly anything else. */
static bool do_ranks_agree(const struct op_alignment *alignment)
{
	const struct alignment_tally *tally = &alignment->tally;
	uint64_t matched = tally->counts[ALIGNED_MATCHED];
	size_t shortest = SIZE_MAX;

	for (size_t i = 0; i < alignment->rank_count; i++)
		if (alignment->ranks[i].count < shortest)
			shortest = alignment->ranks[i].count;
	return matched > 0 && tsi_tally_errors(tally) * MATCHED_PER_ERROR <= matched &&
	       2 * (matched + tally->counts[ALIGNED_CUT]) >= shortest;
}

static int compare_agreements(const void *left, const void *right)
{
	const struct end_agreement *a = left, *b = right;

	if (a->is_possible != b->is_possible)
		return a->is_possible ? -1 : 1;
	return (a->spread_ns > b->spread_ns) - (a->spread_ns < b->spread_ns);
}

/*
 * The median of all ranks, the upper one: parts of a group are at most half of it, so that where
 * only parts belong together at least half do not agree.
 */
static struct end_agreement judge_ends(struct inference *inference)
{
	const struct op_alignment *alignment = &inference->alignment;
	size_t count = 0;

	for (size_t i = 1; i < alignment->rank_count; i++)
		if (alignment->ends[i].count > 0)
			inference->ends[count++] = alignment->ends[i];
	if (count == 0)
		return (struct end_agreement){ .is_possible = true };
	qsort(inference->ends, count, sizeof(*inference->ends), compare_agreements);
	return inference->ends[count / 2];
}

/* Are these ranks, by index in the share, one group? */
static struct verdict judge_group(struct inference *inference, const size_t *ranks, size_t count)
{
	struct op_alignment *alignment = &inference->alignment;
	struct verdict verdict = { 0 };
	size_t op_count = 0;

	for (size_t i = 0; i < count; i++)
		op_count += inference->share.ranks[ranks[i]].count;
	tsi_op_alignment_begin(alignment, op_count);
	for (size_t i = 0; i < count; i++) {
		const struct rank_ops *ops = &inference->share.ranks[ranks[i]];

		for (size_t k = ops->first; k < ops->first + ops->count; k++)
			tsi_op_alignment_add(alignment, ops->rank,
					     (uint32_t)inference->share.ops[k].value);
	}
	verdict.agrees = tsi_align_ops(alignment) && do_ranks_agree(alignment);
	if (verdict.agrees)
		verdict.ends = judge_ends(inference);
	return verdict;
}

/* ---- among groups that are known ---- */

static struct stated_group *candidate_at(const struct inference *inference, size_t i)
{
	return &inference->search->stated[inference->candidates[i].value];
}

/* Is it of two or more ranks that were read, and of as many in all as the ops say? */
static bool is_candidate(const struct inference *inference, const struct stated_group *stated)
{
	int64_t size = inference->search->locals[stated->local].size;

	return stated->rank_count > 1 &&
	       (inference->pool->size == NO_NUMBER || inference->pool->size == size);
}

/* Different sets of ranks; of equal ones the first that is named. */
static void find_candidates(struct inference *inference)
{
	const struct group_search *search = inference->search;
	struct sort_pair *candidates =
		tsi_arena_new(&inference->arena, search->stated_count, sizeof(*candidates));
	size_t count = 0, kept = 0;

	inference->candidates = candidates;
	inference->verdicts = tsi_arena_new(&inference->arena, search->stated_count,
					    sizeof(*inference->verdicts));
	inference->is_only_group = true;
	for (size_t i = 0; inference->verdicts && i < search->stated_count; i++) {
		const struct stated_group *stated = &search->stated[i];

		inference->is_only_group &= stated->set == search->stated[0].set;
		if (is_candidate(inference, stated))
			candidates[count++] = (struct sort_pair){
				(uint64_t)(UINT32_MAX - stated->rank_count) << 32 | stated->set, i
			};
	}
	tsi_latch_sort(&inference->arena, candidates, count);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || candidates[i].key != candidates[i - 1].key)
			candidates[kept++] = candidates[i];
	inference->candidate_count = kept;
}

/* Have all of its ranks such ops, which are not another group's? */
static bool is_open(const struct inference *inference, const struct stated_group *stated)
{
	for (uint32_t i = 0; i < stated->rank_count; i++)
		if (inference->share_of_rank[stated->ranks[i]] == 0)
			return false;
	return true;
}

static struct verdict judge_candidate(struct inference *inference, size_t candidate)
{
	const struct stated_group *stated = candidate_at(inference, candidate);

	if (!is_open(inference, stated))
		return (struct verdict){ 0 };
	for (uint32_t i = 0; i < stated->rank_count; i++)
		inference->places[i] = inference->share_of_rank[stated->ranks[i]] - 1;
	return judge_group(inference, inference->places, stated->rank_count);
}

/* Both lists ascend. */
static bool is_part(const struct stated_group *part, const struct stated_group *whole)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < part->rank_count; i++) {
		while (at < whole->rank_count && whole->ranks[at] < part->ranks[i])
			at++;
		if (at == whole->rank_count || whole->ranks[at] != part->ranks[i])
			return false;
	}
	return true;
}

/* Do the ends say that only its parts belong together? */
static bool is_refuted(const struct inference *inference, size_t candidate)
{
	const struct end_agreement *ends = &inference->verdicts[candidate].ends;
	int64_t tolerated_ns = ends->transfer_ns;
	bool has_parts = false;

	if (ends->count == 0)
		return false;
	for (size_t i = candidate + 1; i < inference->candidate_count; i++) {
		const struct verdict *part = &inference->verdicts[i];

		if (!part->agrees || part->ends.count == 0 ||
		    !is_part(candidate_at(inference, i), candidate_at(inference, candidate)))
			continue;
		has_parts = true;
		if (part->ends.spread_ns > tolerated_ns)
			tolerated_ns = part->ends.spread_ns;
	}
	return has_parts && ends->spread_ns / CLEARLY_WORSE > tolerated_ns;
}

static void take_candidate(struct inference *inference, size_t candidate)
{
	struct stated_group *stated = candidate_at(inference, candidate);
	bool is_new = stated->group == NO_ROW;
	uint32_t group = tsi_add_stated_group(inference->search, stated);

	if (group == NO_ROW)
		return;
	inference->search->world->groups[group].is_inferred |= is_new && !inference->is_only_group;
	for (uint32_t i = 0; i < stated->rank_count; i++) {
		size_t *place = &inference->share_of_rank[stated->ranks[i]];

		take_ops(inference, *place - 1, group);
		*place = 0;
	}
}

/* Gives the ops of the share to the candidates. */
static void choose_candidates(struct inference *inference)
{
	const struct op_share *share = &inference->share;

	for (size_t i = 0; i < share->rank_count; i++)
		inference->share_of_rank[share->ranks[i].rank] = i + 1;
	for (size_t i = 0; i < inference->candidate_count; i++)
		inference->verdicts[i] = judge_candidate(inference, i);
	for (size_t i = 0; i < inference->candidate_count; i++)
		if (inference->verdicts[i].agrees &&
		    is_open(inference, candidate_at(inference, i)) && !is_refuted(inference, i))
			take_candidate(inference, i);
	for (size_t i = 0; i < share->rank_count; i++)
		inference->share_of_rank[share->ranks[i].rank] = 0;
}

/* ---- all of the same ---- */

/* The group of the ranks in places; one for all ops that are found to be of the same ranks. */
static uint32_t make_group(struct inference *inference, size_t count)
{
	struct world *world = inference->search->world;
	int64_t size = inference->pool->size;
	struct process_group made = {
		.size = size,
		.name = inference->pool->name,
		.is_inferred = size == NO_NUMBER || size != world->world_size,
	};
	uint32_t *ranks = tsi_arena_new(&inference->arena, count, sizeof(*ranks)), *group;

	if (!ranks)
		return NO_ROW;
	for (size_t i = 0; i < count; i++)
		ranks[i] = inference->share.ranks[inference->places[i]].rank;
	struct str bytes = { (const char *)ranks, count * sizeof(*ranks) };
	uint32_t set = tsi_latch_text(&inference->arena, &inference->sets, bytes); /* from 1 on */
	if (set <= inference->set_count)
		return set > 0 ? inference->group_of_set[set - 1] : NO_ROW;
	group = tsi_arena_push(&inference->arena, &inference->group_of_set, &inference->set_count,
			       &inference->set_capacity, sizeof(*group));
	if (!group)
		return NO_ROW;
	*group = tsi_add_group(world, &made);
	return *group;
}

/* The ranks in places are a group. */
static void take_places(struct inference *inference, size_t count)
{
	uint32_t group = make_group(inference, count);

	for (size_t i = 0; i < count; i++)
		take_ops(inference, inference->places[i], group);
}

/*
 * Makes one group of all ranks of the share, if that can be; is_certain: what they are called says
 * so, whatever the ops do.
 */
static bool unite_ranks(struct inference *inference, bool is_certain)
{
	size_t count = inference->share.rank_count;
	int64_t size = inference->pool->size;

	if (count < 2 && !is_certain)
		return false;
	if (size != NO_NUMBER && (size < 0 || (uint64_t)size < count))
		return false;
	for (size_t i = 0; i < count; i++)
		inference->places[i] = i;
	struct verdict verdict = judge_group(inference, inference->places, count);
	bool is_world =
		is_certain && size != NO_NUMBER && size == inference->search->world->world_size;
	if (is_certain && !verdict.agrees && !inference->alignment.tally.is_refused)
		is_world = true; /* nothing says otherwise */
	if (!is_world && !(verdict.agrees && tsi_do_end_together(&verdict.ends)))
		return false;
	take_places(inference, count);
	return true;
}

/* ---- by ends ---- */

/* A rank that may belong to another, the nearest first. */
struct neighbour {
	size_t place; /* in the share */
	int64_t spread_ns;
};

struct division {
	struct inference *inference;
	struct sort_pair *order; /* ranks of the share by what they did */
	bool *is_taken;          /* by rank of the share */
	struct neighbour *neighbours;
};

static const struct rank_op *op_at(const struct inference *inference, size_t place, size_t i)
{
	const struct rank_ops *ops = &inference->share.ranks[place];
	uint32_t op = (uint32_t)inference->share.ops[ops->first + i].value;

	return &inference->search->world->logs[ops->rank].ops[op];
}

static uint64_t hash_rank(struct inference *inference, size_t place)
{
	const struct rank_ops *ops = &inference->share.ranks[place];
	uint64_t hash = ops->count;

	for (size_t i = ops->first; i < ops->first + ops->count; i++)
		hash = (hash ^ tsi_op_token(&inference->alignment.tokens, ops->rank,
					    (uint32_t)inference->share.ops[i].value)) *
		       UINT64_C(0x9e3779b97f4a7c15);
	return hash;
}

/* Two ranks that did as much: op by op. */
static struct end_agreement compare_ranks(const struct inference *inference, size_t a, size_t b)
{
	struct end_sample sample = { 0 };
	size_t count = inference->share.ranks[a].count;

	if (inference->share.ranks[b].count < count)
		count = inference->share.ranks[b].count;
	for (size_t i = 0; i < count && !tsi_end_sample_is_decided(&sample); i++)
		tsi_end_sample_add(&sample, op_at(inference, a, i), op_at(inference, b, i));
	return tsi_end_agreement(&sample);
}

static int compare_neighbours(const void *left, const void *right)
{
	const struct neighbour *a = left, *b = right;

	TSI_ASCENDING(a->spread_ns, b->spread_ns);
	return (a->place > b->place) - (a->place < b->place);
}

static int compare_places(const void *left, const void *right)
{
	const size_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* The ranks that did the same as this one and ended together with it; it is the first of them. */
static size_t find_neighbours(struct division *division, const struct sort_pair *ranks,
			      size_t count)
{
	size_t found = 0;

	for (size_t i = 1; i < count; i++) {
		if (division->is_taken[ranks[i].value] ||
		    division->inference->comparison_count++ >= MAX_COMPARISONS)
			continue;
		struct end_agreement ends =
			compare_ranks(division->inference, ranks[0].value, ranks[i].value);
		if (ends.count > 0 && tsi_do_end_together(&ends))
			division->neighbours[found++] =
				(struct neighbour){ ranks[i].value, ends.spread_ns };
	}
	if (found > 1)
		qsort(division->neighbours, found, sizeof(*division->neighbours),
		      compare_neighbours);
	return found;
}

/* Makes the group of the first of these ranks, if it has any. */
static void divide_from(struct division *division, const struct sort_pair *ranks, size_t count)
{
	struct inference *inference = division->inference;
	int64_t size = inference->pool->size;
	size_t found = find_neighbours(division, ranks, count);

	if (size != NO_NUMBER && size > 0 && found > (uint64_t)size - 1)
		found = (size_t)size - 1;
	if (found == 0)
		return;
	inference->places[0] = ranks[0].value;
	for (size_t i = 0; i < found; i++) {
		inference->places[i + 1] = division->neighbours[i].place;
		division->is_taken[division->neighbours[i].place] = true;
	}
	qsort(inference->places, found + 1, sizeof(*inference->places), compare_places);
	take_places(inference, found + 1);
}

/* Makes groups of those ranks of the share whose ops end together; the others stay. */
static void divide_ranks(struct inference *inference)
{
	struct arena arena = { 0 };
	size_t count = inference->share.rank_count;
	struct division division = {
		.inference = inference,
		.order = tsi_arena_new(&arena, count, sizeof(*division.order)),
		.is_taken = tsi_arena_new(&arena, count, sizeof(*division.is_taken)),
		.neighbours = tsi_arena_new(&arena, count, sizeof(*division.neighbours)),
	};

	for (size_t i = 0; !arena.has_failed && i < count; i++)
		division.order[i] = (struct sort_pair){ hash_rank(inference, i), i };
	if (!arena.has_failed)
		tsi_latch_sort(&arena, division.order, count);
	for (size_t at = 0, end; !arena.has_failed && at < count; at = end) {
		for (end = at + 1;
		     end < count && division.order[end].key == division.order[at].key;)
			end++;
		for (size_t i = at; i < end; i++)
			if (!division.is_taken[division.order[i].value])
				divide_from(&division, &division.order[i], end - i);
	}
	tsi_latch_deinit(&inference->arena, &arena);
}

/* ---- all ops of a pool ---- */

/* Ops of one kind, size and type. */
static void divide_class(struct inference *inference, const struct sort_pair *ops, size_t count)
{
	set_share(inference, ops, count);
	if (inference->share.rank_count < 2)
		return;
	if (inference->candidate_count > 0)
		choose_candidates(inference);
	else if (!unite_ranks(inference, false))
		divide_ranks(inference);
}

/* A group's ops are of several kinds and sizes, but ops of one are mostly a group's. */
static void divide_by_class(struct inference *inference)
{
	const struct op_pool *pool = inference->pool;
	struct sort_pair *ops = tsi_arena_new(&inference->arena, pool->op_count, sizeof(*ops));

	if (!ops)
		return;
	for (size_t i = 0; i < pool->op_count; i++) {
		uint64_t op = pool->ops[i].value;

		ops[i] = (struct sort_pair){ tsi_op_token(&inference->alignment.tokens,
							  rank_of(&pool->ops[i]), (uint32_t)op),
					     op };
	}
	tsi_latch_sort(&inference->arena, ops, pool->op_count);
	for (size_t at = 0, end; at < pool->op_count; at = end) {
		for (end = at + 1; end < pool->op_count && ops[end].key == ops[at].key;)
			end++;
		divide_class(inference, &ops[at], end - at);
	}
}

static void divide_pool(struct inference *inference)
{
	const struct op_pool *pool = inference->pool;
	bool is_called = pool->name[0] != '\0', is_done = false;

	if (!is_called)
		find_candidates(inference);
	if (inference->candidate_count == 0) {
		set_share(inference, pool->ops, pool->op_count);
		is_done = unite_ranks(inference, is_called);
	}
	if (!is_done && is_called)
		divide_ranks(inference);
	else if (!is_done)
		divide_by_class(inference);
}

void tsi_infer_groups(struct group_search *search, const struct op_pool *pool)
{
	struct inference inference = { .search = search, .pool = pool };
	size_t rank_count = search->world->rank_count;
	struct arena *arena = &inference.arena;

	inference.share.ranks = tsi_arena_new(arena, rank_count, sizeof(struct rank_ops));
	inference.ends = tsi_arena_new(arena, rank_count, sizeof(*inference.ends));
	inference.places = tsi_arena_new(arena, rank_count, sizeof(*inference.places));
	inference.share_of_rank =
		tsi_arena_new(arena, rank_count, sizeof(*inference.share_of_rank));
	tsi_op_alignment_init(&inference.alignment, search->world);
	if (inference.share_of_rank && !inference.alignment.tokens.arena.has_failed)
		divide_pool(&inference);
	tsi_op_alignment_deinit(&inference.alignment, arena);
	tsi_intern_deinit(&inference.sets);
	tsi_latch_deinit(&search->arena, arena);
}
