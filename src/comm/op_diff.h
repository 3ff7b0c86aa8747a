/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_COMM_OP_DIFF_H
#define TSCOPE_COMM_OP_DIFF_H

#include "comm/alignment.h"

/*
 * Two sequences of ops compared: which op of one is which of the other when the fewest are missing
 * or surplus. All sequences are pieces of an alignment's refs.
 */
enum {
	OP_INSERTED = -1, /* the other sequence has no such op */
	OP_DOUBTFUL = -2, /* it has several that could be this one */
};

/* Sequences that differ in more are given up: what would follow from them is no evidence. */
enum { MAX_DIFFERENCES = 128 };

/*
 * Compares both from end to end. alignment->forward then says of each op of `own` where it is in
 * `model`; as many ops in a row as differ on both sides stand for one another. Pairs that do not
 * follow from the sequences alone are in doubt.
 */
void tsi_op_diff_closed(struct op_alignment *alignment, struct op_range model, struct op_range own);

/*
 * The ops anchor_model and anchor_own (in refs) are the same one; from there to both sides until
 * either sequence ends.
 */
void tsi_op_diff_around(struct op_alignment *alignment, struct op_range model, struct op_range own,
			size_t anchor_model, size_t anchor_own);

/*
 * Writes other_keys of a rank's ops after a comparison: of the k-th op of the model base + (k + 1)
 * × stride; those inserted lie between. stride: above the number of ops of any rank.
 */
void tsi_op_diff_keys(struct op_alignment *alignment, struct op_range own, uint64_t base,
		      uint64_t stride);

#endif
