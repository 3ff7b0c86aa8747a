/* SPDX-License-Identifier: MIT */
/* Patterns of operators, in one step of 1 ms on two devices. */
#include "analysis_check.h"

#include "check.h"

#define COUNTS "patterns: conv_bias_count host_tensor_count loop_count data_parallel_count"
#define FLOATS "[\"float\", \"float\", \"float\"]"

static struct test_trace *one_step(void)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", 1, 0, 1000000);
	test_kernel(t, "k", 0, 7, 100, 10, 0);
	test_kernel(t, "k", 1, 7, 100, 10, 0);
	return t;
}

/* A norm right behind it, or behind the counter of its batches; not behind what has no bias. */
TEST(biases_before_norms)
{
	static const char with[] = "[[2, 3, 8, 8], [4, 3, 3, 3], [4]]";

	struct test_trace *t = one_step();
	test_op_inputs(t, "aten::conv2d", 1, 1000, 100, with, FLOATS, NULL);
	test_op(t, "aten::batch_norm", 1, 1200, 50);
	test_op_inputs(t, "aten::conv2d", 1, 2000, 150, with, FLOATS, NULL);
	test_op(t, "aten::add_", 1, 2200, 10);
	test_op(t, "aten::batch_norm", 1, 2300, 50);
	test_op_inputs(t, "aten::conv2d", 1, 3000, 100, "[[2, 3, 8, 8], [4, 3, 3, 3], []]",
		       "[\"float\", \"float\", \"\"]", NULL);
	test_op(t, "aten::batch_norm", 1, 3200, 50);
	test_op_inputs(t, "aten::conv2d", 1, 4000, 100, with, FLOATS, NULL);
	test_op(t, "aten::relu", 1, 4200, 50);
	test_op(t, "aten::batch_norm", 1, 4300, 50);
	struct analyzed *a = analyze(t);
	check_facts(a, COUNTS " step_count wall_total_ns", "2 0 0 0 1 1000000");
	check_table(a, "patterns.places: pattern max_start_ns max_ns", "conv_bias 2000 150\n");
}

/* zeros(sizes).to("cuda"); with `calls` the device has filled it. */
static void make_tensor(struct test_trace *t, int64_t at_ns, const char *sizes, bool calls)
{
	static uint64_t correlation = 100;

	test_op(t, "aten::zeros", 1, at_ns, 100);
	test_op_inputs(t, "aten::zero_", 1, at_ns + 10, 50, sizes, "[\"float\"]", NULL);
	if (calls)
		test_call(t, "cudaMemsetAsync", 1, at_ns + 20, 10, ++correlation);
	test_op_inputs(t, "aten::to", 1, at_ns + 200, 100, "[[10, 10]]", "[\"float\"]", NULL);
	test_op(t, "aten::_to_copy", 1, at_ns + 210, 80);
	test_op(t, "aten::copy_", 1, at_ns + 220, 60);
	test_call(t, "cudaMemcpyAsync", 1, at_ns + 230, 30, ++correlation);
}

TEST(tensors_made_on_the_host)
{
	struct test_trace *t = one_step();

	make_tensor(t, 1000, "[[10, 10]]", false);
	make_tensor(t, 2000, "[[10, 10]]", true);
	make_tensor(t, 3000, "[[10, 11]]", false);
	struct analyzed *a = analyze(t);
	check_facts(a, COUNTS " host_tensor_total_ns", "0 1 0 0 300");
	check_table(a, "patterns.places: pattern max_start_ns max_ns", "host_tensor 1000 300\n");
}

/* So many times a select of 10 ns and operators of 5 ns, 20 ns apart. */
static void loop(struct test_trace *t, int64_t at_ns, int count, int body)
{
	for (int i = 0; i < count; i++) {
		test_op_inputs(t, "aten::select", 1, at_ns, 10, "[[100, 100]]", "[\"float\"]",
			       NULL);
		at_ns += 20;
		for (int j = 0; j < body; j++, at_ns += 20)
			test_op(t, j % 2 ? "aten::mul" : "aten::fill_", 1, at_ns, 5);
	}
}

TEST(loops_over_tensors)
{
	static const struct {
		int count, body;
		const char *expected; /* iterations and their time */
	} cases[] = {
		{ 10, 1, "10 370" },                                            /* 9 · 40 + 10 */
		{ 9, 1, "0 0" },     { 12, 0, "12 230" }, { 10, 8, "10 1630" }, /* 9 · 180 + 10 */
		{ 10, 9, "0 0" }, /* layers, perhaps */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct test_trace *t = one_step();
		loop(t, 1000, cases[i].count, cases[i].body);
		struct analyzed *a = analyze(t);
		check_facts(a, "patterns: loop_count loop_total_ns", cases[i].expected);
	}
}

/* On one device "Gather" is somebody else's; GatherBackward0 is that of aten::gather. */
TEST(data_parallel)
{
	for (int devices = 1; devices <= 2; devices++) {
		struct test_trace *t = test_trace_new();
		test_annotation(t, "ProfilerStep#1", 1, 0, 1000000);
		for (int i = 0; i < devices; i++)
			test_kernel(t, "k", i, 7, 100, 10, 0);
		test_op(t, "Broadcast", 1, 1000, 100);
		test_op(t, "Gather", 1, 2000, 50);
		test_op(t, "GatherBackward0", 1, 3000, 50);
		struct analyzed *a = analyze(t);
		check_facts(a, "patterns: data_parallel_count data_parallel_total_ns",
			    devices == 2 ? "2 150" : "0 0");
	}
}
