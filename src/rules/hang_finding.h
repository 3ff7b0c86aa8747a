/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RULES_HANG_FINDING_H
#define TSCOPE_RULES_HANG_FINDING_H

#include "rules/rule.h"

/*
 * Is the verdict one of these kinds, "size peer"? Where the dumps do not show why ranks wait the
 * rule is undecided, and false.
 */
bool tsi_hang_is_found(struct rule_context *ctx, const char *kinds);

/* Whether hang.kind is one of the words; does not skip the rule. */
bool tsi_hang_is(const struct rule_context *ctx, const char *kinds);

/* "rank 6", "ranks 6-7": the culprits. Valid until the next call with the same room. */
struct hang_words {
	char text[256];
};
struct hang_words tsi_hang_culprits(const struct rule_context *ctx);

/*
 * Fires: the call, a colon and what is wrong, then who waits, and since when. Adds the culprit's
 * own place as a detail.
 */
TSI_PRINTF(2, 3)
void tsi_hang_fire(struct rule_context *ctx, const char *format, ...);

#endif
