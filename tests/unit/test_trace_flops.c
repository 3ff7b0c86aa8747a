/* SPDX-License-Identifier: MIT */
/*
 * Which operators of small traces are counted, with what FLOPs, and for which
 * step. The products are of [2, 3] and [3, 4]: 2 · 2 · 3 · 4 = 48 FLOPs.
 */
#include "analyze/ops/trace_flops.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/ops/kernel_vote.h"
#include "analyze/ops/peak.h"
#include "base/attributes.h"
#include "check.h"
#include "fail_alloc.h"
#include "test_kept.h"
#include "trace_builder.h"

#define MM_DIMS "[[2, 3], [3, 4]]"
#define MM_HALF "[\"c10::BFloat16\", \"c10::BFloat16\"]"
#define MM_FLOAT "[\"float\", \"float\"]"
/* addmm has the bias first. */
#define ADDMM_DIMS "[[4], [2, 3], [3, 4], [], []]"
#define ADDMM_HALF                                                                                 \
	"[\"c10::BFloat16\", \"c10::BFloat16\", \"c10::BFloat16\", \"Scalar\", \"Scalar\"]"
/* linear has the weight transposed. */
#define LINEAR_DIMS "[[2, 3], [4, 3], [4]]"
#define LINEAR_HALF "[\"c10::BFloat16\", \"c10::BFloat16\", \"c10::BFloat16\"]"
#define ADD_DIMS "[[2, 3], [2, 3], []]"
#define ADD_HALF "[\"c10::BFloat16\", \"c10::BFloat16\", \"Scalar\"]"

#define A100                                                                                       \
	"[{\"id\": 0, \"name\": \"NVIDIA A100-SXM4-80GB\", \"numSms\": 108, "                      \
	"\"totalGlobalMem\": 85899345920}]"

enum { TEXT_CHARS = 4096 };

struct counted {
	struct test_kept kept;
	struct tscope_trace *trace;
	struct tscope_timeline *timeline;
	struct trace_flops *flops;
	char text[TEXT_CHARS];
};

static void release(struct test_kept *kept)
{
	struct counted *c = (struct counted *)kept;

	tsi_trace_flops_free(c->flops);
	free(c);
}

static struct counted *count_with(struct test_trace *t, unsigned warmup)
{
	struct counted *c = calloc(1, sizeof(*c));
	struct tscope_timeline_options options = { .warmup = warmup };
	struct arena arena = { 0 };

	assert_non_null(c);
	test_keep(&c->kept, release);
	c->trace = test_trace_finish(t);
	c->timeline = test_timeline(c->trace, &options);
	const uint8_t *kinds = tsi_kernel_kinds(c->trace, &arena);
	assert_non_null(kinds);
	assert_int_equal(tsi_trace_flops_new(&c->flops, c->trace, test_timeline(c->trace, &options),
					     kinds, NULL),
			 TSCOPE_OK);
	tsi_arena_deinit(&arena);
	return c;
}

static struct counted *count(struct test_trace *t)
{
	return count_with(t, 0);
}

static const char *name_of(const struct counted *c, uint32_t id)
{
	return id ? tsi_intern_text(&c->trace->names, id).data : "-";
}

/* One line an operator: name, calls, of them repeated, FLOPs of a call, device time, kernel. */
static const char *ops_text(struct counted *c)
{
	size_t used = 0;

	c->text[0] = '\0';
	for (size_t i = 0; i < c->flops->op_count; i++) {
		const struct counted_op *op = &c->flops->ops[i];
		used += (size_t)snprintf(c->text + used, sizeof(c->text) - used,
					 "%s %" PRId64 " %" PRId64 " %.0f %" PRId64 " %s\n",
					 name_of(c, op->name), op->count, op->repeated_count,
					 op->work.flops, op->device_ns, name_of(c, op->kernel));
	}
	return c->text;
}

/* One line a kernel: name, count, time, operator, reason. */
static const char *uncounted_text(struct counted *c)
{
	static const char *const reasons[] = { "no_operator", "no_model", "no_inputs" };
	size_t used = 0;

	c->text[0] = '\0';
	for (size_t i = 0; i < c->flops->uncounted_count; i++) {
		const struct uncounted_kernel *kernel = &c->flops->uncounted[i];
		used += (size_t)snprintf(c->text + used, sizeof(c->text) - used,
					 "%s %" PRId64 " %" PRId64 " %s %s\n",
					 name_of(c, kernel->kernel), kernel->count,
					 kernel->total_ns, name_of(c, kernel->op),
					 reasons[kernel->reason]);
	}
	return c->text;
}

/* One line a step, the whole trace last: FLOPs, repeated ones, matrix and counted time. */
static const char *steps_text(struct counted *c)
{
	size_t used = 0;

	for (size_t i = 0; i <= c->timeline->step_count; i++) {
		const struct step_flops *step =
			i < c->timeline->step_count ? &c->flops->steps[i] : &c->flops->all;
		used += (size_t)snprintf(c->text + used, sizeof(c->text) - used,
					 "%.0f %.0f %" PRId64 " %" PRId64 "\n", step->flops,
					 step->repeated_flops, step->matrix_ns, step->counted_ns);
	}
	return c->text;
}

static void mm(struct test_trace *t, int64_t tid, int64_t start_ns, int64_t dur_ns)
{
	test_op_inputs(t, "aten::mm", tid, start_ns, dur_ns, MM_DIMS, MM_HALF, NULL);
}

/* A kernel that is launched by a call of the thread at a time. */
static void launch(struct test_trace *t, const char *kernel, int64_t tid, int64_t at_ns,
		   int64_t dur_ns)
{
	static uint64_t correlation;

	test_call(t, "cudaLaunchKernel", tid, at_ns, 1, ++correlation);
	test_kernel(t, kernel, 0, 7, at_ns + 1000000, dur_ns, correlation);
}

/* Of nested operators with formulas only the innermost that launched is counted. */
TEST(innermost_that_launched)
{
	struct test_trace *t = test_trace_new();

	/* linear [0, 100) > addmm [10, 60) with a fill in it; a sum behind, not in addmm. */
	test_op_inputs(t, "aten::linear", 1, 0, 100, LINEAR_DIMS, LINEAR_HALF, NULL);
	test_op_inputs(t, "aten::addmm", 1, 10, 50, ADDMM_DIMS, ADDMM_HALF, NULL);
	test_op_inputs(t, "aten::fill_", 1, 20, 10, "[[4], []]", "[\"c10::BFloat16\", \"Scalar\"]",
		       NULL);
	launch(t, "fill", 1, 25, 3);
	launch(t, "nvjet_tst", 1, 40, 20);
	test_op(t, "aten::add_", 1, 70, 20);
	launch(t, "bias_kernel", 1, 80, 5);
	/* matmul [200, 300) > mm [210, 250), which launches nothing; matmul does. */
	test_op_inputs(t, "aten::matmul", 1, 200, 100, MM_DIMS, MM_HALF, NULL);
	mm(t, 1, 210, 40);
	launch(t, "nvjet_tst", 1, 260, 30);
	/* Nothing at all is launched in this one. */
	mm(t, 1, 400, 50);
	struct counted *c = count(t);

	assert_string_equal(ops_text(c), "aten::addmm 1 0 48 23 nvjet_tst\n"
					 "aten::matmul 1 0 48 30 nvjet_tst\n");
	assert_true(c->flops->all.flops == 2 * 48);
	/* nvjet in addmm and in matmul; fill_ and add_ multiply none. */
	assert_string_equal(steps_text(c), "96 0 50 50\n96 0 50 50\n");
	assert_string_equal(uncounted_text(c), "");
}

/* Operators that only move bytes: the innermost ones, and not within a product. */
TEST(memory_bound_operators)
{
	struct test_trace *t = test_trace_new();

	test_op_inputs(t, "aten::add", 1, 0, 50, ADD_DIMS, ADD_HALF, NULL);
	launch(t, "add", 1, 10, 7);
	test_op_inputs(t, "aten::mul", 1, 100, 50, ADD_DIMS, ADD_HALF, NULL);
	test_op_inputs(t, "aten::copy_", 1, 110, 20, "[[2, 3], [2, 3], []]",
		       "[\"c10::BFloat16\", \"float\", \"Scalar\"]", NULL);
	launch(t, "copy", 1, 115, 9);
	launch(t, "mul", 1, 140, 11); /* of mul, but copy_ is the innermost */
	mm(t, 1, 200, 50);
	test_op_inputs(t, "aten::add", 1, 210, 20, ADD_DIMS, ADD_HALF, NULL);
	launch(t, "add", 1, 215, 13);
	launch(t, "nvjet_tst", 1, 240, 17);
	struct counted *c = count(t);

	assert_string_equal(ops_text(c), "aten::add 1 0 0 7 add\n"
					 "aten::copy_ 1 0 0 9 copy\n"
					 "aten::mm 1 0 48 30 nvjet_tst\n");
	assert_true(c->flops->ops[0].work.bytes == 3 * 2 * 3 * 2); /* two in, one out, 2 bytes */
	assert_false(c->flops->ops[0].multiplies);
}

/* What a product launches itself beside an inner product is its own: it is counted. */
TEST(around_a_product)
{
	struct test_trace *t = test_trace_new();

	test_op_inputs(t, "aten::linear", 1, 0, 100, LINEAR_DIMS, LINEAR_HALF, NULL);
	mm(t, 1, 10, 20);
	launch(t, "nvjet_tst", 1, 15, 20);
	launch(t, "splitKreduce_kernel", 1, 50, 4);
	/* The inner one does not say its inputs, the outer one does. */
	test_op_inputs(t, "aten::linear", 1, 200, 100, LINEAR_DIMS, LINEAR_HALF, NULL);
	test_op(t, "aten::addmm", 1, 210, 20);
	launch(t, "nvjet_tst", 1, 215, 30);
	struct counted *c = count(t);

	assert_string_equal(ops_text(c), "aten::linear 2 0 48 54 nvjet_tst\n");
	assert_string_equal(steps_text(c), "96 0 54 54\n96 0 54 54\n");
}

/*
 * The experts of 2 tokens, each of which goes to 2 of 8: 2 · 4 weights · (16 · 4 + 4 · 8) = 768
 * FLOPs, and a small product within them. The kernels of the experts are not those of that product.
 */
TEST(kernels_beside_products)
{
	static const struct {
		const char *up_dims;               /* of the experts: [8, 16, 4]; else not known */
		const char *inner_dims;            /* of the product within them */
		const char *helper;                /* the operator that launches theirs, or NULL */
		const char *ops, *uncounted, *all; /* all: FLOPs, repeated, matrix, counted time */
	} cases[] = {
		{ "[8, 16, 4]", MM_DIMS, NULL,
		  "vllm::inplace_fused_experts 1 0 768 703 fused_moe\n", "", "768 0 703 703\n" },
		{ "[8, 16, 4]", MM_DIMS, "my::helper",
		  "vllm::inplace_fused_experts 1 0 768 703 fused_moe\n", "", "768 0 703 703\n" },
		/* A product of more: 2 · 2 · 3 · 4000. Both cannot be of the same FLOPs. */
		{ "[8, 16, 4]", "[[2, 3], [3, 4000]]", NULL, "aten::mm 1 0 48000 3 gemm\n",
		  "fused_moe 1 700 vllm::inplace_fused_experts no_model\n", "48000 0 703 3\n" },
		/* Exactly as much: 2 · 2 · 3 · 64. */
		{ "[8, 16, 4]", "[[2, 3], [3, 64]]", NULL,
		  "vllm::inplace_fused_experts 1 0 768 703 fused_moe\n", "", "768 0 703 703\n" },
		/* Weights that are packed: nobody knows their sizes. */
		{ "[8, 16, 2]", MM_DIMS, NULL, "aten::mm 1 0 48 3 gemm\n",
		  "fused_moe 1 700 vllm::inplace_fused_experts no_inputs\n", "48 0 703 3\n" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct test_trace *t = test_trace_new();
		char dims[128];
		snprintf(dims, sizeof(dims), "[[2, 4], %s, [8, 4, 8], [2, 2]]", cases[i].up_dims);
		test_op_inputs(
			t, "vllm::inplace_fused_experts", 1, 0, 100, dims,
			"[\"c10::BFloat16\", \"c10::BFloat16\", \"c10::BFloat16\", \"float\"]",
			NULL);
		if (cases[i].helper)
			test_op(t, cases[i].helper, 1, 5, 10);
		launch(t, "fused_moe", 1, 10, 700);
		test_op_inputs(t, "aten::mm", 1, 50, 20, cases[i].inner_dims, MM_HALF, NULL);
		launch(t, "gemm", 1, 60, 3);
		struct counted *c = count(t);
		if (strcmp(ops_text(c), cases[i].ops) != 0 ||
		    strcmp(uncounted_text(c), cases[i].uncounted) != 0)
			fail_msg("case %zu: %s%s", i, ops_text(c), uncounted_text(c));
		assert_non_null(strstr(steps_text(c), cases[i].all));
	}
}

/* The outer stands for what is within it once, and those around it have nothing to add. */
TEST(products_of_three_levels)
{
	struct test_trace *t = test_trace_new();

	test_op_inputs(t, "aten::matmul", 1, 0, 200, MM_DIMS, MM_HALF, NULL);
	test_op_inputs(t, "aten::linear", 1, 10, 100, LINEAR_DIMS, LINEAR_HALF, NULL);
	mm(t, 1, 20, 20);
	launch(t, "nvjet_tst", 1, 25, 20);
	launch(t, "im2col_kernel", 1, 50, 4);
	mm(t, 1, 150, 20);
	launch(t, "nvjet_tst", 1, 155, 7);
	struct counted *c = count(t);

	assert_string_equal(ops_text(c), "aten::mm 1 0 48 7 nvjet_tst\n"
					 "aten::linear 1 0 48 24 nvjet_tst\n");
	assert_string_equal(steps_text(c), "96 0 31 31\n96 0 31 31\n");
}

/* What a graph launches was captured elsewhere: it is not of the operator around its launch. */
TEST(graph_in_a_product)
{
	struct test_trace *t = test_trace_new();

	mm(t, 1, 0, 50);
	launch(t, "nvjet_tst", 1, 5, 3);
	test_call(t, "cudaGraphLaunch", 1, 10, 5, 77);
	test_kernel(t, "nvjet_tst", 0, 7, 6000000, 500, 77);
	test_kernel(t, "fill", 0, 7, 7000000, 40, 77); /* nor does mm make it a product */
	/* Of this one nothing was launched but the graph. */
	test_op_inputs(t, "aten::mm", 1, 100, 50, "[[20, 3], [3, 4]]", MM_HALF, NULL);
	test_call(t, "cudaGraphLaunch", 1, 110, 5, 78);
	test_kernel(t, "nvjet_tst", 0, 7, 8000000, 500, 78);
	struct counted *c = count(t);

	assert_string_equal(ops_text(c), "aten::mm 1 0 48 3 nvjet_tst\n");
	assert_string_equal(uncounted_text(c), "nvjet_tst 2 1000 - no_operator\n");
	assert_string_equal(steps_text(c), "48 0 1003 3\n48 0 1003 3\n");
}

/* What crosses the end of the one around it is within it up to there. */
TEST(operators_that_cross)
{
	struct test_trace *t = test_trace_new();

	test_op(t, "outer", 1, 0, 50);
	mm(t, 1, 10, 90); /* until 50 */
	launch(t, "nvjet_tst", 1, 20, 3);
	test_op_inputs(t, "aten::addmm", 1, 60, 20, ADDMM_DIMS, ADDMM_HALF, NULL);
	launch(t, "nvjet_tst", 1, 65, 4);
	/* [100, 200) and [150, 250), which is larger: the first is not made up of the second. */
	mm(t, 1, 100, 100);
	launch(t, "nvjet_tst", 1, 110, 300);
	test_op_inputs(t, "aten::mm", 1, 150, 100, "[[20, 3], [3, 4]]", MM_HALF, NULL);
	launch(t, "nvjet_tst", 1, 160, 5);
	struct counted *c = count(t);
	assert_string_equal(ops_text(c), "aten::mm 1 0 48 3 nvjet_tst\n"
					 "aten::addmm 1 0 48 4 nvjet_tst\n"
					 "aten::mm 1 0 480 5 nvjet_tst\n");
	assert_string_equal(uncounted_text(c), "nvjet_tst 1 300 aten::mm no_model\n");
}

/* Without devices nothing can be launched: the innermost with a formula is counted. */
TEST(trace_without_devices)
{
	struct test_trace *t = test_trace_new();

	test_op_inputs(t, "aten::linear", 1, 0, 100, LINEAR_DIMS, LINEAR_HALF, NULL);
	test_op_inputs(t, "aten::addmm", 1, 10, 50, ADDMM_DIMS, ADDMM_HALF, NULL);
	test_op_inputs(t, "aten::add", 1, 110, 50, ADD_DIMS, ADD_HALF, NULL);
	struct counted *c = count(t);

	assert_string_equal(ops_text(c), "aten::addmm 1 0 48 0 -\naten::add 1 0 0 0 -\n");
	assert_string_equal(steps_text(c), "48 0 0 0\n48 0 0 0\n");
	assert_true(isnan(c->flops->peak_flops));
	assert_string_equal(c->flops->precision, "bf16");
	assert_string_equal(c->flops->no_peak,
			    "no device activity in the trace: pass --peak-tflops to get an MFU");
}

TEST(kernels_without_flops)
{
	struct test_trace *t = test_trace_new();

	test_op(t, "aten::mm", 1, 0, 50); /* no shapes */
	launch(t, "nvjet_tst", 1, 10, 100);
	test_op(t, "aten::linear", 1, 100, 50);
	test_op(t, "my::inner", 1, 110, 20);
	launch(t, "nvjet_tst", 1, 115, 200);
	test_op(t, "my::gemm", 1, 200, 50);
	launch(t, "nvjet_tst", 1, 210, 300);
	launch(t, "nvjet_tst", 1, 220, 1);
	test_kernel(t, "nvjet_tst", 0, 7, 5000000, 400, 0); /* its launch is not in the trace */
	test_op(t, "my::graph", 1, 300, 50);
	test_call(t, "cudaGraphLaunch", 1, 310, 5, 77);
	test_kernel(t, "nvjet_tst", 0, 7, 6000000, 500, 77);
	/* These multiply no matrices. */
	launch(t, "triton_poi_fused_add_3", 1, 330, 7);
	launch(t, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 1, 340, 8);
	struct counted *c = count(t);

	assert_string_equal(ops_text(c), "");
	assert_string_equal(uncounted_text(c), "nvjet_tst 1 100 aten::mm no_inputs\n"
					       "nvjet_tst 1 200 my::inner no_inputs\n"
					       "nvjet_tst 2 301 my::gemm no_model\n"
					       "nvjet_tst 2 900 - no_operator\n");
	assert_string_equal(steps_text(c), "0 0 1501 0\n0 0 1501 0\n");
	assert_int_equal(c->flops->kernel_ns_of_precision[TSCOPE_PRECISION_BF16], 1501);
}

/* Transposing takes longest, and what multiplies names the operator. */
TEST(kernel_of_an_operator)
{
	static const struct {
		const char *first, *second;
		int64_t first_ns, second_ns;
		const char *expected;
	} cases[] = {
		{ "nvjet_a", "nvjet_b", 10, 20, "nvjet_b" },
		{ "nvjet_a", "nvjet_b", 20, 10, "nvjet_a" },
		{ "transpose", "nvjet_b", 20, 10, "nvjet_b" },
		{ "nvjet_a", "transpose", 10, 20, "nvjet_a" },
		{ "mystery", "transpose", 10, 20, "transpose" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct test_trace *t = test_trace_new();
		mm(t, 1, 0, 50);
		launch(t, cases[i].first, 1, 10, cases[i].first_ns);
		launch(t, cases[i].second, 1, 40, cases[i].second_ns);
		struct counted *c = count(t);
		assert_string_equal(name_of(c, c->flops->ops[0].kernel), cases[i].expected);
	}
}

/* ---- steps --------------------------------------------------------------------------- */

/*
 * Steps [1000, 2000), [2000, 3000), [3000, …), the first one warm-up. In the
 * second two products, one of the autograd thread; the kernels run much later. One
 * product is in no step.
 */
TEST(steps_of_their_launches)
{
	struct test_trace *t = test_trace_new();

	for (int64_t i = 1; i <= 3; i++) {
		char name[40];
		snprintf(name, sizeof(name), "ProfilerStep#%" PRId64, i);
		test_annotation(t, name, 1, 1000 * i, 1000);
	}
	mm(t, 2, 100, 50);
	launch(t, "nvjet_tst", 2, 110, 50);
	mm(t, 1, 1100, 50);
	launch(t, "nvjet_tst", 1, 1110, 10);
	mm(t, 1, 2100, 50);
	launch(t, "nvjet_tst", 1, 2110, 20);
	mm(t, 2, 2200, 50);
	launch(t, "nvjet_tst", 2, 2210, 30);
	test_op_inputs(t, "aten::mm", 1, 3100, 50, "[[20, 3], [3, 4]]", MM_FLOAT, NULL);
	launch(t, "sgemm", 1, 3110, 40);
	test_kernel(t, "nvjet_tst", 0, 8, 3500, 60, 0); /* no launch: where it starts */
	struct counted *c = count_with(t, 1);

	assert_int_equal(c->timeline->steps[0].mark, TSCOPE_STEP_WARMUP);
	assert_string_equal(steps_text(c), "48 0 10 10\n"
					   "96 0 50 50\n"
					   "480 0 100 40\n"
					   "672 0 210 150\n");
	/* Of the counted steps alone: 2 · 48 and 2 · 20 · 3 · 4. */
	assert_true(c->flops->flops_of_precision[TSCOPE_PRECISION_BF16] == 96);
	assert_true(c->flops->flops_of_precision[TSCOPE_PRECISION_FP32] == 480);
	assert_string_equal(c->flops->precision, "fp32 83.3 %, bf16 16.7 %");
}

/* ---- repeated forward work ----------------------------------------------------------- */

#define ENGINE "autograd::engine::evaluate_function: "

/* An operator of forward work: it has a sequence number, and its thread is the forward's. */
static void forward_op(struct test_trace *t, const char *name, int64_t start_ns, int64_t dur_ns)
{
	test_op_args(t, name, 2, start_ns, dur_ns,
		     &(struct test_op_args){ .sequence = "5", .forward_thread = "0" });
}

static void node(struct test_trace *t, const char *name, int64_t start_ns, int64_t dur_ns)
{
	char engine[128];

	snprintf(engine, sizeof(engine), ENGINE "%s", name);
	test_op_args(t, engine, 2, start_ns, dur_ns,
		     &(struct test_op_args){ .sequence = "5", .forward_thread = "1" });
	test_op_args(t, name, 2, start_ns, dur_ns,
		     &(struct test_op_args){ .sequence = "5", .forward_thread = "1" });
}

static void product(struct test_trace *t, int64_t tid, int64_t at_ns)
{
	mm(t, tid, at_ns, 10);
	launch(t, "nvjet_tst", tid, at_ns + 5, 1);
}

/* A node of which only the engine's span is there, or only its own. */
static void half_a_node(struct test_trace *t, const char *name, bool is_engine)
{
	if (is_engine)
		test_op(t, name, 2, 100, 100);
	else
		test_op_args(t, name, 2, 100, 100,
			     &(struct test_op_args){ .sequence = "5", .forward_thread = "1" });
}

/* On a thread with steps, as that of a program that runs on the host alone. */
TEST(either_span_makes_a_node)
{
	for (int is_engine = 0; is_engine < 2; is_engine++) {
		struct test_trace *t = test_trace_new();
		test_annotation(t, "ProfilerStep#1", 2, 0, 1000);
		product(t, 1, 0);
		half_a_node(t, is_engine ? ENGINE "torch::autograd::AccumulateGrad" : "MyBackward",
			    is_engine);
		forward_op(t, "aten::linear", 110, 50);
		product(t, 2, 120);
		struct counted *c = count(t);
		assert_string_equal(ops_text(c), "aten::mm 2 1 48 2 nvjet_tst\n");
	}
}

/* A node that computes its forward work again, and then its own products. */
TEST(repeated_below_a_node)
{
	struct test_trace *t = test_trace_new();

	product(t, 1, 0);
	node(t, "ReluBackward0", 100, 400);
	forward_op(t, "aten::linear", 110, 50);
	product(t, 2, 120);
	product(t, 2, 200); /* no forward work: the node's */
	/* Reentrant checkpointing runs the inner backward pass below the outer node. */
	forward_op(t, "aten::linear", 300, 50);
	node(t, "AddmmBackward0", 305, 40);
	product(t, 2, 310);
	/* Behind the node, on the thread of the backward pass: of a hook, and forward work. */
	product(t, 2, 600);
	forward_op(t, "aten::linear", 700, 50);
	product(t, 2, 710);
	struct counted *c = count(t);

	assert_string_equal(ops_text(c), "aten::mm 6 2 48 6 nvjet_tst\n");
	assert_string_equal(steps_text(c), "288 96 6 6\n288 96 6 6\n");
}

struct nested {
	const char *outer; /* a node, or "": no node */
	bool wraps;        /* a forward operator around the product */
	bool is_forward;   /* the product itself has a sequence number */
	bool has_first;    /* the product has run outside the backward pass */
	int64_t repeated_count;
};

TEST(what_is_repeated)
{
	static const struct nested cases[] = {
		{ "ReluBackward0", true, false, true, 1 },
		{ "ReluBackward0", false, true, true, 1 },
		{ "ReluBackward0", false, false, true, 0 }, /* the node's own */
		{ "ReluBackward0", true, false, false, 0 }, /* it is the first one */
		{ "MmBackward0", true, false, true, 1 },
		{ "MmBackward0", false, true, true, 0 }, /* the derivative is recorded itself */
		{ "AddmmBackward0", false, true, true, 0 },
		{ "BmmBackward0", false, true, true, 0 },
		{ "ConvolutionBackward0", false, true, true, 1 },
		{ "", true, true, true, 0 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct test_trace *t = test_trace_new();
		struct test_op_args args = { .dims = MM_DIMS, .types = MM_HALF };
		if (cases[i].has_first)
			product(t, 1, 0);
		if (cases[i].outer[0])
			node(t, cases[i].outer, 100, 100);
		if (cases[i].wraps)
			forward_op(t, "aten::linear", 110, 50);
		if (cases[i].is_forward)
			args.sequence = "6";
		test_op_args(t, "aten::mm", 2, 120, 10, &args);
		launch(t, "nvjet_tst", 2, 125, 1);
		struct counted *c = count(t);
		if (c->flops->ops[0].repeated_count != cases[i].repeated_count)
			fail_msg("case %zu: %" PRId64, i, c->flops->ops[0].repeated_count);
		assert_true(c->flops->all.repeated_flops == 48.0 * (double)cases[i].repeated_count);
	}
}

/* ---- what the writer says ------------------------------------------------------------ */

TEST(flops_of_the_writer)
{
	static const struct {
		const char *name, *dims, *flops;
		const char *expected;
	} cases[] = {
		{ "aten::mm", MM_DIMS, "1000", "aten::mm 1 0 1000 9 k\n" },
		{ "aten::mm", NULL, "1000", "aten::mm 1 0 1000 9 k\n" },
		{ "my::op", NULL, "1e3", "my::op 1 0 1000 9 k\n" },
		{ "my::op", NULL, "0", "" },
		{ "aten::mm", MM_DIMS, "0", "aten::mm 1 0 48 9 k\n" },
		{ "aten::mm", MM_DIMS, "-5", "aten::mm 1 0 48 9 k\n" },
		{ "aten::mm", MM_DIMS, "1e999", "aten::mm 1 0 48 9 k\n" },
		{ "aten::mm", MM_DIMS, "NaN", "aten::mm 1 0 48 9 k\n" },
		{ "aten::mm", MM_DIMS, "\"many\"", "aten::mm 1 0 48 9 k\n" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct test_trace *t = test_trace_new();
		test_op_args(t, cases[i].name, 1, 0, 50,
			     &(struct test_op_args){ .dims = cases[i].dims,
						     .types = cases[i].dims ? MM_HALF : NULL,
						     .flops = cases[i].flops });
		launch(t, "k", 1, 10, 9);
		struct counted *c = count(t);
		if (strcmp(ops_text(c), cases[i].expected) != 0)
			fail_msg("case %zu: %s", i, c->text);
	}
}

/* The innermost that has FLOPs: a writer's on a wrapper do not count beside its product's. */
TEST(writer_and_formula)
{
	struct test_trace *t = test_trace_new();

	test_op(t, "my::block", 1, 0, 50); /* says nothing here */
	launch(t, "other", 1, 10, 2);
	test_op_args(t, "my::block", 1, 100, 90, &(struct test_op_args){ .flops = "5000" });
	mm(t, 1, 110, 20);
	launch(t, "nvjet_tst", 1, 115, 3);
	/* No type is recorded: the kernel tells it. */
	test_op_args(t, "my::block", 1, 200, 100, &(struct test_op_args){ .flops = "5000" });
	launch(t, "ampere_fp16_s16816gemm_fp16_128x64", 1, 215, 4);
	struct counted *c = count(t);

	assert_string_equal(ops_text(c), "aten::mm 1 0 48 3 nvjet_tst\nmy::block 1 0 5000 4 "
					 "ampere_fp16_s16816gemm_fp16_128x64\n");
	assert_int_equal(c->flops->ops[1].work.precision, TSCOPE_PRECISION_FP16);
	assert_true(isnan(c->flops->ops[1].work.bytes));
}

/* ---- precision and peak -------------------------------------------------------------- */

TEST(tf32_by_kernel)
{
	static const struct {
		const char *device, *kernel;
		enum tscope_precision precision;
	} cases[] = {
		{ "NVIDIA A100-SXM4-80GB", "ampere_sgemm_128x64_tn", TSCOPE_PRECISION_FP32 },
		{ "NVIDIA A100-SXM4-80GB", "cutlass_80_tensorop_s1688gemm_128x64",
		  TSCOPE_PRECISION_TF32 },
		{ "NVIDIA A100-SXM4-80GB", "mystery", TSCOPE_PRECISION_FP32 },
		{ "Tesla V100-SXM2-32GB", "cutlass_80_tensorop_s1688gemm_128x64",
		  TSCOPE_PRECISION_FP32 },
		{ "some other", "cutlass_80_tensorop_s1688gemm_128x64", TSCOPE_PRECISION_TF32 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct test_trace *t = test_trace_new();
		char properties[128];
		snprintf(properties, sizeof(properties), "[{\"id\": 0, \"name\": \"%s\"}]",
			 cases[i].device);
		test_metadata(t, "deviceProperties", properties);
		test_op_inputs(t, "aten::mm", 1, 0, 50, MM_DIMS, MM_FLOAT, NULL);
		/* The shorter one has no say. */
		launch(t, "ampere_sgemm_32x32", 1, 10, 8);
		launch(t, cases[i].kernel, 1, 20, 9);
		struct counted *c = count(t);
		assert_int_equal(c->flops->op_count, 1);
		if (c->flops->ops[0].work.precision != cases[i].precision)
			fail_msg("case %zu: %d", i, (int)c->flops->ops[0].work.precision);
	}
}

/* Convolutions are rounded to TF32 by default; ROCm's kernels say so if they are. */
TEST(convolutions_of_unknown_kernels)
{
	for (int is_rocm = 0; is_rocm < 2; is_rocm++) {
		struct test_trace *t = test_trace_new();
		if (is_rocm)
			test_metadata(t, "hip_runtime_version", "70051831");
		test_op_inputs(t, "aten::conv1d", 1, 0, 50,
			       "[[1, 3, 8], [4, 3, 2], [], [], [], [], []]",
			       "[\"float\", \"float\", \"\", \"ScalarList\", \"ScalarList\", "
			       "\"ScalarList\", \"Scalar\"]",
			       "[\"\", \"\", \"\", \"[1]\", \"[0]\", \"[1]\", \"1\"]");
		launch(t, "mystery", 1, 10, 8);
		struct counted *c = count(t);
		/* 2 · 1 · 4 out channels · 7 places · 3 in channels · 2 wide */
		assert_string_equal(ops_text(c), "aten::conv1d 1 0 336 8 mystery\n");
		assert_int_equal(c->flops->ops[0].work.precision,
				 is_rocm ? TSCOPE_PRECISION_FP32 : TSCOPE_PRECISION_TF32);
	}
}

/* 3 parts bf16 and 1 part fp32 on an A100, each with 48 FLOPs. */
TEST(peak_of_a_mix)
{
	struct test_trace *t = test_trace_new();

	test_metadata(t, "deviceProperties", A100);
	for (int64_t i = 0; i < 3; i++) {
		mm(t, 1, 100 * i, 50);
		launch(t, "nvjet_tst", 1, 100 * i + 10, 5);
	}
	test_op_inputs(t, "aten::mm", 1, 300, 50, MM_DIMS, MM_FLOAT, NULL);
	launch(t, "ampere_sgemm_128x64_tn", 1, 310, 5);
	struct counted *c = count(t);

	assert_string_equal(c->flops->device.device->name, "A100 SXM4 80GB");
	assert_string_equal(c->flops->device_name, "NVIDIA A100-SXM4-80GB");
	assert_string_equal(c->flops->precision, "bf16 75.0 %, fp32 25.0 %");
	assert_true(fabs(c->flops->peak_flops / (1 / (0.75 / 312e12 + 0.25 / 19.5e12)) - 1) <
		    1e-12);
	assert_string_equal(c->flops->no_peak, "");
	assert_true(tsi_peak_at(c->flops, TSCOPE_PRECISION_TF32) == 156e12);
	assert_true(isnan(tsi_peak_at(c->flops, TSCOPE_PRECISION_FP8)));
}

/* A part of the multiprocessors has a part of the peak: 42 of 108. */
TEST(peak_of_a_partition)
{
	struct test_trace *t = test_trace_new();

	test_metadata(t, "deviceProperties",
		      "[{\"id\": 0, \"name\": \"NVIDIA A100-SXM4-80GB MIG 3g.40gb\", "
		      "\"numSms\": 42, \"totalGlobalMem\": 42949672960}]");
	product(t, 1, 0);
	struct counted *c = count(t);
	assert_non_null(c->flops->device.device);
	assert_true(fabs(c->flops->peak_flops / (312e12 * 42 / 108) - 1) < 1e-12);
}

/* Without operators kernels tell the precision: 300 ns of bf16, 100 of fp32, 50 of nobody knows. */
TEST(peak_by_kernels)
{
	struct test_trace *t = test_trace_new();

	test_metadata(t, "deviceProperties", A100);
	test_kernel(t, "nvjet_tst", 0, 7, 0, 300, 0);
	test_kernel(t, "ampere_sgemm_128x64_tn", 0, 7, 1000, 100, 0);
	test_kernel(t, "triton_tem_fused_mm_3", 0, 7, 2000, 50, 0);
	struct counted *c = count(t);

	assert_string_equal(c->flops->precision, "bf16 75.0 %, fp32 25.0 %");
	assert_true(fabs(c->flops->peak_flops / (0.75 * 312e12 + 0.25 * 19.5e12) - 1) < 1e-12);
	assert_int_equal(c->flops->kernel_ns_of_precision[TSCOPE_PRECISION_UNKNOWN], 50);
}

/* Operands of 8 and 4 bits have peaks of their own. */
TEST(peaks_of_small_types)
{
	static const struct {
		const char *device, *kernel, *precision;
		double peak_flops;
	} cases[] = {
		{ "NVIDIA H100 80GB HBM3", "_w8a8_block_fp8_matmul", "fp8", 1979e12 },
		{ "NVIDIA A100-SXM4-80GB", "cutlass_80_tensorop_i16832gemm_s8_256x128", "int8",
		  624e12 },
		{ "NVIDIA B200", "bmm_E2m1_E2m1E2m1_Fp32_t128x128x256", "fp4", 9000e12 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct test_trace *t = test_trace_new();
		char properties[128];

		snprintf(properties, sizeof(properties), "[{\"id\": 0, \"name\": \"%s\"}]",
			 cases[i].device);
		test_metadata(t, "deviceProperties", properties);
		test_kernel(t, cases[i].kernel, 0, 7, 0, 300, 0);
		struct counted *c = count(t);
		assert_string_equal(c->flops->precision, cases[i].precision);
		assert_true(fabs(c->flops->peak_flops / cases[i].peak_flops - 1) < 1e-9);
	}
}

/* What most of the time is computed in has the word, though its FLOPs are not known. */
TEST(peak_where_few_flops_are_known)
{
	for (int are_few = 0; are_few < 2; are_few++) {
		struct test_trace *t = test_trace_new();

		test_metadata(t, "deviceProperties", A100);
		mm(t, 1, 0, 10);
		launch(t, "nvjet_tst", 1, 5, 100); /* bfloat16: the operands say so */
		test_kernel(t, "ampere_sgemm_128x64_tn", 0, 7, 3000000, are_few ? 300 : 90, 0);
		struct counted *c = count(t);
		assert_string_equal(c->flops->precision,
				    are_few ? "fp32 75.0 %, bf16 25.0 %" : "bf16");
	}
}

/* Kernels of no known kind may multiply: more than a tenth of the time is not overlooked. */
TEST(kernels_of_no_known_kind)
{
	for (int64_t other_ns = 10; other_ns <= 11; other_ns++) {
		struct test_trace *t = test_trace_new();

		mm(t, 1, 0, 10);
		launch(t, "nvjet_tst", 1, 5, 90);
		test_kernel(t, "mystery", 0, 7, 2000000, other_ns, 0);
		struct counted *c = count(t);
		assert_int_equal(c->flops->all.matrix_ns, other_ns == 11 ? 101 : 90);
		assert_int_equal(c->flops->all.counted_ns, 90);
	}
}

/* An A100 has no peak for fp8: 0.9 % of it does not matter, 1.5 % does. */
TEST(a_part_without_peak)
{
	for (int is_needed = 0; is_needed < 2; is_needed++) {
		struct test_trace *t = test_trace_new();
		int64_t fp8_ns = is_needed ? 15 : 9;

		test_metadata(t, "deviceProperties", A100);
		test_kernel(t, "nvjet_tst", 0, 7, 0, 1000 - fp8_ns, 0);
		test_kernel(t, "cutlass_gemm_e4m3", 0, 7, 2000, fp8_ns, 0);
		struct counted *c = count(t);
		assert_string_equal(c->flops->precision, is_needed ? "bf16 98.5 %, fp8 1.5 %"
								   : "bf16 99.1 %, fp8 0.9 %");
		assert_int_equal(isnan(c->flops->peak_flops), is_needed);
	}
}

/*
 * The device that multiplies most says what the peak is, whatever else the others do; where
 * others of another kind do 1 % of it, there is none.
 */
TEST(two_devices)
{
#define NO_PEAK(first, second)                                                                     \
	"different devices ran (" first ", " second "); pass a peak with --peak-tflops"
	static const struct {
		const char *names[2];
		const char *kernel; /* of the second; the first has 1000 ns of nvjet */
		int64_t ns;
		const char *device, *no_peak;
	} cases[] = {
		{ { "NVIDIA A100-SXM4-80GB", "Tesla T4" },
		  "elementwise",
		  5000,
		  "NVIDIA A100-SXM4-80GB",
		  "" },
		{ { "NVIDIA A100-SXM4-80GB", "Tesla T4" },
		  "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
		  5000,
		  "NVIDIA A100-SXM4-80GB",
		  "" },
		{ { "NVIDIA A100-SXM4-80GB", "Tesla T4" },
		  "gemm",
		  10,
		  "NVIDIA A100-SXM4-80GB",
		  "" },
		/* 11 of 1011 */
		{ { "NVIDIA A100-SXM4-80GB", "Tesla T4" },
		  "gemm",
		  11,
		  "NVIDIA A100-SXM4-80GB",
		  NO_PEAK("NVIDIA A100-SXM4-80GB", "Tesla T4") },
		{ { "NVIDIA A100-SXM4-80GB", "Tesla T4" },
		  "gemm",
		  2000,
		  "Tesla T4",
		  NO_PEAK("Tesla T4", "NVIDIA A100-SXM4-80GB") },
		{ { "NVIDIA A100-SXM4-80GB", "NVIDIA A100-SXM4-80GB" },
		  "gemm",
		  2000,
		  "NVIDIA A100-SXM4-80GB",
		  "" },
		{ { "NVIDIA A100-SXM4-80GB", "Zebra 9" },
		  "gemm",
		  500,
		  "NVIDIA A100-SXM4-80GB",
		  NO_PEAK("NVIDIA A100-SXM4-80GB", "Zebra 9") },
		{ { "Zebra 9", "NVIDIA A100-SXM4-80GB" },
		  "gemm",
		  500,
		  "Zebra 9",
		  NO_PEAK("Zebra 9", "NVIDIA A100-SXM4-80GB") },
		{ { "NVIDIA A100-SXM4-80GB", "" },
		  "gemm",
		  500,
		  "NVIDIA A100-SXM4-80GB",
		  NO_PEAK("NVIDIA A100-SXM4-80GB", "one without a name") },
		{ { "Zebra 9", "Zebra 10" },
		  "gemm",
		  500,
		  "Zebra 9",
		  NO_PEAK("Zebra 9", "Zebra 10") },
		{ { "Zebra 9", "Zebra 9" },
		  "gemm",
		  500,
		  "Zebra 9",
		  "Zebra 9 is not in the table of devices; pass its peak with --peak-tflops" },
	};
#undef NO_PEAK

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct test_trace *t = test_trace_new();
		char properties[256];
		snprintf(properties, sizeof(properties),
			 "[{\"id\": 0, \"name\": \"%s\"}, {\"id\": 1, \"name\": \"%s\"}]",
			 cases[i].names[0], cases[i].names[1]);
		test_metadata(t, "deviceProperties", properties);
		test_op_inputs(t, "aten::mm", 1, 0, 50, MM_DIMS, "[\"c10::Half\", \"c10::Half\"]",
			       NULL);
		launch(t, "nvjet_tst", 1, 10, 1000);
		test_kernel(t, cases[i].kernel, 1, 7, 2000, cases[i].ns, 0);
		struct counted *c = count(t);
		if (strcmp(c->flops->device_name, cases[i].device) != 0 ||
		    strcmp(c->flops->no_peak, cases[i].no_peak) != 0)
			fail_msg("case %zu: %s: %s", i, c->flops->device_name, c->flops->no_peak);
		assert_int_equal(isnan(c->flops->peak_flops), cases[i].no_peak[0] != '\0');
		assert_int_equal(c->flops->device.device == NULL, cases[i].no_peak[0] != '\0');
	}
}

/* A part of a device is another kind than the whole, and than another part. */
TEST(devices_and_partitions)
{
	for (int units = 42; units <= 56; units += 14) {
		struct test_trace *t = test_trace_new();
		char properties[256];
		snprintf(
			properties, sizeof(properties),
			"[{\"id\": 0, \"name\": \"NVIDIA A100-SXM4-80GB MIG 3g\", \"numSms\": 42}, "
			"{\"id\": 1, \"name\": \"NVIDIA A100-SXM4-80GB MIG 3g\", \"numSms\": %d}]",
			units);
		test_metadata(t, "deviceProperties", properties);
		product(t, 1, 0);
		test_kernel(t, "gemm", 1, 7, 2000, 1, 0);
		struct counted *c = count(t);
		assert_int_equal(c->flops->device.device != NULL, units == 42);
	}
}

/* Without products the device that computes most is the one that is meant. */
TEST(devices_without_products)
{
	struct test_trace *t = test_trace_new();

	test_metadata(t, "deviceProperties",
		      "[{\"id\": 0, \"name\": \"Tesla T4\"}, "
		      "{\"id\": 1, \"name\": \"NVIDIA A100-SXM4-80GB\"}]");
	test_kernel(t, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 0, 8, 0, 90000, 0);
	test_kernel(t, "elementwise", 0, 7, 0, 5, 0);
	test_kernel(t, "elementwise", 1, 7, 0, 1000, 0);
	struct counted *c = count(t);
	assert_string_equal(c->flops->device_name, "NVIDIA A100-SXM4-80GB");
	assert_string_equal(c->flops->device.device->name, "A100 SXM4 80GB");
}

TEST(why_there_is_no_peak)
{
	static const struct {
		const char *properties;
		const char *expected; /* begins with */
	} cases[] = {
		{ "[]", "unknown device; pass its peak with --peak-tflops" },
		{ "[{\"id\": 0, \"name\": \"\"}]",
		  "unknown device; pass its peak with --peak-tflops" },
		{ "[{\"id\": 0, \"name\": \"Tesla V100-SXM2-32GB\"}]",
		  "V100 SXM2 has no known peak for bf16; pass its peak with --peak-tflops" },
		{ "[{\"id\": 0, \"name\": \"Zebra 9\"}]",
		  "Zebra 9 is not in the table of devices" },
		/* The table knows the name, but not such a device. */
		{ "[{\"id\": 0, \"name\": \"NVIDIA H100 80GB HBM3\", \"numSms\": 133, "
		  "\"totalGlobalMem\": 85520809984}]",
		  "several devices are named NVIDIA H100 80GB HBM3, none with 133 multiprocessors "
		  "and 79 GiB; pass its peak with --peak-tflops" },
		{ "[{\"id\": 0, \"name\": \"NVIDIA H100 80GB HBM3\", \"numSms\": 133}]",
		  "several devices are named NVIDIA H100 80GB HBM3, none with 133 multiprocessors; "
		  "pass its peak with --peak-tflops" },
		{ "[{\"id\": 0, \"name\": \"NVIDIA H100 80GB HBM3 MIG 3g.40gb\"}]",
		  "several devices are named NVIDIA H100 80GB HBM3 MIG 3g.40gb and the trace has "
		  "no multiprocessor count; pass its peak with --peak-tflops" },
		/* 47 bytes and a character of two: no half of it is shown. */
		{ "[{\"id\": 0, \"name\": \"Zebra 90123456789012345678901234567890123456789\xc3\xa9"
		  "tail\"}]",
		  "Zebra 90123456789012345678901234567890123456789 is not in the table" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct test_trace *t = test_trace_new();
		test_metadata(t, "deviceProperties", cases[i].properties);
		product(t, 1, 0);
		struct counted *c = count(t);
		assert_true(isnan(c->flops->peak_flops));
		if (strncmp(c->flops->no_peak, cases[i].expected, strlen(cases[i].expected)) != 0)
			fail_msg("case %zu: %s", i, c->flops->no_peak);
		assert_string_equal(c->flops->precision, "bf16");
	}
}

/* What the trace says with its neighbours' names fits into the message as a whole. */
TEST(message_with_near_names)
{
	struct test_trace *t = test_trace_new();

	test_metadata(t, "deviceProperties", "[{\"id\": 0, \"name\": \"NVIDIA H100 Laptop\"}]");
	product(t, 1, 0);
	struct counted *c = count(t);
	assert_non_null(strstr(c->flops->no_peak, "(near: "));
	assert_non_null(strstr(c->flops->no_peak, "); pass its peak with --peak-tflops"));
}

/* A precision with less than 1 % of the FLOPs need not have a peak: 2 · 2 · 3 · 400 and 8. */
TEST(small_share_without_a_peak)
{
	struct test_trace *t = test_trace_new();

	test_metadata(t, "deviceProperties", "[{\"id\": 0, \"name\": \"Tesla V100-SXM2-32GB\"}]");
	test_op_inputs(t, "aten::mm", 1, 0, 50, "[[2, 3], [3, 400]]",
		       "[\"c10::Half\", \"c10::Half\"]", NULL);
	launch(t, "volta_h884gemm", 1, 10, 5);
	test_op_inputs(t, "aten::mm", 1, 100, 50, "[[2, 1], [1, 2]]", MM_HALF, NULL);
	launch(t, "k", 1, 110, 5);
	struct counted *c = count(t);
	assert_true(c->flops->flops_of_precision[TSCOPE_PRECISION_BF16] == 8);
	assert_string_equal(c->flops->precision, "fp16 99.8 %, bf16 0.2 %");
	assert_true(fabs(c->flops->peak_flops / 125e12 - 1) < 1e-12);
}

/* ---- hostile traces ------------------------------------------------------------------ */

TEST(absurd_numbers)
{
	static const char *const dims[] = {
		"[[-2, 3], [3, 4]]",
		"[[9223372036854775807, 9223372036854775807], [9223372036854775807, 9]]",
		"[[99999999999999999999, 3], [3, 1e300]]",
		"[[2, 3], [3",
		"[[[[[[2]]]]]]",
		"[]",
	};

	for (size_t i = 0; i < TSI_COUNT_OF(dims); i++) {
		struct test_trace *t = test_trace_new();
		test_metadata(t, "deviceProperties", A100);
		test_op_args(t, "aten::mm", 1, 0, 50,
			     &(struct test_op_args){ .dims = dims[i], .types = MM_HALF });
		launch(t, "nvjet_tst", 1, 10, 9);
		for (int64_t j = 0; j < 3; j++) {
			test_op_args(t, "my::op", 1, 100 + 100 * j, 50,
				     &(struct test_op_args){ .flops = "1e308" });
			launch(t, "nvjet_tst", 1, 110 + 100 * j, INT64_MAX / 4);
		}
		struct counted *c = count(t);
		assert_true(c->flops->all.matrix_ns >= c->flops->all.counted_ns);
	}
}

TEST(trace_without_operators)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "nothing", 1, 0, 100);
	struct counted *c = count(t);
	assert_string_equal(ops_text(c), "");
	assert_true(isnan(c->flops->peak_flops));
	assert_string_equal(c->flops->precision, "");
	tsi_trace_flops_free(NULL);
}

TEST(survives_failing_allocations)
{
	struct test_trace *t = test_trace_new();

	test_metadata(t, "deviceProperties", A100);
	for (int64_t i = 0; i < 20; i++) { /* of many shapes: the tables grow */
		char dims[64];
		snprintf(dims, sizeof(dims), "[[%d, 3], [3, 4]]", (int)i + 1);
		test_op_inputs(t, "aten::linear", 1, 100 * i, 90, LINEAR_DIMS, LINEAR_HALF, NULL);
		test_op_inputs(t, "aten::mm", 1, 100 * i + 10, 50, dims, MM_HALF, NULL);
		launch(t, i % 2 ? "nvjet_tst" : "sgemm", 1, 100 * i + 20, 5);
		test_kernel(t, i % 2 ? "fmha" : "gemm", 0, 8, 100 * i, 3, 0);
	}
	struct tscope_trace *trace = test_trace_finish(t);
	struct tscope_timeline *timeline = test_timeline(trace, NULL);
	struct alloc_sweep sweep = { 0 };
	while (alloc_sweep_next(&sweep)) {
		struct trace_flops *flops = NULL;
		struct arena arena = { 0 };
		alloc_sweep_start(&sweep);
		const uint8_t *kinds = tsi_kernel_kinds(trace, &arena);
		enum tscope_status status = tsi_arena_status(&arena, &sweep.err);
		if (status == TSCOPE_OK)
			status = tsi_trace_flops_new(&flops, trace, timeline, kinds, &sweep.err);
		alloc_sweep_check(&sweep, status);
		tsi_arena_deinit(&arena);
		if (sweep.has_failed)
			assert_null(flops);
		else
			assert_int_equal(flops->op_count, 20);
		tsi_trace_flops_free(flops);
	}
}
