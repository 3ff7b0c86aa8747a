/* SPDX-License-Identifier: MIT */
/*
 * Are the files of one job? Nobody says so; that they are not shows where they contradict each
 * other.
 */
#include "session/run.h"

#include <inttypes.h>

#include "base/error.h"
#include "run/file_name.h"
#include "run/scalars.h"

/* Are both step records of one rank? */
static bool claim_the_same(const struct run_item *a, const struct run_item *b)
{
	return a->kind == RUN_ITEM_STEPS && b->kind == RUN_ITEM_STEPS && a->rank == b->rank;
}

static int64_t world_of(const struct run_members *members, const struct run_item *item)
{
	return members->loaded[item->file]->steps.world_size;
}

/* Do metrics say other values than further metrics or step records do? */
static bool differ(const struct run_members *members, const struct run_item *metrics,
		   const struct run_item *other, struct arena *arena)
{
	const struct metric_log *log = &members->loaded[metrics->file]->metrics;
	const struct loaded *with = members->loaded[other->file];

	if (metrics->kind != RUN_ITEM_METRICS || metrics->rank != other->rank)
		return false;
	if (other->kind == RUN_ITEM_METRICS)
		return tsi_metrics_contradict(log, &with->metrics, arena);
	return other->kind == RUN_ITEM_STEPS &&
	       tsi_metrics_contradict_steps(log, &with->steps, arena);
}

/*
 * Compares each source of metrics with the items before it: those of a rank are neighbours, its
 * step records first. Where there are very many sources, with the nearest ones.
 */
static struct run_conflict find_metrics(const struct run_members *members, struct arena *arena)
{
	enum { COMPARED = 32 };

	for (size_t i = 1; i < members->read_count; i++) {
		const struct run_item *item = &members->items[i];

		for (size_t back = 1; back <= COMPARED && back <= i; back++) {
			const struct run_item *other = &members->items[i - back];

			if (tsi_are_in_folders_apart(other->path, item->path) &&
			    differ(members, item, other, arena))
				return (struct run_conflict){ other->path, item->path };
		}
	}
	return (struct run_conflict){ 0 };
}

struct run_conflict tsi_find_conflict(const struct run_members *members, struct arena *arena)
{
	const struct run_item *sized = NULL; /* the last one that says the size of the world */

	for (size_t i = 0; i < members->read_count; i++) {
		const struct run_item *item = &members->items[i], *other = NULL;

		if (i > 0 && claim_the_same(item - 1, item))
			other = item - 1;
		else if (sized && world_of(members, item) >= 0 &&
			 world_of(members, item) != world_of(members, sized))
			other = sized;
		if (world_of(members, item) >= 0)
			sized = item;
		if (other && tsi_are_in_folders_apart(other->path, item->path))
			return (struct run_conflict){ other->path, item->path };
	}
	return find_metrics(members, arena);
}

enum tscope_status tsi_check_metrics(const struct run_members *members, struct arena *arena,
				     struct tscope_error *err)
{
	struct run_conflict conflict = find_metrics(members, arena);
	enum tscope_status status = tsi_arena_status(arena, err);

	if (status != TSCOPE_OK || !conflict.first)
		return status;
	return tsi_fail(err, TSCOPE_E_DAMAGED,
			"%.150s and %.150s have different values of a metric at the same steps; "
			"name the files of one run only",
			conflict.first, conflict.second);
}

enum tscope_status tsi_check_worlds(const struct run_members *members, struct tscope_error *err)
{
	const struct loaded *first = NULL;

	for (size_t i = 0; i < members->item_count; i++) {
		const struct loaded *loaded = tsi_member(members, i);

		if (loaded->steps.world_size < 0)
			continue;
		if (!first)
			first = loaded;
		if (loaded->steps.world_size != first->steps.world_size)
			return tsi_fail(err, TSCOPE_E_DAMAGED,
					"%.150s says that there are %" PRId64
					" ranks, %.150s %" PRId64
					"; name the files of one run only",
					first->input.path, first->steps.world_size,
					loaded->input.path, loaded->steps.world_size);
	}
	return TSCOPE_OK;
}
