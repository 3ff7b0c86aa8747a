/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RULES_LIVE_MEMORY_H
#define TSCOPE_RULES_LIVE_MEMORY_H

#include "rules/rule.h"

/*
 * Advice by what filled the memory when a request failed (snapshot.oom_by_role). The peak may have
 * been in another phase.
 */

/* ": activation checkpointing, a smaller micro-batch; …"; general where roles are not known. */
struct memory_advice {
	char chars[768];
};

struct memory_advice tsi_memory_advice(const struct rule_context *ctx);

/* Adds what was live, and most of it, to the finding. */
void tsi_describe_live(struct rule_context *ctx);

#endif
