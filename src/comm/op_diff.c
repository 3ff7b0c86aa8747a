/* SPDX-License-Identifier: MIT */
/*
 * Compares sequences of ops as Myers does (An O(ND) difference algorithm and its variations, 1986):
 * on diagonal k = x − y, how far do d differences lead? Sequences that differ in more than
 * MAX_DIFFERENCES are given up: what would follow from them is no evidence.
 */
#include "comm/op_diff.h"

#include <stdlib.h>

#include "base/array.h"

enum {
	MAX_DIFFERENCES = 128,
	ROW_ROOM = (MAX_DIFFERENCES + 1) * (MAX_DIFFERENCES + 2) / 2,
	NOWHERE = INT32_MIN / 2, /* a diagonal that does not go so far */
};

/* Both sequences, read forward from their first ops or backward from their last. */
struct diff_view {
	const struct op_alignment *alignment;
	size_t model, lane;              /* where reading begins, in refs */
	int32_t model_count, lane_count; /* ops from there */
	bool is_backward;
	bool is_open; /* it is enough that one of them ends */
};

struct diff_path {
	int32_t differences, diagonal; /* of its last point; differences < 0: there is none */
};

static size_t longest_lane(const struct op_alignment *alignment)
{
	size_t longest = 0;

	for (size_t i = 0; i < alignment->lane_count; i++)
		if (alignment->lanes[i].count > longest)
			longest = alignment->lanes[i].count;
	return longest;
}

static enum tscope_status make_room(struct op_alignment *alignment, size_t wanted,
				    struct tscope_error *err)
{
	int32_t **rows = &alignment->diff_rows, **indices = alignment->diff_indices;

	if (!*rows && tsi_array_new(rows, ROW_ROOM, sizeof(**rows), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (wanted <= alignment->index_room)
		return TSCOPE_OK;
	free(indices[0]);
	free(indices[1]);
	indices[0] = indices[1] = NULL;
	alignment->index_room = 0;
	if (tsi_array_new(&indices[0], wanted, sizeof(**indices), err) != TSCOPE_OK ||
	    tsi_array_new(&indices[1], wanted, sizeof(**indices), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	alignment->index_room = wanted;
	return TSCOPE_OK;
}

enum tscope_status tsi_op_diff_init(struct op_diff *diff, struct op_alignment *alignment,
				    struct tscope_error *err)
{
	if (make_room(alignment, longest_lane(alignment), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	*diff = (struct op_diff){
		.alignment = alignment,
		.rows = alignment->diff_rows,
		.forward = alignment->diff_indices[0],
		.backward = alignment->diff_indices[1],
	};
	return TSCOPE_OK;
}

static bool agree_at(const struct diff_view *view, int32_t x, int32_t y)
{
	if (view->is_backward)
		return tsi_refs_agree(view->alignment, view->model - (size_t)x,
				      view->lane - (size_t)y);
	return tsi_refs_agree(view->alignment, view->model + (size_t)x, view->lane + (size_t)y);
}

/* How far the diagonal came with so many differences. */
static int32_t *reached(const struct op_diff *diff, int32_t differences, int32_t diagonal)
{
	return &diff->rows[differences * (differences + 1) / 2 + (diagonal + differences) / 2];
}

/*
 * Does the path to this diagonal come from the one above, by an op that only the lane has? Else
 * from the one below, by one that only the model has.
 */
static bool comes_from_above(const struct op_diff *diff, struct diff_path at)
{
	if (at.diagonal == -at.differences)
		return true;
	return at.diagonal != at.differences &&
	       *reached(diff, at.differences - 1, at.diagonal - 1) <
		       *reached(diff, at.differences - 1, at.diagonal + 1);
}

/* Where the path enters this diagonal. */
static int32_t entry(const struct op_diff *diff, struct diff_path at)
{
	if (at.differences == 0)
		return 0;
	if (comes_from_above(diff, at))
		return *reached(diff, at.differences - 1, at.diagonal + 1);
	return *reached(diff, at.differences - 1, at.diagonal - 1) + 1;
}

/* Follows a diagonal as long as ops agree; NOWHERE outside of the sequences. */
static int32_t follow(const struct op_diff *diff, const struct diff_view *view, struct diff_path at)
{
	int32_t x = entry(diff, at);

	if (x < 0 || x > view->model_count || x - at.diagonal < 0 ||
	    x - at.diagonal > view->lane_count)
		return NOWHERE;
	while (x < view->model_count && x - at.diagonal < view->lane_count &&
	       agree_at(view, x, x - at.diagonal))
		x++;
	return x;
}

static bool is_at_end(const struct diff_view *view, int32_t x, int32_t y)
{
	if (view->is_open)
		return x == view->model_count || y == view->lane_count;
	return x == view->model_count && y == view->lane_count;
}

static struct diff_path find_path(const struct op_diff *diff, const struct diff_view *view)
{
	struct diff_path at = { 0 };

	for (; at.differences <= MAX_DIFFERENCES; at.differences++) {
		for (at.diagonal = -at.differences; at.diagonal <= at.differences;
		     at.diagonal += 2) {
			int32_t x = follow(diff, view, at);

			*reached(diff, at.differences, at.diagonal) = x;
			if (x != NOWHERE && is_at_end(view, x, x - at.diagonal))
				return at;
		}
	}
	return (struct diff_path){ .differences = -1 };
}

/* Walks a path back and says of each op on it which it is; indices count from the view's begin. */
static void trace_path(const struct op_diff *diff, struct diff_path at, int32_t *model_of)
{
	for (; at.differences >= 0; at.differences--) {
		int32_t x = *reached(diff, at.differences, at.diagonal);
		int32_t from = entry(diff, at);

		while (x-- > from)
			model_of[x - at.diagonal] = x;
		if (at.differences > 0)
			at.diagonal += comes_from_above(diff, at) ? 1 : -1;
	}
}

static void fill_inserted(int32_t *model_of, size_t count)
{
	for (size_t i = 0; i < count; i++)
		model_of[i] = OP_INSERTED;
}

/* Turns what a view from the end says into indices from the begin. */
static void turn_round(int32_t *model_of, size_t count, size_t model_count)
{
	for (size_t i = 0, k = count; i < k--; i++) {
		int32_t first = model_of[i], last = model_of[k];

		model_of[i] = last;
		model_of[k] = first;
	}
	for (size_t i = 0; i < count; i++)
		if (model_of[i] >= 0)
			model_of[i] = (int32_t)model_count - 1 - model_of[i];
}

/*
 * Which op is missing of a row of equal ones? Where the fewest differences can be had in several
 * ways, the way that puts them late and the one that puts them early disagree.
 */
static void drop_ambiguous(struct op_diff *diff, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (diff->forward[i] != diff->backward[i])
			diff->forward[i] = OP_DOUBTFUL;
}

/* Ops between or beside those that are known: as many on both sides are the same, but differ. */
static void pair_gap(struct op_diff *diff, struct op_lane model, struct op_lane lane,
		     const struct op_lane *gaps)
{
	if (gaps[0].count != gaps[1].count)
		return;
	for (size_t i = 0; i < gaps[0].count; i++) {
		size_t x = gaps[0].first + i, y = gaps[1].first + i;
		bool agree = tsi_refs_agree(diff->alignment, model.first + x, lane.first + y);

		diff->forward[y] = agree ? OP_DOUBTFUL : (int32_t)x;
	}
}

static void pair_gaps(struct op_diff *diff, struct op_lane model, struct op_lane lane)
{
	struct op_lane gaps[2] = { { 0 }, { 0 } }; /* in the model, in the lane */

	for (size_t y = 0; y < lane.count; y++) {
		if (diff->forward[y] < 0)
			continue;
		gaps[0].count = (size_t)diff->forward[y] - gaps[0].first;
		gaps[1].count = y - gaps[1].first;
		pair_gap(diff, model, lane, gaps);
		gaps[0].first = (size_t)diff->forward[y] + 1;
		gaps[1].first = y + 1;
	}
	gaps[0].count = model.count - gaps[0].first;
	gaps[1].count = lane.count - gaps[1].first;
	pair_gap(diff, model, lane, gaps);
}

static struct diff_view view_of(const struct op_diff *diff, struct op_lane model,
				struct op_lane lane, bool is_backward)
{
	return (struct diff_view){
		.alignment = diff->alignment,
		.model = is_backward ? model.first + model.count - 1 : model.first,
		.lane = is_backward ? lane.first + lane.count - 1 : lane.first,
		.model_count = (int32_t)model.count,
		.lane_count = (int32_t)lane.count,
		.is_backward = is_backward,
	};
}

/* Ops that differ if the k-th is taken for the k-th; of sequences of equal length. */
static size_t count_different(const struct op_diff *diff, struct op_lane model, struct op_lane lane)
{
	size_t count = 0;

	for (size_t i = 0; i < lane.count; i++)
		count += !tsi_refs_agree(diff->alignment, model.first + i, lane.first + i);
	return count;
}

/* One op instead of another counts as two differences: one is missing, one is surplus. */
static bool is_in_place(const struct op_diff *diff, struct op_lane model, struct op_lane lane,
			struct diff_path path)
{
	return model.count == lane.count && path.differences >= 0 &&
	       2 * count_different(diff, model, lane) <= (size_t)path.differences;
}

void tsi_op_diff_closed(struct op_diff *diff, struct op_lane model, struct op_lane lane)
{
	struct diff_view view = view_of(diff, model, lane, false);
	struct diff_path path = find_path(diff, &view);

	if (is_in_place(diff, model, lane, path)) {
		for (size_t i = 0; i < lane.count; i++)
			diff->forward[i] = (int32_t)i;
		return;
	}
	fill_inserted(diff->forward, lane.count);
	fill_inserted(diff->backward, lane.count);
	trace_path(diff, path, diff->forward);
	view = view_of(diff, model, lane, true);
	trace_path(diff, find_path(diff, &view), diff->backward);
	turn_round(diff->backward, lane.count, model.count);
	drop_ambiguous(diff, lane.count);
	pair_gaps(diff, model, lane);
}

void tsi_op_diff_around(struct op_diff *diff, struct op_lane model, struct op_lane lane,
			size_t anchor_model, size_t anchor_lane)
{
	struct op_lane model_before = { model.first, anchor_model - model.first };
	struct op_lane lane_before = { lane.first, anchor_lane - lane.first };
	struct op_lane model_after = { anchor_model, model.count - model_before.count };
	struct op_lane lane_after = { anchor_lane, lane.count - lane_before.count };
	struct diff_view view = view_of(diff, model_before, lane_before, true);

	fill_inserted(diff->forward, lane.count);
	view.is_open = true;
	trace_path(diff, find_path(diff, &view), diff->forward);
	turn_round(diff->forward, lane_before.count, model_before.count);
	view = view_of(diff, model_after, lane_after, false);
	view.is_open = true;
	trace_path(diff, find_path(diff, &view), diff->forward + lane_before.count);
	for (size_t i = lane_before.count; i < lane.count; i++)
		if (diff->forward[i] >= 0)
			diff->forward[i] += (int32_t)model_before.count;
	pair_gaps(diff, model, lane);
}

void tsi_op_diff_keys(const struct op_diff *diff, struct op_lane lane, uint64_t base,
		      uint64_t stride, uint64_t *keys)
{
	uint64_t key = base;

	for (size_t i = 0; i < lane.count; i++) {
		if (diff->forward[i] == OP_DOUBTFUL) {
			keys[lane.first + i] = NO_KEY;
			continue;
		}
		if (diff->forward[i] == OP_INSERTED)
			key++;
		else
			key = base + (uint64_t)(diff->forward[i] + 1) * stride;
		keys[lane.first + i] = key;
	}
}
