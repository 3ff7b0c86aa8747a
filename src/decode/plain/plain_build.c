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

enum tscope_status tsi_build_init(struct plain_build *build, const struct plain_limits *limits,
				  struct tscope_error *err)
{
	static const struct plain_limits defaults = { 0 };

	*build = (struct plain_build){ .err = err, .max_levels = MAX_LEVELS };
	/* There is a stack from the beginning, also for a container that holds nothing. */
	if (tsi_array_new(&build->plain, 1, sizeof(*build->plain), err) != TSCOPE_OK ||
	    tsi_array_reserve(&build->stack, &build->capacity, 1, sizeof(*build->stack), err) !=
		    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	return tsi_graph_init(build->plain, limits ? limits : &defaults, err);
}

enum tscope_status tsi_build_end(struct plain_build *build, enum tscope_status status,
				 struct plain **ret)
{
	struct plain *plain = build->plain;

	if (status == TSCOPE_OK) {
		plain->root = build->stack[0];
		*ret = plain;
		plain = NULL;
	}
	tsi_plain_free(plain);
	tsi_share_deinit(&build->share);
	free(build->stack);
	free(build->levels);
	*build = (struct plain_build){ 0 };
	return status;
}

/* What stands under the shared key, and what is in that. */
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

enum tscope_status tsi_build_open(struct plain_build *build, enum word_tag tag)
{
	if (build->level_count == build->max_levels)
		return tsi_fail(build->err, TSCOPE_E_LIMIT,
				"values nested deeper than %zu (limit: nesting)",
				build->max_levels);
	if (tsi_array_reserve(&build->levels, &build->level_capacity, build->level_count + 1,
			      sizeof(*build->levels), build->err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	struct plain_level level = { .start = build->depth,
				     .tag = tag,
				     .is_shared = is_shared(build, tag) };
	build->levels[build->level_count++] = level;
	return TSCOPE_OK;
}

/* Stores the values of the innermost container that are on the stack. */
static enum tscope_status store(struct plain_build *build, struct plain_level *level)
{
	const uint32_t *words = build->stack + level->start;
	size_t count = build->depth - level->start;
	enum tscope_status status = TSCOPE_OK;

	if (level->object == 0)
		status = tsi_graph_add_object(build->plain, level->tag, &level->object, build->err);
	if (status != TSCOPE_OK)
		return status;
	build->depth = level->start;
	if (level->tag == WORD_DICT)
		return tsi_graph_set(build->plain, level->object, words, count / 2, build->err);
	return tsi_graph_append(build->plain, level->object, words, count, build->err);
}

enum tscope_status tsi_build_push(struct plain_build *build, uint32_t word)
{
	if (tsi_array_reserve(&build->stack, &build->capacity, build->depth + 1,
			      sizeof(*build->stack), build->err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	build->stack[build->depth++] = word;
	if (build->level_count == 0)
		return TSCOPE_OK;
	struct plain_level *level = &build->levels[build->level_count - 1];
	if (tsi_likely(build->depth - level->start < PORTION_WORDS))
		return TSCOPE_OK;
	return store(build, level);
}

enum tscope_status tsi_build_close(struct plain_build *build, uint32_t *object)
{
	struct plain_level *level = &build->levels[build->level_count - 1];
	enum tscope_status status;

	if (level->is_shared && level->object == 0) {
		status = tsi_share_object(&build->share, build->plain, level->tag,
					  build->stack + level->start, build->depth - level->start,
					  &level->object, build->err);
		build->depth = level->start;
	} else {
		status = store(build, level);
	}
	if (status != TSCOPE_OK)
		return status;
	*object = level->object;
	build->level_count--;
	return TSCOPE_OK;
}
