/* SPDX-License-Identifier: MIT */
/* Steps and phases of Composer's traces, as windows and budgets. */
#include "composer_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/attributes.h"
#include "check.h"
#include "timeline/timeline.h"

static struct tscope_timeline *timeline_of(const char *lines)
{
	return test_timeline(test_trace_finish(composer_text(lines)), NULL);
}

/* "7 at 100 takes 50 incomplete\n" for each step: its number, start, window and mark. */
static void check_steps(const char *lines, enum tscope_boundary boundary, const char *expected)
{
	const struct tscope_timeline *timeline = timeline_of(lines);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	for (uint32_t i = 0; i < timeline->step_count; i++) {
		const struct tscope_step *step = &timeline->steps[i];

		fprintf(out, "%" PRId64 " at %" PRId64 " takes %" PRId64 "%s%s\n", step->number,
			step->start_ns, step->wall_ns, step->mark ? " " : "",
			tscope_step_mark_name(step->mark));
	}
	fclose(out);
	assert_int_equal(timeline->boundary, boundary);
	assert_string_equal(text, expected);
	free(text);
}

/* Of the last batch what follows is not recorded. */
TEST(steps_have_the_numbers_of_batches)
{
	check_steps("event/train_batch 100 180 batch=41\nevent/train_batch 200 290 batch=42\n"
		    "event/train_batch 300 350 batch=43\n",
		    TSCOPE_BOUNDARY_TRAIN_BATCH,
		    "41 at 100 takes 100\n42 at 200 takes 100\n43 at 300 takes 50 incomplete\n");
}

TEST(without_numbers_they_count_from_0)
{
	check_steps("event/train_batch 100 180\nevent/train_batch 200 290\n",
		    TSCOPE_BOUNDARY_TRAIN_BATCH,
		    "0 at 100 takes 100\n1 at 200 takes 90 incomplete\n");
}

TEST(a_single_step_counts)
{
	check_steps("event/train_batch 100 180 batch=9\n", TSCOPE_BOUNDARY_TRAIN_BATCH,
		    "9 at 100 takes 80\n");
}

/* What says the inputs of other marks is no batch. */
TEST(a_marker_with_inputs)
{
	struct tscope_timeline_options options = { .step_marker = "nccl:all_reduce" };
	struct tscope_trace *trace = test_trace_finish(composer_text(
		"user_annotation nccl:all_reduce 100 110 args={\"Input Dims\": [[8]]}\n"
		"user_annotation nccl:all_reduce 200 210 args={\"Input Dims\": [[8]]}\n"));

	struct tscope_timeline *timeline = test_timeline(trace, &options);
	assert_int_equal(timeline->step_count, 2);
	assert_int_equal(timeline->steps[1].number, 1);
}

/* Composer copies torch's annotations, which count otherwise. */
TEST(before_the_steps_of_torch)
{
	check_steps("user_annotation ProfilerStep#1 90 190\nevent/train_batch 100 180 batch=41\n"
		    "user_annotation ProfilerStep#2 190 300\nevent/train_batch 200 290 batch=42\n",
		    TSCOPE_BOUNDARY_TRAIN_BATCH,
		    "41 at 100 takes 100\n42 at 200 takes 90 incomplete\n");
}

/* The step ends where an evaluation begins, and the next one starts with its batch. */
TEST(evaluations_are_in_no_step)
{
	check_steps("event/train_batch 100 180 batch=1\n"
		    "event/eval 190 900\nevent/eval_batch 200 300\n"
		    "event/train_batch 1000 1080 batch=2\nevent/train_batch 1100 1180 batch=3\n"
		    "event/eval 1190 1200\nevent/eval 1250 1300\n"
		    "event/train_batch 1400 1480 batch=4\n",
		    TSCOPE_BOUNDARY_TRAIN_BATCH,
		    "1 at 100 takes 90\n2 at 1000 takes 100\n3 at 1100 takes 90\n"
		    "4 at 1400 takes 80 incomplete\n");
}

/* Before the first step, behind the last, on another thread, within a batch: nothing ends. */
TEST(evaluations_that_end_nothing)
{
	check_steps("event/eval 10 90\nevent/train_batch 100 180 batch=1\n"
		    "event/eval_forward 120 130\n"
		    "event/train_batch 200 280 batch=2\nevent/eval 290 300\n",
		    TSCOPE_BOUNDARY_TRAIN_BATCH,
		    "1 at 100 takes 100\n2 at 200 takes 80 incomplete\n");
	check_steps("event/train_batch 100 180 batch=1\nevent/eval 185 195 thread=2\n"
		    "event/train_batch 200 280 batch=2\n",
		    TSCOPE_BOUNDARY_TRAIN_BATCH,
		    "1 at 100 takes 100\n2 at 200 takes 80 incomplete\n");
}

/* ---- phases ---- */

static void check_lines(const char *lines, const int64_t expected[HOST_LINE_COUNT])
{
	const struct tscope_timeline *timeline = timeline_of(lines);
	int64_t sum_ns = 0;

	for (size_t line = 0; line < HOST_LINE_COUNT; line++) {
		int64_t ns = timeline->host_budgets[0].line_ns[line];

		if (ns != expected[line])
			fail_msg("%s: %" PRId64 " and not %" PRId64,
				 tsi_host_line_name((enum host_line)line), ns, expected[line]);
		sum_ns += ns;
	}
	assert_int_equal(sum_ns, timeline->steps[0].wall_ns);
}

#define BEHIND "event/train_batch 1000 1001\n"

TEST(phases_of_a_batch)
{
	/* Two microbatches; 600 less 2 × (100 + 20 + 150) and the algorithm's 10 are the optimizer's. */
	check_lines("event/train_batch 0 600\n"
		    "event/forward 10 110\nevent/loss 110 130\nevent/backward 130 280\n"
		    "algorithm/MixUp/event/before_forward 285 295\n"
		    "event/forward 300 400\nevent/loss 400 420\nevent/backward 420 570\n"
		    "dataloader/train 800 900\n" BEHIND,
		    (int64_t[]){ 100, 240, 300, 50, 0, 310 });
}

/* Callbacks are other wherever they are, and so are torch's operators in them. */
TEST(callbacks_are_other)
{
	check_lines(
		"event/train_batch 0 600\n"
		"callback/A/event/before_loss 100 150\n"
		"cpu_op aten::item 110 120\n"
		"cpu_op aten::add_ 200 250\n" /* what nothing else is about is the optimizer's */
		"callback/A/event/batch_end 700 800\n"
		"cpu_op aten::item 710 720\n"
		"cpu_op aten::zeros 850 860\n" /* outside of all that is named: forward */
		BEHIND,
		(int64_t[]){ 0, 10, 0, 550, 0, 440 });
}

/* The main thread does not wait for backward while it is in one; before and behind it does. */
TEST(callbacks_during_backward)
{
	check_lines("event/train_batch 0 600\ncallback/A/event/batch_end 700 800\n"
		    "cpu_op autograd::engine::evaluate_function 650 850 thread=2\n" BEHIND,
		    (int64_t[]){ 0, 0, 100, 600, 0, 300 });
}

/* The span that began last decides: data within a callback, a collective within the optimizer. */
TEST(the_innermost_span_decides)
{
	check_lines("event/train_batch 0 600\n"
		    "cpu_op gloo:all_reduce 100 180\n"
		    "callback/A/event/batch_end 700 800\n"
		    "dataloader/again 710 730\n" BEHIND,
		    (int64_t[]){ 20, 0, 0, 520, 80, 380 });
}

/* What a step was cut at is not in it: no data of the next batch, nothing of the evaluation. */
TEST(phases_before_an_evaluation)
{
	check_lines("event/train_batch 0 600\nevent/backward 100 200\n"
		    "event/eval 650 900\ndataloader/eval 660 700\nevent/eval_forward 700 800\n"
		    "dataloader/train 950 960\n" BEHIND,
		    (int64_t[]){ 0, 0, 100, 500, 0, 50 });
}

/* ---- on a device ---- */

#define LAUNCH(name, at, id)                                                                       \
	"cuda_runtime cudaLaunchKernel " #at " " #at " args={\"correlation\": " #id "}\n"          \
	"kernel " name " " #at "5 " #at "9 thread=7 "                                              \
	"args={\"device\": 0, \"stream\": 7, \"correlation\": " #id "}\n"

#define BATCH "event/train_batch 0 1000\ncpu_op aten::mm 1 2\n"
#define IN_FORWARD "event/forward 10 20\n" LAUNCH("f", 11, 1)
#define IN_BACKWARD "event/backward 20 30\n" LAUNCH("b", 21, 2)
#define BETWEEN LAUNCH("o", 31, 3)
#define IN_CALLBACK "callback/A/event/before_loss 40 50\n" LAUNCH("c", 41, 4)
/* A CPU runs backward on the main thread, which is no backward thread for that. */
#define OUTSIDE "cpu_op autograd::engine::evaluate_function 60 61\n" LAUNCH("n", 1500, 5)

/* The phase of a kernel is that of the place it was launched from. */
TEST(phases_of_kernels)
{
	const struct tscope_timeline *timeline =
		timeline_of(BATCH IN_FORWARD IN_BACKWARD BETWEEN IN_CALLBACK OUTSIDE BEHIND);
	static const struct {
		const char *name;
		enum phase phase;
	} kernels[] = {
		{ "f", PHASE_FORWARD }, { "b", PHASE_BACKWARD }, { "o", PHASE_OPTIMIZER },
		{ "c", PHASE_OTHER },   { "n", PHASE_COMPUTE },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(kernels); i++)
		assert_int_equal(tsi_device_event(timeline->trace,
						  test_row(timeline->trace, kernels[i].name))
					 ->phase,
				 kernels[i].phase);
}
