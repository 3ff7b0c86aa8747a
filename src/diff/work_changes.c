/* SPDX-License-Identifier: MIT */
/*
 * From two rankings to changes. Each side is read into items (for matching) and figures (sums over
 * its steps), items are matched, and of each pair the figures are added up and judged.
 */
#include "diff/work_changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/lookup.h"
#include "base/array.h"
#include "base/sort.h"
#include "base/sum.h"
#include "diff/comparison.h"
#include "diff/explain_rank.h"
#include "diff/sample_test.h"
#include "diff/work_names.h"

/* Numbers of calls that differ by less are the same: a step more or less has a call in it. */
#define CALLS_MIN_RATIO 0.005
/* A difference of time below this share is not worth a word, be it ever so certain. */
#define TIME_MIN_RATIO 0.01

enum change {
	CHANGE_SAME,
	CHANGE_NEW,
	CHANGE_GONE,
	CHANGE_REPLACED,
	CHANGE_SLOWER,
	CHANGE_FASTER,
	CHANGE_MORE_CALLS,
	CHANGE_FEWER_CALLS,
	CHANGE_COUNT,
};

static const char *const change_names[CHANGE_COUNT] = {
	[CHANGE_SAME] = "same",
	[CHANGE_NEW] = "new",
	[CHANGE_GONE] = "gone",
	[CHANGE_REPLACED] = "replaced",
	[CHANGE_SLOWER] = "slower",
	[CHANGE_FASTER] = "faster",
	[CHANGE_MORE_CALLS] = "more_calls",
	[CHANGE_FEWER_CALLS] = "fewer_calls",
};

/* Sums over the steps of a side. */
struct figures {
	int64_t calls, ns, device_ns;
	int64_t unlinked;    /* of the calls, those that may be from before the capture */
	double deviation_ns; /* of the time per step; NAN: not known */
};

struct side {
	const struct tscope_analysis *analysis;
	struct table_view rows;
	int64_t steps;
	bool has_counted; /* figures are those of steps, and not of the whole trace */
	bool is_exact;    /* of steps that have no mark */
	/* Some launch is known. Without any, kernels are calls of the steps that they start in. */
	bool has_launches;
	bool is_cut;
	bool is_known; /* it has such work at all, and steps */
	struct work_item *items;
	const char **launchers; /* by item; NULL: not known */
	struct figures *figures;
	size_t count;
};

struct pair_change {
	const struct work_pair *pair;
	struct figures sums[TSCOPE_SIDE_COUNT];
	int64_t step_ns[TSCOPE_SIDE_COUNT];
	int64_t change_ns;
	enum change change;
	enum diff_verdict verdict;
	double p_value; /* NAN: not tested */
};

struct work {
	const struct work_source *source;
	const struct analysis_scope *scope;
	struct side sides[TSCOPE_SIDE_COUNT];
	struct work_pairs pairs;
	struct pair_change *changes;
	size_t change_count, tested_count;
	int64_t counts[CHANGE_COUNT];
};

/* ---- a side ------------------------------------------------------------------------------- */

/* A count or time; what is absent or absurd is 0. */
static int64_t figure_at(const struct side *side, size_t row, const char *column)
{
	struct tscope_value value =
		tsi_table_cell(&side->rows, row, tsi_table_column(&side->rows, column));

	return value.kind == TSCOPE_VALUE_INT && value.integer > 0 ? value.integer : 0;
}

static bool has_counted_figures(const struct side *side)
{
	size_t column = tsi_table_column(&side->rows, "counted");

	for (size_t row = 0; row < side->rows.row_count; row++)
		if (tsi_table_cell(&side->rows, row, column).kind == TSCOPE_VALUE_INT)
			return true;
	return side->rows.row_count == 0;
}

/* Do the rows hold less than there was? */
static bool is_table_cut(const struct side *side, int64_t all_count)
{
	int64_t count = 0;

	for (size_t row = 0; row < side->rows.row_count; row++)
		tsi_sum(&count, figure_at(side, row, "count"));
	return count < all_count;
}

static void begin_side(struct side *side, const struct tscope_analysis *analysis,
		       const struct work_source *source)
{
	enum tscope_unit unit;
	struct tscope_value count =
		tsi_lookup_fact(analysis, TSCOPE_WHOLE_TRACE, source->count, &unit);
	int64_t counted_steps = tsi_lookup_int(analysis, TSCOPE_WHOLE_TRACE, "steps.counted_count");

	side->analysis = analysis;
	side->rows = tsi_lookup_table(analysis, TSCOPE_WHOLE_TRACE, source->table);
	side->has_counted = has_counted_figures(side);
	side->is_exact = side->has_counted && counted_steps > 0;
	side->steps = side->is_exact ? counted_steps
				     : tsi_lookup_int(analysis, TSCOPE_WHOLE_TRACE, "steps.count");
	side->is_cut = count.kind == TSCOPE_VALUE_INT && is_table_cut(side, count.integer);
	side->is_known = count.kind == TSCOPE_VALUE_INT && side->steps > 0;
}

static void side_deinit(struct side *side)
{
	free(side->items);
	free(side->launchers);
	free(side->figures);
}

static struct figures read_figures(const struct side *side, size_t row,
				   const struct work_source *source)
{
	struct figures figures = { .deviation_ns = NAN };

	if (!side->has_counted) {
		figures.calls = figure_at(side, row, "count");
		figures.ns = figure_at(side, row, source->all_ns);
		if (source->all_device_ns)
			figures.device_ns = figure_at(side, row, source->all_device_ns);
		return figures;
	}
	size_t deviation = tsi_table_column(&side->rows, "step_deviation_ns");

	figures.calls = figure_at(side, row, "counted");
	figures.ns = figure_at(side, row, "counted_ns");
	if (source->all_device_ns)
		figures.device_ns = figure_at(side, row, "counted_device_ns");
	if (source->are_launched)
		figures.unlinked = figure_at(side, row, "counted_unlinked");
	tsi_diff_number(tsi_table_cell(&side->rows, row, deviation), &figures.deviation_ns);
	return figures;
}

/* Reads the rows that have a name. */
static enum tscope_status read_side(struct side *side, const struct work_source *source,
				    struct tscope_error *err)
{
	size_t name_column = tsi_table_column(&side->rows, "name"), rows = side->rows.row_count;

	if (tsi_array_new(&side->items, rows, sizeof(*side->items), err) != TSCOPE_OK ||
	    tsi_array_new(&side->launchers, rows, sizeof(*side->launchers), err) != TSCOPE_OK ||
	    tsi_array_new(&side->figures, rows, sizeof(*side->figures), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t row = 0; row < rows; row++) {
		struct tscope_value name = tsi_table_cell(&side->rows, row, name_column);
		if (name.kind != TSCOPE_VALUE_TEXT)
			continue;
		side->items[side->count].name = name.text;
		struct figures figures = read_figures(side, row, source);
		side->has_launches |= figures.unlinked < figures.calls;
		side->figures[side->count++] = figures;
	}
	return TSCOPE_OK;
}

/* is_matched_by: where rows are missing, what seems to come in place of another may be old. */
static enum tscope_status name_launchers(struct work *work, struct side *side,
					 const struct launcher_names *names, bool is_matched_by,
					 struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;

	for (size_t i = 0; status == TSCOPE_OK && i < side->count; i++) {
		status = tsi_launcher_name(names, work->scope, side->items[i].name,
					   &side->launchers[i], err);
		if (is_matched_by)
			side->items[i].launcher = side->launchers[i];
	}
	return status;
}

static enum tscope_status read_launchers(struct work *work, struct tscope_error *err)
{
	struct launcher_names names[TSCOPE_SIDE_COUNT] = { 0 };
	bool is_cut = work->sides[TSCOPE_SIDE_A].is_cut || work->sides[TSCOPE_SIDE_B].is_cut;
	enum tscope_status status = TSCOPE_OK;

	for (size_t i = 0; status == TSCOPE_OK && i < TSCOPE_SIDE_COUNT; i++)
		status = tsi_launcher_names_init(&names[i], work->sides[i].analysis, err);
	if (status == TSCOPE_OK)
		tsi_launcher_names_agree(names);
	for (size_t i = 0; status == TSCOPE_OK && i < TSCOPE_SIDE_COUNT; i++)
		status = name_launchers(work, &work->sides[i], &names[i], !is_cut, err);
	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++)
		tsi_launcher_names_deinit(&names[i]);
	return status;
}

/* ---- pairs -------------------------------------------------------------------------------- */

static void work_deinit(struct work *work)
{
	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++)
		side_deinit(&work->sides[i]);
	tsi_work_pairs_deinit(&work->pairs);
	free(work->changes);
}

/* Several names count as one: their deviations add up, as if all were slow in the same steps. */
static struct figures sum_up(const struct side *side, const size_t *items, size_t first,
			     size_t count)
{
	struct figures sum = { 0 };

	for (size_t i = first; i < first + count; i++) {
		const struct figures *part = &side->figures[items[i]];
		tsi_sum(&sum.calls, part->calls);
		tsi_sum(&sum.ns, part->ns);
		tsi_sum(&sum.device_ns, part->device_ns);
		tsi_sum(&sum.unlinked, part->unlinked);
		sum.deviation_ns += part->deviation_ns;
	}
	return sum;
}

static int64_t per_step(int64_t sum, const struct side *side)
{
	return tsi_mean(sum, side->steps).integer;
}

static double calls_per_step(const struct pair_change *change, const struct work *work,
			     enum tscope_side side)
{
	return (double)change->sums[side].calls / (double)work->sides[side].steps;
}

/* Adds up the pairs that have calls and are certain to be what they look like. */
static void collect_changes(struct work *work)
{
	const struct side *a = &work->sides[TSCOPE_SIDE_A], *b = &work->sides[TSCOPE_SIDE_B];

	for (size_t i = 0; i < work->pairs.count; i++) {
		const struct work_pair *pair = &work->pairs.pairs[i];
		struct pair_change *change = &work->changes[work->change_count];
		*change = (struct pair_change){
			.pair = pair,
			.sums = {
				sum_up(a, work->pairs.a_items, pair->a_first, pair->a_count),
				sum_up(b, work->pairs.b_items, pair->b_first, pair->b_count),
			},
		};
		if (change->sums[TSCOPE_SIDE_A].calls == 0 &&
		    change->sums[TSCOPE_SIDE_B].calls == 0)
			continue;
		if ((pair->a_count == 0 && a->is_cut) || (pair->b_count == 0 && b->is_cut))
			continue;
		for (size_t s = 0; s < TSCOPE_SIDE_COUNT; s++)
			change->step_ns[s] = per_step(change->sums[s].ns, &work->sides[s]);
		change->change_ns = change->step_ns[TSCOPE_SIDE_B] - change->step_ns[TSCOPE_SIDE_A];
		work->tested_count += pair->a_count && pair->b_count;
		work->change_count++;
	}
}

/* ---- judgement ---------------------------------------------------------------------------- */

static struct sample_moments moments_of(const struct figures *sum, const struct side *side)
{
	return (struct sample_moments){
		.mean = (double)sum->ns / (double)side->steps,
		.deviation = sum->deviation_ns,
		.count = (double)side->steps,
	};
}

static void test(struct pair_change *change, const struct work *work)
{
	const struct side *sides = work->sides;
	struct sample_moments a = moments_of(&change->sums[TSCOPE_SIDE_A], &sides[TSCOPE_SIDE_A]);
	struct sample_moments b = moments_of(&change->sums[TSCOPE_SIDE_B], &sides[TSCOPE_SIDE_B]);

	change->p_value = NAN;
	if (change->pair->a_count == 0 || change->pair->b_count == 0) {
		change->verdict = change->pair->a_count ? DIFF_ONLY_A : DIFF_ONLY_B;
	} else if (a.mean == b.mean && a.count == b.count && isnan(a.deviation + b.deviation)) {
		change->verdict = DIFF_SAME;
	} else if (!sides[TSCOPE_SIDE_A].is_exact || !sides[TSCOPE_SIDE_B].is_exact) {
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

/* What numbers of calls say; SAME where that is nothing. */
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
 * Does the number of calls explain more of the change than their duration? Of n × d both have the
 * other's mean as factor, and the two parts sum to the change.
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

/* Judges all, and puts them into the order of the table. */
static enum tscope_status judge_changes(struct work *work, struct tscope_error *err)
{
	size_t count = work->change_count;
	struct sort_pair *order = NULL;
	struct pair_change *ordered = NULL;
	enum tscope_status status = tsi_array_new(&order, 2 * count, sizeof(*order), err);

	if (status == TSCOPE_OK)
		status = tsi_array_new(&ordered, count, sizeof(*ordered), err);
	for (size_t i = 0; status == TSCOPE_OK && i < count; i++) {
		struct pair_change *change = &work->changes[i];
		test(change, work);
		change->change = judge(change, work);
		work->counts[change->change]++;
		uint64_t is_same = change->change == CHANGE_SAME;
		order[i] = (struct sort_pair){
			.key = (is_same << 63) | (INT64_MAX - magnitude(change->change_ns)),
			.value = i,
		};
	}
	if (status == TSCOPE_OK && count) {
		tsi_sort_pairs(order, order + count, count);
		for (size_t i = 0; i < count; i++)
			ordered[i] = work->changes[order[i].value];
		free(work->changes);
		work->changes = ordered;
		ordered = NULL;
	}
	free(order);
	free(ordered);
	return status;
}

/* ---- what is told ------------------------------------------------------------------------- */

/* The names of a row; the cells are absent until now. */
static enum tscope_status fill_names(const struct work *work, const struct pair_change *change,
				     struct tscope_value *cells, struct tscope_error *err)
{
	const struct work_pair *pair = change->pair;
	const struct side *a = &work->sides[TSCOPE_SIDE_A], *b = &work->sides[TSCOPE_SIDE_B];
	const char *a_name = NULL, *b_name = NULL;

	if (pair->a_count &&
	    tsi_join_work_names(work->scope, a->items, &work->pairs.a_items[pair->a_first],
				pair->a_count, &a_name, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (pair->b_count &&
	    tsi_join_work_names(work->scope, b->items, &work->pairs.b_items[pair->b_first],
				pair->b_count, &b_name, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	cells[WORK_NAME] = tsi_text(b_name ? b_name : a_name);
	if (a_name && b_name && strcmp(a_name, b_name) != 0)
		cells[WORK_A_NAME] = tsi_text(a_name);
	cells[WORK_A_NAMES] = tsi_int((int64_t)pair->a_count);
	cells[WORK_B_NAMES] = tsi_int((int64_t)pair->b_count);
	return TSCOPE_OK;
}

static void fill_figures(const struct work *work, const struct pair_change *change,
			 struct tscope_value *cells)
{
	const struct figures *a = &change->sums[TSCOPE_SIDE_A], *b = &change->sums[TSCOPE_SIDE_B];

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

static void fill_device_time(const struct work *work, const struct pair_change *change,
			     struct tscope_value *cells)
{
	int64_t a_ns = per_step(change->sums[TSCOPE_SIDE_A].device_ns, &work->sides[TSCOPE_SIDE_A]);
	int64_t b_ns = per_step(change->sums[TSCOPE_SIDE_B].device_ns, &work->sides[TSCOPE_SIDE_B]);

	cells[WORK_A_STEP_DEVICE_NS] = tsi_int(a_ns);
	cells[WORK_B_STEP_DEVICE_NS] = tsi_int(b_ns);
	cells[WORK_DEVICE_CHANGE_NS] = tsi_int(b_ns - a_ns);
}

/* That of the first kernel of B, or of A where B has none. */
static void fill_launcher(const struct work *work, const struct pair_change *change,
			  struct tscope_value *cells)
{
	const struct work_pair *pair = change->pair;
	const char *launcher = NULL;

	if (pair->b_count)
		launcher = work->sides[TSCOPE_SIDE_B].launchers[work->pairs.b_items[pair->b_first]];
	if (!launcher && pair->a_count)
		launcher = work->sides[TSCOPE_SIDE_A].launchers[work->pairs.a_items[pair->a_first]];
	if (launcher)
		cells[WORK_LAUNCHER] = tsi_text(launcher);
}

static enum tscope_status add_rows(const struct work *work, struct fact_sheet *out,
				   struct tscope_error *err)
{
	struct tscope_value *cells;

	for (size_t i = 0; i < work->change_count; i++) {
		const struct pair_change *change = &work->changes[i];
		if (tsi_table_add(out, 0, &cells, err) != TSCOPE_OK ||
		    fill_names(work, change, cells, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		cells[WORK_CHANGE] = tsi_text(change_names[change->change]);
		cells[WORK_MATCHED_BY] = tsi_text(tsi_work_match_name(change->pair->match));
		fill_figures(work, change, cells);
		if (work->source->all_device_ns)
			fill_device_time(work, change, cells);
		else
			fill_launcher(work, change, cells);
	}
	return TSCOPE_OK;
}

static int64_t count_names(const struct side *side)
{
	int64_t count = 0;

	for (size_t i = 0; i < side->count; i++)
		count += side->figures[i].calls > 0;
	return count;
}

static void set_facts(const struct work *work, struct fact_sheet *out)
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
	const struct side *a = &work->sides[TSCOPE_SIDE_A], *b = &work->sides[TSCOPE_SIDE_B];
	int64_t matched_count = 0;

	for (int change = CHANGE_NEW; change < CHANGE_COUNT; change++)
		tsi_fact_int(out, fact_of_change[change], work->counts[change]);
	for (size_t i = 0; i < work->change_count; i++)
		matched_count += work->changes[i].pair->match < WORK_BY_LAUNCHER;
	tsi_fact_int(out, WORK_A_COUNT, count_names(a));
	tsi_fact_int(out, WORK_B_COUNT, count_names(b));
	tsi_fact_int(out, WORK_MATCHED_COUNT, matched_count);
	tsi_fact_flag(out, WORK_IS_CUT, a->is_cut || b->is_cut);
}

static enum tscope_status compare(struct work *work, struct fact_sheet *out,
				  struct tscope_error *err)
{
	struct side *a = &work->sides[TSCOPE_SIDE_A], *b = &work->sides[TSCOPE_SIDE_B];
	enum tscope_status status = read_side(a, work->source, err);

	if (status == TSCOPE_OK)
		status = read_side(b, work->source, err);
	if (status == TSCOPE_OK && work->source->are_launched)
		status = read_launchers(work, err);
	if (status == TSCOPE_OK)
		status = tsi_work_match(&work->pairs, a->items, a->count, b->items, b->count, err);
	if (status == TSCOPE_OK)
		status = tsi_array_new(&work->changes, work->pairs.count, sizeof(*work->changes),
				       err);
	if (status != TSCOPE_OK)
		return status;
	collect_changes(work);
	status = judge_changes(work, err);
	if (status == TSCOPE_OK)
		status = add_rows(work, out, err);
	if (status == TSCOPE_OK)
		set_facts(work, out);
	return status;
}

enum tscope_status tsi_compare_work(const struct analysis_scope *scope, struct fact_sheet *out,
				    const struct work_source *source, struct tscope_error *err)
{
	const struct tscope_analysis *analyses[TSCOPE_SIDE_COUNT];
	struct work work = { .source = source, .scope = scope };
	enum tscope_status status =
		tsi_explained_analyses(analyses, scope->comparison, source->count, err);

	if (status != TSCOPE_OK)
		return status;
	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++)
		begin_side(&work.sides[i], analyses[i], source);
	if (work.sides[TSCOPE_SIDE_A].is_known && work.sides[TSCOPE_SIDE_B].is_known)
		status = compare(&work, out, err);
	work_deinit(&work);
	return status;
}
