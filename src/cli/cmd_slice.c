/* SPDX-License-Identifier: MIT */
/* tscope slice: a smaller trace for a viewer. */
#include "command.h"
#include "message.h"
#include "output.h"
#include "progress.h"

#include <string.h>

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static enum exit_code write_slice(const struct options *options, struct output *out)
{
	struct tscope_slice_options slice = {
		.trace = options->trace,
		.timeline = options->timeline,
		.has_time = options->time.is_given,
		.first_ns = options->time.first_ns,
		.last_ns = options->time.last_ns,
		.device_only = options->device_only,
		.compress = ends_with(options->output, ".gz"),
	};
	struct tscope_error err = { 0 };
	struct progress progress;
	enum tscope_status status;

	progress_start(&progress, options, &slice.trace);
	status = tscope_slice_write(out->stream, options->operands[0], &slice, &err);
	progress_stop(&progress);
	if (status != TSCOPE_OK && status != TSCOPE_E_WRITE)
		say_error(options->operands[0], &err, "");
	return output_finish(out, status);
}

static enum exit_code run_slice(const struct options *options)
{
	enum exit_code code = EXIT_CODE_OUTPUT;
	struct inputs inputs;
	struct output out;

	if (!options->output || options->operand_count != 1) {
		say(options->output ? "slice cuts one trace, not several"
				    : "slice needs a file to write: --out FILE",
		    "", "");
		return EXIT_CODE_USAGE;
	}
	if (options->time.is_given && options->timeline.has_range) {
		say("--steps and --time both say what to keep: give one", "", "");
		return EXIT_CODE_USAGE;
	}
	inputs_init(&inputs, options);
	if (output_open(&out, options->output, &inputs))
		code = write_slice(options, &out);
	inputs_deinit(&inputs);
	return code;
}

const struct command command_slice = {
	.name = "slice",
	.operands = "TRACE --out FILE",
	.summary = "a smaller trace for Perfetto: some steps or some time, with tracks of our own",
	.run = run_slice,
};
