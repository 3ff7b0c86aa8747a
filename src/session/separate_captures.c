/* SPDX-License-Identifier: MIT */
/* Which traces a run may be made of, and what each says: rank or process, attempt, steps. */
#include "session/separate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"

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

/*
 * The deepest traces: what other profilers know of the same process goes with them, as do ranks
 * that were merged into one file.
 */
static void list_captures(struct captures *captures, const struct run_members *members,
			  struct arena *arena)
{
	unsigned char depth = 0;

	captures->items = tsi_arena_new(arena, members->read_count, sizeof(*captures->items));
	for (size_t i = 0; i < members->read_count; i++)
		if (tsi_depth_of(members->loaded[i]) > depth)
			depth = tsi_depth_of(members->loaded[i]);
	for (size_t i = 0; captures->items && i < members->read_count; i++) {
		const struct loaded *loaded = members->loaded[i];
		struct capture *capture = &captures->items[captures->count];

		if (loaded->input.kind != TSCOPE_INPUT_TRACE || members->loads[i]->only ||
		    tsi_depth_of(loaded) < depth)
			continue;
		captures->count++;
		*capture = (struct capture){
			.loaded = loaded,
			.index = i,
			.rank = loaded->input.rank,
			.attempt = attempt_of(loaded->input.path),
			.family = "",
		};
		take_steps(capture);
	}
}

/* An id for a text; memory that ends is remembered. */
static uint32_t id_of(struct arena *arena, struct intern *names, const char *text)
{
	uint32_t id = 0;

	arena->has_failed |= tsi_intern_add(names, tsi_str_of(text), &id, NULL) != TSCOPE_OK;
	return id;
}

/* Equal where captures without a rank may be of one process; hosts are compared later. */
static const char *process_key(struct arena *arena, const struct capture *capture)
{
	struct str writer = tsi_writer_of_path(capture->loaded->input.path);

	if (tsi_is_process_known(capture))
		return tsi_arena_print(arena, "%" PRId64, tsi_origin_of(capture)->pid);
	return tsi_arena_print(arena, "/%.*s", (int)writer.length, writer.data);
}

/* A capture that says no rank has that of its process; slots follow. */
static void find_slots(struct captures *captures, struct arena *arena)
{
	struct intern names = { 0 };
	int64_t *rank_of = tsi_arena_new(arena, captures->count + 1, sizeof(*rank_of));

	if (tsi_intern_init(&names, 2 * captures->count + 1, NULL) != TSCOPE_OK)
		arena->has_failed = true;
	if (arena->has_failed) {
		tsi_intern_deinit(&names);
		return;
	}
	for (size_t i = 0; i < captures->count; i++) {
		struct capture *capture = &captures->items[i];

		capture->slot = id_of(arena, &names, process_key(arena, capture));
		if (capture->rank >= 0)
			rank_of[capture->slot] = capture->rank + 1;
	}
	for (size_t i = 0; i < captures->count; i++) {
		struct capture *capture = &captures->items[i];

		if (capture->rank < 0)
			capture->rank = rank_of[capture->slot] - 1;
		if (capture->rank >= 0)
			capture->slot =
				id_of(arena, &names,
				      tsi_arena_print(arena, "rank %" PRId64, capture->rank));
	}
	tsi_intern_deinit(&names);
}

/* ---- jobs with the same ranks ---- */

static int compare_claims(const void *left, const void *right)
{
	const struct capture *const *a = left, *const *b = right;
	int order = strcmp((*a)->family, (*b)->family);

	TSI_ASCENDING((*a)->slot, (*b)->slot);
	if (order != 0)
		return order;
	TSI_ASCENDING((*a)->loaded->start_ns, (*b)->loaded->start_ns);
	return 0;
}

/* Do two captures of one rank and family overlap in time? */
static bool has_rivals(const struct captures *captures, const struct capture **order)
{
	for (size_t i = 0; i < captures->count; i++)
		order[i] = &captures->items[i];
	qsort(order, captures->count, sizeof(*order), compare_claims);
	for (size_t i = 1; i < captures->count; i++)
		if (order[i]->slot == order[i - 1]->slot &&
		    strcmp(order[i]->family, order[i - 1]->family) == 0 &&
		    order[i]->loaded->start_ns < order[i - 1]->loaded->end_ns)
			return true;
	return false;
}

/* Ways to separate jobs, each for where the one before it does not. */
enum naming { BY_PLACES, BY_REPLICA, BY_PROCESS, NAMING_COUNT };

static void name_families(struct captures *captures, enum naming naming, struct arena *arena)
{
	for (size_t i = 0; i < captures->count && !arena->has_failed; i++) {
		struct capture *capture = &captures->items[i];
		const char *family = "";

		if (naming != BY_PROCESS)
			family = tsi_family_of_path(arena, capture->loaded->input.path,
						    naming == BY_REPLICA);
		else if (tsi_is_process_known(capture))
			family = tsi_process_words(arena, capture, true);
		capture->family = family ? family : "";
	}
}

static bool is_one_rank(const struct captures *captures)
{
	for (size_t i = 1; i < captures->count; i++)
		if (captures->items[i].slot != captures->items[0].slot)
			return false;
	return true;
}

/*
 * Where a rank was recorded twice at one time names separate the jobs, if they can: of servers in
 * one folder, or of data-parallel replicas with ranks of their own. Processes do where no other
 * rank was recorded, of which nobody would know whose it is.
 */
static void settle_families(struct captures *captures, struct arena *arena)
{
	const struct capture **order = tsi_arena_new(arena, captures->count, sizeof(*order));
	bool is_settled = !order || !has_rivals(captures, order);
	int end = is_one_rank(captures) ? NAMING_COUNT : BY_PROCESS;

	for (int naming = 0; naming < end && !is_settled && !arena->has_failed; naming++) {
		name_families(captures, naming, arena);
		is_settled = !has_rivals(captures, order);
	}
	for (size_t i = 0; !is_settled && i < captures->count; i++)
		captures->items[i].family = "";
}

struct captures tsi_list_captures(const struct run_members *members, struct arena *arena)
{
	struct captures captures = { NULL, 0 };

	list_captures(&captures, members, arena);
	if (!arena->has_failed && captures.count > 1)
		find_slots(&captures, arena);
	if (!arena->has_failed && captures.count > 1)
		settle_families(&captures, arena);
	return captures;
}
