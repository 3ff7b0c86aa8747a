/* SPDX-License-Identifier: MIT */
/* What is kept of a trace with devices: its collectives, their times and groups, kernels. */
#include "log_check.h"

#include "check.h"

enum { MAIN = 1 }; /* thread id */

#define NCCL "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(Args)"
#define META(collective, in, out)                                                                  \
	"\"Collective name\": \"" collective "\", \"In msg nelems\": " #in                         \
	", \"Out msg nelems\": " #out ", \"dtype\": \"BFloat16\""

static void launch(struct test_trace *t, int64_t start_ns, uint64_t correlation)
{
	test_call(t, "cudaLaunchKernel", MAIN, start_ns, 5, correlation);
}

/* A collective that the kernel itself describes. */
static void comm(struct test_trace *t, int64_t stream, int64_t start_ns, int64_t dur_ns,
		 uint64_t correlation, const char *meta)
{
	test_device_args(t, "kernel", NCCL, 0, stream, start_ns, dur_ns, correlation, meta);
}

/*
 * gemm runs [20,300); the all_reduce launched at 40 waits for it, and the one that is launched at
 * 1100, after the kernel that ended at 1050, for nothing but its stream. The third begins before
 * the kernel launched before it ends: it did not wait for that.
 */
TEST(times_of_kernels)
{
	struct test_trace *t = test_trace_new();

	test_three_steps(t);
	launch(t, 10, 1);
	test_kernel(t, "gemm", 0, 7, 20, 280, 1);
	launch(t, 40, 2);
	comm(t, 20, 310, 90, 2, META("allreduce", 100, 100) ", \"Seq\": 5");
	launch(t, 990, 3);
	test_kernel(t, "gemm", 0, 7, 1000, 50, 3);
	launch(t, 1100, 4);
	comm(t, 20, 1200, 50, 4, META("allreduce", 100, 100) ", \"Seq\": 6");
	launch(t, 1300, 5);
	test_kernel(t, "gemm", 0, 7, 1310, 200, 5);
	launch(t, 1990, 6);
	comm(t, 20, 2100, 20, 6, META("allreduce", 100, 100) ", \"Seq\": 7");
	launch(t, 2200, 7);
	test_kernel(t, "gemm", 0, 7, 2210, 200, 7);
	launch(t, 2250, 8);
	comm(t, 20, 2300, 200, 8, META("allreduce", 100, 100) ", \"Seq\": 8");
	const struct rank_log *log = keep_log(t);

	check_op_times(log, "all_reduce 310 400 launch 40 ready 300 step 4 seq 5\n"
			    "all_reduce 1200 1250 launch 1100 ready 1100 step 5 seq 6\n"
			    "all_reduce 2100 2120 launch 1990 ready 1990 step 5 seq 7\n"
			    "all_reduce 2300 2500 launch 2250 ready 2300 step 6 seq 8\n");
	check_points_hold_the_steps(log);
	assert_false(log->is_host);
	assert_false(log->has_start);
}

/*
 * The innermost name has the time of steps that count: the rank stands still in [300,400), and 900
 * to 1000 is of no annotation. What takes less than 0.2 % of 3000 is left out.
 */
TEST(places_of_the_main_thread)
{
	struct test_trace *t = test_trace_new();

	test_three_steps(t);
	launch(t, 40, 1);
	test_span(t, "user_annotation", "outer", MAIN, 200, 700);
	test_span(t, "cpu_op", "aten::inner", MAIN, 250, 350);
	test_span(t, "cpu_op", "aten::brief", MAIN, 700, 5);
	comm(t, 20, 300, 100, 1, META("allreduce", 100, 100));
	test_span(t, "cpu_op", "aten::inner", MAIN, 1100, 500);
	const struct rank_log *log = keep_log(t);
	const struct rank_place *inner = tsi_rank_log_place(log, TSI_STR("aten::inner"));
	const struct rank_place *outer = tsi_rank_log_place(log, TSI_STR("outer"));

	assert_int_equal(log->place_count, 2);
	assert_non_null(inner);
	assert_non_null(outer);
	assert_int_equal(outer->total_ns, 50 + 295);
	assert_int_equal(inner->total_ns, 50 + 200 + 500);
	assert_int_equal(inner->longest_ns, 500);
	assert_int_equal(inner->longest_start_ns, 1100);
	assert_null(tsi_rank_log_place(log, TSI_STR("aten::brief")));
}

/* Nobody launched the first here: it runs when the capture begins. The last ends after it. */
TEST(edges_of_the_capture)
{
	struct test_trace *t = test_trace_new();
	struct raw_event capture = { .phase = 'X',
				     .pid = TSI_STR("Spans"),
				     .tid = TSI_STR("PyTorch Profiler"),
				     .name = TSI_STR("PyTorch Profiler (0)"),
				     .cat = TSI_STR("Trace"),
				     .ts_ns = -100000,
				     .dur_ns = 200000,
				     .has_ts = true,
				     .has_dur = true };

	test_event(t, &capture);
	test_three_steps(t);
	comm(t, 20, 5, 10, 0, META("allreduce", 100, 100));
	launch(t, 10, 1);
	test_kernel(t, "gemm", 0, 7, 20, 280, 1);
	comm(t, 20, 310, 10, 0, META("allreduce", 100, 100));
	launch(t, 500, 2);
	comm(t, 20, 99000, 500, 2, META("allreduce", 100, 100));
	const struct rank_log *log = keep_log(t);

	check_op_times(log, "all_reduce 5 15 launch - ready 5 step 4 seq - cut\n"
			    "all_reduce 310 320 launch - ready 310 step 4 seq -\n"
			    "all_reduce 99000 99500 launch 500 ready 500 step 4 seq - cut\n");
}

/* The second record launches two kernels: one op. Device 1 communicates less: not this log's. */
TEST(one_op_for_each_collective_of_one_device)
{
	struct test_trace *t = test_trace_new();

	test_three_steps(t);
	test_span_args(t, "cpu_op", "record_param_comms", MAIN, 100, 50,
		       "{" META("allreduce", 100, 100) "}");
	launch(t, 110, 1);
	launch(t, 120, 2);
	test_kernel(t, NCCL, 0, 20, 200, 50, 1);
	test_kernel(t, NCCL, 0, 21, 230, 60, 2);
	test_kernel(t, NCCL, 1, 20, 500, 80, 0);
	const struct rank_log *log = keep_log(t);

	check_op_times(log, "all_reduce 200 290 launch 110 ready 110 step 4 seq -\n");
	assert_int_equal(log->device_ordinal, 0);
}

/* 2 bytes an element; bus bytes 200 × 2 × 3 ÷ 4. S of all_to_all is the larger of its two. */
TEST(sizes_of_kernels)
{
	struct test_trace *t = test_trace_new();

	test_three_steps(t);
	comm(t, 20, 100, 10, 0, META("allreduce", 100, 100) ", \"Group size\": 4");
	comm(t, 20, 200, 10, 0, META("all_to_allv", 30, 50));
	comm(t, 20, 300, 10, 0, META("_allgather_base", 10, 40));
	comm(t, 20, 400, 10, 0, META("send", 8, 8) ", \"Dst Rank\": 3");
	comm(t, 20, 500, 10, 0, META("recv", 9, 9) ", \"Src Rank\": 2");
	test_kernel(t, NCCL, 0, 20, 600, 10, 0);
	const struct rank_log *log = keep_log(t);

	check_op_sizes(log, "all_reduce bytes 200 bus 300 received 200 'BFloat16' peer -1\n"
			    "all_to_all bytes 100 bus 100 received 100 'BFloat16' peer -1\n"
			    "all_gather bytes 80 bus - received 80 'BFloat16' peer -1\n"
			    "send_recv bytes 16 bus 16 received - 'BFloat16' peer 3 send\n"
			    "send_recv bytes 18 bus 18 received 18 'BFloat16' peer 2\n"
			    "all_reduce bytes - bus - received - '' peer -1\n");
}

/* A kernel that sends and receives, of an all-to-all, as PyTorch before 2.1 wrote it. */
TEST(annotations_tell_what_kernels_do_not)
{
	struct test_trace *t = test_trace_new();

	test_three_steps(t);
	test_span_args(t, "user_annotation", "nccl:all_reduce", MAIN, 50, 30,
		       "{\"Input Dims\": [[7, 3]], \"Input type\": [\"float\"]}");
	test_span_args(t, "user_annotation", "nccl:all_to_all", MAIN, 100, 100,
		       "{\"Input Dims\": [[6]], \"Input type\": [\"long int\"]}");
	launch(t, 110, 1);
	launch(t, 300, 2);
	test_kernel(t, "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(Args)", 0, 20, 150, 50, 1);
	test_kernel(t, "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(Args)", 0, 20, 350, 50, 2);
	const struct rank_log *log = keep_log(t);

	check_op_sizes(log, "all_to_all bytes - bus - received - 'Long' peer -1\n"
			    "send_recv bytes - bus - received - '' peer -1\n");
}

#define GROUP(name, desc, ranks)                                                                   \
	META("allreduce", 1, 1)                                                                    \
	", \"Process Group Name\": \"" name "\", \"Process Group Description\": \"" desc           \
	"\", \"Process Group Ranks\": \"" ranks "\""

/* The list of the record; what is listed; a series; the world; nothing. */
TEST(members_of_groups)
{
	struct test_trace *t = test_trace_new();

	test_metadata(
		t, "distributedInfo",
		"{\"rank\": 1, \"world_size\": 5, \"pg_config\": ["
		"{\"pg_name\": \"2\", \"pg_desc\": \"tp\", \"pg_size\": 2, \"ranks\": [7, 1]},"
		"{\"pg_name\": \"8\", \"pg_desc\": \"idle\", \"ranks\": \"[1, 4]\"},"
		"{\"pg_name\": \"9\", \"pg_desc\": \"not mine\", \"ranks\": [2, 3]}]}");
	test_three_steps(t);
	comm(t, 20, 100, 10, 0, GROUP("1", "dp", "[3, 1, 1, 2]") ", \"Group size\": 3");
	comm(t, 20, 200, 10, 0, GROUP("2", "tp", "[0, 1, ..., 9]") ", \"Group size\": 2");
	comm(t, 20, 300, 10, 0,
	     GROUP("3", "pp", "[]") ", \"Group size\": 3, \"Global rank start\": 1,"
				    "\"Global rank stride\": 4");
	comm(t, 20, 400, 10, 0, GROUP("0", "default_pg", "[]") ", \"Group size\": 5");
	comm(t, 20, 500, 10, 0, GROUP("5", "", "[]") ", \"Group size\": 6");
	comm(t, 20, 600, 10, 0, GROUP("1", "dp", "[3, 1, 1, 2]") ", \"Group size\": 3");
	test_kernel(t, NCCL, 0, 20, 700, 10, 0);
	const struct rank_log *log = keep_log(t);

	check_op_groups(log, "'1' 'dp' size 3: 1 2 3\n"
			     "'2' 'tp' size 2: 1 7\n"
			     "'3' 'pp' size 3: 1 5 9\n"
			     "'0' 'default_pg' size 5: 0 1 2 3 4\n"
			     "'5' '' size 6:\n"
			     "'' '' size -:\n"
			     "'8' 'idle' size 2: 1 4\n"
			     "ops 0 1 2 3 4 0 5");
	assert_int_equal(log->rank, 1);
}

/* The last step, which the end of the capture cuts, does not count, nor what is launched in it. */
TEST(kernels_of_counted_steps)
{
	struct test_trace *t = test_trace_new();

	test_metadata(t, "deviceProperties", "[{\"id\": 0, \"name\": \"H100\"}, {\"id\": 1}]");
	test_metadata(t, "host_name", "\"node7\"");
	test_metadata(t, "baseTimeNanoseconds", "1000000");
	test_three_steps(t);
	launch(t, 10, 1);
	test_device_args(t, "kernel", "gemm", 0, 7, 20, 280, 1, "\"grid\": [2, 3, 1]");
	launch(t, 1010, 2);
	test_device_args(t, "kernel", "gemm", 0, 7, 1020, 100, 2, "\"grid\": [2, 3, 1]");
	launch(t, 1150, 3);
	test_device_args(t, "kernel", "gemm", 0, 7, 1160, 110, 3, "\"grid\": [4, 1, 1]");
	launch(t, 1990, 4);
	comm(t, 20, 2010, 40, 4, META("allreduce", 1, 1));
	launch(t, 2500, 5);
	test_memcpy(t, "Memcpy DtoD (Device -> Device)", 0, 7, 2510, 10, 5, 8);
	launch(t, 2600, 6);
	test_kernel(t, "add", 0, 7, 2610, 10, 6);
	const struct rank_log *log = keep_log(t);

	/* 280 + 100 + 110 ns; 6 + 6 + 4 blocks */
	check_kernels(log, "gemm 3 490 16\n" NCCL " comm 1 40 0\n");
	assert_string_equal(tsi_intern_text(&log->names, log->host_name).data, "node7");
	assert_string_equal(tsi_intern_text(&log->names, log->device_name).data, "H100");
	assert_int_equal(log->visible_device_count, 2);
	/* on the clock of all traces */
	assert_true(log->has_start);
	check_op_times(log,
		       "all_reduce 1002010 1002050 launch 1001990 ready 1001990 step 5 seq -\n");
	assert_int_equal(log->steps[0].start_ns, 1000000);
	assert_int_equal(log->points[0].time_ns, 1000000);
	assert_int_equal(log->still.items[0].start_ns, 1002010);
	check_points_hold_the_steps(log);
}

TEST(without_communication_there_are_only_steps)
{
	struct test_trace *t = test_trace_new();

	test_three_steps(t);
	launch(t, 1010, 1);
	test_kernel(t, "gemm", 0, 7, 1020, 100, 1);
	const struct rank_log *log = keep_log(t);

	assert_int_equal(log->op_count, 0);
	assert_int_equal(log->point_count, 0);
	assert_int_equal(log->step_count, 3);
	check_kernels(log, "gemm 1 100 0\n");
}

TEST(every_allocation_may_fail)
{
	struct test_trace *t = test_trace_new();

	test_metadata(t, "distributedInfo",
		      "{\"rank\": 1, \"pg_config\": [{\"pg_name\": \"8\", \"ranks\": [1, 4]}]}");
	test_three_steps(t);
	launch(t, 1010, 1);
	test_kernel(t, "gemm", 0, 7, 1020, 100, 1);
	launch(t, 1110, 2);
	comm(t, 20, 1200, 10, 2, GROUP("1", "dp", "[3, 1, 2]") ", \"Group size\": 3");
	check_fill_allocations(t);
}
