/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for flight-recorder dumps: bytes → dumps → verdict → facts → findings → report. The
 * input holds up to four dumps, separated by lines of dashes. Traps where the JSON report is no
 * JSON, and where dumps that open cannot be analysed.
 */
#include "fuzz.h"

#include "base/str.h"
#include "decode/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <tscope/tscope.h>

enum { MAX_LENGTH = 64 << 10, MAX_OUTPUT_BYTES = 1 << 20, MAX_REPORT_DEPTH = 64, MAX_DUMPS = 4 };

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void report(const struct tscope_hang_report *of_dumps, size_t format)
{
	struct tscope_report_options options = { .format = format, .extent = TSCOPE_REPORT_FULL };
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return;
	enum tscope_status status = tscope_report_write_hang(out, of_dumps, &options, NULL);

	require(fclose(out) == 0);
	if (status == TSCOPE_OK && format == TSCOPE_REPORT_JSON) {
		while (length > 0 && text[length - 1] == '\n')
			length--;
		require(tsi_json_check((struct str){ text, length }, MAX_REPORT_DEPTH, NULL) ==
			TSCOPE_OK);
	}
	free(text);
}

static void analyze(const struct tscope_hang *hang)
{
	struct tscope_analysis *analysis = NULL;
	struct tscope_diagnosis *diagnosis = NULL;

	require(tscope_hang_analyze(&analysis, hang, NULL, NULL) == TSCOPE_OK);
	require(tscope_diagnose(&diagnosis, analysis, NULL, NULL) == TSCOPE_OK);
	const struct tscope_hang_report of_dumps = { hang, analysis, diagnosis, NULL, 0 };

	report(&of_dumps, TSCOPE_REPORT_TEXT);
	report(&of_dumps, TSCOPE_REPORT_JSON);
	tscope_diagnosis_free(diagnosis);
	tscope_analysis_free(analysis);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	static const char *const names[MAX_DUMPS] = { "rank_0", "rank_1", "rank_2", "rank_3" };
	const struct tscope_trace_options options = { .thread_count = 1,
						      .max_output_bytes = MAX_OUTPUT_BYTES };
	struct str rest = { (const char *)data, length };
	struct tscope_hang_dump dumps[MAX_DUMPS];
	struct tscope_hang *hang = NULL;
	struct tscope_error err = { 0 };
	size_t count = 0;

	if (length == 0 || length > MAX_LENGTH)
		return 0;
	while (count < MAX_DUMPS && rest.length > 0) {
		ptrdiff_t end = tsi_str_find(rest, TSI_STR("\n----\n"));
		size_t own = end < 0 ? rest.length : (size_t)end, taken = end < 0 ? own : own + 6;

		dumps[count] = (struct tscope_hang_dump){ names[count], rest.data, own };
		count++;
		rest = (struct str){ rest.data + taken, rest.length - taken };
	}
	enum tscope_status status = tscope_hang_open_memory(&hang, dumps, count, &options, &err);

	if (status == TSCOPE_OK)
		analyze(hang);
	else
		require(err.message[0] != '\0' && err.status == status);
	tscope_hang_free(hang);
	return 0;
}
