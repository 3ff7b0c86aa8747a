/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RULES_RANK_FIGURES_H
#define TSCOPE_RULES_RANK_FIGURES_H

#include "rules/rule.h"

/* What traces of several ranks tell, for rules that have less to go by without them. */

/* Is the fact there and not in doubt? */
bool tsi_rule_knows(const struct rule_context *ctx, const char *fact);

/*
 * Does pytscope's rule name a rank? It counts the steps in which a rank was slowest, however few:
 * where traces tell all that ranks do, the exact test decides, and it only tells more.
 */
bool tsi_names_straggler(const struct rule_context *ctx);

/* Does that or the exact test? */
bool tsi_names_slow_rank(const struct rule_context *ctx);

/* What a simulation says can be won back ("what_if.balanced_gain_ns"), else an estimate. */
void tsi_recover_gain(struct rule_context *ctx, const char *gain, int64_t estimate_ns);

/* Communication that nothing hides, in shares of the steps, mean of the ranks. */
struct comm_shares {
	bool is_known;
	double waiting; /* for ranks that come later */
	double moving;  /* the rest */
	/*
	 * Of a pipeline not in moving: what nobody can divide is mostly receives, in which a stage
	 * waits for the one before it. DIST.PIPELINE_BUBBLE judges that.
	 */
	double between_stages;
};

struct comm_shares tsi_comm_shares(const struct rule_context *ctx);

/* Says what of them is between stages, if it is worth telling. */
void tsi_tell_stages(struct rule_context *ctx, const struct comm_shares *comm);

/* The facts that these are made of, as evidence. */
void tsi_comm_evidence(struct rule_context *ctx);

/* What an ideal overlap would win back of communication that takes so long without waiting. */
void tsi_recover_overlap(struct rule_context *ctx, int64_t moving_ns);

/* A share of the mean step in ns; 0 where the step is not known. */
int64_t tsi_share_ns(const struct rule_context *ctx, double share);

#endif
