/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RULES_CAPTURE_FINDING_H
#define TSCOPE_RULES_CAPTURE_FINDING_H

#include "rules/rule.h"

#define MOSTLY_CAPTURED 0.5

/* Does at least this share of all launches lie within the capture of a graph? */
bool tsi_is_mostly_captured(const struct rule_context *ctx, double least_share);

/*
 * Fires, and returns true, where at least this share of all launches lies within the capture of a
 * graph: what is launched then does not run, and the trace is none of a run.
 */
bool tsi_fire_capture(struct rule_context *ctx, double least_share);

#endif
