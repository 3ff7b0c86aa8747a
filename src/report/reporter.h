/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_REPORT_REPORTER_H
#define TSCOPE_REPORT_REPORTER_H

#include "report/doc.h"

#include <tscope/report.h>

/* Subject of a report: one of these, the others are NULL. */
struct report_subject {
	const struct tscope_trace_report *traces;
	const struct tscope_memory_report *files;
	size_t count; /* of traces or files, 1 or more */
	const struct tscope_hang_report *hang;
	const struct tscope_run_report *run;
	const struct tscope_runs_report *runs;
	const struct tscope_diff_report *diff;
};

/*
 * A reporter prints reports for one kind of reader and computes nothing. It does not look at errors
 * of the stream: the caller does that for all.
 *
 * To add one: write report_<name>.c with a `const struct reporter tsi_reporter_<name>`, add
 * REPORTER(<name>) to reporter_list.h, the file to meson.build, and the format to man/tscope.1
 * (--format). Every command has it then.
 */
struct reporter {
	struct tscope_report_format format;
	bool is_whole; /* its documents have all sections, unless only the head is asked for */
	size_t top;    /* rows of a ranking where the user does not say how many; 0: as in text */
	/* Prints a document (doc.h), whatever it is of. A reporter has this … */
	void (*write)(FILE *out, const struct doc *doc,
		      const struct tscope_report_options *options);
	/* … or, where the facts themselves are wanted, this: no document is made then. */
	void (*write_facts)(FILE *out, const struct report_subject *subject,
			    const struct tscope_report_options *options);
};

#define REPORTER(name) extern const struct reporter tsi_reporter_##name;
#include "report/reporter_list.h"
#undef REPORTER

/* Has each reporter one of its two functions? TSCOPE_E_INTERNAL names one that has not. */
TSI_MUST_CHECK
enum tscope_status tsi_check_reporters(const struct reporter *const *reporters, size_t count,
				       struct tscope_error *err);

/*
 * Could this kind of file have had the data that the rule lacks? For memory files other rules are
 * not listed.
 */
bool tsi_is_of_memory(const struct tscope_memory_report *report,
		      const struct tscope_not_evaluated *missed);

/* The diagnostics of a trace, by enum tscope_diagnostic. */
void tsi_trace_diagnostics(const struct tscope_trace *trace,
			   uint64_t counts[TSCOPE_DIAGNOSTIC_COUNT]);

/* Sums the diagnostics of all files of a run, by enum tscope_diagnostic. */
void tsi_run_diagnostics(const struct tscope_run *run, uint64_t counts[TSCOPE_DIAGNOSTIC_COUNT]);

#endif
