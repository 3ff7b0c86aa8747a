/* SPDX-License-Identifier: MIT */
/*
 * The numbers of steps in runs whose traces do not say them: windows of one rank, and folders that
 * tell the batches. Each case writes its traces into a folder of its own, which is the current one:
 * "path: steps, at" lines make a trace with that many steps of 1 ms, at that many ms after the
 * first; a path that ends in .csv makes metrics of steps 0 and 1.
 *
 * And tables that hold rows of all windows.
 */
#include <tscope/tscope.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/lookup.h"
#include "base/attributes.h"
#include "check.h"
#include "test_folder.h"

#define COUNTED                                                                                    \
	"traces that do not number their steps are windows of one rank: their steps were counted " \
	"from 0, in the order of time\n"
#define JOINED                                                                                     \
	"a trace does not number its steps: they were counted from 0, and joined by this to "      \
	"records or metrics\n"

static const struct {
	const char *files;
	const char *steps; /* of rank 0 */
	const char *notes;
} cases[] = {
	{ "run/100/rank0.json: 3, 0\n", "0 1 2", "" }, /* a third of its batches: not told */
	{ "run/3/rank0.json: 3, 0\nrun/5/rank0.json: 2, 10\n", "0 1 2 3 4", "" },
	/* The first window is lost, or not given. */
	{ "run/5/rank0.json: 2, 10\nrun/8/rank0.json: 3, 20\n", "0 1 5 6 7", "" },
	/* What was not published yet when the job ended. */
	{ "run/3/rank0.json: 3, 0\nrun/last/rank0.json: 2, 10\n", "0 1 2 3 4", COUNTED },
	/* Two batches make a step: 2 of 4, then 1 of 2. */
	{ "run/4/rank0.json: 2, 0\nrun/6/rank0.json: 1, 10\n", "0 1 2", COUNTED },
	/* The order of time holds, not that of names; several ranks each for itself. */
	{ "a.json: 2, 10\nb.json: 3, 0\n", "0 1 2 3 4", COUNTED },
	{ "a/rank0.json: 2, 10\nb/rank0.json: 2, 20\nb/rank1.json: 2, 20\n", "0 1 2 3", COUNTED },
	{ "rank0.json: 3, 0\nrank1.json: 3, 0\n", "0 1 2", "" },
	{ "rank0.json: 2, 0\nmetrics.csv\n", "0 1", JOINED },
	{ "2/rank0.json: 2, 0\nmetrics.csv\n", "0 1", "" },
};

/* A step ends with its optimizer's mark, 1 ms after the one before. */
static void put_trace(const char *path, int steps, int at_ms)
{
	char text[4096];
	int used = snprintf(text, sizeof(text),
			    "{\"baseTimeNanoseconds\": 1700000000000000000, \"traceEvents\": [\n"
			    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", "
			    "\"pid\": 1, \"tid\": 1, \"ts\": %d, \"dur\": 100}",
			    at_ms * 1000);

	for (int i = 0; i < steps; i++)
		used += snprintf(text + used, sizeof(text) - (size_t)used,
				 ",\n{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": "
				 "\"Optimizer.step#SGD.step\", \"pid\": 1, \"tid\": 1, "
				 "\"ts\": %d, \"dur\": 100}",
				 (at_ms + i) * 1000 + 900);
	snprintf(text + used, sizeof(text) - (size_t)used, "]}\n");
	put_file(path, text);
}

static void put_files(const char *lines)
{
	for (; *lines; lines = strchr(lines, '\n') + 1) {
		int steps, at_ms;
		char path[64];

		assert_int_equal(sscanf(lines, "%63[^:\n]", path), 1);
		if (sscanf(lines, "%*[^:]: %d, %d", &steps, &at_ms) == 2)
			put_trace(path, steps, at_ms);
		else
			put_file(path, "epoch,step,train_loss\n0,0,2.5\n0,1,2.25\n");
	}
}

static void check_run(size_t i)
{
	const char *path = ".";
	struct tscope_run *run = NULL;
	struct tscope_error err = { 0 };
	char steps[256] = "", notes[1024] = "";
	size_t used = 0;

	if (tscope_run_open(&run, &path, 1, NULL, &err) != TSCOPE_OK)
		fail_msg("%s: %s", cases[i].files, err.message);
	for (size_t j = 0; j < tscope_run_step_count(run, 0); j++)
		used += (size_t)snprintf(steps + used, sizeof(steps) - used, "%s%" PRId64,
					 j ? " " : "", tscope_run_step(run, 0, j).number);
	used = 0;
	for (size_t j = 0; j < tscope_run_note_count(run); j++)
		used += (size_t)snprintf(notes + used, sizeof(notes) - used, "%s\n",
					 tscope_run_note(run, j));
	assert_string_equal(steps, cases[i].steps);
	assert_string_equal(notes, cases[i].notes);
	tscope_run_free(run);
}

TEST(steps_are_numbered)
{
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		assert_int_equal(enter_folder(state), 0);
		put_files(cases[i].files);
		check_run(i);
		assert_int_equal(leave_folder(state), 0);
	}
}

/* A step of 1 ms: Python, then from `idle_us` on an operator of 20 us that launches a kernel. */
static void put_step(const char *path, int number, int idle_us, const char *op)
{
	char text[2048];
	int start_us = number * 1000, op_us = start_us + idle_us;

	snprintf(
		text, sizeof(text),
		"{\"baseTimeNanoseconds\": 1700000000000000000, \"traceEvents\": [\n"
		"{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#%d\", "
		"\"pid\": 1, \"tid\": 1, \"ts\": %d, \"dur\": 1000},\n"
		"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"%s\", \"pid\": 1, \"tid\": 1, "
		"\"ts\": %d, \"dur\": 20},\n"
		"{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", "
		"\"pid\": 1, \"tid\": 1, \"ts\": %d, \"dur\": 5, \"args\": {\"correlation\": 7}},\n"
		"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"pid\": 0, \"tid\": 7, "
		"\"ts\": %d, \"dur\": %d, \"args\": {\"device\": 0, \"correlation\": 7}}]}\n",
		number, start_us, op, op_us, op_us, op_us + 5, 995 - idle_us);
	put_file(path, text);
}

static void check_row(const struct tscope_analysis *analysis, const char *table, size_t row,
		      const char *columns, const char *expected)
{
	struct table_view view = tsi_lookup_table(analysis, table);
	char found[256] = "", column[32];
	size_t used = 0;

	for (int read; sscanf(columns, "%31s%n", column, &read) == 1; columns += read) {
		struct tscope_value cell = tsi_table_find(&view, row, column);
		used += (size_t)(cell.kind == TSCOPE_VALUE_TEXT
					 ? snprintf(found + used, sizeof(found) - used, "%s%s",
						    used ? " " : "", cell.text)
					 : snprintf(found + used, sizeof(found) - used,
						    "%s%" PRId64, used ? " " : "", cell.integer));
	}
	assert_string_equal(found, expected);
}

/* 700, 100 and 300 us of Python in three steps: a third each of 700 and 400 by operator. */
TEST(idle_time_is_that_of_all_windows)
{
	const char *path = ".";
	struct tscope_run *run = NULL;
	struct tscope_error err = { 0 };

	assert_int_equal(enter_folder(state), 0);
	put_step("a.json", 1, 700, "aten::add");
	put_step("b.json", 2, 100, "aten::mm");
	put_step("c.json", 3, 300, "aten::mm");
	assert_int_equal(tscope_run_open(&run, &path, 1, NULL, &err), TSCOPE_OK);
	const struct tscope_analysis *analysis = tscope_run_analysis(run);
	check_row(analysis, "idle.gaps", 0, "cause duration_ns step path",
		  "python 705000 1 ./a.json");
	check_row(analysis, "idle.gaps", 1, "cause duration_ns step path",
		  "python 305000 3 ./c.json");
	check_row(analysis, "idle.gaps", 2, "cause duration_ns step path",
		  "python 105000 2 ./b.json");
	check_row(analysis, "idle.culprits", 0, "cause name ns_per_step count",
		  "python before aten::add 233333 1");
	check_row(analysis, "idle.culprits", 1, "cause name ns_per_step count",
		  "python before aten::mm 133333 2");
	tscope_run_free(run);
	assert_int_equal(leave_folder(state), 0);
}
