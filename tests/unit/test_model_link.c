/* SPDX-License-Identifier: MIT */
/* model/trace/link.c, enclose.c, devices.c: which call and op launched what, in which phase. */
#include "model/trace/trace.h"

#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "random_numbers.h"
#include "test_kept.h"
#include "trace_builder.h"

static uint64_t diagnostic(const struct tscope_trace *trace, enum tscope_diagnostic kind)
{
	return tscope_trace_diagnostic(trace, kind);
}

static struct device_event *event_of(const struct tscope_trace *trace, const char *name)
{
	return tsi_device_event(trace, test_row(trace, name));
}

static const char *name_of(const struct tscope_trace *trace, uint32_t row)
{
	return row == NO_ROW ? "none" : tsi_span_name(trace, row).data;
}

static void check_op(const struct tscope_trace *trace, const char *kernel, const char *op)
{
	assert_string_equal(name_of(trace, event_of(trace, kernel)->op), op);
}

/* ---- who launched -------------------------------------------------------------------- */

TEST(kernel_to_call_to_innermost_op)
{
	struct test_trace *t = test_trace_new();
	test_annotation(t, "not an op", 1, 119, 20);
	test_op(t, "outer", 1, 100, 100);
	test_op(t, "inner", 1, 110, 50);
	test_op(t, "over", 1, 111, 3);
	test_op(t, "elsewhere", 2, 115, 50);
	test_call(t, "cudaLaunchKernel", 1, 120, 5, 7);
	test_kernel(t, "a", 0, 7, 130, 400, 7);
	test_call(t, "cuLaunchKernel", 1, 160, 5, 8); /* inner has just ended */
	test_kernel(t, "b", 0, 7, 530, 40, 8);
	test_call(t, "cudaLaunchKernel", 1, 200, 5, 9); /* outer, too */
	test_kernel(t, "c", 0, 7, 570, 2, 9);
	test_kernel(t, "before the capture", 0, 7, 10, 2, 6);
	struct tscope_trace *trace = test_trace_finish(t);
	check_op(trace, "a", "inner");
	check_op(trace, "b", "outer");
	check_op(trace, "c", "none");
	check_op(trace, "before the capture", "none");
	assert_string_equal(name_of(trace, event_of(trace, "b")->call), "cuLaunchKernel");
	assert_int_equal(event_of(trace, "before the capture")->call, NO_ROW);
	assert_int_equal(event_of(trace, "before the capture")->phase, PHASE_COMPUTE);
	assert_int_equal(diagnostic(trace, TSCOPE_DIAGNOSTIC_unlinked_device_event), 1);
	assert_true(tsi_call(trace, event_of(trace, "a")->call)->has_work);
	assert_int_equal(tsi_call_kind(trace, event_of(trace, "a")->call), CALL_LAUNCH);
	struct tscope_span span = tscope_trace_span(trace, test_row(trace, "a"));
	assert_int_equal(span.launch, event_of(trace, "a")->call);
	assert_int_equal(span.op, test_row(trace, "inner"));
}

/* Clocks of whole microseconds make spans cross; what has ended encloses nothing. */
TEST(crossing_spans_do_not_confuse)
{
	struct test_trace *t = test_trace_new();
	test_op(t, "ends early", 1, 0, 10);
	test_annotation(t, "crosses", 1, 5, 20);
	test_op(t, "without length", 1, 30, 0);
	test_call(t, "cudaLaunchKernel", 1, 12, 1, 1);
	test_kernel(t, "a", 0, 7, 20, 5, 1);
	test_call(t, "cudaLaunchKernel", 1, 30, 0, 2);
	test_kernel(t, "b", 0, 7, 40, 5, 2);
	struct tscope_trace *trace = test_trace_finish(t);
	check_op(trace, "a", "none");
	check_op(trace, "b", "without length");
	assert_int_equal(diagnostic(trace, TSCOPE_DIAGNOSTIC_crossing_spans), 1);
}

/* One graph launch, many kernels; another graph whose kernels were lost. */
TEST(graphs_launch_many)
{
	struct test_trace *t = test_trace_new();
	test_call(t, "cudaGraphLaunch", 1, 0, 5, 11);
	test_call(t, "cudaGraphLaunch", 1, 10, 5, 12);
	test_call(t, "cudaLaunchKernel", 1, 20, 5, 13);
	test_kernel(t, "a", 0, 7, 10, 20, 11);
	test_kernel(t, "b", 0, 8, 15, 30, 11);
	struct tscope_trace *trace = test_trace_finish(t);
	assert_true(event_of(trace, "a")->graph);
	assert_true(event_of(trace, "b")->graph);
	assert_true(tsi_call(trace, event_of(trace, "a")->call)->has_work);
	assert_int_equal(diagnostic(trace, TSCOPE_DIAGNOSTIC_empty_graph_launch), 1);
	assert_int_equal(diagnostic(trace, TSCOPE_DIAGNOSTIC_launch_without_work), 1);
}

static void put_replay(struct test_trace *t, uint64_t correlation, int graph, int node_count)
{
	char more[32];
	snprintf(more, sizeof(more), "\"graph id\": %d", graph);
	test_call(t, "cudaGraphLaunch", 1, 1000 * (int64_t)correlation, 5, correlation);
	for (int i = 0; i < node_count; i++)
		test_device_args(t, "kernel", "node", 0, 7, 1000 * (int64_t)correlation + 10 + i, 1,
				 correlation, more);
}

/* 100 nodes in five replays, 12 in four, the last of which the capture may have cut. */
TEST(replays_that_lost_nodes)
{
	struct test_trace *t = test_trace_new();
	for (uint64_t i = 1; i <= 8; i++) {
		put_replay(t, 2 * i, 3, i <= 5 ? 100 : 12);
		put_replay(t, 2 * i + 1, 4, 10);
	}
	put_replay(t, 18, 3, 12);
	struct tscope_trace *trace = test_trace_finish(t);
	assert_int_equal(diagnostic(trace, TSCOPE_DIAGNOSTIC_short_graph_replay), 3);
	assert_int_equal(trace->short_replay_ns, 12000);

	t = test_trace_new(); /* the last one only */
	put_replay(t, 1, 3, 100);
	put_replay(t, 2, 3, 100);
	put_replay(t, 3, 3, 12);
	trace = test_trace_finish(t);
	assert_int_equal(diagnostic(trace, TSCOPE_DIAGNOSTIC_short_graph_replay), 0);
	assert_int_equal(trace->short_replay_ns, NO_NUMBER);
}

/* Merged files reuse correlations: the latest call before the event, else the first. */
TEST(equal_correlations)
{
	struct test_trace *t = test_trace_new();
	test_call(t, "second", 2, 200, 5, 5);
	test_call(t, "first", 1, 100, 5, 5);
	test_call(t, "third", 1, 300, 5, 5);
	test_kernel(t, "early", 0, 7, 50, 1, 5);
	test_kernel(t, "at", 0, 7, 100, 1, 5);
	test_kernel(t, "between", 0, 7, 299, 1, 5);
	test_kernel(t, "late", 0, 7, 900, 1, 5);
	struct tscope_trace *trace = test_trace_finish(t);
	assert_string_equal(name_of(trace, event_of(trace, "early")->call), "first");
	assert_string_equal(name_of(trace, event_of(trace, "at")->call), "first");
	assert_string_equal(name_of(trace, event_of(trace, "between")->call), "second");
	assert_string_equal(name_of(trace, event_of(trace, "late")->call), "third");
	assert_int_equal(diagnostic(trace, TSCOPE_DIAGNOSTIC_duplicate_correlation), 2);
	assert_int_equal(diagnostic(trace, TSCOPE_DIAGNOSTIC_device_before_launch), 1);
}

TEST(correlations_of_any_size)
{
	struct test_trace *t = test_trace_new();
	test_call(t, "huge", 1, 0, 5, UINT64_MAX);
	test_call(t, "none", 1, 1, 1, 0);
	test_kernel(t, "a", 0, 7, 50, 1, UINT64_MAX);
	test_kernel(t, "b", 0, 7, 60, 1, 0);
	struct tscope_trace *trace = test_trace_finish(t);
	assert_string_equal(name_of(trace, event_of(trace, "a")->call), "huge");
	assert_int_equal(event_of(trace, "b")->call, NO_ROW);
}

/* ---- External id --------------------------------------------------------------------- */

/*
 * From 1.12 to 2.3 a device event's "External id" is its own correlation, and
 * may by chance be the id of some op that has nothing to do with it.
 */
TEST(external_id_is_a_link_only_if_it_must_be)
{
	static const struct {
		const char *args, *op;
	} cases[] = {
		{ "\"External id\": 3", "none" }, /* equals the correlation, though an op has it */
		{ "\"External id\": 0", "none" },
		{ "\"External id\": 99", "none" }, /* nobody's */
		{ "\"External id\": 4", "far" },
		{ "\"external id\": \"4\"", "far" },
		{ "", "none" },
		{ "\"External id\": 4294967300", "none" },
		{ "\"External id\": 4294967294", "last" },
		{ "\"External id\": 4294967293", "none" },
		{ "\"External id\": 2", "none" },
		{ "\"External id\": 14", "edge" },
		{ "\"External id\": 15", "none" },
		{ "\"External id\": 18", "none" },
		{ "\"External id\": 19", "behind" },
	};
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct test_trace *t = test_trace_new();
		test_span_args(t, "cpu_op", "chance", 1, 1, 5, "{\"External id\": 3}");
		test_span_args(t, "cpu_op", "far", 2, 1, 5, "{\"External id\": 4}");
		test_span_args(t, "cpu_op", "last", 2, 7, 5, "{\"External id\": 4294967294}");
		test_span_args(t, "cpu_op", "edge", 2, 13, 5, "{\"External id\": 14}");
		test_span_args(t, "cpu_op", "behind", 2, 19, 5, "{\"External id\": 19}");
		test_device_args(t, "kernel", "k", 0, 7, 50, 5, 3, cases[i].args);
		struct tscope_trace *trace = test_trace_finish(t);
		print_message("%s\n", cases[i].args);
		check_op(trace, "k", cases[i].op);
	}
}

/* Where time has an answer, it counts. */
TEST(time_beats_external_id)
{
	struct test_trace *t = test_trace_new();
	test_span_args(t, "cpu_op", "around", 1, 1, 100, "{\"External id\": 3}");
	test_span_args(t, "cpu_op", "far", 2, 1, 5, "{\"External id\": 4}");
	test_span_args(t, "cuda_runtime", "cudaLaunchKernel", 1, 10, 5,
		       "{\"correlation\": 9, \"External id\": 4}");
	test_device_args(t, "kernel", "k", 0, 7, 50, 5, 9, "\"External id\": 4");
	test_span_args(t, "cuda_runtime", "cudaLaunchKernel", 1, 200, 5,
		       "{\"correlation\": 10, \"External id\": 4}");
	test_kernel(t, "outside", 0, 7, 250, 5, 10);
	struct tscope_trace *trace = test_trace_finish(t);
	check_op(trace, "k", "around");
	check_op(trace, "outside", "far"); /* no op around the call: its id is all there is */
}

/*
 * Whole microseconds: calls at the instant where an op begins or ends. Those
 * writers' ids are true; one that the times contradict is still not believed.
 */
TEST(in_whole_microseconds_a_fitting_id_decides)
{
	static const struct {
		int64_t call_ns;
		const char *id, *op;
	} cases[] = {
		{ 120000, "2", "outer" }, { 120000, "4", "inner" }, { 190000, "4", "inner" },
		{ 190000, "2", "outer" }, { 150000, "2", "outer" }, { 150000, "0", "inner" },
		{ 195000, "4", "outer" }, { 150000, "6", "inner" },
	};
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		char args[64];
		snprintf(args, sizeof(args), "{\"correlation\": 334, \"external id\": %s}",
			 cases[i].id);
		struct test_trace *t = test_trace_new();
		test_span_args(t, "Operator", "outer", 1, 100000, 100000, "{\"External id\": 2}");
		test_span_args(t, "Operator", "inner", 1, 120000, 70000, "{\"External id\": 4}");
		test_span_args(t, "Operator", "other thread", 2, 100000, 100000,
			       "{\"External id\": 6}");
		test_span_args(t, "Runtime", "cudaLaunchKernel", 1, cases[i].call_ns, 0, args);
		test_kernel(t, "k", 0, 7, 300000, 5000, 334);
		struct tscope_trace *trace = test_trace_finish(t);
		print_message("call %d, id %s\n", (int)cases[i].call_ns, cases[i].id);
		check_op(trace, "k", cases[i].op);
	}
}

/* ---- what the call knows ------------------------------------------------------------- */

TEST(bytes_of_rocm_copies_come_from_the_call)
{
	struct test_trace *t = test_trace_new();
	test_span_args(t, "cuda_runtime", "hipMemcpyWithStream", 1, 0, 5,
		       "{\"correlation\": 1, \"bytes\": \"4096\", \"kind\": \"2\"}");
	test_device_args(t, "gpu_memcpy", "copy", 0, 7, 10, 5, 1, "\"kind\": \"DtoD\"");
	test_span_args(t, "cuda_runtime", "hipMemcpyAsync", 1, 10, 5,
		       "{\"correlation\": 2, \"bytes\": 1}");
	test_device_args(t, "gpu_memcpy", "own", 0, 7, 20, 5, 2, "\"bytes\": 8");
	test_span_args(t, "cuda_runtime", "hipLaunchKernel", 1, 20, 5,
		       "{\"correlation\": 3, \"size\": 9}");
	test_kernel(t, "kernel", 0, 7, 30, 5, 3);
	struct tscope_trace *trace = test_trace_finish(t);
	uint32_t copy = test_row(trace, "copy");
	assert_int_equal(tsi_call_bytes(trace, event_of(trace, "copy")->call), 4096);
	assert_true(tsi_work_shape(trace, copy)->bytes == NO_NUMBER);
	assert_int_equal(tsi_work_traits(trace, copy)->direction, COPY_D2D);
	assert_int_equal(tsi_work_shape(trace, test_row(trace, "own"))->bytes, 8);
	assert_true(tsi_work_shape(trace, test_row(trace, "kernel"))->bytes == NO_NUMBER);
}

/* ---- communication ------------------------------------------------------------------- */

#define ALL_REDUCE                                                                                 \
	"\"Collective name\": \"allreduce\", \"In msg nelems\": 2049000, "                         \
	"\"Out msg nelems\": 2049000, \"Group size\": 2, \"dtype\": \"BFloat16\", "                \
	"\"In split size\": \"[]\", \"Out split size\": \"[]\", \"Process Group Name\": \"0\", "   \
	"\"Process Group Description\": \"default_pg\", \"Process Group Ranks\": \"[0, 1]\", "     \
	"\"Seq\": 12, \"Comms Id\": 10159970886766084423"

static const struct collective *collective_of(const struct tscope_trace *trace, const char *kernel)
{
	uint32_t index = event_of(trace, kernel)->collective;
	assert_int_not_equal(index, NO_ROW);
	return &trace->collectives[index];
}

TEST(metadata_of_the_kernel_itself)
{
	struct test_trace *t = test_trace_new();
	test_device_args(t, "kernel", "ncclDevKernel_Generic_4(x)", 0, 7, 0, 10, 1, ALL_REDUCE);
	struct tscope_trace *trace = test_trace_finish(t);
	const struct collective *c = collective_of(trace, "ncclDevKernel_Generic_4(x)");
	assert_int_equal(tsi_span_class(&trace->spans, 0), TSCOPE_SPAN_COMM);
	assert_int_equal(c->kind, COLLECTIVE_ALL_REDUCE);
	assert_int_equal(c->in_elements, 2049000);
	assert_int_equal(c->out_elements, 2049000);
	assert_int_equal(c->group_size, 2);
	assert_int_equal(c->element_bytes, 2);
	assert_int_equal(c->sequence, 12);
	assert_true(c->src_rank == NO_NUMBER);
	assert_false(c->is_wait);
	assert_string_equal(tsi_intern_text(&trace->names, c->name).data, "allreduce");
	assert_string_equal(tsi_intern_text(&trace->names, c->group_desc).data, "default_pg");
	assert_string_equal(tsi_intern_text(&trace->names, c->group_ranks).data, "[0, 1]");
}

/* record_param_comms encloses the launch, directly or with an op in between. */
TEST(metadata_of_the_op_around_the_launch)
{
	struct test_trace *t = test_trace_new();
	test_span_args(t, "cpu_op", "record_param_comms", 1, 0, 100, "{" ALL_REDUCE "}");
	test_op(t, "c10d::inner", 1, 5, 50);
	test_call(t, "cudaLaunchKernel", 1, 10, 5, 1);
	test_kernel(t, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 0, 9, 20, 10, 1);
	test_call(t, "cudaLaunchKernel", 1, 20, 5, 2);
	test_kernel(t, "a_ring_of_our_own", 0, 9, 40, 10, 2);
	/* what the collective's op launches besides: copies and elementwise work compute */
	test_call(t, "cudaLaunchKernel", 1, 30, 5, 3);
	test_kernel(t, "void at::native::CatArrayBatchedCopy<float>(int)", 0, 9, 60, 10, 3);
	test_call(t, "cudaMemcpyAsync", 1, 40, 5, 4);
	test_memcpy(t, "Memcpy DtoD (Device -> Device)", 0, 9, 80, 10, 4, 8);
	test_call(t, "cudaLaunchKernel", 1, 150, 5, 5); /* behind the op */
	test_kernel(t, "another_kernel", 0, 9, 160, 10, 5);
	struct tscope_trace *trace = test_trace_finish(t);
	assert_int_equal(
		collective_of(trace, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL")->in_elements,
		2049000);
	assert_int_equal(collective_of(trace, "a_ring_of_our_own")->kind, COLLECTIVE_ALL_REDUCE);
	check_op(trace, "a_ring_of_our_own", "c10d::inner");
	test_check_rows(trace,
			"1 cpu_op record_param_comms 0 100\n"
			"1 cpu_op c10d::inner 5 50\n"
			"1 runtime cudaLaunchKernel 10 5\n"
			"1 runtime cudaLaunchKernel 20 5\n"
			"1 runtime cudaLaunchKernel 30 5\n"
			"1 runtime cudaMemcpyAsync 40 5\n"
			"1 runtime cudaLaunchKernel 150 5\n"
			"gpu0/9 comm ncclDevKernel_AllReduce_Sum_bf16_RING_LL 20 10\n"
			"gpu0/9 comm a_ring_of_our_own 40 10\n"
			"gpu0/9 kernel void at::native::CatArrayBatchedCopy<float>(int) 60 10\n"
			"gpu0/9 memcpy Memcpy DtoD (Device -> Device) 80 10\n"
			"gpu0/9 kernel another_kernel 160 10\n");
	assert_int_equal(event_of(trace, "Memcpy DtoD (Device -> Device)")->collective, NO_ROW);
}

/* "wait" moves nothing: it makes no kernel communication and tells no size. */
TEST(a_wait_is_no_collective)
{
	struct test_trace *t = test_trace_new();
	test_span_args(
		t, "cpu_op", "record_param_comms", 1, 0, 100,
		"{\"Collective name\": \"wait\", \"dtype\": \"Byte\", \"In msg nelems\": 1}");
	test_call(t, "cudaLaunchKernel", 1, 10, 5, 1);
	test_kernel(t, "some_kernel", 0, 9, 20, 10, 1);
	test_call(t, "cudaLaunchKernel", 1, 20, 5, 2);
	test_kernel(t, "ncclDevKernel_Reduce_Sum_f32", 0, 9, 40, 10, 2);
	struct tscope_trace *trace = test_trace_finish(t);
	assert_int_equal(tsi_span_class(&trace->spans, test_row(trace, "some_kernel")),
			 TSCOPE_SPAN_KERNEL);
	assert_int_equal(event_of(trace, "some_kernel")->collective, NO_ROW);
	const struct collective *c = collective_of(trace, "ncclDevKernel_Reduce_Sum_f32");
	assert_int_equal(c->kind, COLLECTIVE_REDUCE);
	assert_true(c->in_elements == NO_NUMBER);
	assert_true(trace->collectives[0].is_wait);
}

TEST(without_metadata_the_name_tells_the_kind)
{
	struct test_trace *t = test_trace_new();
	test_kernel(t, "ncclKernel_AllGather_RING", 0, 9, 0, 10, 0);
	test_kernel(t, "ncclKernel_AllGather_RING", 0, 9, 20, 10, 0);
	test_kernel(t, "ncclDevKernel_Generic", 0, 9, 40, 10, 0);
	struct tscope_trace *trace = test_trace_finish(t);
	assert_int_equal(collective_of(trace, "ncclKernel_AllGather_RING")->kind,
			 COLLECTIVE_ALL_GATHER);
	assert_int_equal(collective_of(trace, "ncclDevKernel_Generic")->kind, COLLECTIVE_UNKNOWN);
	assert_int_equal(trace->collective_count, 2); /* one for each name */
	assert_int_equal(collective_of(trace, "ncclDevKernel_Generic")->rank_start, NO_NUMBER);
	assert_int_equal(collective_of(trace, "ncclDevKernel_Generic")->rank_stride, NO_NUMBER);
}

/* ---- phases -------------------------------------------------------------------------- */

static enum phase phase_at(const struct tscope_trace *trace, const char *call)
{
	return tsi_call(trace, test_row(trace, call))->phase;
}

TEST(phases_of_calls)
{
	struct test_trace *t = test_trace_new();
	test_annotation(t, "ProfilerStep#1", 1, 100, 900);
	test_op(t, "aten::zeros", 1, 40, 20);
	test_call(t, "before", 1, 50, 1, 0);
	test_call(t, "replay", 1, 105, 1, 0);
	test_annotation(t, "enumerate(DataLoader)#_Iter.__next__", 1, 110, 50);
	test_call(t, "loader", 1, 120, 1, 0);
	test_op(t, "aten::mm", 1, 200, 50);
	test_call(t, "forward", 1, 210, 1, 0);
	test_annotation(t, "Optimizer.step#SGD.step", 1, 600, 100);
	test_call(t, "optimizer", 1, 650, 1, 0);
	test_op(t, "autograd::engine::evaluate_function: X", 1, 660, 20);
	test_call(t, "inner", 1, 665, 1, 0);
	test_call(t, "after", 1, 1000, 1, 0);
	test_annotation(t, "attn(W)", 1, 800, 20);
	test_op(t, "aten::mm", 1, 802, 10);
	test_call(t, "weights", 1, 805, 1, 0);
	test_op(t, "autograd::engine::evaluate_function: MmBackward0", 2, 300, 50);
	test_call(t, "backward", 2, 310, 1, 0);
	test_call(t, "backward thread", 2, 400, 1, 0);
	test_op(t, "autograd::engine::evaluate_function: CheckpointFunctionBackward", 2, 410, 50);
	test_annotation(t, "DistributedDataParallel.forward", 2, 420, 20);
	test_op(t, "aten::mm", 2, 421, 10);
	test_call(t, "again", 2, 425, 1, 0);
	test_op(t, "aten::mm", 3, 490, 20);
	test_call(t, "helper", 3, 500, 1, 1);
	test_kernel(t, "k", 0, 7, 550, 5, 1);
	struct tscope_trace *trace = test_trace_finish(t);
	assert_int_equal(phase_at(trace, "before"), PHASE_OTHER);
	assert_int_equal(phase_at(trace, "loader"), PHASE_DATA);
	assert_int_equal(phase_at(trace, "forward"), PHASE_FORWARD);
	assert_int_equal(phase_at(trace, "optimizer"), PHASE_OPTIMIZER);
	assert_int_equal(phase_at(trace, "inner"), PHASE_BACKWARD); /* the innermost mark counts */
	assert_int_equal(phase_at(trace, "after"), PHASE_COMPUTE);  /* in no operator: unknown */
	assert_int_equal(phase_at(trace, "replay"), PHASE_COMPUTE);
	assert_int_equal(phase_at(trace, "weights"), PHASE_BACKWARD);
	assert_int_equal(phase_at(trace, "again"), PHASE_BACKWARD);
	assert_int_equal(phase_at(trace, "backward"), PHASE_BACKWARD);
	assert_int_equal(phase_at(trace, "backward thread"), PHASE_BACKWARD);
	assert_int_equal(phase_at(trace, "helper"), PHASE_FORWARD); /* inside the step, by time */
	assert_int_equal(event_of(trace, "k")->phase, PHASE_FORWARD);
	assert_false(trace->tracks[0].is_autograd);
	assert_true(trace->tracks[1].is_autograd);
}

TEST(phases_without_marks)
{
	struct test_trace *t = test_trace_new();
	test_op(t, "aten::mm", 1, 0, 10);
	test_call(t, "call", 1, 5, 1, 0);
	test_call(t, "graph", 1, 50, 1, 0);
	struct tscope_trace *trace = test_trace_finish(t);
	assert_int_equal(phase_at(trace, "call"), PHASE_FORWARD);
	assert_int_equal(phase_at(trace, "graph"), PHASE_COMPUTE);

	t = test_trace_new();
	test_annotation(t, "ProfilerStep#1", 1, 0, 100);
	test_call(t, "call", 1, 50, 1, 0);
	trace = test_trace_finish(t);
	assert_int_equal(phase_at(trace, "call"), PHASE_COMPUTE); /* no op: nothing is known */
}

/* Before torch 1.12 the engine has no spans; work between nodes is that of backward, too. */
TEST(nodes_without_an_engine)
{
	struct test_trace *t = test_trace_new();
	test_op(t, "ReluBackward1", 2, 10, 9);
	test_call(t, "node", 2, 12, 1, 1);
	test_op(t, "aten::add", 2, 20, 9);
	test_call(t, "sum", 2, 22, 1, 2);
	test_call(t, "bare", 2, 40, 1, 3);
	struct tscope_trace *trace = test_trace_finish(t);
	assert_true(trace->tracks[0].is_autograd);
	assert_int_equal(phase_at(trace, "node"), PHASE_BACKWARD);
	assert_int_equal(phase_at(trace, "sum"), PHASE_BACKWARD);
	assert_int_equal(phase_at(trace, "bare"), PHASE_BACKWARD);
}

/* A main thread that runs backward itself still holds the steps. */
TEST(the_main_thread_is_no_backward_thread)
{
	struct test_trace *t = test_trace_new();
	test_annotation(t, "ProfilerStep#1", 1, 0, 100);
	test_op(t, "autograd::engine::evaluate_function: X", 1, 10, 20);
	test_op(t, "aten::mm", 1, 45, 20);
	test_call(t, "call", 1, 50, 1, 0);
	struct tscope_trace *trace = test_trace_finish(t);
	assert_false(trace->tracks[0].is_autograd);
	assert_int_equal(phase_at(trace, "call"), PHASE_FORWARD);
}

/* Nor does one that runs forward work: what autograd records for a backward pass, outside of it. */
TEST(a_thread_of_forward_work_is_no_backward_thread)
{
	struct test_trace *t = test_trace_new();
	test_op_args(t, "aten::mm", 1, 10, 9, &(struct test_op_args){ .sequence = "3" });
	test_call(t, "call", 1, 12, 1, 0);
	test_op_args(t, "MmBackward0", 1, 20, 9,
		     &(struct test_op_args){ .sequence = "3", .forward_thread = "1" });
	test_call(t, "node", 1, 22, 1, 0);
	struct tscope_trace *trace = test_trace_finish(t);
	assert_false(trace->tracks[0].is_autograd);
	assert_int_equal(phase_at(trace, "call"), PHASE_FORWARD);
	assert_int_equal(phase_at(trace, "node"), PHASE_BACKWARD);
}

/* ---- devices ------------------------------------------------------------------------- */

/* Over all streams by start; together: by launch, those without one first. */
TEST(rows_of_a_device)
{
	struct test_trace *t = test_trace_new();
	test_call(t, "late", 1, 20, 5, 1);
	test_call(t, "early", 1, 10, 5, 2);
	test_kernel(t, "a", 0, 7, 100, 50, 1);
	test_kernel(t, "b", 0, 8, 100, 10, 2);
	test_kernel(t, "c", 0, 9, 100, 10, 0);
	test_kernel(t, "d", 0, 9, 50, 10, 0);
	test_kernel(t, "e", 3, 9, 50, 10, 0);
	struct tscope_trace *trace = test_trace_finish(t);
	static const char *const expected[] = { "d", "c", "b", "a" };
	assert_int_equal(trace->device_count, 2);
	assert_int_equal(trace->devices[0].row_count, 4);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(name_of(trace, trace->devices[0].rows[i]), expected[i]);
	assert_int_equal(trace->devices[1].ordinal, 3);
	assert_int_equal(trace->devices[1].row_count, 1);
}

/* ---- a second implementation --------------------------------------------------------- */

/* By definition: of the ops that come before the call in their thread and have not ended, the last. */
static uint32_t slow_op(const struct tscope_trace *trace, uint32_t call)
{
	int64_t now = tsi_start_ns(&trace->spans, call);
	uint32_t op = NO_ROW;
	for (uint32_t row = trace->tracks[tsi_trace_track_of(trace, call)].first; row < call;
	     row++) {
		int64_t end = tsi_span_end(trace, row);
		bool holds = end > now || (end == now && tsi_dur_ns(&trace->spans, row) == 0);
		if (holds && tsi_span_class(&trace->spans, row) == TSCOPE_SPAN_CPU_OP)
			op = row;
	}
	return op;
}

/* As random_trace() names rows: "call 7". */
static uint64_t correlation_of(const struct tscope_trace *trace, uint32_t row)
{
	return strtoull(strchr(tsi_span_name(trace, row).data, ' '), NULL, 10);
}

/* Of the calls with the correlation: the latest not after the event; else the earliest. */
static uint32_t slow_call(const struct tscope_trace *trace, uint32_t event)
{
	uint64_t correlation = correlation_of(trace, event);
	uint32_t before = NO_ROW, after = NO_ROW;
	for (uint32_t row = 0; row < trace->spans.count && correlation; row++) {
		if (tsi_span_class(&trace->spans, row) != TSCOPE_SPAN_RUNTIME ||
		    correlation_of(trace, row) != correlation)
			continue;
		int64_t start = tsi_start_ns(&trace->spans, row);
		if (start <= tsi_start_ns(&trace->spans, event)) {
			if (before == NO_ROW || start >= tsi_start_ns(&trace->spans, before))
				before = row;
		} else if (after == NO_ROW || start < tsi_start_ns(&trace->spans, after)) {
			after = row;
		}
	}
	return before != NO_ROW ? before : after;
}

static struct tscope_trace *random_trace(uint64_t *seed)
{
	struct test_trace *t = test_trace_new();
	uint32_t count = 5 + random_below(seed, 60);
	for (uint32_t i = 0; i < count; i++) {
		int64_t tid = random_below(seed, 2), start = random_below(seed, 60);
		int64_t dur = random_below(seed, 20);
		uint32_t correlation = random_below(seed, 8);
		char name[32];
		switch (random_below(seed, 4)) {
		case 0:
			test_annotation(t, "annotation", tid, start, dur);
			break;
		case 1:
			test_op(t, "op", tid, start, dur);
			break;
		case 2:
			snprintf(name, sizeof(name), "call %u", correlation);
			test_call(t, name, tid, start, dur, correlation);
			break;
		case 3:
			snprintf(name, sizeof(name), "k %u", correlation);
			test_kernel(t, name, 0, tid, start, dur, correlation);
			break;
		}
	}
	return test_trace_finish(t);
}

TEST(random_traces_are_linked_as_defined)
{
	uint64_t seed = 7;
	for (int round = 0; round < 2000; round++) {
		struct tscope_trace *trace = random_trace(&seed);
		for (uint32_t row = 0; row < trace->spans.count; row++) {
			if (tsi_span_class(&trace->spans, row) == TSCOPE_SPAN_RUNTIME)
				assert_int_equal(tsi_call(trace, row)->op, slow_op(trace, row));
			if (tsi_span_class(&trace->spans, row) == TSCOPE_SPAN_KERNEL)
				assert_int_equal(tsi_device_event(trace, row)->call,
						 slow_call(trace, row));
		}
		test_release_kept();
	}
}
