/* SPDX-License-Identifier: MIT */
/*
 * The public door of the reporters: finds the one asked for and lets it write.
 */
#include "report/reporter.h"

#include "base/attributes.h"
#include "base/error.h"

#include <string.h>

#define REPORTER(name, id) extern const struct reporter tsi_reporter_##name;
#include "report/reporter_list.h"
#undef REPORTER

static const struct {
	const char *name;
	const struct reporter *reporter;
} reporters[] = {
#define REPORTER(name, id) [TSCOPE_REPORT_##id] = { #name, &tsi_reporter_##name },
#include "report/reporter_list.h"
#undef REPORTER
};

bool tscope_report_format_parse(const char *name, enum tscope_report_format *format)
{
	for (size_t i = 0; i < TSI_COUNT_OF(reporters); i++) {
		if (strcmp(name, reporters[i].name) == 0) {
			*format = (enum tscope_report_format)i;
			return true;
		}
	}
	return false;
}

static enum tscope_status check_stream(FILE *out, struct tscope_error *err)
{
	if (ferror(out))
		return tsi_fail(err, TSCOPE_E_WRITE, "cannot write the report");
	return TSCOPE_OK;
}

enum tscope_status tscope_report_write(FILE *out, const struct tscope_trace_report *reports,
				       size_t count, const struct tscope_report_options *options,
				       struct tscope_error *err)
{
	if (count > 0)
		reporters[options->format].reporter->write(out, reports, count, options);
	return check_stream(out, err);
}

enum tscope_status tscope_report_write_run(FILE *out, const struct tscope_run_report *report,
					   const struct tscope_report_options *options,
					   struct tscope_error *err)
{
	reporters[options->format].reporter->write_run(out, report, options);
	return check_stream(out, err);
}

enum tscope_status tscope_report_write_runs(FILE *out, const struct tscope_runs_report *report,
					    const struct tscope_report_options *options,
					    struct tscope_error *err)
{
	const struct reporter *reporter = reporters[options->format].reporter;

	if (tscope_runs_count(report->runs) == 1 && tscope_runs_other_count(report->runs) == 0)
		reporter->write_run(out, &report->reports[0], options);
	else
		reporter->write_runs(out, report, options);
	return check_stream(out, err);
}

enum tscope_status tscope_report_write_memory(FILE *out, const struct tscope_memory_report *reports,
					      size_t count,
					      const struct tscope_report_options *options,
					      struct tscope_error *err)
{
	if (count > 0)
		reporters[options->format].reporter->write_memory(out, reports, count, options);
	return check_stream(out, err);
}

enum tscope_status tscope_report_write_diff(FILE *out, const struct tscope_diff_report *report,
					    const struct tscope_report_options *options,
					    struct tscope_error *err)
{
	reporters[options->format].reporter->write_diff(out, report, options);
	return check_stream(out, err);
}

bool tsi_is_of_memory(const struct tscope_memory_report *report,
		      const struct tscope_not_evaluated *missed)
{
	if (!missed->fact)
		return strncmp(missed->rule->id, "MEMORY.", 7) == 0;
	return tscope_analysis_has(report->analysis, tscope_analyzer_find(missed->fact),
				   TSCOPE_WHOLE_TRACE);
}

void tsi_run_diagnostics(const struct tscope_run *run, uint64_t counts[TSCOPE_DIAGNOSTIC_COUNT])
{
	memset(counts, 0, TSCOPE_DIAGNOSTIC_COUNT * sizeof(*counts));
	for (size_t i = 0; i < tscope_run_input_count(run); i++) {
		const uint64_t *of_input = tscope_run_input(run, i).diagnostics;

		for (size_t kind = 0; of_input && kind < TSCOPE_DIAGNOSTIC_COUNT; kind++)
			counts[kind] += of_input[kind];
	}
}
