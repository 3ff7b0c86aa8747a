/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for slices: bytes as a trace, or with a byte 0xff between them as the traces of a
 * run, from which a part is taken as the last byte chooses. Traps where the part of a trace that
 * could be cut cannot be read, and where the form that hides names is no JSON.
 */
#define _GNU_SOURCE /* memfd_create() */
#include "as_file.h"
#include "fuzz.h"

#include <tscope/tscope.h>

enum { MAX_LENGTH = 128 << 10, MAX_TRACES = 3 };

static struct tscope_slice_options options_of(uint8_t choice)
{
	return (struct tscope_slice_options){
		.trace = { .thread_count = 1 },
		.timeline = { .has_range = choice & 16, .first_step = 1, .last_step = 2 },
		.has_time = choice & 32,
		.first_ns = 1000,
		.last_ns = INT64_MAX / 2,
		.device_only = choice & 1,
		.compress = choice & 2,
		.redact = choice & 4 ? "passphrase" : NULL,
		.keeps_shapes = choice & 8,
	};
}

/* A trace of its own once more, unless no event was chosen or it is for viewers only. */
static void check_part(const char *text, size_t length, const struct tscope_slice_options *options)
{
	const struct tscope_trace_options trace_options = { .thread_count = 1 };
	struct tscope_trace *trace = NULL;
	struct tscope_error err = { 0 };
	enum tscope_status status =
		tscope_trace_open_memory(&trace, "part", text, length, &trace_options, &err);

	require(status == TSCOPE_OK || status == TSCOPE_E_EMPTY || status == TSCOPE_E_UNSUPPORTED ||
		status == TSCOPE_E_FORMAT || status == TSCOPE_E_LIMIT || status == TSCOPE_E_NOMEM);
	tscope_trace_free(trace);
	if (options->redact && !options->compress)
		require_json(text, length);
}

static enum tscope_status write_part(FILE *out, const char *const *paths, size_t count,
				     const struct tscope_slice_options *options)
{
	const struct tscope_run_options run_options = { .trace = options->trace };
	struct tscope_run *run = NULL;
	enum tscope_status status;

	if (count == 1)
		return tscope_slice_write(out, paths[0], options, NULL);
	status = tscope_run_open(&run, paths, count, &run_options, NULL);
	if (status == TSCOPE_OK)
		status = tscope_slice_write_run(out, run, options, NULL);
	tscope_run_free(run);
	return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	const struct tscope_slice_options options = options_of(length ? data[length - 1] : 0);
	char path[MAX_TRACES][AS_FILE_PATH_CHARS], *text = NULL;
	const char *const paths[MAX_TRACES] = { path[0], path[1], path[2] };
	int files[MAX_TRACES];
	size_t text_length = 0;

	if (length > MAX_LENGTH)
		return 0;
	size_t count = make_files(data, length, MAX_TRACES, files, path);
	FILE *out = open_memstream(&text, &text_length);
	require(out);
	enum tscope_status status = write_part(out, paths, count, &options);
	require(fclose(out) == 0);
	if (status == TSCOPE_OK)
		check_part(text, text_length, &options);
	free(text);
	for (size_t i = 0; i < count; i++)
		close(files[i]);
	return 0;
}
