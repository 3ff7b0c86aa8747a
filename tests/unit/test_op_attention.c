/* SPDX-License-Identifier: MIT */
/* FLOPs and bytes of attention. Expected values are the arithmetic itself, from the sizes. */
#include "analyze/ops/op_work.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "check.h"
#include "op_check.h"

#define QKV "c10::BFloat16, c10::BFloat16, c10::BFloat16"

TEST(attention)
{
	static const struct op_case cases[] = {
		/* 2 × 4 heads, 10 of q see 20 of k: a product with 32, one with 16 */
		{ "aten::scaled_dot_product_attention",
		  "[[2, 4, 10, 32], [2, 4, 20, 32], [2, 4, 20, 16], [], [], [], [], []] " QKV,
		  "[, , , , 0., False, , False]", 2.0 * 2 * 4 * 10 * 20 * (32 + 16),
		  2.0 * 8 * (10 * 32 + 20 * 32 + 20 * 16 + 10 * 16), BF16, 16 },
		/* causal: the whole square; 1 head of k for 4 of q */
		{ "aten::_scaled_dot_product_flash_attention",
		  "[[2, 4, 10, 32], [2, 1, 10, 32], [2, 1, 10, 32], [], [], [], []] " QKV,
		  "[, , , 0., True, False, ]", 2.0 * 2 * 4 * 10 * 10 * (32 + 32),
		  2.0 * 2 * (2 * 4 * 10 * 32 + 2 * 10 * 32), BF16, 16 },
		{ "aten::scaled_dot_product_attention",
		  "[[10, 24], [20, 24], [20, 24]] float, float, float", "",
		  2.0 * 10 * 20 * (24 + 24), 4.0 * 24 * (10 + 20 + 20 + 10), FP32, 8 },
		{ "aten::_scaled_dot_product_efficient_attention",
		  "[[2, 4, 10, 32], [2, 4, 20, 32], [2, 4, 20, 32], [], []] float, float, float",
		  "", 2.0 * 8 * 10 * 20 * 64, 4.0 * 8 * 32 * (10 + 20 + 20 + 10), FP32, 16 },
		{ "aten::_scaled_dot_product_cudnn_attention",
		  "[[2, 4, 10, 32], [2, 4, 20, 32], [2, 4, 20, 32], [], []] " QKV, "",
		  2.0 * 8 * 10 * 20 * 64, 2.0 * 8 * 32 * (10 + 20 + 20 + 10), BF16, 16 },
		{ "aten::_scaled_dot_product_flash_attention_for_cpu",
		  "[[2, 4, 10, 32], [2, 4, 20, 32], [2, 4, 20, 32]] " QKV, "",
		  2.0 * 8 * 10 * 20 * 64, 2.0 * 8 * 32 * (10 + 20 + 20 + 10), BF16, 16 },
		{ "aten::_scaled_dot_product_fused_attention_overrideable",
		  "[[2, 4, 10, 32], [2, 4, 20, 32], [2, 4, 20, 32]] " QKV, "",
		  2.0 * 8 * 10 * 20 * 64, 2.0 * 8 * 32 * (10 + 20 + 20 + 10), BF16, 16 },
		/* no batch */
		{ "aten::scaled_dot_product_attention",
		  "[[0, 4, 10, 32], [0, 4, 10, 32], [0, 4, 10, 32]] " QKV, "", 0, 0, BF16, 16 },
		/* heads behind the sequence: 10 positions, 4 heads of q, 2 of k and v */
		{ "aten::_flash_attention_forward",
		  "[[2, 10, 4, 32], [2, 20, 2, 32], [2, 20, 2, 32], [], [], [], [], [], [], [], "
		  "[], [], [], [], []] " QKV
		  ", , , Scalar, Scalar, Scalar, Scalar, Scalar, Scalar, , , , ",
		  "[, , , , , 10, 20, 0., False, False, , , , , ]", 2.0 * 2 * 4 * 10 * 20 * 64,
		  2.0 * 2 * 32 * (10 * 4 + 20 * 2 + 20 * 2 + 10 * 4), BF16, 16 },
		{ "aten::_efficient_attention_forward",
		  "[[2, 10, 4, 32], [2, 20, 4, 32], [2, 20, 4, 32], [], [], []] " QKV, "",
		  2.0 * 2 * 4 * 10 * 20 * 64, 2.0 * 8 * 32 * (10 + 20 + 20 + 10), BF16, 16 },
		{ "aten::_cudnn_attention_forward",
		  "[[2, 4, 10, 32], [2, 4, 20, 32], [2, 4, 20, 32], [], [], []] " QKV, "",
		  2.0 * 2 * 4 * 10 * 20 * 64, 2.0 * 8 * 32 * (10 + 20 + 20 + 10), BF16, 16 },
		{ "aiter::fmha_v3_fwd",
		  "[[1, 768, 24, 128], [1, 768, 24, 128], [1, 768, 24, 128]] " QKV, "",
		  2.0 * 24 * 768 * 768 * 256, 2.0 * 4 * 768 * 24 * 128, BF16, 16 },
		{ "flash_attn::_flash_attn_forward",
		  "[[2, 10, 4, 36], [2, 20, 4, 36], [2, 20, 4, 36]] " QKV, "",
		  2.0 * 2 * 4 * 10 * 20 * 72, 2.0 * 8 * 36 * (10 + 20 + 20 + 10), BF16, 4 },
		{ "flash_attn_3::fwd",
		  "[[2, 10, 4, 32], [2, 20, 4, 32], [2, 20, 4, 32], [], [], [], [], [], []] " QKV,
		  "", 2.0 * 2 * 4 * 10 * 20 * 64, 2.0 * 8 * 32 * (10 + 20 + 20 + 10), BF16, 16 },
	};

	check_op_cases(cases, TSI_COUNT_OF(cases), KERNEL_ATTENTION);
}

#define DQKV "c10::BFloat16, " QKV ", c10::BFloat16, float"

/* q × k again, the gradients of q and k: three products of 32; of the scores and v: two of 16. */
TEST(attention_backward)
{
	static const struct op_case cases[] = {
		{ "aten::_scaled_dot_product_flash_attention_backward",
		  "[[2, 4, 10, 16], [2, 4, 10, 32], [2, 4, 20, 32], [2, 4, 20, 16], [2, 4, 10, "
		  "16], [2, 4, 10]] " DQKV,
		  "", 2.0 * 2 * 4 * 10 * 20 * (3 * 32 + 2 * 16),
		  2.0 * 8 * 2 * (10 * 32 + 20 * 32 + 20 * 16 + 10 * 16), BF16, 16 },
		{ "aten::_scaled_dot_product_efficient_attention_backward",
		  "[[2, 4, 10, 32], [2, 4, 10, 32], [2, 4, 20, 32], [2, 4, 20, 32], [], [2, 4, 10, "
		  "32]] " DQKV,
		  "", 2.5 * 2.0 * 2 * 4 * 10 * 20 * 64, 2 * 2.0 * 8 * 32 * (10 + 20 + 20 + 10),
		  BF16, 16 },
		{ "aten::_scaled_dot_product_cudnn_attention_backward",
		  "[[2, 4, 10, 32], [2, 4, 10, 32], [2, 4, 20, 32], [2, 4, 20, 32]] " DQKV, "",
		  2.5 * 2.0 * 2 * 4 * 10 * 20 * 64, 2 * 2.0 * 8 * 32 * (10 + 20 + 20 + 10), BF16,
		  16 },
		{ "aten::_scaled_dot_product_flash_attention_for_cpu_backward",
		  "[[2, 4, 10, 32], [2, 4, 10, 32], [2, 4, 20, 32], [2, 4, 20, 32]] " DQKV, "",
		  2.5 * 2.0 * 2 * 4 * 10 * 20 * 64, 2 * 2.0 * 8 * 32 * (10 + 20 + 20 + 10), BF16,
		  16 },
		{ "aten::_flash_attention_backward",
		  "[[2, 10, 4, 32], [2, 10, 4, 32], [2, 20, 4, 32], [2, 20, 4, 32], [2, 10, 4, "
		  "32], [2, 4, 10], [], []] " DQKV,
		  "", 2.5 * 2.0 * 2 * 4 * 10 * 20 * 64, 2 * 2.0 * 8 * 32 * (10 + 20 + 20 + 10),
		  BF16, 16 },
		{ "flash_attn::_flash_attn_backward",
		  "[[2, 10, 4, 32], [2, 10, 4, 32], [2, 20, 4, 32], [2, 20, 4, 32]] " DQKV, "",
		  2.5 * 2.0 * 2 * 4 * 10 * 20 * 64, 2 * 2.0 * 8 * 32 * (10 + 20 + 20 + 10), BF16,
		  16 },
	};

	check_op_cases(cases, TSI_COUNT_OF(cases), KERNEL_ATTENTION);
}

#define PACKED " " QKV ", int, int, Scalar, Scalar"

/* Sequences one behind the other: known where each is as long as the longest. */
TEST(packed_attention)
{
	static const struct op_case cases[] = {
		/* 3 of 10 and 20 positions */
		{ "aten::_flash_attention_forward",
		  "[[30, 4, 32], [60, 4, 32], [60, 4, 32], [4], [4], [], []]" PACKED,
		  "[, , , , , 10, 20]", 2.0 * 3 * 4 * 10 * 20 * 64,
		  2.0 * 4 * 32 * (30 + 60 + 60 + 30), BF16, 16 },
		/* one */
		{ "aten::_flash_attention_forward",
		  "[[30, 4, 32], [60, 4, 32], [60, 4, 32], [2], [2], [], []]" PACKED, "",
		  2.0 * 4 * 30 * 60 * 64, 2.0 * 4 * 32 * (30 + 60 + 60 + 30), BF16, 16 },
		{ "aten::_efficient_attention_forward",
		  "[[1, 30, 4, 32], [1, 60, 4, 32], [1, 60, 4, 32], [], [4], [4], [], []] " QKV
		  ", , int, int, Scalar, Scalar",
		  "[, , , , , , 10, 20]", 2.0 * 3 * 4 * 10 * 20 * 64,
		  2.0 * 4 * 32 * (30 + 60 + 60 + 30), BF16, 16 },
		{ "flash_attn::_flash_attn_varlen_backward",
		  "[[30, 4, 32], [30, 4, 32], [60, 4, 32], [60, 4, 32], [30, 4, 32], [4, 30], [30, "
		  "4, 32], "
		  "[60, 4, 32], [60, 4, 32], [4], [4], [], []] " DQKV ", " QKV
		  ", int, int, Scalar, Scalar",
		  "[, , , , , , , , , , , 10, 20]", 2.5 * 2.0 * 3 * 4 * 10 * 20 * 64,
		  2 * 2.0 * 4 * 32 * (30 + 60 + 60 + 30), BF16, 16 },
	};

	check_op_cases(cases, TSI_COUNT_OF(cases), KERNEL_ATTENTION);
}

#define HALVES "c10::Half, c10::Half, c10::Half"

/* [batch 2, sequence 10 or 20, heads 4, size 32] in all of them. */
TEST(heads_behind_the_sequence)
{
	static const char forward[] = "[[2, 10, 4, 32], [2, 20, 4, 32], [2, 20, 4, 32]] " HALVES;
	static const char backward[] =
		"[[2, 10, 4, 32], [2, 10, 4, 32], [2, 20, 4, 32], [2, 20, 4, "
		"32]] c10::Half, " HALVES;
	static const struct {
		const char *name;
		bool is_backward;
	} cases[] = {
		{ "aten::_flash_attention_forward", false },
		{ "aten::_flash_attention_backward", true },
		{ "aten::_efficient_attention_forward", false },
		{ "aten::_efficient_attention_backward", true },
		{ "FlashAttnFunc", false },
		{ "flash_attn::_flash_attn_forward", false },
		{ "flash_attn::_flash_attn_backward", true },
		{ "flash_attn_3::fwd", false },
		{ "flash_attn_3::_flash_attn_forward", false },
		{ "flash_attn_3::_flash_attn_backward", true },
		{ "xformers_flash::flash_fwd", false },
		{ "xformers_flash::flash_bwd", true },
		{ "xformers::efficient_attention_forward_cutlass", false },
		{ "xformers::efficient_attention_backward_cutlass", true },
		{ "aiter::_flash_attn_forward", false },
		{ "aiter::_flash_attn_backward", true },
		{ "aiter::mha_fwd", false },
		{ "aiter::mha_bwd", true },
		{ "aiter::fmha_v3_fwd", false },
		{ "aiter::fmha_v3_bwd", true },
		{ "aiter::wrapper_fmha_v3_fwd", false },
		{ "aiter::wrapper_fmha_v3_bwd", true },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		double product_count = cases[i].is_backward ? 5 : 2;
		double pass_count = cases[i].is_backward ? 2 : 1;
		struct op_case c = {
			cases[i].name,
			cases[i].is_backward ? backward : forward,
			"",
			product_count * 2 * 2 * 4 * 10 * 20 * 32,
			pass_count * 2.0 * 2 * 4 * 32 * (10 + 20 + 20 + 10),
			FP16,
			16,
		};
		check_op_cases(&c, 1, KERNEL_ATTENTION);
	}
}

/* One sequence of 30 and 60 positions, packed: the argument that says so is where we think. */
TEST(places_of_packed_arguments)
{
	static const struct {
		const char *name, *between; /* q, k, v and the ends of sequences */
		bool is_backward;
	} cases[] = {
		{ "aten::_flash_attention_forward", "", false },
		{ "aten::_flash_attention_backward", "[], [], ", true },
		{ "aten::_efficient_attention_forward", "[], ", false },
		{ "aten::_efficient_attention_backward", "[], [], ", true },
		{ "aten::_cudnn_attention_forward", "[], ", false },
		{ "aten::_cudnn_attention_backward", "[], [], [], [], [], ", true },
		{ "FlashAttnVarlenFunc", "", false },
		{ "flash_attn::_flash_attn_varlen_forward", "", false },
		{ "flash_attn::_flash_attn_varlen_backward", "[], [], [], [], [], ", true },
		{ "flash_attn_3::_flash_attn_backward", "[], [], ", true },
		{ "xformers_flash::flash_fwd", "", false },
		{ "xformers_flash::flash_bwd", "[], [], [], [], [], ", true },
		{ "xformers::efficient_attention_forward_cutlass", "[], ", false },
		{ "xformers::efficient_attention_backward_cutlass", "[], ", true },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		double product_count = cases[i].is_backward ? 5 : 2;
		char signature[256];
		snprintf(signature, sizeof(signature),
			 "[%s[30, 4, 32], [60, 4, 32], [60, 4, 32], %s[2], [2]]",
			 cases[i].is_backward ? "[30, 4, 32], " : "", cases[i].between);
		struct op_case c = {
			cases[i].name, signature, "", product_count * 2 * 4 * 30 * 60 * 32,
			NAN,           UNKNOWN,   16,
		};
		check_op_cases(&c, 1, KERNEL_ATTENTION);
	}
}

/* Three sequences of 10 and 20 positions each, packed: so says the longest of them. */
TEST(places_of_the_longest)
{
	static const struct {
		const char *name, *between; /* q, k, v and the ends of sequences */
		bool is_backward;
		unsigned longest; /* the number of the argument; that of the keys is the next */
	} cases[] = {
		{ "aten::_flash_attention_forward", "", false, 5 },
		{ "aten::_flash_attention_backward", "[], [], ", true, 8 },
		{ "aten::_efficient_attention_forward", "[], ", false, 6 },
		{ "aten::_efficient_attention_backward", "[], [], ", true, 8 },
		{ "aten::_cudnn_attention_forward", "[], ", false, 6 },
		{ "aten::_cudnn_attention_backward", "[], [], [], [], [], ", true, 11 },
		{ "FlashAttnVarlenFunc", "", false, 5 },
		{ "flash_attn::_flash_attn_varlen_forward", "", false, 5 },
		{ "flash_attn::_flash_attn_varlen_backward", "[], [], [], [], [], ", true, 11 },
		{ "flash_attn_3::_flash_attn_backward", "[], [], ", true, 10 },
		{ "xformers::efficient_attention_backward_cutlass", "[], ", true, 7 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		double product_count = cases[i].is_backward ? 5 : 2;
		char signature[256], concrete[64] = "[";
		snprintf(signature, sizeof(signature),
			 "[%s[30, 4, 32], [60, 4, 32], [60, 4, 32], %s[4], [4], [], [], [], []]",
			 cases[i].is_backward ? "[30, 4, 32], " : "", cases[i].between);
		for (unsigned j = 0; j < cases[i].longest; j++)
			strcat(concrete, ", ");
		strcat(concrete, "10, 20]");
		struct op_case c = {
			cases[i].name,
			signature,
			concrete,
			product_count * 2 * 3 * 4 * 10 * 20 * 32,
			NAN,
			UNKNOWN,
			16,
		};
		check_op_cases(&c, 1, KERNEL_ATTENTION);
	}
}
