/* SPDX-License-Identifier: MIT */
/*
 * Joins metrics to the steps of a rank. Values and records are both put in the order of their
 * numbers and walked together; then the records are laid out anew, old ones and new ones, and
 * their scalars with them.
 */
#include "run/scalars.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"

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
};

static void join_deinit(struct join *join)
{
	for (size_t i = 0; join->ids && i < join->part_count; i++)
		free(join->ids[i]);
	free(join->ids);
	free(join->values);
	free(join->places);
	free(join->order);
}

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

/* The number of a log's name in the series; NO_ROW where it has no room for more. */
static enum tscope_status take_name(struct step_series *steps, struct str name, uint32_t *id,
				    struct tscope_error *err)
{
	enum tscope_status status;

	*id = NO_ROW;
	status = tsi_intern_add(&steps->names, name, id, NULL);
	if (status == TSCOPE_E_NOMEM)
		return tsi_fail_nomem(err);
	if (status != TSCOPE_OK)
		*id = NO_ROW;
	return TSCOPE_OK;
}

/* The number of a text of ours; that of the empty one where there is no room. */
static enum tscope_status take_text(struct step_series *steps, const char *text, uint32_t *id,
				    struct tscope_error *err)
{
	enum tscope_status status = tsi_intern_add(&steps->names, tsi_str_of(text), id, NULL);

	if (status == TSCOPE_E_NOMEM)
		return tsi_fail_nomem(err);
	if (status != TSCOPE_OK)
		*id = 0;
	return TSCOPE_OK;
}

/* Takes the names of the part's values that are joined; all others are NO_ROW. */
static enum tscope_status take_names(struct join *join, size_t part, struct tscope_error *err)
{
	const struct metric_log *log = join->parts[part].log;
	enum tscope_status status =
		tsi_array_new(&join->ids[part], log->names.count, sizeof(**join->ids), err);
	uint32_t *ids = join->ids[part];
	bool *is_known = NULL;

	if (status == TSCOPE_OK)
		status = tsi_array_new(&is_known, log->names.count, sizeof(*is_known), err);
	for (size_t i = 0; status == TSCOPE_OK && i < log->count; i++) {
		uint32_t name = log->points[i].name;

		if (is_known[name] || log->points[i].is_sample)
			continue;
		is_known[name] = true;
		status =
			take_name(join->steps, tsi_intern_text(&log->names, name), &ids[name], err);
	}
	for (size_t i = 0; status == TSCOPE_OK && i < log->names.count; i++)
		if (!is_known[i])
			ids[i] = NO_ROW;
	free(is_known);
	return status;
}

static enum tscope_status add_scalar(struct step_series *steps, uint32_t name, uint32_t source,
				     struct tscope_error *err)
{
	if (tsi_array_reserve(&steps->scalar_names, &steps->scalar_name_capacity,
			      steps->scalar_name_count + 1, sizeof(*steps->scalar_names),
			      err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	steps->scalar_names[steps->scalar_name_count++] =
		(struct step_scalar){ name, source, SCALAR_OTHER };
	return TSCOPE_OK;
}

/* Which names of the series are those of scalars; to be freed. */
static enum tscope_status find_listed(bool **is_listed, const struct step_series *steps,
				      struct tscope_error *err)
{
	enum tscope_status status =
		tsi_array_new(is_listed, steps->names.count, sizeof(**is_listed), err);

	for (size_t i = 0; status == TSCOPE_OK && i < steps->scalar_name_count; i++)
		(*is_listed)[steps->scalar_names[i].name] = true;
	return status;
}

/* Lists a name, if it is not there yet. */
static enum tscope_status list_name(struct step_series *steps, bool *is_listed, uint32_t name,
				    uint32_t source, struct tscope_error *err)
{
	if (name == NO_ROW || is_listed[name])
		return TSCOPE_OK;
	is_listed[name] = true;
	return add_scalar(steps, name, source, err);
}

/* Of several parts with one name the last holds, so it is named as the source. */
static enum tscope_status list_names(struct join *join, struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;
	bool *is_listed = NULL;
	uint32_t source;

	/* First of all the sources, so that no number of names takes their room. */
	for (size_t part = 0; status == TSCOPE_OK && part < join->part_count; part++)
		status = take_text(join->steps, join->parts[part].source, &source, err);
	for (size_t part = 0; status == TSCOPE_OK && part < join->part_count; part++)
		status = take_names(join, part, err);
	if (status == TSCOPE_OK)
		status = find_listed(&is_listed, join->steps, err);
	for (size_t part = join->part_count; status == TSCOPE_OK && part-- > 0;) {
		size_t count = join->parts[part].log->names.count;

		status = take_text(join->steps, join->parts[part].source, &source, err);
		for (size_t i = 0; status == TSCOPE_OK && i < count; i++)
			status = list_name(join->steps, is_listed, join->ids[part][i], source, err);
	}
	free(is_listed);
	return status;
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

static enum tscope_status sort_values(struct join *join, struct tscope_error *err)
{
	struct sort_pair *scratch = NULL;
	size_t count = 0;

	for (size_t part = 0; part < join->part_count; part++)
		count += join->parts[part].log->count;
	if (tsi_array_new(&join->values, count, sizeof(*join->values), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	take_values(join);
	if (tsi_array_new(&scratch, join->value_count, sizeof(*scratch), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	tsi_sort_pairs(join->values, scratch, join->value_count);
	free(scratch);
	return TSCOPE_OK;
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

static enum tscope_status find_places(struct join *join, struct tscope_error *err)
{
	const struct step_series *steps = join->steps;
	size_t room = steps->count + count_steps(join), count;
	struct sort_pair *by_number = NULL;
	enum tscope_status status;

	if (room >= NO_ROW)
		return tsi_fail(err, TSCOPE_E_LIMIT, "more steps than fit into 32 bits");
	if (tsi_array_new(&join->places, room, sizeof(*join->places), err) != TSCOPE_OK ||
	    tsi_array_new(&join->order, room, sizeof(*join->order), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < room; i++)
		join->places[i].record = i < steps->count ? (uint32_t)i : NO_ROW;
	for (size_t i = 0; i < steps->count; i++)
		join->places[i].number = steps->records[i].number;
	join->place_count = steps->count;
	status = tsi_steps_by_number(&by_number, &count, steps, false, err);
	if (status == TSCOPE_OK) {
		place_values(join, by_number, count);
		order_places(join);
	}
	free(by_number);
	return status;
}

/* ---- the series, laid out anew ---- */

static enum tscope_status lay_out_records(struct join *join, struct tscope_error *err)
{
	struct step_series *steps = join->steps;
	struct step_record *records = NULL;

	if (join->place_count == steps->count)
		return TSCOPE_OK;
	if (tsi_array_new(&records, join->place_count, sizeof(*records), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
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
	return TSCOPE_OK;
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

static enum tscope_status lay_out_scalars(struct join *join, struct tscope_error *err)
{
	struct step_extras *scalars = &join->steps->scalars;
	size_t room = scalars->count + join->value_count, next_own = 0;
	struct layout layout = { 0 };

	if (tsi_array_new(&layout.items, room, sizeof(*layout.items), err) != TSCOPE_OK ||
	    tsi_array_new(&layout.places, join->steps->names.count, sizeof(*layout.places), err) !=
		    TSCOPE_OK) {
		free(layout.items);
		return TSCOPE_E_NOMEM;
	}
	for (size_t i = 0; i < join->place_count; i++)
		lay_out_scalars_of(join, &layout, (uint32_t)i, &next_own);
	free(layout.places);
	free(scalars->items);
	*scalars = (struct step_extras){ layout.items, layout.count, room };
	return TSCOPE_OK;
}

enum tscope_status tsi_scalars_join(struct step_series *steps, const struct scalar_part *parts,
				    size_t part_count, struct tscope_error *err)
{
	struct join join = { .steps = steps, .parts = parts, .part_count = part_count };
	bool was_empty = steps->count == 0;
	enum tscope_status status = tsi_array_new(&join.ids, part_count, sizeof(*join.ids), err);

	if (status == TSCOPE_OK)
		status = list_names(&join, err);
	if (status == TSCOPE_OK)
		status = sort_values(&join, err);
	if (status == TSCOPE_OK)
		status = find_places(&join, err);
	if (status == TSCOPE_OK)
		status = lay_out_scalars(&join, err);
	if (status == TSCOPE_OK) {
		lay_out_phases(&join);
		status = lay_out_records(&join, err);
	}
	if (was_empty)
		tsi_steps_settle_times(steps);
	join_deinit(&join);
	return status;
}

/* ---- names of own records ---- */

/* The loss, or the gradient's norm, that records hold under the name of its role. */
static enum tscope_status note_role(struct step_series *steps, enum scalar_role role,
				    uint32_t source, struct tscope_error *err)
{
	enum tscope_status status;
	bool is_held = false;
	uint32_t id;
	double value;

	for (size_t i = 0; !is_held && i < steps->count; i++)
		is_held = tsi_scalar_of_record(&steps->records[i], role, &value);
	if (!is_held || tsi_scalar_of_role(steps, role))
		return TSCOPE_OK;
	status = take_text(steps, tsi_scalar_role_name(role), &id, err);
	if (status == TSCOPE_OK)
		status = add_scalar(steps, id, source, err);
	if (status == TSCOPE_OK)
		steps->scalar_names[steps->scalar_name_count - 1].role = (uint8_t)role;
	return status;
}

enum tscope_status tsi_scalars_note(struct step_series *steps, const char *source,
				    struct tscope_error *err)
{
	bool *is_listed = NULL;
	uint32_t id;
	enum tscope_status status = take_text(steps, source, &id, err);

	if (status == TSCOPE_OK)
		status = note_role(steps, SCALAR_LOSS, id, err);
	if (status == TSCOPE_OK)
		status = note_role(steps, SCALAR_GRAD_NORM, id, err);
	if (status == TSCOPE_OK)
		status = find_listed(&is_listed, steps, err);
	for (size_t i = 0; status == TSCOPE_OK && i < steps->scalars.count; i++)
		status = list_name(steps, is_listed, steps->scalars.items[i].name, id, err);
	free(is_listed);
	return status;
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
