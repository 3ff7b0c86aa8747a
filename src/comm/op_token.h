/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_COMM_OP_TOKEN_H
#define TSCOPE_COMM_OP_TOKEN_H

#include "base/pair_set.h"
#include "comm/latch.h"
#include "comm/world.h"

/*
 * Kind, size and type of an op, which must be alike on all ranks of one collective, as a small
 * number: sequences of ops are compared as sequences of these.
 */
struct op_token {
	int64_t bytes;  /* or NO_NUMBER: not said, or may differ between ranks */
	uint32_t dtype; /* 0: not said */
	uint8_t kind;
};

struct op_tokens {
	struct arena arena; /* of all that is here; remembers where memory ran out */
	const struct world *world;
	struct op_token *items; /* by number */
	size_t count, capacity;
	struct intern dtypes;         /* of all ranks */
	uint32_t **dtype_of_name;     /* [rank][name id]: id in dtypes + 1, 0: not looked up yet */
	struct pair_set sizes, pairs; /* bytes by halves; number of sizes, kind and dtype */
};

void tsi_op_tokens_init(struct op_tokens *tokens, const struct world *world);

/* A failure becomes that of an arena. */
void tsi_op_tokens_deinit(struct op_tokens *tokens, struct arena *arena);

/* NO_ROW without memory. */
uint32_t tsi_op_token(struct op_tokens *tokens, uint32_t rank, uint32_t op);

/* False where the kinds differ, or sizes or types that both say. */
static inline bool tsi_tokens_agree(const struct op_token *a, const struct op_token *b)
{
	return a->kind == b->kind &&
	       (a->bytes == b->bytes || a->bytes == NO_NUMBER || b->bytes == NO_NUMBER) &&
	       (a->dtype == b->dtype || a->dtype == 0 || b->dtype == 0);
}

#endif
