/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_CLI_OPTIONS_H
#define TSCOPE_CLI_OPTIONS_H

#include "exit_code.h"
#include "project_file.h"

#include <stdio.h>
#include <tscope/tscope.h>

/*
 * The options of all commands. Not every command takes each, but each means
 * the same wherever it is taken.
 */

enum when {
	WHEN_AUTO,
	WHEN_ALWAYS,
	WHEN_NEVER,
};

/* The values of an option that may be given several times, in their order. */
struct option_values {
	const char **items;
	size_t count;
};

/* --format: one report to --output or standard output, others to files of their own. */
struct option_formats {
	size_t format; /* of the one */
	bool is_given;
	struct report_file {
		size_t format;
		const char *path;
	} * files;
	size_t file_count;
};

/* An option that was given, with its value. */
struct option_setting {
	const struct option_row *row;
	const char *value; /* NULL: a flag */
	size_t line;       /* of the project file; 0: of the command line */
};

struct options {
	struct tscope_trace_options trace;
	struct tscope_timeline_options timeline;
	struct tscope_analysis_options analysis;
	struct option_values gates, rule_changes;
	struct option_formats formats;
	struct option_tags {
		const char *run, *time, *commit; /* NULL: not given */
	} tags;
	const char *output;     /* NULL: standard output */
	const char *folder;     /* of export, map; NULL: not given */
	const char *tables;     /* of export: "run.sqlite", "csv:DIR"; NULL: not given */
	const char *files_from; /* of map; NULL: not given */
	const char *input_name; /* likewise */
	struct tscope_shard shard;
	const char *flamegraph; /* NULL: not requested */
	enum tscope_memory_moment flamegraph_at;
	enum tscope_stack_weight flamegraph_by;
	enum when color, progress;
	size_t top;
	uint64_t max_memory;  /* bytes in all; 0: a share of what there is */
	char spill_lack[256]; /* why there is no trace.spill; "": there is, or none is needed */
	struct tscope_rank_choice rank;
	enum tscope_report_ranks ranks;
	const char *baseline;  /* of diff; NULL: not given */
	const char *config;    /* NULL: looked for */
	double loss_tolerance; /* of diff */
	unsigned trend_runs;   /* of trend; 0: not given */
	bool all, no_significance, one_run;
	bool undecided_pass, no_sandbox, no_config, no_pager;
	const char *shown; /* sections; NULL: not given */
	bool events;       /* of export */
	bool device_only;  /* of slice */
	bool keep_shapes;
	const char *redact; /* a passphrase; NULL: not given */
	struct time_range {
		bool is_given;
		int64_t first_ns, last_ns;
	} time; /* of slice */
	bool strict, quiet, verbose, full, force, list_facts, devices, help, version;
	const char **operands; /* arguments that are not options, and the baseline */
	int operand_count;
	struct project_file project;
	struct option_setting *settings; /* in the order of which the last one holds */
	size_t setting_count;
};

/*
 * Reads the project file and the arguments after the command's name, which goes before it.
 * Operands and options may be mixed; "--" ends the options.
 * Returns EXIT_CODE_OK, or another code after having said what is wrong; in
 * either case end with options_deinit().
 */
enum exit_code options_parse(struct options *options, const char *command, int count,
			     char **arguments);
void options_deinit(struct options *options);

/* Whether the option stands on the command line. */
bool options_are_typed(const struct options *options, const char *name);

/* The rows of the table that a command takes, for --help. */
void options_print_help(FILE *out, const char *command);

/* For completion: "--name<TAB>help" of each option of the command that begins with `start`. */
void options_print_names(FILE *out, const char *command, const char *start);

/* Name of the value of "--name", as in --help; NULL: no value, or no such option. */
const char *options_value_name(const char *option, const char *command);

#endif
