/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_CLI_PRINT_SETTINGS_H
#define TSCOPE_CLI_PRINT_SETTINGS_H

#include "options.h"

/* What holds for a call of the command with these options, defaults too, and from where. */
void print_settings(const struct options *options, const char *command);

#endif
