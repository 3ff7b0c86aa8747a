/* SPDX-License-Identifier: MIT */
/* Attention made of single operators, told by the shapes of its scores. */
#include "analysis_check.h"

#include "check.h"

#define FLOATS "[\"float\", \"float\", \"float\"]"

/* An operator with a kernel of its own, in the step that one_step() begins. */
static void run(struct test_trace *t, const char *name, const char *dims, int64_t number,
		int64_t device_ns)
{
	int64_t start_ns = number * 1000;

	test_op_inputs(t, name, 1, start_ns, 500, dims, FLOATS, NULL);
	test_call(t, "cudaLaunchKernel", 1, start_ns + 100, 10, (uint64_t)number);
	test_kernel(t, "k", 0, 7, start_ns + 200, device_ns, (uint64_t)number);
}

static struct test_trace *one_step(void)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", 1, 0, 100000);
	return t;
}

TEST(scores_and_products)
{
	struct test_trace *t = one_step();

	/* 4 sequences of 8 heads: 32 × 64 × 48. */
	run(t, "aten::baddbmm", "[[32, 64, 48], [32, 64, 16], [32, 16, 48]]", 1, 100);
	run(t, "aten::masked_fill_", "[[4, 8, 64, 48], [4, 1, 1, 48], []]", 2, 30);
	run(t, "aten::_softmax", "[[4, 8, 64, 48], [], []]", 3, 50);
	run(t, "aten::bmm", "[[32, 64, 48], [32, 48, 16]]", 4, 80);
	/* Values and weights are none of it. */
	run(t, "aten::add", "[[32, 64, 16], [32, 64, 16], []]", 5, 7);
	run(t, "aten::mm", "[[64, 48], [48, 16]]", 6, 7);
	/* Softmaxes without products, and over classes and single tokens. */
	run(t, "aten::_softmax", "[[2, 32, 100], [], []]", 7, 7);
	run(t, "aten::_softmax", "[[256, 1000], [], []]", 8, 7);
	run(t, "aten::_softmax", "[[32, 1, 48], [], []]", 9, 7);
	struct analyzed *a = analyze(t);

	check_facts(a,
		    "attention: softmax_count scores_total_ns softmax_total_ns products_total_ns "
		    "heads queries keys",
		    "1 80 50 180 32 64 48");
}

/* All that has one shape is added up; the one with most time is shown. */
TEST(two_shapes)
{
	struct test_trace *t = one_step();

	run(t, "aten::bmm", "[[8, 16, 32], [8, 32, 16]]", 1, 10);
	run(t, "aten::_softmax", "[[8, 16, 16], [], []]", 2, 20);
	run(t, "aten::bmm", "[[8, 16, 16], [8, 16, 32]]", 3, 10);
	/* A bias that is made for each pair of tokens, in another form. */
	run(t, "aten::_index_put_impl_", "[[2, 4, 16, 16], [], [2, 4, 136]]", 7, 7);
	run(t, "aten::bmm", "[[8, 64, 32], [8, 32, 64]]", 4, 10);
	run(t, "aten::_softmax", "[[8, 64, 64], [], []]", 5, 30);
	run(t, "aten::bmm", "[[8, 64, 64], [8, 64, 32]]", 6, 10);
	struct analyzed *a = analyze(t);

	check_facts(a, "attention: softmax_count scores_total_ns products_total_ns queries",
		    "2 50 40 64");
}

TEST(without_the_values)
{
	struct test_trace *t = one_step();

	run(t, "aten::bmm", "[[8, 64, 32], [8, 32, 64]]", 1, 10);
	run(t, "aten::_softmax", "[[8, 64, 64], [], []]", 2, 30);
	struct analyzed *a = analyze(t);

	check_facts(a, "attention: softmax_count scores_total_ns keys", "0 0 -");
}

TEST(without_shapes)
{
	struct test_trace *t = one_step();

	test_op(t, "aten::_softmax", 1, 10, 20);
	test_call(t, "cudaLaunchKernel", 1, 15, 1, 1);
	test_kernel(t, "k", 0, 7, 50, 20, 1);
	struct analyzed *a = analyze(t);

	check_facts(a, "attention: softmax_count scores_total_ns", "- -");
}
