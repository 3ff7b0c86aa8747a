/* SPDX-License-Identifier: MIT */
/* model/trace/flows.c and link.c: what has no correlation is bound by its flow or its External id. */
#include "model/trace/trace.h"

#include <stdio.h>

#include "check.h"
#include "model/trace/device_rows.h"
#include "trace_builder.h"

/* One end of a flow; tests' threads are of process 100, streams of the process of their device. */
static void put_flow(struct test_trace *t, char phase, const char *category, const char *id,
		     const char *pid, const char *tid, int64_t ts_ns)
{
	test_event(t, &(struct raw_event){
			      .phase = phase,
			      .has_ts = true,
			      .ts_ns = ts_ns,
			      .name = tsi_str_of(category),
			      .cat = tsi_str_of(category),
			      .pid = tsi_str_of(pid),
			      .tid = tsi_str_of(tid),
			      .id = tsi_str_of(id),
		      });
}

static void put_arrow(struct test_trace *t, const char *category, const char *id, int64_t launch_ns,
		      int64_t kernel_ns)
{
	put_flow(t, 's', category, id, "100", "1", launch_ns);
	put_flow(t, 'f', category, id, "0", "7", kernel_ns);
}

static const char *name_of(const struct tscope_trace *trace, uint32_t row)
{
	return row == NO_ROW ? "none" : tsi_span_name(trace, row).data;
}

static void check_launch(const struct tscope_trace *trace, const char *kernel, const char *call,
			 const char *op)
{
	const struct device_event *event = tsi_device_event(trace, test_row(trace, kernel));
	print_message("%s\n", kernel);
	assert_string_equal(name_of(trace, event->call), call);
	assert_string_equal(name_of(trace, event->op), op);
}

static void check_counts(const struct tscope_trace *trace, uint64_t correlation, uint64_t flow,
			 uint64_t id, const char *basis)
{
	assert_int_equal(trace->link_counts[LINK_CORRELATION], correlation);
	assert_int_equal(trace->link_counts[LINK_FLOW], flow);
	assert_int_equal(trace->link_counts[LINK_EXTERNAL_ID], id);
	assert_string_equal(trace->info.link_basis, basis);
}

TEST(flows_bind_what_has_no_correlation)
{
	static const char *const categories[] = { "ac2g", "async", "async_npu",
						  "async_cpu_to_gpu" };
	for (size_t i = 0; i < TSI_COUNT_OF(categories); i++) {
		struct test_trace *t = test_trace_new();
		test_op(t, "aten::mm", 1, 10, 50);
		test_call(t, "cudaLaunchKernel", 1, 20, 5, 0);
		test_kernel(t, "a", 0, 7, 100, 10, 0);
		test_kernel(t, "b", 0, 7, 110, 10, 0);
		put_arrow(t, categories[i], "17", 20, 100);
		put_flow(t, 'f', categories[i], "17", "0", "7", 110); /* launched by the same */
		put_arrow(t, "fwdbwd", "18", 20, 120);
		test_kernel(t, "c", 0, 7, 120, 10, 0);
		struct tscope_trace *trace = test_trace_finish(t);
		check_launch(trace, "a", "cudaLaunchKernel", "aten::mm");
		check_launch(trace, "b", "cudaLaunchKernel", "aten::mm");
		check_launch(trace, "c", "none", "none");
		check_counts(trace, 0, 2, 0, "flow");
		assert_int_equal(
			tscope_trace_diagnostic(trace, TSCOPE_DIAGNOSTIC_unlinked_device_event), 1);
	}
}

/* From an operator, as Ascend's do: its first call that launches, if it has any. */
TEST(flows_may_start_at_operators)
{
	struct test_trace *t = test_trace_new();
	test_op(t, "aten::mm", 1, 10, 50);
	test_call(t, "cudaEventQuery", 1, 15, 1, 0);
	test_call(t, "cudaLaunchKernel", 1, 20, 5, 0);
	test_op(t, "torch::autograd::AccumulateGrad", 1, 70, 20);
	test_op(t, "aten::add_", 1, 70, 10);
	test_call(t, "cudaMemcpyAsync", 1, 85, 2, 0);
	test_kernel(t, "a", 0, 7, 100, 10, 0);
	test_kernel(t, "b", 0, 7, 110, 10, 0);
	test_kernel(t, "c", 0, 7, 120, 10, 0);
	put_arrow(t, "async_npu", "1", 10, 100);
	put_arrow(t, "async_npu", "\"2\"", 70, 110); /* the innermost */
	put_arrow(t, "async_npu", "3", 75, 120);     /* within it */
	struct tscope_trace *trace = test_trace_finish(t);
	check_launch(trace, "a", "cudaLaunchKernel", "aten::mm");
	check_launch(trace, "b", "none", "aten::add_");
	check_launch(trace, "c", "none", "aten::add_");
	assert_int_equal(tsi_device_event(trace, test_row(trace, "b"))->phase, PHASE_BACKWARD);
	assert_int_equal(tsi_launch_row(trace, test_row(trace, "b")),
			 test_row(trace, "aten::add_"));
	check_counts(trace, 0, 3, 0, "flow");
}

/* The way that comes first counts: correlation, flow, External id. */
TEST(ways_may_mix)
{
	struct test_trace *t = test_trace_new();
	test_span_args(t, "cpu_op", "first", 1, 10, 20, "{\"External id\": 1}");
	test_call(t, "cudaLaunchKernel", 1, 20, 5, 7);
	put_arrow(t, "ac2g", "7", 20, 100);
	test_span_args(t, "cpu_op", "second", 1, 30, 20, "{\"External id\": 2}");
	test_call(t, "cuLaunchKernel", 1, 40, 5, 0);
	put_arrow(t, "ac2g", "8", 40, 110);
	test_span_args(t, "cpu_op", "third", 1, 50, 20, "{\"External id\": 3}");
	test_call(t, "cudaLaunchKernelExC", 1, 60, 5, 9);
	put_flow(t, 's', "ac2g", "9", "100", "1", 60);
	test_device_args(t, "kernel", "by correlation", 0, 7, 100, 10, 7, "\"External id\": 2");
	test_device_args(t, "kernel", "by flow", 0, 7, 110, 10, 0, "\"External id\": 1");
	test_device_args(t, "kernel", "by id", 0, 7, 120, 10, 0, "\"External id\": 3");
	test_device_args(t, "kernel", "lost launch", 0, 7, 130, 10, 99, "\"External id\": 3");
	test_device_args(t, "kernel", "nobody's", 0, 7, 140, 10, 0, "\"External id\": 4");
	struct tscope_trace *trace = test_trace_finish(t);
	check_launch(trace, "by correlation", "cudaLaunchKernel", "first");
	check_launch(trace, "by flow", "cuLaunchKernel", "second");
	check_launch(trace, "by id", "cudaLaunchKernelExC", "third");
	check_launch(trace, "lost launch", "none", "third"); /* another call was its own */
	check_launch(trace, "nobody's", "none", "none");
	check_counts(trace, 1, 1, 2, "correlation 1, flow 1, External id 2");
	assert_int_equal(tscope_trace_diagnostic(trace, TSCOPE_DIAGNOSTIC_unlinked_device_event),
			 1);
}

/* Calls and kernels with ids of their own, as ROCm once wrote: an operator has it by chance. */
TEST(a_call_with_the_id_comes_before_an_operator)
{
	struct test_trace *t = test_trace_new();
	test_span_args(t, "cpu_op", "chance", 1, 1, 5, "{\"External id\": 25}");
	test_op(t, "aten::mm", 1, 10, 50);
	test_span_args(t, "cuda_runtime", "hipGetDevice", 1, 15, 1, "{\"External id\": 25}");
	test_span_args(t, "cuda_runtime", "hipLaunchKernel", 1, 20, 5, "{\"External id\": 25}");
	test_span_args(t, "cuda_runtime", "hipMemcpyAsync", 1, 30, 5, "{\"External id\": 25}");
	test_device_args(t, "kernel", "k", 0, 7, 100, 10, 0, "\"External id\": 25");
	struct tscope_trace *trace = test_trace_finish(t);
	check_launch(trace, "k", "hipLaunchKernel", "aten::mm");
	check_counts(trace, 0, 0, 1, "External id");
}

/* Backward by the operator where there is no call; a collective's operator makes it communication. */
TEST(operators_without_calls_tell_phase_and_collective)
{
	struct test_trace *t = test_trace_new();
	test_span_args(t, "cpu_op", "autograd::engine::evaluate_function: MmBackward0", 2, 10, 50,
		       "{\"External id\": 1}");
	test_span_args(t, "cpu_op", "aten::mm", 2, 20, 10, "{\"External id\": 2}");
	test_span_args(t, "cpu_op", "record_param_comms", 1, 70, 10,
		       "{\"External id\": 3, \"Collective name\": \"allreduce\", "
		       "\"dtype\": \"Float\", \"In msg nelems\": 8}");
	test_device_args(t, "kernel", "k", 0, 7, 100, 10, 0, "\"External id\": 2");
	test_device_args(t, "kernel", "unnamed", 0, 7, 120, 10, 0, "\"External id\": 3");
	struct tscope_trace *trace = test_trace_finish(t);
	const struct device_event *comm = tsi_device_event(trace, test_row(trace, "unnamed"));
	assert_int_equal(tsi_device_event(trace, test_row(trace, "k"))->phase, PHASE_BACKWARD);
	assert_int_equal(tsi_span_class(&trace->spans, test_row(trace, "unnamed")),
			 TSCOPE_SPAN_COMM);
	assert_int_equal(trace->collectives[comm->collective].kind, COLLECTIVE_ALL_REDUCE);
}

/* Ids come again: of several starts the latest before the end counts, as with correlations. */
TEST(equal_ids_of_flows)
{
	struct test_trace *t = test_trace_new();
	test_call(t, "early", 1, 20, 5, 0);
	test_call(t, "late", 1, 200, 5, 0);
	test_kernel(t, "a", 0, 7, 100, 10, 0);
	test_kernel(t, "b", 0, 7, 300, 10, 0);
	test_kernel(t, "before all", 0, 7, 5, 1, 0);
	put_arrow(t, "ac2g", "5", 200, 300);
	put_arrow(t, "ac2g", "5", 20, 100);
	put_flow(t, 'f', "ac2g", "5", "0", "7", 5);
	put_flow(t, 'f', "ac2g", "6", "0", "7", 300);   /* without a start */
	put_arrow(t, "ac2g", "7", 20, 400);             /* to nothing */
	put_flow(t, 's', "ac2g", "8", "0", "7", 100);   /* from the device */
	put_flow(t, 'f', "ac2g", "8", "100", "1", 200); /* to the host */
	struct tscope_trace *trace = test_trace_finish(t);
	check_launch(trace, "a", "early", "none");
	check_launch(trace, "b", "late", "none");
	check_launch(trace, "before all", "early", "none");
}

/* Where all has correlations, flows of a long trace are not kept; PyTorch's ids say enough then. */
TEST(the_first_kernel_without_correlation_may_come_late)
{
	enum { MANY = 3000 };
	struct test_trace *t = test_trace_new();
	for (int i = 0; i < MANY; i++) {
		char id[16];
		snprintf(id, sizeof(id), "%d", i + 1);
		test_call(t, i == MANY - 1 ? "last" : "cudaLaunchKernel", 1, 10 * i, 5,
			  (uint64_t)i + 1);
		put_flow(t, 's', "ac2g", id, "100", "1", 10 * i);
		test_kernel(t, "k", 0, 7, 10 * i + 6, 1, (uint64_t)i + 1);
		put_flow(t, 'f', "ac2g", id, "0", "7", 10 * i + 6);
	}
	test_kernel(t, "bare", 0, 7, 10 * MANY, 1, 0);
	put_flow(t, 'f', "ac2g", "3000", "0", "7", 10 * MANY);
	struct tscope_trace *trace = test_trace_finish(t);
	check_launch(trace, "bare", "last", "none");
	check_counts(trace, MANY, 1, 0, "correlation 3000, flow 1");
}
