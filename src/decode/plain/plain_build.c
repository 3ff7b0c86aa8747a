/* SPDX-License-Identifier: MIT */
/* Plain data in the making: the values of open containers on a stack, until these are closed. */
#include "decode/plain/plain_build.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"

enum {
	MAX_LEVELS = 512,
	/* More words than the graph packs; even, so that no pair is torn. */
	PORTION_WORDS = 2 * CONTENT_WORDS_MAX,
};

void tsi_build_init(struct plain_build *build, const struct plain_limits *limits)
{
	struct tscope_error *err = &build->err;

	*build = (struct plain_build){ .max_levels = MAX_LEVELS };
	/* There is a stack from the beginning, also for a container that holds nothing. */
	if (tsi_array_new(&build->plain, 1, sizeof(*build->plain), err) == TSCOPE_OK &&
	    tsi_array_reserve(&build->stack, &build->capacity, 1, sizeof(*build->stack), err) ==
		    TSCOPE_OK)
		tsi_graph_init(build->plain, limits, err);
}

enum tscope_status tsi_build_end(struct plain_build *build, struct plain **ret,
				 struct tscope_error *err)
{
	if (build->err.status == TSCOPE_OK)
		build->plain->root = build->stack[0];
	tsi_share_deinit(&build->share);
	free(build->stack);
	free(build->levels);
	return tsi_graph_end(build->plain, &build->err, ret, err);
}

/* Is it the list under the shared key, or a container in it? */
static bool is_shared(const struct plain_build *build, enum word_tag tag)
{
	if (build->level_count == 0)
		return false;
	const struct plain_level *around = &build->levels[build->level_count - 1];
	if (around->tag == WORD_LIST)
		return around->is_shared;
	bool is_value = (build->depth - around->start) % 2; /* its key was pushed last */
	return is_value && tag == WORD_LIST && build->stack[build->depth - 1] == build->shared_key;
}

void tsi_build_open(struct plain_build *build, enum word_tag tag)
{
	if (build->err.status != TSCOPE_OK)
		return;
	if (build->level_count == build->max_levels) {
		tsi_fail(&build->err, TSCOPE_E_LIMIT,
			 "values nested deeper than %zu (limit: nesting)", build->max_levels);
		return;
	}
	if (tsi_array_reserve(&build->levels, &build->level_capacity, build->level_count + 1,
			      sizeof(*build->levels), &build->err) != TSCOPE_OK)
		return;
	struct plain_level level = { .start = build->depth,
				     .tag = tag,
				     .is_shared = is_shared(build, tag) };
	build->levels[build->level_count++] = level;
}

/* Stores the values of the innermost container that are on the stack. */
static void store(struct plain_build *build, struct plain_level *level)
{
	if (level->object == 0)
		level->object = tsi_graph_add_object(build->plain, level->tag);
	tsi_graph_fill(build->plain, level->object, build->stack + level->start,
		       build->depth - level->start);
	build->depth = level->start;
}

void tsi_build_push(struct plain_build *build, uint32_t word)
{
	if (tsi_unlikely(build->err.status != TSCOPE_OK) ||
	    tsi_array_reserve(&build->stack, &build->capacity, build->depth + 1,
			      sizeof(*build->stack), &build->err) != TSCOPE_OK)
		return;
	build->stack[build->depth++] = word;
	if (build->level_count == 0)
		return;
	struct plain_level *level = &build->levels[build->level_count - 1];
	if (tsi_unlikely(build->depth - level->start >= PORTION_WORDS))
		store(build, level);
}

uint32_t tsi_build_close(struct plain_build *build)
{
	if (build->err.status != TSCOPE_OK)
		return 0;
	struct plain_level *level = &build->levels[--build->level_count];
	if (level->is_shared && level->object == 0) {
		level->object =
			tsi_share_object(&build->share, build->plain, level->tag,
					 build->stack + level->start, build->depth - level->start);
		build->depth = level->start;
	} else {
		store(build, level);
	}
	return build->err.status == TSCOPE_OK ? level->object : 0;
}
