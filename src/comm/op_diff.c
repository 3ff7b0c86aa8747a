/* SPDX-License-Identifier: MIT */
/*
 * Compares sequences of ops as Myers does (An O(ND) difference algorithm and its variations, 1986):
 * on diagonal k = x − y, how far do d differences lead? Sequences that differ in more than
 * MAX_DIFFERENCES are given up: what would follow from them is no evidence.
 */
#include "comm/op_diff.h"

enum { NOWHERE = INT32_MIN / 2 }; /* a diagonal that does not go so far */

/* Both sequences, read forward from their first ops or backward from their last. */
struct diff_view {
	const struct op_alignment *alignment;
	size_t model, own;              /* where reading begins, in refs */
	int32_t model_count, own_count; /* ops from there */
	bool is_backward;
	bool is_open; /* it is enough that one of them ends */
};

struct diff_path {
	int32_t differences, diagonal; /* of its last point; differences < 0: there is none */
};

static bool agree_at(const struct diff_view *view, int32_t x, int32_t y)
{
	if (view->is_backward)
		return tsi_refs_agree(view->alignment, view->model - (size_t)x,
				      view->own - (size_t)y);
	return tsi_refs_agree(view->alignment, view->model + (size_t)x, view->own + (size_t)y);
}

/* How far the diagonal came with so many differences. */
static int32_t *reached(const struct op_alignment *alignment, int32_t differences, int32_t diagonal)
{
	return &alignment->diff_rows[differences * (differences + 1) / 2 +
				     (diagonal + differences) / 2];
}

/*
 * Does the path to this diagonal come from the one above, by an op that the model lacks? Else from
 * the one below, by one that only the model has.
 */
static bool comes_from_above(const struct op_alignment *alignment, struct diff_path at)
{
	if (at.diagonal == -at.differences)
		return true;
	return at.diagonal != at.differences &&
	       *reached(alignment, at.differences - 1, at.diagonal - 1) <
		       *reached(alignment, at.differences - 1, at.diagonal + 1);
}

/* Where the path enters this diagonal. */
static int32_t entry(const struct op_alignment *alignment, struct diff_path at)
{
	if (at.differences == 0)
		return 0;
	if (comes_from_above(alignment, at))
		return *reached(alignment, at.differences - 1, at.diagonal + 1);
	return *reached(alignment, at.differences - 1, at.diagonal - 1) + 1;
}

/* Follows a diagonal as long as ops agree; NOWHERE outside of the sequences. */
static int32_t follow(const struct op_alignment *alignment, const struct diff_view *view,
		      struct diff_path at)
{
	int32_t x = entry(alignment, at);

	if (x < 0 || x > view->model_count || x - at.diagonal < 0 ||
	    x - at.diagonal > view->own_count)
		return NOWHERE;
	while (x < view->model_count && x - at.diagonal < view->own_count &&
	       agree_at(view, x, x - at.diagonal))
		x++;
	return x;
}

static bool is_at_end(const struct diff_view *view, int32_t x, int32_t y)
{
	if (view->is_open)
		return x == view->model_count || y == view->own_count;
	return x == view->model_count && y == view->own_count;
}

static struct diff_path find_path(const struct op_alignment *alignment,
				  const struct diff_view *view)
{
	struct diff_path at = { 0 };

	for (; at.differences <= MAX_DIFFERENCES; at.differences++) {
		for (at.diagonal = -at.differences; at.diagonal <= at.differences;
		     at.diagonal += 2) {
			int32_t x = follow(alignment, view, at);

			*reached(alignment, at.differences, at.diagonal) = x;
			if (x != NOWHERE && is_at_end(view, x, x - at.diagonal))
				return at;
		}
	}
	return (struct diff_path){ .differences = -1 };
}

/* Walks a path back and says of each op on it which it is; indices count from the view's begin. */
static void trace_path(const struct op_alignment *alignment, struct diff_path at, int32_t *model_of)
{
	for (; at.differences >= 0; at.differences--) {
		int32_t x = *reached(alignment, at.differences, at.diagonal);
		int32_t from = entry(alignment, at);

		while (x-- > from)
			model_of[x - at.diagonal] = x;
		if (at.differences > 0)
			at.diagonal += comes_from_above(alignment, at) ? 1 : -1;
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
static void drop_ambiguous(struct op_alignment *alignment, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (alignment->forward[i] != alignment->backward[i])
			alignment->forward[i] = OP_DOUBTFUL;
}

/* Ops between or beside those that are known: as many on both sides are the same, but differ. */
static void pair_gap(struct op_alignment *alignment, struct op_range model, struct op_range own,
		     const struct op_range *gaps)
{
	if (gaps[0].count != gaps[1].count)
		return;
	for (size_t i = 0; i < gaps[0].count; i++) {
		size_t x = gaps[0].first + i, y = gaps[1].first + i;
		bool agree = tsi_refs_agree(alignment, model.first + x, own.first + y);

		alignment->forward[y] = agree ? OP_DOUBTFUL : (int32_t)x;
	}
}

static void pair_gaps(struct op_alignment *alignment, struct op_range model, struct op_range own)
{
	struct op_range gaps[2] = { { 0 }, { 0 } }; /* in both sequences */

	for (size_t y = 0; y < own.count; y++) {
		if (alignment->forward[y] < 0)
			continue;
		gaps[0].count = (size_t)alignment->forward[y] - gaps[0].first;
		gaps[1].count = y - gaps[1].first;
		pair_gap(alignment, model, own, gaps);
		gaps[0].first = (size_t)alignment->forward[y] + 1;
		gaps[1].first = y + 1;
	}
	gaps[0].count = model.count - gaps[0].first;
	gaps[1].count = own.count - gaps[1].first;
	pair_gap(alignment, model, own, gaps);
}

static struct diff_view view_of(const struct op_alignment *alignment, struct op_range model,
				struct op_range own, bool is_backward)
{
	return (struct diff_view){
		.alignment = alignment,
		.model = is_backward ? model.first + model.count - 1 : model.first,
		.own = is_backward ? own.first + own.count - 1 : own.first,
		.model_count = (int32_t)model.count,
		.own_count = (int32_t)own.count,
		.is_backward = is_backward,
	};
}

/* Ops that differ if the k-th is taken for the k-th; of sequences of equal length. */
static size_t count_different(const struct op_alignment *alignment, struct op_range model,
			      struct op_range own)
{
	size_t count = 0;

	for (size_t i = 0; i < own.count; i++)
		count += !tsi_refs_agree(alignment, model.first + i, own.first + i);
	return count;
}

/* One op instead of another counts as two differences: one is missing, one is surplus. */
static bool is_in_place(const struct op_alignment *alignment, struct op_range model,
			struct op_range own, struct diff_path path)
{
	return model.count == own.count && path.differences >= 0 &&
	       2 * count_different(alignment, model, own) <= (size_t)path.differences;
}

void tsi_op_diff_closed(struct op_alignment *alignment, struct op_range model, struct op_range own)
{
	struct diff_view view = view_of(alignment, model, own, false);
	struct diff_path path = find_path(alignment, &view);

	if (is_in_place(alignment, model, own, path)) {
		for (size_t i = 0; i < own.count; i++)
			alignment->forward[i] = (int32_t)i;
		return;
	}
	fill_inserted(alignment->forward, own.count);
	fill_inserted(alignment->backward, own.count);
	trace_path(alignment, path, alignment->forward);
	view = view_of(alignment, model, own, true);
	trace_path(alignment, find_path(alignment, &view), alignment->backward);
	turn_round(alignment->backward, own.count, model.count);
	drop_ambiguous(alignment, own.count);
	pair_gaps(alignment, model, own);
}

void tsi_op_diff_around(struct op_alignment *alignment, struct op_range model, struct op_range own,
			size_t anchor_model, size_t anchor_own)
{
	struct op_range model_before = { model.first, anchor_model - model.first };
	struct op_range own_before = { own.first, anchor_own - own.first };
	struct op_range model_after = { anchor_model, model.count - model_before.count };
	struct op_range own_after = { anchor_own, own.count - own_before.count };
	struct diff_view view = view_of(alignment, model_before, own_before, true);

	fill_inserted(alignment->forward, own.count);
	view.is_open = true;
	trace_path(alignment, find_path(alignment, &view), alignment->forward);
	turn_round(alignment->forward, own_before.count, model_before.count);
	view = view_of(alignment, model_after, own_after, false);
	view.is_open = true;
	trace_path(alignment, find_path(alignment, &view), alignment->forward + own_before.count);
	for (size_t i = own_before.count; i < own.count; i++)
		if (alignment->forward[i] >= 0)
			alignment->forward[i] += (int32_t)model_before.count;
	pair_gaps(alignment, model, own);
}

void tsi_op_diff_keys(struct op_alignment *alignment, struct op_range own, uint64_t base,
		      uint64_t stride)
{
	uint64_t *keys = &alignment->other_keys[own.first], key = base;

	for (size_t i = 0; i < own.count; i++) {
		int32_t at = alignment->forward[i];

		key = at < 0 ? key + (at == OP_INSERTED) : base + (uint64_t)(at + 1) * stride;
		keys[i] = at == OP_DOUBTFUL ? NO_KEY : key;
	}
}
