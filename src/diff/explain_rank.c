/* SPDX-License-Identifier: MIT */
/* Picks the rank to be explained, and sees whether it is the only one that changed. */
#include "diff/explain_rank.h"

#include <math.h>

#include "analyze/lookup.h"
#include "analyze/shared/robust.h"
#include "diff/explain_step.h"

/* Thresholds by which one rank's change must exceed the others'. */
static const double min_change_share = 0.5; /* share of the change of the step */
static const double min_step_share = 0.01;  /* share of the step */
static const double max_other_share = 0.25; /* what the others may change, of the excess */

/* 0 where it is not known. */
static int64_t own_step_ns(const struct tscope_analysis *rank)
{
	struct tscope_value own = tsi_own_step_ns(rank);

	return own.kind == TSCOPE_VALUE_INT ? own.integer : 0;
}

/* The lowest of equal ranks. */
static const struct diff_rank *critical_rank(const struct diff_side *side)
{
	const struct diff_rank *critical = &side->ranks[0];
	int64_t most_ns = own_step_ns(critical->analysis);

	for (size_t i = 1; i < side->rank_count; i++) {
		int64_t own_ns = own_step_ns(side->ranks[i].analysis);
		if (own_ns <= most_ns)
			continue;
		critical = &side->ranks[i];
		most_ns = own_ns;
	}
	return critical;
}

/* If one side is a single rank (a lone trace), explain the same rank of the other. */
static const struct diff_rank *rank_of_only(const struct diff_side *only,
					    const struct diff_side *other)
{
	if (only->rank_count > 1 || other->rank_count == 1 || only->ranks[0].number < 0)
		return NULL;
	return tsi_diff_find_rank(other, only->ranks[0].number);
}

/*
 * The rank that makes the slower run slow, on both sides; where the other side has not got
 * it, the one there that makes that run slow. Where one side is a rank alone, that rank.
 */
static void pick(struct explained_rank *ret, const struct comparison *comparison)
{
	const struct diff_side *sides = comparison->sides;
	int64_t a_ns = tsi_lookup_int(sides[TSCOPE_SIDE_A].analysis, "step_time.mean_ns");
	int64_t b_ns = tsi_lookup_int(sides[TSCOPE_SIDE_B].analysis, "step_time.mean_ns");
	enum tscope_side slower = b_ns >= a_ns ? TSCOPE_SIDE_B : TSCOPE_SIDE_A;
	enum tscope_side other = slower == TSCOPE_SIDE_A ? TSCOPE_SIDE_B : TSCOPE_SIDE_A;

	ret->ranks[slower] = ret->critical[slower];
	ret->ranks[other] = ret->critical[other];
	const struct diff_rank *same =
		tsi_diff_find_rank(&sides[other], ret->critical[slower]->number);
	const struct diff_rank *only = rank_of_only(&sides[other], &sides[slower]);
	if (same && sides[other].rank_count > 1)
		ret->ranks[other] = same;
	if (only)
		ret->ranks[slower] = only;
}

static int64_t own_change_ns(const struct diff_rank *a, const struct diff_rank *b)
{
	return tsi_difference(own_step_ns(a->analysis), own_step_ns(b->analysis));
}

/* The changes of the ranks that both have but the explained one; room for those of A. */
static size_t list_other_changes(const struct explained_rank *rank,
				 const struct comparison *comparison, double *changes_ns)
{
	const struct diff_side *a = &comparison->sides[TSCOPE_SIDE_A];
	size_t count = 0;

	for (size_t i = 0; i < a->rank_count; i++) {
		const struct diff_rank *a_rank = &a->ranks[i];
		const struct diff_rank *b_rank =
			tsi_diff_find_rank(&comparison->sides[TSCOPE_SIDE_B], a_rank->number);
		if (b_rank && a_rank != rank->ranks[TSCOPE_SIDE_A])
			changes_ns[count++] = (double)own_change_ns(a_rank, b_rank);
	}
	return count;
}

/* Doubles hold times of months exactly. */
static int64_t round_ns(double ns)
{
	return ns >= 0x1p62 ? INT64_MAX : ns <= -0x1p62 ? INT64_MIN : (int64_t)floor(ns + 0.5);
}

/* Whether the excess is large enough, and of the right sign, to explain the change. */
static bool is_alone(const struct explained_rank *rank, double excess_ns, double others_ns)
{
	double a_ns = (double)tsi_mean_step_ns(rank->ranks[TSCOPE_SIDE_A]->analysis);
	double b_ns = (double)tsi_mean_step_ns(rank->ranks[TSCOPE_SIDE_B]->analysis);
	double change_ns = b_ns - a_ns;

	return excess_ns * change_ns > 0 && fabs(excess_ns) >= min_change_share * fabs(change_ns) &&
	       fabs(excess_ns) >= min_step_share * a_ns &&
	       others_ns < max_other_share * fabs(excess_ns);
}

static void look_at_others(struct explained_rank *ret, const struct comparison *comparison,
			   struct arena *scratch)
{
	const struct diff_rank *a = ret->ranks[TSCOPE_SIDE_A], *b = ret->ranks[TSCOPE_SIDE_B];

	if (a->number != b->number)
		return;
	double *changes_ns = tsi_arena_new(scratch, comparison->sides[TSCOPE_SIDE_A].rank_count,
					   sizeof(*changes_ns));
	size_t count = changes_ns ? list_other_changes(ret, comparison, changes_ns) : 0;
	if (!count)
		return;
	double excess_ns = (double)own_change_ns(a, b) - tsi_median(changes_ns, count);
	for (size_t i = 0; i < count; i++)
		changes_ns[i] = fabs(changes_ns[i]);
	ret->has_excess = true;
	ret->excess_ns = round_ns(excess_ns);
	ret->is_one_rank = is_alone(ret, excess_ns, tsi_median(changes_ns, count));
}

struct explained_rank tsi_explain_rank(const struct comparison *comparison, struct arena *scratch)
{
	struct explained_rank explained = { 0 };

	for (size_t side = 0; side < TSCOPE_SIDE_COUNT; side++)
		explained.critical[side] = critical_rank(&comparison->sides[side]);
	pick(&explained, comparison);
	look_at_others(&explained, comparison, scratch);
	return explained;
}

static bool has_fact(const struct tscope_analysis *analysis, const char *fact)
{
	return tsi_lookup(analysis, fact).kind != TSCOPE_VALUE_ABSENT;
}

/* The only rank that has a fact, or the whole. */
static struct diff_rank rank_with(const struct diff_side *side, const char *fact)
{
	const struct diff_rank *only = NULL;
	size_t count = 0;

	for (size_t i = 0; i < side->rank_count; i++) {
		if (!has_fact(side->ranks[i].analysis, fact))
			continue;
		only = &side->ranks[i];
		count++;
	}
	return count == 1 ? *only : (struct diff_rank){ -1, side->analysis };
}

void tsi_explained_ranks(struct diff_rank ret[TSCOPE_SIDE_COUNT],
			 const struct comparison *comparison, const char *fact,
			 struct arena *scratch)
{
	struct explained_rank explained = tsi_explain_rank(comparison, scratch);
	bool is_known = true;

	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++) {
		ret[i] = *explained.ranks[i];
		is_known &= has_fact(ret[i].analysis, fact);
	}
	for (size_t i = 0; !is_known && i < TSCOPE_SIDE_COUNT; i++)
		ret[i] = rank_with(&comparison->sides[i], fact);
}
