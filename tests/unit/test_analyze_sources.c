/* SPDX-License-Identifier: MIT */
/* Functions of the user's code: their time, what they launched, and its backward pass. */
#include "analysis_check.h"

#include "check.h"

static bool is_uninformative(struct str name)
{
	(void)name;
	return false;
}

/*
 * train.py [0, 400) calls net.py [100, 300), which calls torch [120, 200). Backward on the same
 * thread, without a frame: the node of net.py's operator launches 30 ns, one of none 5.
 */
TEST(innermost_of_the_users)
{
	static const struct builder_options options = { .is_telling_frame = is_uninformative };
	static const char frame[] = "python_function";
	struct test_trace *t = test_trace_new_with(&options);

	test_annotation(t, "ProfilerStep#1", 1, 0, 1000);
	test_span(t, frame, "train.py(3): main", 1, 0, 400);
	test_span(t, frame, "net.py(7): forward", 1, 100, 200);
	test_span(t, frame, "torch/nn/functional.py(9): linear", 1, 120, 80);
	test_op_args(t, "aten::mm", 1, 130, 20, &(struct test_op_args){ .sequence = "4" });
	test_call(t, "cudaLaunchKernel", 1, 135, 5, 1);
	test_call(t, "cudaDeviceSynchronize", 1, 350, 40, 0);
	test_op_args(t, "MmBackward0", 1, 500, 50,
		     &(struct test_op_args){ .sequence = "4", .forward_thread = "1" });
	test_call(t, "cudaLaunchKernel", 1, 510, 5, 2);
	test_call(t, "cudaLaunchKernel", 1, 600, 5, 3);
	test_kernel(t, "k", 0, 7, 700, 20, 1);
	test_kernel(t, "k", 0, 7, 730, 30, 2);
	test_kernel(t, "k", 0, 7, 770, 5, 3);
	struct analyzed *a = analyze(t);
	/* net.py 200 + 50 of its node; train.py 400 - 200; of 1000 ns 550 in none. */
	check_table(a,
		    "sources.by_function: name host_ns device_ns forward_ns backward_ns "
		    "launch_count sync_count sync_ns",
		    "net.py(7): forward 250 50 20 30 2 0 0\n"
		    "(outside the user's code) 550 5 5 0 1 0 0\n"
		    "train.py(3): main 200 0 0 0 0 1 40\n");
	/*
	 * MmBackward0 launches 30 ns, aten::mm 20. The call of 510 is in net.py by its node's
	 * forward operator, that of 600 nowhere: of three of 5 ns each, a third.
	 */
	check_table(a,
		    "sources.callers: name kind op source count ns time_of exposed_ns share_ratio",
		    "cudaDeviceSynchronize sync - train.py(3): main 1 40 host - 1\n"
		    "MmBackward0 operator - net.py(7): forward 1 30 device - 1\n"
		    "aten::mm operator - net.py(7): forward 1 20 device - 1\n"
		    "cudaLaunchKernel launch - net.py(7): forward 2 10 host - 0.666667\n"
		    "cudaLaunchKernel launch - - 1 5 host - 0.333333\n");
	check_facts(a, "sources: function_count device_ns outside_ns host_ns host_outside_ns",
		    "2 55 5 1000 550");
}

/*
 * Logger threads: the first waits for its queue all its time, the second writes for 30 of 500 ms.
 * Of the kernels the second has no launch in the trace.
 */
TEST(threads_that_only_wait_are_in_no_function)
{
	enum { MS = 1000000 };
	static const struct builder_options options = { .is_telling_frame = is_uninformative };
	static const char frame[] = "python_function";
	struct test_trace *t = test_trace_new_with(&options);

	test_annotation(t, "ProfilerStep#1", 1, 0, 1000 * MS);
	test_span(t, frame, "train.py(3): main", 1, 0, 400 * MS);
	test_call(t, "cudaLaunchKernel", 1, 135 * MS, 5, 1);
	test_span(t, frame, "log.py(300): _queued_writer", 2, 0, 500 * MS);
	test_span(t, frame, "multiprocessing/queues.py(365): get", 2, 5 * MS, 495 * MS);
	test_span(t, frame, "multiprocessing/connection.py(216): recv", 2, 6 * MS, 490 * MS);
	test_span(t, frame, "log.py(400): _busy_writer", 3, 0, 500 * MS);
	test_span(t, frame, "queue.py(154): get", 3, 10 * MS, 470 * MS);
	test_kernel(t, "k", 0, 7, 700 * MS, 20, 1);
	test_kernel(t, "k", 0, 7, 730 * MS, 30, 2);
	struct analyzed *a = analyze(t);
	check_table(a, "sources.by_function: name host_ns device_ns",
		    "(outside the user's code) 1100000000 30\n"
		    "train.py(3): main 400000000 20\n"
		    "log.py(400): _busy_writer 500000000 0\n");
	check_facts(a, "sources: function_count device_ns outside_ns unlinked_ns host_ns",
		    "2 50 30 30 2000000000");
}

/*
 * Copies of [200, 300) by a.py and [350, 360) by b.py; a kernel runs in [280, 320). b.py has less
 * than a tenth of the copies' time. Of aten::add's 20 ns 18 are in one of two modules, of
 * aten::mul's 10 half in each.
 */
TEST(whose_copies)
{
	static const struct builder_options options = { .is_telling_frame = is_uninformative };
	static const char frame[] = "python_function";
	struct test_trace *t = test_trace_new_with(&options);

	test_annotation(t, "ProfilerStep#1", 1, 0, 1000);
	test_span(t, frame, "a.py(1): load", 1, 0, 100);
	test_span(t, frame, "nn.Module: Net_0", 1, 5, 90);
	test_call(t, "cudaMemcpyAsync", 1, 10, 5, 1);
	test_span(t, frame, "nn.Module: Linear_0", 1, 20, 20);
	test_op(t, "aten::add", 1, 21, 18);
	test_span(t, frame, "nn.Module: Linear_1", 1, 40, 10);
	test_op(t, "aten::add", 1, 41, 2);
	test_op(t, "aten::mul", 1, 43, 5);
	test_span(t, frame, "nn.Module: Linear_2", 1, 50, 10);
	test_op(t, "aten::mul", 1, 51, 5);
	test_span(t, frame, "b.py(1): load", 1, 100, 100);
	test_call(t, "cudaMemcpyAsync", 1, 110, 5, 2);
	test_call(t, "cudaLaunchKernel", 1, 120, 5, 3);
	test_memcpy(t, "Memcpy HtoD (Pinned -> Device)", 0, 7, 200, 100, 1, 64);
	test_memcpy(t, "Memcpy HtoD (Pinned -> Device)", 0, 7, 350, 10, 2, 64);
	test_kernel(t, "k", 0, 8, 280, 40, 3);
	struct analyzed *a = analyze(t);
	check_table(a, "sources.callers: name kind source module count ns exposed_ns",
		    "Memcpy HtoD (Pinned -> Device) copy a.py(1): load Net 1 100 80\n"
		    "aten::add operator a.py(1): load Net.Linear[0] 2 20 -\n"
		    "aten::mul operator a.py(1): load Net 2 10 -\n"
		    "cudaLaunchKernel launch b.py(1): load - 1 5 -\n"
		    "cudaMemcpyAsync memcpy a.py(1): load Net 1 5 -\n"
		    "cudaMemcpyAsync memcpy b.py(1): load - 1 5 -\n");
}

/* An operator that begins before the step launches 10 ns in it: it did so no time that counts. */
TEST(called_before_the_step)
{
	static const struct builder_options options = { .is_telling_frame = is_uninformative };
	struct test_trace *t = test_trace_new_with(&options);

	test_annotation(t, "ProfilerStep#1", 1, 100, 1000);
	test_span(t, "python_function", "a.py(1): f", 1, 50, 100);
	test_op(t, "aten::early", 1, 60, 80);
	test_call(t, "cudaLaunchKernel", 1, 120, 5, 1);
	test_kernel(t, "k", 0, 7, 200, 10, 1);
	struct analyzed *a = analyze(t);
	check_table(a, "sources.callers: name kind source count ns time_of",
		    "aten::early operator a.py(1): f - 10 device\n"
		    "cudaLaunchKernel launch a.py(1): f 1 5 host\n");
}

TEST(no_frames)
{
	struct test_trace *t = test_trace_new();

	test_op(t, "aten::mm", 1, 0, 100);
	struct analyzed *a = analyze(t);
	check_facts(a, "sources: function_count host_ns", "- -");
}
