/* SPDX-License-Identifier: MIT */
/*
 * Which of ProfilerSteps and marks of optimizers bound the steps, and that several optimizers do
 * not double them. A case is a trace as lines of "thread start duration name", in the order of
 * time, and the steps that it has: "rule: number start-end" for each.
 */
#include "timeline/timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/attributes.h"
#include "check.h"
#include "memory_sweep.h"
#include "trace_builder.h"

/* A batch of 100: loader, forward, backward on the autograd thread 2, and the optimizers' steps. */
#define FETCH(at) "1 " #at "01 4 enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__\n"
#define BACKWARD(at) "2 " #at "30 20 autograd::engine::evaluate_function: AddmmBackward0\n"
#define ADAM(at, place) "1 " #at #place " 4 Optimizer.step#Adam.step\n"

static struct tscope_trace *make_trace(const char *lines)
{
	struct test_trace *t = test_trace_new();

	while (*lines) {
		int64_t tid, start_ns, dur_ns;
		char name[128];
		int used;

		assert_int_equal(sscanf(lines, "%" SCNd64 " %" SCNd64 " %" SCNd64 " %127[^\n]%n",
					&tid, &start_ns, &dur_ns, name, &used),
				 4);
		if (strncmp(name, "aten::", 6) == 0 || strncmp(name, "autograd::", 10) == 0)
			test_op(t, name, tid, start_ns, dur_ns);
		else
			test_annotation(t, name, tid, start_ns, dur_ns);
		lines += used + 1;
	}
	return test_trace_finish(t);
}

static void describe(char *text, size_t size, const struct tscope_timeline *timeline)
{
	size_t used =
		(size_t)snprintf(text, size, "%s%s:", tscope_boundary_name(timeline->boundary),
				 timeline->is_numbered ? " by number" : "");

	for (uint32_t i = 0; i < timeline->step_count && used < size; i++) {
		struct tscope_step step = tscope_timeline_step(timeline, i);

		used += (size_t)snprintf(text + used, size - used,
					 " %" PRId64 " %" PRId64 "-%" PRId64, step.number,
					 step.start_ns, step.start_ns + step.dur_ns);
	}
}

static const struct {
	const char *what, *lines, *expected;
} cases[] = {
	{ "a profiler that is stepped only when it publishes",
	  "1 0 399 ProfilerStep#0\n" FETCH(0) BACKWARD(0) ADAM(0, 60) FETCH(1) BACKWARD(1)
		  ADAM(1, 60) FETCH(2) BACKWARD(2) ADAM(2, 60) FETCH(3) BACKWARD(3) ADAM(3, 60),
	  "optimizer: 0 0-64 1 64-164 2 164-264 3 264-364" },
	{ "a profiler that begins anew while it steps leaves an empty marker first",
	  "1 0 2 ProfilerStep#3\n1 3 396 ProfilerStep#4\n" FETCH(1) BACKWARD(1) ADAM(1, 60) FETCH(2)
		  BACKWARD(2) ADAM(2, 60),
	  "optimizer: 0 0-164 1 164-264" },
	{ "batches whose gradients are summed: one step of two",
	  "1 0 399 ProfilerStep#0\n" FETCH(0) BACKWARD(0) FETCH(1) BACKWARD(1) ADAM(1, 60) FETCH(2)
		  BACKWARD(2) FETCH(3) BACKWARD(3) ADAM(3, 60),
	  "optimizer: 0 0-164 1 164-364" },
	{ "micro-batches with a ProfilerStep each, of which only some end a step",
	  "1 0 99 ProfilerStep#0\n" FETCH(0) BACKWARD(0) "1 100 99 ProfilerStep#1\n" FETCH(1)
		  BACKWARD(1) ADAM(1, 60) "1 200 99 ProfilerStep#2\n" FETCH(2) BACKWARD(2),
	  "profiler_step by number: 0 0-99 1 100-199 2 200-299" },
	{ "two optimizers of one name, as of two parts of a model",
	  "1 0 99 ProfilerStep#5\n" FETCH(0) BACKWARD(0) ADAM(0, 60) ADAM(
		  0, 70) "1 100 99 ProfilerStep#6\n" FETCH(1) BACKWARD(1) ADAM(1, 60) ADAM(1, 70),
	  "profiler_step by number: 5 0-99 6 100-199" },
	{ "the same without batches to count",
	  "1 0 99 ProfilerStep#5\n" BACKWARD(0) ADAM(0, 60)
		  ADAM(0, 70) "1 100 99 ProfilerStep#6\n" BACKWARD(1) ADAM(1, 60) ADAM(1, 70),
	  "profiler_step by number: 5 0-99 6 100-199" },
	{ "the same without ProfilerSteps",
	  BACKWARD(0) ADAM(0, 60) ADAM(0, 70) BACKWARD(1) ADAM(1, 60) ADAM(1, 70) ADAM(1, 80),
	  "optimizer: 0 30-74 1 74-184" },
	{ "the same within a window of publishing",
	  "1 0 199 ProfilerStep#0\n" FETCH(0) BACKWARD(0) ADAM(0, 60) ADAM(0, 70) FETCH(1)
		  BACKWARD(1) ADAM(1, 60) ADAM(1, 70),
	  "optimizer: 0 0-74 1 74-174" },
	{ "two optimizers of two names in a window of publishing",
	  "1 0 199 ProfilerStep#0\n" FETCH(0) BACKWARD(0) "1 050 4 Optimizer.step#Muon.step\n" ADAM(
		  0, 60) FETCH(1) BACKWARD(1) "1 150 4 Optimizer.step#Muon.step\n" ADAM(1, 60),
	  "optimizer: 0 0-64 1 64-164" },
	{ "two optimizers of one name, each behind a backward pass of its own, on one batch (a "
	  "GAN)",
	  "1 0 99 ProfilerStep#1\n" FETCH(0) BACKWARD(0)
		  ADAM(0, 55) "2 60 10 autograd::engine::evaluate_function: MulBackward0\n" ADAM(
			  0, 80) "1 100 99 ProfilerStep#2\n" FETCH(1) BACKWARD(1)
			  ADAM(1, 55) "2 160 10 autograd::engine::evaluate_function: "
				      "MulBackward0\n" ADAM(1, 80),
	  "profiler_step by number: 1 0-99 2 100-199" },
	{ "an optimizer for each parameter, which steps within the backward pass",
	  "1 0 99 ProfilerStep#1\n1 30 10 autograd::engine::evaluate_function: AccumulateGrad\n"
	  "1 32 4 Optimizer.step#SGD.step\n1 42 9 autograd::engine::evaluate_function: "
	  "AccumulateGrad\n"
	  "1 44 4 Optimizer.step#SGD.step\n1 100 99 ProfilerStep#2\n"
	  "1 130 10 autograd::engine::evaluate_function: AccumulateGrad\n"
	  "1 132 4 Optimizer.step#SGD.step\n"
	  "1 142 9 autograd::engine::evaluate_function: AccumulateGrad\n"
	  "1 144 4 Optimizer.step#SGD.step\n",
	  "profiler_step by number: 1 0-99 2 100-199" },
	{ "the same without ProfilerSteps: nothing tells the steps",
	  "1 30 10 autograd::engine::evaluate_function: AccumulateGrad\n"
	  "1 32 4 Optimizer.step#SGD.step\n1 130 10 autograd::engine::evaluate_function: "
	  "AccumulateGrad\n"
	  "1 132 4 Optimizer.step#SGD.step\n",
	  "whole_trace: 0 30-140" },
	{ "a closure: forward and backward within the optimizer's mark (Lightning)",
	  "1 10 80 Optimizer.step#Adam.step\n2 30 20 autograd::engine::evaluate_function: "
	  "MmBackward0\n"
	  "1 110 80 Optimizer.step#Adam.step\n"
	  "2 130 20 autograd::engine::evaluate_function: MmBackward0\n"
	  "1 210 80 Optimizer.step#Adam.step\n"
	  "2 230 20 autograd::engine::evaluate_function: MmBackward0\n",
	  "optimizer: 0 10-90 1 90-190 2 190-290" },
	{ "no backward pass is recorded: every mark stays", ADAM(0, 60) ADAM(1, 60) ADAM(2, 60),
	  "optimizer: 0 60-64 1 64-164 2 164-264" },
};

TEST(steps_are_told_by_backward_passes_and_batches)
{
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct tscope_trace *trace = make_trace(cases[i].lines);
		char text[512];
		struct tscope_timeline *timeline = test_timeline(trace, NULL);

		describe(text, sizeof(text), timeline);
		if (strcmp(text, cases[i].expected) != 0)
			print_message("%s\n", cases[i].what);
		assert_string_equal(text, cases[i].expected);
	}
}

TEST(out_of_memory)
{
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct tscope_trace *trace = make_trace(cases[i].lines);

		sweep_timeline(trace, 1);
	}
}
