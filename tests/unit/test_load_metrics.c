/* SPDX-License-Identifier: MIT */
/*
 * src/session/load_metrics.c: what is said of a source beside its values, in a folder that
 * each case makes. Shown as "format: events dropped damage | note".
 */
#include "session/load.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "fail_alloc.h"
#include "test_folder.h"
#include "tfevents_writer.h"

static enum tscope_status load(struct loaded **loaded, const char *path,
			       const struct tscope_run_options *options, struct tscope_error *err)
{
	struct run_files files = { 0 };
	struct load load = { 0 }, *loads[] = { &load };
	enum tscope_status status = tsi_find_files(&files, &path, 1, err);

	if (status == TSCOPE_OK) {
		assert_int_equal(files.count, 1);
		assert_int_equal(files.items[0].kind, RUN_FILE_METRICS);
		load.file = files.items[0];
		status = tsi_load_files(loads, 1, options, err);
	}
	if (status == TSCOPE_OK && load.status != TSCOPE_OK)
		*err = load.error;
	*loaded = load.loaded;
	if (load.loaded)
		load.loaded->input.path = NULL; /* it goes with the files */
	tsi_arena_deinit(&files.arena);
	return status == TSCOPE_OK ? load.status : status;
}

static const struct tscope_run_options one_thread = { .trace = { .thread_count = 1 } };

static void expect(const char *path, const char *expected)
{
	struct loaded *loaded = NULL;
	struct tscope_error err = { 0 };
	char text[600];

	if (load(&loaded, path, &one_thread, &err) != TSCOPE_OK)
		fail_msg("%s: %s", path, err.message);
	assert_int_equal(loaded->input.kind, TSCOPE_INPUT_METRICS);
	assert_string_equal(tscope_input_kind_unit(loaded->input.kind), "values");
	assert_int_equal(loaded->input.rank, -1);
	snprintf(text, sizeof(text), "%s: %" PRIu64 " %" PRIu64 " %s | %s", loaded->input.format,
		 loaded->input.event_count, loaded->input.dropped_count,
		 loaded->input.damage ? loaded->input.damage->message : "-", loaded->input.note);
	assert_string_equal(text, expected);
	tsi_loaded_free(loaded);
}

static void expect_failure(const char *path, enum tscope_status status, const char *message)
{
	struct loaded *loaded = NULL;
	struct tscope_error err = { 0 };

	assert_int_equal(load(&loaded, path, &one_thread, &err), status);
	assert_string_equal(err.message, message);
	tsi_loaded_free(loaded);
}

/* ---- what is counted ---- */

TEST_IN_FOLDER(test_table)
{
	put_file("metrics.csv", "step,a,b\n1,2,3\n2,4,\n");
	expect("metrics.csv", "csv: 3 0 - | ");
	put_file("metrics.csv", "step,a,b\n1,2,x\n,4,5\n7,8,9,10\n1,2,3");
	/* 2 of step 1, of which one is a text; 2 without a step; a row too long; one of a cut row. */
	expect("metrics.csv", "csv: 7 5 - | broken records: 1 of 4; values that are no number: 1; "
			      "values without a step: 2; the last record is incomplete");
}

TEST_IN_FOLDER(test_events)
{
	struct bytes file = { 0 }, value = { 0 };

	tfevents_begin(&file, 1);
	tfevents_add_scalar(&file, 1, 1, "a", 0.5f);
	pb_text(&value, 1, "image");
	tfevents_add_value(&file, 1, 1, &value);
	put_bytes("events", file.data, file.length);
	expect("events", "tensorboard: 1 0 - | images, histograms and the like, which are no "
			 "scalars: 1");
	/* The length of a record that does not fit: what came before is kept. */
	size_t place = file.length;
	tfevents_add_scalar(&file, 1, 2, "a", 0.5f);
	file.data[place] ^= 1;
	put_bytes("events", file.data, file.length);
	expect("events", "tensorboard: 1 0 the checksum of a record's length does not fit: what "
			 "follows cannot be told apart | images, histograms and the like, which "
			 "are no scalars: 1");
	bytes_reset(&file);
}

TEST_IN_FOLDER(test_store)
{
	struct loaded *loaded = NULL;
	struct tscope_error err = { 0 };

	put_file("run/meta.yaml", "run_name: fox\n");
	put_file("run/metrics/a", "1 2 3\n1 2\n");
	put_file("run/metrics/b", "1 2 3\n");
	expect("run/metrics", "mlflow: 3 1 - | values without a step: 1");
	assert_int_equal(load(&loaded, "run/metrics", &one_thread, &err), TSCOPE_OK);
	assert_int_equal(loaded->metrics.count, 2);
	assert_int_equal(loaded->input.source_bytes, 16); /* lines of 6, 4 and 6 bytes */
	assert_string_equal(loaded->input.compression, "none");
	assert_string_equal(
		tsi_intern_text(&loaded->steps.names, loaded->steps.provenance.run_name).data,
		"fox");
	tsi_loaded_free(loaded);
}

/* ---- what is left out ---- */

TEST_IN_FOLDER(test_nothing)
{
	struct bytes file = { 0 };

	put_file("metrics.csv", "");
	expect_failure("metrics.csv", TSCOPE_E_EMPTY, "holds no value");
	put_file("metrics.csv", "step,a\n1,x\n");
	expect_failure("metrics.csv", TSCOPE_E_EMPTY, "no value can be read");
	put_file("metrics.csv", "step,a\n,1\n");
	expect_failure("metrics.csv", TSCOPE_E_EMPTY, "no value says its step");
	put_file("metrics.csv", "kernel,time\n");
	expect_failure("metrics.csv", TSCOPE_E_FORMAT,
		       "a CSV table without a column \"step\": not metrics by step");
	tfevents_begin(&file, 1);
	put_bytes("events", file.data, file.length);
	bytes_reset(&file);
	expect_failure("events", TSCOPE_E_EMPTY, "holds no value");
	put_file("events.out.tfevents.1.host", "no records at all");
	expect_failure("events.out.tfevents.1.host", TSCOPE_E_DAMAGED,
		       "the checksum of a record's length does not fit: what follows cannot be "
		       "told apart");
}

TEST_IN_FOLDER(test_range)
{
	struct tscope_run_options options = one_thread;
	struct loaded *loaded = NULL;
	struct tscope_error err = { 0 };

	put_file("run/tags/x", "");
	put_file("run/metrics/a", "1 2 3\n1 2 4\n1 2 5\n1 2 6\n");
	put_file("run/metrics/system/cpu", "1 50 0\n");
	options.timeline.has_range = true;
	options.timeline.first_step = 4;
	options.timeline.last_step = 5;
	assert_int_equal(load(&loaded, "run/metrics", &options, &err), TSCOPE_OK);
	assert_int_equal(loaded->metrics.count, 3); /* two, and the sample */
	assert_int_equal(loaded->metrics.points[0].step, 4);
	assert_int_equal(loaded->metrics.points[1].step, 5);
	assert_true(loaded->metrics.points[2].is_sample);
	tsi_loaded_free(loaded);

	put_file("metrics.csv", "step,a\n1,2\n");
	assert_int_equal(load(&loaded, "metrics.csv", &options, &err), TSCOPE_E_EMPTY);
	assert_string_equal(err.message, "no value for steps 4 to 5");
	tsi_loaded_free(loaded);
}

TEST_IN_FOLDER(test_allocations)
{
	put_file("run/meta.yaml", "run_name: fox\n");
	put_file("run/params/lr", "0.1");
	put_file("run/metrics/a", "1 2 3\n");
	struct alloc_sweep sweep = { .at_least = 20 };
	while (alloc_sweep_next(&sweep)) {
		struct loaded *loaded = NULL;

		alloc_sweep_try(&sweep, load(&loaded, "run/metrics", &one_thread, &sweep.err));
		tsi_loaded_free(loaded);
	}
}
