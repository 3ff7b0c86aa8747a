/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_CLI_REPORTS_H
#define TSCOPE_CLI_REPORTS_H

#include "inputs.h"
#include "options.h"

/* Writes a report of a subject in the format that the options name. */
struct report_writer {
	enum tscope_status (*write)(FILE *out, const void *subject,
				    const struct tscope_report_options *options);
	const void *subject;
};

/*
 * Writes every report that was asked for: that of --format to --output or standard output, then
 * each FORMAT=FILE. None replaces one of the inputs. Says what goes wrong.
 */
enum exit_code reports_write(const struct report_writer *writer, struct inputs *inputs,
			     const struct options *options);

/* Where GitHub Actions takes a job summary, if that format is asked for; else NULL. */
const char *reports_summary_path(const struct options *options);

/* Does any of these formats draw pictures of a trace? */
bool reports_draw(const struct options *options);

#endif
