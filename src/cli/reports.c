/* SPDX-License-Identifier: MIT */
/* One reading, several reports: each is written whole or not at all, one after another. */
#include "reports.h"

#include "message.h"
#include "output.h"
#include "pager.h"
#include "terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static enum tscope_status write_to(FILE *out, const struct report_writer *writer,
				   const struct tscope_report_options *report_options)
{
	enum tscope_status status = writer->write(out, writer->subject, report_options);

	if (status == TSCOPE_E_NOMEM)
		say_nomem();
	return status;
}

/* False: it is not tall enough for the pager, or that cannot be run. */
static bool write_to_pager(enum tscope_status *status, const struct report_writer *writer,
			   const struct tscope_report_options *report_options)
{
	char *text = NULL;
	size_t length = 0;
	FILE *memory = open_memstream(&text, &length);
	FILE *pager;

	/* Its height alone counts: glibc's stream does not say where it has lost text. */
	if (memory) {
		(void)writer->write(memory, writer->subject, report_options);
		fclose(memory);
	}
	pager = pager_open(text ? text : "", text ? length : 0);
	free(text);
	if (!pager)
		return false;
	*status = write_to(pager, writer, report_options);
	if (*status == TSCOPE_E_WRITE) /* the reader has seen enough */
		*status = TSCOPE_OK;
	return pager_close(pager);
}

/* A report that is taller than the terminal goes through the pager, not to out. */
static enum exit_code write_paged(const struct report_writer *writer, struct output *out,
				  const struct tscope_report_options *report_options)
{
	enum tscope_status status;

	if (!write_to_pager(&status, writer, report_options))
		status = write_to(out->stream, writer, report_options);
	return output_finish(out, status);
}

static enum exit_code write_one(const struct report_writer *writer, const char *path,
				const struct tscope_report_options *report_options,
				struct inputs *inputs)
{
	struct output out;
	enum exit_code code;

	if (!output_open(&out, path, inputs))
		return EXIT_CODE_OUTPUT;
	if (!path && pager_is_ready())
		code = write_paged(writer, &out, report_options);
	else
		code = output_finish(&out, write_to(out.stream, writer, report_options));
	/* The next one must not replace it, whatever its path looks like. */
	if (path)
		inputs_add(inputs, path);
	return code;
}

static bool wants_github(const struct options *options)
{
	size_t format;
	bool is_wanted =
		tscope_report_format_parse("github", &format) && options->formats.format == format;

	for (size_t i = 0; i < options->formats.file_count; i++)
		is_wanted |= options->formats.files[i].format == format;
	return is_wanted;
}

const char *reports_summary_path(const struct options *options)
{
	return wants_github(options) ? getenv("GITHUB_STEP_SUMMARY") : NULL;
}

/* The most that GitHub takes of a step. */
enum { SUMMARY_MAX_BYTES = 1 << 20 };

/*
 * Other commands of the step may have written into the summary, too. It goes there in one piece,
 * so that a signal leaves none half.
 */
static enum exit_code append_summary(const struct report_writer *writer,
				     const struct inputs *inputs, const struct options *options,
				     const char *path)
{
	struct tscope_report_options report_options = terminal_report_options(options);
	const char *refusal = output_refusal(path, inputs);
	FILE *out = refusal ? NULL : fopen(path, "a");
	char *buffer = out ? malloc(SUMMARY_MAX_BYTES) : NULL;
	bool is_written;

	if (refusal) {
		say_about(path, refusal, "; the job has no summary");
		return EXIT_CODE_OUTPUT;
	}

	if (!buffer || !tscope_report_format_parse("markdown", &report_options.format)) {
		say_about(path, strerror(errno), "; the job has no summary");
		if (out)
			fclose(out);
		free(buffer);
		return EXIT_CODE_OUTPUT;
	}
	setvbuf(out, buffer, _IOFBF, SUMMARY_MAX_BYTES);
	report_options.extent = TSCOPE_REPORT_SCREEN;
	is_written = writer->write(out, writer->subject, &report_options) == TSCOPE_OK;
	is_written = fclose(out) == 0 && is_written;
	free(buffer);
	if (!is_written)
		say_about(path, "cannot write", "; the job has no summary");
	return is_written ? EXIT_CODE_OK : EXIT_CODE_OUTPUT;
}

static enum exit_code write_summary(const struct report_writer *writer, const struct inputs *inputs,
				    const struct options *options)
{
	const char *path = reports_summary_path(options);

	if (path && *path != '\0')
		return append_summary(writer, inputs, options, path);
	if (wants_github(options))
		say("no job summary, as GITHUB_STEP_SUMMARY is not set: ", "--format markdown=FILE",
		    " writes it");
	return EXIT_CODE_OK;
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
	return worse(code, write_summary(writer, inputs, options));
}

bool reports_draw(const struct options *options)
{
	bool draws = tscope_report_format(options->formats.format)->draws;

	for (size_t i = 0; i < options->formats.file_count; i++)
		draws |= tscope_report_format(options->formats.files[i].format)->draws;
	return draws;
}
