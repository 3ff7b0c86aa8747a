/* SPDX-License-Identifier: MIT */
/*
 * Makes groups of ranks that nobody names: of all that did the same, if they can have done it
 * together, else of those whose ops end together.
 */
#include "comm/inference.h"

#include <stdlib.h>

#include "base/array.h"

/* Every rank with every other: for one pool that is time enough. */
enum { MAX_COMPARISONS = 1 << 23 };

/* The group of the ranks in places; one for all ops that are found to be of the same ranks. */
static enum tscope_status make_group(struct inference *inference, size_t count, uint32_t *group,
				     struct tscope_error *err)
{
	struct world *world = inference->search->world;
	int64_t size = inference->pool->size;
	struct process_group made = {
		.size = size,
		.name = inference->pool->name,
		.is_inferred = size == NO_NUMBER || size != world->world_size,
	};
	size_t known = inference->sets.count;
	uint32_t *ranks, set = 0;

	if (tsi_array_new(&ranks, count, sizeof(*ranks), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < count; i++)
		ranks[i] = inference->share.ranks[inference->places[i]].rank;
	struct str bytes = { (const char *)ranks, count * sizeof(*ranks) };
	enum tscope_status status = tsi_intern_add(&inference->sets, bytes, &set, err);
	free(ranks);
	if (status == TSCOPE_OK)
		status = tsi_array_reserve(&inference->group_of_set, &inference->set_capacity,
					   (size_t)set + 1, sizeof(*inference->group_of_set), err);
	if (status == TSCOPE_OK && set == known)
		status = tsi_add_group(world, &made, &inference->group_of_set[set], err);
	if (status == TSCOPE_OK)
		*group = inference->group_of_set[set];
	return status;
}

/* The ranks in places are a group. */
static enum tscope_status take_places(struct inference *inference, size_t count,
				      struct tscope_error *err)
{
	uint32_t group;

	if (make_group(inference, count, &group, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < count; i++)
		tsi_take_ops(inference, inference->places[i], group);
	return TSCOPE_OK;
}

enum tscope_status tsi_unite_ranks(struct inference *inference, bool is_certain, bool *is_done,
				   struct tscope_error *err)
{
	size_t count = inference->share.rank_count;
	int64_t size = inference->pool->size;
	struct verdict verdict = { 0 };

	*is_done = false;
	if (count < 2 && !is_certain)
		return TSCOPE_OK;
	if (size != NO_NUMBER && (size < 0 || (uint64_t)size < count))
		return TSCOPE_OK;
	for (size_t i = 0; i < count; i++)
		inference->places[i] = i;
	if (tsi_judge_group(inference, inference->places, count, &verdict, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	bool is_world =
		is_certain && size != NO_NUMBER && size == inference->search->world->world_size;
	if (is_certain && !verdict.agrees && !inference->alignment.tally.is_refused)
		is_world = true; /* nothing tells otherwise */
	if (!is_world && !(verdict.agrees && tsi_do_end_together(&verdict.ends)))
		return TSCOPE_OK;
	*is_done = true;
	return take_places(inference, count, err);
}

/* ---- by ends ---- */

/* A rank that may belong to another, the nearest first. */
struct neighbour {
	size_t place; /* in the share */
	int64_t spread_ns;
};

struct division {
	struct inference *inference;
	struct sort_pair *order, *scratch; /* ranks of the share by what they did */
	bool *is_taken;                    /* by rank of the share */
	struct neighbour *neighbours;
};

static void division_deinit(struct division *division)
{
	free(division->order);
	free(division->scratch);
	free(division->is_taken);
	free(division->neighbours);
}

static const struct rank_op *op_at(const struct inference *inference, size_t place, size_t i)
{
	const struct rank_ops *ops = &inference->share.ranks[place];
	uint32_t op = (uint32_t)inference->share.ops[ops->first + i].value;

	return &inference->search->world->logs[ops->rank].ops[op];
}

static enum tscope_status hash_rank(struct inference *inference, size_t place, uint64_t *hash,
				    struct tscope_error *err)
{
	const struct rank_ops *ops = &inference->share.ranks[place];

	*hash = ops->count;
	for (size_t i = ops->first; i < ops->first + ops->count; i++) {
		uint32_t token;

		if (tsi_op_token(&inference->tokens, ops->rank,
				 (uint32_t)inference->share.ops[i].value, &token, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		*hash = (*hash ^ token) * UINT64_C(0x9e3779b97f4a7c15);
	}
	return TSCOPE_OK;
}

static enum tscope_status division_init(struct division *division, struct tscope_error *err)
{
	struct inference *inference = division->inference;
	size_t count = inference->share.rank_count;

	if (tsi_array_new(&division->order, count, sizeof(*division->order), err) != TSCOPE_OK ||
	    tsi_array_new(&division->scratch, count, sizeof(*division->scratch), err) !=
		    TSCOPE_OK ||
	    tsi_array_new(&division->is_taken, count, sizeof(*division->is_taken), err) !=
		    TSCOPE_OK ||
	    tsi_array_new(&division->neighbours, count, sizeof(*division->neighbours), err) !=
		    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < count; i++) {
		division->order[i].value = i;
		if (hash_rank(inference, i, &division->order[i].key, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	}
	tsi_sort_pairs(division->order, division->scratch, count);
	return TSCOPE_OK;
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

	if (a->spread_ns != b->spread_ns)
		return a->spread_ns < b->spread_ns ? -1 : 1;
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
static enum tscope_status divide_from(struct division *division, const struct sort_pair *ranks,
				      size_t count, struct tscope_error *err)
{
	struct inference *inference = division->inference;
	int64_t size = inference->pool->size;
	size_t found = find_neighbours(division, ranks, count);

	if (size != NO_NUMBER && size > 0 && found > (uint64_t)size - 1)
		found = (size_t)size - 1;
	if (found == 0)
		return TSCOPE_OK;
	inference->places[0] = ranks[0].value;
	for (size_t i = 0; i < found; i++) {
		inference->places[i + 1] = division->neighbours[i].place;
		division->is_taken[division->neighbours[i].place] = true;
	}
	qsort(inference->places, found + 1, sizeof(*inference->places), compare_places);
	return take_places(inference, found + 1, err);
}

enum tscope_status tsi_divide_ranks(struct inference *inference, struct tscope_error *err)
{
	struct division division = { .inference = inference };
	size_t count = inference->share.rank_count, end;
	enum tscope_status status = division_init(&division, err);

	for (size_t at = 0; status == TSCOPE_OK && at < count; at = end) {
		for (end = at + 1;
		     end < count && division.order[end].key == division.order[at].key;)
			end++;
		for (size_t i = at; status == TSCOPE_OK && i < end; i++)
			if (!division.is_taken[division.order[i].value])
				status = divide_from(&division, &division.order[i], end - i, err);
	}
	division_deinit(&division);
	return status;
}
