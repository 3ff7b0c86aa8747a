/* SPDX-License-Identifier: MIT */
/* What Composer's files say: names, ranks, clocks, batches; copies of torch's events; merged files. */
#include "composer_text.h"

#include <stdio.h>
#include <string.h>

#include "base/attributes.h"
#include "check.h"
#include "fail_alloc.h"
#include "model/trace/composer.h"
#include "model/trace/merged_ranks.h"

static struct str str_of(const char *text)
{
	return (struct str){ text, strlen(text) };
}

/* ---- names ---- */

TEST(names_of_callbacks)
{
	static const struct {
		const char *text, *expected; /* "" where it is none */
	} cases[] = {
		{ "callback/CheckpointSaver/event/batch_end",
		  "callback CheckpointSaver batch_end" },
		{ "algorithm/MixUp/event/after_dataloader", "algorithm MixUp after_dataloader" },
		{ "callback/a/b/event/c", "callback a/b c" },
		{ "callback/A/event/", "callback A " },
		{ "callback/A/events/x", "" },
		{ "callback//event/x", "" },
		{ "callback/A", "" },
		{ "callback", "" },
		{ "callbacks/A/event/x", "" },
		{ "event/A/event/x", "" },
		{ "", "" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct callback_name name;
		char text[128] = "";

		if (tsi_callback_name(str_of(cases[i].text), &name))
			snprintf(text, sizeof(text), "%.*s %.*s %.*s", TSI_QUOTE(name.kind),
				 TSI_QUOTE(name.name), TSI_QUOTE(name.event));
		assert_string_equal(text, cases[i].expected);
	}
}

TEST(names_of_evaluations)
{
	assert_true(tsi_is_evaluation(TSI_STR("event/eval")));
	assert_true(tsi_is_evaluation(TSI_STR("event/eval_batch")));
	assert_false(tsi_is_evaluation(TSI_STR("event/evaluator")));
	assert_false(tsi_is_evaluation(TSI_STR("callback/A/event/eval_end")));
}

/* ---- what the trace is ---- */

#define SPAN "callback/A/event/batch_end 10 20\n"

struct info_case {
	const char *lines, *format;
	int64_t rank;
};

TEST(format_and_rank)
{
	static const struct info_case cases[] = {
		{ SPAN, "composer", -1 },
		{ "rank 3\nX work 1 2\n", "composer", 3 },
		{ "rank 3\n" SPAN "rank 3 thread=9\n", "composer", 3 },
		{ "rank 3\n" SPAN "rank 4 process=1\n", "composer", -1 },
		{ "rank -5\n" SPAN, "composer", -1 },
		/* Composer's annotations in a trace of torch leave it one. */
		{ SPAN "cpu_op aten::mm 10 20\n", "kineto", -1 },
		/* In a file of Composer's handler those of torch are guests. */
		{ "rank 0\n" SPAN "cpu_op aten::mm 10 20\n", "composer", 0 },
		{ "event/train_batch 1 2\n", "composer", -1 },
		{ "event/forward 1 2\n", "chrome", -1 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct tscope_trace *trace = test_trace_finish(composer_text(cases[i].lines));

		assert_string_equal(tscope_trace_info(trace)->format, cases[i].format);
		assert_int_equal(tscope_trace_info(trace)->rank, cases[i].rank);
	}
}

/* Composer's times are Unix time; that is known where the ranks' common moment lies among them. */
#define UNIX_S "1790857026"
#define AT(us_after) UNIX_S #us_after "000" /* ns: six digits of µs */

TEST(unix_time)
{
	struct tscope_trace *trace = test_trace_finish(
		composer_text("rank 0 sync=" UNIX_S
			      "000700 error=4\nevent/batch " AT(000800) " " AT(000900) "\n"));

	assert_true(tscope_trace_info(trace)->has_base_time);
	assert_int_equal(tscope_trace_info(trace)->base_time_ns, 0);
	assert_int_equal(trace->composer_ranks[0].sync_ns, INT64_C(1790857026000700000));
	assert_int_equal(trace->composer_ranks[0].sync_error_ns, 4000);

	trace = test_trace_finish(composer_text("rank 0 sync=" UNIX_S "000700\nevent/batch 8 9\n"));
	assert_false(tscope_trace_info(trace)->has_base_time);
	assert_int_equal(trace->composer_ranks[0].sync_error_ns, NO_NUMBER);
}

/* Absurd ones are no moment; of two the first holds. */
TEST(odd_moments)
{
	struct tscope_trace *trace =
		test_trace_finish(composer_text("rank 0 sync=9223372036854775807 error=-1\n" SPAN));

	assert_int_equal(trace->composer_ranks[0].sync_ns, NO_NUMBER);
	assert_int_equal(trace->composer_ranks[0].sync_error_ns, NO_NUMBER);
	trace = test_trace_finish(composer_text("rank 0 sync=7\nrank 0 sync=8\n" SPAN));
	assert_int_equal(trace->composer_rank_count, 1);
	assert_int_equal(trace->composer_ranks[0].sync_ns, 7000);
}

/* ---- spans ---- */

TEST(batches)
{
	struct tscope_trace *trace = test_trace_finish(
		composer_text("event/train_batch 20 30 batch=41\nevent/train_batch 0 10 batch=40\n"
			      "event/train_batch 40 50\nevent/batch 60 70 batch=5\n"));

	assert_int_equal(trace->batch_count, 2);
	assert_int_equal(trace->batches[tsi_annotation_index(trace, 0)], 40);
	assert_int_equal(trace->batches[tsi_annotation_index(trace, 1)], 41);
	assert_int_equal(tsi_annotation_index(trace, 2), NO_ROW);
	assert_int_equal(tsi_annotation_index(trace, 3), NO_ROW);
}

/*
 * Composer writes an E even where its schedule did not record the B: that closes nothing. In a
 * program of another kind the last open span ends, whatever it is called.
 */
TEST(ends_without_begin)
{
	struct tscope_trace *trace = test_trace_finish(
		composer_text("event/forward - 5\nevent/epoch 10 100\nevent/batch - 20\n"
			      "callback/A/event/x - 30\nevent/train_batch 40 50\n"));

	test_check_rows(trace, "1 annotation event/epoch 10 90\n"
			       "1 annotation event/train_batch 40 10\n");
	assert_int_equal(tscope_trace_diagnostic(trace, TSCOPE_DIAGNOSTIC_cut_begin), 3);
	assert_int_equal(tscope_trace_diagnostic(trace, TSCOPE_DIAGNOSTIC_unmatched_end), 0);
	assert_int_equal(tscope_trace_info(trace)->dropped_count, 0);

	trace = test_trace_finish(composer_text("f - 5\nouter 10 100\ninner - 20\n"));
	test_check_rows(trace, "1 other outer 10 10\n");
	assert_int_equal(tscope_trace_diagnostic(trace, TSCOPE_DIAGNOSTIC_unmatched_end), 2);
}

/* ---- events of torch that Composer copied ---- */

/* The pid is the rank's, and no device's: args say the device. */
TEST(device_rows)
{
	struct tscope_trace *trace = test_trace_finish(
		composer_text("rank 1 process=1 thread=50\n"
			      "event/train_batch 0 100 process=1 thread=50\n"
			      "cpu_op aten::mm 10 30 process=1 thread=50\n"
			      "cuda_runtime cudaLaunchKernel 15 20 process=1 thread=50 "
			      "args={\"correlation\": 7}\n"
			      "kernel gemm 40 60 process=1 thread=7 "
			      "args={\"device\": 3, \"stream\": 7, \"correlation\": 7}\n"));

	test_check_rows(trace, "50 annotation event/train_batch 0 100\n"
			       "50 cpu_op aten::mm 10 20\n"
			       "50 runtime cudaLaunchKernel 15 5\n"
			       "gpu3/7 kernel gemm 40 20\n");
	assert_int_equal(trace->device_count, 1);
	assert_int_equal(trace->devices[0].ordinal, 3);
}

/* The profiler's own span is no work, though its process is not "Spans" any more. */
TEST(span_of_the_profiler)
{
	struct test_trace *t = composer_text("rank 0\n" SPAN);

	test_event(t, &(struct raw_event){ .phase = 'X',
					   .has_ts = true,
					   .has_dur = true,
					   .ts_ns = 1,
					   .dur_ns = 900,
					   .name = TSI_STR("PyTorch Profiler (0)"),
					   .cat = TSI_STR("Trace"),
					   .pid = TSI_STR("0"),
					   .tid = TSI_STR("PyTorch Profiler") });
	struct tscope_trace *trace = test_trace_finish(t);
	test_check_rows(trace, "1 annotation callback/A/event/batch_end 10 10\n");
	assert_int_equal(trace->capture_end_ns, 901);
}

/*
 * 1790857026 s are 227 periods of 7889238 s to the second: an event of torch at 1 ms is at
 * 1790857026.001 s. One at three days belongs to no event of Composer's and stays.
 */
TEST(clock_of_torch)
{
	struct tscope_trace *trace = test_trace_finish(
		composer_text("rank 0 sync=" UNIX_S "000700\nevent/batch " AT(000800) " " AT(
			009000) "\n"
				"cpu_op aten::mm 1000000 1500000 thread=2\n"
				"cpu_op aten::add 259200000000000 259200000000001 thread=3\n"));

	test_check_rows(trace, "1 annotation event/batch 1790857026000800000 8200000\n"
			       "2 cpu_op aten::mm 1790857026001000000 500000\n"
			       "3 cpu_op aten::add 259200000000000 1\n");
	assert_int_equal(tscope_trace_diagnostic(trace, TSCOPE_DIAGNOSTIC_moved_clock), 1);

	/* Recorded three days into the period: neither belongs there. */
	trace = test_trace_finish(composer_text("rank 0 sync=1791116226000700\n"
						"cpu_op aten::mm 1000000 1500000 thread=2\n"
						"cpu_op aten::add 518400000000000 "
						"518400000000001 thread=3\n"));
	assert_int_equal(tscope_trace_diagnostic(trace, TSCOPE_DIAGNOSTIC_moved_clock), 0);
}

/* ---- merged files ---- */

#define MERGED                                                                                     \
	"rank 0 process=0 thread=70 sync=7 error=1\n"                                              \
	"event/train_batch 0 100 batch=1 process=0 thread=70\n"                                    \
	"rank 2 process=2 thread=72 sync=9 error=1\n"                                              \
	"event/train_batch 5 105 batch=1 process=2 thread=72\n"                                    \
	"cpu_op aten::mm 7 9 process=2 thread=99\n"

static struct merged_ranks merged_of(const char *lines)
{
	struct tscope_trace *trace = test_trace_finish(composer_text(lines));
	struct merged_ranks merged;

	assert_int_equal(tsi_merged_ranks_of(&merged, trace, NULL), TSCOPE_OK);
	assert_int_equal(tscope_trace_info(trace)->merged_rank_count, merged.rank_count);
	return merged;
}

TEST(ranks_of_a_merged_file)
{
	struct merged_ranks merged = merged_of(MERGED);

	assert_int_equal(merged.rank_count, 2);
	assert_int_equal(merged.ranks[0], 0);
	assert_int_equal(merged.ranks[1], 2);
	assert_int_equal(merged.sync_ns, 7000);
	assert_false(merged.is_mixed);
	assert_false(merged.is_shifted);
	tsi_merged_ranks_deinit(&merged);

	merged = merged_of("rank 0\n" SPAN);
	assert_int_equal(merged.rank_count, 0);
	tsi_merged_ranks_deinit(&merged);
}

/* The merger's mark. */
TEST(a_merger_has_been_there)
{
	struct test_trace *t = composer_text("rank 0\n" SPAN);

	test_event(t, &(struct raw_event){ .phase = 'M',
					   .name = TSI_STR("thread_sort_index"),
					   .args = TSI_STR("{\"sort_index\": 99999}") });
	struct tscope_trace *trace = test_trace_finish(t);
	assert_true(trace->is_merged);
}

static void check_rank(const char *lines, int64_t rank, const char *expected)
{
	struct merged_ranks merged = merged_of(lines);
	struct rank_filter only = { &merged, rank };
	struct builder_options options = { .only = &only };
	struct tscope_trace *trace = test_trace_finish(composer_text_with(lines, &options));

	test_check_rows(trace, expected);
	assert_int_equal(tscope_trace_info(trace)->rank, rank);
	tsi_merged_ranks_deinit(&merged);
}

TEST(one_rank_of_several)
{
	check_rank(MERGED, 0, "70 annotation event/train_batch 0 100\n");
	/* Other threads of the rank have its pid. */
	check_rank(MERGED, 2, "72 annotation event/train_batch 5 100\n99 cpu_op aten::mm 7 2\n");
}

/* Of a second recording the merger gives all that was there the pid of the lowest rank. */
TEST(one_process_of_several_ranks)
{
	static const char lines[] = "rank 0 process=0 thread=70\n"
				    "event/train_batch 0 100 process=0 thread=70\n"
				    "rank 2 process=0 thread=72\n"
				    "event/train_batch 5 105 process=0 thread=72\n"
				    "event/train_batch 205 305 process=2 thread=72\n"
				    "rank 2 process=2 thread=72\n";
	struct merged_ranks merged = merged_of(lines);

	assert_true(merged.is_mixed);
	tsi_merged_ranks_deinit(&merged);
	check_rank(lines, 0, "70 annotation event/train_batch 0 100\n");
	check_rank(lines, 2,
		   "72 annotation event/train_batch 5 100\n"
		   "72 annotation event/train_batch 205 100\n");
}

/* ---- damage ---- */

/* As the handler writes it, each event a line; no bracket at the end. */
static const char recording[] =
	"[\n"
	"{\"name\": \"global_rank\", \"cat\": \"\", \"ph\": \"M\", \"ts\": 1, \"pid\": 0, \"tid\": "
	"5, "
	"\"args\": {\"value\": 0}},\n"
	"{\"name\": \"event/train_batch\", \"cat\": \"\", \"ph\": \"B\", \"ts\": 2, \"pid\": 0, "
	"\"tid\": 5, \"args\": {\"epoch\": 0, \"batch\": 7}},\n"
	"{\"name\": \"cpu\", \"cat\": \"cpu\", \"ph\": \"C\", \"ts\": 3, \"pid\": 0, \"tid\": 5, "
	"\"args\": {\"cpu_percent\": 12.5}},\n"
	"{\"name\": \"event/train_batch\", \"cat\": \"\", \"ph\": \"E\", \"ts\": 9, \"pid\": 0, "
	"\"tid\": 5, \"args\": {\"epoch\": 0, \"batch\": 7}},\n";

/* A trace of what came before the cut, or a reason why there is none. */
TEST(cut_at_every_byte)
{
	struct tscope_trace_options options = { .thread_count = 1 };

	for (size_t length = 0; length < sizeof(recording); length++) {
		struct tscope_trace *trace = NULL;
		struct tscope_error err = { 0 };
		enum tscope_status status =
			tscope_trace_open_memory(&trace, "cut", recording, length, &options, &err);

		if (status != TSCOPE_OK) {
			assert_true(err.message[0] != '\0');
			assert_null(trace);
			continue;
		}
		assert_int_equal(tscope_trace_span_count(trace), 1);
		tscope_trace_free(trace);
	}
}

TEST(when_memory_ends)
{
	struct tscope_trace_options options = { .thread_count = 1 };

	struct alloc_sweep sweep = { .at_least = 21 };
	while (alloc_sweep_next(&sweep)) {
		struct tscope_trace *trace = NULL;

		alloc_sweep_try(&sweep, tscope_trace_open_memory(&trace, "whole", recording,
								 sizeof(recording) - 1, &options,
								 &sweep.err));
		tscope_trace_free(trace);
	}
}

TEST(merged_when_memory_ends)
{
	struct alloc_sweep sweep = { 0 };
	while (alloc_sweep_next(&sweep)) {
		struct tscope_trace *trace = test_trace_finish(composer_text(MERGED));
		struct merged_ranks merged;

		alloc_sweep_try(&sweep, tsi_merged_ranks_of(&merged, trace, &sweep.err));
		tsi_merged_ranks_deinit(&merged);
	}
}
