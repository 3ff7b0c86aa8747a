/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RULES_LATE_PLACE_H
#define TSCOPE_RULES_LATE_PLACE_H

#include "rules/rule.h"

/*
 * Place that a late rank is in: columns place, longest_ns, longest_start_ns of stragglers' tables.
 */

enum { MAX_PLACE_TEXT = 44 };

/* "train.py(41): step": without folders, cut to what a title has room for. */
const char *tsi_short_place(char text[MAX_PLACE_TEXT], const char *place);

/* Where the longest stretch of it is, as a detail. */
void tsi_describe_longest(struct rule_context *ctx, const char *table, size_t row);

extern const char tsi_place_advice[];
extern const char tsi_stall_advice[]; /* where it is not known */

#endif
