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
	X(CHANGE_FEWER_CALLS, "fewer_calls")                                                       \
	X(CHANGE_UNCLEAR, "cannot_tell")

enum change { CHANGES(TSI_NAMED_ID) CHANGE_COUNT };

static const char *const change_names[] = { CHANGES(TSI_NAMED_TEXT) };

/* One of the times of what is compared: its only one, or that of the host; or that of devices. */
enum { TIME_OWN, TIME_DEVICE, TIME_COUNT };

struct time_change {
	int64_t step_ns[TSCOPE_SIDE_COUNT];
	int64_t change_ns;
	enum diff_verdict verdict;
	double p_value; /* NAN: not tested */
};

struct pair_change {
	const struct work_pair *pair;
	struct work_figures sums[TSCOPE_SIDE_COUNT];
	struct time_change times[TIME_COUNT];
	enum change change;
};

/* Contents of one table. */
struct work {
	const struct work_source *source;
	const struct comparison *comparison;
	struct fact_sheet *out;
	enum work_table table;
	struct diff_rank ranks[TSCOPE_SIDE_COUNT]; /* whose work it is */
	struct work_side sides[TSCOPE_SIDE_COUNT];
	struct work_pairs pairs;
	struct pair_change *changes;
	size_t change_count, tested_count;
	int64_t counts[CHANGE_COUNT];
};

/* ---- pairs -------------------------------------------------------------------------------- */

static int64_t time_of(const struct work_figures *figures, int time)
{
	return time == TIME_OWN ? figures->ns : figures->device_ns;
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

/* Whether a time is mostly waiting for other ranks. */
static bool is_waiting(const struct pair_change *change, const struct work *work, int time)
{
	bool communicates = change->sums[TSCOPE_SIDE_A].communicates ||
			    change->sums[TSCOPE_SIDE_B].communicates;

	return communicates && (time == TIME_DEVICE || work->source->are_kernels) &&
	       (has_several_ranks(work, TSCOPE_SIDE_A) || has_several_ranks(work, TSCOPE_SIDE_B));
}

/* Whether there is any such time. */
static bool has_time(const struct pair_change *change, int time)
{
	return time == TIME_OWN || change->sums[TSCOPE_SIDE_A].device_ns ||
	       change->sums[TSCOPE_SIDE_B].device_ns;
}

static bool is_empty(const struct work_figures *figures)
{
	return figures->calls == 0 && figures->ns == 0 && figures->device_ns == 0;
}

static void set_times(struct pair_change *change, struct work *work)
{
	for (int t = 0; t < TIME_COUNT; t++) {
		struct time_change *time = &change->times[t];
		for (size_t s = 0; s < TSCOPE_SIDE_COUNT; s++)
			time->step_ns[s] =
				tsi_mean(time_of(&change->sums[s], t), work->sides[s].steps)
					.integer;
		time->change_ns =
			tsi_difference(time->step_ns[TSCOPE_SIDE_A], time->step_ns[TSCOPE_SIDE_B]);
		work->tested_count += change->pair->a_count && change->pair->b_count &&
				      has_time(change, t) && !is_waiting(change, work, t);
	}
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
		if (is_empty(&change->sums[TSCOPE_SIDE_A]) &&
		    is_empty(&change->sums[TSCOPE_SIDE_B]))
			continue;
		if ((pair->a_count == 0 && a->is_cut) || (pair->b_count == 0 && b->is_cut))
			continue;
		set_times(change, work);
		work->change_count++;
	}
}

/* ---- judgement ---------------------------------------------------------------------------- */

static struct sample_moments moments_of(const struct work_figures *sum,
					const struct work_side *side, int time)
{
	return (struct sample_moments){
		.mean = (double)time_of(sum, time) / (double)side->steps,
		.deviation = time == TIME_OWN ? sum->deviation_ns : sum->device_deviation_ns,
		.count = (double)side->steps,
	};
}

/* Whether both sides say how much it differs from step to step. */
static bool is_testable(const struct pair_change *change, const struct work *work, int time)
{
	const struct work_source *source = work->source;
	bool is_significant = time == TIME_OWN ? source->deviation_ns : source->device_deviation_ns;

	for (size_t s = 0; s < TSCOPE_SIDE_COUNT; s++) {
		const struct work_figures *sum = &change->sums[s];
		/* Reports of versions before had that of the own time only. */
		if (!work->sides[s].is_exact ||
		    (time == TIME_DEVICE && isnan(sum->device_deviation_ns) &&
		     !isnan(sum->deviation_ns)))
			return false;
	}
	return is_significant && !is_waiting(change, work, time);
}

static void test(struct pair_change *change, const struct work *work, int time)
{
	const struct work_side *sides = work->sides;
	struct sample_moments a =
		moments_of(&change->sums[TSCOPE_SIDE_A], &sides[TSCOPE_SIDE_A], time);
	struct sample_moments b =
		moments_of(&change->sums[TSCOPE_SIDE_B], &sides[TSCOPE_SIDE_B], time);
	struct time_change *of = &change->times[time];

	of->p_value = NAN;
	if (change->pair->a_count == 0 || change->pair->b_count == 0) {
		of->verdict = change->pair->a_count ? DIFF_ONLY_A : DIFF_ONLY_B;
	} else if (a.mean == b.mean && a.count == b.count &&
		   (isnan(a.deviation + b.deviation) || is_waiting(change, work, time))) {
		of->verdict = DIFF_SAME;
	} else if (!is_testable(change, work, time)) {
		of->verdict = DIFF_NOT_TESTED;
	} else {
		struct sample_test result = tsi_moments_test(&a, &b, work->tested_count);
		of->verdict = result.verdict;
		if (result.method != SAMPLE_TEST_NONE)
			of->p_value = result.p_value;
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
static bool calls_explain_more(const struct pair_change *change, const struct work *work,
			       const struct time_change *time)
{
	double a_calls = calls_per_step(change, work, TSCOPE_SIDE_A);
	double b_calls = calls_per_step(change, work, TSCOPE_SIDE_B);

	if (a_calls == 0 || b_calls == 0)
		return true;
	double a_mean = (double)time->step_ns[TSCOPE_SIDE_A] / a_calls;
	double b_mean = (double)time->step_ns[TSCOPE_SIDE_B] / b_calls;
	double by_calls = (b_calls - a_calls) * (a_mean + b_mean) / 2;
	double by_mean = (b_mean - a_mean) * (a_calls + b_calls) / 2;
	return fabs(by_calls) >= fabs(by_mean);
}

static uint64_t magnitude(int64_t number)
{
	return number < 0 ? -(uint64_t)number : (uint64_t)number;
}

/* The larger of its changes that are significant, or undecided; or NULL. */
static const struct time_change *find_other_time(const struct pair_change *change, bool is_certain)
{
	const struct time_change *found = NULL;

	for (int t = 0; t < TIME_COUNT; t++) {
		const struct time_change *time = &change->times[t];
		double least = TIME_MIN_RATIO * (double)time->step_ns[TSCOPE_SIDE_A];
		bool is_it = is_certain
				     ? time->verdict == DIFF_CHANGED
				     : time->change_ns != 0 && (time->verdict == DIFF_UNDECIDED ||
								time->verdict == DIFF_NOT_TESTED);
		if (is_it && fabs((double)time->change_ns) >= least &&
		    (!found || magnitude(time->change_ns) > magnitude(found->change_ns)))
			found = time;
	}
	return found;
}

static enum change judge(const struct pair_change *change, const struct work *work)
{
	const struct time_change *other = find_other_time(change, true);

	if (change->pair->a_count == 0)
		return CHANGE_NEW;
	if (change->pair->b_count == 0)
		return CHANGE_GONE;
	if (change->pair->match == WORK_BY_LAUNCHER)
		return CHANGE_REPLACED;
	enum change calls = compare_calls(change, work);
	if (calls != CHANGE_SAME && (!other || calls_explain_more(change, work, other)))
		return calls;
	if (!other)
		return find_other_time(change, false) ? CHANGE_UNCLEAR : CHANGE_SAME;
	return other->change_ns > 0 ? CHANGE_SLOWER : CHANGE_FASTER;
}

/* The larger of its changes of time. */
static uint64_t size_of(const struct pair_change *change)
{
	uint64_t own = magnitude(change->times[TIME_OWN].change_ns);
	uint64_t device = magnitude(change->times[TIME_DEVICE].change_ns);

	return own > device ? own : device;
}

/* In the order of the table. */
static int by_change(const void *left, const void *right)
{
	const struct pair_change *a = left, *b = right;
	bool a_is_same = a->change == CHANGE_SAME, b_is_same = b->change == CHANGE_SAME;
	uint64_t a_size = size_of(a), b_size = size_of(b);

	if (a_is_same != b_is_same)
		return a_is_same ? 1 : -1;
	TSI_DESCENDING(a_size, b_size);
	return (a->pair > b->pair) - (a->pair < b->pair);
}

static void judge_changes(struct work *work)
{
	for (size_t i = 0; i < work->change_count; i++) {
		struct pair_change *change = &work->changes[i];
		for (int time = 0; time < TIME_COUNT; time++)
			test(change, work, time);
		change->change = judge(change, work);
		work->counts[change->change]++;
	}
	qsort(work->changes, work->change_count, sizeof(*work->changes), by_change);
}

/* ---- output ------------------------------------------------------------------------------- */

/* The name of a row; of several items joined. */
static const char *name_of(const struct work *work, const struct pair_change *change,
			   enum tscope_side side)
{
	const struct work_pair *pair = change->pair;
	bool is_a = side == TSCOPE_SIDE_A;
	size_t count = is_a ? pair->a_count : pair->b_count;

	if (count == 0)
		return NULL;
	return tsi_join_work_names(work->sides[side].items,
				   is_a ? &work->pairs.a_items[pair->a_first]
					: &work->pairs.b_items[pair->b_first],
				   count, work->out);
}

static void fill_time(const struct time_change *time, struct tscope_value *a,
		      struct tscope_value *verdict)
{
	enum {
		TO_B = WORK_B_STEP_NS - WORK_A_STEP_NS,
		TO_CHANGE = WORK_CHANGE_NS - WORK_A_STEP_NS
	};

	a[0] = tsi_int(time->step_ns[TSCOPE_SIDE_A]);
	a[TO_B] = tsi_int(time->step_ns[TSCOPE_SIDE_B]);
	a[TO_CHANGE] = tsi_int(time->change_ns);
	verdict[0] = tsi_text(tsi_diff_verdict_name(time->verdict));
	verdict[WORK_P_VALUE - WORK_VERDICT] = tsi_real(time->p_value);
}

/* The launcher of B's first kernel, or of A's if B has none. */
static const char *launcher_of(const struct work *work, const struct pair_change *change)
{
	const struct work_pair *pair = change->pair;
	const char *launcher = NULL;

	if (pair->b_count)
		launcher = work->sides[TSCOPE_SIDE_B].launchers[work->pairs.b_items[pair->b_first]];
	if (!launcher && pair->a_count)
		launcher = work->sides[TSCOPE_SIDE_A].launchers[work->pairs.a_items[pair->a_first]];
	return launcher;
}

static double call_ratio(const struct work_figures *sum)
{
	return sum->self_ns > 0 ? (double)sum->call_ns / (double)sum->self_ns : 0;
}

/* Further columns of lists. */
static void fill_list(const struct work *work, const struct pair_change *change, const char *name,
		      struct tscope_value *cells)
{
	const struct work_figures *a = &change->sums[TSCOPE_SIDE_A],
				  *b = &change->sums[TSCOPE_SIDE_B];
	const char *a_name = name_of(work, change, TSCOPE_SIDE_A);

	cells[WORK_MATCHED_BY] = tsi_text(tsi_work_match_name(change->pair->match));
	if (a_name && strcmp(a_name, name) != 0)
		cells[WORK_A_NAME] = tsi_text(a_name);
	cells[WORK_A_NAMES] = tsi_int((int64_t)change->pair->a_count);
	cells[WORK_B_NAMES] = tsi_int((int64_t)change->pair->b_count);
	cells[WORK_A_MEAN_NS] = tsi_mean(a->ns, a->calls);
	cells[WORK_B_MEAN_NS] = tsi_mean(b->ns, b->calls);
	if (work->source->are_kernels)
		cells[WORK_LAST_COLUMN] = tsi_text_if(launcher_of(work, change));
	else
		cells[WORK_LAST_COLUMN] = tsi_real(fmax(call_ratio(a), call_ratio(b)));
}

static void add_row(const struct work *work, const struct pair_change *change)
{
	struct tscope_value *cells = tsi_table_row(work->out, work->table);
	const char *name = name_of(work, change, TSCOPE_SIDE_B);
	bool has_devices = work->source->device_ns != NULL;

	if (!name)
		name = name_of(work, change, TSCOPE_SIDE_A);
	cells[WORK_NAME] = tsi_text(name);
	cells[WORK_CHANGE] = tsi_text(change_names[change->change]);
	cells[WORK_A_CALLS_PER_STEP] = tsi_real(calls_per_step(change, work, TSCOPE_SIDE_A));
	cells[WORK_B_CALLS_PER_STEP] = tsi_real(calls_per_step(change, work, TSCOPE_SIDE_B));
	fill_time(&change->times[TIME_OWN], &cells[WORK_A_STEP_NS], &cells[WORK_VERDICT]);
	cells += WORK_COLUMN_COUNT;
	if (has_devices) {
		fill_time(&change->times[TIME_DEVICE], &cells[WORK_A_STEP_DEVICE_NS],
			  &cells[WORK_DEVICE_VERDICT]);
		if (!has_time(change, TIME_DEVICE))
			cells[WORK_DEVICE_VERDICT] = (struct tscope_value){ 0 };
		cells += WORK_DEVICE_COLUMN_COUNT;
	}
	if (work->table == WORK_LIST && !work->source->are_modules)
		fill_list(work, change, name, cells);
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
		[CHANGE_UNCLEAR] = WORK_UNCLEAR_COUNT,
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

/* Matches and judges what was read of both sides; false without memory. */
static bool fill_table(struct work *work)
{
	const struct work_side *a = &work->sides[TSCOPE_SIDE_A], *b = &work->sides[TSCOPE_SIDE_B];
	struct arena *scratch = tsi_sheet_scratch(work->out);

	work->pairs = tsi_work_match(a->items, a->count, b->items, b->count, scratch);
	work->changes = tsi_arena_new(scratch, work->pairs.count, sizeof(*work->changes));
	if (!work->changes)
		return false;
	collect_changes(work);
	judge_changes(work);
	for (size_t i = 0; i < work->change_count; i++)
		add_row(work, &work->changes[i]);
	return true;
}

static void list_kinds(const struct work *work)
{
	struct arena *scratch = tsi_sheet_scratch(work->out);
	struct work kinds = {
		.source = work->source,
		.comparison = work->comparison,
		.out = work->out,
		.table = WORK_KINDS,
	};

	for (size_t s = 0; s < TSCOPE_SIDE_COUNT; s++)
		kinds.sides[s] = tsi_work_side_by_kind(&work->sides[s], scratch);
	(void)fill_table(&kinds);
}

void tsi_compare_work(const struct analysis_scope *scope, struct fact_sheet *out,
		      const struct work_source *source)
{
	struct work work = { .source = source, .comparison = scope->comparison, .out = out };
	struct arena *scratch = tsi_sheet_scratch(out);

	tsi_explained_ranks(work.ranks, scope->comparison, source->count, scratch);
	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++)
		work.sides[i] = tsi_work_side_begin(work.ranks[i].analysis, source);
	if (!work.sides[TSCOPE_SIDE_A].is_known || !work.sides[TSCOPE_SIDE_B].is_known)
		return;
	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++)
		tsi_work_side_read(&work.sides[i], source, scratch);
	if (source->are_kernels)
		tsi_work_sides_name_launchers(work.sides, out);
	if (!fill_table(&work))
		return;
	set_facts(&work);
	if (!source->are_modules)
		list_kinds(&work);
}
