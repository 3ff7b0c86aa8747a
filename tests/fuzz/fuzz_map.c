/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for what tscope map writes: any bytes as such a file and, since no chance would find
 * its checksums, as what frames hold: kind (0: the record ends), length in four bytes, lowest
 * first, and so many bytes. What opens is reported; traps where the JSON report is no JSON.
 */
#define _GNU_SOURCE /* memfd_create() */
#include "as_file.h"
#include "fuzz.h"

#include "session/rank_record.h"

#include <tscope/tscope.h>

enum { MAX_LENGTH = 256 << 10, LENGTH_BYTES = 4 };

static void write_report(const struct tscope_run *run, size_t format)
{
	struct tscope_report_options options = { .format = format, .extent = TSCOPE_REPORT_FULL };
	struct tscope_diagnosis *diagnosis = NULL;
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	require(out &&
		tscope_diagnose(&diagnosis, tscope_run_analysis(run), NULL, NULL) == TSCOPE_OK);
	const struct tscope_run_report report = { run, diagnosis, NULL, 0 };
	enum tscope_status status = tscope_report_write_run(out, &report, &options, NULL);
	require(fclose(out) == 0);
	if (status == TSCOPE_OK && format == TSCOPE_REPORT_JSON)
		require_json(text, length);
	free(text);
	tscope_diagnosis_free(diagnosis);
}

static void open_file(const void *data, size_t length)
{
	const struct tscope_run_options options = { .trace = { .thread_count = 1 } };
	struct tscope_runs *runs = NULL;
	char path[AS_FILE_PATH_CHARS];
	const char *const paths[] = { path };
	int file = make_file(data, length, path);

	if (tscope_runs_open(&runs, paths, 1, &options, NULL) == TSCOPE_OK) {
		write_report(tscope_runs_get(runs, 0), TSCOPE_REPORT_TEXT);
		write_report(tscope_runs_get(runs, 0), TSCOPE_REPORT_JSON);
		tscope_runs_free(runs);
	}
	close(file);
}

/* The next frame of a record; false: the record ends. */
static bool add_frame(struct rank_writer *writer, struct str *rest)
{
	uint32_t kind = rest->length > 0 ? (unsigned char)rest->data[0] % RANK_FRAME_KIND_COUNT : 0;
	size_t length = 0;

	*rest = (struct str){ rest->data + (rest->length > 0), rest->length - (rest->length > 0) };
	if (kind == RANK_FRAME_END || rest->length < LENGTH_BYTES)
		return false;
	for (unsigned i = 0; i < LENGTH_BYTES; i++)
		length |= (size_t)(unsigned char)rest->data[i] << (8 * i);
	*rest = (struct str){ rest->data + LENGTH_BYTES, rest->length - LENGTH_BYTES };
	length = length < rest->length ? length : rest->length;
	const struct str plain = { rest->data, length };
	*rest = (struct str){ rest->data + length, rest->length - length };
	return tsi_rank_writer_add(writer, (enum rank_frame_kind)kind, plain, NULL) == TSCOPE_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	static uint32_t schema; /* of the names of all facts: long to compute, and ever the same */
	struct str rest = { (const char *)data, length };
	struct rank_writer writer = { 0 };

	if (length == 0 || length > MAX_LENGTH)
		return 0;
	if (schema == 0)
		schema = tsi_rank_schema();
	open_file(data, length);
	while (rest.length > 0) {
		struct rank_writer record = { 0 };
		struct rank_writer both = { 0 };

		require(tsi_rank_writer_begin(&record, schema, NULL) == TSCOPE_OK);
		while (add_frame(&record, &rest))
			;
		require(tsi_rank_writer_end(&record, NULL) == TSCOPE_OK);
		both.count = writer.count + record.count;
		both.bytes = malloc(both.count);
		require(both.bytes != NULL);
		if (writer.count > 0)
			memcpy(both.bytes, writer.bytes, writer.count);
		memcpy(both.bytes + writer.count, record.bytes, record.count);
		tsi_rank_writer_deinit(&writer);
		tsi_rank_writer_deinit(&record);
		writer = both;
	}
	open_file(writer.bytes, writer.count);
	tsi_rank_writer_deinit(&writer);
	return 0;
}
