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

static struct str folder_of(const char *path)
{
	return (struct str){ path, (size_t)(tsi_base_name(path) - path) };
}

/* Is neither in the folder of the other, or below it? */
static bool are_apart(const char *a, const char *b)
{
	return !tsi_str_has_prefix(tsi_str_of(a), folder_of(b)) &&
	       !tsi_str_has_prefix(tsi_str_of(b), folder_of(a));
}

/* Are both step records of one rank? */
static bool claim_the_same(const struct run_item *a, const struct run_item *b)
{
	return a->kind == RUN_ITEM_STEPS && b->kind == RUN_ITEM_STEPS && a->rank == b->rank;
}

static int64_t world_of(const struct run_members *members, const struct run_item *item)
{
	return members->loaded[item->file]->steps.world_size;
}

/* Do metrics tell other values than further metrics or step records do? */
static enum tscope_status differ(bool *ret, const struct run_members *members,
				 const struct run_item *metrics, const struct run_item *other,
				 struct tscope_error *err)
{
	const struct metric_log *log = &members->loaded[metrics->file]->metrics;

	*ret = false;
	if (metrics->kind != RUN_ITEM_METRICS || metrics->rank != other->rank)
		return TSCOPE_OK;
	if (other->kind == RUN_ITEM_METRICS)
		return tsi_metrics_contradict(ret, log, &members->loaded[other->file]->metrics,
					      err);
	if (other->kind == RUN_ITEM_STEPS)
		return tsi_metrics_contradict_steps(ret, log, &members->loaded[other->file]->steps,
						    err);
	return TSCOPE_OK;
}

/*
 * Compares each source of metrics with the items before it: those of a rank are neighbours, its
 * step records first. Of very many sources the nearest ones do.
 */
static enum tscope_status find_metrics(struct run_conflict *ret, const struct run_members *members,
				       struct tscope_error *err)
{
	enum { COMPARED = 32 };
	enum tscope_status status = TSCOPE_OK;

	for (size_t i = 1; status == TSCOPE_OK && i < members->read_count; i++) {
		const struct run_item *item = &members->items[i];

		for (size_t back = 1; status == TSCOPE_OK && back <= COMPARED && back <= i;
		     back++) {
			const struct run_item *other = &members->items[i - back];
			bool is_conflict;

			if (!are_apart(other->path, item->path))
				continue;
			status = differ(&is_conflict, members, item, other, err);
			if (status != TSCOPE_OK || !is_conflict)
				continue;
			*ret = (struct run_conflict){ other->path, item->path };
			return TSCOPE_OK;
		}
	}
	return status;
}

enum tscope_status tsi_find_conflict(struct run_conflict *ret, const struct run_members *members,
				     struct tscope_error *err)
{
	const struct run_item *sized = NULL; /* the last one that says the size of the world */

	*ret = (struct run_conflict){ 0 };
	for (size_t i = 0; i < members->read_count; i++) {
		const struct run_item *item = &members->items[i], *other = NULL;

		if (i > 0 && claim_the_same(item - 1, item))
			other = item - 1;
		else if (sized && world_of(members, item) >= 0 &&
			 world_of(members, item) != world_of(members, sized))
			other = sized;
		if (world_of(members, item) >= 0)
			sized = item;
		if (!other || !are_apart(other->path, item->path))
			continue;
		*ret = (struct run_conflict){ other->path, item->path };
		return TSCOPE_OK;
	}
	return find_metrics(ret, members, err);
}

enum tscope_status tsi_check_metrics(const struct run_members *members, struct tscope_error *err)
{
	struct run_conflict conflict = { 0 };
	enum tscope_status status = find_metrics(&conflict, members, err);

	if (status != TSCOPE_OK || !conflict.first)
		return status;
	return tsi_fail(err, TSCOPE_E_DAMAGED,
			"%.150s and %.150s tell different values of a metric at the same steps; "
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
