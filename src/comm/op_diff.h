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

struct op_diff {
	const struct op_alignment *alignment;
	int32_t *rows; /* how far each diagonal came, by number of differences */
	int32_t *forward,
		*backward; /* by op of the second sequence: index in the first, or above */
};

/* Its arrays are the alignment's, who frees them. */
TSI_MUST_CHECK
enum tscope_status tsi_op_diff_init(struct op_diff *diff, struct op_alignment *alignment,
				    struct tscope_error *err);

/*
 * Both from end to end. diff->forward then says of each op of `lane` where it is in `model`; as
 * many ops in a row as differ on both sides stand for one another. What does not follow from the
 * sequences alone is in doubt.
 */
void tsi_op_diff_closed(struct op_diff *diff, struct op_lane model, struct op_lane lane);

/*
 * The ops anchor_model and anchor_lane (in refs) are the same one; from there to both sides until
 * either sequence ends.
 */
void tsi_op_diff_around(struct op_diff *diff, struct op_lane model, struct op_lane lane,
			size_t anchor_model, size_t anchor_lane);

/*
 * Keys of a lane's ops after a comparison: of the k-th op of the model base + (k + 1) × stride;
 * those inserted lie between. stride: above the number of ops of any lane.
 */
void tsi_op_diff_keys(const struct op_diff *diff, struct op_lane lane, uint64_t base,
		      uint64_t stride, uint64_t *keys);

#endif
