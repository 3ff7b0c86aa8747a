/* SPDX-License-Identifier: MIT */
/* The critical path on devices: launches, queues, other streams, and calls that wait. */
#include "path_check.h"

#include <inttypes.h>
#include <stdio.h>

#include "check.h"

enum { MAIN = 1 }; /* thread id */

/* A call of 10 ns that launches a kernel on stream 7. */
static void launch(struct test_trace *t, uint64_t correlation, int64_t call_ns, const char *kernel,
		   int64_t start_ns, int64_t dur_ns)
{
	test_call(t, "cudaLaunchKernel", MAIN, call_ns, 10, correlation);
	test_kernel(t, kernel, 0, 7, start_ns, dur_ns, correlation);
}

/* Launches take 30 ns on an idle stream. The second kernel outlives the step's marker. */
TEST(launch_bound)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 1000);
	test_op(t, "aten::a", MAIN, 100, 100);
	launch(t, 1, 120, "k1", 150, 20);
	test_op(t, "aten::b", MAIN, 300, 100);
	launch(t, 2, 320, "k2", 350, 750);
	check_path(t, "host 0 100 -\n"
		      "host 100 120 aten::a\n"
		      "host 120 130 cudaLaunchKernel\n"
		      "host 130 200 aten::a\n"
		      "host 200 300 -\n"
		      "host 300 320 aten::b\n"
		      "launch 320 350 k2\n"
		      "compute 350 1100 k2\n");
}

/*
 * The same where k1 runs until 330: k2 was launched before that, but started 30 ns after
 * its launch, as on an idle stream.
 */
TEST(prompt_although_queued)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 400);
	launch(t, 1, 120, "k1", 150, 180);
	launch(t, 2, 320, "k2", 350, 150);
	check_path(t, "host 0 120 -\n"
		      "host 120 130 cudaLaunchKernel\n"
		      "host 130 320 -\n"
		      "launch 320 350 k2\n"
		      "compute 350 500 k2\n");
}

/* All are queued behind the first: the host is far ahead. */
TEST(device_bound)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 400);
	launch(t, 1, 100, "k1", 130, 370);
	launch(t, 2, 200, "k2", 505, 395);
	launch(t, 3, 300, "k3", 905, 395);
	check_path(t, "host 0 100 -\n"
		      "launch 100 130 k1\n"
		      "compute 130 500 k1\n"
		      "gap 500 505 k2\n"
		      "compute 505 900 k2\n"
		      "gap 900 905 k3\n"
		      "compute 905 1300 k3\n");
}

/* Launched 100 ns before it ran, which is late, but nothing ended meanwhile. */
TEST(slow_launch)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 400);
	launch(t, 1, 120, "k1", 150, 20);
	launch(t, 2, 200, "k2", 230, 20);
	launch(t, 3, 320, "k3", 420, 80);
	check_path(t, "host 0 120 -\n"
		      "host 120 130 cudaLaunchKernel\n"
		      "host 130 200 -\n"
		      "host 200 210 cudaLaunchKernel\n"
		      "host 210 320 -\n"
		      "launch 320 420 k3\n"
		      "compute 420 500 k3\n");
}

/* All of a graph have its one call: g2 runs 32 ns after it, less than k1 took, but behind g1. */
TEST(kernels_of_a_graph)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 400);
	launch(t, 1, 100, "k1", 150, 20);
	test_call(t, "cudaGraphLaunch", MAIN, 300, 10, 2);
	test_kernel(t, "g1", 0, 7, 310, 20, 2);
	test_kernel(t, "g2", 0, 7, 332, 168, 2);
	check_path(t, "host 0 100 -\n"
		      "host 100 110 cudaLaunchKernel\n"
		      "host 110 300 -\n"
		      "launch 300 310 g1\n"
		      "compute 310 330 g1\n"
		      "gap 330 332 g2\n"
		      "compute 332 500 g2\n");
}

/* .item(): the host waits for a copy that waits for a kernel. */
TEST(synchronising_call)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 1000);
	launch(t, 1, 100, "k1", 120, 480);
	test_op(t, "aten::item", MAIN, 200, 600);
	test_call(t, "cudaMemcpyAsync", MAIN, 210, 20, 2);
	test_memcpy(t, "Memcpy DtoH (Device -> Pinned)", 0, 7, 605, 35, 2, 4);
	test_call(t, "cudaStreamSynchronize", MAIN, 240, 460, 0);
	check_path(t, "host 0 100 -\n"
		      "launch 100 120 k1\n"
		      "compute 120 600 k1\n"
		      "gap 600 605 Memcpy DtoH (Device -> Pinned)\n"
		      "copy 605 640 Memcpy DtoH (Device -> Pinned)\n"
		      "host 640 700 cudaStreamSynchronize\n"
		      "host 700 800 aten::item\n"
		      "host 800 1000 -\n");
}

/* All was done before it: the call took its time itself. */
TEST(synchronising_call_that_waits_for_nothing)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 1000);
	launch(t, 1, 100, "k1", 120, 80);
	test_call(t, "cudaDeviceSynchronize", MAIN, 300, 50, 0);
	check_path(t, "host 0 100 -\n"
		      "host 100 110 cudaLaunchKernel\n"
		      "host 110 300 -\n"
		      "host 300 350 cudaDeviceSynchronize\n"
		      "host 350 1000 -\n");
}

/* A copy of pageable memory: its own call waits for it. */
TEST(pageable_copy)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 300);
	test_call(t, "cudaMemcpyAsync", MAIN, 100, 100, 1);
	test_memcpy(t, "Memcpy HtoD (Pageable -> Device)", 0, 7, 130, 50, 1, 4);
	check_path(t, "host 0 100 -\n"
		      "launch 100 130 Memcpy HtoD (Pageable -> Device)\n"
		      "copy 130 180 Memcpy HtoD (Pageable -> Device)\n"
		      "host 180 200 cudaMemcpyAsync\n"
		      "host 200 300 -\n");
}

/* What is recorded of a wait of a stream for an event: two calls and the record itself. */
static void record_wait(struct test_trace *t, uint64_t correlation, int64_t start_ns,
			int64_t event_stream, int64_t stream)
{
	char args[160];

	snprintf(args, sizeof(args),
		 "\"wait_on_stream\": %" PRId64 ", \"wait_on_cuda_event_record_corr_id\": %" PRIu64,
		 event_stream, correlation);
	test_call(t, "cudaEventRecord", MAIN, start_ns, 2, correlation);
	test_call(t, "cudaStreamWaitEvent", MAIN, start_ns + 3, 2, correlation + 1);
	test_device_args(t, "cuda_sync", "Stream Wait Event", 0, stream, start_ns + 3, 2,
			 correlation + 1, args);
}

/*
 * Two streams that wait for each other: k1, then the collective, then k2; an event that
 * nobody has to wait for ends after the collective.
 */
TEST(comm_on_another_stream)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 400);
	launch(t, 1, 100, "k1", 120, 180);
	record_wait(t, 10, 140, 7, 20);
	test_call(t, "cudaLaunchKernel", MAIN, 150, 10, 2);
	test_kernel(t, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 20, 305, 295, 2);
	record_wait(t, 20, 170, 20, 7);
	launch(t, 3, 180, "k2", 610, 290);
	test_call(t, "cudaLaunchKernel", MAIN, 200, 10, 4);
	test_kernel(t, "k3", 0, 21, 220, 387, 4);
	check_path(t, "host 0 100 -\n"
		      "launch 100 120 k1\n"
		      "compute 120 300 k1\n"
		      "gap 300 305 ncclDevKernel_AllReduce_Sum_f32_RING_LL\n"
		      "comm 305 600 ncclDevKernel_AllReduce_Sum_f32_RING_LL\n"
		      "gap 600 610 k2\n"
		      "compute 610 900 k2\n");
}

/* The same without records and with times as they are: what just ended is the cause. */
TEST(comm_on_another_stream_by_guess)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 400000);
	launch(t, 1, 100000, "k1", 107000, 193000);
	test_call(t, "cudaLaunchKernel", MAIN, 150000, 10, 2);
	test_kernel(t, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 20, 305000, 295000, 2);
	launch(t, 3, 180000, "k2", 610000, 290000);
	check_path(t, "host 0 100000 -\n"
		      "launch 100000 107000 k1\n"
		      "compute 107000 300000 k1\n"
		      "gap 300000 305000 ncclDevKernel_AllReduce_Sum_f32_RING_LL\n"
		      "comm 305000 600000 ncclDevKernel_AllReduce_Sum_f32_RING_LL\n"
		      "gap 600000 610000 k2\n"
		      "compute 610000 900000 k2\n");
}

/* Its own stream had ended just before, too: that is what it waited for. */
TEST(own_stream_comes_first)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 400000);
	launch(t, 1, 100000, "k1", 107000, 193000);
	test_call(t, "cudaLaunchKernel", MAIN, 150000, 10, 2);
	test_kernel(t, "k2", 0, 20, 160000, 143000, 2);
	launch(t, 3, 180000, "k3", 305000, 195000);
	check_path(t, "host 0 100000 -\n"
		      "launch 100000 107000 k1\n"
		      "compute 107000 300000 k1\n"
		      "gap 300000 305000 k3\n"
		      "compute 305000 500000 k3\n");
}

/*
 * The first of its stream, launched 200 µs before it ran: not the launch took so long, though
 * what ended meanwhile ended 50 µs before.
 */
TEST(long_after_its_launch)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 400000);
	launch(t, 1, 100000, "k1", 107000, 193000);
	test_call(t, "cudaLaunchKernel", MAIN, 150000, 10, 2);
	test_kernel(t, "k2", 0, 20, 350000, 150000, 2);
	check_path(t, "host 0 100000 -\n"
		      "launch 100000 107000 k1\n"
		      "compute 107000 300000 k1\n"
		      "gap 300000 350000 k2\n"
		      "compute 350000 500000 k2\n");
}

/* More than 10 µs after the other stream's event: then it waited for something else. */
TEST(no_guess_where_it_began_later)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 400000);
	launch(t, 1, 100000, "k1", 107000, 93000);
	test_call(t, "cudaLaunchKernel", MAIN, 150000, 10, 2);
	test_kernel(t, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 20, 157000, 443000, 2);
	launch(t, 3, 180000, "k2", 610001, 290000);
	/* It was launched at 180, before k1 had ended at 200: that is all there is to know. */
	check_path(t, "host 0 100000 -\n"
		      "launch 100000 107000 k1\n"
		      "compute 107000 200000 k1\n"
		      "gap 200000 610001 k2\n"
		      "compute 610001 900001 k2\n");
}

/* A record says which stream a call waited for: not k2, which ended in the call, too. */
TEST(call_that_waits_for_a_stream)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 700);
	launch(t, 1, 100, "k1", 120, 380);
	test_call(t, "cudaLaunchKernel", MAIN, 200, 10, 2);
	test_kernel(t, "k2", 0, 20, 220, 380, 2);
	test_call(t, "cudaStreamSynchronize", MAIN, 300, 320, 3);
	test_device_args(t, "cuda_sync", "Stream Sync", 0, 7, 300, 320, 3, "");
	check_path(t, "host 0 100 -\n"
		      "launch 100 120 k1\n"
		      "compute 120 500 k1\n"
		      "host 500 620 cudaStreamSynchronize\n"
		      "host 620 700 -\n");
}

/* It waited for an event recorded between k1 and k2. */
TEST(call_that_waits_for_an_event)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 700);
	launch(t, 1, 100, "k1", 120, 280);
	test_call(t, "cudaEventRecord", MAIN, 150, 5, 2);
	launch(t, 3, 200, "k2", 410, 90);
	test_call(t, "cudaEventSynchronize", MAIN, 300, 250, 4);
	test_device_args(t, "cuda_sync", "Event Sync", 0, -1, 300, 250, 4,
			 "\"wait_on_stream\": 7, \"wait_on_cuda_event_record_corr_id\": 2");
	check_path(t, "host 0 100 -\n"
		      "launch 100 120 k1\n"
		      "compute 120 400 k1\n"
		      "host 400 550 cudaEventSynchronize\n"
		      "host 550 700 -\n");
}

/* The kernel of the second device outlives that of the first. */
TEST(several_devices)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 300);
	launch(t, 1, 100, "k0", 120, 400);
	test_call(t, "cudaLaunchKernel", MAIN, 200, 10, 2);
	test_kernel(t, "k1", 1, 7, 220, 380, 2);
	check_path(t, "host 0 100 -\n"
		      "host 100 110 cudaLaunchKernel\n"
		      "host 110 200 -\n"
		      "launch 200 220 k1\n"
		      "compute 220 600 k1\n");
}

/* k2 began while k1, before it on the stream, still ran: k1 has the time up to there. */
TEST(overlapping_kernels)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 300);
	launch(t, 1, 100, "k1", 120, 400);
	launch(t, 2, 200, "k2", 500, 100);
	check_path(t, "host 0 100 -\n"
		      "launch 100 120 k1\n"
		      "compute 120 500 k1\n"
		      "compute 500 600 k2\n");
}

/* The clocks disagree: k1 began before its call did. */
TEST(kernel_before_its_launch)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 300);
	test_op(t, "aten::a", MAIN, 50, 100);
	launch(t, 1, 120, "k1", 100, 400);
	check_path(t, "host 0 50 -\n"
		      "host 50 100 aten::a\n"
		      "compute 100 500 k1\n");
}

/* Launched before the capture: what the device did before it is all that is known of it. */
TEST(holes)
{
	struct test_trace *t = test_trace_new();

	test_kernel(t, "k1", 0, 7, 100, 100, 0);
	test_kernel(t, "k2", 0, 7, 220, 80, 0);
	test_kernel(t, "k3", 0, 20, 50000, 100, 0);
	/* k3 is the first of its stream, and k2 ended long before it: nothing from 300 to 50000. */
	check_path(t, "compute 100 200 k1\n"
		      "gap 200 220 k2\n"
		      "compute 220 300 k2\n"
		      "compute 50000 50100 k3\n");
}
