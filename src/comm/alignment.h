/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_COMM_ALIGNMENT_H
#define TSCOPE_COMM_ALIGNMENT_H

#include "base/sort.h"
#include "comm/end_sample.h"
#include "comm/op_token.h"

/*
 * Finds which op of one rank is which of another, where ranks did the same sequence of ops but
 * were not captured from the same moment, and may lack some: ops that are one instance get equal
 * keys.
 *
 *	tsi_op_alignment_begin(); each op, rank by rank, with tsi_op_alignment_add(); then
 *	tsi_align_ops() writes the keys, and tsi_instances() says what they mean.
 */
struct op_ref {
	uint32_t rank, op; /* as in world */
	uint32_t token;    /* op_token.h */
};

/* The ops of one rank, in the order of their calls. */
struct op_range {
	size_t first, count; /* in refs */
};

/*
 * Key of an op that cannot be distinguished from its neighbours where some are missing: no
 * instance.
 */
#define NO_KEY UINT64_MAX

/* Outcome for the instances. */
enum alignment_verdict {
	ALIGNED_MATCHED,
	ALIGNED_MISMATCHED, /* kinds, sizes or types differ */
	ALIGNED_MISSING,    /* some ranks lack it */
	ALIGNED_SURPLUS,    /* one rank alone has it */
	ALIGNED_CUT,        /* an op of it is cut */
	ALIGNED_OUTSIDE,    /* before the first or after the last that all ranks have */
	ALIGNED_VERDICT_COUNT,
};

struct alignment_tally {
	uint64_t counts[ALIGNED_VERDICT_COUNT];
	uint64_t same_step_count; /* of the matched, those in which no two steps differ */
	bool is_refused; /* what matches by contents had ended before it began: it is mismatched */
};

struct op_alignment {
	struct op_tokens tokens; /* its arena remembers where memory ran out */
	struct arena room;       /* of all arrays, as much as `ref_room` ops need */
	size_t ref_room;
	struct op_ref *refs;
	size_t ref_count;
	struct op_range *ranks; /* by rank */
	size_t rank_count;
	uint64_t *keys; /* by ref: ascending in each rank, but for NO_KEY */
	struct alignment_tally tally;
	struct end_agreement *ends;        /* by rank: of what matches, with the first rank */
	uint64_t window_begin, window_end; /* first and last key that all ranks have */
	/* Keys of the alignment being tried. */
	uint64_t *other_keys;
	struct end_agreement *other_ends;
	struct sort_pair *pairs, *scratch;
	const uint64_t *paired; /* the keys that pairs are in the order of */
	/* op_diff.c: how far each diagonal came, by number of differences */
	int32_t *diff_rows;
	/* op_diff.c: by op of a rank, its index in the model or OP_INSERTED, OP_DOUBTFUL */
	int32_t *forward, *backward;
};

void tsi_op_alignment_init(struct op_alignment *alignment, const struct world *world);

/* A failure becomes that of an arena. */
void tsi_op_alignment_deinit(struct op_alignment *alignment, struct arena *arena);

/* Begins anew, with as many ops at most; room that is there is used again. */
void tsi_op_alignment_begin(struct op_alignment *alignment, size_t count);

/* Appends an op; ops of one rank one after the other, ranks ascending. */
void tsi_op_alignment_add(struct op_alignment *alignment, uint32_t rank, uint32_t op);

/* Orders ranks by launch, writes keys and tally. False without memory, or without two ranks. */
bool tsi_align_ops(struct op_alignment *alignment);

static inline const struct rank_op *tsi_ref_op(const struct op_alignment *alignment, size_t ref)
{
	const struct op_ref *r = &alignment->refs[ref];

	return &alignment->tokens.world->logs[r->rank].ops[r->op];
}

static inline const struct op_token *tsi_ref_token(const struct op_alignment *alignment, size_t ref)
{
	return &alignment->tokens.items[alignment->refs[ref].token];
}

static inline bool tsi_refs_agree(const struct op_alignment *alignment, size_t a, size_t b)
{
	return alignment->refs[a].token == alignment->refs[b].token ||
	       tsi_tokens_agree(tsi_ref_token(alignment, a), tsi_ref_token(alignment, b));
}

static inline uint64_t tsi_tally_errors(const struct alignment_tally *tally)
{
	return tally->counts[ALIGNED_MISMATCHED] + tally->counts[ALIGNED_MISSING] +
	       tally->counts[ALIGNED_SURPLUS];
}

/*
 * The instances one after the other, once keys are there:
 *
 *	struct instance_cursor cursor = tsi_instances(alignment);
 *	while (tsi_next_instance(alignment, &cursor))
 *		… cursor.refs[0 … cursor.count) by rank, cursor.verdict …
 */
struct instance_cursor {
	const struct sort_pair *refs; /* value: index of ref */
	size_t count;
	enum alignment_verdict verdict;
	size_t at;
};

/* The alignment must not be refused. */
struct instance_cursor tsi_instances(struct op_alignment *alignment);
bool tsi_next_instance(const struct op_alignment *alignment, struct instance_cursor *cursor);

/* ---- the ways to align, for alignment.c: they write other_keys, or return false ---- */

/* The k-th op of a step is the k-th of that step elsewhere (align_steps.c). */
bool tsi_align_by_step(struct op_alignment *alignment);

/* By order alone, where captures may begin and end anywhere (align_order.c). */
bool tsi_align_by_order(struct op_alignment *alignment);

#endif
