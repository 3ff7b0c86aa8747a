/* SPDX-License-Identifier: MIT */
/*
 * The numbers of steps in runs whose traces do not say them: windows of one rank, and folders that
 * tell the batches. Each case writes its traces into a folder of its own, which is the current one:
 * "path: steps, at" lines make a trace with that many steps of 1 ms, at that many ms after the
 * first; a path that ends in .csv makes metrics of steps 0 and 1.
 */
#include <tscope/tscope.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
