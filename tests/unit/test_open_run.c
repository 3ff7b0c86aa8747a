/* SPDX-License-Identifier: MIT */
/*
 * Runs from end to end: the folders of testdata/, whose README says what is in
 * them, and folders made of them that go wrong.
 */
#include "fail_alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tscope/tscope.h>
#include <unistd.h>

#include "check.h"
#include "config.h"

enum { PATH_CHARS = 512 };

static const struct tscope_run_options one_thread = { .trace = { .thread_count = 1 } };

static enum tscope_status open_data(struct tscope_run **run, const char *name,
				    const struct tscope_run_options *options,
				    struct tscope_error *err)
{
	char path[PATH_CHARS];
	const char *paths[] = { path };

	snprintf(path, sizeof(path), "%s/%s", testdata, name);
	return tscope_run_open(run, paths, 1, options, err);
}

static struct tscope_run *must_open(const char *name, const struct tscope_run_options *options)
{
	struct tscope_error err = { 0 };
	struct tscope_run *run = NULL;

	if (open_data(&run, name, options, &err) != TSCOPE_OK)
		fail_msg("%s: %s", name, err.message);
	return run;
}

static struct tscope_value fact(const struct tscope_analysis *analysis, const char *id)
{
	struct tscope_value value;
	enum tscope_unit unit;

	assert_true(tscope_analysis_find(analysis, id, &value, &unit));
	return value;
}

/* Two traces, and step records beside one of them: each signal from where it is. */
TEST(test_mixed)
{
	struct tscope_run *run = must_open("run_mixed", NULL);
	const struct tscope_analysis *first = tscope_run_rank_analysis(run, 0),
				     *second = tscope_run_rank_analysis(run, 1);
	size_t analyzer, table;

	assert_int_equal(tscope_run_rank_count(run), 2);
	assert_int_equal(tscope_run_rank_number(run, 0), 0);
	assert_int_equal(tscope_run_rank_number(run, 1), 1);
	assert_int_equal(tscope_run_input_count(run), 3);
	assert_string_equal(tscope_run_input(run, 0).format, "steps_jsonl");
	assert_string_equal(tscope_run_input(run, 2).format, "kineto");
	/* Times are the records' (1 ms a step), the budget is the trace's (340 us computing). */
	assert_int_equal(fact(first, "step_time.mean_ns").integer, 1000000);
	assert_int_equal(fact(first, "budget.compute_total_ns").integer, 680000);
	assert_int_equal(fact(first, "memory.peak_alloc_bytes").integer, 100 << 20);
	assert_int_equal(fact(first, "kernels.count").integer, 10);
	/* Rank 1 has its trace alone: windows of 1000 and 990 us. */
	assert_int_equal(fact(second, "step_time.mean_ns").integer, 995000);
	assert_int_equal(fact(second, "memory.peak_alloc_bytes").kind, TSCOPE_VALUE_ABSENT);
	assert_null(tscope_analysis_trace(second));
	/* What the traces say of the machine goes to their ranks. */
	assert_true(tscope_table_find("provenance.environment", &analyzer, &table) != NULL);
	for (size_t i = 0; i < 2; i++)
		assert_string_equal(tscope_analysis_cell(tscope_run_rank_analysis(run, i), analyzer,
							 table, TSCOPE_WHOLE_TRACE, 0, 0)
					    .text,
				    "trace.backend");
	/* The run: the slowest rank's steps, the lowest rank's kernels. */
	assert_int_equal(fact(tscope_run_analysis(run), "step_time.max_ns").integer, 1000000);
	assert_int_equal(fact(tscope_run_analysis(run), "kernels.count").integer, 10);
	tscope_run_free(run);
}

TEST(test_records)
{
	struct tscope_run *run = must_open("run_rerun", NULL);
	struct tscope_run_input input = tscope_run_input(run, 0);

	assert_int_equal(tscope_run_input_count(run), 1);
	assert_int_equal(input.step_count, 10);
	assert_int_equal(input.dropped_count, 2); /* one is cut */
	assert_string_equal(
		input.note,
		"2 runs one after another: the last one, from line 7, was taken, and 5 earlier "
		"records were not; lines that are no step records: 1; the last line is "
		"incomplete");
	assert_string_equal(input.damage->message, "run.json beside it: no JSON object");
	/* 11 + 22 ms and the user's own phase of 3.5 ms. */
	assert_int_equal(fact(tscope_run_analysis(run), "step_time.mean_ns").integer, 36500000);
	tscope_run_free(run);
}

/*
 * Windows that fkat publishes, and what others know of rank 0 at the same time: 12 steps of 7905 us,
 * the calls of VizTracer's page, the peak of memray's capture (testdata/README.md).
 */
TEST(test_several_profilers)
{
#if HAVE_ZLIB
	struct tscope_run *run = must_open("fkat_run", NULL);
	const struct tscope_analysis *first = tscope_run_rank_analysis(run, 0);

	assert_int_equal(tscope_run_step_count(run, 0), 12);
	for (size_t i = 0; i < 12; i++)
		assert_int_equal(tscope_run_step(run, 0, i).number, i);
	assert_int_equal(fact(first, "step_time.mean_ns").integer, 7905000);
	assert_int_equal(fact(first, "python.call_count").integer, 49);
	assert_int_equal(fact(first, "host_memory.peak_bytes").integer, 23 << 20);
	assert_int_equal(fact(tscope_run_analysis(run), "python.call_count").integer, 49);
	assert_int_equal(fact(tscope_run_rank_analysis(run, 1), "python.call_count").kind,
			 TSCOPE_VALUE_ABSENT);
	/* Of what is not read the execution trace has the place of a trace. */
	for (size_t i = 0; i < tscope_run_other_count(run); i++) {
		struct tscope_run_other other = tscope_run_other(run, i);

		assert_int_equal(other.is_problem, strstr(other.path, "last/rank1.json") != NULL);
	}
	tscope_run_free(run);
#endif
}

TEST(test_range_and_warmup)
{
	struct tscope_run_options options = {
		.timeline = { .has_range = true, .first_step = 3, .last_step = 6, .warmup = 1 }
	};
	struct tscope_run *run = must_open("run_rerun", &options);

	assert_int_equal(tscope_run_input(run, 0).step_count, 4);
	assert_int_equal(fact(tscope_run_analysis(run), "step_time.count").integer, 3);
	tscope_run_free(run);
}

/* Where nothing is left of the steps, somebody says so. */
TEST(test_no_step_left)
{
	struct tscope_run_options range = {
		.timeline = { .has_range = true, .first_step = 100, .last_step = 200 }
	};
	struct tscope_run_options warmup = { .timeline = { .warmup = 100 } };
	struct tscope_error err = { 0 };
	struct tscope_run *run = NULL;

	assert_int_equal(open_data(&run, "run_sick", &range, &err), TSCOPE_E_EMPTY);
	assert_null(run);
	assert_non_null(strstr(
		err.message, "/rank0/steps.jsonl: no step from 100 to 200: the records have steps "
			     "0 to 39"));

	run = must_open("run_sick", &warmup);
	assert_int_equal(tscope_run_note_count(run), 1);
	/* 4 ranks of 40 steps. */
	assert_string_equal(tscope_run_note(run, 0),
			    "no step is left to judge by: all that were read (160) are warm-up, "
			    "the first or incomplete");
	tscope_run_free(run);
}

/* Which threads read which file does not show. */
TEST(test_threads)
{
	static const unsigned counts[] = { 1, 2, 3, 8 };

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct tscope_run_options options = { .trace = { .thread_count = counts[i] } };
		struct tscope_run *run = must_open("run_sick", &options);

		assert_int_equal(tscope_run_rank_count(run), 4);
		for (size_t rank = 0; rank < 4; rank++)
			assert_int_equal(tscope_run_input(run, rank).rank, rank);
		assert_int_equal(
			fact(tscope_run_analysis(run), "distributed.missing_rank_count").integer,
			1);
		tscope_run_free(run);
	}
}

TEST(test_failures)
{
	static const struct {
		const char *name;
		enum tscope_status status;
		const char *message; /* its end */
	} cases[] = {
		{ "nowhere", TSCOPE_E_IO, "No such file or directory" },
		{ "execution_trace.json", TSCOPE_E_UNSUPPORTED, NULL },
		{ "empty_window.json", TSCOPE_E_EMPTY, NULL },
		{ "run_mixed/notes.txt", TSCOPE_E_FORMAT, NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tscope_error err = { 0 };
		struct tscope_run *run = NULL;

		assert_int_equal(open_data(&run, cases[i].name, NULL, &err), cases[i].status);
		assert_null(run);
		assert_non_null(strstr(err.message, cases[i].name));
		if (cases[i].message)
			assert_non_null(strstr(err.message, cases[i].message));
	}
}

/* The one file that was found instead has a name and a reason. */
TEST(test_one_other_file)
{
	char folder[] = "one-XXXXXX", path[32];
	const char *paths[] = { folder };
	struct tscope_error err = { 0 };
	struct tscope_run *run = NULL;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/notes.txt", folder);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(tscope_run_open(&run, paths, 1, NULL, &err), TSCOPE_E_EMPTY);
	assert_non_null(strstr(err.message, " and found 1 other file, one-"));
	assert_non_null(strstr(err.message, "/notes.txt: not a kind of file that tscope reads"));
	assert_int_equal(remove(path), 0);
	assert_int_equal(remove(folder), 0);
}

/* The same trace twice in one run: one of them is left out, and that was not meant. */
TEST(test_copy)
{
	char first[PATH_CHARS], second[PATH_CHARS];
	const char *paths[] = { first, second };
	struct tscope_error err = { 0 };
	struct tscope_run *run;

	snprintf(first, sizeof(first), "%s/two_steps.json", testdata);
	snprintf(second, sizeof(second), "%s/run_mixed/rank0/trace.json", testdata);
	assert_int_equal(tscope_run_open(&run, paths, 2, NULL, &err), TSCOPE_OK);
	assert_int_equal(tscope_run_input_count(run), 1);
	assert_int_equal(tscope_run_other_count(run), 1);
	struct tscope_run_other copy = tscope_run_other(run, 0);
	assert_true(copy.is_problem);
	assert_non_null(strstr(copy.reason, "a copy of "));
	tscope_run_free(run);
}

/* Two ranks with a trace, a snapshot and statistics each: README.md works the figures out. */
TEST(test_memory)
{
	if (!HAVE_YAML)
		skip(); /* the statistics */
	struct tscope_run *run = must_open("run_memory", NULL);
	const struct tscope_analysis *whole = tscope_run_analysis(run),
				     *first = tscope_run_rank_analysis(run, 0),
				     *second = tscope_run_rank_analysis(run, 1);

	assert_int_equal(tscope_run_rank_count(run), 2);
	assert_int_equal(tscope_run_input_count(run), 6);
	/* Traces first, then what is about memory, by rank and name. */
	assert_int_equal(tscope_run_input(run, 1).kind, TSCOPE_INPUT_TRACE);
	assert_int_equal(tscope_run_input(run, 2).kind, TSCOPE_INPUT_MEMORY);
	assert_string_equal(tscope_run_input(run, 2).format, "snapshot");
	assert_int_equal(tscope_run_input(run, 2).rank, 0);
	assert_string_equal(tscope_run_input(run, 3).format, "memory_stats");
	assert_int_equal(tscope_run_input(run, 3).event_count, 12);
	assert_int_equal(tscope_run_input(run, 5).rank, 1);
	/* What the traces say of each step. */
	assert_int_equal(fact(first, "memory.peak_alloc_bytes").integer, 256 << 20);
	assert_int_equal(fact(first, "memory.mean_alloc_bytes").integer, 128 << 20);
	assert_int_equal(fact(second, "memory.mean_alloc_bytes").integer, 152 << 20);
	assert_int_equal(fact(second, "memory.oom_count").integer, 1);
	assert_int_equal(fact(second, "memory.peak_time_ns").integer, 1763324225005150000);
	/* Each rank has its own snapshot; its moments lie in steps. */
	assert_int_equal(fact(first, "snapshot.oom_count").integer, 0);
	assert_int_equal(fact(first, "memory.snapshot_peak_step").integer, 7);
	assert_int_equal(fact(first, "memory.oom_step").kind, TSCOPE_VALUE_ABSENT);
	assert_int_equal(fact(second, "snapshot.oom_size_bytes").integer, 512 << 20);
	assert_int_equal(fact(second, "snapshot.peak_time_ns").integer, 1763324225005150000);
	assert_int_equal(fact(second, "memory.oom_step").integer, 8);
	/* The run's is that of the rank with the OOM, whatever its peak. */
	assert_non_null(strstr(fact(whole, "snapshot.path").text, "/rank1_oom_snapshot.pickle"));
	assert_int_equal(fact(whole, "memory_stats.num_ooms").integer, 1);
	assert_int_equal(fact(first, "memory_stats.num_ooms").integer, 0);
	assert_int_equal(fact(whole, "memory_timeline.peak_bytes").kind, TSCOPE_VALUE_ABSENT);
	tscope_run_free(run);
}

/* Files about memory alone are a run, too, without steps. */
TEST(test_memory_alone)
{
	struct tscope_run *run = must_open("run_memory/rank1/rank1_oom_snapshot.pickle", NULL);

	assert_int_equal(tscope_run_rank_count(run), 1);
	assert_int_equal(tscope_run_rank_number(run, 0), 1);
	assert_int_equal(tscope_run_step_count(run, TSCOPE_ALL_RANKS), 0);
	assert_int_equal(tscope_run_note_count(run), 0);
	assert_int_equal(fact(tscope_run_analysis(run), "snapshot.oom_count").integer, 1);
	assert_int_equal(fact(tscope_run_analysis(run), "step_time.count").integer, 0);
	tscope_run_free(run);
}

/* Opens files of run_memory. */
static struct tscope_run *open_files(const char *const *names, size_t count)
{
	char texts[4][PATH_CHARS];
	const char *paths[4];
	struct tscope_error err = { 0 };
	struct tscope_run *run = NULL;

	assert_true(count <= 4);
	for (size_t i = 0; i < count; i++) {
		snprintf(texts[i], PATH_CHARS, "%s/run_memory/%s", testdata, names[i]);
		paths[i] = texts[i];
	}
	if (tscope_run_open(&run, paths, count, NULL, &err) != TSCOPE_OK)
		fail_msg("%s", err.message);
	return run;
}

/* A rank that only files about memory name is none of a run with steps. They count all the same. */
TEST(test_memory_makes_no_rank)
{
	static const char *const names[] = { "rank0/trace.json", "rank1/rank1_oom_snapshot.pickle",
					     "rank0/rank0_memory_snapshot.pickle" };
	struct tscope_run *run = open_files(names, 3);
	const struct tscope_analysis *whole = tscope_run_analysis(run),
				     *rank = tscope_run_rank_analysis(run, 0);

	assert_int_equal(tscope_run_rank_count(run), 1);
	assert_int_equal(tscope_run_input_count(run), 3);
	assert_non_null(strstr(fact(whole, "snapshot.path").text, "/rank1_oom_snapshot.pickle"));
	assert_non_null(strstr(fact(rank, "snapshot.path").text, "/rank0_memory_snapshot.pickle"));
	/* It speaks for the run, so that the report shows it. */
	assert_int_equal(tscope_run_note_count(run), 1);
	assert_non_null(strstr(tscope_run_note(run, 0),
			       "/rank1_oom_snapshot.pickle is of rank 1, of which there is neither "
			       "a trace nor step records"));
	assert_null(strstr(tscope_run_note(run, 0), "tscope memory"));
	tscope_run_free(run);
}

/* Of files about memory alone each that is named makes a rank. */
TEST(test_memory_makes_ranks)
{
	static const char *const names[] = { "rank1/rank1_oom_snapshot.pickle",
					     "rank0/rank0_memory_snapshot.pickle",
					     "rank_1_memory_stats.yaml" };
	if (!HAVE_YAML)
		skip();
	struct tscope_run *run = open_files(names, 3);

	assert_int_equal(tscope_run_rank_count(run), 2);
	assert_int_equal(tscope_run_rank_number(run, 0), 0);
	assert_int_equal(tscope_run_rank_number(run, 1), 1);
	assert_int_equal(fact(tscope_run_rank_analysis(run, 0), "snapshot.oom_count").integer, 0);
	assert_int_equal(fact(tscope_run_rank_analysis(run, 0), "memory_stats.num_ooms").kind,
			 TSCOPE_VALUE_ABSENT);
	assert_int_equal(fact(tscope_run_rank_analysis(run, 1), "memory_stats.num_ooms").integer,
			 1);
	tscope_run_free(run);
}

/* A copy of a snapshot under a name that tells another rank, in the current folder. */
static void copy_snapshot(const char *from, const char *to)
{
	char path[PATH_CHARS], bytes[4096];
	size_t count;

	snprintf(path, sizeof(path), "%s/run_memory/%s", testdata, from);
	FILE *in = fopen(path, "rb"), *out = fopen(to, "wb");
	assert_non_null(in);
	assert_non_null(out);
	while ((count = fread(bytes, 1, sizeof(bytes), in)) > 0)
		assert_int_equal(fwrite(bytes, 1, count, out), count);
	fclose(in);
	assert_int_equal(fclose(out), 0);
}

enum { COPIES_MAX = 12, COPY_CHARS = 64 };

/* The notes of a run of trace (or NULL) and copies of a snapshot for ranks 1, 2 …, joined by \n. */
static void check_memory_notes(const char *trace, const char *snapshot, size_t copy_count,
			       const char *expected)
{
	char names[COPIES_MAX][COPY_CHARS], path[PATH_CHARS], text[2048] = "";
	const char *paths[COPIES_MAX + 1] = { path };
	struct tscope_error err = { 0 };
	struct tscope_run *run = NULL;
	size_t count = trace ? 1 : 0;

	snprintf(path, sizeof(path), "%s/%s", testdata, trace ? trace : "");
	for (size_t i = 0; i < copy_count; i++) {
		snprintf(names[i], COPY_CHARS, "notes-%d-rank%zu.pickle", (int)getpid(), i + 1);
		copy_snapshot(snapshot, names[i]);
		paths[count++] = names[i];
	}
	if (tscope_run_open(&run, paths, count, NULL, &err) != TSCOPE_OK)
		fail_msg("%s", err.message);
	for (size_t i = 0; i < tscope_run_note_count(run); i++) {
		const char *note = tscope_run_note(run, i), *own = strstr(note, "notes-");
		/* The process in the name is no matter. */
		const char *rest = own ? strstr(own, "-rank") : note;
		size_t kept = own ? (size_t)(own - note) : 0;

		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%.*s%s\n", (int)kept,
			 note, rest);
	}
	tscope_run_free(run);
	for (size_t i = 0; i < copy_count; i++)
		assert_int_equal(remove(names[i]), 0);
	assert_string_equal(text, expected);
}

/* Files about memory that do not speak are not passed over in silence. */
TEST(test_memory_notes)
{
	static const char trace[] = "run_memory/rank0/trace.json",
			  oom[] = "rank1/rank1_oom_snapshot.pickle",
			  plain[] = "rank0/rank0_memory_snapshot.pickle";

	check_memory_notes(NULL, oom, 1, "");
	check_memory_notes(NULL, plain, 3, "");
	check_memory_notes(NULL, oom, 3,
			   "3 snapshots have a failed request (ranks 1, 2, 3); the report shows "
			   "-rank1.pickle\n");
	check_memory_notes(NULL, oom, 8,
			   "8 snapshots have a failed request (ranks 1, 2, 3, 4, 5, 6, 7, 8); the "
			   "report shows -rank1.pickle\n");
	check_memory_notes(NULL, oom, 9,
			   "9 snapshots have a failed request (ranks 1, 2, 3, 4, 5, 6, 7, 8 …); "
			   "the report shows -rank1.pickle\n");
	/* Of equals the first speaks. */
	check_memory_notes(trace, plain, 3,
			   "-rank1.pickle is of rank 1, of which there is neither a trace nor step "
			   "records\n"
			   "-rank2.pickle is of rank 2, of which there is neither a trace nor step "
			   "records; tscope memory shows it\n"
			   "-rank3.pickle is of rank 3, of which there is neither a trace nor step "
			   "records; tscope memory shows it\n");
	check_memory_notes(
		trace, plain, 4,
		"4 files about memory are of ranks of which there are neither traces nor "
		"step records; tscope memory shows them\n");
}

TEST(test_write_again)
{
	struct tscope_run *run = must_open("run_mixed", NULL);
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	assert_int_equal(tscope_run_write_steps(out, run, 1, NULL), TSCOPE_OK);
	fclose(out);
	assert_non_null(strstr(text, "\"budget_ns\":"));
	free(text);
	tscope_run_free(run);
}

static void sweep(const char *name)
{
	/* Some are survived: where only a remark or a worker was lost. */
	struct alloc_sweep sweep = { .is_one_thread = true, .may_survive = true };
	while (alloc_sweep_next(&sweep)) {
		struct tscope_run *run = NULL;

		alloc_sweep_try(&sweep, open_data(&run, name, &one_thread, &sweep.err));
		tscope_run_free(run);
	}
}

TEST(test_allocation_failures)
{
	sweep("run_mixed");
	sweep("run_memory/rank1");
}

/* Facts of a rank are made when they are asked for, and again where they were forgotten. */
TEST(test_ranks_when_asked)
{
	struct alloc_sweep sweep = { .is_one_thread = true };
	while (alloc_sweep_next(&sweep)) {
		struct tscope_run *run = must_open("run_sick", &one_thread);

		alloc_sweep_start(&sweep);
		const struct tscope_analysis *second = tscope_run_rank_analysis(run, 1);
		alloc_sweep_check(&sweep, tscope_run_status(run, &sweep.err));
		assert_non_null(second);
		assert_int_equal(second == tscope_run_rank_analysis(run, 0), sweep.has_failed);
		if (!sweep.has_failed) {
			int64_t mean_ns = fact(second, "step_time.mean_ns").integer;

			assert_ptr_equal(second, tscope_run_rank_analysis(run, 1));
			tscope_run_forget_rank(run, 1);
			tscope_run_forget_rank(run, 99);
			assert_int_equal(
				fact(tscope_run_rank_analysis(run, 1), "step_time.mean_ns").integer,
				mean_ns);
			assert_null(tscope_run_rank_analysis(run, 99));
		}
		tscope_run_free(run);
	}
}

/* A trace that is the only one stays open for figures that few reports show. */
TEST(test_figures_when_asked)
{
	static const struct tscope_run_options options = { .trace = { .thread_count = 1 },
							   .analysis = { .on_demand = true } };
	struct alloc_sweep sweep = { .is_one_thread = true };
	struct tscope_value value;
	size_t json;

	assert_true(tscope_report_format_parse("json", &json));
	while (alloc_sweep_next(&sweep)) {
		struct tscope_run *run = must_open("serving_eager.json", &options);

		alloc_sweep_start(&sweep);
		assert_true(tscope_analysis_find(tscope_run_analysis(run), "blocks.device_ns",
						 &value, NULL));
		alloc_sweep_check(&sweep, tscope_run_status(run, &sweep.err));
		if (sweep.has_failed)
			assert_int_equal(tscope_report_write_run(
						 stderr, &(struct tscope_run_report){ .run = run },
						 &(struct tscope_report_options){ .format = json },
						 NULL),
					 TSCOPE_E_NOMEM);
		tscope_run_free(run);
	}
	assert_int_equal(value.integer, 902234);
}

/* Those of several traces are computed while each is open. */
TEST(test_figures_of_several_traces)
{
	static const struct tscope_run_options options = { .trace = { .thread_count = 1 },
							   .analysis = { .on_demand = true } };

	if (!HAVE_ZLIB)
		skip(); /* the traces */
	struct tscope_run *run = must_open("ranks_pipeline", &options);
	struct tscope_run *complete = must_open("ranks_pipeline", NULL);
	assert_int_equal(fact(tscope_run_analysis(run), "blocks.repeated_ns").integer,
			 fact(tscope_run_analysis(complete), "blocks.repeated_ns").integer);
	tscope_run_free(complete);
	tscope_run_free(run);
}
