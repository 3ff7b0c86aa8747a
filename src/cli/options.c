/* SPDX-License-Identifier: MIT */
/*
 * One table holds every option: its name, the commands that take it, its help
 * and how its value is read. The parser and --help walk it, so that an option
 * is one row.
 */
#include "options.h"

#include "message.h"
#include "option_values.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct option_row {
	const char *commands; /* those that take it, separated by ", "; NULL: all */
	const char *name;     /* without its dashes */
	const char *value;    /* what it takes, as --help calls it; NULL: it takes nothing */
	const char *help;     /* NULL: the formats of reports */
	/* Sets the field of struct options at `offset`. Returns NULL, or what is expected. */
	const char *(*parse)(const char *text, void *field);
	size_t offset;
	/* Explains what is wrong with a value; NULL: the parser's message suffices. */
	enum tscope_status (*check)(const char *text, struct tscope_error *err);
};

#define FIELD(name) offsetof(struct options, name)
#define JUDGES "trace, memory, hang, report, diff, export"
#define READERS JUDGES ", map, slice"
#define REPORTERS "trace, memory, hang, report, diff"
#define TRACE_READERS "trace, report, diff, export, map"
#define TRACE_REPORTERS "trace, report, diff"
#define RUN_REPORTERS "report, diff"
#define RUN_READERS "report, diff, export"

/* In the order of --help. */
static const struct option_row rows[] = {
	{ "trace, memory, hang, report, export", "fail-on", "GATE",
	  "exit 1 if it trips: mfu<0.35, DIST.STRAGGLER (repeatable)", parse_value, FIELD(gates),
	  tscope_gate_check },
	{ "diff", "fail-on", "GATE", "exit 1 if it trips: mfu<-2%, new-finding (repeatable)",
	  parse_value, FIELD(gates), tscope_gate_check_change },
	{ "diff", "no-significance", NULL, "gates on changes trip on those within noise, too",
	  parse_flag, FIELD(no_significance), NULL },
	{ JUDGES, "undecided", "VERDICT", "gates that cannot tell: fail (default) or pass",
	  parse_undecided, FIELD(undecided_pass), NULL },
	{ JUDGES, "rule", "CHANGE", "ID=off|low|med|high or ID.threshold=X (repeatable)",
	  parse_value, FIELD(rule_changes), tscope_rule_change_check },
	{ "diff", "tolerance", "X", "losses are equal up to this relative difference",
	  parse_tolerance, FIELD(loss_tolerance), NULL },
	{ "diff", "all", NULL, "also what did not change, or matters little", parse_flag,
	  FIELD(all), NULL },
	{ "report", "list-facts", NULL, "print every fact with its unit and meaning", parse_flag,
	  FIELD(list_facts), NULL },
	{ "rules", "devices", NULL, "print the peaks of all devices, and their sources", parse_flag,
	  FIELD(devices), NULL },
	{ "export, map", "out", "DIR", "the folder to write into", parse_text, FIELD(folder),
	  NULL },
	{ "slice", "out", "FILE", "the trace to write: .json, or .json.gz compressed", parse_text,
	  FIELD(output), NULL },
	{ "slice", "time", "A:B", "only what overlaps this time: ts of the file, in us", parse_time,
	  FIELD(time), NULL },
	{ "slice", "device-only", NULL, "no events of the host", parse_flag, FIELD(device_only),
	  NULL },
	{ "export", "to", "FILE.sqlite|csv:DIR", "append to a database, or write CSV files",
	  parse_text, FIELD(tables), NULL },
	{ "export", "events", NULL, "with --to: every span of the traces, too", parse_flag,
	  FIELD(events), NULL },
	{ "map", "files-from", "FILE", "map the files that FILE lists, one a line (-: stdin)",
	  parse_text, FIELD(files_from), NULL },
	{ "map", "shard", "I/N", "files I, I+N, I+2N, ... of all, counted from 0", parse_shard,
	  FIELD(shard), NULL },
	{ READERS, "force", NULL, "replace read-only files; export, map: files that exist",
	  parse_flag, FIELD(force), NULL },
	{ REPORTERS, "format", "FORMAT[=FILE]", NULL, parse_format, FIELD(formats), NULL },
	{ REPORTERS, "output", "FILE", "write the report to FILE, whole or not at all", parse_text,
	  FIELD(output), NULL },
	{ REPORTERS, "top", "N", "rows of each ranking (default: 10)", parse_count, FIELD(top),
	  NULL },
	{ REPORTERS, "full", NULL, "all sections, not one screen; json: all rows", parse_flag,
	  FIELD(full), NULL },
	{ REPORTERS, "show", "LIST", "only these sections: kernels,operators", parse_text,
	  FIELD(shown), tscope_report_check_sections },
	{ JUDGES ", map", "quiet", NULL, "only head and gates of the report; export, map: nothing",
	  parse_flag, FIELD(quiet), NULL },
	{ "report", "rank", "N", "show the sections of rank N (default: the lowest)", parse_rank,
	  FIELD(rank), NULL },
	{ "trace, memory, report", "verbose", NULL,
	  "all sections, files ignored, rules without data", parse_flag, FIELD(verbose), NULL },
	{ REPORTERS, "color", "WHEN", "auto (default), always or never", parse_color, FIELD(color),
	  NULL },
	{ READERS, "progress", "WHEN", "auto (default) or never", parse_progress, FIELD(progress),
	  NULL },
	{ REPORTERS ", export", "strict", NULL,
	  "exit 3 where any of the input is damaged or dropped", parse_flag, FIELD(strict), NULL },
	{ TRACE_READERS, "warmup", "N", "leave the first N steps out of the statistics",
	  parse_unsigned, FIELD(timeline.warmup), NULL },
	{ TRACE_READERS, "keep-cold", NULL, "count cold steps (start-up, compilation), too",
	  parse_flag, FIELD(timeline.keep_cold), NULL },
	{ TRACE_READERS ", slice", "steps", "A:B", "only the steps with these numbers", parse_steps,
	  FIELD(timeline), NULL },
	{ TRACE_READERS ", slice", "step-marker", "NAME", "spans with this name are the steps",
	  parse_text, FIELD(timeline.step_marker), NULL },
	{ TRACE_READERS, "flops-per-step", "X", "floating-point operations of a step, for MFU",
	  parse_flops, FIELD(analysis.flops_per_step), NULL },
	{ TRACE_READERS, "model", "SIZES", "the model, for MFU: gpt:layers=32,hidden=4096,...",
	  parse_model, FIELD(analysis.model), check_model },
	{ TRACE_READERS, "peak-tflops", "X", "the most that the device can do, in TFLOP/s, for MFU",
	  parse_tflops, FIELD(analysis.peak_flops), NULL },
	{ RUN_READERS, "one-run", NULL, "take the files for one run, whatever speaks against it",
	  parse_flag, FIELD(one_run), NULL },
	{ RUN_READERS, "scalar", "ROLE=NAME", "the metric that is the loss, ... (repeatable)",
	  parse_scalar, FIELD(analysis.scalars), check_scalar },
	{ RUN_REPORTERS, "pipeline-stages", "N", "the ranks are N stages of a pipeline",
	  parse_positive_unsigned, FIELD(analysis.pipeline_stages), NULL },
	{ RUN_REPORTERS, "microbatches", "N", "microbatches of a step, for the ideal bubble",
	  parse_positive_unsigned, FIELD(analysis.microbatches), NULL },
	{ "memory, diff", "stack-depth", "N", "frames in an allocation site (default: 1)",
	  parse_positive_unsigned, FIELD(analysis.stack_depth), NULL },
	{ "memory", "stack-filter", "TEXT", "name only sites whose stack holds TEXT", parse_text,
	  FIELD(analysis.stack_filter), NULL },
	{ "trace, memory", "flamegraph", "FILE", "write stacks for flame graphs", parse_text,
	  FIELD(flamegraph), NULL },
	{ "memory", "flamegraph-at", "WHEN", "peak (default) or end", parse_moment,
	  FIELD(flamegraph_at), NULL },
	{ TRACE_REPORTERS ", map", "python", NULL, "keep Python frames and analyse them",
	  parse_flag, FIELD(trace.python), NULL },
	{ READERS, "threads", "N", "threads that may work (default: as many as help)",
	  parse_unsigned, FIELD(trace.thread_count), NULL },
	{ READERS, "block-size", "BYTES", "bytes per read; the report is the same for any",
	  parse_memory_size, FIELD(trace.block_bytes), NULL },
	{ READERS, "max-memory", "BYTES", "limit: memory in all (default: 3/4 of what there is)",
	  parse_file_size, FIELD(max_memory), NULL },
	{ READERS, "max-output-bytes", "BYTES", "limit: size of the input after decompression",
	  parse_file_size, FIELD(trace.max_output_bytes), NULL },
	{ TRACE_READERS ", slice", "max-event-bytes", "BYTES", "limit: length of one event",
	  parse_file_size, FIELD(trace.max_event_bytes), NULL },
	{ TRACE_READERS ", slice", "max-depth", "N", "limit: nesting of JSON values",
	  parse_unsigned, FIELD(trace.max_depth), NULL },
	{ TRACE_READERS ", slice", "max-names", "N", "limit: distinct names", parse_count,
	  FIELD(trace.max_names), NULL },
	{ TRACE_READERS ", slice", "memory-limit", "BYTES",
	  "limit: what spans may take; operators go first", parse_memory_size,
	  FIELD(trace.memory_limit), NULL },
	{ READERS, "no-sandbox", NULL, "keep the right to write files, run programs, connect",
	  parse_flag, FIELD(no_sandbox), NULL },
	{ NULL, "version", NULL, "print the version and what this build can read", parse_flag,
	  FIELD(version), NULL },
	{ NULL, "help", NULL, "print this", parse_flag, FIELD(help), NULL },
};

enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

/* Whether the command takes this option. */
static bool is_taken(const struct option_row *row, const char *command)
{
	size_t length = strlen(command);
	const char *at = row->commands;

	while (at) {
		size_t word_length = strcspn(at, ",");

		if (word_length == length && strncmp(at, command, length) == 0)
			return true;
		at = at[word_length] == ',' ? at + word_length + 2 : NULL;
	}
	return !row->commands;
}

/* The row of "name" or "name=value": the command's own, or else another command's, or NULL. */
static const struct option_row *find_row(const char *name, const char *command)
{
	const struct option_row *found = NULL;
	size_t length = strcspn(name, "=");

	for (size_t i = 0; i < ROW_COUNT; i++) {
		if (strlen(rows[i].name) != length || strncmp(rows[i].name, name, length) != 0)
			continue;
		if (!found || is_taken(&rows[i], command))
			found = &rows[i];
	}
	return found;
}

static bool fail_unknown(const char *name, const char *command)
{
	char word[40];
	struct guess guess = { .word = word };

	snprintf(word, sizeof(word), "%.*s", (int)strcspn(name, "="), name);
	for (size_t i = 0; i < ROW_COUNT; i++)
		if (is_taken(&rows[i], command))
			guess_consider(&guess, rows[i].name);
	say_unknown("option", "--", &guess);
	return false;
}

static bool fail_not_taken(const struct option_row *row)
{
	char text[80], owners[120] = "";

	/* The option of one name may have several rows. */
	for (size_t i = 0, length = 0; i < ROW_COUNT; i++) {
		if (strcmp(rows[i].name, row->name) == 0)
			length += (size_t)snprintf(owners + length, sizeof(owners) - length, "%s%s",
						   length > 0 ? ", " : "", rows[i].commands);
	}
	snprintf(text, sizeof(text), "--%s only works with tscope ", row->name);
	say(text, owners, "");
	return false;
}

static bool fail_value(const struct option_row *row, const struct tscope_error *err)
{
	char option[40];

	snprintf(option, sizeof(option), "--%s", row->name);
	say_error(option, err, "");
	return false;
}

/* Reads the option at arguments[*i]; *i moves on where its value is the next argument. */
static bool parse_option(struct options *options, const char *command, int count, char **arguments,
			 int *i)
{
	const char *name = arguments[*i] + 2;
	const struct option_row *row = find_row(name, command);
	const char *value = strchr(name, '=');
	struct tscope_error err;
	const char *expected;

	if (!row)
		return fail_unknown(name, command);
	if (!is_taken(row, command))
		return fail_not_taken(row);
	if (value)
		value++;
	else if (row->value && *i + 1 < count)
		value = arguments[++*i];
	if (row->value && !value) {
		say("--", row->name, " needs a value");
		return false;
	}
	if (!row->value && value) {
		say("--", row->name, " takes no value");
		return false;
	}
	if (row->check && row->check(value, &err) != TSCOPE_OK)
		return fail_value(row, &err);
	expected = row->parse(value, (char *)options + row->offset);
	if (expected)
		say_value(row->name, value, expected);
	return !expected;
}

static bool parse_arguments(struct options *options, const char *command, int count,
			    char **arguments)
{
	bool may_be_option = true;

	for (int i = 0; i < count; i++) {
		char *argument = arguments[i];

		if (may_be_option && strcmp(argument, "--") == 0) {
			may_be_option = false;
		} else if (may_be_option && strncmp(argument, "--", 2) == 0) {
			if (!parse_option(options, command, count, arguments, &i))
				return false;
		} else if (may_be_option && strcmp(argument, "-h") == 0) {
			options->help = true;
		} else if (may_be_option && strcmp(argument, "-v") == 0) {
			if (!parse_option(options, command, 1, (char *[]){ "--verbose" },
					  &(int){ 0 }))
				return false;
		} else if (may_be_option && argument[0] == '-' && argument[1] != '\0') {
			say("unknown option ", argument, "; options have two dashes");
			return false;
		} else {
			arguments[options->operand_count++] = argument;
		}
	}
	options->analysis.python = options->trace.python;
	return true;
}

enum exit_code options_parse(struct options *options, const char *command, int count,
			     char **arguments)
{
	size_t room = (size_t)count + 1;

	*options = (struct options){ .operands = arguments };
	options->gates.items = calloc(room, sizeof(*options->gates.items));
	options->rule_changes.items = calloc(room, sizeof(*options->rule_changes.items));
	options->formats.files = calloc(room, sizeof(*options->formats.files));
	if (!options->gates.items || !options->rule_changes.items || !options->formats.files) {
		say_nomem();
		return EXIT_CODE_INTERNAL;
	}
	if (!parse_arguments(options, command, count, arguments)) {
		say("'tscope help ", command, "' lists the options");
		return EXIT_CODE_USAGE;
	}
	return EXIT_CODE_OK;
}

void options_deinit(struct options *options)
{
	free(options->gates.items);
	free(options->rule_changes.items);
	free(options->formats.files);
	options->formats = (struct option_formats){ 0 };
	options->gates = options->rule_changes = (struct option_values){ 0 };
}

void options_print_help(FILE *out, const char *command)
{
	for (size_t i = 0; i < ROW_COUNT; i++) {
		char option[40];

		if (!is_taken(&rows[i], command))
			continue;
		snprintf(option, sizeof(option), "--%s%s%s", rows[i].name, rows[i].value ? " " : "",
			 rows[i].value ? rows[i].value : "");
		fprintf(out, "  %-25s%s\n", option,
			rows[i].help ? rows[i].help
				     : list_formats("\n                           "));
	}
}

void options_print_names(FILE *out, const char *command, const char *start)
{
	for (size_t i = 0; i < ROW_COUNT; i++) {
		char option[40];

		snprintf(option, sizeof(option), "--%s", rows[i].name);
		if (is_taken(&rows[i], command) && strncmp(option, start, strlen(start)) == 0)
			fprintf(out, "%s\t%s\n", option,
				rows[i].help ? rows[i].help : list_formats(" "));
	}
}

const char *options_value_name(const char *option, const char *command)
{
	const struct option_row *row =
		strncmp(option, "--", 2) == 0 ? find_row(option + 2, command) : NULL;

	return row && is_taken(row, command) ? row->value : NULL;
}
