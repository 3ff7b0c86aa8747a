/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for histories: bytes as the lines of runs, in up to three files with a byte 0xff
 * between them, → the newest against those before → report, gates. Traps where the JSON report is no
 * JSON, and where a gate both holds and is undecided.
 */
#define _GNU_SOURCE /* memfd_create() */
#include "as_file.h"
#include "fuzz.h"

#include <tscope/tscope.h>

enum { MAX_LENGTH = 64 << 10, MAX_FILES = 3 };

static void report(const struct tscope_diff *diff, size_t format)
{
	static const char *const expressions[] = {
		"step_time.mean_ns>+3% of trend",
		"memory.peak_alloc_bytes>+1GiB of trend",
		"mfu<-2%",
		"new-finding",
	};
	struct tscope_gate_result gates[sizeof(expressions) / sizeof(expressions[0])];
	const struct tscope_diff_report what = { diff, gates, sizeof(gates) / sizeof(gates[0]) };
	const struct tscope_report_options options = { .format = format,
						       .extent = TSCOPE_REPORT_FULL };
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	for (size_t i = 0; i < what.gate_count; i++) {
		gates[i] = tscope_gate_evaluate_change(expressions[i], diff, false);
		require(!gates[i].held || !gates[i].is_inconclusive);
	}
	require(out);
	require(tscope_report_write_diff(out, &what, &options, NULL) == TSCOPE_OK);
	require(fclose(out) == 0);
	if (format == TSCOPE_REPORT_JSON)
		require_json(text, length);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	const struct tscope_diff_options options = {
		.run.trace.thread_count = 1,
		.trend_runs = length ? data[length - 1] & 3 : 0,
	};
	char path[MAX_FILES][AS_FILE_PATH_CHARS];
	const char *const paths[MAX_FILES] = { path[0], path[1], path[2] };
	struct tscope_diff *diff = NULL;
	struct tscope_error err = { 0 };
	int files[MAX_FILES];

	if (length > MAX_LENGTH)
		return 0;
	size_t count = make_files(data, length, MAX_FILES, files, path);
	if (tscope_trend_open(&diff, paths, count, &options, &err) == TSCOPE_OK) {
		report(diff, TSCOPE_REPORT_TEXT);
		report(diff, TSCOPE_REPORT_JSON);
	} else {
		require(err.message[0] != '\0' || err.status == TSCOPE_E_NOMEM);
	}
	tscope_diff_free(diff);
	for (size_t i = 0; i < count; i++)
		close(files[i]);
	return 0;
}
