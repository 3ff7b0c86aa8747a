/* SPDX-License-Identifier: MIT */
/* What is kept of a trace without devices: spans of gloo, their calls, lines, operators. */
#include "log_check.h"

#include "check.h"

enum { MAIN = 1, GLOO = 2, GLOO2 = 3 }; /* thread ids */

#define INPUT(dims, type) "{\"Input Dims\": " dims ", \"Input type\": [\"" type "\"]}"

static void gloo(struct test_trace *t, const char *name, int64_t tid, int64_t start_ns,
		 int64_t dur_ns, const char *args)
{
	test_span_args(t, "user_annotation", name, tid, start_ns, dur_ns, args);
}

static void call_all_reduce(struct test_trace *t, int64_t start_ns, const char *dims)
{
	test_op_inputs(t, "c10d::allreduce_", MAIN, start_ns, 10, dims,
		       "[\"TensorList\", \"\", \"Scalar\"]", "[\"\", \"\", \"-1\"]");
}

/*
 * Two threads take the work in turn. The first op was called before the capture, so the first call
 * is that of the second; of the size 9 there is one call for one op, whatever is between.
 */
TEST(gloo_spans)
{
	struct test_trace *t = test_trace_new();

	test_three_steps(t);
	gloo(t, "gloo:all_reduce", GLOO, 5, 300, INPUT("[[4, 2]]", "float"));
	call_all_reduce(t, 100, "[[[8]], [], []]");
	call_all_reduce(t, 150, "[[[9]], [], []]");
	call_all_reduce(t, 200, "[[[8]], [], []]");
	gloo(t, "gloo:all_reduce", GLOO2, 120, 80, INPUT("[[8]]", "float"));
	gloo(t, "gloo:all_reduce", GLOO2, 210, 500, INPUT("[[9]]", "c10::BFloat16"));
	gloo(t, "gloo:all_reduce", GLOO, 310, 90, INPUT("[[8]]", "float"));
	test_op(t, "c10d::barrier", MAIN, 1100, 10);
	gloo(t, "gloo:barrier", GLOO, 1200, 10, "{}");
	const struct rank_log *log = keep_log(t);

	check_op_times(log, "all_reduce 5 305 launch - ready 5 step 4 seq -\n"
			    "all_reduce 120 200 launch 100 ready 100 step 4 seq -\n"
			    "all_reduce 210 710 launch 150 ready 150 step 4 seq -\n"
			    "all_reduce 310 400 launch 200 ready 200 step 4 seq -\n"
			    "barrier 1200 1210 launch 1100 ready 1100 step 5 seq -\n");
	assert_true(log->is_host);
	assert_int_equal(log->device_ordinal, -1);
	assert_int_not_equal(log->ops[0].stream, log->ops[1].stream);
	assert_int_equal(log->ops[1].stream, log->ops[2].stream);
	check_points_hold_the_steps(log);
}

TEST(sizes_of_gloo_spans)
{
	struct test_trace *t = test_trace_new();

	test_three_steps(t);
	gloo(t, "gloo:all_reduce", GLOO, 100, 10, INPUT("[[4, 2]]", "float"));
	gloo(t, "gloo:reduce", GLOO, 200, 10, INPUT("[[9]]", "c10::BFloat16"));
	gloo(t, "gloo:barrier", GLOO, 300, 10, "{}");
	gloo(t, "gloo:all_gather", GLOO, 400, 10, INPUT("[[5], [6]]", "long int\", \"long int"));
	gloo(t, "gloo:send", GLOO, 500, 10, INPUT("[[3]]", "unsigned char"));
	gloo(t, "gloo:recv", GLOO, 600, 10, INPUT("[[4]]", "no type"));
	const struct rank_log *log = keep_log(t);

	check_op_sizes(log, "all_reduce bytes 32 bus - received 32 'Float' peer -1\n"
			    "reduce bytes 18 bus 18 received 18 'BFloat16' peer -1\n"
			    "barrier bytes - bus - received - '' peer -1\n"
			    "all_gather bytes - bus - received - 'Long' peer -1\n"
			    "send_recv bytes 3 bus 3 received - 'Byte' peer -1 send\n"
			    "send_recv bytes - bus - received - '' peer -1\n");
}

/*
 * data, forward [100,300), the wait [300,500), forward [500,600), the optimizer, other. Of forward
 * the 5 of the call are communication at whose end no op ends: the host's own time.
 */
TEST(lines_of_the_host)
{
	struct test_trace *t = test_trace_new();
	int64_t line_ns[TSCOPE_BUDGET_LINE_COUNT] = { 0 }, stall_ns = 0;

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 1000);
	test_annotation(t, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", MAIN, 0,
			100);
	test_op(t, "aten::mm", MAIN, 100, 200);
	gloo(t, "gloo:all_reduce", GLOO, 200, 300, INPUT("[[8]]", "float"));
	test_op(t, "aten::mm", MAIN, 500, 100);
	test_op(t, "c10d::allreduce_", MAIN, 590, 5);
	test_annotation(t, "Optimizer.zero_grad#SGD.zero_grad", MAIN, 700, 150);
	const struct rank_log *log = keep_log(t);

	for (size_t i = 0; i < log->point_count; i++) {
		stall_ns += log->points[i].stall_ns;
		for (int line = 0; line < TSCOPE_BUDGET_LINE_COUNT; line++)
			line_ns[line] += log->points[i].line_ns[line];
	}
	assert_int_equal(stall_ns, 200);
	assert_int_equal(line_ns[TSCOPE_BUDGET_DATA_STALL], 100);
	assert_int_equal(line_ns[TSCOPE_BUDGET_COMPUTE], 200 + 95 + 150);
	assert_int_equal(line_ns[TSCOPE_BUDGET_LAUNCH_STALL], 5 + 100 + 150);
}

/* An operator within another counts in both: mm has 50 + 50 + 30. */
TEST(operators_stand_for_kernels)
{
	struct test_trace *t = test_trace_new();

	test_three_steps(t);
	test_op(t, "aten::mm", MAIN, 10, 50);
	test_op(t, "aten::linear", MAIN, 1100, 100);
	test_op(t, "aten::mm", MAIN, 1120, 50);
	test_op(t, "aten::mm", MAIN, 1300, 30);
	call_all_reduce(t, 1400, "[[[8]], [], []]");
	const struct rank_log *log = keep_log(t);

	check_kernels(log, "aten::mm 3 130 0\naten::linear 1 100 0\n"
			   "c10d::allreduce_ comm 1 10 0\n");
}

TEST(every_allocation_may_fail)
{
	struct test_trace *t = test_trace_new();

	test_three_steps(t);
	call_all_reduce(t, 1100, "[[[8]], [], []]");
	gloo(t, "gloo:all_reduce", GLOO, 1120, 80, INPUT("[[8]]", "float"));
	check_fill_allocations(t);
}
