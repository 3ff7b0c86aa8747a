/* SPDX-License-Identifier: MIT */
/* Operators whose work is not known, and texts that no writer would write. */
#include "analyze/ops/op_work.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "check.h"

static const struct op_work untouched = { .flops = 1, .bytes = 2, .alignment = 3 };

static void check_unknown(const char *name, struct str signature, struct str concrete,
			  enum op_work_result wanted)
{
	struct op_work work = untouched;
	enum op_work_result result = tsi_op_work(&work, tsi_str_of(name), signature, concrete);

	if (result != wanted)
		fail_msg("%s %.*s: result %d", name, TSI_QUOTE(signature), (int)result);
	assert_memory_equal(&work, &untouched, sizeof(work));
}

TEST(inputs_that_do_not_tell)
{
	static const struct {
		const char *name, *signature, *concrete;
	} cases[] = {
		{ "aten::mm", "", "" },
		{ "aten::mm", "[] ", "" },
		{ "aten::mm", "[[], []] , ", "" },
		{ "aten::mm", "[[8, 16]] float", "" },
		{ "aten::mm", "[[8, 16], [8, 16]] float, float", "" }, /* 16 is not 8 */
		{ "aten::mm", "[[8, -1], [-1, 16]] float, float", "" },
		{ "aten::mm", "[[[8, 16]], [16, 4]] TensorList, float", "" },
		{ "aten::bmm", "[[3, 8, 16], [2, 16, 4]] float, float", "" },
		{ "aten::mv", "[[8, 16], []] float, float", "" },
		{ "aten::linear", "[[8, 16], [8, 4]] float, float", "" },
		{ "aten::linear", "[[8, 16], [2, 8, 16]] float, float", "" },
		{ "aten::_grouped_mm", "[[100, 16], [4, 8, 16]] float, float", "" },
		{ "aten::_grouped_mm", "[[16], [4, 16, 8]] float, float", "" },
		{ "vllm::moe_forward", "[[32, 3072], [32, 32], [], []] float, float, , ", "" },
		/* two 4-bit numbers in each byte */
		{ "vllm::outplace_fused_experts",
		  "[[16, 64], [8, 192, 32], [8, 64, 48], [16, 2]] float, unsigned char, unsigned "
		  "char, float",
		  "" },
		{ "vllm::outplace_fused_experts",
		  "[[16, 64], [8, 100, 64], [8, 64, 60], [16, 2]] float, float, float, float", "" },
		/* no stride, no padding; as traces until 2.0 have it */
		{ "aten::cudnn_convolution", "[[2, 4, 10], [6, 4, 3], [], [], [], []] float, float",
		  "" },
		{ "aten::convolution",
		  "[[2, 4, 10], [6, 4, 3], [], [], [], [], [], [], []] float, float",
		  "[, , , [1], [0], [1], , [0], 1]" }, /* transposed or not? */
		{ "aten::conv1d", "[[2, 4, 10], [6, 4, 3], [], [], [], [], []] float, float",
		  "[, , , [0], [0], [1], 1]" },
		{ "aten::conv1d", "[[2, 4, 10], [6, 4, 3], [], [], [], [], []] float, float",
		  "[, , , [1, 1], [0], [1], 1]" },
		{ "aten::conv1d", "[[2, 4, 10], [6, 4, 11], [], [], [], [], []] float, float",
		  "[, , , [1], [0], [1], 1]" },
		{ "aten::conv1d", "[[2, 5, 10], [6, 4, 3], [], [], [], [], []] float, float",
		  "[, , , [1], [0], [1], 1]" },
		{ "aten::conv1d", "[[10], [6, 4, 3], [], [], [], [], []] float, float",
		  "[, , , [1], [0], [1], 1]" },
		{ "aten::conv1d", "[[2, 4], [6, 4], [], [], [], [], []] float, float",
		  "[, , , [1], [0], [1], 1]" },
		{ "aten::conv_transpose1d", "[[2, 4, 10], [6, 4, 3]] float, float", "" },
		{ "aten::conv_transpose1d",
		  "[[2, 4, 10], [4, 6, 3], [], [], [], [], [], []] float, float",
		  "[, , , [1], [0], [0], -2, [1]]" },
		{ "aten::convolution_backward",
		  "[[2, 6, 8], [2, 4, 10], [6, 4, 3], [], [], [], [], [], [], [], []]", "" },
		{ "aten::convolution_backward",
		  "[[2, 6, 8], [2, 4, 10], [6, 4, 3], [], [], [], [], [], [], [], []]",
		  "[, , , , , , , False, , 1, [True, Maybe]]" },
		{ "aten::convolution_backward",
		  "[[2, 5, 8], [2, 4, 10], [6, 4, 3], [], [], [], [], [], [], [], []]",
		  "[, , , , , , , False, , 1, [True, True, True]]" },
		{ "aten::cudnn_convolution_backward_weight",
		  "[[], [2, 6, 8], [2, 4, 10]] GenericList, float, float", "" },
		{ "aten::scaled_dot_product_attention", "[[], [], []] , , ",
		  "" }, /* nested tensors */
		{ "aten::scaled_dot_product_attention", "[[10], [10], [10]] float, float, float",
		  "" },
		{ "aten::_scaled_dot_product_flash_attention",
		  "[[2, 4, 10, 32], [2, 3, 10, 32], [2, 3, 10, 32]] float, float, float", "" },
		{ "aten::_scaled_dot_product_flash_attention",
		  "[[2, 4, 10, 32], [2, 4, 20, 16], [2, 4, 20, 32]] float, float, float", "" },
		{ "aten::_scaled_dot_product_flash_attention",
		  "[[2, 4, 10, 32], [2, 4, 20, 32], [2, 4, 10, 32]] float, float, float", "" },
		{ "aten::_scaled_dot_product_flash_attention",
		  "[[2, 4, 10, 32], [0, 4, 20, 32], [0, 4, 20, 32]] float, float, float", "" },
		/* sequences of different lengths: 3 of at most 11 are not 30 */
		{ "aten::_flash_attention_forward",
		  "[[30, 4, 32], [60, 4, 32], [60, 4, 32], [4], [4], [], []]"
		  " c10::Half, c10::Half, c10::Half, int, int, Scalar, Scalar",
		  "[, , , , , 11, 20]" },
		{ "aten::_flash_attention_forward",
		  "[[30, 4, 32], [60, 4, 32], [60, 4, 32], [4], [4], [], []]"
		  " c10::Half, c10::Half, c10::Half, int, int, Scalar, Scalar",
		  "" },
		{ "aten::_flash_attention_forward",
		  "[[2, 10], [2, 10], [2, 10], [4], [4], [], []]"
		  " c10::Half, c10::Half, c10::Half, int, int, Scalar, Scalar",
		  "[, , , , , 10, 20]" },
		{ "FlashAttnVarlenFunc",
		  "[[30, 4, 32], [60, 4, 32], [60, 4, 32], [4], [4]] "
		  "c10::Half, c10::Half, c10::Half"
		  ", int, int",
		  "" },
		/* a cache of which only a part is used, one of pages */
		{ "flash_attn_3::fwd",
		  "[[2, 1, 4, 32], [2, 512, 4, 32], [2, 512, 4, 32], [], [], [], [], [], [], [], "
		  "[], [2]] "
		  "c10::Half, c10::Half, c10::Half, , , , , , , , , int",
		  "" },
		{ "flash_attn_3::fwd",
		  "[[2, 1, 4, 32], [99, 16, 4, 32], [99, 16, 4, 32], [], [], [], [], [], [], [], "
		  "[], [2]] "
		  "c10::Half, c10::Half, c10::Half"
		  ", , , , , , , , , int",
		  "" },
		/* 6 heads cannot share 4 of k; sizes that differ; no types */
		{ "vllm::unified_attention_with_output",
		  "[[32, 6, 64], [32, 4, 64], [32, 4, 64]] c10::Half, c10::Half, c10::Half", "" },
		{ "vllm::unified_attention",
		  "[[32, 8, 64], [32, 8, 32], [32, 8, 64]] c10::Half, c10::Half, c10::Half", "" },
		{ "sglang_profiler::attention_paged_attention_ragged_3",
		  "[[32, 8, 64], [99], [32, 8, 64]] c10::Half, char, c10::Half", "" },
		{ "FlashAttnFuncBackward", "[[2, 10, 4, 32]] c10::BFloat16", "" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		check_unknown(cases[i].name, tsi_str_of(cases[i].signature),
			      tsi_str_of(cases[i].concrete), OP_WORK_NO_INPUTS);
		assert_true(tsi_op_multiplies(tsi_str_of(cases[i].name)));
	}
}

/* 2 · 64 heads · (64 + 64) FLOPs a pair; of a key 8 heads · (64 + 64) · 2 bytes. */
TEST(attention_over_a_cache)
{
	static const struct {
		const char *name, *signature;
		bool is_cache_typed;
	} cases[] = {
		{ "vllm::unified_attention_with_output",
		  "[[32, 64, 64], [32, 8, 64], [32, 8, 64], [32, 64, 64]] "
		  "c10::BFloat16, c10::BFloat16, c10::BFloat16, c10::BFloat16",
		  false },
		{ "sglang_profiler::attention_paged_attention_ragged_100",
		  "[[32, 64, 64], [9000], [32, 64, 64], [835874, 1, 8, 64], [835874, 1, 8, 64]] "
		  "c10::BFloat16, unsigned char, c10::BFloat16, c10::BFloat16, c10::BFloat16",
		  true },
	};
	struct op_work work;

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		assert_int_equal(tsi_op_work(&work, tsi_str_of(cases[i].name),
					     tsi_str_of(cases[i].signature), TSI_STR("")),
				 OP_WORK_BY_CONTEXT);
		assert_true(work.paged.pair_flops == 16384);
		assert_true(work.paged.key_bytes == 2048);
		assert_true(work.paged.token_bytes == 16384);
		assert_true(work.paged.tokens == 32);
		assert_int_equal(work.paged.is_cache_typed, cases[i].is_cache_typed);
		assert_int_equal(work.precision, TSCOPE_PRECISION_BF16);
		assert_int_equal(work.kind, KERNEL_ATTENTION);
		assert_true(tsi_op_multiplies(tsi_str_of(cases[i].name)));
	}
}

TEST(operators_without_a_formula)
{
	static const char *const names[] = { "",   "aten::m",      "aten::mm ",
					     "mm", "aten::einsum", "MmBackward0" };

	for (size_t i = 0; i < TSI_COUNT_OF(names); i++) {
		check_unknown(names[i], TSI_STR("[[8, 16], [16, 4]] float, float"), TSI_STR(""),
			      OP_WORK_NO_MODEL);
		assert_false(tsi_op_multiplies(tsi_str_of(names[i])));
	}
}

/* What only moves bytes is the other table's, and multiplies nothing. */
TEST(operators_that_move)
{
	struct op_work work;

	assert_int_equal(
		tsi_op_work(&work, TSI_STR("aten::relu"), TSI_STR("[[8, 16]] float"), TSI_STR("")),
		OP_WORK_KNOWN);
	assert_true(work.flops == 0 && work.bytes == 4.0 * 2 * 8 * 16);
	assert_false(tsi_op_multiplies(TSI_STR("aten::relu")));
}

/* Sizes that no tensor has, with every operator: no product overflows, nothing is made of them. */
TEST(hostile_sizes)
{
	static const char *const names[] = { "aten::mm",
					     "aten::linear",
					     "aten::matmul",
					     "aten::_grouped_mm",
					     "aten::convolution",
					     "aten::conv_transpose2d",
					     "aten::convolution_backward",
					     "aten::_flash_attention_forward",
					     "aten::scaled_dot_product_attention",
					     "vllm::inplace_fused_experts" };
	static const char *const signatures[] = {
		"[[9223372036854775807, 2], [2, 9223372036854775807], [2]]",
		"[[9223372036854775807, 9223372036854775807], [9223372036854775807, "
		"9223372036854775807]]",
		"[[4294967296, 4294967296, 1, 1], [4294967296, 4294967296, 1, 1], [4294967296, "
		"4294967296, 1, 1]]",
		"[[99999999999999999999999, 2], [2, 2]]",
		"[[1e300, 2], [2, 2]]",
		"[[8.5, 2], [2, 2]]",
		"[[-9223372036854775808, 2], [2, 2]]",
		"[[8, 16], [16, 4",
		"[[8, 16], [16, 4]",
		"[",
		"]",
		"[[[[[[[[",
		"[[8, 16]]]]]] float",
		"[,,,,]",
		"[[,], [,]]",
		"[[8 16], [16 4]]",
		"[8, 16]",
		"null",
		"[null, null]",
		"[[1, 1, 1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1, "
		"1, 1]]",
	};

	for (size_t i = 0; i < TSI_COUNT_OF(names); i++)
		for (size_t k = 0; k < TSI_COUNT_OF(signatures); k++)
			check_unknown(names[i], tsi_str_of(signatures[k]),
				      TSI_STR("[, , , [1], [0], [1], False, [0], 1, , [True]]"),
				      OP_WORK_NO_INPUTS);
}

TEST(hostile_arguments)
{
	static const char *const concretes[] = {
		"",
		"[",
		"[, , , [1], [0",
		"[, , , [9223372036854775808], [0], [1], False, [0], 1]",
		"[, , , [1], [9223372036854775807], [1], False, [0], 1]",
		"[, , , [1], [-9223372036854775808], [1], False, [0], 1]",
		"[, , , [1], [0], [9223372036854775807], False, [0], 1]",
		"[, , , [-1], [0], [1], False, [0], 1]",
		"[, , , [1], [0], [0], False, [0], 1]",
		"[, , , [0], [0], [1], False, [0], 1]",
		"[, , , [1, 1, 1, 1, 1, 1, 1, 1, 1], [0], [1], False, [0], 1]",
		"[, , , [], [0], [1], False, [0], 1]",
		"[, , , [1], [0], [1], 1, [0], 1]",
		"[, , , [1], [0], [1], False, [, ], 1]",
	};

	for (size_t i = 0; i < TSI_COUNT_OF(concretes); i++)
		check_unknown(
			"aten::convolution",
			TSI_STR("[[2, 4, 10], [6, 4, 3], [], [], [], [], [], [], []] float, float"),
			tsi_str_of(concretes[i]), OP_WORK_NO_INPUTS);
}

/* A million dims, inputs, brackets: read once, from memory of exactly that size. */
TEST(long_texts)
{
	static const char *const pieces[] = { "[", "]", "1, ", "[1], ", "[[", ",", "[8, 16], " };
	enum { LENGTH = 1000000 };
	char *text = malloc(LENGTH);

	assert_non_null(text);
	for (size_t i = 0; i < TSI_COUNT_OF(pieces); i++) {
		size_t piece = strlen(pieces[i]);
		for (size_t at = 0; at < LENGTH; at++)
			text[at] = pieces[i][at % piece];
		text[0] = '[';
		for (unsigned closes = 0; closes < 3; closes++) {
			for (unsigned k = 0; k < closes; k++)
				text[LENGTH - 1 - k] = ']';
			check_unknown("aten::mm", (struct str){ text, LENGTH },
				      (struct str){ text, LENGTH }, OP_WORK_NO_INPUTS);
		}
	}
	free(text);
}

/* Every beginning of a signature, in memory that ends there. */
TEST(cut_texts)
{
	static const char signature[] =
		"[[2, 4, 10], [6, 4, 3], [], [], [], [], [], [], []] float, float";
	static const char concrete[] = "[, , , [1], [0], [1], False, [0], 1]";
	struct op_work work;

	for (size_t i = 0; i < sizeof(signature); i++) {
		for (size_t k = 0; k < sizeof(concrete); k++) {
			char *a = malloc(i + 1), *b = malloc(k + 1);
			assert_true(a && b);
			memcpy(a, signature, i);
			memcpy(b, concrete, k);
			enum op_work_result result =
				tsi_op_work(&work, TSI_STR("aten::convolution"),
					    (struct str){ a, i }, (struct str){ b, k });
			bool is_whole = i >= strlen("[[2, 4, 10], [6, 4, 3], [], [], [], [], [], "
						    "[], []]") &&
					k == sizeof(concrete) - 1;
			assert_int_equal(result == OP_WORK_KNOWN, is_whole);
			free(a);
			free(b);
		}
	}
}
