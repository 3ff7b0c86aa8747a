/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_CLI_LOSS_H
#define TSCOPE_CLI_LOSS_H

#include "exit_code.h"

#include <stdbool.h>
#include <stdint.h>

/* What an input lost on its way into the figures. */
struct loss {
	const struct tscope_error *damage; /* what ended the reading early, or NULL */
	uint64_t dropped_count;
	const char *of_what; /* "events" */
};

/*
 * Says what an input lost; with --strict that counts as an input that cannot be
 * read, and what was dropped is said, too.
 */
enum exit_code judge_loss(const char *path, const struct loss *loss, bool is_strict);

#endif
