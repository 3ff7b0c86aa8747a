/* SPDX-License-Identifier: MIT */
/*
 * run/metrics_mlflow.c and run/mlflow_run.c: files of a run's metrics as metrics_dump() shows
 * them, stores in a folder that each case makes, and what stands beside.
 */
#include "run/mlflow_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attributes.h"
#include "check.h"
#include "fail_alloc.h"
#include "metric_text.h"
#include "test_folder.h"

#define RUN "mlruns/0/0123456789abcdef0123456789abcdef"

static void expect(const char *name, const char *text, const char *expected)
{
	metrics_expect("mlflow", name, tsi_str_of(text), expected);
}

/* ---- lines ---- */

TEST(test_lines)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{ "", "records 0\n" },
		/* ms are 1,000,000 ns. */
		{ "1700000000123 0.5 3\n", "3 m 0.5 @1700000000123000000\nrecords 1\n" },
		{ "1 1e-05 0\n2 nan 1\n3 -inf 2\r\n",
		  "0 m 1.0000000000000001e-05 @1000000\n1 m nan @2000000\n2 m -inf @3000000\n"
		  "records 3\n" },
		/* Newer files have more fields, older ones less. */
		{ "1 0.5 3 m-0a1b data digest\n", "3 m 0.5 @1000000\nrecords 1\n" },
		{ "1 0.5\n2 0.25 1\n", "1 m 0.25 @2000000\nrecords 2 no-step 1\n" },
		/* Steps below 0, and times that no clock shows. */
		{ "-1 0.5 -7\n9223372036854775807 1 -6\n",
		  "-7 m 0.5 @-1000000\n-6 m 1\nrecords 2\n" },
		/* Not of this kind. */
		{ "x 1 2\n1 x 2\n1 2 x\n1  2 3\n1\n\n1 0.5 2.5\n1 2 3\n",
		  "3 m 2 @1000000\nrecords 8 bad 7\n" },
		/* The last number may be cut. */
		{ "1 2 3\n4 5 6", "3 m 2 @1000000\nrecords 2 cut\n" },
		/* Out of order: by step, then time, then value, so that the newest is last. */
		{ "5 1 2\n9 7 1\n3 4 1\n9 8 1\n9 nan 1\n",
		  "1 m 4 @3000000\n1 m nan @9000000\n1 m 7 @9000000\n1 m 8 @9000000\n"
		  "2 m 1 @5000000\nrecords 5\n" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		expect("m", cases[i].text, cases[i].expected);
}

/* What MLflow samples beside the job counts its own samples. */
TEST(test_samples)
{
	expect("system/gpu_0_utilization_percentage", "1 50 0\n",
	       "0 system/gpu_0_utilization_percentage 50 @1000000 sample\nrecords 1\n");
	expect("systems/x", "1 50 0\n", "0 systems/x 50 @1000000\nrecords 1\n");
}

TEST(test_taste)
{
	static const struct {
		const char *path, *head, *name; /* NULL: not ours */
	} cases[] = {
		{ "mlruns/0/ab/metrics/loss", "1 0.5 3\n", "loss" },
		{ "metrics/train/loss", "1 0.5\n1 2 3\n", "train/loss" },
		{ "metrics/metrics/a", "1 0.5 3\n", "a" },
		{ "metrics/a", "1 0.5 3", NULL }, /* no whole line */
		{ "metrics/a", "epoch loss\n", NULL },
		{ "metrics/a", "", NULL },
		{ "metricsa", "1 0.5 3\n", NULL },
		{ "xmetrics/a", "1 0.5 3\n", NULL },
		{ "params/a", "1 0.5 3\n", NULL },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		const struct str head = tsi_str_of(cases[i].head);
		const struct metric_source *source = tsi_metric_source_find(cases[i].path, head, 1);

		if ((source != NULL) != (cases[i].name != NULL))
			fail_msg("%s: %s", cases[i].path, cases[i].head);
		if (source)
			assert_true(tsi_str_equal(source->name(cases[i].path),
						  tsi_str_of(cases[i].name)));
		/* In a folder that is no run's the same lines may be anything. */
		assert_null(tsi_metric_source_find(cases[i].path, head, METRIC_TASTE_CERTAIN));
	}
}

/* ---- stores ---- */

static void put_run(void)
{
	put_file(RUN "/meta.yaml", "artifact_uri: file:///x\nend_time: 1700000004500\n"
				   "lifecycle_stage: active\nrun_name: 'quick-fox'\n"
				   "start_time: 1700000000000\nstatus: 3\n");
	put_file(RUN "/params/lr", "0.001");
	put_file(RUN "/params/model", "gpt: small");
	put_file(RUN "/tags/mlflow.runName", "quick-fox");
	put_file(RUN "/metrics/loss", "1 2.5 0\n2 1.5 1\n");
	put_file(RUN "/metrics/train/lr", "1 0.5 0\n");
	put_file(RUN "/metrics/system/cpu", "1 50 0\n");
	put_file(RUN "/metrics/val loss.x", "2 0.75 1\n");
	put_file(RUN "/metrics/new", "");
}

static bool is_store(const char *path)
{
	const struct metric_source *source;

	assert_int_equal(tsi_metric_source_of_folder(&source, path, NULL, NULL), TSCOPE_OK);
	return source != NULL;
}

static enum tscope_status read_store(struct metric_log *log, const char *path,
				     struct tscope_error *err)
{
	const struct input_options options = { .single_thread = true };
	const struct metric_source *source;
	struct metric_reading reading;
	enum tscope_status status = tsi_metric_log_init(log, err);

	if (status == TSCOPE_OK)
		status = tsi_metric_source_of_folder(&source, path, NULL, err);
	if (status != TSCOPE_OK)
		return status;
	assert_non_null(source);
	return tsi_metrics_read(source, path, &options, log, &reading, err);
}

static void expect_store(const char *path, const char *expected)
{
	struct metric_log log;
	struct tscope_error err = { 0 };

	if (read_store(&log, path, &err) != TSCOPE_OK)
		fail_msg("failed: %s", err.message);
	char *dump = metrics_dump(&log);
	assert_string_equal(dump, expected);
	free(dump);
	tsi_metric_log_deinit(&log);
}

TEST_IN_FOLDER(test_store)
{
	put_run();
	expect_store(RUN "/metrics", "0 loss 2.5 @1000000\n1 loss 1.5 @2000000\n"
				     "0 system/cpu 50 @1000000 sample\n0 train/lr 0.5 @1000000\n"
				     "1 val loss.x 0.75 @2000000\nrecords 5\n");
	assert_int_equal(chdir(RUN), 0);
	assert_true(is_store("metrics"));
	assert_int_equal(chdir("../../.."), 0);
}

TEST_IN_FOLDER(test_no_store)
{
	/* No run beside it; no metrics in it; another name; nothing there. */
	put_file("a/metrics/loss", "1 2.5 0\n");
	assert_false(is_store("a/metrics"));
	put_file("b/params/lr", "1");
	put_file("b/metrics/notes", "hello\n");
	assert_false(is_store("b/metrics"));
	put_file("b/metrics/empty", ""); /* before it by name, and says nothing */
	assert_false(is_store("b/metrics"));
	put_file("c/params/lr", "1");
	put_file("c/scores/loss", "1 2.5 0\n");
	assert_false(is_store("c/scores"));
	assert_false(is_store("c/metrics"));
	put_file("d/tags/x", "1");
	put_file("d/metrics/empty", "");
	put_file("d/metrics/loss", "1 2.5 0\n");
	assert_true(is_store("d/metrics"));
}

/* What is no file, or cannot be read, costs itself only. */
TEST_IN_FOLDER(test_lost_files)
{
	put_run();
	put_file(RUN "/metrics/packed", "\x1f\x8b\x08 and no more");
	assert_int_equal(symlink("nowhere", RUN "/metrics/broken"), 0);
	assert_int_equal(mkfifo(RUN "/metrics/pipe", 0600), 0);
	assert_int_equal(symlink(".", RUN "/metrics/within"), 0);
	struct metric_log log;
	struct tscope_error err = { 0 };

	assert_int_equal(read_store(&log, RUN "/metrics", &err), TSCOPE_E_IO);
	assert_string_equal(err.message,
			    RUN "/metrics/broken: cannot open: No such file or directory");
	assert_true(log.lost_file_count >= 3);
	assert_true(log.count >= 5);
	tsi_metric_log_deinit(&log);
}

TEST_IN_FOLDER(test_store_without_values)
{
	struct metric_log log;
	struct tscope_error err = { 0 };

	put_file(RUN "/params/lr", "1");
	put_file(RUN "/metrics/a", "1 2\n");
	assert_int_equal(read_store(&log, RUN "/metrics", &err), TSCOPE_E_EMPTY);
	assert_string_equal(err.message, "no value says its step");
	tsi_metric_log_deinit(&log);
}

/* ---- what stands beside ---- */

static void describe(struct step_series *steps, const char *path)
{
	const struct input_options options = { .single_thread = true };
	const struct metric_file folder = { .path = path, .options = &options };

	tsi_steps_init(steps);
	assert_int_equal(tsi_mlflow_describe(&folder, steps, NULL), TSCOPE_OK);
	assert_false(steps->has_failed);
}

static const char *text_of(const struct step_series *steps, uint32_t id)
{
	return tsi_intern_text(&steps->names, id).data;
}

TEST_IN_FOLDER(test_description)
{
	struct step_series steps;
	const struct step_provenance *said = &steps.provenance;

	put_run();
	describe(&steps, RUN "/metrics");
	assert_string_equal(text_of(&steps, said->run_name), "quick-fox");
	assert_true(said->started_s == 1.7e9);
	assert_true(said->wall_s == 4.5);
	assert_int_equal(said->config.count, 2);
	assert_string_equal(text_of(&steps, said->config.items[0].name), "lr");
	assert_string_equal(text_of(&steps, said->config.items[0].value), "0.001");
	assert_string_equal(text_of(&steps, said->config.items[1].name), "model");
	assert_true(said->config.items[1].is_text);
	tsi_steps_deinit(&steps);
}

/* What is there and cannot be read is said; what is not there is not missed. */
TEST_IN_FOLDER(test_lost_descriptions)
{
	const struct input_options options = { .single_thread = true };
	const struct metric_file folder = { .path = "a/metrics", .options = &options };
	struct step_series steps;
	struct tscope_error err = { 0 };

	put_file("a/meta.yaml/x", "");
	put_file("a/params/lr", "0.1");
	tsi_steps_init(&steps);
	assert_int_equal(tsi_mlflow_describe(&folder, &steps, &err), TSCOPE_E_IO);
	assert_string_equal(err.message, "a/meta.yaml: is a directory; tscope report reads "
					 "directories");
	assert_int_equal(steps.provenance.config.count, 1);
	tsi_steps_deinit(&steps);
}

/* A run that goes on has no end; one may say nothing at all. */
TEST_IN_FOLDER(test_poor_descriptions)
{
	struct step_series steps;

	put_file("a/meta.yaml", "start_time: 1700000000000\nend_time: null\nrun_name: ''\n");
	describe(&steps, "a/metrics");
	assert_int_equal(steps.provenance.run_name, 0);
	assert_true(steps.provenance.started_s == 1.7e9);
	assert_true(isnan(steps.provenance.wall_s));
	tsi_steps_deinit(&steps);

	put_file("b/meta.yaml", "start_time: soon\nend_time: 5\nrun_names: x\n run_name: x\n");
	describe(&steps, "b/metrics");
	assert_int_equal(steps.provenance.run_name, 0);
	assert_true(isnan(steps.provenance.started_s) && isnan(steps.provenance.wall_s));
	tsi_steps_deinit(&steps);

	/* A clock that went back; a start that nobody set. */
	put_file("d/meta.yaml", "start_time: 1700000000000\nend_time: 1699999999999\n");
	describe(&steps, "d/metrics");
	assert_true(isnan(steps.provenance.wall_s));
	tsi_steps_deinit(&steps);
	put_file("e/meta.yaml", "start_time: 0\nend_time: 5\n");
	describe(&steps, "e/metrics");
	assert_true(isnan(steps.provenance.started_s) && isnan(steps.provenance.wall_s));
	tsi_steps_deinit(&steps);

	describe(&steps, "c/metrics");
	assert_true(isnan(steps.provenance.started_s));
	assert_int_equal(steps.provenance.config.count, 0);
	tsi_steps_deinit(&steps);
}

/* ---- damage ---- */

static const char whole[] = "1700000000000 2.5 0\n1700000000500 nan 1\n1700000001000 1e-05 2 a\n";

TEST(test_cut)
{
	metrics_cut_everywhere("mlflow", tsi_str_of(whole));
}

TEST(test_allocations)
{
	assert_true(metrics_fail_everywhere("mlflow", tsi_str_of(whole)) > 4);
}

TEST_IN_FOLDER(test_store_allocations)
{
	const struct input_options options = { .single_thread = true };
	const struct metric_file folder = { .path = RUN "/metrics", .options = &options };

	put_run();
	struct alloc_sweep sweep = { 0 };
	while (alloc_sweep_next(&sweep)) {
		struct metric_log log = { 0 };
		struct step_series steps = { 0 };

		alloc_sweep_start(&sweep);
		enum tscope_status status = read_store(&log, folder.path, &sweep.err);
		tsi_steps_init(&steps);
		assert_int_equal(tsi_mlflow_describe(&folder, &steps, NULL), TSCOPE_OK);
		if (status == TSCOPE_OK)
			status = tsi_steps_status(&steps, &sweep.err);
		alloc_sweep_check(&sweep, status);
		tsi_metric_log_deinit(&log);
		tsi_steps_deinit(&steps);
	}
}
