/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_REPORT_H
#define TSCOPE_REPORT_H

#include <stdio.h>
#include <tscope/analysis.h>
#include <tscope/diff.h>
#include <tscope/gate.h>
#include <tscope/hang.h>
#include <tscope/memory.h>
#include <tscope/run.h>

/*
 * Reports: the facts of traces, of a run or of files about memory for a reader, in one of several
 * formats. They compute nothing.
 *
 * Formats are known by their index; these two are always there.
 */
enum {
	TSCOPE_REPORT_TEXT = 0,
	TSCOPE_REPORT_JSON = 1,
};

/* The rank whose own sections a report of a run shows: by default the lowest. */
struct tscope_rank_choice {
	bool is_chosen;
	unsigned number;
};

/* How much of a report is written (text). */
enum tscope_report_extent {
	TSCOPE_REPORT_SCREEN, /* one screen: the verdict, what to do, where the step goes, gates */
	TSCOPE_REPORT_BRIEF,  /* the head with what is damaged, and the gates */
	TSCOPE_REPORT_FULL,   /* all sections */
};

/* Whose facts the JSON of a run of several ranks holds, besides those of the lowest. */
enum tscope_report_ranks {
	TSCOPE_RANKS_DEFAULT, /* all, of more than 64 none; with all_rows all */
	TSCOPE_RANKS_ALL,
	TSCOPE_RANKS_OUTLIERS, /* those that facts of the run name: late, slow, least waiting */
	TSCOPE_RANKS_SUMMARY,  /* none */
};

struct tscope_report_options {
	size_t format;
	enum tscope_report_extent extent;
	const char *shown; /* "kernels,operators": only these sections; NULL: all of the extent */
	struct tscope_rank_choice rank; /* text; of a run that lacks it: the default */
	enum tscope_report_ranks ranks;
	bool color;          /* escapes for a terminal (text) */
	bool ascii;          /* no characters beyond ASCII (text) */
	unsigned width;      /* columns of the terminal; 0: 80 */
	unsigned rows;       /* of the terminal; of longer text the verdict is repeated; 0: no */
	size_t top;          /* rows of a ranking (tables by_…); 0: 10, within a run's text 5 */
	bool all_rows;       /* of all tables, unless top says how many (JSON) */
	bool verbose;        /* also the files that were ignored, and why (run) */
	bool all;            /* also what did not change, or matters little (diff, text) */
	bool undecided_pass; /* undecided gates do not fail the job (junit, github, sarif) */
	/* Labels of the run in a history; NULL: its path, its start, and no commit. */
	const char *run_tag, *time_tag, *commit_tag;
};

struct tscope_report_format {
	const char *name;    /* "text" */
	const char *readers; /* "people": whom it is for */
	bool draws;          /* what tscope_timeline_options.keeps_causes keeps */
};

/* By its index; NULL: there are no more formats. */
const struct tscope_report_format *tscope_report_format(size_t format);

/* A name → its format; false: no such format. */
bool tscope_report_format_parse(const char *name, size_t *format);

enum { TSCOPE_SECTION_NAME_MAX = 32 }; /* room for any, with its NUL */

/* The name of a section by its index: "critical-path". Returns false if there are no more. */
bool tscope_report_section(size_t section, char name[TSCOPE_SECTION_NAME_MAX]);

/* Are all names of a list "kernels,critical-path" sections of some report? The error names one. */
enum tscope_status tscope_report_check_sections(const char *names, struct tscope_error *err);

/* Can each format write every report? TSCOPE_E_INTERNAL names one that cannot: a bug of ours. */
enum tscope_status tscope_report_check(struct tscope_error *err);

/* A trace to report on. Gates are in the order of the command line. */
struct tscope_trace_report {
	const struct tscope_analysis *analysis;
	const struct tscope_diagnosis *diagnosis;
	const struct tscope_gate_result *gates;
	size_t gate_count;
};

/*
 * Writes the report of `count` traces to out. Strings of the input are
 * escaped for where they go. TSCOPE_E_WRITE if out refuses; TSCOPE_E_NOMEM: what was written, of
 * most formats nothing, is no report. Does not flush.
 */
enum tscope_status tscope_report_write(FILE *out, const struct tscope_trace_report *reports,
				       size_t count, const struct tscope_report_options *options,
				       struct tscope_error *err);

/* A run to report on. */
struct tscope_run_report {
	const struct tscope_run *run;
	const struct tscope_diagnosis *diagnosis;
	const struct tscope_gate_result *gates;
	size_t gate_count;
};

/* Writes the report of a run; options and failures as above. */
enum tscope_status tscope_report_write_run(FILE *out, const struct tscope_run_report *report,
					   const struct tscope_report_options *options,
					   struct tscope_error *err);

/* Several runs to report on, each with its own report, in the same order. */
struct tscope_runs_report {
	const struct tscope_runs *runs;
	const struct tscope_run_report *reports;
};

/*
 * Writes the reports of several runs, one after another; that of a single one is what
 * tscope_report_write_run() writes. Options and failures as above.
 */
enum tscope_status tscope_report_write_runs(FILE *out, const struct tscope_runs_report *report,
					    const struct tscope_report_options *options,
					    struct tscope_error *err);

/* A file about memory to report on. */
struct tscope_memory_report {
	const struct tscope_memory *memory;
	const struct tscope_analysis *analysis;
	const struct tscope_diagnosis *diagnosis;
	const struct tscope_gate_result *gates;
	size_t gate_count;
};

/* Writes the report of `count` files about memory; options and failures as above. */
enum tscope_status tscope_report_write_memory(FILE *out, const struct tscope_memory_report *reports,
					      size_t count,
					      const struct tscope_report_options *options,
					      struct tscope_error *err);

/* Flight-recorder dumps to report on. */
struct tscope_hang_report {
	const struct tscope_hang *hang;
	const struct tscope_analysis *analysis;
	const struct tscope_diagnosis *diagnosis;
	const struct tscope_gate_result *gates;
	size_t gate_count;
};

/* Writes the report of dumps; options and failures as above. */
enum tscope_status tscope_report_write_hang(FILE *out, const struct tscope_hang_report *report,
					    const struct tscope_report_options *options,
					    struct tscope_error *err);

/* A comparison to report on. */
struct tscope_diff_report {
	const struct tscope_diff *diff;
	const struct tscope_gate_result *gates;
	size_t gate_count;
};

/* Writes the report of a comparison; options and failures as above. */
enum tscope_status tscope_report_write_diff(FILE *out, const struct tscope_diff_report *report,
					    const struct tscope_report_options *options,
					    struct tscope_error *err);

/*
 * Writes a text that comes from an input (a name, a path, the message of an
 * error) so that it can do no harm to a terminal: controls, marks that turn the
 * direction of writing and bytes that are no UTF-8 become visible escapes.
 */
void tscope_write_escaped(FILE *out, const char *text);

enum tscope_stack_weight {
	TSCOPE_STACKS_TIME,   /* of devices, or without devices of threads */
	TSCOPE_STACKS_DEVICE, /* by modules around, operator and kernel, in ns */
	TSCOPE_STACKS_HOST,   /* of threads by modules, function and operators, in ns */
	/* Bytes that operators must move at least, as far as it is known, and those of copies. */
	TSCOPE_STACKS_BYTES,
};

/*
 * Writes stacks for flame graph tools, of the analysis of an open trace, "outer;…;inner number" a
 * line. TSCOPE_E_FORMAT: it has neither devices nor operators; TSCOPE_E_WRITE.
 */
enum tscope_status tscope_analysis_write_stacks(FILE *out, const struct tscope_analysis *analysis,
						enum tscope_stack_weight weight,
						struct tscope_error *err);

#endif
