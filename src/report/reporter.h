/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_REPORT_REPORTER_H
#define TSCOPE_REPORT_REPORTER_H

#include <tscope/report.h>

/*
 * A reporter writes facts for one kind of reader and computes nothing.
 *
 * To add one: write report_<name>.c with a `const struct reporter
 * tsi_reporter_<name>`, add REPORTER(<name>, <NAME>) to reporter_list.h with an
 * enumerator TSCOPE_REPORT_<NAME> in <tscope/report.h>, the file to
 * meson.build, and the format to man/tscope.1 (--format).
 */
struct reporter {
	/*
	 * Writes the report of count >= 1 traces. Does not look at errors of the
	 * stream: tscope_report_write() does that for all.
	 */
	void (*write)(FILE *out, const struct tscope_trace_report *reports, size_t count,
		      const struct tscope_report_options *options);
	/* Writes the report of a run, likewise. */
	void (*write_run)(FILE *out, const struct tscope_run_report *report,
			  const struct tscope_report_options *options);
	/* Writes the reports of runs that are more than one, or were meant to be, likewise. */
	void (*write_runs)(FILE *out, const struct tscope_runs_report *report,
			   const struct tscope_report_options *options);
	/* Writes the report of count >= 1 files about memory, likewise. */
	void (*write_memory)(FILE *out, const struct tscope_memory_report *reports, size_t count,
			     const struct tscope_report_options *options);
	/* Writes the report of a comparison, likewise. */
	void (*write_diff)(FILE *out, const struct tscope_diff_report *report,
			   const struct tscope_report_options *options);
};

void tsi_text_write_run(FILE *out, const struct tscope_run_report *report,
			const struct tscope_report_options *options);
void tsi_text_write_runs(FILE *out, const struct tscope_runs_report *report,
			 const struct tscope_report_options *options);
void tsi_text_write_memory(FILE *out, const struct tscope_memory_report *reports, size_t count,
			   const struct tscope_report_options *options);
void tsi_text_write_diff(FILE *out, const struct tscope_diff_report *report,
			 const struct tscope_report_options *options);
void tsi_json_write_run(FILE *out, const struct tscope_run_report *report,
			const struct tscope_report_options *options);
void tsi_json_write_runs(FILE *out, const struct tscope_runs_report *report,
			 const struct tscope_report_options *options);
void tsi_json_write_memory(FILE *out, const struct tscope_memory_report *reports, size_t count,
			   const struct tscope_report_options *options);
void tsi_json_write_diff(FILE *out, const struct tscope_diff_report *report,
			 const struct tscope_report_options *options);

/*
 * Could the file have told what the rule lacks? Of a file about memory others are not worth a
 * word: it says nothing of steps.
 */
bool tsi_is_of_memory(const struct tscope_memory_report *report,
		      const struct tscope_not_evaluated *missed);

/* Sums the diagnostics of all files of a run, by enum tscope_diagnostic. */
void tsi_run_diagnostics(const struct tscope_run *run, uint64_t counts[TSCOPE_DIAGNOSTIC_COUNT]);

#endif
