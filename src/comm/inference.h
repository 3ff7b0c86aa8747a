/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_COMM_INFERENCE_H
#define TSCOPE_COMM_INFERENCE_H

#include "comm/alignment.h"
#include "comm/end_sample.h"
#include "comm/group_search.h"

/*
 * Ops whose group nobody states, while they are divided: infer_groups.c looks for them among the
 * groups that are known, infer_ranks.c makes groups of ranks that fit together.
 */
/* A rank's share of the ops that are looked at. */
struct rank_ops {
	uint32_t rank;
	size_t first, count; /* in the ops */
};

/* The ops that are looked at, rank by rank. */
struct op_share {
	const struct sort_pair *ops; /* value: rank and op */
	struct rank_ops *ranks;
	size_t rank_count, capacity;
};

/* Do some ranks form a group? */
struct verdict {
	bool agrees;               /* their ops do */
	struct end_agreement ends; /* of the first rank with another: the median one */
};

struct inference {
	struct group_search *search;
	const struct op_pool *pool;
	struct op_tokens tokens;
	struct op_alignment alignment;
	struct op_share share;
	struct end_agreement *ends; /* room for one of each rank */
	size_t *places;             /* room for an index of each rank */
	/* infer_groups.c */
	struct sort_pair *ops, *scratch; /* the pool's, in the order of what they are */
	struct sort_pair *candidates;    /* value: index in search->stated; the largest first */
	size_t candidate_count;
	bool is_only_group;       /* nobody knows any but the candidate */
	struct verdict *verdicts; /* by candidate */
	size_t *share_of_rank;    /* by rank: index in the share + 1, 0: it has no such ops left */
	/* infer_ranks.c */
	struct intern sets; /* ranks of groups that were made */
	uint32_t *group_of_set;
	size_t set_capacity;
	size_t comparison_count; /* of two ranks with one another */
};

/* Looks at these ops from now on. */
TSI_MUST_CHECK
enum tscope_status tsi_set_share(struct inference *inference, const struct sort_pair *ops,
				 size_t count, struct tscope_error *err);

/* Are these ranks, by index in the share, one group? */
TSI_MUST_CHECK
enum tscope_status tsi_judge_group(struct inference *inference, const size_t *ranks, size_t count,
				   struct verdict *verdict, struct tscope_error *err);

/* The ops of a rank of the share are the group's. */
void tsi_take_ops(struct inference *inference, size_t rank, uint32_t group);

/*
 * Makes one group of all ranks of the share, if that can be; is_certain: what they are called says
 * so, whatever the ops do.
 */
TSI_MUST_CHECK
enum tscope_status tsi_unite_ranks(struct inference *inference, bool is_certain, bool *is_done,
				   struct tscope_error *err);

/* Makes groups of those ranks of the share whose ops end together; the others stay. */
TSI_MUST_CHECK
enum tscope_status tsi_divide_ranks(struct inference *inference, struct tscope_error *err);

#endif
