/* SPDX-License-Identifier: MIT */
/*
 * Reads the statistics of finetuning-scheduler's MemProfiler: a dict of moments, each a dict of
 * values. The moment's name, "0.training_step.2.end", is taken apart: rank, function (which may
 * hold dots), iteration, and whether it is before or after the call.
 */
#include "model/memory/memory_stats.h"

#include <stdlib.h>

#include "model/memory/plain_repeats.h"

/* ---- names of moments -------------------------------------------------------------------- */

/* Takes off the last dot and what follows it, which is *part. */
static bool split_last(struct str *text, struct str *part)
{
	size_t at = text->length;

	while (at > 0 && text->data[at - 1] != '.')
		at--;
	if (at == 0)
		return false;
	*part = tsi_str_tail(*text, at);
	text->length = at - 1;
	return true;
}

static bool split_first(struct str *text, struct str *part)
{
	ptrdiff_t at = tsi_str_find(*text, TSI_STR("."));

	if (at < 0)
		return false;
	*part = (struct str){ text->data, (size_t)at };
	*text = tsi_str_tail(*text, (size_t)at + 1);
	return true;
}

static bool parse_name(struct str name, struct memory_moment *moment)
{
	struct str rank, iteration, context;

	if (!split_first(&name, &rank) || !split_last(&name, &context) ||
	    !split_last(&name, &iteration))
		return false;
	moment->function = name;
	moment->is_end = tsi_str_is(context, "end");
	return (moment->is_end || tsi_str_is(context, "start")) &&
	       tsi_str_to_int64(rank, &moment->rank) && moment->rank >= 0 &&
	       tsi_str_to_int64(iteration, &moment->iteration);
}

static bool read_moment(const struct plain *plain, size_t index, struct memory_moment *moment)
{
	struct plain_value root = tsi_plain_root(plain);
	struct plain_value key = tsi_plain_key(plain, root, index);

	moment->values = tsi_plain_value(plain, root, index);
	return tsi_plain_kind(key) == PLAIN_TEXT && tsi_plain_kind(moment->values) == PLAIN_DICT &&
	       parse_name(tsi_plain_text(plain, key), moment);
}

bool tsi_is_memory_stats(const struct plain *plain)
{
	struct plain_value root = tsi_plain_root(plain);
	size_t count = tsi_plain_length(plain, root);
	struct memory_moment moment;

	if (tsi_plain_kind(root) != PLAIN_DICT)
		return false;
	for (size_t i = 0; i < count; i++)
		if (read_moment(plain, i, &moment))
			return true;
	return count == 0;
}

/* ---- reading ------------------------------------------------------------------------------ */

static int compare_moments(const void *left, const void *right)
{
	const struct memory_moment *a = left, *b = right;
	int order;

	TSI_ASCENDING(a->rank, b->rank);
	order = tsi_str_compare(a->function, b->function);
	if (order)
		return order;
	TSI_ASCENDING(a->iteration, b->iteration);
	if (a->is_end != b->is_end)
		return a->is_end ? 1 : -1;
	return (a->values.word > b->values.word) - (a->values.word < b->values.word);
}

static void count_values(struct memory_stats *stats, struct plain_value values)
{
	size_t count = tsi_plain_length(stats->plain, values);

	for (size_t i = 0; i < count; i++) {
		struct plain_value value = tsi_plain_value(stats->plain, values, i);
		double number;

		if ((tsi_plain_to_real(stats->plain, value, &number) ||
		     tsi_plain_kind(value) == PLAIN_NONE) &&
		    tsi_plain_kind(tsi_plain_key(stats->plain, values, i)) == PLAIN_TEXT)
			stats->value_count++;
		else
			stats->dropped_count++;
	}
}

static void read_moments(struct memory_stats *stats, size_t count, struct plain_repeats *repeats)
{
	for (size_t i = 0; i < count; i++) {
		struct memory_moment *moment = &stats->moments[stats->count];

		if (!read_moment(stats->plain, i, moment) ||
		    !tsi_plain_repeats_allow(repeats, stats->plain, moment->values)) {
			stats->dropped_count++;
			continue;
		}
		count_values(stats, moment->values);
		stats->count++;
	}
	if (stats->count)
		qsort(stats->moments, stats->count, sizeof(*stats->moments), compare_moments);
}

void tsi_memory_stats_init(struct memory_stats *stats, const struct plain *plain)
{
	size_t count = tsi_plain_length(plain, tsi_plain_root(plain));
	struct arena scratch = { 0 };
	struct plain_repeats repeats = tsi_plain_repeats(plain, &scratch);

	*stats = (struct memory_stats){ .plain = plain };
	stats->moments = tsi_arena_new(&stats->arena, count, sizeof(*stats->moments));
	if (stats->moments && repeats.is_seen)
		read_moments(stats, count, &repeats);
	stats->arena.has_failed |= scratch.has_failed;
	tsi_arena_deinit(&scratch);
}
