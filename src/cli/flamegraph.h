/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_CLI_FLAMEGRAPH_H
#define TSCOPE_CLI_FLAMEGRAPH_H

#include "exit_code.h"
#include "options.h"

/* Is --flamegraph, if it is there, possible? input: "snapshot or capture", for the message. */
enum exit_code flamegraph_check(const struct options *options, const char *input);

#endif
