/* SPDX-License-Identifier: MIT */
/* Runs from end to end of each rank's own traces, and of those that a merger made of them. */
#include "test_folder.h"

#include <stdio.h>
#include <string.h>
#include <tscope/tscope.h>

#include "check.h"
#include "fail_alloc.h"

static const struct tscope_run_options one_thread = { .trace = { .thread_count = 1 } };

/* An event of a rank, by its times on its own clock in µs after BASE. */
#define BASE "1790857026"
#define EVENT(phase, name, at, rank, args)                                                         \
	"{\"name\": \"" name "\", \"cat\": \"\", \"ph\": \"" phase "\", \"ts\": " BASE #at         \
	", \"pid\": " #rank ", \"tid\": 7" #rank ", \"args\": {" args "}},\n"
#define SORT_INDEX(rank)                                                                           \
	"{\"name\": \"thread_sort_index\", \"ph\": \"M\", \"pid\": " #rank ", \"tid\": 7" #rank    \
	", \"args\": {\"sort_index\": 99999}},\n"
#define IDENTITY(rank, at, sync)                                                                   \
	EVENT("M", "global_rank", at, rank, "\"value\": " #rank)                                   \
	EVENT("M", "clock_sync_timestamp_us", at, rank, "\"value\": " BASE #sync)                  \
	EVENT("M", "clock_sync_error_bound", at, rank, "\"value\": 3")
#define BATCH(rank, start, end, number)                                                            \
	EVENT("B", "event/train_batch", start, rank, "\"epoch\": 0, \"batch\": " #number)          \
	EVENT("E", "event/train_batch", end, rank, "\"epoch\": 0, \"batch\": " #number)

/* Rank 1 is 40 ahead, and starts 5 and 15 later than rank 0. */
#define RANK_0                                                                                     \
	IDENTITY(0, 000100, 000150)                                                                \
	BATCH(0, 000200, 000700, 8) BATCH(0, 001200, 001700, 9) BATCH(0, 002200, 002700, 10)
#define RANK_1                                                                                     \
	IDENTITY(1, 000140, 000190)                                                                \
	BATCH(1, 000245, 000745, 8) BATCH(1, 001255, 001755, 9) BATCH(1, 002240, 002740, 10)
/* The same on the clock of rank 0; the moments in args stay as they were. */
#define SHIFTED_1                                                                                  \
	IDENTITY(1, 000100, 000190)                                                                \
	BATCH(1, 000205, 000705, 8) BATCH(1, 001215, 001715, 9) BATCH(1, 002200, 002700, 10)

static const char rank_0[] = "[\n" RANK_0;
static const char rank_1[] = "[\n" RANK_1;
static const char merged[] = "[" SORT_INDEX(0) RANK_0 SORT_INDEX(1) SHIFTED_1;

static struct tscope_run *open_run(const char *path, const struct tscope_run_options *options)
{
	struct tscope_error err = { 0 };
	struct tscope_run *run = NULL;

	if (tscope_run_open(&run, &path, 1, options, &err) != TSCOPE_OK)
		fail_msg("%s: %s", path, err.message);
	return run;
}

static int64_t cell(const struct tscope_run *run, const char *column, size_t row)
{
	const struct tscope_analysis *analysis = tscope_run_analysis(run);
	size_t analyzer = 0, index = 0;

	while (strcmp(tscope_analyzer(analyzer)->id, "clock_sync") != 0)
		analyzer++;
	const struct tscope_table_def *table = &tscope_analyzer(analyzer)->tables[0];
	while (strcmp(table->columns[index].name, column) != 0)
		index++;
	return tscope_analysis_cell(analysis, analyzer, 0, TSCOPE_WHOLE_TRACE, row, index).integer;
}

/* Both ranks with their steps 8 to 10, of which two count; the clock 40 ahead and late by 20 ÷ 3. */
static void check_two_ranks(const struct tscope_run *run)
{
	assert_int_equal(tscope_run_rank_count(run), 2);
	for (size_t rank = 0; rank < 2; rank++) {
		assert_int_equal(tscope_run_rank_number(run, rank), rank);
		assert_int_equal(tscope_run_step_count(run, rank), 3);
		assert_int_equal(tscope_run_step(run, rank, 0).number, 8);
		assert_int_equal(tscope_run_step(run, rank, 2).number, 10);
		assert_false(tscope_run_step(run, rank, 2).is_timed);
	}
	assert_int_equal(tscope_run_step(run, 0, 0).time_ns, 1000000);
	assert_int_equal(tscope_run_step(run, 1, 0).time_ns, 1010000);
	assert_int_equal(cell(run, "offset_ns", 0), 0);
	assert_int_equal(cell(run, "offset_ns", 1), 40000);
	assert_int_equal(cell(run, "mean_lateness_ns", 0), 0);
	assert_int_equal(cell(run, "mean_lateness_ns", 1), 6667);
}

TEST_IN_FOLDER(files_of_the_ranks)
{
	put_file("traces/ep0-ba11-rank0.json", rank_0);
	put_file("traces/ep0-ba11-rank1.json", rank_1);
	struct tscope_run *run = open_run("traces", NULL);
	check_two_ranks(run);
	tscope_run_free(run);
}

TEST_IN_FOLDER(a_merged_file)
{
	put_file("merged_trace.json", merged);
	struct tscope_run *run = open_run("merged_trace.json", NULL);
	check_two_ranks(run);
	assert_int_equal(tscope_run_input_count(run), 2);
	for (size_t i = 0; i < 2; i++) {
		assert_string_equal(tscope_run_input(run, i).path, "merged_trace.json");
		assert_string_equal(tscope_run_input(run, i).format, "composer");
		assert_int_equal(tscope_run_input(run, i).rank, i);
		assert_string_equal(tscope_run_input(run, i).note,
				    "one of the 2 ranks that were merged into it");
	}
	tscope_run_free(run);
}

/* Files put one behind the other are several arrays, whose clocks nobody corrected. */
TEST_IN_FOLDER(files_behind_each_other)
{
	static const char both[] = "[\n" RANK_0 "{}]\n[\n" RANK_1 "{}]\n";
	put_file("both.json", both);
	struct tscope_run *run = open_run("both.json", NULL);
	check_two_ranks(run);
	tscope_run_free(run);
}

/* Composer leaves both in one folder. */
TEST_IN_FOLDER(a_merged_file_beside_its_ranks)
{
	put_file("traces/ep0-ba11-rank0.json", rank_0);
	put_file("traces/ep0-ba11-rank1.json", rank_1);
	put_file("traces/merged_trace.json", merged);
	struct tscope_run *run = open_run("traces", NULL);
	check_two_ranks(run);
	assert_int_equal(tscope_run_input_count(run), 2);
	assert_int_equal(tscope_run_other_count(run), 1);
	assert_string_equal(tscope_run_other(run, 0).path, "traces/merged_trace.json");
	assert_string_equal(tscope_run_other(run, 0).reason,
			    "merged from the traces of ranks 0-1, which were read");
	assert_false(tscope_run_other(run, 0).is_problem);
	tscope_run_free(run);
}

/* Only rank 0 has a trace of its own: the other comes out of the merged one. */
TEST_IN_FOLDER(a_merged_file_beside_one_rank)
{
	put_file("traces/ep0-ba11-rank0.json", rank_0);
	put_file("traces/merged_trace.json", merged);
	struct tscope_run *run = open_run("traces", NULL);
	check_two_ranks(run);
	assert_string_equal(tscope_run_input(run, 0).path, "traces/ep0-ba11-rank0.json");
	assert_string_equal(tscope_run_input(run, 1).path, "traces/merged_trace.json");
	tscope_run_free(run);
}

/* A trace of another time is another window. */
TEST_IN_FOLDER(a_merged_file_beside_another_recording)
{
	put_file("traces/merged_trace.json", merged);
	put_file("traces/ep0-ba21-rank0.json",
		 "[" IDENTITY(0, 100100, 100150) BATCH(0, 100200, 100700, 18));
	struct tscope_run *run = open_run("traces", NULL);
	assert_int_equal(tscope_run_rank_count(run), 2);
	assert_int_equal(tscope_run_step_count(run, 0), 4);
	assert_int_equal(tscope_run_step(run, 0, 3).number, 18);
	assert_int_equal(tscope_run_step_count(run, 1), 3);
	tscope_run_free(run);
}

/* One per node; the events of both are of the same time. */
TEST_IN_FOLDER(several_merged_files)
{
	put_file("traces/rank3.json", merged); /* what names say of merged files means nothing */
	put_file("traces/z.json",
		 "[" SORT_INDEX(2) IDENTITY(2, 000100, 000150) BATCH(2, 000200, 000700, 8)
			 SORT_INDEX(3) IDENTITY(3, 000100, 000150) BATCH(3, 000200, 000700, 8));
	struct tscope_run *run = open_run("traces", NULL);
	assert_int_equal(tscope_run_rank_count(run), 4);
	assert_int_equal(tscope_run_rank_number(run, 3), 3);
	assert_int_equal(tscope_run_input_count(run), 4);
	tscope_run_free(run);
}

/* Of a second recording the merger gives all ranks of the first to the lowest one. */
TEST_IN_FOLDER(ranks_in_one_process)
{
	static const char mixed[] = "[" SORT_INDEX(0) RANK_0
		"{\"name\": \"global_rank\", \"ph\": \"M\", \"pid\": 0, \"tid\": 71, "
		"\"args\": {\"value\": 1}},\n"
		"{\"name\": \"event/train_batch\", \"ph\": \"X\", \"ts\": " BASE
		"000300, \"dur\": 5, \"pid\": 0, \"tid\": 71}\n";
	put_file("mixed.json", mixed);
	struct tscope_run *run = open_run("mixed.json", NULL);
	assert_int_equal(tscope_run_rank_count(run), 2);
	assert_int_equal(tscope_run_step_count(run, 0), 3);
	assert_int_equal(tscope_run_step_count(run, 1), 1);
	assert_true(tscope_run_note_count(run) >= 1);
	assert_non_null(strstr(tscope_run_note(run, 0), "mixed.json: the merger mixed ranks"));
	tscope_run_free(run);
}

/* A part that holds no span of its rank is told, and the others are read. */
TEST_IN_FOLDER(a_rank_without_work)
{
	put_file("merged.json", "[" SORT_INDEX(0) RANK_0 IDENTITY(1, 000100, 000150));
	struct tscope_run *run = open_run("merged.json", NULL);
	assert_int_equal(tscope_run_rank_count(run), 1);
	assert_int_equal(tscope_run_other_count(run), 1);
	assert_true(tscope_run_other(run, 0).is_problem);
	tscope_run_free(run);
}

/* ---- traces of torch ---- */

/* A step and an operator in it, in µs; of PID as JSON. */
#define STEP(number, at, pid)                                                                      \
	"{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#" #number          \
	"\", \"ts\": " #at "00, \"dur\": 90, \"pid\": " pid ", \"tid\": 7},\n"                     \
	"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"ts\": " #at                \
	"10, \"dur\": 50, \"pid\": " pid ", \"tid\": 7},\n"
#define STEPS(pid) STEP(1, 1, pid) STEP(2, 2, pid)
#define SPAN_OF_PROFILER(pid)                                                                      \
	"{\"ph\": \"X\", \"cat\": \"Trace\", \"name\": \"PyTorch Profiler (0)\", \"ts\": 90, "     \
	"\"dur\": 250, \"pid\": " pid ", \"tid\": \"PyTorch Profiler\"},\n"
#define PROCESS(pid, args)                                                                         \
	"{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": " pid                                \
	", \"tid\": 0, \"args\": {" args "}},\n"
#define TORCH(events)                                                                              \
	"{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": 0, \"world_size\": 2}, "           \
	"\"traceEvents\": [\n" events "{}]}\n"

/* Rank 1 has a step more. */
static void check_torch(const char *path, int64_t second)
{
	struct tscope_run *run = open_run(path, NULL);

	assert_int_equal(tscope_run_rank_count(run), 2);
	assert_int_equal(tscope_run_rank_number(run, 0), 0);
	assert_int_equal(tscope_run_rank_number(run, 1), second);
	assert_int_equal(tscope_run_step_count(run, 0), 2);
	assert_int_equal(tscope_run_step_count(run, 1), 3);
	assert_int_equal(tscope_run_input_count(run), 2);
	assert_int_equal(tscope_run_input(run, 1).rank, second);
	tscope_run_free(run);
}

TEST_IN_FOLDER(ranks_of_torch_by_their_pids)
{
	put_file("sglang.json", TORCH(STEPS("\"[TP00] 42\"") SPAN_OF_PROFILER("\"[TP00] Spans\"")
					      STEPS("\"[TP01] 42\"") STEP(3, 3, "\"[TP01] 42\"")));
	check_torch("sglang.json", 1);
	/* The place in the pipeline makes it the third of two times two. */
	put_file("pipeline.json", TORCH(STEPS("\"[TP00-PP00] 42\"") STEP(1, 1, "\"[TP01-PP00] 43\"")
						STEPS("\"[TP00-PP01] 44\"")));
	struct tscope_run *run = open_run("pipeline.json", NULL);
	assert_int_equal(tscope_run_rank_count(run), 3);
	assert_int_equal(tscope_run_rank_number(run, 2), 2);
	tscope_run_free(run);
	/* Two worlds of one rank each. */
	put_file("data.json", TORCH(STEPS("\"[TP00-DP00] 42\"") STEPS("\"[TP00-DP01] 43\"")
					    STEP(3, 3, "\"[TP00-DP01] 43\"")));
	check_torch("data.json", 1);
	put_file("before.json",
		 TORCH(STEPS("\"rank0_42\"") STEPS("\"rank3_42\"") STEP(3, 3, "\"rank3_42\"")));
	check_torch("before.json", 3);
	put_file("behind.json", TORCH(STEPS("\"42_0\"") STEPS("\"42_1\"") STEP(3, 3, "\"42_1\"")));
	check_torch("behind.json", 1);
}

TEST_IN_FOLDER(ranks_of_torch_by_what_is_said_of_processes)
{
	put_file("args.json", TORCH(PROCESS("42", "\"name\": \"python3\", \"rank\": 0") STEPS("42")
					    PROCESS("1042", "\"name\": \"python3\", \"rank\": 1")
						    STEPS("1042") STEP(3, 3, "1042")));
	check_torch("args.json", 1);
	put_file("names.json", TORCH(STEPS("1") PROCESS("1", "\"name\": \"Rank 0\"") STEPS("2")
					     STEP(3, 3, "2") PROCESS("2", "\"name\": \"Rank 1\"")));
	check_torch("names.json", 1);
}

/* As scripts put it before all names, and number pids anew. */
TEST_IN_FOLDER(ranks_of_torch_before_names)
{
	put_file(
		"names.json",
		TORCH("{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"[R0] "
		      "ProfilerStep#4\", \"ts\": 100, \"dur\": 90, \"pid\": 0, \"tid\": 7},\n"
		      "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"[R1] "
		      "ProfilerStep#5\", \"ts\": 100, \"dur\": 90, \"pid\": 1000, \"tid\": 7},\n"));
	struct tscope_run *run = open_run("names.json", NULL);
	assert_int_equal(tscope_run_rank_count(run), 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(tscope_run_step(run, i, 0).number, 4 + i);
	tscope_run_free(run);
}

/* Of processes that have no rank, or two, nothing is known. */
TEST_IN_FOLDER(processes_that_are_no_ranks)
{
	static const char *const files[] = {
		TORCH(STEPS("1") PROCESS("1", "\"name\": \"Rank 0\"") STEPS("2")),
		TORCH(STEPS("1") PROCESS("1", "\"name\": \"Rank 0\"")
			      PROCESS("1", "\"name\": \"Rank 1\"") STEPS("2")
				      PROCESS("2", "\"name\": \"Rank 1\"")),
		TORCH(STEPS("\"rank0_42\"") STEPS("42")),
		TORCH(STEPS("\"a_0\"") STEPS("\"a_1\"")),
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		put_file("mixed.json", files[i]);
		struct tscope_run *run = open_run("mixed.json", NULL);
		assert_int_equal(tscope_run_rank_count(run), 1);
		assert_int_equal(
			tscope_run_input(run, 0).diagnostics[TSCOPE_DIAGNOSTIC_other_process], 1);
		tscope_run_free(run);
	}
}

/* SGLang leaves both in one folder. */
TEST_IN_FOLDER(a_merged_file_beside_ranks_of_torch)
{
	put_file("profile/1723456789.25-TP-0.trace.json", TORCH(STEPS("42")));
	put_file("profile/1723456789.25-TP-1.trace.json",
		 "{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": 1, \"world_size\": 2}, "
		 "\"traceEvents\": [\n" STEPS("42") STEP(3, 3, "42") "{}]}\n");
	put_file("profile/merged-1723456789.25.trace.json",
		 TORCH(STEPS("\"[TP00] 42\"") STEPS("\"[TP01] 42\"") STEP(3, 3, "\"[TP01] 42\"")));
	check_torch("profile", 1);
	struct tscope_run *run = open_run("profile", NULL);
	assert_string_equal(tscope_run_other(run, 0).reason,
			    "merged from the traces of ranks 0-1, which were read");
	tscope_run_free(run);
}

/* Each replica has a rank 0. */
TEST_IN_FOLDER(a_merged_file_beside_replicas)
{
	const char *path = "profile";
	struct tscope_error err = { 0 };
	struct tscope_runs *runs = NULL;

	put_file("profile/1723456789.25-TP-0-DP-0.trace.json", TORCH(STEPS("42")));
	put_file("profile/1723456789.25-TP-0-DP-1.trace.json", TORCH(STEPS("43") STEP(3, 3, "43")));
	put_file("profile/merged-1723456789.25.trace.json",
		 TORCH(STEPS("\"[TP00-DP00] 42\"") STEPS("\"[TP00-DP01] 43\"")
			       STEP(3, 3, "\"[TP00-DP01] 43\"")));
	if (tscope_runs_open(&runs, &path, 1, NULL, &err) != TSCOPE_OK)
		fail_msg("%s", err.message);
	assert_int_equal(tscope_runs_count(runs), 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(tscope_run_rank_count(tscope_runs_get(runs, i)), 1);
	tscope_runs_free(runs);
}

/* Each part is a reading of the file. */
TEST_IN_FOLDER(more_ranks_than_anybody_merges)
{
	static char text[64 << 10];
	size_t length = (size_t)snprintf(text, sizeof(text), "[%s", RANK_0);
	struct tscope_error err = { 0 };
	struct tscope_run *run = NULL;
	const char *path = "merged.json";

	for (unsigned rank = 1; rank < 300; rank++)
		length +=
			(size_t)snprintf(text + length, sizeof(text) - length,
					 "{\"name\": \"global_rank\", \"ph\": \"M\", \"pid\": %u, "
					 "\"tid\": 1, \"args\": {\"value\": %u}},\n",
					 rank, rank);
	assert_true(length < sizeof(text));
	put_file(path, text);
	assert_int_equal(tscope_run_open(&run, &path, 1, NULL, &err), TSCOPE_E_LIMIT);
	assert_non_null(strstr(err.message, "merged from the traces of 300 ranks, more than 256"));
}

TEST_IN_FOLDER(when_memory_ends)
{
	const char *path = "traces";

	put_file("traces/ep0-ba11-rank0.json", rank_0);
	put_file("traces/a.json", merged);
	put_file("traces/b.json", merged);
	struct alloc_sweep sweep = { .at_least = 101, .is_one_thread = true };
	while (alloc_sweep_next(&sweep)) {
		struct tscope_run *run = NULL;

		alloc_sweep_try(&sweep, tscope_run_open(&run, &path, 1, &one_thread, &sweep.err));
		tscope_run_free(run);
	}
}

TEST_IN_FOLDER(when_memory_ends_for_ranks_of_torch)
{
	const char *path = "traces";

	put_file("traces/c.json", TORCH(PROCESS("1", "\"name\": \"Rank 4\"") STEPS("1")
						PROCESS("2", "\"name\": \"Rank 5\"") STEPS("2")));
	put_file("traces/d.json", TORCH(STEPS("\"[TP06] 1\"") STEPS("\"[TP07] 1\"")));
	struct alloc_sweep sweep = { .at_least = 101, .is_one_thread = true };
	while (alloc_sweep_next(&sweep)) {
		struct tscope_run *run = NULL;

		alloc_sweep_try(&sweep, tscope_run_open(&run, &path, 1, &one_thread, &sweep.err));
		tscope_run_free(run);
	}
}
