/* SPDX-License-Identifier: MIT */
/* One reading, several reports: each is written whole or not at all, one after another. */
#include "reports.h"

#include "output.h"
#include "terminal.h"

static enum exit_code write_one(const struct report_writer *writer, const char *path,
				const struct tscope_report_options *report_options,
				struct inputs *inputs)
{
	struct output out;
	enum exit_code code;

	if (!output_open(&out, path, inputs))
		return EXIT_CODE_OUTPUT;
	code = output_finish(&out, writer->write(out.stream, writer->subject, report_options));
	/* The next one must not replace it, whatever its path looks like. */
	if (path)
		inputs_add(inputs, path);
	return code;
}

enum exit_code reports_write(const struct report_writer *writer, struct inputs *inputs,
			     const struct options *options)
{
	struct tscope_report_options report_options = terminal_report_options(options);
	enum exit_code code = write_one(writer, options->output, &report_options, inputs);

	for (size_t i = 0; i < options->formats.file_count; i++) {
		const struct report_file *file = &options->formats.files[i];

		report_options = terminal_file_options(options, file);
		code = worse(code, write_one(writer, file->path, &report_options, inputs));
	}
	return code;
}
