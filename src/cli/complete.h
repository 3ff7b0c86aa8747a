/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_CLI_COMPLETE_H
#define TSCOPE_CLI_COMPLETE_H

#include "command.h"

/*
 * tscope __complete WORD...: what may stand for the last word, one candidate a
 * line, followed by a tab and its meaning; nothing where a file name is due.
 * The completions of the shells call it: they know every option, fact and rule
 * of the program at hand.
 */
void complete_words(const struct command *const *commands, size_t command_count, int count,
		    char *const *words);

#endif
