/* SPDX-License-Identifier: MIT */
/*
 * Aligns the ops of several ranks: by what says most (sequence numbers), else by steps, else by
 * order alone, and counts what came of it. Each is taken unless its result speaks against it: above
 * all, an op cannot have ended on one rank before it began on another.
 */
#include "comm/op_diff.h"

enum { DIFF_ROW_ROOM = (MAX_DIFFERENCES + 1) * (MAX_DIFFERENCES + 2) / 2 };

void tsi_op_alignment_init(struct op_alignment *alignment, const struct world *world)
{
	*alignment = (struct op_alignment){ 0 };
	tsi_op_tokens_init(&alignment->tokens, world);
}

void tsi_op_alignment_deinit(struct op_alignment *alignment, struct arena *arena)
{
	tsi_latch_deinit(arena, &alignment->room);
	tsi_op_tokens_deinit(&alignment->tokens, arena);
}

/* Room that is not used costs no memory: pages that nobody touches (base/arena.h). */
static void make_room(struct op_alignment *alignment, size_t count)
{
	size_t all_ranks = alignment->tokens.world->rank_count;
	size_t ranks = count < all_ranks ? count : all_ranks;
	struct arena *room = &alignment->room;

	tsi_latch_deinit(&alignment->tokens.arena, room);
	alignment->ref_room = count;
	alignment->refs = tsi_arena_new(room, count, sizeof(*alignment->refs));
	alignment->ranks = tsi_arena_new(room, ranks, sizeof(*alignment->ranks));
	alignment->keys = tsi_arena_new(room, count, sizeof(*alignment->keys));
	alignment->other_keys = tsi_arena_new(room, count, sizeof(*alignment->other_keys));
	alignment->ends = tsi_arena_new(room, ranks, sizeof(*alignment->ends));
	alignment->other_ends = tsi_arena_new(room, ranks, sizeof(*alignment->other_ends));
	alignment->pairs = tsi_arena_new(room, count, sizeof(*alignment->pairs));
	alignment->scratch = tsi_arena_new(room, count, sizeof(*alignment->scratch));
	alignment->diff_rows = tsi_arena_new(room, DIFF_ROW_ROOM, sizeof(*alignment->diff_rows));
	alignment->forward = tsi_arena_new(room, count, sizeof(*alignment->forward));
	alignment->backward = tsi_arena_new(room, count, sizeof(*alignment->backward));
	alignment->tokens.arena.has_failed |= room->has_failed;
}

void tsi_op_alignment_begin(struct op_alignment *alignment, size_t count)
{
	size_t room = alignment->ref_room;

	alignment->ref_count = alignment->rank_count = 0;
	if (count > room)
		make_room(alignment, count / 2 < room ? 2 * room : count);
}

void tsi_op_alignment_add(struct op_alignment *alignment, uint32_t rank, uint32_t op)
{
	uint32_t token = tsi_op_token(&alignment->tokens, rank, op);
	size_t at = alignment->ref_count;

	if (alignment->tokens.arena.has_failed)
		return;
	if (at == 0 || alignment->refs[at - 1].rank != rank)
		alignment->ranks[alignment->rank_count++] = (struct op_range){ at, 0 };
	alignment->ranks[alignment->rank_count - 1].count++;
	alignment->refs[alignment->ref_count++] = (struct op_ref){ rank, op, token };
}

/* ---- order ---- */

/*
 * Ops run in the order of their calls on a stream, but not on several, nor in the threads of a
 * backend without kernels: the calls are what all ranks have in common.
 */
static void order_by_launch(struct op_alignment *alignment, struct op_range rank)
{
	struct sort_pair *pairs = alignment->pairs;

	for (size_t i = 0; i < rank.count; i++) {
		const struct op_ref *ref = &alignment->refs[rank.first + i];
		int64_t launch_ns = tsi_ref_op(alignment, rank.first + i)->launch_ns;

		if (launch_ns == NO_NUMBER)
			return;
		pairs[i].key = tsi_sort_key_of_int64(launch_ns);
		pairs[i].value = (uint64_t)ref->op << 32 | ref->token;
	}
	tsi_sort_pairs(pairs, alignment->scratch, rank.count);
	for (size_t i = 0; i < rank.count; i++) {
		alignment->refs[rank.first + i].op = (uint32_t)(pairs[i].value >> 32);
		alignment->refs[rank.first + i].token = (uint32_t)pairs[i].value;
	}
}

/* ---- by sequence number ---- */

/* A number is shared by the ops of a coalesced group; one below that before it begins anew. */
struct sequence_place {
	int64_t number;
	uint32_t restarts, index; /* index: among ops of this number */
};

enum {
	MAX_RESTARTS = 254,
	MAX_SHARING = UINT16_MAX,
};

static const int64_t max_sequence = (INT64_C(1) << 40) - 1;

static bool next_place(struct sequence_place *place, int64_t number)
{
	if (number < 0 || number > max_sequence)
		return false;
	place->index = number == place->number ? place->index + 1 : 0;
	place->restarts += number < place->number;
	place->number = number;
	return place->restarts <= MAX_RESTARTS && place->index <= MAX_SHARING;
}

static bool number_rank(const struct op_alignment *alignment, struct op_range rank,
			uint32_t *restarts)
{
	struct sequence_place place = { .number = -1 };

	for (size_t i = rank.first; i < rank.first + rank.count; i++) {
		if (!next_place(&place, tsi_ref_op(alignment, i)->sequence))
			return false;
		alignment->other_keys[i] =
			(uint64_t)place.restarts << 56 | (uint64_t)place.number << 16 | place.index;
	}
	*restarts = place.restarts;
	return true;
}

static bool align_by_sequence(struct op_alignment *alignment)
{
	uint32_t restarts = 0, first_restarts = 0;

	for (size_t i = 0; i < alignment->rank_count; i++) {
		if (!number_rank(alignment, alignment->ranks[i], &restarts))
			return false;
		if (i == 0)
			first_restarts = restarts;
		if (restarts != first_restarts)
			return false;
	}
	return true;
}

/* ---- what came of it ---- */

/*
 * The captures of all ranks have in common what lies between the first and the last instance that
 * is on all of them. Instances that some lack before and after that may lie outside their captures.
 */
static void find_window(struct op_alignment *alignment)
{
	const struct sort_pair *pairs = alignment->pairs;
	size_t count;

	alignment->window_begin = NO_KEY;
	alignment->window_end = 0;
	for (size_t at = 0; at < alignment->ref_count; at += count) {
		count = 1;
		while (at + count < alignment->ref_count && pairs[at + count].key == pairs[at].key)
			count++;
		if (count != alignment->rank_count || pairs[at].key == NO_KEY)
			continue;
		if (alignment->window_begin == NO_KEY)
			alignment->window_begin = pairs[at].key;
		alignment->window_end = pairs[at].key;
	}
}

static void sort_by_keys(struct op_alignment *alignment, const uint64_t *keys)
{
	for (size_t i = 0; i < alignment->ref_count; i++)
		alignment->pairs[i] = (struct sort_pair){ keys[i], i };
	tsi_sort_pairs(alignment->pairs, alignment->scratch, alignment->ref_count);
	alignment->paired = keys;
	find_window(alignment);
}

struct instance_cursor tsi_instances(struct op_alignment *alignment)
{
	if (alignment->paired != alignment->keys)
		sort_by_keys(alignment, alignment->keys);
	return (struct instance_cursor){ 0 };
}

static bool are_steps_equal(const struct op_alignment *alignment,
			    const struct instance_cursor *cursor)
{
	int64_t step = NO_NUMBER;

	for (size_t i = 0; i < cursor->count; i++) {
		int64_t its = tsi_ref_op(alignment, cursor->refs[i].value)->step;

		if (step == NO_NUMBER)
			step = its;
		if (its != NO_NUMBER && its != step)
			return false;
	}
	return true;
}

static bool is_cut(const struct op_alignment *alignment, const struct instance_cursor *cursor)
{
	for (size_t i = 0; i < cursor->count; i++)
		if (tsi_ref_op(alignment, cursor->refs[i].value)->is_cut)
			return true;
	return false;
}

static bool do_all_agree(const struct op_alignment *alignment, const struct instance_cursor *cursor)
{
	struct op_token all = *tsi_ref_token(alignment, cursor->refs[0].value);

	for (size_t i = 1; i < cursor->count; i++) {
		const struct op_token *token = tsi_ref_token(alignment, cursor->refs[i].value);

		if (!tsi_tokens_agree(&all, token))
			return false;
		all.bytes = all.bytes == NO_NUMBER ? token->bytes : all.bytes;
		all.dtype = all.dtype == 0 ? token->dtype : all.dtype;
	}
	return true;
}

static enum alignment_verdict judge(const struct op_alignment *alignment,
				    const struct instance_cursor *cursor)
{
	uint64_t key = cursor->refs[0].key;

	if (is_cut(alignment, cursor))
		return ALIGNED_CUT;
	if (key < alignment->window_begin || key > alignment->window_end)
		return ALIGNED_OUTSIDE;
	if (cursor->count < alignment->rank_count)
		return cursor->count == 1 ? ALIGNED_SURPLUS : ALIGNED_MISSING;
	return do_all_agree(alignment, cursor) ? ALIGNED_MATCHED : ALIGNED_MISMATCHED;
}

bool tsi_next_instance(const struct op_alignment *alignment, struct instance_cursor *cursor)
{
	const struct sort_pair *refs = &alignment->pairs[cursor->at];
	size_t left = alignment->ref_count - cursor->at, count = 0;

	while (count < left && refs[count].key == refs[0].key && refs[0].key != NO_KEY)
		count++;
	if (count == 0)
		return false;
	cursor->refs = refs;
	cursor->count = count;
	cursor->at += count;
	cursor->verdict = judge(alignment, cursor);
	return true;
}

static struct alignment_tally tally_of(struct op_alignment *alignment, const uint64_t *keys)
{
	struct instance_cursor cursor = { 0 };
	struct alignment_tally tally = { 0 };

	sort_by_keys(alignment, keys);
	while (tsi_next_instance(alignment, &cursor)) {
		tally.counts[cursor.verdict]++;
		tally.same_step_count +=
			cursor.verdict == ALIGNED_MATCHED && are_steps_equal(alignment, &cursor);
	}
	return tally;
}

/* ---- do they end together? ---- */

/* Matched collectives that end together: as many as a sample takes. */
struct end_instances {
	const struct sort_pair *refs[END_SAMPLE_ROOM + 1]; /* of each, by rank */
	size_t count;
};

static void find_end_instances(struct op_alignment *alignment, struct end_instances *instances)
{
	struct instance_cursor cursor = { 0 };

	instances->count = 0;
	while (instances->count <= END_SAMPLE_ROOM && tsi_next_instance(alignment, &cursor))
		if (cursor.verdict == ALIGNED_MATCHED &&
		    tsi_is_synchronising(tsi_ref_op(alignment, cursor.refs[0].value)->kind))
			instances->refs[instances->count++] = cursor.refs;
}

/* Compares the keys that were counted last. */
static void compare_ends(struct op_alignment *alignment, struct end_agreement *ends)
{
	struct end_instances instances;

	find_end_instances(alignment, &instances);
	for (size_t rank = 0; rank < alignment->rank_count; rank++) {
		struct end_sample sample = { 0 };

		for (size_t i = 0; i < instances.count; i++)
			tsi_end_sample_add(&sample,
					   tsi_ref_op(alignment, instances.refs[i][0].value),
					   tsi_ref_op(alignment, instances.refs[i][rank].value));
		ends[rank] = tsi_end_agreement(&sample);
	}
}

/* Could the ops have been the same on most ranks? */
static bool is_possible(const struct op_alignment *alignment, const struct end_agreement *ends)
{
	size_t impossible = 0;

	for (size_t i = 1; i < alignment->rank_count; i++)
		impossible += !ends[i].is_possible;
	return 2 * impossible < alignment->rank_count;
}

/* ---- the choice ---- */

/* Nothing is missing, left over or different, not even at the ends. */
static bool is_perfect(const struct alignment_tally *tally)
{
	return tally->counts[ALIGNED_MATCHED] > 0 && tsi_tally_errors(tally) == 0 &&
	       tally->counts[ALIGNED_OUTSIDE] == 0;
}

static bool is_credible(const struct alignment_tally *tally)
{
	return tally->counts[ALIGNED_MATCHED] > tally->counts[ALIGNED_MISMATCHED];
}

/* Numbers say which op is which, whatever is missing. They are wrong if contents differ. */
static bool takes_sequence(const struct alignment_tally *tally)
{
	return is_credible(tally);
}

/* Ops that are not launched by a call that was seen may lie in the step after theirs. */
static bool takes_step(const struct alignment_tally *tally)
{
	return is_credible(tally) && tsi_tally_errors(tally) == 0;
}

/* Ops that look alike are not the same where most lie in different steps. */
static bool takes_order(const struct alignment_tally *tally)
{
	return 2 * tally->same_step_count >= tally->counts[ALIGNED_MATCHED];
}

/* Best evidence first. */
static const struct {
	bool (*align)(struct op_alignment *alignment);
	bool (*takes)(const struct alignment_tally *tally);
} ways[] = {
	{ align_by_sequence, takes_sequence },
	{ tsi_align_by_step, takes_step },
	{ tsi_align_by_order, takes_order },
};

/* The new keys become the best. */
static void keep_keys(struct op_alignment *alignment, const struct alignment_tally *tally)
{
	uint64_t *keys = alignment->keys;
	struct end_agreement *ends = alignment->ends;

	alignment->keys = alignment->other_keys;
	alignment->other_keys = keys;
	alignment->ends = alignment->other_ends;
	alignment->other_ends = ends;
	alignment->tally = *tally;
}

/* A credible result is outdone by a perfect one alone; another by what matches more. */
static bool is_better(const struct alignment_tally *tally, const struct alignment_tally *best)
{
	if (is_credible(best))
		return is_perfect(tally);
	return tally->counts[ALIGNED_MATCHED] > best->counts[ALIGNED_MATCHED];
}

/* Counts all matches as mismatches: contents agree, but an op had ended before its match began. */
static void refuse(struct alignment_tally *tally)
{
	tally->counts[ALIGNED_MISMATCHED] += tally->counts[ALIGNED_MATCHED];
	tally->counts[ALIGNED_MATCHED] = tally->same_step_count = 0;
	tally->is_refused = true;
}

/* Only of ranks of equal length can the result be perfect. */
static bool can_be_outdone(const struct op_alignment *alignment)
{
	if (!is_credible(&alignment->tally))
		return true;
	for (size_t i = 1; i < alignment->rank_count; i++)
		if (alignment->ranks[i].count != alignment->ranks[0].count)
			return false;
	return true;
}

static void try_ways(struct op_alignment *alignment)
{
	bool has_any = false, is_taken = false;

	for (size_t i = 0; i < TSI_COUNT_OF(ways) && !is_taken; i++) {
		if (!can_be_outdone(alignment))
			break;
		if (!ways[i].align(alignment))
			continue;
		struct alignment_tally tally = tally_of(alignment, alignment->other_keys);
		compare_ends(alignment, alignment->other_ends);
		if (!is_possible(alignment, alignment->other_ends))
			refuse(&tally);
		is_taken = ways[i].takes(&tally);
		if (!has_any || (is_taken && is_better(&tally, &alignment->tally)))
			keep_keys(alignment, &tally);
		has_any = true;
	}
}

bool tsi_align_ops(struct op_alignment *alignment)
{
	if (alignment->rank_count < 2 || alignment->tokens.arena.has_failed)
		return false;
	alignment->tally = (struct alignment_tally){ 0 };
	alignment->paired = NULL;
	for (size_t i = 0; i < alignment->ref_count; i++)
		alignment->keys[i] = NO_KEY;
	for (size_t i = 0; i < alignment->rank_count; i++)
		alignment->ends[i] = (struct end_agreement){ .is_possible = true };
	for (size_t i = 0; i < alignment->rank_count; i++)
		order_by_launch(alignment, alignment->ranks[i]);
	try_ways(alignment);
	return !alignment->tokens.arena.has_failed;
}
