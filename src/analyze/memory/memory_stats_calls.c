/* SPDX-License-Identifier: MIT */
/* Changes by calls: the difference between the statistics before and after them. */
#include "analyze/memory/memory_stats_parts.h"

#include <math.h>

#include "base/arena.h"
#include "base/ckd.h"
#include "base/sort.h"
#include "base/sum.h"

struct tscope_value tsi_stats_cell(const struct plain *plain, struct plain_value number)
{
	int64_t integer;
	double real = NAN;

	if (tsi_plain_to_int64(plain, number, &integer))
		return tsi_int(integer);
	tsi_plain_to_real(plain, number, &real);
	return tsi_real(real);
}

bool tsi_stats_is_usable(const struct plain *plain, struct plain_value value)
{
	double real;

	return tsi_plain_to_real(plain, value, &real) && isfinite(real);
}

bool tsi_stats_is_same_function(const struct memory_moment *a, const struct memory_moment *b)
{
	return a->rank == b->rank && tsi_str_equal(a->function, b->function);
}

bool tsi_stats_is_call(const struct memory_stats *stats, size_t start)
{
	const struct memory_moment *a = &stats->moments[start], *b = a + 1;

	return start + 1 < stats->count && tsi_stats_is_same_function(a, b) &&
	       a->iteration == b->iteration && !a->is_end && b->is_end;
}

/* b − a, exact where both are integers. */
static struct tscope_value difference(struct tscope_value a, struct tscope_value b)
{
	int64_t integer;

	if (a.kind == TSCOPE_VALUE_ABSENT || b.kind == TSCOPE_VALUE_ABSENT)
		return (struct tscope_value){ .kind = TSCOPE_VALUE_ABSENT };
	if (a.kind == TSCOPE_VALUE_INT && b.kind == TSCOPE_VALUE_INT &&
	    !tsi_ckd_sub(&integer, b.integer, a.integer))
		return tsi_int(integer);
	double before = a.kind == TSCOPE_VALUE_INT ? (double)a.integer : a.real;
	double after = b.kind == TSCOPE_VALUE_INT ? (double)b.integer : b.real;
	return tsi_real(after - before);
}

/* ---- each call ----------------------------------------------------------------------------- */

/* The values of a start that its end has, too, in the order of names: pairs of place and index. */
static size_t find_changed(const struct stats_view *view, const struct memory_moment *start,
			   struct sort_pair *pairs, struct sort_pair *scratch)
{
	const struct plain *plain = view->stats->plain;
	size_t count = tsi_plain_length(plain, start->values), found = 0;

	for (size_t i = 0; i < count; i++) {
		struct plain_value key = tsi_plain_key(plain, start->values, i);
		struct plain_value after = tsi_plain_get(plain, start[1].values, key);

		if (tsi_plain_kind(key) == PLAIN_TEXT && tsi_stats_is_usable(plain, after) &&
		    tsi_stats_is_usable(plain, tsi_plain_value(plain, start->values, i)))
			pairs[found++] = (struct sort_pair){
				.key = view->places[tsi_plain_text_index(key)],
				.value = i,
			};
	}
	tsi_sort_pairs(pairs, scratch, found);
	return found;
}

/* pairs: room for the values of the call, and as many again. */
static void put_call(const struct stats_view *view, size_t call, struct sort_pair *pairs,
		     struct fact_sheet *out)
{
	const struct memory_moment *start = &view->stats->moments[call];
	const struct plain *plain = view->stats->plain;
	size_t room = tsi_plain_length(plain, start->values);
	size_t count = find_changed(view, start, pairs, pairs + room);

	for (size_t i = 0; i < count; i++) {
		struct plain_value key = tsi_plain_key(plain, start->values, pairs[i].value);
		struct tscope_value before = tsi_stats_cell(
			plain, tsi_plain_value(plain, start->values, pairs[i].value));
		struct tscope_value after =
			tsi_stats_cell(plain, tsi_plain_get(plain, start[1].values, key));
		struct tscope_value *cells = tsi_table_row(out, STATS_CHANGES);

		cells[CHANGES_RANK] = tsi_int(start->rank);
		cells[CHANGES_FUNCTION] = tsi_text(view->functions[call]);
		cells[CHANGES_ITERATION] = tsi_int(start->iteration);
		cells[CHANGES_NAME] = tsi_text(tsi_plain_text(plain, key).data);
		cells[CHANGES_START] = before;
		cells[CHANGES_END] = after;
		cells[CHANGES_CHANGE] = difference(before, after);
	}
}

void tsi_stats_put_changes(const struct stats_view *view, struct fact_sheet *out)
{
	const struct memory_stats *stats = view->stats;
	size_t room = 0;

	for (size_t i = 0; i < stats->count; i++) {
		size_t count = tsi_plain_length(stats->plain, stats->moments[i].values);
		room = count > room ? count : room;
	}
	struct sort_pair *pairs = tsi_arena_new(tsi_sheet_scratch(out), room, 2 * sizeof(*pairs));
	for (size_t i = 0; pairs && i < stats->count; i++)
		if (tsi_stats_is_call(stats, i))
			put_call(view, i, pairs, out);
}

/* ---- functions ---------------------------------------------------------------------------- */

/* Adds a call's change of one value to a cell, if both ends of the call have it. */
static void add_change(const struct plain *plain, const struct memory_moment *start,
		       struct plain_value name, struct tscope_value *cell)
{
	int64_t before, after, change;

	if (!tsi_plain_to_int64(plain, tsi_plain_get(plain, start->values, name), &before) ||
	    !tsi_plain_to_int64(plain, tsi_plain_get(plain, start[1].values, name), &after) ||
	    tsi_ckd_sub(&change, after, before))
		return;
	if (cell->kind == TSCOPE_VALUE_ABSENT)
		*cell = tsi_int(0);
	tsi_sum_signed(&cell->integer, change);
}

void tsi_stats_put_functions(const struct stats_view *view, struct fact_sheet *out)
{
	const struct memory_stats *stats = view->stats;
	const struct memory_moment *moment = NULL;
	struct tscope_value *cells = NULL;

	for (size_t i = 0; i < stats->count; i++) {
		const struct memory_moment *start = &stats->moments[i];

		if (!tsi_stats_is_call(stats, i))
			continue;
		if (!moment || !tsi_stats_is_same_function(moment, start)) {
			cells = tsi_table_row(out, STATS_BY_FUNCTION);
			cells[FUNCTION_RANK] = tsi_int(start->rank);
			cells[FUNCTION_FUNCTION] = tsi_text(view->functions[i]);
			cells[FUNCTION_CALL_COUNT] = tsi_int(0);
		}
		moment = start;
		cells[FUNCTION_CALL_COUNT].integer++;
		add_change(stats->plain, start, view->keys[KEY_ALLOCATED],
			   &cells[FUNCTION_ALLOCATED_CHANGE_BYTES]);
		add_change(stats->plain, start, view->keys[KEY_RESERVED],
			   &cells[FUNCTION_RESERVED_CHANGE_BYTES]);
		add_change(stats->plain, start, view->keys[KEY_RSS],
			   &cells[FUNCTION_RSS_CHANGE_BYTES]);
	}
}
