/* SPDX-License-Identifier: MIT */
/*
 * The reporters over whole runs of testdata/: what holds for any report, and
 * what of hostile files, missing figures and tripped gates must be said.
 */
#include "report_text.h"

#include "base/attributes.h"

#include <stdlib.h>
#include <string.h>
#include <tscope/tscope.h>
#include <unistd.h>

#include "check.h"
#include "config.h"

/* A run from a folder to its gates. */
struct judged {
	struct tscope_run *run;
	struct tscope_diagnosis *diagnosis;
	struct tscope_gate_result gates[2];
};

static void judge(struct judged *run)
{
	static const char *const gates[] = { "step_time.mean_ms>1e6", "overlap.comm_ns>1" };

	assert_int_equal(
		tscope_diagnose(&run->diagnosis, tscope_run_analysis(run->run), NULL, NULL),
		TSCOPE_OK);
	for (size_t i = 0; i < TSI_COUNT_OF(gates); i++)
		run->gates[i] = tscope_gate_evaluate(gates[i], tscope_run_analysis(run->run),
						     run->diagnosis);
}

static void open_path(struct judged *run, const char *path)
{
	assert_int_equal(tscope_run_open(&run->run, &path, 1, NULL, NULL), TSCOPE_OK);
	judge(run);
}

static void load(struct judged *run, const char *name)
{
	char path[1024];

	snprintf(path, sizeof(path), "%s/%s", testdata, name);
	open_path(run, path);
}

static void unload(struct judged *run)
{
	tscope_diagnosis_free(run->diagnosis);
	tscope_run_free(run->run);
}

/* The caller frees it. */
static char *report(const struct judged *run, const struct tscope_report_options *options)
{
	struct tscope_run_report what = { run->run, run->diagnosis, run->gates, 2 };
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	assert_int_equal(tscope_report_write_run(out, &what, options, NULL), TSCOPE_OK);
	assert_int_equal(fclose(out), 0);
	return text;
}

static const char *const runs[] = { "run_sick", "run_mixed", "run_rerun", "run_healthy",
				    "two_steps.json" };

static char *report_named(const char *name, const struct tscope_report_options *options)
{
	struct judged run;
	char *text;

	load(&run, name);
	text = report(&run, options);
	unload(&run);
	return text;
}

TEST(test_color_changes_nothing_else)
{
	check_colored_inputs(report_named, runs, TSI_COUNT_OF(runs));
}

TEST(test_lines_keep_the_width)
{
	for (size_t i = 0; i < TSI_COUNT_OF(runs); i++) {
		struct judged run;

		load(&run, runs[i]);
		for (unsigned width = 40; width <= 120; width += 13) {
			struct tscope_report_options options = { .extent = TSCOPE_REPORT_FULL,
								 .width = width,
								 .verbose = width % 2 };
			char *text = report(&run, &options);

			check_width(text, width);
			free(text);
		}
		unload(&run);
	}
}

TEST(test_ascii)
{
	for (size_t i = 0; i < TSI_COUNT_OF(runs); i++) {
		char *text = report_named(
			runs[i], &(struct tscope_report_options){ .extent = TSCOPE_REPORT_FULL,
								  .ascii = true });

		check_ascii(text); /* "rank ?" of a file that does not say is ours */
		free(text);
	}
}

/* What each report must say, and what it must not. */
TEST(test_contents)
{
	static const struct {
		const char *run;
		struct tscope_report_options options;
		const char *there, *not_there;
	} cases[] = {
		/* the verdict stands above the first section */
		{ "run_sick",
		  { .extent = TSCOPE_REPORT_FULL },
		  "\n\n  MED   waiting for data",
		  "no findings" },
		{ "run_healthy",
		  { .extent = TSCOPE_REPORT_FULL },
		  "a step takes 98.02 ms\n  no findings; ",
		  "HIGH" },
		{ "run_sick",
		  { .extent = TSCOPE_REPORT_FULL },
		  "100.0 %  ████████████████████ ←\n",
		  "NOT READ" },
		/* a held gate needs no reason; one that is not known says why */
		{ "run_sick", { .extent = TSCOPE_REPORT_FULL }, "  held\n", "holds" },
		{ "run_sick",
		  { .extent = TSCOPE_REPORT_FULL },
		  "  TRIPPED\n    overlap.comm_ns is not known",
		  "GATES  all" },
		{ "two_steps.json",
		  { .extent = TSCOPE_REPORT_FULL },
		  "  GATE  1 of 2 tripped",
		  "DISTRIBUTED" },
		/* of several ranks it is said whose figures they are */
		{ "run_mixed",
		  { .extent = TSCOPE_REPORT_FULL },
		  "KERNELS of rank 0  ",
		  "notes.txt" },
		{ "two_steps.json", { .extent = TSCOPE_REPORT_FULL }, "KERNELS  ", "of rank" },
		{ "run_mixed",
		  { .extent = TSCOPE_REPORT_FULL, .verbose = true },
		  "  ignored  ",
		  "--verbose" },
		{ "run_mixed",
		  { .extent = TSCOPE_REPORT_FULL },
		  "ignored  1 file: not a kind of file that tscope reads\n",
		  "notes.txt" },
		{ "run_sick", { .extent = TSCOPE_REPORT_BRIEF }, "  HIGH  ", "STEPS" },
		{ "run_sick", { .extent = TSCOPE_REPORT_SCREEN }, "-> raise num_workers", "STEPS" },
		/* of many ranks the slowest, the one in the middle and the fastest are kept */
		{ "run_sick",
		  { .extent = TSCOPE_REPORT_FULL, .top = 1 },
		  "\n     2  ",
		  "\n     0  " },
		{ "run_sick",
		  { .extent = TSCOPE_REPORT_FULL, .top = 1 },
		  "  … the median:\n     1  ",
		  "0 more" },
		{ "run_sick",
		  { .extent = TSCOPE_REPORT_FULL, .top = 1 },
		  "  … the fastest; 1 more between:\n     3  ",
		  "and 3 faster" },
		{ "run_sick",
		  { .extent = TSCOPE_REPORT_FULL, .top = 1 },
		  "  all 4 by number:\n  ",
		  "STRAGGLERS" },
		/* NaN is a cross, and no number */
		{ "run_rerun", { .extent = TSCOPE_REPORT_FULL }, "DIVERGED  at step ", "nan" },
		{ "run_rerun", { .extent = TSCOPE_REPORT_FULL }, "×\n", "inf " },
#if HAVE_ZLIB
		/* traces tell a rank's own time: how often it computed longest would contradict it */
		{ "ranks_slow_host",
		  { .extent = TSCOPE_REPORT_FULL },
		  "\n  rank  own time    excess     waits   compute\n",
		  "slowest\n" },
		{ "ranks_slow_host",
		  { .extent = TSCOPE_REPORT_FULL },
		  "\n  rank 2     slow host: ",
		  "slow_host: " },
		/* only lines of the budget that differ, in words */
		{ "ranks_slow_host",
		  { .extent = TSCOPE_REPORT_FULL },
		  "\n  launch stall ",
		  "\n  sync_stall " },
		/* nobody's work is unlike the others' here */
		{ "ranks_slow_link",
		  { .extent = TSCOPE_REPORT_FULL },
		  "\n  ideal network ",
		  " as others " },
#endif
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct judged run;
		char *text;

		load(&run, cases[i].run);
		text = report(&run, &cases[i].options);
		if (!strstr(text, cases[i].there))
			fail_msg("%s: '%s' is not in:\n%s", cases[i].run, cases[i].there, text);
		if (strstr(text, cases[i].not_there))
			fail_msg("%s: '%s' is in:\n%s", cases[i].run, cases[i].not_there, text);
		free(text);
		unload(&run);
	}
}

TEST(test_pipeline)
{
	static const struct tscope_run_options options = {
		.analysis = { .pipeline_stages = 2, .microbatches = 4 },
	};
	char path[1024], *text;
	const char *paths[] = { path };
	struct judged run;

	snprintf(path, sizeof(path), "%s/run_sick", testdata);
	assert_int_equal(tscope_run_open(&run.run, paths, 1, &options, NULL), TSCOPE_OK);
	judge(&run);
	text = report(&run,
		      &(struct tscope_report_options){ .extent = TSCOPE_REPORT_FULL, .width = 80 });
	assert_non_null(strstr(text, "● PIPELINE  2 stages · idle "));
	assert_non_null(strstr(text, "\n  ideal "));
	free(text);
	unload(&run);
}

TEST(test_json)
{
	static const struct {
		const char *run, *there;
	} cases[] = {
		{ "run_sick", "\"straggler\": {\"rank\": 2, " },
		{ "run_healthy", "\"straggler\": null" },
		{ "run_healthy", "\"loss_spikes\": []" },
		{ "run_sick", "\"loss_spikes\": [30]" },
		{ "run_sick", "\"expr\": \"overlap.comm_ns>1\", \"value\": null, \"held\": false" },
		{ "run_mixed", "\"problems\": [],\n      \"ignored\": [\n        {\"path\": " },
		{ "two_steps.json", "\"rank\": 0,\n          \"facts\": {" },
		{ "run_rerun", "\"rank\": null,\n          \"facts\": {" },
		{ "run_healthy", "\"findings\": []" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct tscope_report_options options = { .format = TSCOPE_REPORT_JSON };
		struct judged run;
		char *text;

		load(&run, cases[i].run);
		text = report(&run, &options);
		if (!strstr(text, cases[i].there))
			fail_msg("%s: '%s' is not in:\n%s", cases[i].run, cases[i].there, text);
		free(text);
		unload(&run);
	}
}

/* A folder of step records whose path, phases and scalars would move the cursor. */
static void write_hostile_run(char *folder, size_t size)
{
	const char *base = getenv("TMPDIR");
	char path[1200];
	FILE *out;

	snprintf(folder, size, "%s/h\033]0;x\x07\xE2\x80\xAE-XXXXXX", base ? base : "/tmp");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/steps.jsonl", folder);
	out = fopen(path, "w");
	assert_non_null(out);
	for (int i = 0; i < 3; i++)
		fprintf(out,
			"{\"step\": %d, \"phases\": {\"\\u001b[2J\\u009b\\u202e\": 0.5, "
			"\"\xC2\x9B\xFF\": 0.25}, \"scalars\": {\"loss\": Infinity}}\n",
			i);
	assert_int_equal(fclose(out), 0);
}

static void remove_hostile_run(const char *folder)
{
	char path[1200];

	snprintf(path, sizeof(path), "%s/steps.jsonl", folder);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

TEST(test_hostile_names)
{
	static const char *const forbidden[] = { "\033", "\x07", "\xC2\x9B", "\xE2\x80\xAE",
						 "\xFF" };
	static const size_t formats[] = { TSCOPE_REPORT_TEXT, TSCOPE_REPORT_JSON };
	char folder[1024];
	struct judged run;

	write_hostile_run(folder, sizeof(folder));
	open_path(&run, folder);
	for (size_t i = 0; i < TSI_COUNT_OF(formats); i++) {
		char *text =
			report(&run, &(struct tscope_report_options){ .extent = TSCOPE_REPORT_FULL,
								      .format = formats[i],
								      .verbose = true });

		for (size_t j = 0; j < TSI_COUNT_OF(forbidden); j++)
			assert_null(strstr(text, forbidden[j]));
		assert_non_null(strstr(text, "202e"));
		free(text);
	}
	unload(&run);
	remove_hostile_run(folder);
}

TEST(test_full_device)
{
	FILE *out = fopen("/dev/full", "w");
	struct tscope_error err = { 0 };
	struct judged run;

	if (!out)
		skip();
	load(&run, "run_healthy");
	assert_int_equal(setvbuf(out, NULL, _IONBF, 0), 0);
	assert_int_equal(tscope_report_write_run(
				 out,
				 &(struct tscope_run_report){ run.run, run.diagnosis, NULL, 0 },
				 &(struct tscope_report_options){ 0 }, &err),
			 TSCOPE_E_WRITE);
	assert_string_equal(err.message, "cannot write the report");
	fclose(out);
	unload(&run);
}
