/* SPDX-License-Identifier: MIT */
/*
 * Sums and medians of the phases and budget lines of a step series. Phases of
 * unknown names are a sparse list: they are sorted by name, so that the steps
 * of one name lie together, and steps without it are zeros that need not be there.
 */
#include "analyze/steps/step_parts.h"

#include "analyze/shared/quantile.h"

#include "base/sort.h"
#include "base/sum.h"
#include <math.h>

/* A duration that a record holds as a double; what no clock shows is clamped. */
static int64_t ns_of(double value)
{
	if (!(value > 0))
		return 0;
	return value < 0x1p63 ? (int64_t)round(value) : INT64_MAX;
}

static void find_line_medians(struct step_parts *parts, int64_t *numbers)
{
	const struct step_series *steps = parts->steps;

	for (size_t line = 0; line < tsi_step_line_count(steps); line++) {
		size_t count = 0;
		for (size_t i = 0; i < steps->count; i++) {
			const struct step_record *record = &steps->records[i];
			const struct step_budget *budget = tsi_counted_budget(steps, record);
			if (budget && tsi_step_is_timed(record))
				numbers[count++] = tsi_step_line_ns(steps, budget, line);
		}
		parts->line_median_ns[line] = tsi_find_quantile_ns(numbers, count, 50);
	}
}

static void measure_phase(struct step_parts *parts, enum phase phase, int64_t *numbers)
{
	struct step_part *part = &parts->phases[phase];
	size_t count = 0;

	part->name = tsi_phase_name(phase);
	for (size_t i = 0; i < parts->steps->count; i++) {
		const struct step_record *record = &parts->steps->records[i];
		if (!tsi_step_is_timed(record))
			continue;
		part->occurs |= (record->phases >> phase) & 1;
		tsi_sum(&part->sum_ns, record->phase_ns[phase]);
		numbers[count++] = record->phase_ns[phase];
	}
	part->median_ns = tsi_find_quantile_ns(numbers, count, 50);
	parts->timed_count = count;
}

/*
 * The phase that `count` extras in the order of records have in common. Where
 * fewer than half of the steps have it, the middle ones are zeros.
 */
static void measure_other_phase(struct step_parts *parts, const struct sort_pair *by_name,
				size_t count, int64_t *numbers)
{
	struct step_part *part = &parts->phases[PHASE_COUNT + by_name[0].key];
	uint32_t last_record = NO_ROW;
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		const struct step_extra *extra = &parts->steps->phases.items[by_name[i].value];
		if (!tsi_step_is_timed(&parts->steps->records[extra->record]))
			continue;
		if (extra->record != last_record)
			numbers[found++] = 0;
		tsi_sum(&numbers[found - 1], ns_of(extra->value));
		tsi_sum(&part->sum_ns, ns_of(extra->value));
		last_record = extra->record;
	}
	part->occurs = found > 0;
	if (found < parts->timed_count - parts->timed_count / 2)
		return;
	for (size_t i = found; i < parts->timed_count; i++)
		numbers[i] = 0;
	part->median_ns = tsi_find_quantile_ns(numbers, parts->timed_count, 50);
}

static void measure_other_phases(struct step_parts *parts, int64_t *numbers, struct arena *arena)
{
	const struct step_extras *extras = &parts->steps->phases;
	struct sort_pair *by_name = tsi_arena_new(arena, extras->count, sizeof(*by_name));
	struct sort_pair *scratch = tsi_arena_new(arena, extras->count, sizeof(*scratch));

	if (!by_name || !scratch)
		return;
	for (uint32_t id = 0; id < parts->phase_count - PHASE_COUNT; id++)
		parts->phases[PHASE_COUNT + id].name =
			tsi_intern_text(&parts->steps->names, id).data;
	for (size_t i = 0; i < extras->count; i++)
		by_name[i] = (struct sort_pair){ extras->items[i].name, i };
	tsi_sort_pairs(by_name, scratch, extras->count);
	for (size_t begin = 0, end; begin < extras->count; begin = end) {
		for (end = begin; end < extras->count && by_name[end].key == by_name[begin].key;)
			end++;
		measure_other_phase(parts, &by_name[begin], end - begin, numbers);
	}
}

void tsi_step_parts_init(struct step_parts *parts, const struct step_series *steps,
			 struct arena *arena)
{
	int64_t *numbers = tsi_arena_new(arena, steps->count, sizeof(*numbers));

	*parts = (struct step_parts){ .steps = steps };
	parts->phase_count = PHASE_COUNT + steps->names.count;
	parts->phases = tsi_arena_new(arena, parts->phase_count, sizeof(*parts->phases));
	if (!numbers || !parts->phases)
		return;
	find_line_medians(parts, numbers);
	for (int phase = 0; phase < PHASE_COUNT; phase++)
		measure_phase(parts, (enum phase)phase, numbers);
	measure_other_phases(parts, numbers, arena);
}

/* The part that grew the most so far. */
struct growth {
	const char *name;
	int64_t ns;
};

static void consider(struct growth *most, const char *name, int64_t ns, int64_t median_ns)
{
	if (ns - median_ns > most->ns)
		*most = (struct growth){ name, ns - median_ns };
}

static void consider_phases(struct growth *most, struct step_parts *parts, uint32_t index)
{
	const struct step_extras *extras = &parts->steps->phases;

	for (size_t phase = 0; phase < PHASE_COUNT; phase++)
		consider(most, parts->phases[phase].name,
			 parts->steps->records[index].phase_ns[phase],
			 parts->phases[phase].median_ns);
	for (; parts->next_extra < extras->count; parts->next_extra++) {
		const struct step_extra *extra = &extras->items[parts->next_extra];
		const struct step_part *part = &parts->phases[PHASE_COUNT + extra->name];
		if (extra->record > index)
			return;
		if (extra->record == index)
			consider(most, part->name, ns_of(extra->value), part->median_ns);
	}
}

const char *tsi_step_growth(struct step_parts *parts, uint32_t record, int64_t *growth_ns)
{
	const struct step_series *steps = parts->steps;
	const struct step_budget *budget = tsi_counted_budget(steps, &steps->records[record]);
	struct growth most = { NULL, 0 };

	if (!budget)
		consider_phases(&most, parts, record);
	for (size_t line = 0; budget && line < tsi_step_line_count(steps); line++)
		consider(&most, tsi_step_line_name(steps, line),
			 tsi_step_line_ns(steps, budget, line), parts->line_median_ns[line]);
	*growth_ns = most.ns;
	return most.name;
}
