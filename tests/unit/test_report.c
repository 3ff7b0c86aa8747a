/* SPDX-License-Identifier: MIT */
/*
 * The reporters over a whole trace: what holds for any report. That every name
 * a section looks up is defined is asserted by lookup.c, and comes true here.
 */
#include "fact_values.h"
#include "fail_alloc.h"
#include "report_text.h"
#include "trace_builder.h"

#include "base/attributes.h"
#include "check.h"
#include "report/json_parts.h"

#include <stdlib.h>
#include <string.h>
#include <tscope/tscope.h>

/* A trace from a file of testdata/ to its analysis. */
struct loaded {
	struct tscope_trace *trace;
	struct tscope_timeline *timeline;
	struct tscope_analysis *analysis;
	struct tscope_diagnosis *diagnosis;
};

static void analyze(struct loaded *file)
{
	static const struct tscope_analysis_options options = { .python = true };

	assert_int_equal(tscope_timeline_build(&file->timeline, file->trace, NULL, NULL),
			 TSCOPE_OK);
	assert_int_equal(
		tscope_analyze(&file->analysis, file->trace, file->timeline, &options, NULL),
		TSCOPE_OK);
	assert_int_equal(tscope_diagnose(&file->diagnosis, file->analysis, NULL, NULL), TSCOPE_OK);
}

static void load(struct loaded *file, const char *name)
{
	char path[1024];

	snprintf(path, sizeof(path), "%s/%s", testdata, name);
	assert_int_equal(tscope_trace_open(&file->trace, path, NULL, NULL), TSCOPE_OK);
	analyze(file);
}

static void unload(struct loaded *file)
{
	tscope_diagnosis_free(file->diagnosis);
	tscope_analysis_free(file->analysis);
	tscope_timeline_free(file->timeline);
	tscope_trace_free(file->trace);
}

/* The caller frees it. */
static char *report_all(const struct tscope_trace_report *reports, size_t count,
			const struct tscope_report_options *options)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	assert_int_equal(tscope_report_write(out, reports, count, options, NULL), TSCOPE_OK);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* The report of one trace; the caller frees it. */
static char *report(const struct loaded *file, const struct tscope_report_options *options)
{
	const struct tscope_trace_report only = { file->analysis, file->diagnosis, NULL, 0 };

	return report_all(&only, 1, options);
}

static const char *const files[] = { "two_steps.json", "cpu_only.json", "chrome_phases.json",
				     "two_steps_cut.json", "rocm.json" };

static char *report_named(const char *name, const struct tscope_report_options *options)
{
	struct loaded file;
	char *text;

	load(&file, name);
	text = report(&file, options);
	unload(&file);
	return text;
}

TEST(test_color_changes_nothing_else)
{
	check_colored_inputs(report_named, files, TSI_COUNT_OF(files));
}

TEST(test_lines_keep_the_width)
{
	check_input_widths(report_named, files, TSI_COUNT_OF(files));
}

TEST(test_ascii)
{
	check_ascii_inputs(report_named, files, TSI_COUNT_OF(files));
}

/* Names that would move the cursor, as JSON escapes and as raw bytes. */
TEST(test_hostile_names)
{
	static const char json[] =
		"[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"\\u001b[2J\\u009b\\u202e\\u0007\","
		"\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1},"
		"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"\xC2\x9B\xE2\x80\xAE\xFF\x7F\","
		"\"pid\":1,"
		"\"tid\":1,\"ts\":3,\"dur\":1}]";
	static const char *const forbidden[] = { "\033",     "\x07",         "\x7F",
						 "\xC2\x9B", "\xE2\x80\xAE", "\xFF" };
	static const size_t formats[] = { TSCOPE_REPORT_TEXT, TSCOPE_REPORT_JSON };
	struct loaded file;

	assert_int_equal(tscope_trace_open_memory(&file.trace, "\033]0;title\x07", json,
						  sizeof(json) - 1, NULL, NULL),
			 TSCOPE_OK);
	analyze(&file);
	for (size_t i = 0; i < TSI_COUNT_OF(formats); i++) {
		char *text =
			report(&file, &(struct tscope_report_options){
					      .format = formats[i], .extent = TSCOPE_REPORT_FULL });

		for (size_t j = 0; j < TSI_COUNT_OF(forbidden); j++)
			assert_null(strstr(text, forbidden[j]));
		assert_non_null(strstr(text, "202e"));
		free(text);
	}
	unload(&file);
}

/* A document is whole or not printed at all. */
TEST(test_out_of_memory)
{
	struct tscope_report_options options = { .format = TSCOPE_REPORT_TEXT,
						 .extent = TSCOPE_REPORT_FULL };
	struct loaded file;

	load(&file, "two_steps.json");
	const struct tscope_trace_report of_trace = { file.analysis, file.diagnosis, NULL, 0 };
	struct alloc_sweep sweep = { 0 };
	while (alloc_sweep_next(&sweep)) {
		char *text = NULL;
		size_t length = 0;
		FILE *out = open_memstream(&text, &length);

		assert_non_null(out);
		alloc_sweep_try(&sweep,
				tscope_report_write(out, &of_trace, 1, &options, &sweep.err));
		assert_int_equal(fclose(out), 0);
		assert_true(sweep.has_failed == (length == 0));
		free(text);
	}
	unload(&file);
}

TEST(test_top)
{
	struct loaded file;
	char *cut, *whole;

	load(&file, "two_steps.json");
	cut = report(&file,
		     &(struct tscope_report_options){ .format = TSCOPE_REPORT_JSON, .top = 1 });
	whole = report(&file, &(struct tscope_report_options){ .format = TSCOPE_REPORT_JSON });
	assert_true(strlen(cut) < strlen(whole));
	/* rankings are cut, lists are not */
	assert_non_null(strstr(whole, "\"aten::linear\""));
	assert_null(strstr(cut, "\"aten::linear\""));
	assert_non_null(strstr(cut, "{\"step\": 1, "));
	assert_non_null(strstr(cut, "{\"step\": 2, "));
	free(cut);
	free(whole);
	unload(&file);
}

TEST(test_brief)
{
	struct loaded file;
	char *text;

	load(&file, "two_steps_cut.json");
	text = report(&file, &(struct tscope_report_options){ .extent = TSCOPE_REPORT_BRIEF });
	assert_non_null(strstr(text, "DAMAGED"));
	assert_null(strstr(text, "BUDGET"));
	free(text);
	unload(&file);
}

/* Each trace has gates of its own: at the end of its report, also of a brief one. */
/* Compute of unknown phase stands there where it is more than 1 % of the compute line. */
TEST(test_unknown_phase)
{
	for (int64_t unknown_ns = 100; unknown_ns <= 101; unknown_ns++) {
		struct test_trace *t = test_trace_new();
		struct loaded file;
		test_op(t, "aten::mm", 1, 0, 50);
		test_call(t, "cudaLaunchKernel", 1, 10, 5, 1);
		test_kernel(t, "gemm", 0, 7, 100, 10000 - unknown_ns, 1);
		test_kernel(t, "of a graph", 0, 7, 20000, unknown_ns, 2);
		assert_int_equal(test_trace_try_finish(t, &file.trace, NULL), TSCOPE_OK);
		analyze(&file);
		char *text = report(
			&file, &(struct tscope_report_options){ .extent = TSCOPE_REPORT_FULL });
		assert_non_null(strstr(text, "\n    forward "));
		assert_int_equal(strstr(text, "\n    unknown ") != NULL, unknown_ns > 100);
		free(text);
		unload(&file);
	}
}

TEST(test_gates)
{
	static const struct tscope_gate_result gates[] = {
		{ .expression = "steps.count>2",
		  .held = true,
		  .has_value = true,
		  .value = 2,
		  .reason = "holds: 2" },
		{ .expression = "mfu<0.4", .reason = "efficiency.mfu is not known: no peak" },
	};
	static const char *const texts[] = {
		"\n● GATES  all held\n"
		"  steps.count>2                                                       2  held\n",
		"\n● GATES  1 of 2 tripped\n"
		"  steps.count>2                                                       2  held\n"
		"  mfu<0.4                                                             -  TRIPPED\n"
		"    efficiency.mfu is not known: no peak\n",
	};
	static const char *const json[] = {
		"\"gates\": [],\n",
		"\"gates\": [\n"
		"        {\"expr\": \"steps.count>2\", \"value\": 2, \"held\": true, "
		"\"reason\": \"holds: 2\", \"inconclusive\": false},\n"
		"        {\"expr\": \"mfu<0.4\", \"value\": null, \"held\": false, "
		"\"reason\": \"efficiency.mfu is not known: no peak\", "
		"\"inconclusive\": false}\n"
		"      ],\n",
	};
	struct tscope_report_options options = { .extent = TSCOPE_REPORT_BRIEF };
	struct loaded file;
	char *text, *second;

	load(&file, "cpu_only.json");
	const struct tscope_trace_report reports[] = { { file.analysis, file.diagnosis, gates, 1 },
						       { file.analysis, file.diagnosis, gates,
							 2 } };
	const struct tscope_trace_report none_and_two[] = {
		{ file.analysis, file.diagnosis, gates, 0 },
		{ file.analysis, file.diagnosis, gates, 2 }
	};
	text = report_all(reports, 2, &options);
	second = strstr(text, texts[0]);
	assert_non_null(second);
	assert_string_equal(text + strlen(text) - strlen(texts[1]), texts[1]);
	assert_true(second < text + strlen(text) - strlen(texts[1]));
	free(text);
	options.format = TSCOPE_REPORT_JSON;
	text = report_all(none_and_two, 2, &options);
	assert_non_null(strstr(text, json[0]));
	assert_true(strstr(text, json[1]) > strstr(text, json[0]));
	free(text);
	text = report(&file, &(struct tscope_report_options){ .extent = TSCOPE_REPORT_BRIEF });
	assert_null(strstr(text, "GATES"));
	free(text);
	unload(&file);
}

static char *json_of(const struct tscope_analysis *facts, struct json_rows rows)
{
	struct json_writer w = { .rows = rows };
	char *text = NULL;
	size_t length = 0;

	w.out = open_memstream(&text, &length);
	assert_non_null(w.out);
	tsi_jw_object(&w);
	tsi_json_facts(&w, facts, TSCOPE_WHOLE_TRACE);
	tsi_jw_end_object(&w);
	assert_int_equal(fclose(w.out), 0);
	return text;
}

/* Which rows of a ranking, of one by groups and of a list stand there, and what is left out. */
TEST(test_json_rows)
{
	static const char *const rows[] = { "ka", "kb", "kc", "pp", "pq", "pr", "s1", "s2" };
	static const struct {
		struct json_rows rows;
		const char *found, *left_out;
	} cases[] = {
		{ { 0 }, "ka kb kc pp pq pr s1 s2 ", "" },
		{ { .rankings = 2, .groups = 1 }, "ka kb pp pr s1 s2 ", "parts by_name " },
		{ { .rankings = 3, .groups = 2, .lists = 1 }, "ka kb kc pp pq pr s1 ", "slow " },
	};
	struct tscope_analysis *facts =
		fact_values("kernels.by_name name=ka\nkernels.by_name name=kb\n"
			    "kernels.by_name name=kc\n"
			    "step_time.slow grew=s1\nstep_time.slow grew=s2\n"
			    "breakdown.parts line=compute name=pp\n"
			    "breakdown.parts line=compute name=pq\n"
			    "breakdown.parts line=data name=pr\n");

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		char found[64] = "", left_out[64] = "", word[64];
		char *text = json_of(facts, cases[i].rows);

		for (size_t row = 0; row < TSI_COUNT_OF(rows); row++) {
			snprintf(word, sizeof(word), "\"%s\"", rows[row]);
			if (strstr(text, word))
				strcat(strcat(found, rows[row]), " ");
		}
		for (const char *at = text; (at = strstr(at, "\"left_out\": {")) != NULL; at++)
			if (sscanf(at, "\"left_out\": { \"%20[a-z_]\": 1 }", word) == 1)
				strcat(strcat(left_out, word), " ");
		assert_string_equal(found, cases[i].found);
		assert_string_equal(left_out, cases[i].left_out);
		free(text);
	}
}

/* What is said of single facts stands with them, what is said of all once for all. */
TEST(test_json_doubts)
{
	struct tscope_analysis *facts = fact_values("overlap.comm_ns 5\n"
						    "! overlap the clock ran backwards\n"
						    "! overlap.comm_ns it is cut\n"
						    "! overlap.exposed_comm_ratio no kernel\n"
						    "launches.launch_count 3\n");
	char *text = json_of(facts, (struct json_rows){ 0 });

	assert_non_null(strstr(text, "    \"overlap\": {\n"
				     "      \"reliability\": \"the clock ran backwards\",\n"
				     "      \"doubts\": {\n"
				     "        \"comm_ns\": \"it is cut\",\n"
				     "        \"exposed_comm_ratio\": \"no kernel\"\n"
				     "      },\n"));
	assert_null(strstr(strstr(text, "\"launches\""), "\"doubts\""));
	free(text);
}

/* One trace as well as several is in runs[]. */
TEST(test_json_shape)
{
	struct tscope_report_options options = { .format = TSCOPE_REPORT_JSON };
	struct loaded file;

	load(&file, "cpu_only.json");
	char *text = report(&file, &options);
	assert_non_null(strstr(text, "\n  \"runs\": [\n    {\n      \"kind\": \"trace\",\n"));
	assert_non_null(strstr(text, "\n      \"facts\": {"));
	free(text);
	unload(&file);
}

TEST(test_full_device)
{
	FILE *out = fopen("/dev/full", "w");
	struct tscope_error err = { 0 };
	struct loaded file;

	if (!out)
		skip();
	load(&file, "two_steps.json");
	assert_int_equal(setvbuf(out, NULL, _IONBF, 0), 0);
	const struct tscope_trace_report only = { file.analysis, file.diagnosis, NULL, 0 };
	assert_int_equal(
		tscope_report_write(out, &only, 1, &(struct tscope_report_options){ 0 }, &err),
		TSCOPE_E_WRITE);
	assert_string_equal(err.message, "cannot write the report");
	fclose(out);
	unload(&file);
}

TEST(test_format_parse)
{
	size_t format = TSCOPE_REPORT_TEXT;

	assert_true(tscope_report_format_parse("json", &format));
	assert_int_equal(format, TSCOPE_REPORT_JSON);
	assert_true(tscope_report_format_parse("text", &format));
	assert_int_equal(format, TSCOPE_REPORT_TEXT);
	assert_false(tscope_report_format_parse("xml", &format));
	assert_false(tscope_report_format_parse("", &format));
	assert_int_equal(format, TSCOPE_REPORT_TEXT);
}

/* JSON nests "phase.x" and "phase.y" in one object: they must stand together, and no name twice. */
static void check_names(const struct tscope_fact_def *defs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t group = strcspn(defs[i].name, ".");

		assert_true(strspn(defs[i].name, "abcdefghijklmnopqrstuvwxyz0123456789_.") ==
			    strlen(defs[i].name));
		for (size_t j = 0; j < i; j++) {
			assert_string_not_equal(defs[i].name, defs[j].name);
			if (strncmp(defs[i].name, defs[j].name, group) == 0 &&
			    (defs[j].name[group] == '.') && defs[i].name[group] == '.')
				assert_int_equal(strncmp(defs[i - 1].name, defs[i].name, group + 1),
						 0);
		}
	}
}

TEST(test_definitions_fit_json)
{
	for (size_t i = 0; i < tscope_analyzer_count(); i++) {
		const struct tscope_analyzer_def *def = tscope_analyzer(i);

		check_names(def->facts, def->fact_count);
		for (size_t j = 0; j < def->table_count; j++)
			check_names(def->tables[j].columns, def->tables[j].column_count);
	}
}
