/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RULES_RANK_FIGURES_H
#define TSCOPE_RULES_RANK_FIGURES_H

#include "rules/rule.h"

/* Figures from traces of several ranks, with fallbacks for rules without them. */

/* Whether the fact is present and reliable. Does not skip the rule. */
bool tsi_rule_knows(const struct rule_context *ctx, const char *fact);

/* Whether a rank is known to be slow, step after step. */
bool tsi_names_slow_rank(const struct rule_context *ctx);

/* The slow rank that costs most; -1: none is known. */
int64_t tsi_named_slow_rank(const struct rule_context *ctx);

/* Whether the experts of this rank receive most, by a tenth of the mean and more. */
bool tsi_has_busiest_experts(const struct rule_context *ctx, int64_t rank);

/* Advice on hiding transfers, where these are not gradients of data parallelism alone. */
void tsi_advise_hiding(struct rule_context *ctx);
/* Whether the loaders of late ranks alone explain most of this time of a mean rank's step. */
bool tsi_is_of_late_loaders(const struct rule_context *ctx, int64_t ns);
/* Recoverable time: what_if.balanced_gain_ns, which is simulated, else an estimate. */
void tsi_gain_simulated(struct rule_context *ctx, int64_t estimate_ns);

/* Communication that nothing hides, in shares of the steps, mean of the ranks. */
struct comm_shares {
	bool is_known;
	double waiting; /* for ranks that come later */
	double moving;  /* the rest, but for */
	/*
	 * transfers of the others that the late rank itself hides, or does not have: had it come in
	 * time, they would have run behind compute. 0 where no rank is known to be late.
	 */
	double made_late;
	/*
	 * Pipelines only, not part of moving: undivided time is mostly receives that wait for the
	 * previous stage, which DIST.PIPELINE_BUBBLE judges.
	 */
	double between_stages;
};

struct comm_shares tsi_comm_shares(const struct rule_context *ctx);

/*
 * Likewise; if traces do not show it, divides this share as the communication of the ranks is
 * divided: what exceeds the rank with the least is waiting. A single rank cannot be divided.
 */
struct comm_shares tsi_divide_comm(const struct rule_context *ctx, double share);

/* This share as per cent of all communication. */
double tsi_comm_percent(const struct comm_shares *comm, double share);

/* Says how long ranks wait for slower ones besides, if it is worth naming. */
void tsi_describe_waiting(struct rule_context *ctx, const struct comm_shares *comm);

/* Time of one rank's collectives beyond that which their sizes need over any link. */
struct sure_wait {
	double part; /* of all their time */
	bool is_most;
	size_t row; /* of collectives.by_size: the size that waits longest */
};

/* Nothing where several ranks were read, which say how long each waits. */
struct sure_wait tsi_sure_wait(const struct rule_context *ctx, const struct comm_shares *comm);

/*
 * If only one rank was read, which separates waiting from transfer at best in part: says so, and
 * advises to read all ranks first.
 */
void tsi_advise_all_ranks(struct rule_context *ctx, const struct comm_shares *comm);

/* Names the part that a late rank keeps from being hidden, if it is worth it. */
void tsi_describe_made_late(struct rule_context *ctx, const struct comm_shares *comm);

/* Names the part between stages, if it is worth it. */
void tsi_describe_stages(struct rule_context *ctx, const struct comm_shares *comm);

/*
 * Where ranks wait longer than they transfer, and one is known to be late, that one comes first. Of
 * what stages of a pipeline wait for one another, as much counts as the late one costs.
 */
void tsi_after_straggler(struct rule_context *ctx, const struct comm_shares *comm);

/* The facts that these are made of, as evidence. */
void tsi_comm_evidence(struct rule_context *ctx);

/*
 * Recoverable time if communication of this length (without waiting) overlapped ideally: a bound,
 * for the simulation does not know what has to wait for it.
 */
void tsi_gain_overlap(struct rule_context *ctx, int64_t moving_ns);

/*
 * Likewise if nothing were sent: overlap wins little where as much is sent as is computed, sending
 * less wins in any case.
 */
void tsi_gain_network(struct rule_context *ctx, int64_t moving_ns);

/* A share of the mean step in ns; 0 where the step is not known. */
int64_t tsi_share_ns(const struct rule_context *ctx, double share);

#endif
