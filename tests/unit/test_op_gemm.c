/* SPDX-License-Identifier: MIT */
/* FLOPs and bytes of matrix products. Expected values are the arithmetic itself, from the sizes. */
#include "analyze/ops/op_work.h"

#include <math.h>

#include "base/array.h"
#include "check.h"
#include "op_check.h"

TEST(products)
{
	static const struct op_case cases[] = {
		{ "aten::mm", "[[8, 128], [128, 64]] float, float", "[, ]", 2.0 * 8 * 64 * 128,
		  4.0 * (8 * 128 + 128 * 64 + 8 * 64), FP32, 16 },
		{ "aten::mm", "[[7, 12], [12, 6]] c10::Half, c10::Half", "", 2.0 * 7 * 6 * 12,
		  2.0 * (7 * 12 + 12 * 6 + 7 * 6), FP16, 2 },
		{ "aten::mm", "[[7, 13], [13, 24]] double, double", "", 2.0 * 7 * 24 * 13,
		  8.0 * (7 * 13 + 13 * 24 + 7 * 24), FP64, 1 },
		/* no types recorded */
		{ "aten::mm", "[[8, 128], [128, 64]]", "", 2.0 * 8 * 64 * 128, NAN, UNKNOWN, 16 },
		/* an operand that is cast later, inside */
		{ "aten::mm", "[[2, 8], [8, 4]] float, c10::Half", "", 2.0 * 2 * 4 * 8,
		  4.0 * 2 * 8 + 2.0 * 8 * 4 + 4.0 * 2 * 4, UNKNOWN, 4 },
		/* nothing to multiply is known to be nothing */
		{ "aten::mm", "[[0, 16], [16, 32]] float, float", "", 0, 4.0 * 16 * 32, FP32, 16 },
		{ "aten::mm", "[[8, 0], [0, 32]] float, float", "", 0, 4.0 * 8 * 32, FP32, 16 },
		/* a complex product is four real ones */
		{ "aten::mm", "[[2, 3], [3, 5]] c10::complex<float>, c10::complex<float>", "",
		  4 * 2.0 * 2 * 5 * 3, 8.0 * (2 * 3 + 3 * 5 + 2 * 5), FP32, 1 },
		{ "aten::addmm",
		  "[[64], [8, 128], [128, 64], [], []] c10::BFloat16, c10::BFloat16, "
		  "c10::BFloat16, "
		  "Scalar, Scalar",
		  "[, , , 1, 1]", 2.0 * 8 * 64 * 128, 2.0 * (64 + 8 * 128 + 128 * 64 + 8 * 64),
		  BF16, 16 },
		{ "aten::addmm_", "[[8, 64], [8, 128], [128, 64], [], []] float, float, float, , ",
		  "", 2.0 * 8 * 64 * 128, 4.0 * (8 * 64 + 8 * 128 + 128 * 64 + 8 * 64), FP32, 16 },
		{ "aten::_addmm_activation",
		  "[[64], [8, 128], [128, 64], [], [], []] float, float, float, Scalar, Scalar, "
		  "Scalar",
		  "", 2.0 * 8 * 64 * 128, 4.0 * (64 + 8 * 128 + 128 * 64 + 8 * 64), FP32, 16 },
		{ "aten::bmm", "[[3, 8, 16], [3, 16, 4]] float, float", "", 2.0 * 3 * 8 * 4 * 16,
		  4.0 * 3 * (8 * 16 + 16 * 4 + 8 * 4), FP32, 4 },
		{ "aten::baddbmm",
		  "[[3, 8, 4], [3, 8, 16], [3, 16, 4], [], []] float, float, float, Scalar, Scalar",
		  "", 2.0 * 3 * 8 * 4 * 16, 4.0 * 3 * (8 * 4 + 8 * 16 + 16 * 4 + 8 * 4), FP32, 4 },
		{ "aten::addbmm",
		  "[[8, 4], [3, 8, 16], [3, 16, 4], [], []] float, float, float, Scalar, Scalar",
		  "", 2.0 * 3 * 8 * 4 * 16, 4.0 * (8 * 4 + 3 * 8 * 16 + 3 * 16 * 4 + 8 * 4), FP32,
		  4 },
		{ "aten::mv", "[[8, 16], [16]] float, float", "", 2.0 * 8 * 16,
		  4.0 * (8 * 16 + 16 + 8), FP32, 1 },
		{ "aten::addmv", "[[8], [8, 16], [16], [], []] float, float, float, Scalar, Scalar",
		  "", 2.0 * 8 * 16, 4.0 * (8 + 8 * 16 + 16 + 8), FP32, 1 },
		{ "aten::dot", "[[16], [16]] float, float", "", 2.0 * 16, 4.0 * (16 + 16 + 1), FP32,
		  1 },
		{ "aten::vdot", "[[6], [6]] double, double", "", 2.0 * 6, 8.0 * (6 + 6 + 1), FP64,
		  1 },
		{ "aten::_int_mm", "[[32, 64], [64, 8]] signed char, signed char", "",
		  2.0 * 32 * 8 * 64, 1.0 * (32 * 64 + 64 * 8) + 4.0 * 32 * 8, INT8, 8 },
	};

	check_op_cases(cases, TSI_COUNT_OF(cases), KERNEL_GEMM);
}

TEST(products_of_any_rank)
{
	static const struct op_case cases[] = {
		{ "aten::linear", "[[2, 5, 16], [8, 16], [8]] float, float, float", "",
		  2.0 * (2 * 5) * 8 * 16, 4.0 * (2 * 5 * 16 + 8 * 16 + 8 + 2 * 5 * 8), FP32, 8 },
		{ "aten::linear", "[[2, 5, 16], [8, 16], []] float, float, ", "",
		  2.0 * (2 * 5) * 8 * 16, 4.0 * (2 * 5 * 16 + 8 * 16 + 2 * 5 * 8), FP32, 8 },
		{ "aten::linear", "[[16], [8, 16], []] float, float, ", "", 2.0 * 8 * 16,
		  4.0 * (16 + 8 * 16 + 8), FP32, 8 },
		{ "aten::linear", "[[3, 16], [16], []] float, float, ", "", 2.0 * 3 * 16,
		  4.0 * (3 * 16 + 16 + 3), FP32, 1 },
		{ "aiter::gemm_a16w16",
		  "[[32, 4096], [6144, 4096], [], [], [], [], []] c10::BFloat16, c10::BFloat16, , "
		  "Scalar, , , ",
		  "", 2.0 * 32 * 6144 * 4096, 2.0 * (32 * 4096 + 6144 * 4096 + 32 * 6144), BF16,
		  16 },
		{ "vllm::rocm_unquantized_gemm",
		  "[[32, 2880], [201088, 2880], []] c10::BFloat16, c10::BFloat16, ", "",
		  2.0 * 32 * 201088 * 2880, 2.0 * (32 * 2880 + 201088.0 * 2880 + 32 * 201088), BF16,
		  16 },
		{ "mkldnn::_linear_pointwise", "[[4, 16], [8, 16], [8]] float, float, float", "",
		  2.0 * 4 * 8 * 16, 4.0 * (4 * 16 + 8 * 16 + 8 + 4 * 8), FP32, 8 },
		{ "aten::matmul", "[[16], [16]] float, float", "", 2.0 * 16, 4.0 * (16 + 16 + 1),
		  FP32, 1 },
		{ "aten::matmul", "[[4, 16], [16]] float, float", "", 2.0 * 4 * 16,
		  4.0 * (4 * 16 + 16 + 4), FP32, 1 },
		{ "aten::matmul", "[[16], [16, 4]] float, float", "", 2.0 * 4 * 16,
		  4.0 * (16 + 16 * 4 + 4), FP32, 4 },
		{ "aten::matmul", "[[16], [3, 16, 4]] float, float", "", 2.0 * 3 * 4 * 16,
		  4.0 * (16 + 3 * 16 * 4 + 3 * 4), FP32, 4 },
		{ "aten::matmul", "[[3, 5, 16], [16, 4]] float, float", "", 2.0 * 3 * 5 * 4 * 16,
		  4.0 * (3 * 5 * 16 + 16 * 4 + 3 * 5 * 4), FP32, 4 },
		/* batches [7, 1] and [3] are broadcast to [7, 3] */
		{ "aten::matmul", "[[7, 1, 5, 16], [3, 16, 4]] float, float", "",
		  2.0 * 7 * 3 * 5 * 4 * 16, 4.0 * (7 * 5 * 16 + 3 * 16 * 4 + 7 * 3 * 5 * 4), FP32,
		  4 },
	};

	check_op_cases(cases, TSI_COUNT_OF(cases), KERNEL_GEMM);
}

/* TorchScript records all that lies on its stack; the arguments are the last. */
TEST(products_of_scripted_code)
{
	static const struct op_case cases[] = {
		/* the first two would fit too */
		{ "aten::matmul",
		  "[[48, 20], [20, 16], [20], [48, 40], [16, 48], [48, 40]] float, float, float, "
		  "float, float, float",
		  "", 2.0 * 16 * 40 * 48, 4.0 * (16 * 48 + 48 * 40 + 16 * 40), FP32, 8 },
		{ "aten::linear",
		  "[[64, 512], [64, 160, 300], [10, 300], [10]] float, float, float, float", "",
		  2.0 * (64 * 160) * 10 * 300,
		  4.0 * (64 * 160 * 300 + 10 * 300 + 10 + 64 * 160 * 10), FP32, 2 },
		/* here the last is where the result goes */
		{ "aten::mm", "[[8, 16], [16, 4], [8, 4]] float, float, float", "",
		  2.0 * 8 * 4 * 16, 4.0 * (8 * 16 + 16 * 4 + 8 * 4), FP32, 4 },
	};

	check_op_cases(cases, TSI_COUNT_OF(cases), KERNEL_GEMM);
}

#define SCALED "c10::Float8_e4m3fn, c10::Float8_e4m3fn, float, float, , , , Scalar"

TEST(products_of_small_types)
{
	static const struct op_case cases[] = {
		/* to bfloat16 (15), to float (6), and where the trace does not say */
		{ "aten::_scaled_mm", "[[32, 64], [64, 48], [], [], [], [], [], []] " SCALED,
		  "[, , , , , , 15, True]", 2.0 * 32 * 48 * 64, 32 * 64 + 64 * 48 + 2.0 * 32 * 48,
		  FP8, 16 },
		{ "aten::_scaled_mm", "[[32, 64], [64, 48], [], [], [], [], [], []] " SCALED,
		  "[, , , , , , 6, True]", 2.0 * 32 * 48 * 64, 32 * 64 + 64 * 48 + 4.0 * 32 * 48,
		  FP8, 16 },
		{ "aten::_scaled_mm", "[[32, 64], [64, 48], [], [], [], [], [], []] " SCALED, "",
		  2.0 * 32 * 48 * 64, NAN, FP8, 16 },
		{ "aten::_scaled_mm", "[[32, 64], [64, 48], [], [], [], [], [], []] " SCALED,
		  "[, , , , , , 4000000000, True]", 2.0 * 32 * 48 * 64, NAN, FP8, 16 },
		{ "aten::_scaled_mm", "[[32, 64], [64, 48]] c10::Float8_e5m2, c10::Float8_e4m3fn",
		  "", 2.0 * 32 * 48 * 64, NAN, FP8, 16 },
		/* of vLLM, where the first argument is the result; of FBGEMM and SGLang */
		{ "_C::cutlass_scaled_mm",
		  "[[32, 48], [32, 64], [64, 48], [], [], [48]] c10::BFloat16, "
		  "c10::Float8_e4m3fn, c10::Float8_e4m3fn, float, float, c10::BFloat16",
		  "", 2.0 * 32 * 48 * 64, 32 * 64 + 64 * 48 + 2.0 * 48 + 2.0 * 32 * 48, FP8, 16 },
		{ "fbgemm::f8f8bf16_rowwise",
		  "[[32, 64], [48, 64], [32], [48], [], []] c10::Float8_e4m3fn, "
		  "c10::Float8_e4m3fn, float, float, , Scalar",
		  "", 2.0 * 32 * 48 * 64, 32 * 64 + 64 * 48 + 2.0 * 32 * 48, FP8, 16 },
		{ "sgl_kernel::int8_scaled_mm",
		  "[[32, 64], [64, 48], [32, 1], [48, 1], [], []] signed char, signed char, "
		  "float, float, Scalar, ",
		  "[, , , , 15, ]", 2.0 * 32 * 48 * 64, 32 * 64 + 64 * 48 + 2.0 * 32 * 48, INT8,
		  16 },
		/* 64 bytes of k are 128 numbers */
		{ "aten::_scaled_mm_v2",
		  "[[32, 64], [64, 48], [], [], [], [], [], [], [], []] c10::Float4_e2m1fn_x2, "
		  "c10::Float4_e2m1fn_x2, , , , , , , , Scalar",
		  "[, , , , , , , , , 15]", 2.0 * 32 * 48 * 128, 32 * 64 + 64 * 48 + 2.0 * 32 * 48,
		  FP4, 16 },
	};

	check_op_cases(cases, TSI_COUNT_OF(cases), KERNEL_GEMM);
}

TEST(products_of_groups)
{
	static const struct op_case cases[] = {
		/* rows of 4 groups, each with its own [16, 8] */
		{ "aten::_grouped_mm",
		  "[[100, 16], [4, 16, 8], [4], [], []] c10::BFloat16, c10::BFloat16, int, , ", "",
		  2.0 * 100 * 8 * 16, 2.0 * (100 * 16 + 4 * 16 * 8 + 100 * 8), BF16, 8 },
		{ "aten::_grouped_mm",
		  "[[4, 32, 16], [16, 24], [4], [], []] c10::BFloat16, c10::BFloat16, int, , ", "",
		  2.0 * 32 * 24 * 16, 2.0 * (4 * 32 * 16 + 16 * 24 + 32 * 24), BF16, 8 },
		/* the weights' gradients: k is cut, each group has a result of its own */
		{ "aten::_grouped_mm",
		  "[[16, 100], [100, 8], [4], [], []] c10::BFloat16, c10::BFloat16, int, , ", "",
		  2.0 * 16 * 8 * 100, 2.0 * (16 * 100 + 100 * 8 + 4 * 16 * 8), BF16, 4 },
		{ "aten::_grouped_mm",
		  "[[16, 100], [100, 8], [], [], []] c10::BFloat16, c10::BFloat16, , , ", "",
		  2.0 * 16 * 8 * 100, NAN, BF16, 4 },
		{ "aten::_grouped_mm",
		  "[[4, 32, 16], [4, 16, 8], [], [], []] c10::BFloat16, c10::BFloat16, , , ", "",
		  2.0 * 4 * 32 * 8 * 16, 2.0 * 4 * (32 * 16 + 16 * 8 + 32 * 8), BF16, 8 },
		{ "aten::_scaled_grouped_mm",
		  "[[100, 16], [4, 16, 8], [100], [4, 8], [4], [], [], [], []] c10::Float8_e4m3fn, "
		  "c10::Float8_e4m3fn, float, float, int, , , Scalar, Scalar",
		  "[, , , , , , , 15, False]", 2.0 * 100 * 8 * 16,
		  100 * 16 + 4 * 16 * 8 + 2.0 * 100 * 8, FP8, 8 },
	};

	check_op_cases(cases, TSI_COUNT_OF(cases), KERNEL_GEMM);
}

/* 16 tokens of 64 numbers go through 2 of 8 experts each. */
TEST(mixtures_of_experts)
{
	static const struct op_case cases[] = {
		/* with a gate: 64 -> 2 × 96 -> 64 */
		{ "vllm::rocm_aiter_fused_moe",
		  "[[16, 64], [8, 192, 64], [8, 64, 96], [16, 2]] BFloat16, BFloat16, BFloat16, "
		  "Float",
		  "", 2.0 * 16 * 2 * (192 * 64 + 64 * 96), NAN, BF16, 16 },
		/* without: 64 -> 100 -> 64 */
		{ "vllm::outplace_fused_experts",
		  "[[16, 64], [8, 100, 64], [8, 64, 100], [16, 2]] float, float, float, float", "",
		  2.0 * 16 * 2 * (100 * 64 + 64 * 100), NAN, FP32, 4 },
	};

	check_op_cases(cases, TSI_COUNT_OF(cases), KERNEL_MOE);
}
