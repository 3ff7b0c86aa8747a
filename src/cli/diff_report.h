/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_CLI_DIFF_REPORT_H
#define TSCOPE_CLI_DIFF_REPORT_H

#include "exit_code.h"
#include "options.h"

/* Opens the operands as a comparison, and reports it: what diff and trend do (cmd_diff.c). */
enum exit_code diff_report(enum tscope_status (*open)(struct tscope_diff **ret,
						      const char *const *paths, size_t count,
						      const struct tscope_diff_options *options,
						      struct tscope_error *err),
			   const struct options *options);

#endif
