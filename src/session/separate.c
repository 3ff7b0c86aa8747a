/* SPDX-License-Identifier: MIT */
/*
 * Which traces can be of one job. Captures of one rank (or process, where no rank is said) make a
 * unit where nothing that they say speaks against it, and units make a run likewise.
 */
#include "session/separate.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SEPARATE_RUNS = 1025 }; /* one more than open_runs.c opens */

struct unit {
	struct extent extent;
	uint32_t run;
	uint32_t before; /* the unit before it of the same slot, or NO_ROW */
	enum apart why;  /* it is not one with that */
	uint32_t beside; /* itself, or one that it shares a time or a run with: a forest */
};

struct separation {
	struct arena *arena;
	struct captures captures;
	struct unit *units;
	size_t unit_count, unit_capacity;
	struct extent *runs;
	const struct unit **rivals; /* by run: the latest of the same slot there, or NULL */
	size_t run_count;
	struct run_partition *result;
	bool has_restart, has_repeat; /* there is a note */
};

/* ---- extents ---- */

static struct extent extent_of(const struct capture *capture)
{
	return (struct extent){
		.first = capture,
		.last = capture,
		.world_size = capture->loaded->steps.world_size,
		.start_ns = capture->loaded->start_ns,
		.end_ns = capture->loaded->end_ns,
		.first_step = capture->first_step,
		.last_step = capture->last_step,
	};
}

static void extend(struct extent *extent, const struct extent *by)
{
	if (extent->world_size < 0)
		extent->world_size = by->world_size;
	if (by->start_ns < extent->start_ns)
		extent->start_ns = by->start_ns;
	if (by->end_ns > extent->end_ns)
		extent->end_ns = by->end_ns;
	if (by->first_step < extent->first_step)
		extent->first_step = by->first_step;
	if (by->last_step > extent->last_step)
		extent->last_step = by->last_step;
	extent->last = by->last;
}

/* ---- notes ---- */

static void add_note(struct separation *s, bool *is_noted, const char *text)
{
	struct run_partition *result = s->result;

	if (*is_noted)
		return;
	*is_noted = true;
	const char **note = tsi_arena_push(s->arena, &result->notes, &result->note_count,
					   &result->note_capacity, sizeof(*note));
	if (note)
		*note = text;
}

/* A window was added that does not follow from those before it for certain. */
static void note_window(struct separation *s, const struct extent *earlier,
			const struct extent *later)
{
	if (later->start_ns < earlier->end_ns)
		return;
	if (tsi_processes_differ(earlier->last, later->first))
		add_note(s, &s->has_restart, tsi_restart_words(s->arena, earlier, later));
	else if (tsi_has_numbers(earlier) && tsi_has_numbers(later) && !tsi_goes_on(earlier, later))
		add_note(s, &s->has_repeat, tsi_repeat_words(s->arena, earlier, later));
}

/* ---- from captures to units ---- */

static int compare_captures(const void *left, const void *right)
{
	const struct capture *a = left, *b = right;

	TSI_ASCENDING(a->slot, b->slot);
	TSI_ASCENDING(a->loaded->start_ns, b->loaded->start_ns);
	return a->index < b->index ? -1 : 1;
}

/*
 * The latest of `count` units that a capture fits, of its process if there is one; or NULL. No run
 * has two units of a slot: where that makes too many runs, none is looked for any more.
 */
static struct unit *fitting_unit(const struct separation *s, size_t count,
				 const struct extent *extent)
{
	struct unit *found = NULL;

	if (count >= MAX_SEPARATE_RUNS)
		return NULL;
	for (size_t back = 1; back <= count; back++) {
		struct unit *unit = &s->units[s->unit_count - back];

		if (tsi_windows_differ(&unit->extent, extent) != TOGETHER)
			continue;
		if (!tsi_processes_differ(unit->extent.last, extent->first))
			return unit;
		found = found ? found : unit;
	}
	return found;
}

/* Adds a capture to a unit of its slot, of which there are `count`, or to a new one. */
static void place_capture(struct separation *s, struct capture *capture, size_t count)
{
	struct extent extent = extent_of(capture);
	struct unit *unit = fitting_unit(s, count, &extent);

	if (unit) {
		note_window(s, &unit->extent, &extent);
		extend(&unit->extent, &extent);
		capture->unit = (uint32_t)(unit - s->units);
		return;
	}
	unit = tsi_arena_push(s->arena, &s->units, &s->unit_count, &s->unit_capacity,
			      sizeof(*unit));
	if (!unit)
		return;
	*unit = (struct unit){ extent, RUN_OF_NONE, NO_ROW, TOGETHER,
			       (uint32_t)(s->unit_count - 1) };
	if (count > 0) {
		unit->before = (uint32_t)(s->unit_count - 2);
		unit->why = tsi_windows_differ(&unit[-1].extent, &extent);
	}
	capture->unit = (uint32_t)(s->unit_count - 1);
}

static void make_units(struct separation *s)
{
	size_t first_of_slot = 0;

	qsort(s->captures.items, s->captures.count, sizeof(*s->captures.items), compare_captures);
	for (size_t i = 0; i < s->captures.count && !s->arena->has_failed; i++) {
		if (i > 0 && s->captures.items[i].slot != s->captures.items[i - 1].slot)
			first_of_slot = s->unit_count;
		place_capture(s, &s->captures.items[i], s->unit_count - first_of_slot);
	}
}

/* ---- from units to runs ---- */

/* Finds the units of its slot by run, once. Those before it do not start later: they are placed. */
static void find_rivals(struct separation *s, const struct unit *unit)
{
	memset(s->rivals, 0, MAX_SEPARATE_RUNS * sizeof(*s->rivals));
	for (uint32_t i = unit->before; i != NO_ROW; i = s->units[i].before)
		if (!s->rivals[s->units[i].run])
			s->rivals[s->units[i].run] = &s->units[i];
}

static uint32_t root_of(struct separation *s, uint32_t unit)
{
	while (s->units[unit].beside != unit) {
		s->units[unit].beside = s->units[s->units[unit].beside].beside;
		unit = s->units[unit].beside;
	}
	return unit;
}

static void put_beside(struct separation *s, uint32_t a, uint32_t b)
{
	s->units[root_of(s, a)].beside = root_of(s, b);
}

static bool is_concurrent(struct separation *s, const struct extent *run, const struct unit *unit)
{
	return root_of(s, run->first->unit) == root_of(s, unit->extent.first->unit);
}

static int compare_times(const void *left, const void *right)
{
	const struct capture *const *a = left, *const *b = right;
	int64_t a_ns = (*a)->loaded->start_ns, b_ns = (*b)->loaded->start_ns;

	return (a_ns > b_ns) - (a_ns < b_ns);
}

/* Units of which captures overlap, one after another, stand beside each other. */
static void find_concurrent(struct separation *s)
{
	const struct capture **order =
		tsi_arena_new(s->arena, s->captures.count, sizeof(struct capture *));
	const struct capture *latest = NULL; /* the one that ends last so far */

	for (size_t i = 0; order && i < s->captures.count; i++)
		order[i] = &s->captures.items[i];
	if (order)
		qsort(order, s->captures.count, sizeof(struct capture *), compare_times);
	for (size_t i = 0; order && i < s->captures.count; i++) {
		const struct loaded *loaded = order[i]->loaded;

		if (latest && loaded->start_ns < latest->loaded->end_ns)
			put_beside(s, order[i]->unit, latest->unit);
		if (!latest || loaded->end_ns > latest->loaded->end_ns)
			latest = order[i];
	}
}

/* A run that a unit might be of. */
struct choice {
	enum apart why; /* it is not */
	int64_t gap_ns;
	size_t shared_length; /* of the path to both, in bytes */
	uint32_t run;
	const struct extent *there; /* what it is compared with */
};

/* How much of the paths to two captures is the same folders. */
static size_t shared_length(const struct capture *a, const struct capture *b)
{
	const char *path = a->loaded->input.path, *other = b->loaded->input.path;
	size_t length = 0;

	for (size_t i = 0; path[i] != '\0' && path[i] == other[i]; i++)
		if (path[i] == '/')
			length = i + 1;
	return length;
}

static struct choice consider(struct separation *s, const struct unit *unit, size_t index)
{
	const struct extent *run = &s->runs[index];
	const struct unit *rival = s->rivals[index];
	struct choice choice = {
		.why = tsi_job_differs(run, &unit->extent),
		.gap_ns = tsi_gap_between(run, &unit->extent),
		.shared_length = shared_length(run->first, unit->extent.first),
		.run = (uint32_t)index,
		.there = run,
	};

	if (choice.why != TOGETHER)
		return choice;
	if (!rival) {
		choice.why = tsi_ranks_differ(run, &unit->extent, is_concurrent(s, run, unit));
		return choice;
	}
	choice.there = &rival->extent;
	choice.why = tsi_windows_differ(&rival->extent, &unit->extent);
	if (choice.why == TOGETHER)
		choice.why = unit->why; /* extents that grew may overlap by now */
	return choice;
}

/* Jobs that run at the same time lie in folders of their own: of those that fit, the one beside. */
static bool is_better(const struct choice *a, const struct choice *b)
{
	bool a_fits = a->why == TOGETHER, b_fits = b->why == TOGETHER;

	if (a_fits != b_fits)
		return a_fits;
	if (a_fits && a->shared_length != b->shared_length)
		return a->shared_length > b->shared_length;
	return a->gap_ns < b->gap_ns;
}

/* Puts a unit into the nearest run that it fits, or into a new one. */
static void place_unit(struct separation *s, struct unit *unit)
{
	struct choice best = { .gap_ns = INT64_MAX };

	find_rivals(s, unit);
	for (size_t i = 0; i < s->run_count; i++) {
		struct choice choice = consider(s, unit, i);

		if (!best.there || is_better(&choice, &best))
			best = choice;
	}
	if (best.there && best.why == TOGETHER) {
		unit->run = best.run;
		put_beside(s, unit->extent.first->unit, s->runs[best.run].first->unit);
		extend(&s->runs[best.run], &unit->extent);
		return;
	}
	unit->run = (uint32_t)s->run_count;
	if (best.there)
		s->result->reasons[unit->run] =
			tsi_separate_reason(s->arena, best.why, &unit->extent, best.there);
	s->runs[s->run_count++] = unit->extent;
}

struct unit_start {
	int64_t start_ns;
	size_t unit;
};

static int compare_starts(const void *left, const void *right)
{
	const struct unit_start *a = left, *b = right;

	TSI_ASCENDING(a->start_ns, b->start_ns);
	return a->unit < b->unit ? -1 : 1;
}

static void make_runs(struct separation *s)
{
	struct unit_start *order = tsi_arena_new(s->arena, s->unit_count, sizeof(*order));

	s->runs = tsi_arena_new(s->arena, MAX_SEPARATE_RUNS, sizeof(*s->runs));
	s->rivals = tsi_arena_new(s->arena, MAX_SEPARATE_RUNS, sizeof(struct unit *));
	s->result->reasons = tsi_arena_new(s->arena, MAX_SEPARATE_RUNS, sizeof(char *));
	if (s->arena->has_failed || s->unit_count == 0)
		return;
	for (size_t i = 0; i < s->unit_count; i++)
		order[i] = (struct unit_start){ s->units[i].extent.start_ns, i };
	qsort(order, s->unit_count, sizeof(*order), compare_starts);
	/* Nobody opens so many: where the rest belongs is of no interest. */
	for (size_t i = 0; i < s->unit_count && s->run_count < MAX_SEPARATE_RUNS; i++)
		place_unit(s, &s->units[order[i].unit]);
}

void tsi_separate(struct run_partition *ret, const struct run_members *members, struct arena *arena)
{
	struct separation s = { .arena = arena, .result = ret };

	*ret = (struct run_partition){
		.run_of = tsi_arena_new(arena, members->read_count, sizeof(*ret->run_of)),
		.count = 1,
	};
	s.captures = tsi_list_captures(members, arena);
	if (arena->has_failed || s.captures.count < 2)
		return;
	make_units(&s);
	if (!arena->has_failed)
		find_concurrent(&s);
	if (!arena->has_failed)
		make_runs(&s);
	if (arena->has_failed || s.run_count < 2)
		return;
	ret->count = s.run_count;
	for (size_t i = 0; i < members->read_count; i++)
		ret->run_of[i] = RUN_OF_NONE;
	for (size_t i = 0; i < s.captures.count; i++)
		ret->run_of[s.captures.items[i].index] = s.units[s.captures.items[i].unit].run;
	tsi_place_others(ret, members, arena);
}
