/* SPDX-License-Identifier: MIT */
/*
 * One table holds every option: its name, the commands that take it, its help
 * and how its value is read. The parser, the project file, --help and completion
 * walk it, so that an option is one row.
 */
#include "option_table.h"

#include "option_values.h"
#include "options.h"

#include <stddef.h>
#include <string.h>

#define FIELD(name) offsetof(struct options, name)
#define JUDGES "trace, memory, hang, report, diff, trend, export"
#define READERS JUDGES ", map, merge, slice"
#define REPORTERS "trace, memory, hang, report, diff, trend"
#define TRACE_READERS "trace, report, diff, export, map"
#define TRACE_REPORTERS "trace, report, diff"
#define RUN_REPORTERS "report, diff"
#define RUN_READERS "report, diff, export"

/*
 * Not in a project file: what writes files, gives up protection, or belongs to one call. Whoever
 * runs tscope in somebody's repository lets its project file decide about the report only.
 */
#define TYPED_ONLY                                                                                 \
	"list-facts, devices, out, output, to, files-from, shard, name, time, events, force, "     \
	"flamegraph, by, under, show, quiet, rank, no-sandbox, config, no-config, version, help"

/* In the order of --help. */
const struct option_row option_rows[] = {
	{ "trace, memory, hang, report, export", "fail-on", "GATE",
	  "exit 1 if it trips: mfu<0.35, DIST.STRAGGLER (repeatable)", parse_value, FIELD(gates),
	  tscope_gate_check },
	{ "diff", "fail-on", "GATE", "exit 1 if it trips: mfu<-2%, new-finding (repeatable)",
	  parse_value, FIELD(gates), tscope_gate_check_change },
	{ "trend", "fail-on", "GATE",
	  "exit 1 if it trips: step_time.mean_ns>+3% of trend (repeatable)", parse_value,
	  FIELD(gates), tscope_gate_check_change },
	{ "trend", "last", "N", "good runs that make the trend (default: 20)",
	  parse_positive_unsigned, FIELD(trend_runs), NULL },
	{ "diff, trend", "no-significance", NULL,
	  "gates on changes trip on those within noise, too", parse_flag, FIELD(no_significance),
	  NULL },
	{ JUDGES, "undecided", "VERDICT", "gates that cannot tell: fail (default) or pass",
	  parse_undecided, FIELD(undecided_pass), NULL },
	{ JUDGES, "rule", "CHANGE", "ID=off|low|med|high or ID.threshold=X (repeatable)",
	  parse_value, FIELD(rule_changes), tscope_rule_change_check },
	{ "diff", "tolerance", "X", "losses are equal up to this relative difference",
	  parse_tolerance, FIELD(loss_tolerance), NULL },
	{ "diff", "baseline", "PATH", "side A, where one path is given: diff RUN", parse_text,
	  FIELD(baseline), NULL },
	{ "diff, trend", "all", NULL, "also what did not change, or matters little", parse_flag,
	  FIELD(all), NULL },
	{ "report", "list-facts", NULL, "print every fact with its unit and meaning", parse_flag,
	  FIELD(list_facts), NULL },
	{ "rules", "devices", NULL, "print the peaks of all devices, and their sources", parse_flag,
	  FIELD(devices), NULL },
	{ "export, map", "out", "DIR", "the folder to write into", parse_text, FIELD(folder),
	  NULL },
	{ "slice", "out", "FILE", "the trace to write: .json, or .json.gz compressed", parse_text,
	  FIELD(output), NULL },
	{ "merge", "out", "FILE", "the file of records to write (.tsr)", parse_text, FIELD(output),
	  NULL },
	{ "slice", "time", "A:B", "only what overlaps this time: ts of the file, in us", parse_time,
	  FIELD(time), NULL },
	{ "slice", "device-only", NULL, "no events of the host", parse_flag, FIELD(device_only),
	  NULL },
	{ "slice", "redact", "PASSPHRASE", "hash names, paths and stacks that are not PyTorch's",
	  parse_text, FIELD(redact), NULL },
	{ "slice", "keep-shapes", NULL, "with --redact: shapes of tensors stay", parse_flag,
	  FIELD(keep_shapes), NULL },
	{ "export", "to", "FILE.sqlite|csv:DIR", "append to a database, or write CSV files",
	  parse_text, FIELD(tables), NULL },
	{ "export", "events", NULL, "with --to: every span of the traces, too", parse_flag,
	  FIELD(events), NULL },
	{ "map", "files-from", "FILE", "map the files that FILE lists, one a line (-: stdin)",
	  parse_text, FIELD(files_from), NULL },
	{ "map", "shard", "I/N", "files I, I+N, I+2N, ... of all, counted from 0", parse_shard,
	  FIELD(shard), NULL },
	{ "map", "name", "PATH", "what standard input is called: a path that says its rank",
	  parse_text, FIELD(input_name), NULL },
	{ READERS, "force", NULL, "replace read-only files; export, map: files that exist",
	  parse_flag, FIELD(force), NULL },
	{ REPORTERS, "format", "FORMAT[=FILE]", NULL, parse_format, FIELD(formats), NULL },
	{ REPORTERS, "output", "FILE", "write the report to FILE, whole or not at all", parse_text,
	  FIELD(output), NULL },
	{ REPORTERS, "tag", "KEY=TEXT", "for metrics: run=, time= or commit= (repeatable)",
	  parse_tag, FIELD(tags), NULL },
	{ REPORTERS, "top", "N", "rows of each ranking (default: 10)", parse_count, FIELD(top),
	  NULL },
	{ REPORTERS, "full", NULL, "all sections, not one screen; json: all rows", parse_flag,
	  FIELD(full), NULL },
	{ REPORTERS, "show", "LIST", "only these sections: kernels,operators", parse_text,
	  FIELD(shown), tscope_report_check_sections },
	{ JUDGES ", map, merge", "quiet", NULL,
	  "only head and gates of the report; export, map: nothing", parse_flag, FIELD(quiet),
	  NULL },
	{ "report", "rank", "N", "show the sections of rank N (default: the lowest)", parse_rank,
	  FIELD(rank), NULL },
	{ "report", "ranks", "WHICH",
	  "json: facts of all ranks, of outliers, or summary (default above 64)", parse_ranks,
	  FIELD(ranks), NULL },
	{ "trace, memory, report", "verbose", NULL,
	  "all sections, files ignored, rules without data", parse_flag, FIELD(verbose), NULL },
	{ REPORTERS, "color", "WHEN", "auto (default), always or never", parse_color, FIELD(color),
	  NULL },
	{ REPORTERS, "no-pager", NULL, "print what is taller than the terminal, too", parse_flag,
	  FIELD(no_pager), NULL },
	{ READERS, "progress", "WHEN", "auto (default) or never", parse_progress, FIELD(progress),
	  NULL },
	{ REPORTERS ", export, map", "strict", NULL,
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
	{ RUN_READERS, "quorum", "PERCENT", "ranks that a step needs to count (default: 99)",
	  parse_quorum, FIELD(analysis.quorum_percent), NULL },
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
	{ "trace, report", "by", "WHAT", "time by module, source, operator, kernel or category",
	  parse_grouping, FIELD(analysis.by), NULL },
	{ "trace, report", "under", "NAME", "with --by: only what is in this module or function",
	  parse_text, FIELD(analysis.under), NULL },
	{ "trace", "flamegraph-by", "WHAT", "device or host time, or bytes (default: device)",
	  parse_stack_weight, FIELD(flamegraph_by), NULL },
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
	{ TRACE_READERS ", slice", "memory-limit", "BYTES", "limit: what spans may take in memory",
	  parse_memory_size, FIELD(trace.memory_limit), NULL },
	{ READERS ", config", "config", "FILE", "the project file (default: .tscope.yaml, upwards)",
	  parse_text, FIELD(config), NULL },
	{ READERS ", config", "no-config", NULL, "read no project file", parse_flag,
	  FIELD(no_config), NULL },
	{ READERS, "no-sandbox", NULL, "keep the right to write files, run programs, connect",
	  parse_flag, FIELD(no_sandbox), NULL },
	{ NULL, "version", NULL, "print the version and what this build can read", parse_flag,
	  FIELD(version), NULL },
	{ NULL, "help", NULL, "print this", parse_flag, FIELD(help), NULL },
};

const size_t option_row_count = sizeof(option_rows) / sizeof(option_rows[0]);

static bool is_listed(const char *word, const char *list)
{
	size_t length = strlen(word);
	const char *at = list;

	while (at) {
		size_t word_length = strcspn(at, ",");

		if (word_length == length && strncmp(at, word, length) == 0)
			return true;
		at = at[word_length] == ',' ? at + word_length + 2 : NULL;
	}
	return false;
}

bool option_is_taken(const struct option_row *row, const char *command)
{
	return !row->commands || is_listed(command, row->commands);
}

bool option_is_repeatable(const struct option_row *row)
{
	return row->parse == parse_value || row->parse == parse_scalar;
}

const struct option_row *option_find(const char *name, const char *command)
{
	const struct option_row *found = NULL;
	size_t length = strcspn(name, "=");

	for (size_t i = 0; i < option_row_count; i++) {
		if (strlen(option_rows[i].name) != length ||
		    strncmp(option_rows[i].name, name, length) != 0)
			continue;
		if (!found || option_is_taken(&option_rows[i], command))
			found = &option_rows[i];
	}
	return found;
}

bool option_is_typed_only(const struct option_row *row)
{
	return is_listed(row->name, TYPED_ONLY);
}

void options_print_help(FILE *out, const char *command)
{
	for (size_t i = 0; i < option_row_count; i++) {
		char option[40];

		if (!option_is_taken(&option_rows[i], command))
			continue;
		snprintf(option, sizeof(option), "--%s%s%s", option_rows[i].name,
			 option_rows[i].value ? " " : "",
			 option_rows[i].value ? option_rows[i].value : "");
		fprintf(out, "  %-25s%s\n", option,
			option_rows[i].help ? option_rows[i].help
					    : list_formats("\n                           "));
	}
}

void options_print_names(FILE *out, const char *command, const char *start)
{
	for (size_t i = 0; i < option_row_count; i++) {
		char option[40];

		snprintf(option, sizeof(option), "--%s", option_rows[i].name);
		if (option_is_taken(&option_rows[i], command) &&
		    strncmp(option, start, strlen(start)) == 0)
			fprintf(out, "%s\t%s\n", option,
				option_rows[i].help ? option_rows[i].help : list_formats(" "));
	}
}

const char *options_value_name(const char *option, const char *command)
{
	const struct option_row *row =
		strncmp(option, "--", 2) == 0 ? option_find(option + 2, command) : NULL;

	return row && option_is_taken(row, command) ? row->value : NULL;
}
