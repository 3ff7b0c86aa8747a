/* SPDX-License-Identifier: MIT */
/* The critical path on the host: innermost spans, loaders, and threads that wait for each other. */
#include "path_check.h"

#include "check.h"

enum { MAIN = 1, BACKWARD = 2, OTHER = 3 }; /* thread ids */

/* The innermost span has the time; that of the step alone has no name. */
TEST(innermost_spans)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 1000);
	test_op(t, "aten::linear", MAIN, 100, 500);
	test_op(t, "aten::t", MAIN, 150, 50);
	test_op(t, "aten::addmm", MAIN, 250, 300);
	test_annotation(t, "Optimizer.step#SGD.step", MAIN, 700, 200);
	test_op(t, "aten::add_", MAIN, 750, 50);
	check_path(t, "host 0 100 -\n"
		      "host 100 150 aten::linear\n"
		      "host 150 200 aten::t\n"
		      "host 200 250 aten::linear\n"
		      "host 250 550 aten::addmm\n"
		      "host 550 600 aten::linear\n"
		      "host 600 700 -\n"
		      "host 700 750 Optimizer.step#SGD.step\n"
		      "host 750 800 aten::add_\n"
		      "host 800 900 Optimizer.step#SGD.step\n"
		      "host 900 1000 -\n");
}

/* Of spans that cross, the one that began last has the time, until it ends. */
TEST(crossing_spans)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 400);
	test_op(t, "aten::a", MAIN, 0, 200);
	test_op(t, "aten::b", MAIN, 100, 200);
	test_op(t, "aten::c", MAIN, 150, 50);
	test_op(t, "aten::none", MAIN, 150, 0);
	check_path(t, "host 0 100 aten::a\n"
		      "host 100 150 aten::b\n"
		      "host 150 200 aten::c\n"
		      "host 200 300 aten::b\n"
		      "host 300 400 -\n");
}

/* Whatever a loader does is a wait for data, also where two of its spans overlap. */
TEST(loader_at_the_begin)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 500);
	test_annotation(t, "enumerate(DataLoader)#it.__next__", MAIN, 20, 180);
	test_op(t, "aten::stack", MAIN, 30, 120);
	test_annotation(t, "enumerate(DataLoader)#inner", MAIN, 40, 170);
	test_annotation(t, "enumerate(DataLoader)#again", MAIN, 220, 20);
	test_op(t, "aten::cat", MAIN, 222, 8);
	test_op(t, "aten::mm", MAIN, 250, 250);
	check_path(t, "host 0 20 -\n"
		      "data 20 210 enumerate(DataLoader)#it.__next__\n"
		      "host 210 220 -\n"
		      "data 220 240 enumerate(DataLoader)#again\n"
		      "host 240 250 -\n"
		      "host 250 500 aten::mm\n");
}

/* The main thread waits from 200 to 550; a backward thread works from 260 to 500. */
TEST(backward_thread)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 1000);
	test_op(t, "aten::loss", MAIN, 100, 100);
	test_op(t, "autograd::engine::evaluate_function: Mm", BACKWARD, 260, 240);
	test_op(t, "MmBackward0", BACKWARD, 270, 220);
	test_op(t, "aten::add_", MAIN, 550, 450);
	check_path(t, "host 0 100 -\n"
		      "host 100 200 aten::loss\n"
		      "host 200 260 -\n"
		      "host 260 270 autograd::engine::evaluate_function: Mm\n"
		      "host 270 490 MmBackward0\n"
		      "host 490 500 autograd::engine::evaluate_function: Mm\n"
		      "host 500 550 -\n"
		      "host 550 1000 aten::add_\n");
}

/* Twice: what the main thread did before the second time is on the chain, not the first time. */
TEST(backward_thread_again)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 1000);
	test_op(t, "aten::loss", MAIN, 0, 100);
	test_op(t, "autograd::engine::evaluate_function: A", BACKWARD, 150, 50);
	test_op(t, "aten::loss", MAIN, 250, 350);
	test_op(t, "autograd::engine::evaluate_function: B", BACKWARD, 650, 300);
	check_path(t, "host 0 100 aten::loss\n"
		      "host 100 150 -\n"
		      "host 150 200 autograd::engine::evaluate_function: A\n"
		      "host 200 250 -\n"
		      "host 250 600 aten::loss\n"
		      "host 600 650 -\n"
		      "host 650 950 autograd::engine::evaluate_function: B\n"
		      "host 950 1000 -\n");
}

/* It still works when the main thread goes on: that did not wait for it. */
TEST(backward_thread_aside)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 600);
	test_op(t, "aten::a", MAIN, 0, 200);
	test_op(t, "autograd::engine::evaluate_function: Mm", BACKWARD, 260, 340);
	test_op(t, "aten::b", MAIN, 300, 300);
	check_path(t, "host 0 200 aten::a\n"
		      "host 200 300 -\n"
		      "host 300 600 aten::b\n");
}

/*
 * The main thread runs ahead of a kernel that the chain is on: of what begins behind the launch,
 * however much it is, nothing has time, nor is it taken for what the backward thread waits for.
 */
TEST(thread_far_ahead)
{
	for (int ahead = 0; ahead < 40; ahead++) {
		struct test_trace *t = test_trace_new();

		test_annotation(t, "ProfilerStep#1", MAIN, 0, 1000);
		test_op(t, "aten::loss", MAIN, 20, 20);
		test_op(t, "autograd::engine::evaluate_function: Mm", BACKWARD, 60, 40);
		test_call(t, "cudaLaunchKernel", BACKWARD, 80, 10, 1);
		test_kernel(t, "k", 0, 7, 100, 1000, 1);
		for (int i = 0; i < ahead; i++)
			test_op(t, "aten::add_", MAIN, 100 + i * 20, 10);
		check_path(t, "host 0 20 -\n"
			      "host 20 40 aten::loss\n"
			      "host 40 60 -\n"
			      "host 60 80 autograd::engine::evaluate_function: Mm\n"
			      "launch 80 100 k\n"
			      "compute 100 1100 k\n");
	}
}

/*
 * Without devices a collective's thread is on the chain while the main thread waits, up to the
 * end of the first; that of the second comes too late for it.
 */
TEST(comm_thread_without_device)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 1000);
	test_op(t, "aten::mm", MAIN, 0, 300);
	test_op(t, "c10d::allreduce_", MAIN, 300, 20);
	test_annotation(t, "gloo:all_reduce", OTHER, 330, 370);
	test_annotation(t, "gloo:all_reduce", OTHER, 700, 250);
	test_op(t, "aten::add_", MAIN, 710, 290);
	check_path(t, "host 0 300 aten::mm\n"
		      "comm 300 320 c10d::allreduce_\n"
		      "host 320 330 -\n"
		      "comm 330 700 gloo:all_reduce\n"
		      "host 700 710 -\n"
		      "host 710 1000 aten::add_\n");
}
