/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_REPORT_COMPOSE_H
#define TSCOPE_REPORT_COMPOSE_H

#include "report/doc.h"

#include <tscope/report.h>

/* What a report is of: one of these, the others are NULL. */
struct report_subject {
	const struct tscope_trace_report *traces;
	const struct tscope_memory_report *files;
	size_t count; /* of traces or files, 1 or more */
	const struct tscope_run_report *run;
	const struct tscope_runs_report *runs;
	const struct tscope_diff_report *diff;
};

/* Appends the whole report to a document: heads, sections, findings, gates. */
void tsi_compose(struct doc *doc, const struct report_subject *subject,
		 const struct tscope_report_options *options);

void tsi_compose_trace(struct doc *doc, const struct tscope_trace_report *report,
		       const struct tscope_report_options *options);
void tsi_compose_memory(struct doc *doc, const struct tscope_memory_report *report,
			const struct tscope_report_options *options);
void tsi_compose_run(struct doc *doc, const struct tscope_run_report *report,
		     const struct tscope_report_options *options);
void tsi_compose_runs(struct doc *doc, const struct tscope_runs_report *report,
		      const struct tscope_report_options *options);
void tsi_compose_diff(struct doc *doc, const struct tscope_diff_report *report,
		      const struct tscope_report_options *options);

#endif
