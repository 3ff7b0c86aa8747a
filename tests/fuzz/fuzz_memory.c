/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for the whole path of a file about memory: bytes → model → facts → findings →
 * report, and stacks for flame graphs. The last byte chooses the options. Traps where the JSON
 * report is no JSON, where a line of stacks is none, and where a file that opens cannot be analysed.
 */
#include "fuzz.h"

#include "base/str.h"
#include "decode/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <tscope/tscope.h>

enum { MAX_LENGTH = 64 << 10, MAX_OUTPUT_BYTES = 1 << 20, MAX_REPORT_DEPTH = 64 };

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check_json(struct str json)
{
	while (json.length > 0 && json.data[json.length - 1] == '\n')
		json.length--;
	require(tsi_json_check(json, MAX_REPORT_DEPTH, NULL) == TSCOPE_OK);
}

static void report(const struct tscope_memory_report *of_file, size_t format)
{
	struct tscope_report_options options = { .format = format };
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return;
	enum tscope_status status = tscope_report_write_memory(out, of_file, 1, &options, NULL);

	require(fclose(out) == 0);
	if (status == TSCOPE_OK && format == TSCOPE_REPORT_JSON)
		check_json((struct str){ text, length });
	free(text);
}

/* Each line is a stack, a blank and a number above 0; no control character is in it. */
static void check_stacks(const char *text, size_t length)
{
	for (size_t i = 0, begin = 0; i < length; i++) {
		require(text[i] == '\n' || ((unsigned char)text[i] >= ' ' && text[i] != 0x7f));
		if (text[i] != '\n')
			continue;
		require(i > begin + 2 && tsi_is_digit(text[i - 1]));
		begin = i + 1;
	}
	require(length == 0 || text[length - 1] == '\n');
}

static void write_stacks(const struct tscope_memory *memory, enum tscope_memory_moment moment)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return;
	enum tscope_status status = tscope_memory_write_stacks(out, memory, moment, NULL);

	require(fclose(out) == 0);
	if (status == TSCOPE_OK)
		check_stacks(text, length);
	free(text);
}

static void analyze(const struct tscope_memory *memory, uint8_t choice)
{
	const struct tscope_analysis_options options = { .stack_depth = (choice >> 4) & 3 };
	struct tscope_analysis *analysis = NULL;
	struct tscope_diagnosis *diagnosis = NULL;

	require(tscope_memory_analyze(&analysis, memory, choice & 8 ? memory : NULL, &options,
				      NULL) == TSCOPE_OK);
	require(tscope_diagnose(&diagnosis, analysis, NULL, NULL) == TSCOPE_OK);
	const struct tscope_memory_report of_file = { memory, analysis, diagnosis, NULL, 0 };

	report(&of_file, choice & 1 ? TSCOPE_REPORT_TEXT : TSCOPE_REPORT_JSON);
	tscope_diagnosis_free(diagnosis);
	tscope_analysis_free(analysis);
	write_stacks(memory, choice & 2 ? TSCOPE_MEMORY_AT_END : TSCOPE_MEMORY_AT_PEAK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	if (length == 0 || length > MAX_LENGTH)
		return 0;
	uint8_t choice = data[--length];
	const struct tscope_trace_options options = {
		.thread_count = 1,
		.block_bytes = choice & 4 ? 7 : 0,
		.max_output_bytes = MAX_OUTPUT_BYTES,
	};
	struct tscope_memory *memory = NULL;
	struct tscope_error err = { 0 };
	enum tscope_status status =
		tscope_memory_open_memory(&memory, "input", data, length, &options, &err);

	if (status == TSCOPE_OK)
		analyze(memory, choice);
	else
		require(err.message[0] != '\0' && err.status == status);
	tscope_memory_free(memory);
	return 0;
}
