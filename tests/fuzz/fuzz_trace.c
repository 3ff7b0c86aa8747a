/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for the whole path: bytes → trace → timeline → analysis → report. The last byte of
 * the input chooses the options. Traps where a step's budget does not sum to its wall time, where
 * findings win back more than the step, where the JSON report is no JSON, or where a name gets a
 * script into the page.
 */
#include "fuzz.h"

#include "analyze/lookup.h"
#include "base/str.h"
#include "decode/json.h"
#include "rules/rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tscope/tscope.h>

enum { MAX_LENGTH = 256 << 10, MAX_OUTPUT_BYTES = 10 << 20, MAX_REPORT_DEPTH = 64 };

static void require(bool holds)
{
	if (!holds)
		abort();
}

static struct tscope_trace_options options_of(uint8_t choice)
{
	static const size_t block_sizes[] = { 0, 0, 64, 3 };

	return (struct tscope_trace_options){
		.thread_count = choice & 1 ? 2 : 1,
		.python = choice & 2,
		.block_bytes = block_sizes[(choice >> 2) & 3],
		.max_output_bytes = MAX_OUTPUT_BYTES,
	};
}

static void check_budgets(const struct tscope_timeline *timeline, uint32_t device_count)
{
	for (uint32_t i = 0; i < tscope_timeline_step_count(timeline); i++) {
		struct tscope_step step = tscope_timeline_step(timeline, i);

		require(step.wall_ns >= 0);
		for (uint32_t device = 0; device < device_count; device++) {
			int64_t sum_ns = 0;

			for (int line = 0; line < TSCOPE_BUDGET_LINE_COUNT; line++)
				sum_ns += tscope_timeline_budget(timeline, i, device,
								 (enum tscope_budget_line)line);
			require(sum_ns == step.wall_ns);
		}
	}
}

/* Findings together win back no more than the mean step. */
static void check_gains(const struct tscope_analysis *analysis,
			const struct tscope_diagnosis *diagnosis)
{
	double step_ns = tsi_value_real(tsi_lookup(analysis, "step_time.mean_ns")), sum_ns = 0;

	for (size_t i = 0; i < tscope_diagnosis_finding_count(diagnosis); i++) {
		struct tscope_finding finding = tscope_diagnosis_finding(diagnosis, i);

		require(finding.gain_ns >= 0 && finding.place_count <= TSCOPE_MAX_PLACES);
		sum_ns += (double)finding.gain_ns;
	}
	require(!(step_ns >= 1) || sum_ns <= step_ns + 1);
}

/* The data and the page's own. */
static void check_page(const char *text)
{
	unsigned count = 0;

	for (text = strstr(text, "<script"); text; text = strstr(text + 1, "<script"))
		count++;
	require(count == 2);
}

static void report(const struct tscope_analysis *analysis, const struct tscope_diagnosis *diagnosis,
		   size_t format, enum tscope_report_extent extent)
{
	struct tscope_report_options options = { .format = format, .extent = extent };
	struct tscope_error err = { 0 };
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return;
	struct tscope_trace_report of_trace = { analysis, diagnosis, NULL, 0 };
	enum tscope_status status = tscope_report_write(out, &of_trace, 1, &options, &err);

	require(fclose(out) == 0);
	require(status == TSCOPE_OK || status == TSCOPE_E_NOMEM);
	if (status == TSCOPE_OK && format == TSCOPE_REPORT_JSON) {
		struct str json = { .data = text, .length = length };

		while (json.length > 0 && json.data[json.length - 1] == '\n')
			json.length--;
		require(tsi_json_check(json, MAX_REPORT_DEPTH, &err) == TSCOPE_OK);
	}
	if (status == TSCOPE_OK && strcmp(tscope_report_format(format)->name, "html") == 0)
		check_page(text);
	free(text);
}

/* Of those after text and JSON. */
static size_t format_of(uint32_t choice)
{
	size_t count = 0;

	while (tscope_report_format(count))
		count++;
	return 2 + choice % (count - 2);
}

static void analyze(const struct tscope_trace *trace, const struct tscope_analysis_options *options)
{
	struct tscope_timeline *timeline = NULL;
	struct tscope_analysis *analysis = NULL;
	struct tscope_diagnosis *diagnosis = NULL;
	struct tscope_error err = { 0 };

	if (tscope_timeline_build(&timeline, trace, NULL, &err) != TSCOPE_OK)
		return;
	if (tscope_analyze(&analysis, trace, timeline, options, &err) == TSCOPE_OK) {
		check_budgets(timeline, tscope_analysis_device_count(analysis));
		if (tscope_diagnose(&diagnosis, analysis, NULL, &err) == TSCOPE_OK) {
			check_gains(analysis, diagnosis);
			report(analysis, diagnosis, TSCOPE_REPORT_JSON, TSCOPE_REPORT_FULL);
			report(analysis, diagnosis, TSCOPE_REPORT_TEXT, TSCOPE_REPORT_FULL);
			report(analysis, diagnosis, TSCOPE_REPORT_TEXT, TSCOPE_REPORT_SCREEN);
			report(analysis, diagnosis, format_of(tscope_trace_span_count(trace)),
			       TSCOPE_REPORT_FULL);
		}
	}
	tscope_diagnosis_free(diagnosis);
	tscope_analysis_free(analysis);
	tscope_timeline_free(timeline);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	struct tscope_trace_options options = options_of(length ? data[length - 1] : 0);
	struct tscope_analysis_options analysis_options = { .python = options.python };
	struct tscope_trace *trace = NULL;
	struct tscope_error err = { 0 };

	if (length > MAX_LENGTH)
		return 0;
	if (tscope_trace_open_memory(&trace, "input", data, length, &options, &err) == TSCOPE_OK)
		analyze(trace, &analysis_options);
	else
		require(err.message[0] != '\0' || err.status == TSCOPE_E_NOMEM);
	tscope_trace_free(trace);
	return 0;
}
