/* SPDX-License-Identifier: MIT */
/* Flame graphs, for any command. */
#include "flamegraph.h"

#include "message.h"

#include <string.h>

enum exit_code flamegraph_check(const struct options *options, const char *input)
{
	if (!options->flamegraph)
		return EXIT_CODE_OK;
	if (options->operand_count != 1) {
		say("--flamegraph needs exactly one ", input, "");
		return EXIT_CODE_USAGE;
	}
	if (options->output && strcmp(options->output, options->flamegraph) == 0) {
		say("--output and --flamegraph both name ", options->output, "");
		return EXIT_CODE_USAGE;
	}
	return EXIT_CODE_OK;
}
