/* SPDX-License-Identifier: MIT */
/*
 * Operators of inference engines whose FLOPs follow from more than their arguments: attention by
 * the contexts that the iteration's annotation says, experts by the tensors within.
 */
#include "analyze/ops/trace_flops.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "analyze/ops/kernel_vote.h"
#include "base/attributes.h"
#include "check.h"
#include "trace_builder.h"

#define BF16 "\"c10::BFloat16\""
#define ATTENTION "vllm::unified_attention_with_output"
#define MI300X                                                                                     \
	"[{\"id\": 0, \"name\": \"AMD Instinct MI300X\", \"numSms\": 304, "                        \
	"\"totalGlobalMem\": 206141652992}]"

/* "aten::mm 1 48; vllm::moe_forward 2 1024 | moe_kernel no_inputs": counted, and what is not. */
static const char *count(struct test_trace *t)
{
	static const char *const reasons[] = { "no_operator", "no_model", "no_inputs" };
	static char text[1024];
	struct tscope_timeline_options options = { 0 };
	struct tscope_trace *trace = test_trace_finish(t);
	struct trace_flops *flops;
	struct arena arena = { 0 };
	size_t used = 0;
	struct tscope_timeline *timeline = test_timeline(trace, &options);

	assert_int_equal(
		tsi_trace_flops_new(&flops, trace, timeline, tsi_kernel_kinds(trace, &arena), NULL),
		TSCOPE_OK);
	text[0] = '\0';
	for (size_t i = 0; i < flops->op_count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s %" PRId64 " %.0f;",
					 tsi_intern_text(&trace->names, flops->ops[i].name).data,
					 flops->ops[i].count, flops->ops[i].work.flops);
	for (size_t i = 0; i < flops->uncounted_count; i++)
		used += (size_t)snprintf(
			text + used, sizeof(text) - used, " | %s %s",
			tsi_intern_text(&trace->names, flops->uncounted[i].kernel).data,
			reasons[flops->uncounted[i].reason]);
	tsi_trace_flops_free(flops);
	tsi_arena_deinit(&arena);
	return text;
}

/* 4 heads of 16 on 2 of the cache: 256 FLOPs a pair, 128 bytes a key. */
static void attention(struct test_trace *t, int64_t start_ns, int64_t dur_ns, uint64_t correlation)
{
	test_op_inputs(t, ATTENTION, 1, start_ns, 100, "[[4, 4, 16], [4, 2, 16], [4, 2, 16]]",
		       "[" BF16 ", " BF16 ", " BF16 "]", NULL);
	test_call(t, "hipModuleLaunchKernel", 1, start_ns + 10, 5, correlation);
	test_kernel(t, "kernel_unified_attention_2d", 0, 3, start_ns + 200, dur_ns, correlation);
}

static void iteration(struct test_trace *t, const char *sizes, int64_t start_ns)
{
	char name[128];

	snprintf(name, sizeof(name), "execute_4_context_0(sq0sk0sqsq0sqsk0)_generation_%s", sizes);
	test_annotation(t, name, 1, start_ns, 90000);
}

TEST(attention_counts_the_contexts_of_its_iteration)
{
	struct test_trace *t = test_trace_new();

	iteration(t, "4(sq4sk1000sqsq4sqsk1000)", 0);
	attention(t, 100, 5000, 1);
	attention(t, 10000, 5000, 2);
	iteration(t, "3(sq3sk2000sqsq3sqsk2000)", 100000);
	attention(t, 100100, 5000, 3);
	/* 256 · (1000 + 1000 + 2000) ÷ 3 calls */
	assert_string_equal(count(t), ATTENTION " 3 341333;");
}

TEST(attention_is_not_known_without_contexts)
{
	static const char *const annotations[] = {
		"4(4)",                      /* no keys */
		"5(sq5sk1000sqsq5sqsk1000)", /* more tokens than the operator has room for */
		"4(sq4sk1000sqsq4sqskmany)",
	};

	for (size_t i = 0; i < TSI_COUNT_OF(annotations); i++) {
		struct test_trace *t = test_trace_new();
		iteration(t, annotations[i], 0);
		attention(t, 100, 5000, 1);
		assert_string_equal(count(t), " | kernel_unified_attention_2d no_inputs");
	}
	struct test_trace *t = test_trace_new();
	attention(t, 100, 5000, 1);
	assert_string_equal(count(t), " | kernel_unified_attention_2d no_inputs");
}

/* 128,001,024 bytes take 24.2 µs at 5.3 TB/s: where it took less, not all keys were read. */
TEST(a_window_is_not_taken_for_the_whole_context)
{
	struct test_trace *t = test_trace_new();

	test_metadata(t, "deviceProperties", MI300X);
	iteration(t, "4(sq4sk1000000sqsq4sqsk1000000)", 0);
	attention(t, 100, 24000, 1);
	attention(t, 40000, 24200, 2);
	assert_string_equal(count(t), ATTENTION " 1 256000000; | kernel_unified_attention_2d "
						"no_inputs");
}

/* Experts of [4, 64] tokens, 8 of them, with the tensors of what is within. */
static void experts(struct test_trace *t, int64_t start_ns, const char *const *dims, size_t count,
		    uint64_t correlation)
{
	test_op_inputs(t, "vllm::moe_forward", 1, start_ns, 1000, "[[4, 64], [4, 8], [], []]",
		       "[" BF16 ", " BF16 ", \"\", \"\"]", NULL);
	for (size_t i = 0; i < count; i++)
		test_op_inputs(t, "aten::view", 1, start_ns + 10 + 20 * (int64_t)i, 10, dims[i],
			       "[" BF16 ", \"\"]", NULL);
	test_call(t, "hipModuleLaunchKernel", 1, start_ns + 900, 5, correlation);
	test_kernel(t, "fused_moe_kernel", 0, 3, start_ns + 2000, 5000, correlation);
}

TEST(experts_count_the_tensors_within)
{
	static const struct {
		const char *dims[3];
		const char *counted;
	} cases[] = {
		/* 2 · 8 rows · 64 · (96 up with a gate + 48 down) */
		{ { "[[8, 64, 96], []]", "[[1, 8, 48], []]", "[[8, 48, 64], []]" },
		  "vllm::moe_forward 1 147456;" },
		/* two numbers to an element */
		{ { "[[8, 32, 96], []]", "[[8, 24, 64], []]", "[[8, 48], []]" },
		  "vllm::moe_forward 1 147456;" },
		/* the other way round, no gate: 2 · 8 · 64 · (48 + 48) */
		{ { "[[8, 48, 64], []]", "[[8, 64, 48], []]", "[[8, 48], []]" },
		  "vllm::moe_forward 1 98304;" },
		/* no layer down; 40 is neither 48 nor 96; 7 rows of 4 tokens; more rows than experts */
		{ { "[[8, 64, 96], []]", "[[1, 8, 48], []]", "[[8, 48], []]" }, NULL },
		{ { "[[8, 64, 96], []]", "[[8, 40, 64], []]", "[[8, 40], []]" }, NULL },
		{ { "[[8, 64, 96], []]", "[[8, 48, 64], []]", "[[7, 48], []]" }, NULL },
		{ { "[[8, 64, 96], []]", "[[8, 48, 64], []]", "[[36, 48], []]" }, NULL },
		{ { "[[8, 64, 96], []]", "[[8, 48, 64], []]", "[[7, 50], []]" }, NULL },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct test_trace *t = test_trace_new();
		experts(t, 0, cases[i].dims, 3, 1);
		assert_string_equal(count(t), cases[i].counted ? cases[i].counted
							       : " | fused_moe_kernel no_inputs");
	}
}

/*
 * An expert has 2 · (64 · 96 + 48 · 64) bytes, tokens of [t, 64] in and out 256 · t. The rows of t
 * tokens choose k experts at least, and as many as there are rows at most; one token knows.
 */
TEST(experts_are_read_as_routing_wants)
{
	static const struct {
		const char *tokens, *weights;
		double bytes, least, most;
	} cases[] = {
		{ "[4, 64]", "[4, 2]", 0, 2 * 18432 + 1024, 8 * 18432 + 1024 },
		{ "[2, 64]", "[2, 2]", 0, 2 * 18432 + 512, 4 * 18432 + 512 },
		{ "[1, 64]", "[1, 2]", 2 * 18432 + 256, 2 * 18432 + 256, 2 * 18432 + 256 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		char signature[256];
		struct op_work work;

		snprintf(signature, sizeof(signature),
			 "[%s, [8, 96, 64], [8, 64, 48], %s] c10::BFloat16, c10::BFloat16, "
			 "c10::BFloat16, c10::BFloat16",
			 cases[i].tokens, cases[i].weights);
		assert_int_equal(tsi_op_work(&work, TSI_STR("vllm::inplace_fused_experts"),
					     tsi_str_of(signature), TSI_STR("")),
				 OP_WORK_KNOWN);
		assert_true(cases[i].bytes > 0 ? work.bytes == cases[i].bytes : isnan(work.bytes));
		assert_true(work.least_bytes == cases[i].least);
		assert_true(work.most_bytes == cases[i].most);
	}
}

TEST(experts_that_differ_are_not_known)
{
	static const char *const first[] = { "[[8, 64, 96], []]", "[[8, 48, 64], []]",
					     "[[8, 48], []]" };
	static const char *const other[] = { "[[8, 64, 32], []]", "[[8, 16, 64], []]",
					     "[[8, 16], []]" };
	struct test_trace *t = test_trace_new();

	experts(t, 0, first, 3, 1);
	experts(t, 10000, other, 3, 2);
	experts(t, 20000, first, 3, 3);
	assert_string_equal(count(t), "vllm::moe_forward 2 147456; | fused_moe_kernel no_inputs");
}
