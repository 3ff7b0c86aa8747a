/* SPDX-License-Identifier: MIT */
/*
 * Keeps the values of counter events. A series is found by what names it, from the outside in:
 * counter, process, id, series.
 */
#include "model/trace/counters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "decode/json.h"
#include "model/trace/build.h"

void tsi_counters_deinit(struct counters *counters)
{
	free(counters->series);
	free(counters->values);
	free(counters->series_of_value);
	*counters = (struct counters){ 0 };
}

/* ---- series -------------------------------------------------------------------------- */

/* Where there is no room for a new series nothing new is interned: *id is NO_ROW then. */
static enum tscope_status find_text(struct builder *b, struct str text, bool escaped, uint32_t *id,
				    struct tscope_error *err)
{
	if (b->trace->counters.series_count < COUNTERS_MAX_SERIES)
		return tsi_builder_intern(b, text, escaped, id, err);
	*id = escaped ? NO_ROW : tsi_intern_find(&b->trace->names, text);
	return TSCOPE_OK;
}

/* The node below `node` by this text, made where it is new. */
static enum tscope_status go_down(struct builder *b, uint32_t *node, uint32_t text,
				  struct tscope_error *err)
{
	uint64_t key = tsi_key_of_pair(*node, text);
	uint32_t found = tsi_key_map_find(&b->counter_nodes, key);

	if (found != NO_ROW) {
		*node = found;
		return TSCOPE_OK;
	}
	*node = (uint32_t)b->counter_nodes.count + 1; /* 0 is the root */
	return tsi_key_map_put(&b->counter_nodes, key, *node, err);
}

static enum tscope_status add_series(struct counters *counters, const struct counter_series *series,
				     struct tscope_error *err)
{
	if (tsi_array_reserve(&counters->series, &counters->series_capacity,
			      counters->series_count + 1, sizeof(*counters->series),
			      err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	counters->series[counters->series_count++] = *series;
	return TSCOPE_OK;
}

/* *index is NO_ROW where there are too many series. */
static enum tscope_status find_series(struct builder *b, const struct raw_event *event,
				      struct str key, uint32_t *index, struct tscope_error *err)
{
	struct counters *counters = &b->trace->counters;
	struct counter_series series = { 0 };
	struct str pid = event->pid.length ? event->pid : TSI_STR("0");
	bool key_escaped = memchr(key.data, '\\', key.length) != NULL;
	uint32_t node = 0;
	enum tscope_status status;

	*index = NO_ROW;
	if ((status = find_text(b, event->name, event->name_escaped, &series.counter, err)) !=
		    TSCOPE_OK ||
	    (status = find_text(b, pid, false, &series.process, err)) != TSCOPE_OK ||
	    (status = find_text(b, event->id, false, &series.id, err)) != TSCOPE_OK ||
	    (status = find_text(b, key, key_escaped, &series.name, err)) != TSCOPE_OK)
		return status;
	if (series.counter == NO_ROW || series.process == NO_ROW || series.id == NO_ROW ||
	    series.name == NO_ROW)
		return TSCOPE_OK;
	if ((status = go_down(b, &node, series.counter, err)) != TSCOPE_OK ||
	    (status = go_down(b, &node, series.process, err)) != TSCOPE_OK ||
	    (status = go_down(b, &node, series.id, err)) != TSCOPE_OK)
		return status;
	uint64_t leaf = tsi_key_of_pair(node, series.name);
	*index = tsi_key_map_find(&b->counter_series, leaf);
	if (*index != NO_ROW || counters->series_count == COUNTERS_MAX_SERIES)
		return TSCOPE_OK;
	*index = (uint32_t)counters->series_count;
	status = add_series(counters, &series, err);
	return status == TSCOPE_OK ? tsi_key_map_put(&b->counter_series, leaf, *index, err)
				   : status;
}

/* ---- values -------------------------------------------------------------------------- */

static enum tscope_status add_value(struct counters *counters, uint32_t series,
				    struct counter_value value, struct tscope_error *err)
{
	if (series == NO_ROW || counters->value_count == COUNTERS_MAX_VALUES) {
		counters->dropped_count++;
		return TSCOPE_OK;
	}
	if (tsi_array_reserve(&counters->values, &counters->value_capacity,
			      counters->value_count + 1, sizeof(*counters->values),
			      err) != TSCOPE_OK ||
	    tsi_array_reserve(&counters->series_of_value, &counters->series_of_value_capacity,
			      counters->value_count + 1, sizeof(*counters->series_of_value),
			      err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	counters->values[counters->value_count] = value;
	counters->series_of_value[counters->value_count++] = series;
	return TSCOPE_OK;
}

enum tscope_status tsi_add_counter_values(struct builder *b, const struct raw_event *event,
					  struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;
	struct json_cursor members;
	struct str key, text;

	tsi_json_object_open(&members, event->args);
	while (status == TSCOPE_OK && tsi_json_object_next(&members, &key, &text)) {
		struct counter_value value = { .time_ns = event->ts_ns };
		uint32_t series;

		if (!tsi_json_to_double(text, &value.value) || !isfinite(value.value)) {
			b->trace->counters.bad_count++;
			continue;
		}
		status = find_series(b, event, key, &series, err);
		if (status == TSCOPE_OK)
			status = add_value(&b->trace->counters, series, value, err);
	}
	return status;
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
	free(counters->values);
	free(counters->series_of_value);
	counters->values = sorted;
	counters->series_of_value = NULL;
	counters->value_capacity = counters->value_count;
	counters->series_of_value_capacity = 0;
}

enum tscope_status tsi_counters_finish(struct counters *counters, struct tscope_error *err)
{
	struct sort_pair *order = NULL, *scratch = NULL;
	struct counter_value *sorted = NULL;
	size_t count = counters->value_count;

	if (count == 0)
		return TSCOPE_OK;
	enum tscope_status status = tsi_array_new(&order, count, sizeof(*order), err);
	if (status == TSCOPE_OK)
		status = tsi_array_new(&scratch, count, sizeof(*scratch), err);
	if (status == TSCOPE_OK)
		status = tsi_array_new(&sorted, count, sizeof(*sorted), err);
	if (status == TSCOPE_OK) {
		sort_order(order, scratch, counters);
		take_order(counters, order, sorted);
	}
	free(order);
	free(scratch);
	return status;
}
