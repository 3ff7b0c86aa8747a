/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_CLI_LOSS_H
#define TSCOPE_CLI_LOSS_H

#include "exit_code.h"
#include "options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Damage to an input, and how much of it was dropped. */
struct loss {
	const struct tscope_error *damage; /* what ended the reading early, or NULL */
	uint64_t dropped_count;
	const char *what; /* "events" */
};

/* Missing input, for gates_lack(); NULL: nothing. */
static inline const char *loss_text(const struct loss *loss)
{
	return loss->damage              ? "the input is damaged: what follows was not read"
	       : loss->dropped_count > 0 ? "the input is damaged: not all of it could be used"
					 : NULL;
}

/* For gates_lack() where --step-marker is the name of nothing: the steps are others then. */
extern const char unmatched_marker[];

/*
 * Reports damage. With --strict also reports dropped items, and both count as an unreadable input.
 */
enum exit_code judge_loss(const char *path, const struct loss *loss, bool is_strict);

/* For gates_lack() where a trace has other processes, too (TSCOPE_DIAGNOSTIC_other_process). */
extern const char mixed_processes[];

/* With --strict reports such a trace, which counts as an unreadable input. */
enum exit_code judge_processes(const char *path, uint64_t other_count, bool is_strict);

/* For gates_lack() where steps are left out as the trace lacks their kernels; else NULL. */
const char *unrecorded_steps(const struct tscope_analysis *analysis);

/* Warns where so many operators were not kept, and why no file took them. */
void say_unkept(const char *path, uint64_t count, const struct options *options);

/* Warns where --warmup leaves no step to judge; with --strict that is an unreadable input. */
enum exit_code judge_warmup(const char *path, const struct tscope_analysis *analysis,
			    const struct options *options);

#endif
