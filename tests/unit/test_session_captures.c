/* SPDX-License-Identifier: MIT */
/*
 * Traces of the capture of graphs beside those of a run. Each case writes traces into a folder of
 * its own; a letter says what is in one: r a replay (an iteration of 1 ms that launches a graph of
 * one kernel), c a capture (three of four launches lie between its begin and its end), m one that
 * its annotation alone tells, w a warm-up of three kernels and the capture of one.
 */
#include <tscope/tscope.h>

#include <stdio.h>
#include <string.h>

#include "base/attributes.h"
#include "check.h"
#include "test_folder.h"

#define EVENT(cat, name, ts, dur, args)                                                            \
	"{\"ph\": \"X\", \"cat\": \"" cat "\", \"name\": \"" name                                  \
	"\", \"pid\": 1, \"tid\": 1, \"ts\": " #ts ", \"dur\": " #dur ", \"args\": {" args "}}"
#define CALL(name, ts) ",\n" EVENT("cuda_runtime", name, ts, 2, "")
#define LAUNCH(ts, id)                                                                             \
	",\n" EVENT("cuda_runtime", "cudaLaunchKernel", ts, 2, "\"correlation\": " #id)
#define KERNEL(ts, id)                                                                             \
	",\n{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"pid\": 0, \"tid\": 7, "     \
	"\"ts\": " #ts ", \"dur\": 5, \"args\": {\"device\": 0, \"stream\": 7, "                   \
	"\"correlation\": " #id "}}"
#define HEAD "{\"baseTimeNanoseconds\": 1700000000000000000, \"traceEvents\": [\n"

static const char replay[] = HEAD EVENT("user_annotation", "step[DECODE bs=4]", 0, 1000,
					"") ",\n" EVENT("cuda_runtime", "cudaGraphLaunch", 100, 5,
							"\"correlation\": 1") KERNEL(110, 1) "]}";
static const char capture[] = HEAD EVENT("user_annotation", "capture_4_FULL", 0, 1000, "")
	LAUNCH(10, 1) KERNEL(15, 1) CALL("cudaStreamBeginCapture", 20) LAUNCH(30, 2) LAUNCH(40, 3)
		LAUNCH(50, 4) CALL("cudaStreamEndCapture", 60) "]}";
static const char marked[] = HEAD EVENT("user_annotation", "capture_4_FULL", 0, 1000,
					"") ",\n" EVENT("cpu_op", "aten::mm", 10, 10, "") "]}";
static const char warm[] = HEAD EVENT("cpu_op", "aten::mm", 0, 50, "") LAUNCH(10, 1) KERNEL(15, 1)
	LAUNCH(20, 2) KERNEL(25, 2) LAUNCH(30, 3) KERNEL(35, 3) CALL("cudaStreamBeginCapture", 60)
		LAUNCH(70, 4) CALL("cudaStreamEndCapture", 80) "]}";

static const struct {
	const char *files; /* "letter path" lines; the first path is opened, or its folder */
	const char *open;
	const char *read; /* what is of the run */
	const char *note;
} cases[] = {
	{ "r run/replay.json\nc run/capture_traces/bs_4_rank0.json\n", "run", "run/replay.json\n",
	  "run/capture_traces/bs_4_rank0.json records the capture of a graph: it is no part of "
	  "the run\n" },
	{ "r run/rank0.json\nr run/rank1.json\nc run/bs_4_rank0.json\nm run/bs_8_rank1.json\n",
	  "run", "run/rank0.json\nrun/rank1.json\n",
	  "2 traces record the capture of graphs (run/bs_4_rank0.json …): they are no part of the "
	  "run\n" },
	/* What surrounds a capture is no run either, where its folder says what was to be had. */
	{ "r run/a.json\nw run/capture_traces/b.json\n", "run", "run/a.json\n",
	  "run/capture_traces/b.json records the capture of a graph: it is no part of the run\n" },
	{ "w run/rank0.json\n", "run", "run/rank0.json\n", "" },
	/* Nothing else is there: a finding says what it is. */
	{ "c run/capture_traces/bs_4_rank0.json\n", "run", "run/capture_traces/bs_4_rank0.json\n",
	  "" },
};

static void put_traces(const char *lines)
{
	for (; *lines; lines = strchr(lines, '\n') + 1) {
		char path[64];

		assert_int_equal(sscanf(lines, "%*c %63[^\n]", path), 1);
		put_file(path, *lines == 'r'   ? replay
			       : *lines == 'c' ? capture
			       : *lines == 'm' ? marked
					       : warm);
	}
}

static void check_case(size_t i)
{
	struct tscope_run *run;
	struct tscope_error err = { 0 };
	char read[256] = "", notes[512] = "";
	size_t used = 0;

	assert_int_equal(tscope_run_open(&run, &cases[i].open, 1, NULL, &err), TSCOPE_OK);
	for (size_t k = 0; k < tscope_run_input_count(run); k++)
		used += (size_t)snprintf(read + used, sizeof(read) - used, "%s\n",
					 tscope_run_input(run, k).path);
	used = 0;
	for (size_t k = 0; k < tscope_run_note_count(run); k++)
		used += (size_t)snprintf(notes + used, sizeof(notes) - used, "%s\n",
					 tscope_run_note(run, k));
	assert_string_equal(read, cases[i].read);
	assert_string_equal(notes, cases[i].note);
	for (size_t k = 0; k < tscope_run_other_count(run); k++) {
		assert_true(tscope_run_other(run, k).is_capture);
		assert_false(tscope_run_other(run, k).is_problem);
	}
	tscope_run_free(run);
}

TEST(captures_are_no_part_of_a_run)
{
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		assert_int_equal(enter_folder(state), 0);
		put_traces(cases[i].files);
		check_case(i);
		assert_int_equal(leave_folder(state), 0);
	}
}
