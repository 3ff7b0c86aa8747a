/* SPDX-License-Identifier: MIT */
/* Numbers what ops of one collective have in common on all ranks. */
#include "comm/op_token.h"

void tsi_op_tokens_init(struct op_tokens *tokens, const struct world *world)
{
	*tokens = (struct op_tokens){
		.world = world,
		.sizes.arena = &tokens->arena,
		.pairs.arena = &tokens->arena,
	};
	tokens->dtype_of_name =
		tsi_arena_new(&tokens->arena, world->rank_count, sizeof(*tokens->dtype_of_name));
}

void tsi_op_tokens_deinit(struct op_tokens *tokens, struct arena *arena)
{
	tsi_intern_deinit(&tokens->dtypes);
	tsi_latch_deinit(arena, &tokens->arena);
}

/* The id of a type that is the same on all ranks; 0: not said. */
static uint32_t dtype_of(struct op_tokens *tokens, uint32_t rank, uint32_t name)
{
	const struct intern *names = &tokens->world->logs[rank].names;
	uint32_t **row = &tokens->dtype_of_name[rank];

	if (name == 0)
		return 0;
	if (!*row)
		*row = tsi_arena_new(&tokens->arena, names->count, sizeof(**row));
	if (!*row)
		return 0;
	if ((*row)[name] == 0)
		(*row)[name] = tsi_latch_text(&tokens->arena, &tokens->dtypes,
					      tsi_intern_text(names, name)) +
			       1;
	return (*row)[name] - 1;
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

uint32_t tsi_op_token(struct op_tokens *tokens, uint32_t rank, uint32_t op)
{
	const struct rank_op *from = &tokens->world->logs[rank].ops[op];
	struct op_token item = { .bytes = has_own_size(from->kind) ? NO_NUMBER : from->bytes,
				 .kind = from->kind };
	uint64_t bytes = (uint64_t)item.bytes;

	if (tokens->arena.has_failed)
		return NO_ROW;
	item.dtype = dtype_of(tokens, rank, from->dtype);
	uint32_t size = tsi_pair_set_add(&tokens->sizes, (uint32_t)(bytes >> 32), (uint32_t)bytes);
	uint32_t token = tsi_pair_set_add(&tokens->pairs, size, item.dtype << 8 | item.kind);
	struct op_token *added =
		token < tokens->count
			? NULL
			: tsi_arena_push(&tokens->arena, &tokens->items, &tokens->count,
					 &tokens->capacity, sizeof(*tokens->items));
	if (added)
		*added = item;
	return token;
}
