/* SPDX-License-Identifier: MIT */
/* tscope merge: files of tscope map as one, such as those of a node. */
#include "command.h"
#include "message.h"
#include "output.h"

static enum exit_code write_merged(const struct tscope_merge *merge, const struct options *options)
{
	enum exit_code code = EXIT_CODE_OUTPUT;
	struct tscope_error err = { 0 };
	struct inputs inputs;
	struct output out;

	inputs_init(&inputs, options);
	for (size_t i = 0; i < tscope_merge_source_count(merge); i++)
		inputs_add(&inputs, tscope_merge_source(merge, i));
	if (output_open(&out, options->output, &inputs))
		code = output_finish(&out, tscope_merge_write(out.stream, merge, &err));
	inputs_deinit(&inputs);
	if (code == EXIT_CODE_OK && !options->quiet) {
		size_t count = tscope_merge_record_count(merge);

		tscope_write_escaped(stdout, options->output);
		printf(": %zu record%s\n", count, count == 1 ? "" : "s");
	}
	return code;
}

static enum exit_code run_merge(const struct options *options)
{
	struct tscope_error err = { 0 };
	struct tscope_merge *merge;
	enum tscope_status status;
	enum exit_code code;

	if (!options->output) {
		say("merge needs a file to write: --out FILE.tsr", "", "");
		return EXIT_CODE_USAGE;
	}
	status = tscope_merge_open(&merge, (const char *const *)options->operands,
				   (size_t)options->operand_count, &options->trace, &err);
	if (status != TSCOPE_OK) {
		say_error(NULL, &err, "; nothing was written");
		return exit_code_of(status);
	}
	code = write_merged(merge, options);
	tscope_merge_free(merge);
	return code;
}

const struct command command_merge = {
	.name = "merge",
	.operands = "FILE.tsr... --out FILE.tsr",
	.summary = "files of tscope map as one, checked, each record once",
	.run = run_merge,
};
