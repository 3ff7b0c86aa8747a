/* SPDX-License-Identifier: MIT */
/*
 * Which metric of a rank is its loss, its gradient's norm, its learning rate …, once all of them
 * are there; and the values of the first two where analyzers look for them, in the records.
 */
#include "run/scalars.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/attributes.h"

/* ---- choosing ---- */

/* Counts values by name, those in the records included; NULL without memory. */
static size_t *count_values(const struct step_series *steps, struct arena *arena)
{
	static const enum scalar_role in_records[] = { SCALAR_LOSS, SCALAR_GRAD_NORM };
	size_t *counts = tsi_arena_new(arena, steps->names.count, sizeof(*counts));
	double value;

	for (size_t i = 0; counts && i < steps->scalars.count; i++)
		counts[steps->scalars.items[i].name]++;
	for (size_t k = 0; counts && k < TSI_COUNT_OF(in_records); k++) {
		const struct step_scalar *scalar = tsi_scalar_of_role(steps, in_records[k]);

		for (size_t i = 0; scalar && i < steps->count; i++)
			counts[scalar->name] +=
				tsi_scalar_of_record(&steps->records[i], in_records[k], &value);
	}
	return counts;
}

/* A metric that may be of a role. */
struct candidate {
	struct step_scalar *scalar;
	struct str name;
	unsigned rank;
	size_t count;
};

static bool is_better(const struct candidate *a, const struct candidate *b)
{
	if (!b->scalar || a->rank != b->rank)
		return !b->scalar || a->rank < b->rank;
	if (a->count != b->count)
		return a->count > b->count;
	return tsi_str_compare(a->name, b->name) < 0;
}

/* The metrics of all roles; NULL: none is. */
struct choice {
	struct step_scalar *by_role[TSCOPE_SCALAR_ROLE_COUNT];
};

static struct choice choose(struct step_series *steps, const size_t *counts,
			    const struct tscope_scalar_names *names)
{
	struct candidate best[TSCOPE_SCALAR_ROLE_COUNT] = { 0 };
	struct choice choice;

	for (size_t i = 0; i < steps->scalar_name_count; i++) {
		struct candidate one = { .scalar = &steps->scalar_names[i] };
		enum scalar_role role;

		one.name = tsi_intern_text(&steps->names, one.scalar->name);
		one.count = counts[one.scalar->name];
		role = tsi_scalar_role(one.name, &one.rank);
		if (role != SCALAR_OTHER && is_better(&one, &best[role]))
			best[role] = one;
	}
	for (size_t role = 0; role < TSCOPE_SCALAR_ROLE_COUNT; role++) {
		choice.by_role[role] = best[role].scalar;
		if (!names || !names->names[role])
			continue;
		choice.by_role[role] = NULL;
		for (size_t i = 0; i < steps->scalar_name_count; i++)
			if (tsi_str_equal(
				    tsi_intern_text(&steps->names, steps->scalar_names[i].name),
				    tsi_str_of(names->names[role])))
				choice.by_role[role] = &steps->scalar_names[i];
	}
	return choice;
}

/* ---- to the records, and back ---- */

/* A change of the metric that has one role. */
struct move {
	enum scalar_role role;
	uint32_t from, to; /* names of what is in the records, and what shall be; or NO_ROW */
};

static void set_value(struct step_record *record, enum scalar_role role, double value)
{
	if (role == SCALAR_LOSS) {
		record->loss = value;
		record->has |= STEP_HAS_LOSS;
	} else {
		record->grad_norm = value;
		record->has |= STEP_HAS_GRAD_NORM;
	}
}

static void forget_value(struct step_record *record, enum scalar_role role)
{
	record->has &= (uint8_t) ~(role == SCALAR_LOSS ? STEP_HAS_LOSS : STEP_HAS_GRAD_NORM);
}

static size_t count_moving_back(const struct step_series *steps, const struct move *move)
{
	size_t count = 0;
	double value;

	for (size_t i = 0; move->from != move->to && i < steps->count; i++)
		count += tsi_scalar_of_record(&steps->records[i], move->role, &value);
	return count;
}

/* Writes the scalars of a record; what the record holds of the same name itself stays. */
static void move_record(struct step_series *steps, uint32_t index, const struct move *move,
			struct step_extras *out, size_t *next)
{
	const struct step_extras *scalars = &steps->scalars;
	struct step_record *record = &steps->records[index];
	double value;

	if (move->from != move->to && tsi_scalar_of_record(record, move->role, &value)) {
		if (move->from != NO_ROW)
			out->items[out->count++] = (struct step_extra){ index, move->from, value };
		forget_value(record, move->role);
	}
	for (; *next < scalars->count && scalars->items[*next].record == index; ++*next) {
		const struct step_extra *scalar = &scalars->items[*next];

		if (scalar->name != move->to)
			out->items[out->count++] = *scalar;
		else if (!tsi_scalar_of_record(record, move->role, &value))
			set_value(record, move->role, scalar->value);
	}
}

static void move_values(struct step_series *steps, const struct move *move)
{
	size_t room = steps->scalars.count + count_moving_back(steps, move), next = 0;
	struct step_extras out = { .capacity = room };

	if (tsi_array_new(&out.items, room, sizeof(*out.items), NULL) != TSCOPE_OK) {
		steps->has_failed = true;
		return;
	}
	for (size_t i = 0; i < steps->count; i++)
		move_record(steps, (uint32_t)i, move, &out, &next);
	free(steps->scalars.items);
	steps->scalars = out;
}

static void settle_records(struct step_series *steps, const struct choice *choice,
			   enum scalar_role role)
{
	const struct step_scalar *was = tsi_scalar_of_role(steps, role);
	const struct step_scalar *is = choice->by_role[role];
	struct move move = { role, was ? was->name : NO_ROW, is ? is->name : NO_ROW };

	if (was || is)
		move_values(steps, &move);
}

void tsi_scalars_settle(struct step_series *steps, const struct tscope_scalar_names *names)
{
	struct arena scratch = { 0 };
	const size_t *counts = count_values(steps, &scratch);
	struct choice choice = { 0 };

	if (counts)
		choice = choose(steps, counts, names);
	steps->has_failed |= scratch.has_failed;
	tsi_arena_deinit(&scratch);
	if (steps->has_failed)
		return;
	settle_records(steps, &choice, SCALAR_LOSS);
	settle_records(steps, &choice, SCALAR_GRAD_NORM);
	for (size_t i = 0; i < steps->scalar_name_count; i++)
		steps->scalar_names[i].role = SCALAR_OTHER;
	/* Where one metric is to have two roles, the first has it. */
	for (size_t role = TSCOPE_SCALAR_ROLE_COUNT; role-- > 0;)
		if (choice.by_role[role])
			choice.by_role[role]->role = (uint8_t)role;
}
