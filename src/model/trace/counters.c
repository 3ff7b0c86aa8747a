/* SPDX-License-Identifier: MIT */
/*
 * Keeps the values of counter events. A series is found by what names it, from the outside in:
 * counter, process, id, series.
 */
#include "model/trace/counters.h"

#include <math.h>
#include <string.h>

#include "base/column.h"
#include "base/sort.h"
#include "decode/json.h"
#include "model/trace/build.h"

void tsi_counters_deinit(struct counters *counters)
{
	tsi_column_free(counters->values);
	tsi_column_free(counters->series_of_value);
	*counters = (struct counters){ 0 };
}

/* ---- series -------------------------------------------------------------------------- */

/* Interns nothing new once there is no room for a new series: NO_ROW then. */
static uint32_t find_text(struct builder *b, struct str text, bool escaped)
{
	if (b->trace->counters.series_count < COUNTERS_MAX_SERIES)
		return tsi_builder_name(b, text, escaped);
	return escaped ? NO_ROW : tsi_intern_find(&b->trace->names, text);
}

/* The node below `node` by this text, made where it is new. */
static uint32_t go_down(struct builder *b, uint32_t node, uint32_t text)
{
	uint64_t key = tsi_key_of_pair(node, text);
	uint32_t found = tsi_key_map_find(&b->counter_nodes, key);

	if (found != NO_ROW)
		return found;
	uint32_t fresh = (uint32_t)b->counter_nodes.count + 1; /* 0 is the root */
	tsi_builder_put(b, &b->counter_nodes, key, fresh);
	return fresh;
}

/* The series' index; NO_ROW where there are too many. */
static uint32_t find_series(struct builder *b, const struct raw_event *event, struct str key)
{
	struct counters *counters = &b->trace->counters;
	bool key_escaped = memchr(key.data, '\\', key.length) != NULL;
	struct str pid = event->pid.length ? event->pid : TSI_STR("0");
	struct counter_series series = { 0 };

	series.counter = find_text(b, event->name, event->name_escaped);
	series.process = find_text(b, pid, false);
	series.id = find_text(b, event->id, false);
	series.name = find_text(b, key, key_escaped);
	if (series.counter == NO_ROW || series.process == NO_ROW || series.id == NO_ROW ||
	    series.name == NO_ROW)
		return NO_ROW;
	uint32_t node =
		go_down(b, go_down(b, go_down(b, 0, series.counter), series.process), series.id);
	uint64_t leaf = tsi_key_of_pair(node, series.name);
	uint32_t index = tsi_key_map_find(&b->counter_series, leaf);
	if (index != NO_ROW || counters->series_count == COUNTERS_MAX_SERIES)
		return index;
	struct counter_series *added =
		tsi_builder_push(b, &counters->series, &counters->series_count,
				 &counters->series_capacity, sizeof(*added));
	if (!added)
		return NO_ROW;
	*added = series;
	index = (uint32_t)counters->series_count - 1;
	tsi_builder_put(b, &b->counter_series, leaf, index);
	return index;
}

/* ---- values -------------------------------------------------------------------------- */

static void add_value(struct builder *b, uint32_t series, struct counter_value value)
{
	struct counters *counters = &b->trace->counters;
	size_t wanted = counters->value_count + 1;

	if (series == NO_ROW || counters->value_count == COUNTERS_MAX_VALUES) {
		counters->dropped_count++;
		return;
	}
	if (!tsi_builder_reserve(b, &counters->values, &counters->value_capacity, wanted,
				 sizeof(*counters->values)) ||
	    !tsi_builder_reserve(b, &counters->series_of_value, &counters->series_of_value_capacity,
				 wanted, sizeof(*counters->series_of_value)))
		return;
	counters->values[counters->value_count] = value;
	counters->series_of_value[counters->value_count++] = series;
}

void tsi_add_counter_values(struct builder *b, const struct raw_event *event)
{
	struct json_cursor members;
	struct str key, text;

	tsi_json_object_open(&members, event->args);
	while (tsi_json_object_next(&members, &key, &text)) {
		struct counter_value value = { .time_ns = event->ts_ns };

		if (tsi_json_to_double(text, &value.value) && isfinite(value.value))
			add_value(b, find_series(b, event, key), value);
		else
			b->trace->counters.bad_count++;
	}
}

/* ---- their order --------------------------------------------------------------------- */

/* By series, then by time; those of one time stay in the order of the file. */
static void sort_order(struct sort_pair *order, struct sort_pair *scratch,
		       const struct counters *counters)
{
	for (size_t i = 0; i < counters->value_count; i++)
		order[i] =
			(struct sort_pair){ tsi_sort_key_of_int64(counters->values[i].time_ns), i };
	tsi_sort_pairs(order, scratch, counters->value_count);
	for (size_t i = 0; i < counters->value_count; i++)
		order[i].key = counters->series_of_value[order[i].value];
	tsi_sort_pairs(order, scratch, counters->value_count);
}

/* Takes over the order: values change places, and series learn where theirs are. */
static void take_order(struct counters *counters, const struct sort_pair *order,
		       struct counter_value *sorted)
{
	for (size_t i = 0; i < counters->value_count; i++) {
		struct counter_series *series = &counters->series[order[i].key];

		if (series->count++ == 0)
			series->first = (uint32_t)i;
		sorted[i] = counters->values[order[i].value];
	}
	tsi_column_free(counters->values);
	tsi_column_free(counters->series_of_value);
	counters->values = sorted;
	counters->series_of_value = NULL;
	counters->value_capacity = counters->value_count;
	counters->series_of_value_capacity = 0;
}

void tsi_sort_counters(struct builder *b)
{
	struct counters *counters = &b->trace->counters;
	size_t count = counters->value_count;

	if (count == 0)
		return;
	struct sort_pair *order = tsi_arena_new(&b->scratch, count, sizeof(*order));
	struct sort_pair *scratch = tsi_arena_new(&b->scratch, count, sizeof(*scratch));
	struct counter_value *sorted = tsi_builder_new_array(b, count, sizeof(*sorted));
	if (!order || !scratch || !sorted) {
		tsi_column_free(sorted);
		return;
	}
	sort_order(order, scratch, counters);
	take_order(counters, order, sorted);
}
