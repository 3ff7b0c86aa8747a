/* SPDX-License-Identifier: MIT */
/*
 * From the command line to a run: what `report`, `export` and `diff` begin with. A
 * file of a folder that cannot be read keeps nobody from the rest, but with
 * --strict it decides the exit code, as do damage and lost events.
 */
#include "load_run.h"

#include "loss.h"
#include "message.h"
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * Files that are not in the report. A folder may have thousands for one reason: of each reason a
 * few are named, the others counted.
 */
struct left_out {
	struct {
		const char *text; /* borrowed of the run */
		size_t count;
	} reasons[16];
	size_t reason_count;
	size_t more_count; /* for still other reasons */
};

enum { NAMED_FILES = 4 };

static void say_left_out(struct left_out *left_out, const struct tscope_run_other *other)
{
	size_t i = 0;

	while (i < left_out->reason_count && strcmp(left_out->reasons[i].text, other->reason) != 0)
		i++;
	if (i == sizeof(left_out->reasons) / sizeof(left_out->reasons[0])) {
		left_out->more_count++;
		return;
	}
	if (i == left_out->reason_count)
		left_out->reasons[left_out->reason_count++].text = other->reason;
	if (++left_out->reasons[i].count <= NAMED_FILES)
		say_about(other->path, other->reason, "; it is not in the report");
}

static void say_counts(const struct left_out *left_out)
{
	static const char rest[] = "; they are not in the report (--format json names them)";
	char text[60];

	for (size_t i = 0; i < left_out->reason_count; i++) {
		if (left_out->reasons[i].count <= NAMED_FILES)
			continue;
		snprintf(text, sizeof(text), "%zu more files for this reason: ",
			 left_out->reasons[i].count - NAMED_FILES);
		say(text, left_out->reasons[i].text, rest);
	}
	if (left_out->more_count > 0) {
		snprintf(text, sizeof(text), "%zu more files", left_out->more_count);
		say(text, " for other reasons", rest);
	}
}

static enum exit_code judge_other(struct left_out *left_out, const struct tscope_run_other *other,
				  bool is_strict)
{
	if (!other->is_problem)
		return EXIT_CODE_OK;
	say_left_out(left_out, other);
	return is_strict || other->is_named ? EXIT_CODE_INPUT : EXIT_CODE_OK;
}

/* Steps that only some ranks have are in no figure about ranks. */
static enum exit_code judge_steps(const struct tscope_run *run, bool is_strict)
{
	struct tscope_value count;
	enum tscope_unit unit;
	char text[100];

	if (!is_strict ||
	    !tscope_analysis_find(tscope_run_analysis(run), "distributed.dropped_step_count",
				  &count, &unit) ||
	    count.kind != TSCOPE_VALUE_INT || count.integer == 0)
		return EXIT_CODE_OK;
	snprintf(text, sizeof(text), "--strict, and only some ranks have %" PRId64 " step%s",
		 count.integer, count.integer == 1 ? "" : "s");
	say_about(tscope_run_input(run, 0).path, text, "");
	return EXIT_CODE_INPUT;
}

/* Whether the steps of some rank are bounded by --step-marker; so they are where none has spans. */
static bool matches_marker(const struct tscope_run *run)
{
	bool has_spans = false;

	for (size_t i = 0; i < tscope_run_rank_count(run); i++) {
		struct tscope_value boundary;

		if (!tscope_analysis_find(tscope_run_rank_analysis(run, i), "steps.boundary",
					  &boundary, NULL) ||
		    boundary.kind != TSCOPE_VALUE_TEXT)
			continue;
		has_spans = true;
		if (strcmp(boundary.text, tscope_boundary_name(TSCOPE_BOUNDARY_STEP_MARKER)) == 0)
			return true;
	}
	return !has_spans;
}

static uint64_t count_other_processes(struct tscope_run_input input)
{
	return input.diagnostics ? input.diagnostics[TSCOPE_DIAGNOSTIC_other_process] : 0;
}

const char *run_lack(const struct tscope_run *run, const struct options *options)
{
	if (options->timeline.step_marker && !matches_marker(run))
		return unmatched_marker;
	for (size_t i = 0; i < tscope_run_input_count(run); i++)
		if (count_other_processes(tscope_run_input(run, i)) > 0)
			return mixed_processes;
	if (tscope_run_incomplete(run))
		return tscope_run_incomplete(run);
	return options->gates.count > 0 ? unrecorded_steps(tscope_run_analysis(run)) : NULL;
}

/*
 * A rank whose own files are named is asked about by itself; a folder, or what was mapped of one,
 * is to hold all.
 */
const char *run_lone_rank(const struct tscope_run *run)
{
	return tscope_run_is_named(run) ? NULL : tscope_run_alone(run);
}

void say_lone_rank(const struct tscope_run *run, const struct options *options)
{
	const char *alone = run_lone_rank(run);

	if (alone && options->gates.count > 0)
		say_about(tscope_run_input(run, 0).path, alone,
			  "; pass the others, too, or name its file to judge it alone");
}

/* Names of options that match nothing in the run. */
static enum exit_code judge_names(const struct tscope_run *run, const struct options *options)
{
	static const char no_metric[] = "no metric is called ";
	const char *path = tscope_run_input(run, 0).path;
	bool is_wrong = false;

	if (options->timeline.step_marker && !matches_marker(run)) {
		say_unmatched(path, options->timeline.step_marker);
		is_wrong = true;
	}
	for (size_t i = 0; i < tscope_run_note_count(run); i++) {
		const char *note = tscope_run_note(run, i);

		if (strncmp(note, no_metric, strlen(no_metric)) != 0)
			continue;
		say_about(path, note, "");
		is_wrong = true;
	}
	return is_wrong && options->strict ? EXIT_CODE_INPUT : EXIT_CODE_OK;
}

enum exit_code judge_run(const struct tscope_run *run, const struct options *options)
{
	bool is_strict = options->strict;
	struct left_out left_out = { 0 };
	enum exit_code code =
		worse(judge_names(run, options), judge_warmup(tscope_run_input(run, 0).path,
							      tscope_run_analysis(run), options));

	for (size_t i = 0; i < tscope_run_input_count(run); i++) {
		struct tscope_run_input input = tscope_run_input(run, i);

		code = worse(code, judge_loss(input.path,
					      &(struct loss){ input.damage, input.dropped_count,
							      tscope_input_kind_unit(input.kind) },
					      is_strict));
		code = worse(code,
			     judge_processes(input.path, count_other_processes(input), is_strict));
		if (input.diagnostics)
			say_unkept(input.path, input.diagnostics[TSCOPE_DIAGNOSTIC_unkept_operator],
				   options);
	}
	for (size_t i = 0; i < tscope_run_other_count(run); i++) {
		struct tscope_run_other other = tscope_run_other(run, i);

		code = worse(code, judge_other(&left_out, &other, is_strict));
	}
	say_counts(&left_out);
	if (tscope_run_missing_ranks(run)) {
		bool is_saved = tscope_run_input(run, 0).kind == TSCOPE_INPUT_REPORT;

		say_about(tscope_run_input(run, 0).path, tscope_run_missing_ranks(run),
			  is_saved ? "" : "; pass their files, too");
		code = worse(code, is_strict ? EXIT_CODE_INPUT : EXIT_CODE_OK);
	}
	return worse(code, judge_steps(run, is_strict));
}

struct tscope_run_options load_run_options(const struct options *options)
{
	const struct tscope_rule_options rules = { options->rule_changes.items,
						   options->rule_changes.count };
	struct tscope_run_options run_options = {
		.trace = options->trace,
		.timeline = options->timeline,
		.analysis = options->analysis,
		.one_run = options->one_run,
	};

	/* The analyzer uses the rule's threshold, so that both list the same ranks. */
	run_options.analysis.slow_rank_min_excess =
		tscope_rule_value(&rules, "DIST.STRAGGLER", "threshold");
	return run_options;
}

/* State while the operands are read. */
struct loading {
	struct tscope_run_options options;
	const char *const *paths;
	size_t path_count;
	struct progress progress;
	struct tscope_error err;
};

static void begin(struct loading *loading, const struct options *options)
{
	*loading = (struct loading){
		.options = load_run_options(options),
		.paths = (const char *const *)options->operands,
		.path_count = (size_t)options->operand_count,
	};
	progress_start(&loading->progress, options, &loading->options.trace);
	loading->progress.is_of_many = true;
}

static enum exit_code end(struct loading *loading, enum tscope_status status)
{
	progress_stop(&loading->progress);
	if (status != TSCOPE_OK)
		say_error(NULL, &loading->err, ""); /* the message names the paths */
	return exit_code_of(status);
}

enum exit_code load_run(struct tscope_run **run, const struct options *options)
{
	struct loading loading;
	enum tscope_status status;
	enum exit_code code;

	*run = NULL;
	begin(&loading, options);
	status = tscope_run_open(run, loading.paths, loading.path_count, &loading.options,
				 &loading.err);
	code = end(&loading, status);
	return status == TSCOPE_OK ? judge_run(*run, options) : code;
}

enum exit_code load_runs(struct tscope_runs **runs, const struct options *options, bool on_demand)
{
	struct left_out left_out = { 0 };
	struct loading loading;
	enum tscope_status status;
	enum exit_code code;

	*runs = NULL;
	begin(&loading, options);
	loading.options.analysis.on_demand = on_demand;
	status = tscope_runs_open(runs, loading.paths, loading.path_count, &loading.options,
				  &loading.err);
	code = end(&loading, status);
	if (status != TSCOPE_OK)
		return code;
	for (size_t i = 0; i < tscope_runs_count(*runs); i++)
		code = worse(code, judge_run(tscope_runs_get(*runs, i), options));
	for (size_t i = 0; i < tscope_runs_other_count(*runs); i++) {
		struct tscope_run_other other = tscope_runs_other(*runs, i);

		code = worse(code, judge_other(&left_out, &other, options->strict));
	}
	say_counts(&left_out);
	return code;
}

enum exit_code load_judge_ranks(const struct tscope_run *run)
{
	struct tscope_error err = { 0 };
	enum tscope_status status = tscope_run_status(run, &err);

	if (status != TSCOPE_OK)
		say_error(NULL, &err, "");
	return exit_code_of(status);
}
