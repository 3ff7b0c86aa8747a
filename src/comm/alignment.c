/* SPDX-License-Identifier: MIT */
/*
 * Aligns the ops of several ranks: by what says most (sequence numbers), else by steps, else by
 * order alone, and counts what came of it. Each is taken unless its result speaks against it: above
 * all, an op cannot have ended on one rank before it began on another.
 */
#include "comm/alignment.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static void free_room(struct op_alignment *alignment)
{
	free(alignment->keys);
	free(alignment->other_keys);
	free(alignment->ends);
	free(alignment->other_ends);
	free(alignment->pairs);
	free(alignment->scratch);
	alignment->keys = alignment->other_keys = NULL;
	alignment->ends = alignment->other_ends = NULL;
	alignment->pairs = alignment->scratch = NULL;
	alignment->ref_room = alignment->lane_room = 0;
}

void tsi_op_alignment_deinit(struct op_alignment *alignment)
{
	free(alignment->refs);
	free(alignment->lanes);
	free(alignment->diff_rows);
	free(alignment->diff_indices[0]);
	free(alignment->diff_indices[1]);
	free_room(alignment);
	*alignment = (struct op_alignment){ 0 };
}

static enum tscope_status make_room(struct op_alignment *alignment, struct tscope_error *err)
{
	size_t refs = alignment->ref_capacity, lanes = alignment->lane_capacity;

	if (refs == alignment->ref_room && lanes == alignment->lane_room)
		return TSCOPE_OK;
	free_room(alignment);
	if (tsi_array_new(&alignment->keys, refs, sizeof(*alignment->keys), err) != TSCOPE_OK ||
	    tsi_array_new(&alignment->other_keys, refs, sizeof(*alignment->other_keys), err) !=
		    TSCOPE_OK ||
	    tsi_array_new(&alignment->ends, lanes, sizeof(*alignment->ends), err) != TSCOPE_OK ||
	    tsi_array_new(&alignment->other_ends, lanes, sizeof(*alignment->other_ends), err) !=
		    TSCOPE_OK ||
	    tsi_array_new(&alignment->pairs, refs, sizeof(*alignment->pairs), err) != TSCOPE_OK ||
	    tsi_array_new(&alignment->scratch, refs, sizeof(*alignment->scratch), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	alignment->ref_room = refs;
	alignment->lane_room = lanes;
	return TSCOPE_OK;
}

enum tscope_status tsi_op_alignment_begin(struct op_alignment *alignment, size_t count,
					  struct tscope_error *err)
{
	alignment->ref_count = alignment->lane_count = 0;
	return tsi_array_reserve(&alignment->refs, &alignment->ref_capacity, count,
				 sizeof(*alignment->refs), err);
}

enum tscope_status tsi_op_alignment_add(struct op_alignment *alignment, uint32_t rank, uint32_t op,
					struct tscope_error *err)
{
	struct op_ref ref = { .rank = rank, .op = op };

	if (tsi_op_token(alignment->tokens, rank, op, &ref.token, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (alignment->lane_count == 0 || alignment->refs[alignment->ref_count - 1].rank != rank) {
		if (tsi_array_reserve(&alignment->lanes, &alignment->lane_capacity,
				      alignment->lane_count + 1, sizeof(*alignment->lanes),
				      err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		alignment->lanes[alignment->lane_count++] =
			(struct op_lane){ alignment->ref_count, 0 };
	}
	alignment->lanes[alignment->lane_count - 1].count++;
	alignment->refs[alignment->ref_count++] = ref;
	return TSCOPE_OK;
}

/* ---- order ---- */

/*
 * Ops run in the order of their calls on a stream, but not on several, nor in the threads of a
 * backend without kernels: the calls are what all ranks have in common.
 */
static void order_by_launch(struct op_alignment *alignment, struct op_lane lane)
{
	struct sort_pair *pairs = alignment->pairs;

	for (size_t i = 0; i < lane.count; i++) {
		const struct op_ref *ref = &alignment->refs[lane.first + i];
		int64_t launch_ns = tsi_ref_op(alignment, lane.first + i)->launch_ns;

		if (launch_ns == NO_NUMBER)
			return;
		pairs[i].key = tsi_sort_key_of_int64(launch_ns);
		pairs[i].value = (uint64_t)ref->op << 32 | ref->token;
	}
	tsi_sort_pairs(pairs, alignment->scratch, lane.count);
	for (size_t i = 0; i < lane.count; i++) {
		alignment->refs[lane.first + i].op = (uint32_t)(pairs[i].value >> 32);
		alignment->refs[lane.first + i].token = (uint32_t)pairs[i].value;
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

static bool number_lane(const struct op_alignment *alignment, struct op_lane lane, uint64_t *keys,
			uint32_t *restarts)
{
	struct sequence_place place = { .number = -1 };

	for (size_t i = lane.first; i < lane.first + lane.count; i++) {
		if (!next_place(&place, tsi_ref_op(alignment, i)->sequence))
			return false;
		keys[i] =
			(uint64_t)place.restarts << 56 | (uint64_t)place.number << 16 | place.index;
	}
	*restarts = place.restarts;
	return true;
}

static enum tscope_status align_by_sequence(struct op_alignment *alignment, uint64_t *keys,
					    bool *is_done, struct tscope_error *err)
{
	uint32_t restarts = 0, first_restarts = 0;

	(void)err;
	for (size_t i = 0; i < alignment->lane_count; i++) {
		if (!number_lane(alignment, alignment->lanes[i], keys, &restarts))
			return TSCOPE_OK;
		if (i == 0)
			first_restarts = restarts;
		if (restarts != first_restarts)
			return TSCOPE_OK;
	}
	*is_done = true;
	return TSCOPE_OK;
}

/* ---- what came of it ---- */

/*
 * The captures of all lanes have in common what lies between the first and the last instance that
 * is on all of them. What some lack before and after that, they may have lost to their captures.
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
		if (count != alignment->lane_count || pairs[at].key == NO_KEY)
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
	if (cursor->count < alignment->lane_count)
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
	const struct sort_pair *refs[END_SAMPLE_ROOM + 1]; /* of each, by lane */
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

/* Of the keys that were counted last. */
static void compare_ends(struct op_alignment *alignment, struct end_agreement *ends)
{
	struct end_instances instances;

	find_end_instances(alignment, &instances);
	for (size_t lane = 0; lane < alignment->lane_count; lane++) {
		struct end_sample sample = { 0 };

		for (size_t i = 0; i < instances.count; i++)
			tsi_end_sample_add(&sample,
					   tsi_ref_op(alignment, instances.refs[i][0].value),
					   tsi_ref_op(alignment, instances.refs[i][lane].value));
		ends[lane] = tsi_end_agreement(&sample);
	}
}

/* Could the ops have been the same on most ranks? */
static bool is_possible(const struct op_alignment *alignment, const struct end_agreement *ends)
{
	size_t impossible = 0;

	for (size_t i = 1; i < alignment->lane_count; i++)
		impossible += !ends[i].is_possible;
	return 2 * impossible < alignment->lane_count;
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
	align_function *align;
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

/* What matches by its contents, but had ended before it began, is something else. */
static void refuse(struct alignment_tally *tally)
{
	tally->counts[ALIGNED_MISMATCHED] += tally->counts[ALIGNED_MATCHED];
	tally->counts[ALIGNED_MATCHED] = tally->same_step_count = 0;
	tally->is_refused = true;
}

/* Only of lanes of equal length can the result be perfect. */
static bool can_be_outdone(const struct op_alignment *alignment)
{
	if (!is_credible(&alignment->tally))
		return true;
	for (size_t i = 1; i < alignment->lane_count; i++)
		if (alignment->lanes[i].count != alignment->lanes[0].count)
			return false;
	return true;
}

static enum tscope_status try_ways(struct op_alignment *alignment, struct tscope_error *err)
{
	bool has_any = false, is_taken = false;

	for (size_t i = 0; i < TSI_COUNT_OF(ways) && !is_taken; i++) {
		bool is_done = false;

		if (!can_be_outdone(alignment))
			break;
		if (ways[i].align(alignment, alignment->other_keys, &is_done, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		if (!is_done)
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
	return TSCOPE_OK;
}

enum tscope_status tsi_align_ops(struct op_alignment *alignment, struct tscope_error *err)
{
	if (make_room(alignment, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	alignment->tally = (struct alignment_tally){ 0 };
	alignment->paired = NULL;
	for (size_t i = 0; i < alignment->ref_count; i++)
		alignment->keys[i] = NO_KEY;
	for (size_t i = 0; i < alignment->lane_count; i++)
		alignment->ends[i] = (struct end_agreement){ .is_possible = true };
	for (size_t i = 0; i < alignment->lane_count; i++)
		order_by_launch(alignment, alignment->lanes[i]);
	return try_ways(alignment, err);
}
