/* SPDX-License-Identifier: MIT */
/*
 * Which traces are taken for one run. A line of a case makes a trace: its path, process, steps, the
 * second at which it begins, and what it says of itself; a line of a path alone makes another file.
 */
#include <tscope/tscope.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/attributes.h"
#include "check.h"
#include "fail_alloc.h"
#include "session/run.h"
#include "test_folder.h"

#define RANK(r, world) "\"distributedInfo\":{\"rank\":" #r ",\"world_size\":" #world "}"

/* Then no run can have both. */
#define AT_ONCE "rank 0 was recorded there at the same time"

#define SAME_RANKS ", with the same ranks"

static const struct {
	const char *files;
	const char *runs; /* names of files, runs apart by | */
	const char *why;  /* of the second run */
} cases[] = {
	/* Another process with the same steps, on its own and between those of the first. */
	{ "a.json 1 2-3 0 " RANK(0, 1) "\nb.json 2 2-3 9 " RANK(0, 1) "\n", "a|b",
	  "rank 0: process 2 with steps 2-3 here, process 1 with steps 2-3 there" },
	{ "a.json 1 2-3 0 " RANK(0, 1) "\nb.json 2 2-3 9 " RANK(0, 1) "\nc.json 1 4-5 19 " RANK(
		  0, 1) "\nd.json 2 4-5 29 " RANK(0, 1) "\n",
	  "a c|b d", NULL },
	/* It goes on where the other ended: a restart. The same process may begin again. */
	{ "a.json 1 2-3 0 " RANK(0, 1) "\nb.json 2 4-5 9 " RANK(0, 1) "\n", "a b", NULL },
	{ "a.json 1 2-3 0 " RANK(0, 1) "\nb.json 1 2-3 9 " RANK(0, 1) "\n", "a b", NULL },
	/* Ranks of one capture, whose clocks may be 30 s apart, but no more. */
	{ "r0.json 1 2-3 0 " RANK(0, 2) "\nr1.json 2 2-3 30 " RANK(1, 2) "\n", "r0 r1", NULL },
	{ "r0.json 1 2-3 0 " RANK(0, 2) "\nr1.json 2 2-3 31 " RANK(1, 2) "\n", "r0|r1",
	  "captured 30 s later" },
	/* A rank joins the capture that it is next to. */
	{ "a0.json 1 2-3 0 " RANK(0, 2) "\nb0.json 3 2-3 20 " RANK(0, 2) "\nb1.json 4 2-3 20 " RANK(
		  1, 2) "\n",
	  "a0|b0 b1", NULL },
	/* Jobs that run at the same time, each in its folder, or with one for each rank. */
	{ "x/a0.json 1 2-3 0 " RANK(0, 2) "\nx/a1.json 2 2-3 0 " RANK(
		  1, 2) "\ny/b0.json 3 2-4 0 " RANK(0, 2) "\ny/b1.json 4 2-4 0 " RANK(1, 2) "\n",
	  "a0 a1|b0 b1", AT_ONCE },
	{ "x/r0/a.json 1 2-3 0 " RANK(0, 2) "\ny/r0/b.json 1 2-4 0 " RANK(
		  0, 2) "\ny/r1/d.json 2 2-4 0 " RANK(1, 2) "\nx/r1/c.json 2 2-3 0 " RANK(1,
											  2) "\n",
	  "a c|b d", AT_ONCE },
	/* A server's replicas have ranks of their own, or count through all of them. */
	{ "1-TP-0-DP-0.json 1 2-3 0 " RANK(0, 2) "\n1-TP-1-DP-0.json 2 2-3 0 " RANK(
		  1, 2) "\n1-TP-0-DP-1.json 3 2-4 0 " RANK(0, 2) "\n1-TP-1-DP-1.json 4 2-4 "
								 "0 " RANK(1, 2) "\n",
	  "1-TP-0-DP-0 1-TP-1-DP-0|1-TP-0-DP-1 1-TP-1-DP-1",
	  "1-TP-*-DP-1 here, 1-TP-*-DP-0 there" SAME_RANKS },
	{ "1-TP-0-DP-0.json 1 2-3 0 " RANK(0, 2) "\n1-TP-1-DP-1.json 2 2-3 0 " RANK(1, 2) "\n",
	  "1-TP-0-DP-0 1-TP-1-DP-1", NULL },
	/* Two servers, of which one has replicas that are of one job. */
	{ "1-TP-0-DP-0.json 1 2-3 0 " RANK(0, 2) "\n1-TP-1-DP-1.json 2 2-3 0 " RANK(
		  1, 2) "\n2-TP-0.json 3 2-4 0 " RANK(0, 2) "\n2-TP-1.json 4 2-4 0 " RANK(1,
											  2) "\n",
	  "1-TP-0-DP-0 1-TP-1-DP-1|2-TP-0 2-TP-1", "2-TP-* here, 1-TP-*-DP-* there" SAME_RANKS },
	/* Where only one rank was recorded its processes are the jobs. */
	{ "a.json 1 2-3 0 " RANK(0, 8) "\nb.json 2 2-4 0 " RANK(0, 8) "\nc.json 1 4-5 9 " RANK(
		  0, 8) "\n",
	  "a c|b", "process 2 here, process 1 there" SAME_RANKS },
	/* One process number on two hosts. */
	{ "n1_7.1790857026000.pt.trace.json 7 2-3 0\nn2_7.1790857026000.pt.trace.json 7 2-3 9\n",
	  "n1_7.1790857026000.pt.trace|n2_7.1790857026000.pt.trace",
	  "process 7 of n2 with steps 2-3 here, process 7 of n1 with steps 2-3 there" },
	/* Processes without ranks that run at once are ranks; later ones are a run of their own. */
	{ "a.json 1 2-3 0\nb.json 2 2-3 0\nc.json 3 2-3 9\n", "a b|c", NULL },
	/* Two jobs without ranks that record in turn. */
	{ "a.json 1 2-3 0\nb.json 2 2-3 9\nc.json 1 4-5 19\nd.json 2 4-5 29\n", "a c|b d", NULL },
	/* Nodes of one job may have other devices than others; jobs that say no world may not. */
	{ "a.json 1 2-3 0 " RANK(
		  0, 2) ",\"deviceProperties\":[{\"id\":0,\"name\":\"A100\"}]\n"
			"b.json 2 2-3 0 " RANK(
				1, 2) ",\"deviceProperties\":[{\"id\":0,\"name\":\"H100\"}]\n",
	  "a b", NULL },
	{ "a.json 1 2-3 0 \"deviceProperties\":[{\"id\":0,\"name\":\"A100\"}]\n"
	  "b.json 1 4-5 9 \"deviceProperties\":[{\"id\":0,\"name\":\"H100\"}]\n",
	  "a|b", "H100 here, A100 there" },
	/* Other files go with the traces of their folder; where these are of several, with none. */
	{ "x/a.json 1 2-3 0\nx/m/metrics.csv\ny/b.json 2 2-3 9\ny/metrics.csv\n",
	  "a metrics|b metrics", NULL },
	{ "a.json 1 2-3 0\nb.json 2 2-3 9\nmetrics.csv\n", "a|b", NULL },
};

/* Steps of 1 ms with a marker and an operator each; a kernel makes the device one in use. */
static void put_trace(const char *path, const int numbers[4], const char *said)
{
	char text[4096];
	int used = snprintf(text, sizeof(text),
			    "{\"schemaVersion\":1,\"baseTimeNanoseconds\":1790857026000000000,"
			    "%s%s\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\","
			    "\"pid\":0,\"tid\":7,\"ts\":%d.5,\"dur\":1,\"args\":{\"device\":0,"
			    "\"stream\":7}}",
			    said, *said ? "," : "", numbers[3] * 1000000);

	for (int step = numbers[1]; step <= numbers[2]; step++)
		used += snprintf(text + used, sizeof(text) - (size_t)used,
				 ",{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":"
				 "\"ProfilerStep#%d\",\"pid\":%d,\"tid\":1,\"ts\":%d,\"dur\":1000}",
				 step, numbers[0],
				 numbers[3] * 1000000 + (step - numbers[1]) * 1000);
	snprintf(text + used, sizeof(text) - (size_t)used, "]}\n");
	put_file(path, text);
}

static void put_files(const char *lines)
{
	for (const char *end; *lines; lines = end + 1) {
		char line[512], path[64], said[256] = "";
		int numbers[4]; /* process, first and last step, second */

		end = strchr(lines, '\n');
		snprintf(line, sizeof(line), "%.*s", (int)(end - lines), lines);
		int count = sscanf(line, "%63s %d %d-%d %d %255[^\n]", path, &numbers[0],
				   &numbers[1], &numbers[2], &numbers[3], said);
		if (count >= 5)
			put_trace(path, numbers, said);
		else
			put_file(path, "epoch,step,train_loss\n0,0,2.5\n0,1,2.25\n");
	}
}

/* "a c|b d": the names of the files of each run, without their endings. */
static void list_runs(const struct tscope_runs *runs, char *text, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < tscope_runs_count(runs); i++) {
		const struct tscope_run *run = tscope_runs_get(runs, i);

		for (size_t j = 0; j < tscope_run_input_count(run); j++) {
			const char *name = strrchr(tscope_run_input(run, j).path, '/') + 1;

			used += (size_t)snprintf(text + used, size - used, "%s%.*s",
						 j   ? " "
						 : i ? "|"
						     : "",
						 (int)(strrchr(name, '.') - name), name);
		}
	}
}

static void check_one_run(bool is_contradiction)
{
	const char *path = ".";
	struct tscope_runs *runs = NULL;
	struct tscope_run_options options = { .one_run = true };
	struct tscope_error err = { 0 };

	assert_int_equal(tscope_runs_open(&runs, &path, 1, &options, &err),
			 is_contradiction ? TSCOPE_E_DAMAGED : TSCOPE_OK);
	if (!is_contradiction)
		assert_int_equal(tscope_runs_count(runs), 1);
	tscope_runs_free(runs);
}

static void check_case(size_t i)
{
	const char *path = ".", *behind;
	struct tscope_runs *runs = NULL;
	struct tscope_error err = { 0 };
	char text[256] = "";

	if (tscope_runs_open(&runs, &path, 1, NULL, &err) != TSCOPE_OK)
		fail_msg("%s: %s", cases[i].files, err.message);
	list_runs(runs, text, sizeof(text));
	if (strcmp(text, cases[i].runs) != 0)
		fail_msg("%s: %s instead of %s", cases[i].files, text, cases[i].runs);
	if (cases[i].why) {
		behind = strstr(tscope_run_apart(tscope_runs_get(runs, 1)), ": ");
		assert_string_equal(behind + 2, cases[i].why);
	}
	tscope_runs_free(runs);
	check_one_run(cases[i].why &&
		      (strcmp(cases[i].why, AT_ONCE) == 0 || strstr(cases[i].why, SAME_RANKS)));
}

TEST(traces_are_of_runs)
{
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		assert_int_equal(enter_folder(state), 0);
		put_files(cases[i].files);
		check_case(i);
		assert_int_equal(leave_folder(state), 0);
	}
}

TEST_IN_FOLDER(memory_may_end)
{
	static const struct tscope_run_options options = { .trace = { .thread_count = 1 } };
	const char *path = ".";

	put_files("x/a.json 1 2-2 0\nx/metrics.csv\ny/b.json 2 2-2 9\n");
	struct alloc_sweep sweep = { .is_one_thread = true, .may_survive = true };
	while (alloc_sweep_next(&sweep)) {
		struct tscope_runs *runs = NULL;

		alloc_sweep_try(&sweep, tscope_runs_open(&runs, &path, 1, &options, &sweep.err));
		if (runs)
			assert_int_equal(tscope_runs_count(runs), 2);
		tscope_runs_free(runs);
	}
}

/* Traces of one process, one after another, each on another device. */
static size_t count_apart(size_t count)
{
	struct loaded *traces = calloc(count, sizeof(*traces));
	struct load load = { 0 };
	struct arena arena = { 0 };
	struct run_partition partition;
	struct run_members members = {
		.loaded = tsi_arena_new(&arena, count, sizeof(struct loaded *)),
		.loads = tsi_arena_new(&arena, count, sizeof(struct load *)),
		.read_count = count,
	};

	assert_non_null(traces);
	assert_int_equal(tsi_arena_status(&arena, NULL), TSCOPE_OK);
	for (size_t i = 0; i < count; i++) {
		traces[i].input = (struct tscope_run_input){
			.kind = TSCOPE_INPUT_TRACE,
			.path = "a.json",
			.format = "",
			.rank = -1,
		};
		traces[i].steps.world_size = -1;
		traces[i].start_ns = 10 * (int64_t)i;
		traces[i].end_ns = traces[i].start_ns + 5;
		traces[i].origin.pid = 7;
		snprintf(traces[i].origin.device, sizeof(traces[i].origin.device), "device %zu", i);
		members.loaded[i] = &traces[i];
		members.loads[i] = &load;
	}
	tsi_separate(&partition, &members, &arena);
	assert_int_equal(tsi_arena_status(&arena, NULL), TSCOPE_OK);
	tsi_arena_deinit(&arena);
	free(traces);
	return partition.count;
}

/* A chain of all was walked for each of the runs that each might be of: that took minutes. */
TEST(too_many_runs_end_soon)
{
	assert_int_equal(count_apart(1000), 1000);
	alarm(60);
	assert_int_equal(count_apart(16000), 1025);
	alarm(0);
}

/* Rank 0 of many jobs, which record one after another, and then once more in the same order. */
TEST(jobs_take_turns)
{
	enum { JOBS = 50, COUNT = 2 * JOBS };
	struct loaded *traces = calloc(COUNT, sizeof(*traces));
	struct step_record steps[COUNT] = { { 0 } };
	struct load load = { 0 };
	struct loaded *loaded[COUNT];
	struct load *loads[COUNT];
	struct arena arena = { 0 };
	struct run_partition partition;
	const struct run_members members = { .loaded = loaded,
					     .loads = loads,
					     .read_count = COUNT };

	assert_non_null(traces);
	for (size_t i = 0; i < COUNT; i++) {
		traces[i].input = (struct tscope_run_input){ .kind = TSCOPE_INPUT_TRACE,
							     .path = "a.json",
							     .format = "" };
		steps[i].number = i < JOBS ? 2 : 4;
		traces[i].steps.world_size = 1;
		traces[i].steps.records = &steps[i];
		traces[i].steps.count = 1;
		traces[i].start_ns = 10 * (int64_t)i;
		traces[i].end_ns = traces[i].start_ns + 5;
		traces[i].origin.pid = 100 + (int64_t)i % JOBS;
		loaded[i] = &traces[i];
		loads[i] = &load;
	}
	tsi_separate(&partition, &members, &arena);
	assert_int_equal(tsi_arena_status(&arena, NULL), TSCOPE_OK);
	assert_int_equal(partition.count, JOBS);
	for (size_t i = 0; i < JOBS; i++)
		assert_int_equal(partition.run_of[i], partition.run_of[i + JOBS]);
	tsi_arena_deinit(&arena);
	free(traces);
}
