/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RULES_EFFICIENCY_LINES_H
#define TSCOPE_RULES_EFFICIENCY_LINES_H

#include "rules/rule.h"

/*
 * For rules on the efficiency budget that have fired: puts the lines that can
 * be won back into the detail, and takes advice, cause and the time to win from
 * the largest of them. A title that says the largest with its share leaves it out of the detail.
 */
void tsi_describe_efficiency_lines(struct rule_context *ctx, bool is_top_in_title);

/* The largest line that can be won back, in words: "waiting for data". */
const char *tsi_top_efficiency_line(const struct rule_context *ctx);

/* Its share; communication without waiting, if that is known. */
double tsi_top_efficiency_share(const struct rule_context *ctx);

/* Whether HFU shows recomputed forward work (activation checkpointing). */
bool tsi_repeats_forward(const struct rule_context *ctx);

#endif
