/* SPDX-License-Identifier: MIT */
/*
 * Which traces can be of one job. Captures of one rank (or process, where no rank is said) make a
 * unit where nothing that they say speaks against it, and units make a run likewise. Files that do
 * not record a process of their own (step records, metrics, memory, traces of secondary
 * profilers) go with the traces of their folder.
 */
#include "session/separate.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/intern.h"
#include "run/file_name.h"

/* Clocks of nodes are farther apart only where nobody sets them. */
#define APART_NS (INT64_C(30) * 1000000000)

enum { LOOKED_BACK = 32, MAX_SEPARATE_RUNS = 1025 }; /* one more than open_runs.c opens */

struct unit {
	struct extent extent;
	uint32_t run;
	uint32_t before; /* the unit before it of the same slot, or NO_ROW */
	enum apart why;  /* it is not one with that */
	uint32_t beside; /* itself, or one that it shares a time or a run with: a forest */
};

struct separation {
	struct arena *arena;
	struct capture *captures;
	size_t capture_count;
	struct unit *units;
	size_t unit_count, unit_capacity;
	struct extent *runs;
	size_t run_count;
	struct run_partition *result;
	bool has_restart, has_repeat; /* there is a note */
};

/* ---- what a capture says ---- */

/* "attempt_1" of "logs/attempt_1/0/rank0.json"; empty: there is none. */
static struct str attempt_of(const char *path)
{
	const struct str word = TSI_STR("attempt_");
	struct str rest = tsi_str_of(path), part;

	while (rest.length > 0) {
		part = tsi_str_take(&rest, '/');
		if (rest.length > 0 && part.length > word.length && tsi_str_starts(part, word.data))
			return part;
	}
	return (struct str){ path, 0 };
}

static void take_steps(struct capture *capture)
{
	const struct step_series *steps = &capture->loaded->steps;

	capture->first_step = INT64_MAX;
	capture->last_step = INT64_MIN;
	for (size_t i = 0; !steps->is_counted && i < steps->count; i++) {
		int64_t number = steps->records[i].number;

		capture->first_step = number < capture->first_step ? number : capture->first_step;
		capture->last_step = number > capture->last_step ? number : capture->last_step;
	}
}

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

/* ---- what speaks against one run ---- */

static enum apart job_differs(const struct extent *a, const struct extent *b)
{
	if (a->world_size >= 0 && b->world_size >= 0 && a->world_size != b->world_size)
		return APART_WORLD;
	if (tsi_texts_differ(tsi_origin_of(a->first)->backend, tsi_origin_of(b->first)->backend))
		return APART_BACKEND;
	if (a->first->attempt.length > 0 && b->first->attempt.length > 0 &&
	    !tsi_str_equal(a->first->attempt, b->first->attempt))
		return APART_ATTEMPT;
	return TOGETHER;
}

static bool devices_differ(const struct extent *a, const struct extent *b)
{
	return tsi_texts_differ(tsi_origin_of(a->first)->device, tsi_origin_of(b->first)->device);
}

static bool processes_differ(const struct capture *a, const struct capture *b)
{
	return (tsi_origin_of(a)->pid >= 0 && tsi_origin_of(b)->pid >= 0 &&
		tsi_origin_of(a)->pid != tsi_origin_of(b)->pid) ||
	       tsi_texts_differ(tsi_origin_of(a)->host, tsi_origin_of(b)->host);
}

static bool is_process_known(const struct capture *capture)
{
	return tsi_origin_of(capture)->pid >= 0;
}

/* Does the later one number its steps from where the earlier one's end? */
static bool goes_on(const struct extent *earlier, const struct extent *later)
{
	return tsi_has_numbers(earlier) && tsi_has_numbers(later) &&
	       later->first_step > earlier->last_step;
}

/* A later capture of the same slot. Overlapping ones are for those who group ranks. */
static enum apart windows_differ(const struct extent *earlier, const struct extent *later)
{
	enum apart why = job_differs(earlier, later);

	if (why != TOGETHER)
		return why;
	if (devices_differ(earlier, later))
		return APART_DEVICE;
	if (later->start_ns < earlier->end_ns)
		return TOGETHER;
	if (processes_differ(earlier->last, later->first))
		return goes_on(earlier, later) ? TOGETHER : APART_PROCESS;
	if (tsi_origin_of(earlier->first)->is_whole != tsi_origin_of(later->first)->is_whole)
		return APART_UNMARKED;
	if (tsi_has_numbers(earlier) && tsi_has_numbers(later) && !goes_on(earlier, later) &&
	    !is_process_known(later->first))
		return APART_AGAIN;
	return TOGETHER;
}

/* Compares files of different ranks or, where ranks are not said, of different processes. */
static enum apart ranks_differ(const struct extent *run, const struct extent *unit,
			       bool is_concurrent)
{
	bool is_unranked = run->first->rank < 0 || unit->first->rank < 0;
	bool has_unix = tsi_origin_of(run->first)->has_unix && tsi_origin_of(unit->first)->has_unix;
	int64_t gap_ns = tsi_gap_between(run, unit);

	if (devices_differ(run, unit) &&
	    (gap_ns > 0 || run->world_size < 0 || unit->world_size < 0))
		return APART_DEVICE;
	if (is_unranked && !is_concurrent) {
		bool is_known = is_process_known(run->last) || is_process_known(unit->first);

		return !is_known && goes_on(run, unit) ? TOGETHER : APART_STRANGER;
	}
	return !is_unranked && has_unix && gap_ns > APART_NS ? APART_TIME : TOGETHER;
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
	if (processes_differ(earlier->last, later->first))
		add_note(s, &s->has_restart, tsi_restart_words(s->arena, earlier, later));
	else if (tsi_has_numbers(earlier) && tsi_has_numbers(later) && !goes_on(earlier, later))
		add_note(s, &s->has_repeat, tsi_repeat_words(s->arena, earlier, later));
}

/* ---- from captures to units ---- */

static int compare_captures(const void *left, const void *right)
{
	const struct capture *a = left, *b = right;

	if (a->slot != b->slot)
		return a->slot < b->slot ? -1 : 1;
	if (a->loaded->start_ns != b->loaded->start_ns)
		return a->loaded->start_ns < b->loaded->start_ns ? -1 : 1;
	return a->index < b->index ? -1 : 1;
}

/* The latest of `count` units that a capture fits, of its process if there is one; or NULL. */
static struct unit *fitting_unit(const struct separation *s, size_t count,
				 const struct extent *extent)
{
	struct unit *found = NULL;

	for (size_t back = 1; back <= count && back <= LOOKED_BACK; back++) {
		struct unit *unit = &s->units[s->unit_count - back];

		if (windows_differ(&unit->extent, extent) != TOGETHER)
			continue;
		if (!processes_differ(unit->extent.last, extent->first))
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
		unit->why = windows_differ(&unit[-1].extent, &extent);
	}
	capture->unit = (uint32_t)(s->unit_count - 1);
}

static void make_units(struct separation *s)
{
	size_t first_of_slot = 0;

	qsort(s->captures, s->capture_count, sizeof(*s->captures), compare_captures);
	for (size_t i = 0; i < s->capture_count && !s->arena->has_failed; i++) {
		if (i > 0 && s->captures[i].slot != s->captures[i - 1].slot)
			first_of_slot = s->unit_count;
		place_capture(s, &s->captures[i], s->unit_count - first_of_slot);
	}
}

/* ---- from units to runs ---- */

/* The unit of the same slot in a run, or NULL. */
static const struct unit *same_slot(const struct separation *s, const struct unit *unit, size_t run)
{
	for (uint32_t i = unit->before; i != NO_ROW; i = s->units[i].before)
		if (s->units[i].run == run)
			return &s->units[i];
	return NULL;
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
		tsi_arena_new(s->arena, s->capture_count, sizeof(struct capture *));
	const struct capture *latest = NULL; /* the one that ends last so far */

	for (size_t i = 0; order && i < s->capture_count; i++)
		order[i] = &s->captures[i];
	if (order)
		qsort(order, s->capture_count, sizeof(struct capture *), compare_times);
	for (size_t i = 0; order && i < s->capture_count; i++) {
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
	uint32_t run;
	const struct extent *there; /* what it is compared with */
};

static struct choice consider(struct separation *s, const struct unit *unit, size_t index)
{
	const struct extent *run = &s->runs[index];
	const struct unit *rival = same_slot(s, unit, index);
	struct choice choice = {
		.why = job_differs(run, &unit->extent),
		.gap_ns = tsi_gap_between(run, &unit->extent),
		.run = (uint32_t)index,
		.there = run,
	};

	if (choice.why != TOGETHER)
		return choice;
	if (!rival) {
		choice.why = ranks_differ(run, &unit->extent, is_concurrent(s, run, unit));
		return choice;
	}
	choice.there = &rival->extent;
	choice.why = windows_differ(&rival->extent, &unit->extent);
	if (choice.why == TOGETHER)
		choice.why = unit->why; /* extents that grew may overlap by now */
	return choice;
}

/* Puts a unit into the nearest run that it fits, or into a new one. */
static void place_unit(struct separation *s, struct unit *unit)
{
	struct choice best = { .gap_ns = INT64_MAX };

	for (size_t i = 0; i < s->run_count; i++) {
		struct choice choice = consider(s, unit, i);
		bool fits = choice.why == TOGETHER, best_fits = best.there && best.why == TOGETHER;

		if (!best.there || (fits && !best_fits) ||
		    (fits == best_fits && choice.gap_ns < best.gap_ns))
			best = choice;
	}
	if (best.there && (best.why == TOGETHER || s->run_count == MAX_SEPARATE_RUNS)) {
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

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->unit < b->unit ? -1 : 1;
}

static void make_runs(struct separation *s)
{
	struct unit_start *order = tsi_arena_new(s->arena, s->unit_count, sizeof(*order));

	s->runs = tsi_arena_new(s->arena, MAX_SEPARATE_RUNS, sizeof(*s->runs));
	s->result->reasons = tsi_arena_new(s->arena, MAX_SEPARATE_RUNS, sizeof(char *));
	if (s->arena->has_failed || s->unit_count == 0)
		return;
	for (size_t i = 0; i < s->unit_count; i++)
		order[i] = (struct unit_start){ s->units[i].extent.start_ns, i };
	qsort(order, s->unit_count, sizeof(*order), compare_starts);
	for (size_t i = 0; i < s->unit_count; i++)
		place_unit(s, &s->units[order[i].unit]);
}

/* ---- the captures ---- */

/* An id for a text; memory that ends is remembered. */
static uint32_t id_of(struct separation *s, struct intern *names, const char *text)
{
	uint32_t id = 0;

	s->arena->has_failed |= tsi_intern_add(names, tsi_str_of(text), &id, NULL) != TSCOPE_OK;
	return id;
}

/* Equal where captures without a rank may be of one process; hosts are compared later. */
static const char *process_key(const struct separation *s, const struct capture *capture)
{
	struct str writer = tsi_writer_of_path(capture->loaded->input.path);

	if (is_process_known(capture))
		return tsi_arena_print(s->arena, "%" PRId64, tsi_origin_of(capture)->pid);
	return tsi_arena_print(s->arena, "/%.*s", (int)writer.length, writer.data);
}

/* A capture that says no rank has that of its process; slots follow. */
static void find_slots(struct separation *s)
{
	struct intern names = { 0 };
	int64_t *rank_of = tsi_arena_new(s->arena, s->capture_count + 1, sizeof(*rank_of));

	if (tsi_intern_init(&names, 2 * s->capture_count + 1, NULL) != TSCOPE_OK)
		s->arena->has_failed = true;
	if (s->arena->has_failed) {
		tsi_intern_deinit(&names);
		return;
	}
	for (size_t i = 0; i < s->capture_count; i++) {
		struct capture *capture = &s->captures[i];

		capture->slot = id_of(s, &names, process_key(s, capture));
		if (capture->rank >= 0)
			rank_of[capture->slot] = capture->rank + 1;
	}
	for (size_t i = 0; i < s->capture_count; i++) {
		struct capture *capture = &s->captures[i];

		if (capture->rank < 0)
			capture->rank = rank_of[capture->slot] - 1;
		if (capture->rank >= 0)
			capture->slot =
				id_of(s, &names,
				      tsi_arena_print(s->arena, "rank %" PRId64, capture->rank));
	}
	tsi_intern_deinit(&names);
}

/*
 * The deepest traces: what other profilers know of the same process goes with them, as do ranks
 * that were merged into one file.
 */
static void list_captures(struct separation *s, const struct run_members *members)
{
	unsigned char depth = 0;

	s->captures = tsi_arena_new(s->arena, members->read_count, sizeof(*s->captures));
	for (size_t i = 0; i < members->read_count; i++)
		if (tsi_depth_of(members->loaded[i]) > depth)
			depth = tsi_depth_of(members->loaded[i]);
	for (size_t i = 0; s->captures && i < members->read_count; i++) {
		const struct loaded *loaded = members->loaded[i];
		struct capture *capture = &s->captures[s->capture_count];

		if (loaded->input.kind != TSCOPE_INPUT_TRACE || members->loads[i]->only ||
		    tsi_depth_of(loaded) < depth)
			continue;
		s->capture_count++;
		*capture = (struct capture){
			.loaded = loaded,
			.index = i,
			.rank = loaded->input.rank,
			.attempt = attempt_of(loaded->input.path),
		};
		take_steps(capture);
	}
}

/* ---- what is not a capture ---- */

/* Which run the traces in and below a folder are of. */
struct folder_runs {
	struct intern names;
	uint32_t *run_of; /* by id of the folder; RUN_OF_NONE: several */
	size_t count, capacity;
};

static void add_folders(struct folder_runs *folders, const char *path, uint32_t run,
			struct arena *arena)
{
	struct str folder = tsi_str_of(path);
	uint32_t id;

	do {
		folder = tsi_folder_above(folder);
		if (tsi_intern_add(&folders->names, folder, &id, NULL) != TSCOPE_OK) {
			arena->has_failed = true;
			return;
		}
		while (id >= folders->count) {
			uint32_t *place = tsi_arena_push(arena, &folders->run_of, &folders->count,
							 &folders->capacity, sizeof(*place));
			if (!place)
				return;
			*place = run;
		}
		if (folders->run_of[id] != run)
			folders->run_of[id] = RUN_OF_NONE;
	} while (folder.length > 0);
}

static uint32_t run_of_folder(const struct folder_runs *folders, const char *path)
{
	struct str folder = tsi_str_of(path);
	uint32_t id;

	do {
		folder = tsi_folder_above(folder);
		id = tsi_intern_find(&folders->names, folder);
	} while (id >= folders->count && folder.length > 0);
	return id < folders->count ? folders->run_of[id] : RUN_OF_NONE;
}

static void place_others(struct separation *s, const struct run_members *members)
{
	struct folder_runs folders = { 0 };

	if (tsi_intern_init(&folders.names, SIZE_MAX, NULL) != TSCOPE_OK)
		s->arena->has_failed = true;
	for (size_t i = 0; i < members->read_count && !s->arena->has_failed; i++)
		if (s->result->run_of[i] != RUN_OF_NONE)
			add_folders(&folders, members->loaded[i]->input.path, s->result->run_of[i],
				    s->arena);
	for (size_t i = 0; i < members->read_count && !s->arena->has_failed; i++)
		if (s->result->run_of[i] == RUN_OF_NONE)
			s->result->run_of[i] =
				run_of_folder(&folders, members->loaded[i]->input.path);
	tsi_intern_deinit(&folders.names);
}

void tsi_separate(struct run_partition *ret, const struct run_members *members, struct arena *arena)
{
	struct separation s = { .arena = arena, .result = ret };

	*ret = (struct run_partition){
		.run_of = tsi_arena_new(arena, members->read_count, sizeof(*ret->run_of)),
		.count = 1,
	};
	list_captures(&s, members);
	if (arena->has_failed || s.capture_count < 2)
		return;
	find_slots(&s);
	if (!arena->has_failed)
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
	for (size_t i = 0; i < s.capture_count; i++)
		ret->run_of[s.captures[i].index] = s.units[s.captures[i].unit].run;
	place_others(&s, members);
}
