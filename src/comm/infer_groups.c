/* SPDX-License-Identifier: MIT */
/*
 * Divides ops among groups where nobody says whose they are. Ranks of a group did the same ops in
 * the same order, and their collectives ended together: not at the same time on clocks that
 * differ, but so that the difference hardly changes. Of the groups that both hold for, the largest
 * is taken, since what holds for a group holds for its parts.
 */
#include "comm/inference.h"

#include <stdlib.h>

#include "base/array.h"

enum { MATCHED_PER_ERROR = 10 }; /* as many must match for each op that does not */

static void inference_deinit(struct inference *inference)
{
	tsi_op_alignment_deinit(&inference->alignment);
	tsi_op_tokens_deinit(&inference->tokens);
	tsi_intern_deinit(&inference->sets);
	free(inference->share.ranks);
	free(inference->ends);
	free(inference->places);
	free(inference->ops);
	free(inference->scratch);
	free(inference->candidates);
	free(inference->verdicts);
	free(inference->share_of_rank);
	free(inference->group_of_set);
}

static enum tscope_status inference_init(struct inference *inference, struct tscope_error *err)
{
	size_t rank_count = inference->search->world->rank_count;

	inference->alignment.tokens = &inference->tokens;
	if (tsi_op_tokens_init(&inference->tokens, inference->search->world, err) != TSCOPE_OK ||
	    tsi_intern_init(&inference->sets, UINT32_MAX - 1, err) != TSCOPE_OK ||
	    tsi_array_new(&inference->ends, rank_count, sizeof(*inference->ends), err) !=
		    TSCOPE_OK ||
	    tsi_array_new(&inference->places, rank_count, sizeof(*inference->places), err) !=
		    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	return tsi_array_new(&inference->share_of_rank, rank_count,
			     sizeof(*inference->share_of_rank), err);
}

static uint32_t rank_of(const struct sort_pair *op)
{
	return (uint32_t)(op->value >> 32);
}

enum tscope_status tsi_set_share(struct inference *inference, const struct sort_pair *ops,
				 size_t count, struct tscope_error *err)
{
	struct op_share *share = &inference->share;

	share->ops = ops;
	share->rank_count = 0;
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || rank_of(&ops[i]) != rank_of(&ops[i - 1])) {
			if (tsi_array_reserve(&share->ranks, &share->capacity,
					      share->rank_count + 1, sizeof(*share->ranks),
					      err) != TSCOPE_OK)
				return TSCOPE_E_NOMEM;
			share->ranks[share->rank_count++] =
				(struct rank_ops){ rank_of(&ops[i]), i, 0 };
		}
		share->ranks[share->rank_count - 1].count++;
	}
	return TSCOPE_OK;
}

void tsi_take_ops(struct inference *inference, size_t rank, uint32_t group)
{
	const struct rank_ops *ops = &inference->share.ranks[rank];
	uint32_t *groups = inference->search->world->group_of_op[ops->rank];

	for (size_t i = ops->first; i < ops->first + ops->count; i++)
		groups[(uint32_t)inference->share.ops[i].value] = group;
}

/* ---- are these a group? ---- */

static enum tscope_status add_lane(struct inference *inference, const struct rank_ops *ops,
				   struct tscope_error *err)
{
	for (size_t i = ops->first; i < ops->first + ops->count; i++)
		if (tsi_op_alignment_add(&inference->alignment, ops->rank,
					 (uint32_t)inference->share.ops[i].value, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	return TSCOPE_OK;
}

/* The lanes must have most of the shortest of them in common, and hardly anything else. */
static bool do_lanes_agree(const struct op_alignment *alignment)
{
	const struct alignment_tally *tally = &alignment->tally;
	uint64_t matched = tally->counts[ALIGNED_MATCHED];
	size_t shortest = SIZE_MAX;

	for (size_t i = 0; i < alignment->lane_count; i++)
		if (alignment->lanes[i].count < shortest)
			shortest = alignment->lanes[i].count;
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
 * The median of all lanes, the upper one: parts of a group are at most half of it, so that where
 * only parts belong together at least half do not agree.
 */
static struct end_agreement judge_ends(struct inference *inference)
{
	const struct op_alignment *alignment = &inference->alignment;
	size_t count = 0;

	for (size_t i = 1; i < alignment->lane_count; i++)
		if (alignment->ends[i].count > 0)
			inference->ends[count++] = alignment->ends[i];
	if (count == 0)
		return (struct end_agreement){ .is_possible = true };
	qsort(inference->ends, count, sizeof(*inference->ends), compare_agreements);
	return inference->ends[count / 2];
}

enum tscope_status tsi_judge_group(struct inference *inference, const size_t *ranks, size_t count,
				   struct verdict *verdict, struct tscope_error *err)
{
	struct op_alignment *alignment = &inference->alignment;
	size_t op_count = 0;

	*verdict = (struct verdict){ 0 };
	for (size_t i = 0; i < count; i++)
		op_count += inference->share.ranks[ranks[i]].count;
	if (tsi_op_alignment_begin(alignment, op_count, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < count; i++)
		if (add_lane(inference, &inference->share.ranks[ranks[i]], err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	if (alignment->lane_count < 2)
		return TSCOPE_OK;
	if (tsi_align_ops(alignment, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	verdict->agrees = do_lanes_agree(alignment);
	if (verdict->agrees)
		verdict->ends = judge_ends(inference);
	return TSCOPE_OK;
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
static enum tscope_status find_candidates(struct inference *inference, struct tscope_error *err)
{
	const struct group_search *search = inference->search;
	struct sort_pair *candidates, *scratch;
	size_t count = 0, kept = 0;

	if (tsi_array_new(&inference->candidates, search->stated_count, sizeof(*candidates), err) !=
		    TSCOPE_OK ||
	    tsi_array_new(&inference->verdicts, search->stated_count, sizeof(*inference->verdicts),
			  err) != TSCOPE_OK ||
	    tsi_array_new(&scratch, search->stated_count, sizeof(*scratch), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	candidates = inference->candidates;
	inference->is_only_group = true;
	for (size_t i = 0; i < search->stated_count; i++) {
		const struct stated_group *stated = &search->stated[i];

		inference->is_only_group &= stated->set == search->stated[0].set;
		if (is_candidate(inference, stated))
			candidates[count++] = (struct sort_pair){
				(uint64_t)(UINT32_MAX - stated->rank_count) << 32 | stated->set, i
			};
	}
	tsi_sort_pairs(candidates, scratch, count);
	free(scratch);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || candidates[i].key != candidates[i - 1].key)
			candidates[kept++] = candidates[i];
	inference->candidate_count = kept;
	return TSCOPE_OK;
}

/* Have all of its ranks such ops, which are not another group's? */
static bool is_open(const struct inference *inference, const struct stated_group *stated)
{
	for (uint32_t i = 0; i < stated->rank_count; i++)
		if (inference->share_of_rank[stated->ranks[i]] == 0)
			return false;
	return true;
}

static enum tscope_status judge_candidate(struct inference *inference, size_t candidate,
					  struct tscope_error *err)
{
	const struct stated_group *stated = candidate_at(inference, candidate);

	inference->verdicts[candidate] = (struct verdict){ 0 };
	if (!is_open(inference, stated))
		return TSCOPE_OK;
	for (uint32_t i = 0; i < stated->rank_count; i++)
		inference->places[i] = inference->share_of_rank[stated->ranks[i]] - 1;
	return tsi_judge_group(inference, inference->places, stated->rank_count,
			       &inference->verdicts[candidate], err);
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

static enum tscope_status take_candidate(struct inference *inference, size_t candidate,
					 struct tscope_error *err)
{
	struct stated_group *stated = candidate_at(inference, candidate);
	bool is_new = stated->group == NO_ROW;
	uint32_t group;

	if (tsi_add_stated_group(inference->search, stated, &group, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	inference->search->world->groups[group].is_inferred |= is_new && !inference->is_only_group;
	for (uint32_t i = 0; i < stated->rank_count; i++) {
		size_t *place = &inference->share_of_rank[stated->ranks[i]];

		tsi_take_ops(inference, *place - 1, group);
		*place = 0;
	}
	return TSCOPE_OK;
}

/* Gives the ops of the share to the candidates. */
static enum tscope_status choose_candidates(struct inference *inference, struct tscope_error *err)
{
	const struct op_share *share = &inference->share;
	enum tscope_status status = TSCOPE_OK;

	for (size_t i = 0; i < share->rank_count; i++)
		inference->share_of_rank[share->ranks[i].rank] = i + 1;
	for (size_t i = 0; status == TSCOPE_OK && i < inference->candidate_count; i++)
		status = judge_candidate(inference, i, err);
	for (size_t i = 0; status == TSCOPE_OK && i < inference->candidate_count; i++)
		if (inference->verdicts[i].agrees &&
		    is_open(inference, candidate_at(inference, i)) && !is_refuted(inference, i))
			status = take_candidate(inference, i, err);
	for (size_t i = 0; i < share->rank_count; i++)
		inference->share_of_rank[share->ranks[i].rank] = 0;
	return status;
}

/* ---- all ops of a pool ---- */

/* Ops of one kind, size and type. */
static enum tscope_status divide_class(struct inference *inference, const struct sort_pair *ops,
				       size_t count, struct tscope_error *err)
{
	enum tscope_status status = tsi_set_share(inference, ops, count, err);
	bool is_done;

	if (status != TSCOPE_OK || inference->share.rank_count < 2)
		return status;
	if (inference->candidate_count > 0)
		return choose_candidates(inference, err);
	status = tsi_unite_ranks(inference, false, &is_done, err);
	if (status == TSCOPE_OK && !is_done)
		status = tsi_divide_ranks(inference, err);
	return status;
}

static enum tscope_status sort_by_class(struct inference *inference, struct tscope_error *err)
{
	const struct op_pool *pool = inference->pool;

	if (tsi_array_new(&inference->ops, pool->op_count, sizeof(*inference->ops), err) !=
		    TSCOPE_OK ||
	    tsi_array_new(&inference->scratch, pool->op_count, sizeof(*inference->scratch), err) !=
		    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < pool->op_count; i++) {
		uint32_t token;

		if (tsi_op_token(&inference->tokens, rank_of(&pool->ops[i]),
				 (uint32_t)pool->ops[i].value, &token, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		inference->ops[i] = (struct sort_pair){ token, pool->ops[i].value };
	}
	tsi_sort_pairs(inference->ops, inference->scratch, pool->op_count);
	return TSCOPE_OK;
}

/* A group's ops are of several kinds and sizes, but ops of one are mostly a group's. */
static enum tscope_status divide_by_class(struct inference *inference, struct tscope_error *err)
{
	enum tscope_status status = sort_by_class(inference, err);
	size_t count = inference->pool->op_count, end;

	for (size_t at = 0; status == TSCOPE_OK && at < count; at = end) {
		for (end = at + 1;
		     end < count && inference->ops[end].key == inference->ops[at].key;)
			end++;
		status = divide_class(inference, &inference->ops[at], end - at, err);
	}
	return status;
}

static enum tscope_status divide_pool(struct inference *inference, struct tscope_error *err)
{
	const struct op_pool *pool = inference->pool;
	bool is_called = pool->name[0] != '\0', is_done = false;
	enum tscope_status status = TSCOPE_OK;

	if (!is_called)
		status = find_candidates(inference, err);
	if (status == TSCOPE_OK && inference->candidate_count == 0) {
		status = tsi_set_share(inference, pool->ops, pool->op_count, err);
		if (status == TSCOPE_OK)
			status = tsi_unite_ranks(inference, is_called, &is_done, err);
	}
	if (status != TSCOPE_OK || is_done)
		return status;
	return is_called ? tsi_divide_ranks(inference, err) : divide_by_class(inference, err);
}

enum tscope_status tsi_infer_groups(struct group_search *search, const struct op_pool *pool,
				    struct tscope_error *err)
{
	struct inference inference = { .search = search, .pool = pool };
	enum tscope_status status = inference_init(&inference, err);

	if (status == TSCOPE_OK)
		status = divide_pool(&inference, err);
	inference_deinit(&inference);
	return status;
}
