/* SPDX-License-Identifier: MIT */
/* The iterations of an inference engine one by one. */
#include "analysis_check.h"

#include "check.h"

static void put_turn(struct test_trace *t, const char *name, const char *call, int64_t start_ns,
		     int64_t dur_ns)
{
	test_annotation(t, name, 1, start_ns, 40);
	test_call(t, call, 1, start_ns + 10, 10, (uint64_t)start_ns + 1);
	test_kernel(t, "gemm", 0, 7, start_ns + 50, dur_ns, (uint64_t)start_ns + 1);
}

/* Kernels of [50, 250), [350, 400), [650, 950); the last starts before the one before ends. */
TEST(every_iteration_has_its_row)
{
	struct test_trace *t = test_trace_new();

	put_turn(t, "execute_context_2(200)_generation_0(0)", "cudaLaunchKernel", 0, 200);
	put_turn(t, "execute_4_context_0(sq0sk0sqsq0sqsk0)_generation_4(sq4sk900sqsq4sqsk900)",
		 "cudaGraphLaunch", 300, 50);
	put_turn(t, "execute_new_1_cached_3", "cudaLaunchKernel", 600, 300);
	struct analyzed *a = analyze(t);

	check_table(a,
		    "iterations.list: step phase requests prompt_tokens decode_tokens kv_tokens "
		    "latency_ns kernel_ns graph_ns mark",
		    "0 prefill 2 200 0 - 250 200 0 \n"
		    "1 decode 4 0 4 900 100 50 50 \n"
		    "2 mixed 4 - - - 350 300 0 \n");
}

TEST(training_has_none)
{
	struct test_trace *t = test_trace_new();

	put_turn(t, "ProfilerStep#1", "cudaLaunchKernel", 0, 200);
	struct analyzed *a = analyze(t);

	check_table(a, "iterations.list: step phase", "");
}
