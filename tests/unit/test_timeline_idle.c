/* SPDX-License-Identifier: MIT */
/*
 * Why a device is idle, case by case. Times are in us. Each trace begins with an operator [0,15)
 * that launches k in a call [5,10); it runs in [12,100).
 */
#include "timeline/timeline.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "trace_builder.h"

enum { MAIN = 1, OTHER = 2, US = 1000 };

enum what { END, OP, CALL, ANNOTATION, FRAME, OVERHEAD, KERNEL, COPY };

struct event {
	enum what what;
	const char *name;
	int64_t start_us, dur_us;
	uint64_t correlation;
	int64_t tid; /* 0: MAIN */
};

struct idle_case {
	const char *what;
	struct event events[9];
	const char *expected; /* "cause us …", in their order, beyond what the beginning has */
};

static const struct idle_case cases[] = {
	{ "python, operator, launch, start",
	  { { OP, "aten::b", 150, 20, 0, 0 },
	    { CALL, "cudaLaunchKernel", 160, 8, 2, 0 },
	    { KERNEL, "k", 171, 9, 2, 0 } },
	  "op_overhead 10 python 50 launch_call 8 start_latency 3" },
	{ "a data loader, whatever it calls",
	  { { ANNOTATION, "enumerate(DataLoader)#_X.__next__", 100, 60, 0, 0 },
	    { OP, "aten::stack", 110, 20, 0, 0 },
	    { CALL, "cudaStreamSynchronize", 115, 5, 0, 0 },
	    { OP, "aten::b", 160, 20, 0, 0 },
	    { CALL, "cudaLaunchKernel", 160, 8, 2, 0 },
	    { KERNEL, "k", 168, 9, 2, 0 } },
	  "data 60 launch_call 8 edge 3" },
	{ "a wait for the device that has not returned",
	  { { CALL, "cudaStreamSynchronize", 95, 15, 0, 0 },
	    { OP, "aten::b", 130, 20, 0, 0 },
	    { CALL, "cudaLaunchKernel", 140, 5, 2, 0 },
	    { KERNEL, "k", 145, 5, 2, 0 } },
	  "sync 10 op_overhead 10 python 20 launch_call 5" },
	{ "what the host launches after a wait",
	  { { CALL, "cudaStreamSynchronize", 75, 35, 0, 0 },
	    { OP, "aten::b", 115, 20, 0, 0 },
	    { CALL, "cudaLaunchKernel", 120, 10, 2, 0 },
	    { KERNEL, "k", 135, 15, 2, 0 } },
	  /* It had waited 25 us when the device ran dry: [100,125). */
	  "sync 25 launch_call 5 start_latency 5" },
	{ "no more than it waited: Python is as late as before",
	  { { CALL, "cudaStreamSynchronize", 75, 35, 0, 0 },
	    { OP, "aten::b", 155, 20, 0, 0 },
	    { CALL, "cudaLaunchKernel", 160, 10, 2, 0 },
	    { KERNEL, "k", 170, 15, 2, 0 } },
	  "sync 25 op_overhead 5 python 30 launch_call 10" },
	{ "a loader, garbage collection: work of their own behind a wait",
	  { { CALL, "cudaStreamSynchronize", 20, 90, 0, 0 },
	    { FRAME, "<built-in function collect>", 110, 20, 0, 0 },
	    { ANNOTATION, "enumerate(DataLoader)#_X.__next__", 130, 30, 0, 0 },
	    { CALL, "cudaLaunchKernel", 165, 5, 2, 0 },
	    { KERNEL, "k", 170, 5, 2, 0 } },
	  "data 30 gc 20 sync 20" },
	{ "more than 1 ms until the next launch is work of its own",
	  { { CALL, "cudaLaunchKernel", 20, 5, 3, 0 },
	    { KERNEL, "k", 100, 2000, 3, 0 },
	    { CALL, "cudaStreamSynchronize", 30, 2080, 0, 0 },
	    { CALL, "cudaLaunchKernel", 4000, 5, 2, 0 },
	    { KERNEL, "k", 4005, 5, 2, 0 } },
	  "sync 1000 python 900 launch_call 5" },
	{ "a number read by a copy that blocks",
	  { { OP, "aten::_local_scalar_dense", 20, 110, 0, 0 },
	    { CALL, "cudaMemcpyAsync", 25, 95, 2, 0 },
	    { COPY, "Memcpy DtoH (Device -> Pageable)", 101, 2, 2, 0 },
	    { OP, "aten::b", 140, 20, 0, 0 },
	    { CALL, "cudaLaunchKernel", 145, 5, 3, 0 },
	    { KERNEL, "k", 150, 10, 3, 0 } },
	  "blocking_copy 48" },
	{ "queued: back to back",
	  { { OP, "aten::b", 30, 20, 0, 0 },
	    { CALL, "cudaLaunchKernel", 40, 5, 2, 0 },
	    { KERNEL, "k", 103, 5, 2, 0 } },
	  "device_gap 3" },
	{ "launched and not started for long",
	  { { OP, "aten::b", 30, 20, 0, 0 },
	    { CALL, "cudaLaunchKernel", 40, 5, 2, 0 },
	    { KERNEL, "k", 151, 5, 2, 0 } },
	  "unrecorded 51" },
	{ "kernels that the trace lacks, until one that it has",
	  { { CALL, "cudaLaunchKernel", 110, 5, 3, 0 },
	    { CALL, "cudaLaunchKernel", 120, 5, 4, 0 },
	    { OP, "aten::b", 150, 20, 0, 0 },
	    { CALL, "cudaLaunchKernel", 160, 8, 2, 0 },
	    { KERNEL, "k", 171, 9, 2, 0 } },
	  "python 10 launch_call 8 start_latency 3 unrecorded 50" },
	{ "kernels that the trace lacks, until the host has waited for them",
	  { { CALL, "cudaLaunchKernel", 110, 5, 3, 0 },
	    { CALL, "cudaDeviceSynchronize", 120, 15, 0, 0 },
	    { OP, "aten::b", 150, 20, 0, 0 },
	    { CALL, "cudaLaunchKernel", 160, 8, 2, 0 },
	    { KERNEL, "k", 171, 9, 2, 0 } },
	  "op_overhead 10 python 25 launch_call 8 start_latency 3 unrecorded 25" },
	{ "kernels of a graph that is captured meanwhile run nowhere",
	  { { CALL, "cudaStreamBeginCapture", 110, 5, 0, 0 },
	    { CALL, "cudaLaunchKernel", 120, 5, 3, OTHER },
	    { CALL, "cudaStreamEndCapture", 140, 5, 0, 0 },
	    { OP, "aten::b", 150, 20, 0, 0 },
	    { CALL, "cudaLaunchKernel", 160, 8, 2, 0 },
	    { KERNEL, "k", 171, 9, 2, 0 } },
	  "compile 35 op_overhead 10 python 15 launch_call 8 start_latency 3" },
	{ "a collective waits for others",
	  { { OP, "aten::b", 30, 20, 0, 0 },
	    { CALL, "cudaLaunchKernel", 40, 5, 2, 0 },
	    { KERNEL, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 151, 5, 2, 0 } },
	  "dependency 51" },
	{ "a stream waits for a host function",
	  { { OP, "aten::b", 30, 20, 0, 0 },
	    { CALL, "cudaLaunchHostFunc", 35, 3, 0, 0 },
	    { CALL, "cudaLaunchKernel", 40, 5, 2, 0 },
	    { KERNEL, "k", 151, 5, 2, 0 } },
	  "dependency 51" },
	{ "allocation",
	  { { OP, "aten::b", 100, 400, 0, 0 },
	    { CALL, "cudaMalloc", 110, 300, 0, 0 },
	    { CALL, "cudaLaunchKernel", 480, 10, 2, 0 },
	    { KERNEL, "k", 490, 5, 2, 0 } },
	  "alloc 300 op_overhead 80 launch_call 10 edge 5" },
	{ "the first launch of a kernel",
	  { { OP, "aten::b", 100, 9000, 0, 0 },
	    { CALL, "cudaLaunchKernel", 110, 8000, 2, 0 },
	    { KERNEL, "new", 8110, 5, 2, 0 } },
	  "startup 8010 edge 985" },
	{ "a slow launch of a kernel seen before",
	  { { OP, "aten::b", 100, 9000, 0, 0 },
	    { CALL, "cudaLaunchKernel", 110, 8000, 2, 0 },
	    { KERNEL, "k", 8110, 5, 2, 0 } },
	  "launch_stall 8000 op_overhead 10 edge 985" },
	{ "a cold operator: ten times as long as usual",
	  { { OP, "aten::b", 100, 1000, 0, 0 },
	    { CALL, "cudaLaunchKernel", 1090, 10, 2, 0 },
	    { KERNEL, "k", 1100, 100, 2, 0 },
	    { OP, "aten::b", 1120, 100, 0, 0 },
	    { CALL, "cudaLaunchKernel", 1130, 10, 3, 0 },
	    { KERNEL, "k", 1200, 20, 3, 0 },
	    { OP, "aten::b", 1320, 100, 0, 0 } },
	  "startup 990 launch_call 10 edge 200" },
	{ "not cold: nine times as long as usual",
	  { { OP, "aten::b", 100, 1000, 0, 0 },
	    { CALL, "cudaLaunchKernel", 1090, 10, 2, 0 },
	    { KERNEL, "k", 1100, 100, 2, 0 },
	    { OP, "aten::b", 1120, 101, 0, 0 },
	    { CALL, "cudaLaunchKernel", 1130, 10, 3, 0 },
	    { KERNEL, "k", 1200, 20, 3, 0 },
	    { OP, "aten::b", 1320, 101, 0, 0 } },
	  "op_overhead 990 launch_call 10 edge 201" },
	{ "an operator that stalls",
	  { { OP, "aten::b", 100, 1100, 0, 0 },
	    { CALL, "cudaLaunchKernel", 1100, 10, 2, 0 },
	    { KERNEL, "k", 1110, 100, 2, 0 } },
	  "op_stall 1000 launch_call 10" },
	{ "an operator without calls: CPU tensors",
	  { { OP, "aten::randperm", 100, 3000, 0, 0 },
	    { OP, "aten::b", 3100, 20, 0, 0 },
	    { CALL, "cudaLaunchKernel", 3100, 5, 2, 0 },
	    { KERNEL, "k", 3105, 5, 2, 0 } },
	  "cpu_work 3000 launch_call 5 edge 10" },
	{ "an operator that computes nothing waits",
	  { { OP, "aten::empty", 100, 3000, 0, 0 },
	    { OP, "aten::b", 3100, 20, 0, 0 },
	    { CALL, "cudaLaunchKernel", 3100, 5, 2, 0 },
	    { KERNEL, "k", 3105, 5, 2, 0 } },
	  "op_stall 3000 launch_call 5 edge 10" },
	{ "a blocking copy",
	  { { OP, "aten::to", 100, 300, 0, 0 },
	    { CALL, "cudaMemcpyAsync", 110, 200, 2, 0 },
	    { COPY, "Memcpy HtoD (Pageable -> Device)", 250, 60, 2, 0 } },
	  "blocking_copy 140 op_overhead 10 edge 90" },
	{ "another thread that launches, where the own one is inside nothing",
	  { { OP, "aten::c", 100, 50, 0, 0 },
	    { OP, "aten::d", 40, 20, 0, OTHER },
	    { CALL, "cudaLaunchKernel", 50, 5, 3, OTHER },
	    { KERNEL, "k", 98, 2, 3, 0 },
	    { OP, "aten::b", 150, 20, 0, OTHER },
	    { CALL, "cudaLaunchKernel", 150, 5, 2, OTHER },
	    { KERNEL, "k", 155, 5, 2, 0 } },
	  "op_overhead 50 launch_call 5 edge 10" },
	{ "a collective on a thread of its own, where the host is inside nothing",
	  { { ANNOTATION, "gloo:all_reduce", 110, 60, 0, OTHER },
	    { OP, "aten::b", 150, 40, 0, 0 },
	    { CALL, "cudaLaunchKernel", 180, 8, 2, 0 },
	    { KERNEL, "k", 188, 2, 2, 0 } },
	  "peer 40 op_overhead 30 python 10 launch_call 8" },
	{ "no launch, no later event",
	  { { KERNEL, "k", 150, 10, 77, 0 }, { CALL, "cudaEventRecord", 200, 5, 0, 0 } },
	  "unlinked 50 edge 45" },
	{ "capture and instantiation of a graph",
	  { { CALL, "cudaStreamBeginCapture", 100, 2, 0, 0 },
	    { CALL, "cudaLaunchKernel", 150, 5, 0, 0 },
	    { CALL, "cudaStreamEndCapture", 300, 10, 0, 0 },
	    { CALL, "cudaGraphLaunch", 310, 20, 2, 0 },
	    { KERNEL, "k", 330, 5, 2, 0 } },
	  "compile 210 launch_call 20" },
	{ "the engine between two nodes",
	  { { OP, "MmBackward0", 100, 20, 0, 0 },
	    { OP, "AddBackward0", 140, 30, 0, 0 },
	    { CALL, "cudaLaunchKernel", 160, 5, 2, 0 },
	    { KERNEL, "k", 165, 5, 2, 0 } },
	  "op_overhead 60 launch_call 5" },
	{ "lazy loading and the profiler's buffers, beside the threads",
	  { { OP, "aten::b", 100, 100, 0, 0 },
	    { OVERHEAD, "Lazy Function Loading", 110, 20, 0, 9 },
	    { OVERHEAD, "Activity Buffer Request", 120, 30, 0, 9 },
	    { CALL, "cudaLaunchKernel", 190, 5, 2, 0 },
	    { KERNEL, "k", 195, 5, 2, 0 } },
	  "profiler 20 startup 20 op_overhead 50 launch_call 5" },
	{ "Lightning's callbacks, in its profiler's own recording or PyTorch's",
	  { { ANNOTATION, "[pl][profile][Callback]TQDM.on_train_batch_end", 100, 30, 0, 0 },
	    { ANNOTATION, "[Callback]TQDM.on_train_batch_end", 130, 20, 0, 0 },
	    { ANNOTATION, "[pl][profile][LightningModule]Net.on_train_batch_end", 150, 10, 0, 0 },
	    { CALL, "cudaLaunchKernel", 160, 5, 2, 0 },
	    { KERNEL, "k", 165, 5, 2, 0 } },
	  "callback 50 python 10 launch_call 5" },
	{ "callbacks and waits for other ranks",
	  { { ANNOTATION, "callback/CheckpointSaver/event/batch_end", 100, 30, 0, 0 },
	    { ANNOTATION, "gloo:all_reduce", 140, 20, 0, 0 },
	    { CALL, "cudaLaunchKernel", 160, 5, 2, 0 },
	    { KERNEL, "k", 165, 5, 2, 0 } },
	  "callback 30 peer 20 python 10 launch_call 5" },
	{ "frames: garbage, compilation, a wait for another thread",
	  { { FRAME, "<built-in function collect>", 100, 30, 0, 0 },
	    { FRAME, "torch/_dynamo/convert_frame.py(5): compile_inner", 130, 20, 0, 0 },
	    { FRAME, "threading.py(5): wait", 150, 20, 0, 0 },
	    { OP, "aten::b", 155, 10, 0, OTHER },
	    { CALL, "cudaLaunchKernel", 156, 5, 3, OTHER },
	    { CALL, "cudaLaunchKernel", 170, 5, 2, 0 },
	    { KERNEL, "k", 175, 5, 2, 0 },
	    { KERNEL, "k", 185, 5, 3, 0 } },
	  "compile 20 gc 30 op_overhead 10 python 10 launch_call 5 device_gap 5" },
};

static void add_event(struct test_trace *t, const struct event *event)
{
	int64_t start_ns = event->start_us * US, dur_ns = event->dur_us * US;
	int64_t tid = event->tid ? event->tid : MAIN;

	switch (event->what) {
	case OP:
		test_op(t, event->name, tid, start_ns, dur_ns);
		break;
	case CALL:
		test_call(t, event->name, tid, start_ns, dur_ns, event->correlation);
		break;
	case ANNOTATION:
		test_annotation(t, event->name, tid, start_ns, dur_ns);
		break;
	case FRAME:
		test_span(t, "python_function", event->name, tid, start_ns, dur_ns);
		break;
	case OVERHEAD:
		test_span(t, "overhead", event->name, tid, start_ns, dur_ns);
		break;
	case COPY:
		test_memcpy(t, event->name, 0, 7, start_ns, dur_ns, event->correlation, 8);
		break;
	default:
		test_kernel(t, event->name, 0, 7, start_ns, dur_ns, event->correlation);
	}
}

static struct tscope_trace *trace_of(const struct idle_case *c)
{
	static const struct builder_options options = { .python = true };
	static const struct event first[] = {
		{ OP, "aten::a", 0, 15, 0, 0 },
		{ CALL, "cudaLaunchKernel", 5, 5, 1, 0 },
		{ KERNEL, "k", 12, 88, 1, 0 },
	};
	struct test_trace *t = test_trace_new_with(&options);

	for (size_t i = 0; i < TSI_COUNT_OF(first); i++)
		add_event(t, &first[i]);
	for (const struct event *event = c->events; event->what != END; event++)
		add_event(t, event);
	return test_trace_finish(t);
}

/* The causes as in the cases, without the gap [0,12) at the beginning. */
static void print_causes(char *text, size_t size, const struct tscope_timeline *timeline)
{
	size_t length = 0;

	*text = 0;
	for (unsigned cause = 0; cause < IDLE_CAUSE_COUNT; cause++) {
		int64_t ns = tsi_timeline_budget(timeline, 0, 0)->idle_ns[cause];
		ns -= cause == IDLE_OP_OVERHEAD || cause == IDLE_LAUNCH_CALL ? 5 * US : 0;
		ns -= cause == IDLE_START_LATENCY ? 2 * US : 0;
		if (ns)
			length += (size_t)snprintf(
				text + length, size - length, "%s%s %lld", length ? " " : "",
				tsi_idle_cause_name((enum idle_cause)cause), (long long)(ns / US));
	}
}

TEST(each_instant_has_its_cause)
{
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct tscope_trace *trace = trace_of(&cases[i]);
		char found[400];
		struct tscope_timeline *timeline = test_timeline(trace, NULL);

		print_causes(found, sizeof(found), timeline);
		if (strcmp(found, cases[i].expected) != 0)
			print_error("%s\n", cases[i].what);
		assert_string_equal(found, cases[i].expected);
	}
}

TEST(other_devices_explain_a_wait)
{
	/* [20,100) of device 0: device 1 works in 90 % of it, or in less. */
	for (int64_t busy_us = 72; busy_us >= 70; busy_us -= 2) {
		struct test_trace *t = test_trace_new();
		test_call(t, "cudaLaunchKernel", MAIN, 0, 20 * US, 1);
		test_kernel(t, "k", 0, 7, 100 * US, 10 * US, 1);
		test_kernel(t, "k", 1, 7, 0, 25 * US, 0);
		test_memcpy(t, "Memcpy PtoP", 1, 8, 25 * US, (busy_us - 5) * US, 0, 8);
		struct tscope_trace *trace = test_trace_finish(t);
		struct tscope_timeline *timeline = test_timeline(trace, NULL);
		const struct budget *budget = tsi_timeline_budget(timeline, 0, 0);
		assert_int_equal(budget->idle_ns[IDLE_DEPENDENCY], busy_us == 72 ? 80 * US : 0);
		assert_int_equal(budget->idle_ns[IDLE_UNRECORDED], busy_us == 72 ? 0 : 80 * US);
	}
}

/* Device 0 is done at 20, device 1 at 100; the host waits for it until 105, launches at 110. */
TEST(a_wait_for_another_device_is_no_drain)
{
	for (int device = 0; device < 2; device++) {
		struct test_trace *t = test_trace_new();
		test_call(t, "cudaLaunchKernel", MAIN, 0, 5 * US, 1);
		test_kernel(t, "k", 0, 7, 5 * US, 15 * US, 1);
		test_call(t, "cudaLaunchKernel", MAIN, 6 * US, 4 * US, 2);
		test_kernel(t, "k", device, 8, 10 * US, 90 * US, 2);
		test_call(t, "cudaStreamSynchronize", MAIN, 12 * US, 93 * US, 0);
		test_call(t, "cudaLaunchKernel", MAIN, 110 * US, 5 * US, 3);
		test_kernel(t, "k", 0, 7, 115 * US, 15 * US, 3);
		struct tscope_trace *trace = test_trace_finish(t);
		struct tscope_timeline *timeline = test_timeline(trace, NULL);
		const struct budget *budget = tsi_timeline_budget(timeline, 0, 0);
		assert_int_equal(budget->idle_ns[IDLE_DEPENDENCY], device ? 85 * US : 0);
		assert_int_equal(budget->idle_ns[IDLE_SYNC], device ? 0 : 15 * US);
	}
}

TEST(the_longest_gaps_are_kept)
{
	struct test_trace *t = test_trace_new();
	int64_t start_ns = 100 * US;

	/* Gaps of 1 to 30 us, each with 5 us of a launch. */
	for (int i = 1; i <= 30; i++) {
		start_ns += (5 + i) * US;
		test_call(t, "cudaLaunchKernel", MAIN, start_ns - 5 * US, 5 * US, (uint64_t)i);
		test_kernel(t, "k", 0, 7, start_ns, 10 * US, (uint64_t)i);
		start_ns += 10 * US;
	}
	struct tscope_trace *trace = test_trace_finish(t);
	struct tscope_timeline *timeline = test_timeline(trace, NULL);
	assert_int_equal(timeline->long_gap_count, MAX_LONG_GAPS);
	for (int i = 0; i < MAX_LONG_GAPS; i++) {
		const struct long_gap *gap = &timeline->long_gaps[i];
		assert_int_equal(gap->end_ns - gap->start_ns, (35 - i) * US);
		assert_int_equal(gap->cause, IDLE_HOST_UNRECORDED);
	}
}

/* Operators of 100 us; all but those from 10 on launch a kernel in their middle. */
static int64_t unrecorded_ns(int launchless_count, bool is_damaged, bool has_ops)
{
	struct test_trace *t = test_trace_new();

	for (int i = 0; i < 20 + launchless_count; i++) {
		bool launches = i < 10 || i >= 10 + launchless_count;
		int64_t start_ns = (int64_t)i * 100 * US;
		if (launches || has_ops)
			test_op(t, "aten::a", MAIN, start_ns, 100 * US);
		if (!launches)
			continue;
		test_call(t, "cudaLaunchKernel", MAIN, start_ns + 50 * US, 10 * US,
			  (uint64_t)i + 1);
		test_kernel(t, "k", 0, 7, start_ns + 60 * US, 10 * US, (uint64_t)i + 1);
	}
	struct tscope_trace *trace = test_trace_finish(t);
	trace->is_damaged = is_damaged;
	struct tscope_timeline *timeline = test_timeline(trace, NULL);
	int64_t found_ns = tsi_timeline_budget(timeline, 0, 0)->idle_ns[IDLE_UNRECORDED];
	return found_ns;
}

TEST(damage_may_have_lost_calls)
{
	assert_int_equal(unrecorded_ns(20, true, true), 2080 * US);
	assert_int_equal(unrecorded_ns(15, true, true), 1580 * US);
	assert_int_equal(unrecorded_ns(14, true, true), 0); /* and one that launches */
	assert_int_equal(unrecorded_ns(20, false, true), 0);
	assert_int_equal(unrecorded_ns(20, true, false), 0);
}
