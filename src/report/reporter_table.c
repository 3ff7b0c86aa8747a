/* SPDX-License-Identifier: MIT */
/*
 * The public door of the reporters: finds the one asked for and lets it write, from a document or
 * from the facts.
 */
#include "analyze/analysis.h"
#include "report/reporter.h"
#include "report/section.h"

#include "base/error.h"

#include <string.h>

static const struct reporter *const reporters[] = {
#define REPORTER(name) &tsi_reporter_##name,
#include "report/reporter_list.h"
#undef REPORTER
};

const struct tscope_report_format *tscope_report_format(size_t format)
{
	return format < TSI_COUNT_OF(reporters) ? &reporters[format]->format : NULL;
}

bool tscope_report_format_parse(const char *name, size_t *format)
{
	for (size_t i = 0; i < TSI_COUNT_OF(reporters); i++) {
		if (strcmp(name, reporters[i]->format.name) == 0) {
			*format = i;
			return true;
		}
	}
	return false;
}

enum tscope_status tsi_check_reporters(const struct reporter *const *list, size_t count,
				       struct tscope_error *err)
{
	for (size_t i = 0; i < count; i++)
		if (!list[i]->write == !list[i]->write_facts)
			return tsi_fail(err, TSCOPE_E_INTERNAL,
					"the report format %s has %s of .write and .write_facts; "
					"it needs one",
					list[i]->format.name, list[i]->write ? "both" : "neither");
	return TSCOPE_OK;
}

enum tscope_status tscope_report_check(struct tscope_error *err)
{
	return tsi_check_reporters(reporters, TSI_COUNT_OF(reporters), err);
}

static void compose(struct doc *doc, const struct report_subject *subject,
		    const struct tscope_report_options *options)
{
	for (size_t i = 0; subject->traces && i < subject->count; i++)
		tsi_compose_trace(doc, &subject->traces[i], options);
	for (size_t i = 0; subject->files && i < subject->count; i++)
		tsi_compose_memory(doc, &subject->files[i], options);
	if (subject->hang)
		tsi_compose_hang(doc, subject->hang, options);
	if (subject->run)
		tsi_compose_run(doc, subject->run, options);
	if (subject->runs)
		tsi_compose_runs(doc, subject->runs, options);
	if (subject->diff)
		tsi_compose_diff(doc, subject->diff, options);
}

/* all: what a run computes when it is asked for is computed before any of it is written. */
static enum tscope_status run_status(const struct report_subject *subject, bool all,
				     struct tscope_error *err)
{
	const struct tscope_runs *runs = subject->runs ? subject->runs->runs : NULL;
	enum tscope_status status = TSCOPE_OK;

	if (subject->run && all)
		status = tsi_analysis_complete(tscope_run_analysis(subject->run->run), err);
	if (subject->run && status == TSCOPE_OK)
		status = tscope_run_status(subject->run->run, err);
	for (size_t i = 0; runs && status == TSCOPE_OK && i < tscope_runs_count(runs); i++)
		status = tscope_run_status(tscope_runs_get(runs, i), err);
	return status;
}

/* Facts may be computed when they are asked for; all: before any of them is written. */
static enum tscope_status analyses_status(const struct report_subject *subject, bool all,
					  struct tscope_error *err)
{
	enum tscope_status status = run_status(subject, all, err);

	for (size_t i = 0; status == TSCOPE_OK && subject->traces && i < subject->count; i++)
		status = all ? tsi_analysis_complete(subject->traces[i].analysis, err)
			     : tsi_analysis_status(subject->traces[i].analysis, err);
	return status;
}

static enum tscope_status write_document(FILE *out, const struct report_subject *subject,
					 const struct tscope_report_options *given,
					 struct tscope_error *err)
{
	const struct reporter *reporter = reporters[given->format];
	struct tscope_report_options options = *given;
	bool lacks_memory = false;
	struct doc doc = { .subject = subject, .lacks_memory = &lacks_memory };
	enum tscope_status status;

	if (reporter->is_whole && options.extent == TSCOPE_REPORT_SCREEN)
		options.extent = TSCOPE_REPORT_FULL;
	if (options.top == 0)
		options.top = reporter->top;
	compose(&doc, subject, &options);
	if (options.shown)
		tsi_show_sections(&doc, options.shown);
	status = tsi_arena_status(&doc.arena, err);
	if (status == TSCOPE_OK)
		status = analyses_status(subject, false, err);
	if (status == TSCOPE_OK)
		reporter->write(out, &doc, &options);
	tsi_arena_deinit(&doc.arena);
	return lacks_memory ? tsi_fail_nomem(err) : status;
}

static enum tscope_status write_subject(FILE *out, const struct report_subject *subject,
					const struct tscope_report_options *options,
					struct tscope_error *err)
{
	const struct reporter *reporter;
	enum tscope_status status = TSCOPE_OK;

	if (options->format >= TSI_COUNT_OF(reporters))
		return tsi_fail(err, TSCOPE_E_INTERNAL, "there is no report format %zu",
				options->format);
	reporter = reporters[options->format];
	if (!reporter->write_facts)
		status = write_document(out, subject, options, err);
	else
		status = analyses_status(subject, true, err);
	if (reporter->write_facts && status == TSCOPE_OK)
		reporter->write_facts(out, subject, options);
	if (status == TSCOPE_OK)
		status = run_status(subject, false, err);
	if (status == TSCOPE_OK && ferror(out))
		return tsi_fail(err, TSCOPE_E_WRITE, "cannot write the report");
	return status;
}

enum tscope_status tscope_report_write(FILE *out, const struct tscope_trace_report *reports,
				       size_t count, const struct tscope_report_options *options,
				       struct tscope_error *err)
{
	return count > 0
		       ? write_subject(
				 out, &(struct report_subject){ .traces = reports, .count = count },
				 options, err)
		       : TSCOPE_OK;
}

enum tscope_status tscope_report_write_run(FILE *out, const struct tscope_run_report *report,
					   const struct tscope_report_options *options,
					   struct tscope_error *err)
{
	return write_subject(out, &(struct report_subject){ .run = report }, options, err);
}

enum tscope_status tscope_report_write_runs(FILE *out, const struct tscope_runs_report *report,
					    const struct tscope_report_options *options,
					    struct tscope_error *err)
{
	if (tscope_runs_count(report->runs) == 1 && tscope_runs_other_count(report->runs) == 0)
		return tscope_report_write_run(out, &report->reports[0], options, err);
	return write_subject(out, &(struct report_subject){ .runs = report }, options, err);
}

enum tscope_status tscope_report_write_memory(FILE *out, const struct tscope_memory_report *reports,
					      size_t count,
					      const struct tscope_report_options *options,
					      struct tscope_error *err)
{
	return count > 0
		       ? write_subject(out,
				       &(struct report_subject){ .files = reports, .count = count },
				       options, err)
		       : TSCOPE_OK;
}

enum tscope_status tscope_report_write_hang(FILE *out, const struct tscope_hang_report *report,
					    const struct tscope_report_options *options,
					    struct tscope_error *err)
{
	return write_subject(out, &(struct report_subject){ .hang = report }, options, err);
}

enum tscope_status tscope_report_write_diff(FILE *out, const struct tscope_diff_report *report,
					    const struct tscope_report_options *options,
					    struct tscope_error *err)
{
	return write_subject(out, &(struct report_subject){ .diff = report }, options, err);
}

bool tsi_is_of_memory(const struct tscope_memory_report *report,
		      const struct tscope_not_evaluated *missed)
{
	if (!missed->fact)
		return strncmp(missed->rule->id, "MEMORY.", 7) == 0;
	return tscope_analysis_has(report->analysis, tscope_analyzer_find(missed->fact),
				   TSCOPE_WHOLE_TRACE);
}

void tsi_trace_diagnostics(const struct tscope_trace *trace,
			   uint64_t counts[TSCOPE_DIAGNOSTIC_COUNT])
{
	for (enum tscope_diagnostic kind = 0; kind < TSCOPE_DIAGNOSTIC_COUNT; kind++)
		counts[kind] = tscope_trace_diagnostic(trace, kind);
}

void tsi_run_diagnostics(const struct tscope_run *run, uint64_t counts[TSCOPE_DIAGNOSTIC_COUNT])
{
	memset(counts, 0, TSCOPE_DIAGNOSTIC_COUNT * sizeof(*counts));
	for (size_t i = 0; i < tscope_run_input_count(run); i++) {
		const uint64_t *input_counts = tscope_run_input(run, i).diagnostics;

		for (size_t kind = 0; input_counts && kind < TSCOPE_DIAGNOSTIC_COUNT; kind++)
			counts[kind] += input_counts[kind];
	}
}
