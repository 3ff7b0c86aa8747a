/* SPDX-License-Identifier: MIT */
/*
 * Joins metrics to the steps of a rank. Values and records are both put in the order of their
 * numbers and walked together; then the records are laid out anew, old ones and new ones, and
 * their scalars with them.
 */
#include "run/scalars.h"

#include <stdlib.h>

#include "base/array.h"

enum { PART_SHIFT = 32 }; /* above: the part; below: the index of its value */

_Static_assert(METRIC_MAX_POINTS <= INT32_MAX, "an index of a value fits below the part's");

/* A record of the joined series. */
struct place {
	uint32_t record; /* its index so far, or NO_ROW: it is new */
	int64_t number;
	size_t first, end; /* its values in join.values */
};

struct join {
	struct step_series *steps;
	const struct scalar_part *parts;
	size_t part_count;
	uint32_t **ids;           /* by part and name in its log: name in the series, or NO_ROW */
	struct sort_pair *values; /* step, as a key, and where the value stands */
	size_t value_count;
	struct place *places; /* first the old records in the order of time, then the new ones */
	struct place *order;  /* all of them as they will stand */
	size_t place_count;
	struct arena scratch; /* owns all but the steps */
};

static const struct metric_point *point_of(const struct join *join, size_t value)
{
	uint64_t where = join->values[value].value;

	return &join->parts[where >> PART_SHIFT].log->points[(uint32_t)where];
}

static uint32_t name_of(const struct join *join, size_t value)
{
	return join->ids[join->values[value].value >> PART_SHIFT][point_of(join, value)->name];
}

/* ---- names ---- */

/* The id of a text of ours; that of the empty one where there is no room for more. */
static uint32_t take_text(struct step_series *steps, const char *text)
{
	uint32_t id = tsi_steps_name(steps, tsi_str_of(text));

	return id == NO_ROW ? 0 : id;
}

/* Takes the names of the part's values that are joined; all others are NO_ROW. */
static void take_names(struct join *join, size_t part)
{
	const struct metric_log *log = join->parts[part].log;
	uint32_t *ids = tsi_arena_new(&join->scratch, log->names.count, sizeof(*ids));
	bool *is_known = tsi_arena_new(&join->scratch, log->names.count, sizeof(*is_known));

	join->ids[part] = ids;
	for (size_t i = 0; is_known && i < log->count; i++) {
		uint32_t name = log->points[i].name;

		if (is_known[name] || log->points[i].is_sample)
			continue;
		is_known[name] = true;
		ids[name] = tsi_steps_name(join->steps, tsi_intern_text(&log->names, name));
	}
	for (size_t i = 0; is_known && i < log->names.count; i++)
		if (!is_known[i])
			ids[i] = NO_ROW;
}

static void add_scalar(struct step_series *steps, struct step_scalar scalar)
{
	if (tsi_array_reserve(&steps->scalar_names, &steps->scalar_name_capacity,
			      steps->scalar_name_count + 1, sizeof(*steps->scalar_names),
			      NULL) == TSCOPE_OK)
		steps->scalar_names[steps->scalar_name_count++] = scalar;
	else
		steps->has_failed = true;
}

/* Which names of the series are those of scalars; NULL without memory. */
static bool *find_listed(const struct step_series *steps, struct arena *scratch)
{
	bool *is_listed = tsi_arena_new(scratch, steps->names.count, sizeof(*is_listed));

	for (size_t i = 0; is_listed && i < steps->scalar_name_count; i++)
		is_listed[steps->scalar_names[i].name] = true;
	return is_listed;
}

/* Lists a name, if it is not there yet. */
static void list_name(struct step_series *steps, bool *is_listed, uint32_t name, uint32_t source)
{
	if (name == NO_ROW || is_listed[name])
		return;
	is_listed[name] = true;
	add_scalar(steps, (struct step_scalar){ name, source, SCALAR_OTHER });
}

static uint32_t take_source(struct join *join, size_t part)
{
	return take_text(join->steps, join->parts[part].source);
}

/* The last part with a name holds, so it is named as the source. */
static void list_names(struct join *join)
{
	bool *is_listed;

	/* First of all the sources, so that no number of names takes their room. */
	for (size_t part = 0; part < join->part_count; part++)
		(void)take_source(join, part);
	for (size_t part = 0; part < join->part_count; part++)
		take_names(join, part);
	is_listed = find_listed(join->steps, &join->scratch);
	for (size_t part = join->part_count; is_listed && part-- > 0;) {
		uint32_t source = take_source(join, part);

		for (size_t i = 0; i < join->parts[part].log->names.count; i++)
			list_name(join->steps, is_listed, join->ids[part][i], source);
	}
}

/* ---- values in the order of their steps ---- */

static void take_values(struct join *join)
{
	for (size_t part = 0; part < join->part_count; part++) {
		const struct metric_log *log = join->parts[part].log;

		for (size_t i = 0; i < log->count; i++)
			if (!log->points[i].is_sample &&
			    join->ids[part][log->points[i].name] != NO_ROW)
				join->values[join->value_count++] = (struct sort_pair){
					tsi_sort_key_of_int64(log->points[i].step),
					(uint64_t)part << PART_SHIFT | i,
				};
	}
}

static void sort_values(struct join *join)
{
	struct arena pairs = { 0 }; /* large, and not needed for long */
	struct sort_pair *scratch;
	size_t count = 0;

	for (size_t part = 0; part < join->part_count; part++)
		count += join->parts[part].log->count;
	join->values = tsi_arena_new(&join->scratch, count, sizeof(*join->values));
	if (!join->values)
		return;
	take_values(join);
	scratch = tsi_arena_new(&pairs, join->value_count, sizeof(*scratch));
	if (scratch)
		tsi_sort_pairs(join->values, scratch, join->value_count);
	join->scratch.has_failed |= pairs.has_failed;
	tsi_arena_deinit(&pairs);
}

/* ---- places ---- */

/* Where the values of the step at `first` end. */
static size_t end_of_step(const struct join *join, size_t first)
{
	size_t end = first;

	while (end < join->value_count && join->values[end].key == join->values[first].key)
		end++;
	return end;
}

static size_t count_steps(const struct join *join)
{
	size_t count = 0;

	for (size_t first = 0; first < join->value_count; first = end_of_step(join, first))
		count++;
	return count;
}

/* Gives the values of each step to the first record of its number, or to a new one. */
static void place_values(struct join *join, const struct sort_pair *by_number, size_t count)
{
	size_t at = 0;

	for (size_t first = 0, end; first < join->value_count; first = end) {
		uint64_t key = join->values[first].key;

		end = end_of_step(join, first);
		while (at < count && by_number[at].key < key)
			at++;
		struct place *place = at < count && by_number[at].key == key
					      ? &join->places[by_number[at].value]
					      : &join->places[join->place_count++];
		place->number = tsi_int64_of_sort_key(key);
		place->first = first;
		place->end = end;
	}
}

/* New records stand in front of the first old one that has a higher number than they have. */
static void order_places(struct join *join)
{
	size_t old_count = join->steps->count, next = old_count, count = 0;

	for (size_t i = 0; i < old_count; i++) {
		while (next < join->place_count &&
		       join->places[next].number < join->places[i].number)
			join->order[count++] = join->places[next++];
		join->order[count++] = join->places[i];
	}
	while (next < join->place_count)
		join->order[count++] = join->places[next++];
}

static void find_places(struct join *join)
{
	const struct step_series *steps = join->steps;
	size_t room = steps->count + count_steps(join), count;
	struct sort_pair *by_number = NULL;

	join->places = tsi_arena_new(&join->scratch, room, sizeof(*join->places));
	join->order = tsi_arena_new(&join->scratch, room, sizeof(*join->order));
	if (room >= NO_ROW || !join->order ||
	    tsi_steps_by_number(&by_number, &count, steps, false, NULL) != TSCOPE_OK) {
		join->scratch.has_failed = true;
		return;
	}
	for (size_t i = 0; i < room; i++)
		join->places[i].record = i < steps->count ? (uint32_t)i : NO_ROW;
	for (size_t i = 0; i < steps->count; i++)
		join->places[i].number = steps->records[i].number;
	join->place_count = steps->count;
	place_values(join, by_number, count);
	order_places(join);
	free(by_number);
}

/* ---- the series, laid out anew ---- */

static void lay_out_records(struct join *join)
{
	struct step_series *steps = join->steps;
	struct step_record *records = NULL;

	if (join->place_count == steps->count)
		return;
	if (tsi_array_new(&records, join->place_count, sizeof(*records), NULL) != TSCOPE_OK) {
		join->scratch.has_failed = true;
		return;
	}
	for (size_t i = 0; i < join->place_count; i++) {
		const struct place *place = &join->order[i];

		if (place->record == NO_ROW)
			records[i] = tsi_step_record(place->number);
		else
			records[i] = steps->records[place->record];
	}
	free(steps->records);
	steps->records = records;
	steps->count = steps->capacity = join->place_count;
}

/* Phases stay with their records. */
static void lay_out_phases(struct join *join)
{
	struct step_extras *phases = &join->steps->phases;
	size_t at = 0;

	for (size_t i = 0; i < join->place_count; i++)
		for (; at < phases->count && phases->items[at].record == join->order[i].record;
		     at++)
			phases->items[at].record = (uint32_t)i;
}

/* Scalars as they are written anew. */
struct layout {
	struct step_extra *items;
	size_t count;
	size_t *places; /* by name: its last item, counted from 1 */
};

/* The item of the record `index` with this name, or NULL. */
static struct step_extra *find_item(const struct layout *layout, uint32_t index, uint32_t name)
{
	size_t place = layout->places[name];

	return place && layout->items[place - 1].record == index ? &layout->items[place - 1] : NULL;
}

static void add_item(struct layout *layout, uint32_t index, uint32_t name, double value)
{
	layout->items[layout->count] = (struct step_extra){ index, name, value };
	layout->places[name] = ++layout->count;
}

/* Own scalars of the record come first, and stay; of the values that join them the last holds. */
static void lay_out_scalars_of(struct join *join, struct layout *layout, uint32_t index,
			       size_t *next_own)
{
	const struct step_extras *own = &join->steps->scalars;
	const struct place *place = &join->order[index];
	size_t own_end;

	for (; *next_own < own->count && own->items[*next_own].record == place->record; ++*next_own)
		add_item(layout, index, own->items[*next_own].name, own->items[*next_own].value);
	own_end = layout->count;
	for (size_t i = place->first; i < place->end; i++) {
		uint32_t name = name_of(join, i);
		struct step_extra *item = find_item(layout, index, name);

		if (!item)
			add_item(layout, index, name, point_of(join, i)->value);
		else if (item >= &layout->items[own_end])
			item->value = point_of(join, i)->value;
	}
}

static void lay_out_scalars(struct join *join)
{
	struct step_extras *scalars = &join->steps->scalars;
	size_t room = scalars->count + join->value_count, next_own = 0;
	struct layout layout = {
		.places = tsi_arena_new(&join->scratch, join->steps->names.count,
					sizeof(*layout.places)),
	};

	if (!layout.places ||
	    tsi_array_new(&layout.items, room, sizeof(*layout.items), NULL) != TSCOPE_OK) {
		join->scratch.has_failed = true;
		return;
	}
	for (size_t i = 0; i < join->place_count; i++)
		lay_out_scalars_of(join, &layout, (uint32_t)i, &next_own);
	free(scalars->items);
	*scalars = (struct step_extras){ layout.items, layout.count, room };
}

void tsi_scalars_join(struct step_series *steps, const struct scalar_part *parts, size_t part_count)
{
	struct join join = { .steps = steps, .parts = parts, .part_count = part_count };
	bool was_empty = steps->count == 0;

	join.ids = tsi_arena_new(&join.scratch, part_count, sizeof(*join.ids));
	if (join.ids && !steps->has_failed)
		list_names(&join);
	if (!join.scratch.has_failed && !steps->has_failed)
		sort_values(&join);
	if (!join.scratch.has_failed && !steps->has_failed)
		find_places(&join);
	if (!join.scratch.has_failed && !steps->has_failed)
		lay_out_scalars(&join);
	if (!join.scratch.has_failed && !steps->has_failed) {
		lay_out_phases(&join);
		lay_out_records(&join);
	}
	if (was_empty)
		tsi_steps_settle_times(steps);
	steps->has_failed |= join.scratch.has_failed;
	tsi_arena_deinit(&join.scratch);
}

/* ---- names of own records ---- */

/* The loss, or the gradient's norm, that records hold under the name of its role. */
static void note_role(struct step_series *steps, enum scalar_role role, uint32_t source)
{
	bool is_held = false;
	uint32_t name;
	double value;

	for (size_t i = 0; !is_held && i < steps->count; i++)
		is_held = tsi_scalar_of_record(&steps->records[i], role, &value);
	if (!is_held || tsi_scalar_of_role(steps, role))
		return;
	name = take_text(steps, tsi_scalar_role_name(role));
	add_scalar(steps, (struct step_scalar){ name, source, (uint8_t)role });
}

void tsi_scalars_note(struct step_series *steps, const char *source)
{
	struct arena scratch = { 0 };
	uint32_t id = take_text(steps, source);
	bool *is_listed;

	note_role(steps, SCALAR_LOSS, id);
	note_role(steps, SCALAR_GRAD_NORM, id);
	is_listed = find_listed(steps, &scratch);
	for (size_t i = 0; is_listed && i < steps->scalars.count; i++)
		list_name(steps, is_listed, steps->scalars.items[i].name, id);
	steps->has_failed |= scratch.has_failed;
	tsi_arena_deinit(&scratch);
}

/* ---- values of no step ---- */

uint64_t tsi_scalars_mark_samples(struct metric_log *log, struct arena *arena)
{
	struct arena scratch = { 0 };
	bool *counts_samples = tsi_arena_new(&scratch, log->names.count, sizeof(*counts_samples));
	uint64_t count = 0;

	for (uint32_t i = 0; counts_samples && i < log->names.count; i++)
		counts_samples[i] = tsi_scalar_counts_samples(tsi_intern_text(&log->names, i));
	for (size_t i = 0; counts_samples && i < log->count; i++) {
		log->points[i].is_sample |= counts_samples[log->points[i].name];
		count += log->points[i].is_sample;
	}
	arena->has_failed |= scratch.has_failed;
	tsi_arena_deinit(&scratch);
	return count;
}
