/* SPDX-License-Identifier: MIT */
/*
 * Aligns ops by the steps that launched them. Steps hang together by their numbers, so that each
 * is aligned by itself: the k-th op of a step is the k-th everywhere, unless counts or contents
 * differ; then the sequence that most ranks have is the model that the others are compared with.
 */
#include "comm/op_diff.h"

/* Ops of a step in one rank. Ops of no step lie in a place of their own before or after one. */
struct step_slice {
	struct op_range ops;
	int64_t step;
	uint64_t place; /* in order: 2 × the number's rank among all + 1; even: between steps */
	bool is_first, is_last; /* of its rank */
};

struct slicing {
	struct arena arena;
	struct op_alignment *alignment;
	struct step_slice *items;
	size_t count, capacity;
	struct sort_pair *order; /* of slices */
};

/* Cuts a rank where the step changes. */
static void cut_rank(struct slicing *slicing, struct op_range rank)
{
	size_t first_slice = slicing->count;

	for (size_t i = rank.first; i < rank.first + rank.count; i++) {
		int64_t step = tsi_ref_op(slicing->alignment, i)->step;

		if (i == rank.first || slicing->items[slicing->count - 1].step != step) {
			struct step_slice *slice =
				tsi_arena_push(&slicing->arena, &slicing->items, &slicing->count,
					       &slicing->capacity, sizeof(*slicing->items));
			if (!slice)
				return;
			*slice = (struct step_slice){ .ops.first = i, .step = step };
		}
		slicing->items[slicing->count - 1].ops.count++;
	}
	slicing->items[first_slice].is_first = true;
	slicing->items[slicing->count - 1].is_last = true;
}

/* Gives the steps of all ranks their places. */
static void place_steps(struct slicing *slicing)
{
	size_t count = 0;
	uint64_t place = 1;

	for (size_t i = 0; i < slicing->count; i++)
		if (slicing->items[i].step != NO_NUMBER)
			slicing->order[count++] =
				(struct sort_pair){ tsi_sort_key_of_int64(slicing->items[i].step),
						    i };
	tsi_latch_sort(&slicing->arena, slicing->order, count);
	for (size_t i = 0; i < count; i++) {
		if (i > 0 && slicing->order[i].key != slicing->order[i - 1].key)
			place += 2;
		slicing->items[slicing->order[i].value].place = place;
	}
}

/*
 * Puts ops of no step before the step that follows, at the begin of a rank, or after the one
 * before. False where a rank has no steps, or they do not ascend.
 */
static bool place_rest(struct slicing *slicing)
{
	for (size_t i = 0; i < slicing->count; i++) {
		struct step_slice *slice = &slicing->items[i];

		if (slice->is_first && slice->step == NO_NUMBER) {
			if (slice->is_last)
				return false;
			slice->place = slice[1].place - 1;
		} else if (slice->step == NO_NUMBER) {
			slice->place = slice[-1].place + 1;
		}
		if (!slice->is_first && slice->place <= slice[-1].place)
			return false;
	}
	return true;
}

/* ---- one step ---- */

struct step_view {
	const struct slicing *slicing;
	const struct sort_pair *slices; /* those of a place, by rank */
	size_t count;
	uint64_t base, stride; /* of its keys */
};

static const struct step_slice *slice_at(const struct step_view *view, size_t i)
{
	return &view->slicing->items[view->slices[i].value];
}

static uint64_t hash_of(const struct op_alignment *alignment, struct op_range ops)
{
	uint64_t hash = ops.count;

	for (size_t i = ops.first; i < ops.first + ops.count; i++)
		hash = (hash ^ alignment->refs[i].token) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

/* Does the rank go on before and after the step, so that nothing of it is cut off? */
static bool is_whole(const struct step_slice *slice)
{
	return !slice->is_first && !slice->is_last;
}

static struct op_range find_longest(const struct step_view *view)
{
	struct op_range longest = slice_at(view, 0)->ops;

	for (size_t i = 1; i < view->count; i++)
		if (slice_at(view, i)->ops.count > longest.count)
			longest = slice_at(view, i)->ops;
	return longest;
}

/*
 * The sequence that most of those ranks have which have the whole step. Counted as votes against
 * one another (Boyer and Moore): exact where more than half agree, and elsewhere one as good as
 * another. Where no rank goes on to both sides, the longest one.
 */
static struct op_range find_model(const struct step_view *view)
{
	const struct op_alignment *alignment = view->slicing->alignment;
	struct op_range model = find_longest(view);
	uint64_t hash = 0;
	size_t votes = 0;

	for (size_t i = 0; i < view->count; i++) {
		const struct step_slice *slice = slice_at(view, i);

		if (!is_whole(slice))
			continue;
		uint64_t other = hash_of(alignment, slice->ops);
		if (votes == 0) {
			model = slice->ops;
			hash = other;
		}
		if (other == hash)
			votes++;
		else
			votes--;
	}
	return model;
}

/* Do as many ops as both have agree, from their begin or from their end? */
static bool do_ends_agree(const struct op_alignment *alignment, struct op_range a,
			  struct op_range b, bool from_end)
{
	size_t count = a.count < b.count ? a.count : b.count;
	size_t first_a = from_end ? a.first + a.count - count : a.first;
	size_t first_b = from_end ? b.first + b.count - count : b.first;

	for (size_t i = 0; i < count; i++)
		if (!tsi_refs_agree(alignment, first_a + i, first_b + i))
			return false;
	return true;
}

/* The i-th op is the (i + shift)-th of the model. */
static void shift_keys(const struct step_view *view, struct op_range ops, int64_t shift)
{
	uint64_t *keys = &view->slicing->alignment->other_keys[ops.first];
	uint64_t before = shift < 0 ? (uint64_t)-shift : 0;

	for (size_t i = 0; i < ops.count; i++)
		keys[i] = i < before ? view->base + 1 + i
				     : view->base +
					       ((uint64_t)((int64_t)i + shift) + 1) * view->stride;
}

/* A rank's first step may have lost its begin to the capture, and its last one its end. */
static void align_slice(const struct step_view *view, struct op_range model,
			const struct step_slice *slice)
{
	struct op_alignment *alignment = view->slicing->alignment;
	bool ends_here = slice->is_last && do_ends_agree(alignment, model, slice->ops, false);
	bool begins_here = slice->is_first && do_ends_agree(alignment, model, slice->ops, true);

	if (slice->ops.count == model.count && do_ends_agree(alignment, model, slice->ops, false)) {
		shift_keys(view, slice->ops, 0);
	} else if (ends_here && !begins_here) {
		shift_keys(view, slice->ops, 0);
	} else if (begins_here && !ends_here) {
		shift_keys(view, slice->ops, (int64_t)model.count - (int64_t)slice->ops.count);
	} else {
		tsi_op_diff_closed(alignment, model, slice->ops);
		tsi_op_diff_keys(alignment, slice->ops, view->base, view->stride);
	}
}

static void align_step(struct step_view *view)
{
	struct op_range model = find_model(view);
	size_t most = find_longest(view).count;

	view->stride = most + 1;
	for (size_t i = 0; i < view->count; i++)
		align_slice(view, model, slice_at(view, i));
	view->base += (most + 1) * view->stride;
}

static void align_steps(struct slicing *slicing)
{
	struct step_view view = { .slicing = slicing };

	for (size_t i = 0; i < slicing->count; i++)
		slicing->order[i] = (struct sort_pair){ slicing->items[i].place, i };
	tsi_latch_sort(&slicing->arena, slicing->order, slicing->count);
	for (size_t at = 0; at < slicing->count; at += view.count) {
		view.slices = &slicing->order[at];
		view.count = 1;
		while (at + view.count < slicing->count &&
		       view.slices[view.count].key == view.slices[0].key)
			view.count++;
		align_step(&view);
	}
}

/* False where the steps of some rank do not say their order, or without memory. */
static bool slice_ranks(struct slicing *slicing)
{
	const struct op_alignment *alignment = slicing->alignment;

	for (size_t i = 0; i < alignment->rank_count && !slicing->arena.has_failed; i++)
		cut_rank(slicing, alignment->ranks[i]);
	slicing->order = tsi_arena_new(&slicing->arena, slicing->count, sizeof(*slicing->order));
	if (!slicing->order)
		return false;
	place_steps(slicing);
	return place_rest(slicing);
}

bool tsi_align_by_step(struct op_alignment *alignment)
{
	struct slicing slicing = { .alignment = alignment };
	bool is_sliced = slice_ranks(&slicing);

	if (is_sliced)
		align_steps(&slicing);
	tsi_latch_deinit(&alignment->tokens.arena, &slicing.arena);
	return is_sliced;
}
