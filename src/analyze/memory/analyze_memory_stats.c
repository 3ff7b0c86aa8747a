/* SPDX-License-Identifier: MIT */
/*
 * Statistics that finetuning-scheduler's MemProfiler took before and after calls of functions:
 * the largest value of each name, what each call changed, and whether memory grows from call to
 * call. Which names there are is the user's choice, so each figure may be absent.
 */
#include "analyze/memory/memory_stats_parts.h"
#include "analyze/shared/robust.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"

#define FACTS(X)                                                                                   \
	X(PATH, "path", TEXT, "file that these figures are of")                                    \
	X(MOMENT_COUNT, "moment_count", COUNT, "moments at which they were taken")                 \
	X(VALUE_COUNT, "value_count", COUNT, "values of all moments")                              \
	X(RANK_COUNT, "rank_count", COUNT, "ranks that they are of")                               \
	X(CALL_COUNT, "call_count", COUNT, "calls with both start and end")                        \
	X(PEAK_ALLOCATED_BYTES, "peak_allocated_bytes", BYTES, "largest allocated_bytes.all.peak") \
	X(PEAK_RESERVED_BYTES, "peak_reserved_bytes", BYTES, "largest reserved_bytes.all.peak")    \
	X(NUM_ALLOC_RETRIES, "num_alloc_retries", COUNT,                                           \
	  "cudaMalloc calls that failed and flushed the cache")                                    \
	X(NUM_OOMS, "num_ooms", COUNT, "out-of-memory errors")                                     \
	X(GROWTH_BYTES_PER_CALL, "growth_bytes_per_call", BYTES,                                   \
	  "slope of what is allocated at the end of the calls of the function with most of them")  \
	X(GROWTH_FUNCTION, "growth_function", TEXT, "that function")                               \
	X(GROWTH_CALL_COUNT, "growth_call_count", COUNT, "calls that the slope is of")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define LARGEST_COLUMNS(X)                                                                         \
	X(LARGEST_NAME, "name", TEXT, "name of the value")                                         \
	X(LARGEST_VALUE, "value", NUMBER, "the largest of all moments")

TSI_FACT_LIST(enum largest_column, largest_columns, LARGEST_COLUMNS);

static const struct tscope_fact_def function_columns[] = { FUNCTION_COLUMNS(TSI_FACT_DEF) };

static const struct tscope_fact_def changes_columns[] = { CHANGES_COLUMNS(TSI_FACT_DEF) };

#define MOMENTS_COLUMNS(X)                                                                         \
	X(MOMENTS_RANK, "rank", COUNT, "rank")                                                     \
	X(MOMENTS_FUNCTION, "function", TEXT, "function that was called")                          \
	X(MOMENTS_ITERATION, "iteration", COUNT, "which call of it")                               \
	X(MOMENTS_CONTEXT, "context", TEXT, "start or end")                                        \
	X(MOMENTS_ALLOCATED_BYTES, "allocated_bytes", BYTES, "allocated_bytes.all.current")        \
	X(MOMENTS_RESERVED_BYTES, "reserved_bytes", BYTES, "reserved_bytes.all.current")           \
	X(MOMENTS_ACTIVE_BYTES, "active_bytes", BYTES, "active_bytes.all.current")                 \
	X(MOMENTS_RSS_BYTES, "rss_bytes", BYTES, "rss: what the process had in host memory")

TSI_FACT_LIST(enum moments_column, moments_columns, MOMENTS_COLUMNS);

static const struct tscope_table_def tables[] = { STATS_TABLES(TSI_TABLE_ROW) };

/* ---- numbers ------------------------------------------------------------------------------ */

static bool is_greater(const struct plain *plain, struct plain_value a, struct plain_value b)
{
	int64_t left, right;
	double left_real = NAN, right_real = NAN;

	if (tsi_plain_to_int64(plain, a, &left) && tsi_plain_to_int64(plain, b, &right))
		return left > right;
	tsi_plain_to_real(plain, a, &left_real);
	tsi_plain_to_real(plain, b, &right_real);
	return left_real > right_real;
}

/* ---- names -------------------------------------------------------------------------------- */

static void note_value(struct stats_view *view, struct plain_value key, struct plain_value value,
		       struct arena *scratch)
{
	const struct plain *plain = view->stats->plain;
	size_t index = tsi_plain_text_index(key);
	struct stats_name *name;

	if (tsi_plain_kind(key) != PLAIN_TEXT || !tsi_stats_is_usable(plain, value))
		return;
	if (view->places[index]) {
		name = &view->names[view->places[index] - 1];
		if (is_greater(plain, value, name->largest))
			name->largest = value;
		return;
	}
	name = tsi_arena_push(scratch, &view->names, &view->name_count, &view->name_capacity,
			      sizeof(*name));
	if (!name)
		return;
	*name = (struct stats_name){ tsi_plain_text(plain, key), index, value };
	view->places[index] = (uint32_t)view->name_count;
}

static int compare_names(const void *left, const void *right)
{
	const struct stats_name *a = left, *b = right;

	return tsi_str_compare(a->text, b->text);
}

static void find_names(struct stats_view *view, struct arena *scratch)
{
	const struct memory_stats *stats = view->stats;

	view->places =
		tsi_arena_new(scratch, tsi_plain_text_count(stats->plain), sizeof(*view->places));
	if (!view->places)
		return;
	for (size_t i = 0; i < stats->count; i++) {
		struct plain_value values = stats->moments[i].values;
		size_t count = tsi_plain_length(stats->plain, values);

		for (size_t j = 0; j < count; j++)
			note_value(view, tsi_plain_key(stats->plain, values, j),
				   tsi_plain_value(stats->plain, values, j), scratch);
	}
	if (view->name_count)
		qsort(view->names, view->name_count, sizeof(*view->names), compare_names);
	for (size_t i = 0; i < view->name_count; i++)
		view->places[view->names[i].text_index] = (uint32_t)i + 1;
}

static void put_largest(const struct stats_view *view, struct fact_sheet *out)
{
	for (size_t i = 0; i < view->name_count; i++) {
		struct tscope_value *cells = tsi_table_row(out, STATS_LARGEST);

		cells[LARGEST_NAME] = tsi_text(view->names[i].text.data);
		cells[LARGEST_VALUE] = tsi_stats_cell(view->stats->plain, view->names[i].largest);
	}
}

/* Facts that are the largest value of a name. */
static void put_peaks(const struct stats_view *view, struct fact_sheet *out)
{
	static const struct {
		enum fact fact;
		struct str name;
	} rows[] = {
		{ PEAK_ALLOCATED_BYTES, { "allocated_bytes.all.peak", 24 } },
		{ PEAK_RESERVED_BYTES, { "reserved_bytes.all.peak", 23 } },
		{ NUM_ALLOC_RETRIES, { "num_alloc_retries", 17 } },
		{ NUM_OOMS, { "num_ooms", 8 } },
	};
	const struct plain *plain = view->stats->plain;

	for (size_t i = 0; i < TSI_COUNT_OF(rows); i++) {
		size_t index = tsi_plain_text_index(tsi_plain_name(plain, rows[i].name));
		uint32_t place = index == SIZE_MAX ? 0 : view->places[index];
		int64_t number;

		if (place && tsi_plain_to_int64(plain, view->names[place - 1].largest, &number))
			tsi_fact_int(out, rows[i].fact, number);
	}
}

/* ---- calls -------------------------------------------------------------------------------- */

static void put_counts(const struct memory_stats *stats, struct fact_sheet *out)
{
	int64_t rank_count = 0, call_count = 0;

	for (size_t i = 0; i < stats->count; i++) {
		rank_count += i == 0 || stats->moments[i].rank != stats->moments[i - 1].rank;
		call_count += tsi_stats_is_call(stats, i);
	}
	tsi_fact_int(out, MOMENT_COUNT, (int64_t)stats->count);
	tsi_fact_int(out, VALUE_COUNT, (int64_t)stats->value_count);
	tsi_fact_int(out, RANK_COUNT, rank_count);
	tsi_fact_int(out, CALL_COUNT, call_count);
}

/* ---- moments ------------------------------------------------------------------------------ */

/* Moments are in the order of functions: one copy of each serves those that follow. */
static void copy_functions(struct stats_view *view, struct fact_sheet *out)
{
	const struct memory_moment *moments = view->stats->moments;

	view->functions =
		tsi_arena_new(tsi_sheet_scratch(out), view->stats->count, sizeof(*view->functions));
	for (size_t i = 0; view->functions && i < view->stats->count; i++)
		view->functions[i] =
			i && tsi_str_equal(moments[i].function, moments[i - 1].function)
				? view->functions[i - 1]
				: tsi_sheet_copy(out, moments[i].function);
}

static void put_moments(const struct stats_view *view, struct fact_sheet *out)
{
	static const enum moments_column columns[KEY_COUNT] = {
		[KEY_ALLOCATED] = MOMENTS_ALLOCATED_BYTES,
		[KEY_RESERVED] = MOMENTS_RESERVED_BYTES,
		[KEY_ACTIVE] = MOMENTS_ACTIVE_BYTES,
		[KEY_RSS] = MOMENTS_RSS_BYTES,
	};
	const struct plain *plain = view->stats->plain;

	for (size_t i = 0; i < view->stats->count; i++) {
		const struct memory_moment *moment = &view->stats->moments[i];
		struct tscope_value *cells = tsi_table_row(out, STATS_MOMENTS);

		cells[MOMENTS_RANK] = tsi_int(moment->rank);
		cells[MOMENTS_FUNCTION] = tsi_text(view->functions[i]);
		cells[MOMENTS_ITERATION] = tsi_int(moment->iteration);
		cells[MOMENTS_CONTEXT] = tsi_text(moment->is_end ? "end" : "start");
		for (size_t key = 0; key < KEY_COUNT; key++)
			cells[columns[key]] = tsi_stats_cell(
				plain, tsi_plain_get(plain, moment->values, view->keys[key]));
	}
}

/* ---- growth ------------------------------------------------------------------------------- */

/* With fewer calls than that a slope says nothing. */
enum { GROWTH_CALLS_MIN = 3 };

/*
 * Lists the allocated bytes at the ends of one function's calls, from its first moment on; returns
 * their number. *next: the first moment of the next function.
 */
static size_t read_ends(const struct stats_view *view, size_t first, double *allocated,
			size_t *next)
{
	const struct memory_stats *stats = view->stats;
	size_t count = 0, i = first;

	for (; i < stats->count &&
	       tsi_stats_is_same_function(&stats->moments[first], &stats->moments[i]);
	     i++) {
		const struct memory_moment *moment = &stats->moments[i];
		struct plain_value value =
			tsi_plain_get(stats->plain, moment->values, view->keys[KEY_ALLOCATED]);

		if (moment->is_end && tsi_stats_is_usable(stats->plain, value) &&
		    tsi_plain_to_real(stats->plain, value, &allocated[count]))
			count++;
	}
	*next = i;
	return count;
}

/* The first moment of the function with most calls, of all ranks; of several the first. */
static size_t find_most_called(const struct stats_view *view, double *allocated)
{
	size_t best = 0, best_count = 0, next;

	for (size_t i = 0; i < view->stats->count; i = next) {
		size_t count = read_ends(view, i, allocated, &next);
		if (count > best_count) {
			best = i;
			best_count = count;
		}
	}
	return best;
}

static void put_growth(const struct stats_view *view, struct fact_sheet *out)
{
	struct arena *scratch = tsi_sheet_scratch(out);
	double *allocated = tsi_arena_new(scratch, view->stats->count, sizeof(*allocated));

	if (!allocated)
		return;
	size_t first = find_most_called(view, allocated), next;
	size_t count = read_ends(view, first, allocated, &next);
	if (count < GROWTH_CALLS_MIN)
		return;
	tsi_fact_real(out, GROWTH_BYTES_PER_CALL, tsi_centred_slope(allocated, count, scratch));
	tsi_fact_text(out, GROWTH_FUNCTION, view->functions[first]);
	tsi_fact_int(out, GROWTH_CALL_COUNT, (int64_t)count);
}

/* ---- putting it together ------------------------------------------------------------------ */

static void find_keys(struct stats_view *view)
{
	static const char *const keys[KEY_COUNT] = {
		[KEY_ALLOCATED] = "allocated_bytes.all.current",
		[KEY_RESERVED] = "reserved_bytes.all.current",
		[KEY_ACTIVE] = "active_bytes.all.current",
		[KEY_RSS] = "rss",
	};

	for (size_t i = 0; i < KEY_COUNT; i++)
		view->keys[i] = tsi_plain_name(view->stats->plain, tsi_str_of(keys[i]));
}

static void fill_memory_stats(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct stats_view view = { .stats = &scope->memory->stats };

	find_names(&view, tsi_sheet_scratch(out));
	find_keys(&view);
	copy_functions(&view, out);
	if (tsi_sheet_scratch(out)->has_failed)
		return;
	tsi_fact_text(out, PATH, scope->memory->info.path);
	put_counts(view.stats, out);
	put_peaks(&view, out);
	put_largest(&view, out);
	tsi_stats_put_functions(&view, out);
	tsi_stats_put_changes(&view, out);
	put_moments(&view, out);
	put_growth(&view, out);
}

const struct analyzer tsi_analyzer_memory_stats = {
	.def = {
		.id = "memory_stats",
		.summary = "memory before and after calls, as finetuning-scheduler took it",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "statistics of finetuning-scheduler (rank_*_memory_stats)",
	},
	.levels = LEVEL_MEMORY_STATS,
	.fill = fill_memory_stats,
};
