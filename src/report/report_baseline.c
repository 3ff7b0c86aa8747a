/* SPDX-License-Identifier: MIT */
/*
 * A run as tscope diff and tscope trend read it again: the JSON of a report, laid out for its size,
 * without what no comparison and no rule reads. Values missing in it are absent, so a later version
 * reads it, too.
 */
#include "report/json_parts.h"
#include "report/reporter.h"

static void write_baseline(FILE *out, const struct report_subject *subject,
			   const struct tscope_report_options *options)
{
	tsi_json_document(out, subject, options, JSON_BASELINE);
}

const struct reporter tsi_reporter_baseline = {
	.format = { .name = "baseline", .readers = "diff" },
	.write_facts = write_baseline,
};
