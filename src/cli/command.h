/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_CLI_COMMAND_H
#define TSCOPE_CLI_COMMAND_H

#include "exit_code.h"
#include "options.h"

/*
 * A command of the program.
 *
 * To add one: write cmd_<name>.c with a `const struct command command_<name>`,
 * add COMMAND(<name>) to command_list.h, the file to meson.build, a page
 * man/tscope-<name>.1 that tscope(1) names, and cases in tests/cli. --help is
 * printed from these records and from the table of options, never typed twice.
 */
struct command {
	const char *name;
	const char *operands; /* what follows the options: "FILE..." */
	const char *summary;  /* one line, lower case */
	bool may_lack_operands;
	/* Says on standard error what goes wrong. */
	enum exit_code (*run)(const struct options *options);
};

#endif
