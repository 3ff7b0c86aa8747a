/* SPDX-License-Identifier: MIT */
/* tscope slice: a smaller trace for a viewer. */
#include "command.h"
#include "load_run.h"
#include "message.h"
#include "output.h"
#include "progress.h"

#include <string.h>
#include <sys/stat.h>

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* One trace, or the ranks of a run. */
static enum exit_code write_slice(const struct options *options, const struct tscope_run *run,
				  struct output *out)
{
	struct tscope_slice_options slice = {
		.trace = options->trace,
		.timeline = options->timeline,
		.has_time = options->time.is_given,
		.first_ns = options->time.first_ns,
		.last_ns = options->time.last_ns,
		.device_only = options->device_only,
		.compress = ends_with(options->output, ".gz"),
		.redact = options->redact,
		.keeps_shapes = options->keep_shapes,
	};
	struct tscope_error err = { 0 };
	struct progress progress;
	enum tscope_status status;

	progress_start(&progress, options, &slice.trace);
	if (run)
		status = tscope_slice_write_run(out->stream, run, &slice, &err);
	else
		status = tscope_slice_write(out->stream, options->operands[0], &slice, &err);
	progress_stop(&progress);
	if (status != TSCOPE_OK && status != TSCOPE_E_WRITE)
		say_error(options->operands[0], &err, "");
	return output_finish(out, status);
}

static enum exit_code slice_run(const struct options *options, const struct tscope_run *run)
{
	enum exit_code code = EXIT_CODE_OUTPUT;
	struct inputs inputs;
	struct output out;

	inputs_init(&inputs, options);
	if (run)
		inputs_add_run(&inputs, run);
	if (output_open(&out, options->output, &inputs))
		code = write_slice(options, run, &out);
	inputs_deinit(&inputs);
	return code;
}

/* Clocks and matches are those of the whole run, whatever is cut out of it. */
static enum exit_code slice_ranks(const struct options *options)
{
	struct tscope_run_options run_options = { .trace = options->trace,
						  .timeline = options->timeline,
						  .one_run = options->one_run };
	struct tscope_error err = { 0 };
	struct tscope_run *run;
	enum tscope_status status;
	enum exit_code code = EXIT_CODE_USAGE;

	run_options.timeline.has_range = false;
	status = tscope_run_open(&run, options->operands, (size_t)options->operand_count,
				 &run_options, &err);
	if (status != TSCOPE_OK) {
		say_error(options->operands[0], &err, "");
		return exit_code_of(status);
	}
	if (tscope_run_rank_count(run) > 1 || tscope_run_input_count(run) > 1) {
		/* A part is written, but is none of a whole. */
		code = judge_run(run, options);
		if (tscope_run_incomplete(run))
			code = worse(code, EXIT_CODE_INPUT);
		code = worse(code, slice_run(options, run));
	} else
		say("slice: one rank has no others to be merged with: give its trace", "", "");
	tscope_run_free(run);
	return code;
}

static bool is_folder(const char *path)
{
	struct stat about;

	return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static enum exit_code run_slice(const struct options *options)
{
	const char *wrong = NULL;

	if (!options->output)
		wrong = "slice needs a file to write: --out FILE";
	else if (options->time.is_given && options->timeline.has_range)
		wrong = "--steps and --time both say what to keep: give one";
	else if (options->keep_shapes && !options->redact)
		wrong = "--keep-shapes only works with --redact";
	else if (options->operand_count == 0)
		wrong = "slice needs a trace, or those of several ranks";
	if (wrong) {
		say(wrong, "", "");
		return EXIT_CODE_USAGE;
	}
	if (options->operand_count > 1 || is_folder(options->operands[0]))
		return slice_ranks(options);
	return slice_run(options, NULL);
}

const struct command command_slice = {
	.name = "slice",
	.operands = "TRACE... --out FILE",
	.summary = "a smaller trace for Perfetto: some steps, some time, or ranks on one clock",
	.run = run_slice,
};
