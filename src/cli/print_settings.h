/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_CLI_PRINT_SETTINGS_H
#define TSCOPE_CLI_PRINT_SETTINGS_H

#include "options.h"

/* Prints the settings of a call of the command, defaults too, and their origin. */
void print_settings(const struct options *options, const char *command);

#endif
