/* SPDX-License-Identifier: MIT */
/*
 * Aligns ops by order alone: the longest rank is the model, and a piece from each other one is
 * looked for in it. Jobs repeat themselves, so a piece is found once per step; of the places where
 * the longest stretches agree that one is right at which the ops also end together.
 */
#include "comm/end_sample.h"
#include "comm/op_diff.h"

enum {
	MAX_PROBE = 64,   /* ops in a piece that is looked for: as many, then a quarter … */
	MAX_ANCHORS = 64, /* places where it was found that are looked at */
};

/* Where the probe of a rank lies in the model. */
struct anchor {
	size_t model, own; /* its first op, in refs */
	size_t overlap;    /* ops of both sequences that would lie beside one another */
};

struct anchors {
	struct anchor items[MAX_ANCHORS]; /* by overlap, largest first */
	size_t count;
};

struct order_view {
	struct op_alignment *alignment;
	struct op_range model, own;
};

static size_t overlap_at(const struct order_view *view, size_t model, size_t own)
{
	size_t before = model - view->model.first, own_before = own - view->own.first;
	size_t after = view->model.count - before, own_after = view->own.count - own_before;

	return (before < own_before ? before : own_before) +
	       (after < own_after ? after : own_after);
}

static void add_anchor(const struct order_view *view, struct anchors *anchors, size_t model,
		       size_t own)
{
	struct anchor anchor = { model, own, overlap_at(view, model, own) };
	size_t at = anchors->count;

	if (at == MAX_ANCHORS) {
		if (anchors->items[--at].overlap >= anchor.overlap)
			return;
	} else {
		anchors->count++;
	}
	for (; at > 0 && anchors->items[at - 1].overlap < anchor.overlap; at--)
		anchors->items[at] = anchors->items[at - 1];
	anchors->items[at] = anchor;
}

/* After how many agreeing ops could the probe begin anew? (Knuth, Morris and Pratt) */
static void find_borders(const struct op_ref *probe, size_t length, size_t *borders)
{
	size_t border = 0;

	borders[0] = 0;
	for (size_t i = 1; i < length; i++) {
		while (border > 0 && probe[i].token != probe[border].token)
			border = borders[border - 1];
		border += probe[i].token == probe[border].token;
		borders[i] = border;
	}
}

/* Every place where the model has the same ops as the rank from `at` on. */
static void find_probe(const struct order_view *view, size_t at, size_t length,
		       struct anchors *anchors)
{
	const struct op_ref *refs = view->alignment->refs, *probe = &refs[at];
	size_t borders[MAX_PROBE], agreed = 0;

	find_borders(probe, length, borders);
	for (size_t i = view->model.first; i < view->model.first + view->model.count; i++) {
		while (agreed > 0 && refs[i].token != probe[agreed].token)
			agreed = borders[agreed - 1];
		agreed += refs[i].token == probe[agreed].token;
		if (agreed == length) {
			add_anchor(view, anchors, i + 1 - length, at);
			agreed = borders[agreed - 1];
		}
	}
}

/* Looks for long pieces first, from the middle of the rank and from beside it. */
static void find_anchors(const struct order_view *view, struct anchors *anchors)
{
	static const size_t eighths[] = { 4, 2, 6, 1, 7, 3, 5, 0 };

	for (size_t length = MAX_PROBE; length > 0; length /= 4) {
		for (size_t i = 0; i < TSI_COUNT_OF(eighths); i++) {
			size_t at = view->own.count * eighths[i] / 8;

			if (at + length > view->own.count)
				continue;
			find_probe(view, view->own.first + at, length, anchors);
			if (anchors->count > 0)
				return;
		}
	}
}

/* The stretch around an anchor in which all ops agree: its length, and how its ops end. */
static size_t look_around(const struct order_view *view, const struct anchor *anchor,
			  struct end_agreement *ends)
{
	const struct op_alignment *alignment = view->alignment;
	struct end_sample sample = { 0 };
	size_t model = anchor->model, own = anchor->own, length = 0;

	while (model > view->model.first && own > view->own.first &&
	       tsi_refs_agree(alignment, model - 1, own - 1)) {
		model--;
		own--;
	}
	while (model < view->model.first + view->model.count &&
	       own < view->own.first + view->own.count && tsi_refs_agree(alignment, model, own)) {
		tsi_end_sample_add(&sample, tsi_ref_op(alignment, model++),
				   tsi_ref_op(alignment, own++));
		length++;
	}
	*ends = tsi_end_agreement(&sample);
	return length;
}

static bool is_clearly_better(const struct end_agreement *ends, const struct end_agreement *best)
{
	if (ends->count == 0 || best->count == 0)
		return false;
	return ends->is_possible &&
	       (!best->is_possible || ends->spread_ns < best->spread_ns / CLEARLY_WORSE);
}

static const struct anchor *choose_anchor(const struct order_view *view,
					  const struct anchors *anchors)
{
	const struct anchor *best = NULL;
	struct end_agreement best_ends = { 0 };
	size_t longest = 0;

	for (size_t i = 0; i < anchors->count; i++) {
		struct end_agreement ends;
		size_t length = look_around(view, &anchors->items[i], &ends);

		if (2 * length < longest)
			continue;
		if (!best || length > 2 * longest || is_clearly_better(&ends, &best_ends) ||
		    (length > longest && !is_clearly_better(&best_ends, &ends))) {
			best = &anchors->items[i];
			best_ends = ends;
			longest = length;
		}
	}
	/* One of several places, and not one that the ends confirm, would be a guess. */
	if (anchors->count > 1 && best_ends.count > 0 && !tsi_do_end_together(&best_ends))
		return NULL;
	return best;
}

/* As many ops, most of them the same in their places: they were captured alike. */
static bool is_alike(const struct order_view *view)
{
	size_t same = 0;

	if (view->model.count != view->own.count)
		return false;
	for (size_t i = 0; i < view->own.count; i++)
		same += tsi_refs_agree(view->alignment, view->model.first + i, view->own.first + i);
	return 2 * same > view->own.count;
}

static void align_rank(const struct order_view *view)
{
	struct op_alignment *alignment = view->alignment;
	struct anchors anchors = { 0 };
	const struct anchor *anchor;

	if (is_alike(view)) {
		tsi_op_diff_closed(alignment, view->model, view->own);
	} else {
		find_anchors(view, &anchors);
		anchor = choose_anchor(view, &anchors);
		if (!anchor) {
			for (size_t i = 0; i < view->own.count; i++)
				alignment->other_keys[view->own.first + i] = NO_KEY;
			return;
		}
		tsi_op_diff_around(alignment, view->model, view->own, anchor->model, anchor->own);
	}
	tsi_op_diff_keys(alignment, view->own, 0, view->model.count + 1);
}

bool tsi_align_by_order(struct op_alignment *alignment)
{
	struct order_view view = { .alignment = alignment };

	for (size_t i = 0; i < alignment->rank_count; i++)
		if (alignment->ranks[i].count > view.model.count)
			view.model = alignment->ranks[i];
	for (size_t i = 0; i < alignment->rank_count; i++) {
		view.own = alignment->ranks[i];
		align_rank(&view);
	}
	return true;
}
