/* SPDX-License-Identifier: MIT */
/* Numbers what ops of one collective have in common on all ranks. */
#include "comm/op_token.h"

#include <stdlib.h>

#include "base/array.h"

enum tscope_status tsi_op_tokens_init(struct op_tokens *tokens, const struct world *world,
				      struct tscope_error *err)
{
	*tokens = (struct op_tokens){
		.world = world,
		.sizes.arena = &tokens->memory,
		.pairs.arena = &tokens->memory,
	};
	if (tsi_intern_init(&tokens->dtypes, UINT32_MAX - 1, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	return tsi_array_new(&tokens->dtype_of_name, world->rank_count,
			     sizeof(*tokens->dtype_of_name), err);
}

void tsi_op_tokens_deinit(struct op_tokens *tokens)
{
	for (size_t i = 0; tokens->dtype_of_name && i < tokens->world->rank_count; i++)
		free(tokens->dtype_of_name[i]);
	free(tokens->dtype_of_name);
	free(tokens->items);
	tsi_intern_deinit(&tokens->dtypes);
	tsi_arena_deinit(&tokens->memory);
	*tokens = (struct op_tokens){ 0 };
}

/* The id of a type that is the same on all ranks; 0: not said. */
static enum tscope_status dtype_of(struct op_tokens *tokens, uint32_t rank, uint32_t name,
				   uint32_t *dtype, struct tscope_error *err)
{
	const struct intern *names = &tokens->world->logs[rank].names;
	uint32_t **row = &tokens->dtype_of_name[rank];

	*dtype = 0;
	if (name == 0)
		return TSCOPE_OK;
	if (!*row && tsi_array_new(row, names->count, sizeof(**row), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if ((*row)[name] == 0) {
		if (tsi_intern_add(&tokens->dtypes, tsi_intern_text(names, name), dtype, err) !=
		    TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		(*row)[name] = *dtype + 1;
	}
	*dtype = (*row)[name] - 1;
	return TSCOPE_OK;
}

/*
 * Sizes that say something about one rank only: parts of an all-to-all may be unequal, and only
 * the root of a gather or scatter has all of it.
 */
static bool has_own_size(uint8_t kind)
{
	return kind == COLLECTIVE_ALL_TO_ALL || kind == COLLECTIVE_GATHER ||
	       kind == COLLECTIVE_SCATTER;
}

enum tscope_status tsi_op_token(struct op_tokens *tokens, uint32_t rank, uint32_t op,
				uint32_t *token, struct tscope_error *err)
{
	const struct rank_op *from = &tokens->world->logs[rank].ops[op];
	struct op_token item = { .bytes = has_own_size(from->kind) ? NO_NUMBER : from->bytes,
				 .kind = from->kind };
	uint64_t bytes = (uint64_t)item.bytes;
	uint32_t size;

	if (dtype_of(tokens, rank, from->dtype, &item.dtype, err) != TSCOPE_OK ||
	    tsi_pair_set_find(&tokens->sizes, (uint32_t)(bytes >> 32), (uint32_t)bytes, &size,
			      err) != TSCOPE_OK ||
	    tsi_pair_set_find(&tokens->pairs, size, item.dtype << 8 | item.kind, token, err) !=
		    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (*token < tokens->count)
		return TSCOPE_OK;
	if (tsi_array_reserve(&tokens->items, &tokens->capacity, tokens->count + 1,
			      sizeof(*tokens->items), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	tokens->items[tokens->count++] = item;
	return TSCOPE_OK;
}
