/* SPDX-License-Identifier: MIT */
/*
 * run/find.c and run/taste.c on what holds metrics: each case builds a small tree in a folder of
 * its own, and compares what is found as text, "kind path [by source] [named] [: reason]".
 */

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "found_files.h"
#include "test_folder.h"
#include "tfevents_writer.h"

#define TABLE "epoch,step,train_loss\n0,0,2.5\n"
#define LINES "1700000000000 2.5 0\n"
#define TRACE "{\"traceEvents\":[]}"
#define NOT_READ "not a kind of file that tscope reads"
#define STORE_META "meta.yaml of an MLflow store: tscope reads the metrics beside it"
#define OTHER_TABLE                                                                                \
	"a CSV table with a column \"step\": if it holds metrics, use `tscope report FILE`"

static void expect(const char *path, const char *expected)
{
	expect_files(&path, 1, expected);
}

static void put_events(const char *path)
{
	struct bytes file = { 0 };

	tfevents_begin(&file, 1);
	put_bytes(path, file.data, file.length);
	bytes_reset(&file);
}

/* ---- files ---- */

/* As Lightning lays them out; a host may be called like a file of another kind. */
TEST_IN_FOLDER(test_lightning)
{
	put_file("run/version_0/metrics.csv", TABLE);
	put_file("run/version_0/metrics.csv.bak", TABLE);
	put_events("run/version_0/events.out.tfevents.17.host.1.0");
	put_events("run/version_0/events.out.tfevents.18.host.py");
	put_file("run/version_0/events.out.tfevents.19.host.2.0", "");
	put_events("run/version_0/renamed");
	expect("run", "metrics run/version_0/events.out.tfevents.17.host.1.0 by tensorboard\n"
		      "metrics run/version_0/events.out.tfevents.18.host.py by tensorboard\n"
		      "metrics run/version_0/events.out.tfevents.19.host.2.0 by tensorboard\n"
		      "metrics run/version_0/metrics.csv by csv\n"
		      "ignored run/version_0/metrics.csv.bak: " OTHER_TABLE "\n"
		      "metrics run/version_0/renamed by tensorboard\n");
}

/* Of tables those that are called so, or look so; the rest is no problem. */
TEST_IN_FOLDER(test_tables)
{
	put_file("run/history.csv", "step,loss\n1,2\n");
	put_file("run/kernels.csv", "kernel,time\nmm,5\n");
	put_file("run/metrics_old.csv", "kernel,time\nmm,5\n");
	put_file("run/moves.csv", "step,type\n1,PAYMENT\n");
	put_file("run/empty.csv", "");
	expect("run", "ignored run/empty.csv: " NOT_READ "\n"
		      "metrics run/history.csv by csv\n"
		      "ignored run/kernels.csv: " NOT_READ "\n"
		      "metrics run/metrics_old.csv by csv\n"
		      "ignored run/moves.csv: " OTHER_TABLE "\n");
	/* One that was named is read, to tell what it lacks. */
	expect("run/kernels.csv", "metrics run/kernels.csv by csv named\n");
	expect("run/moves.csv", "metrics run/moves.csv by csv named\n");
}

/* One table in two compressions is one. */
TEST_IN_FOLDER(test_twins)
{
	put_file("run/metrics.csv", TABLE);
	put_file("run/metrics.csv.gz", TABLE);
	expect("run", "metrics run/metrics.csv by csv\n"
		      "ignored run/metrics.csv.gz: metrics.csv again, in another compression\n");
}

/* ---- stores ---- */

static void put_store(void)
{
	put_file("mlruns/0/meta.yaml",
		 "experiment_id: '0'\nlifecycle_stage: active\nname: Default\n");
	put_file("mlruns/0/ab/meta.yaml",
		 "artifact_uri: file:///x\nend_time: null\nlifecycle_stage: active\nrun_name: x\n");
	put_file("mlruns/0/ab/params/lr", "0.1");
	put_file("mlruns/0/ab/tags/mlflow.runName", "x");
	put_file("mlruns/0/ab/metrics/loss", LINES);
	put_file("mlruns/0/ab/metrics/system/cpu", LINES);
	put_file("mlruns/0/ab/artifacts/trace.json", TRACE);
	put_file("mlruns/.trash/cd/metrics/loss", LINES);
	put_file("mlruns/.trash/cd/params/lr", "0.1");
}

TEST_IN_FOLDER(test_store)
{
	static const char *const both[] = { "mlruns", "mlruns/0/ab/metrics" };

	put_store();
	expect("mlruns", "ignored mlruns/0/meta.yaml: " STORE_META "\n"
			 "ignored mlruns/0/ab/meta.yaml: " STORE_META "\n"
			 "trace mlruns/0/ab/artifacts/trace.json\n"
			 "metrics mlruns/0/ab/metrics by mlflow\n");
	expect("mlruns/0/ab/metrics", "metrics mlruns/0/ab/metrics by mlflow named\n");
	expect("mlruns/0/ab/metrics/", "metrics mlruns/0/ab/metrics by mlflow named\n");
	expect("mlruns/0/ab/metrics/loss", "metrics mlruns/0/ab/metrics/loss by mlflow named\n");
	expect("mlruns/0/ab/metrics/system",
	       "ignored mlruns/0/ab/metrics/system/cpu: not a trace: expected JSON that begins "
	       "with { or [, found \"1700000000000 2.\"\n");
	expect_files(both, 2,
		     "ignored mlruns/0/meta.yaml: " STORE_META "\n"
		     "ignored mlruns/0/ab/meta.yaml: " STORE_META "\n"
		     "trace mlruns/0/ab/artifacts/trace.json\n"
		     "metrics mlruns/0/ab/metrics by mlflow\n");
	assert_int_equal(chdir("mlruns/0/ab"), 0);
	expect(".", "ignored ./meta.yaml: " STORE_META "\n"
		    "trace ./artifacts/trace.json\n"
		    "metrics ./metrics by mlflow\n");
	assert_int_equal(chdir("../../.."), 0);
}

/* A folder of this name without a run around it, and folders params and tags of somebody else. */
TEST_IN_FOLDER(test_no_store)
{
	put_file("a/metrics/trace.json", TRACE);
	put_file("a/params/trace.json", TRACE);
	put_file("a/tags/trace.json", TRACE);
	expect("a", "trace a/metrics/trace.json\n"
		    "trace a/params/trace.json\n"
		    "trace a/tags/trace.json\n");
}

TEST_IN_FOLDER(test_allocations)
{
	const char *const path = "mlruns";

	put_store();
	put_file("mlruns/metrics.csv", TABLE);
	sweep_find(&path, 1, 10);
}
