/* SPDX-License-Identifier: MIT */
/*
 * From two rankings to changes. Each side is read into items (for matching) and figures (sums over
 * its steps), items are matched, and of each pair the figures are added up and judged.
 */
#include "diff/work_changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sum.h"
#include "diff/comparison.h"
#include "diff/explain_rank.h"
#include "diff/sample_test.h"
#include "diff/work_kinds.h"
#include "diff/work_names.h"
#include "diff/work_side.h"

/* Numbers of calls that differ by less are the same: a step more or less has a call in it. */
#define CALLS_MIN_RATIO 0.005
/* Smaller relative changes of time are not reported, however certain. */
#define TIME_MIN_RATIO 0.01

#define CHANGES(X)                                                                                 \
	X(CHANGE_SAME, "same")                                                                     \
	X(CHANGE_NEW, "new")                                                                       \
	X(CHANGE_GONE, "gone")                                                                     \
	X(CHANGE_REPLACED, "replaced")                                                             \
	X(CHANGE_SLOWER, "slower")                                                                 \
	X(CHANGE_FASTER, "faster")                                                                 \
	X(CHANGE_MORE_CALLS, "more_calls")                                                         \
	X(CHANGE_FEWER_CALLS, "fewer_calls")

enum change { CHANGES(TSI_NAMED_ID) CHANGE_COUNT };

static const char *const change_names[] = { CHANGES(TSI_NAMED_TEXT) };

struct pair_change {
	const struct work_pair *pair;
	struct work_figures sums[TSCOPE_SIDE_COUNT];
	int64_t step_ns[TSCOPE_SIDE_COUNT];
	int64_t change_ns;
	enum change change;
	enum diff_verdict verdict;
	double p_value; /* NAN: not tested */
};

struct work {
	const struct work_source *source;
	const struct comparison *comparison;
	struct fact_sheet *out;
	struct diff_rank ranks[TSCOPE_SIDE_COUNT]; /* whose work it is */
	struct work_side sides[TSCOPE_SIDE_COUNT];
	struct work_pairs pairs;
	struct pair_change *changes;
	size_t change_count, tested_count;
	int64_t counts[CHANGE_COUNT];
};

/* ---- pairs -------------------------------------------------------------------------------- */

static int64_t per_step(int64_t sum, const struct work_side *side)
{
	return tsi_mean(sum, side->steps).integer;
}

static double calls_per_step(const struct pair_change *change, const struct work *work,
			     enum tscope_side side)
{
	return (double)change->sums[side].calls / (double)work->sides[side].steps;
}

static bool has_several_ranks(const struct work *work, enum tscope_side side)
{
	return work->comparison->sides[side].rank_count > 1;
}

/* Whether its time is mostly waiting for other ranks. */
static bool is_waiting(const struct pair_change *change, const struct work *work)
{
	bool communicates = change->sums[TSCOPE_SIDE_A].communicates ||
			    change->sums[TSCOPE_SIDE_B].communicates;

	return communicates &&
	       (has_several_ranks(work, TSCOPE_SIDE_A) || has_several_ranks(work, TSCOPE_SIDE_B));
}

/* Adds up the pairs that have calls and are certain to be what they look like. */
static void collect_changes(struct work *work)
{
	const struct work_side *a = &work->sides[TSCOPE_SIDE_A], *b = &work->sides[TSCOPE_SIDE_B];
	const struct work_pairs *pairs = &work->pairs;

	for (size_t i = 0; i < pairs->count; i++) {
		const struct work_pair *pair = &pairs->pairs[i];
		struct pair_change *change = &work->changes[work->change_count];
		*change = (struct pair_change){
			.pair = pair,
			.sums = {
				tsi_work_side_sum(a, pairs->a_items, pair->a_first, pair->a_count),
				tsi_work_side_sum(b, pairs->b_items, pair->b_first, pair->b_count),
			},
		};
		if (change->sums[TSCOPE_SIDE_A].calls == 0 &&
		    change->sums[TSCOPE_SIDE_B].calls == 0)
			continue;
		if ((pair->a_count == 0 && a->is_cut) || (pair->b_count == 0 && b->is_cut))
			continue;
		for (size_t s = 0; s < TSCOPE_SIDE_COUNT; s++)
			change->step_ns[s] = per_step(change->sums[s].ns, &work->sides[s]);
		change->change_ns = tsi_difference(change->step_ns[TSCOPE_SIDE_A],
						   change->step_ns[TSCOPE_SIDE_B]);
		work->tested_count += pair->a_count && pair->b_count && !is_waiting(change, work);
		work->change_count++;
	}
}

/* ---- judgement ---------------------------------------------------------------------------- */

static struct sample_moments moments_of(const struct work_figures *sum,
					const struct work_side *side)
{
	return (struct sample_moments){
		.mean = (double)sum->ns / (double)side->steps,
		.deviation = sum->deviation_ns,
		.count = (double)side->steps,
	};
}

static void test(struct pair_change *change, const struct work *work)
{
	const struct work_side *sides = work->sides;
	struct sample_moments a = moments_of(&change->sums[TSCOPE_SIDE_A], &sides[TSCOPE_SIDE_A]);
	struct sample_moments b = moments_of(&change->sums[TSCOPE_SIDE_B], &sides[TSCOPE_SIDE_B]);

	change->p_value = NAN;
	if (change->pair->a_count == 0 || change->pair->b_count == 0) {
		change->verdict = change->pair->a_count ? DIFF_ONLY_A : DIFF_ONLY_B;
	} else if (a.mean == b.mean && a.count == b.count &&
		   (isnan(a.deviation + b.deviation) || is_waiting(change, work))) {
		change->verdict = DIFF_SAME;
	} else if (is_waiting(change, work) || !sides[TSCOPE_SIDE_A].is_exact ||
		   !sides[TSCOPE_SIDE_B].is_exact) {
		change->verdict = DIFF_NOT_TESTED;
	} else {
		struct sample_test result = tsi_moments_test(&a, &b, work->tested_count);
		change->verdict = result.verdict;
		if (result.method != SAMPLE_TEST_NONE)
			change->p_value = result.p_value;
	}
}

/* Calls per step without those that may not be of the steps. */
static double certain_calls(const struct pair_change *change, const struct work *work,
			    enum tscope_side side)
{
	double unlinked = (double)change->sums[side].unlinked / (double)work->sides[side].steps;

	return calls_per_step(change, work, side) - (work->sides[side].has_launches ? unlinked : 0);
}

/* The change of the number of calls; SAME if there is none. */
static enum change compare_calls(const struct pair_change *change, const struct work *work)
{
	double a = calls_per_step(change, work, TSCOPE_SIDE_A);
	double b = calls_per_step(change, work, TSCOPE_SIDE_B);
	double least = CALLS_MIN_RATIO * fmax(a, b);

	/* Steps that were cut or warm up may have others. */
	if (!work->sides[TSCOPE_SIDE_A].is_exact || !work->sides[TSCOPE_SIDE_B].is_exact)
		return CHANGE_SAME;
	if (certain_calls(change, work, TSCOPE_SIDE_B) - a > least)
		return CHANGE_MORE_CALLS;
	if (certain_calls(change, work, TSCOPE_SIDE_A) - b > least)
		return CHANGE_FEWER_CALLS;
	return CHANGE_SAME;
}

/*
 * Whether the number of calls explains more of the change than their duration. Each change of n × d
 * is weighted with the other factor's mean, so that the parts sum to the whole.
 */
static bool calls_explain_more(const struct pair_change *change, const struct work *work)
{
	double a_calls = calls_per_step(change, work, TSCOPE_SIDE_A);
	double b_calls = calls_per_step(change, work, TSCOPE_SIDE_B);

	if (a_calls == 0 || b_calls == 0)
		return true;
	double a_mean = (double)change->step_ns[TSCOPE_SIDE_A] / a_calls;
	double b_mean = (double)change->step_ns[TSCOPE_SIDE_B] / b_calls;
	double by_calls = (b_calls - a_calls) * (a_mean + b_mean) / 2;
	double by_mean = (b_mean - a_mean) * (a_calls + b_calls) / 2;
	return fabs(by_calls) >= fabs(by_mean);
}

static enum change judge(const struct pair_change *change, const struct work *work)
{
	double a_ns = (double)change->step_ns[TSCOPE_SIDE_A];
	bool is_other_time = change->verdict == DIFF_CHANGED &&
			     fabs((double)change->change_ns) >= TIME_MIN_RATIO * a_ns;

	if (change->pair->a_count == 0)
		return CHANGE_NEW;
	if (change->pair->b_count == 0)
		return CHANGE_GONE;
	if (change->pair->match == WORK_BY_LAUNCHER)
		return CHANGE_REPLACED;
	enum change calls = compare_calls(change, work);
	if (calls != CHANGE_SAME && (!is_other_time || calls_explain_more(change, work)))
		return calls;
	if (!is_other_time)
		return CHANGE_SAME;
	return change->change_ns > 0 ? CHANGE_SLOWER : CHANGE_FASTER;
}

static uint64_t magnitude(int64_t number)
{
	return number < 0 ? -(uint64_t)number : (uint64_t)number;
}

/* In the order of the table. */
static int by_change(const void *left, const void *right)
{
	const struct pair_change *a = left, *b = right;
	bool a_is_same = a->change == CHANGE_SAME, b_is_same = b->change == CHANGE_SAME;
	uint64_t a_size = magnitude(a->change_ns), b_size = magnitude(b->change_ns);

	if (a_is_same != b_is_same)
		return a_is_same ? 1 : -1;
	if (a_size != b_size)
		return a_size > b_size ? -1 : 1;
	return (a->pair > b->pair) - (a->pair < b->pair);
}

static void judge_changes(struct work *work)
{
	for (size_t i = 0; i < work->change_count; i++) {
		struct pair_change *change = &work->changes[i];
		test(change, work);
		change->change = judge(change, work);
		work->counts[change->change]++;
	}
	qsort(work->changes, work->change_count, sizeof(*work->changes), by_change);
}

/* ---- what is told ------------------------------------------------------------------------- */

/* The names of a row; the cells are absent until now. */
static void fill_names(const struct work *work, const struct pair_change *change,
		       struct tscope_value *cells)
{
	const struct work_pair *pair = change->pair;
	const struct work_side *a = &work->sides[TSCOPE_SIDE_A], *b = &work->sides[TSCOPE_SIDE_B];
	const char *a_name = NULL, *b_name = NULL;

	if (pair->a_count)
		a_name = tsi_join_work_names(a->items, &work->pairs.a_items[pair->a_first],
					     pair->a_count, work->out);
	if (pair->b_count)
		b_name = tsi_join_work_names(b->items, &work->pairs.b_items[pair->b_first],
					     pair->b_count, work->out);
	cells[WORK_NAME] = tsi_text(b_name ? b_name : a_name);
	if (a_name && b_name && strcmp(a_name, b_name) != 0)
		cells[WORK_A_NAME] = tsi_text(a_name);
	cells[WORK_A_NAMES] = tsi_int((int64_t)pair->a_count);
	cells[WORK_B_NAMES] = tsi_int((int64_t)pair->b_count);
}

static void fill_figures(const struct work *work, const struct pair_change *change,
			 struct tscope_value *cells)
{
	const struct work_figures *a = &change->sums[TSCOPE_SIDE_A],
				  *b = &change->sums[TSCOPE_SIDE_B];

	cells[WORK_A_CALLS_PER_STEP] = tsi_real(calls_per_step(change, work, TSCOPE_SIDE_A));
	cells[WORK_B_CALLS_PER_STEP] = tsi_real(calls_per_step(change, work, TSCOPE_SIDE_B));
	cells[WORK_A_STEP_NS] = tsi_int(change->step_ns[TSCOPE_SIDE_A]);
	cells[WORK_B_STEP_NS] = tsi_int(change->step_ns[TSCOPE_SIDE_B]);
	cells[WORK_CHANGE_NS] = tsi_int(change->change_ns);
	cells[WORK_A_MEAN_NS] = tsi_mean(a->ns, a->calls);
	cells[WORK_B_MEAN_NS] = tsi_mean(b->ns, b->calls);
	cells[WORK_VERDICT] = tsi_text(tsi_diff_verdict_name(change->verdict));
	cells[WORK_P_VALUE] = tsi_real(change->p_value);
}

static double call_ratio(const struct work_figures *sum)
{
	return sum->self_ns > 0 ? (double)sum->call_ns / (double)sum->self_ns : 0;
}

static void fill_device_time(const struct work *work, const struct pair_change *change,
			     struct tscope_value *cells)
{
	int64_t a_ns = per_step(change->sums[TSCOPE_SIDE_A].device_ns, &work->sides[TSCOPE_SIDE_A]);
	int64_t b_ns = per_step(change->sums[TSCOPE_SIDE_B].device_ns, &work->sides[TSCOPE_SIDE_B]);

	cells[WORK_A_STEP_DEVICE_NS] = tsi_int(a_ns);
	cells[WORK_B_STEP_DEVICE_NS] = tsi_int(b_ns);
	cells[WORK_DEVICE_CHANGE_NS] = tsi_int(b_ns - a_ns);
	cells[WORK_CALL_RATIO] = tsi_real(fmax(call_ratio(&change->sums[TSCOPE_SIDE_A]),
					       call_ratio(&change->sums[TSCOPE_SIDE_B])));
}

/* The launcher of B's first kernel, or of A's if B has none. */
static void fill_launcher(const struct work *work, const struct pair_change *change,
			  struct tscope_value *cells)
{
	const struct work_pair *pair = change->pair;
	const char *launcher = NULL;

	if (pair->b_count)
		launcher = work->sides[TSCOPE_SIDE_B].launchers[work->pairs.b_items[pair->b_first]];
	if (!launcher && pair->a_count)
		launcher = work->sides[TSCOPE_SIDE_A].launchers[work->pairs.a_items[pair->a_first]];
	cells[WORK_LAUNCHER] = tsi_text_if(launcher);
}

static void add_rows(const struct work *work)
{
	for (size_t i = 0; i < work->change_count; i++) {
		const struct pair_change *change = &work->changes[i];
		struct tscope_value *cells = tsi_table_row(work->out, 0);

		fill_names(work, change, cells);
		cells[WORK_CHANGE] = tsi_text(change_names[change->change]);
		cells[WORK_MATCHED_BY] = tsi_text(tsi_work_match_name(change->pair->match));
		fill_figures(work, change, cells);
		if (work->source->all_device_ns)
			fill_device_time(work, change, cells);
		else
			fill_launcher(work, change, cells);
	}
}

static void set_facts(const struct work *work)
{
	static const enum work_fact fact_of_change[CHANGE_COUNT] = {
		[CHANGE_NEW] = WORK_NEW_COUNT,
		[CHANGE_GONE] = WORK_GONE_COUNT,
		[CHANGE_REPLACED] = WORK_REPLACED_COUNT,
		[CHANGE_SLOWER] = WORK_SLOWER_COUNT,
		[CHANGE_FASTER] = WORK_FASTER_COUNT,
		[CHANGE_MORE_CALLS] = WORK_MORE_CALLS_COUNT,
		[CHANGE_FEWER_CALLS] = WORK_FEWER_CALLS_COUNT,
	};
	const struct work_side *a = &work->sides[TSCOPE_SIDE_A], *b = &work->sides[TSCOPE_SIDE_B];
	struct fact_sheet *out = work->out;
	int64_t matched_count = 0;

	for (int change = CHANGE_NEW; change < CHANGE_COUNT; change++)
		tsi_fact_int(out, fact_of_change[change], work->counts[change]);
	for (size_t i = 0; i < work->change_count; i++)
		matched_count += work->changes[i].pair->match < WORK_BY_LAUNCHER;
	tsi_fact_int(out, WORK_A_COUNT, tsi_work_side_count(a));
	tsi_fact_int(out, WORK_B_COUNT, tsi_work_side_count(b));
	tsi_fact_int(out, WORK_MATCHED_COUNT, matched_count);
	tsi_fact_flag(out, WORK_IS_CUT, a->is_cut || b->is_cut);
	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++)
		if (has_several_ranks(work, (enum tscope_side)i) && work->ranks[i].number >= 0)
			tsi_fact_int(out, WORK_A_RANK + i, work->ranks[i].number);
}

static void compare(struct work *work)
{
	struct work_side *a = &work->sides[TSCOPE_SIDE_A], *b = &work->sides[TSCOPE_SIDE_B];
	struct arena *scratch = tsi_sheet_scratch(work->out);

	tsi_work_side_read(a, work->source, scratch);
	tsi_work_side_read(b, work->source, scratch);
	if (work->source->are_kernels)
		tsi_work_sides_name_launchers(work->sides, work->out);
	work->pairs = tsi_work_match(a->items, a->count, b->items, b->count, scratch);
	work->changes = tsi_arena_new(scratch, work->pairs.count, sizeof(*work->changes));
	if (!work->changes)
		return;
	collect_changes(work);
	judge_changes(work);
	add_rows(work);
	if (work->source->are_kernels)
		tsi_list_work_kinds(work->sides, 1, work->out);
	set_facts(work);
}

void tsi_compare_work(const struct analysis_scope *scope, struct fact_sheet *out,
		      const struct work_source *source)
{
	struct work work = { .source = source, .comparison = scope->comparison, .out = out };

	tsi_explained_ranks(work.ranks, scope->comparison, source->count, tsi_sheet_scratch(out));
	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++)
		work.sides[i] = tsi_work_side_begin(work.ranks[i].analysis, source);
	if (work.sides[TSCOPE_SIDE_A].is_known && work.sides[TSCOPE_SIDE_B].is_known)
		compare(&work);
}
