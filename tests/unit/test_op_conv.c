/* SPDX-License-Identifier: MIT */
/* FLOPs and bytes of convolutions. Expected values are the arithmetic itself, from the sizes. */
#include "analyze/ops/op_work.h"

#include <math.h>
#include <stdio.h>

#include "base/array.h"
#include "check.h"
#include "op_check.h"

/* Arguments of aten::convolution and aten::conv2d behind input, weight and bias. */
#define CONV_TYPES " float, float, float, ScalarList, ScalarList, ScalarList, "
#define CONVOLUTION CONV_TYPES "Scalar, ScalarList, Scalar"
#define CONVOLUTION_BF16                                                                           \
	" c10::BFloat16, c10::BFloat16, , ScalarList, ScalarList, ScalarList, Scalar, "            \
	"ScalarList, Scalar"

TEST(convolutions)
{
	static const struct op_case cases[] = {
		/* 16 + 2 - 3 + 1 = 16 positions along each dim */
		{ "aten::convolution",
		  "[[4, 8, 16, 16], [24, 8, 3, 3], [24], [], [], [], [], [], []]" CONVOLUTION,
		  "[, , , [1, 1], [1, 1], [1, 1], False, [0, 0], 1]",
		  2.0 * 4 * (16 * 16) * 24 * 8 * (3 * 3),
		  4.0 * (4 * 8 * 16 * 16 + 24 * 8 * 3 * 3 + 24 + 4 * 24 * 16 * 16), FP32, 8 },
		/* (16 + 2 - 3) / 2 = 7.5, 7 + 1 = 8; (15 - 2 × 2 - 1) / 3 = 3.3, 3 + 1 = 4 */
		{ "aten::_convolution",
		  "[[4, 8, 16, 15], [24, 8, 3, 3], [], [], [], [], [], [], [], [], [], [], "
		  "[]]" CONVOLUTION_BF16 ", Scalar, Scalar, Scalar, Scalar",
		  "[, , , [2, 3], [1, 0], [1, 2], False, [0, 0], 1, False, False, True, True]",
		  2.0 * 4 * (8 * 4) * 24 * 8 * (3 * 3),
		  2.0 * (4 * 8 * 16 * 15 + 24 * 8 * 3 * 3 + 4 * 24 * 8 * 4), BF16, 8 },
		/* 4 groups: the weight has 8 / 4 channels */
		{ "aten::conv2d",
		  "[[4, 8, 16, 16], [24, 2, 1, 1], [24], [], [], [], []]" CONV_TYPES "Scalar",
		  "[, , , [1, 1], [0, 0], [1, 1], 4]", 2.0 * 4 * (16 * 16) * 24 * 2,
		  4.0 * (4 * 8 * 16 * 16 + 24 * 2 + 24 + 4 * 24 * 16 * 16), FP32, 2 },
		/* depthwise */
		{ "aten::_conv_depthwise2d",
		  "[[4, 8, 10, 10], [8, 1, 3, 3], [], [8], [], [], []] float, "
		  "float, ScalarList, float, ScalarList, ScalarList, ScalarList",
		  "[, , [3, 3], , [1, 1], [0, 0], [1, 1]]", 2.0 * 4 * (8 * 8) * 8 * (3 * 3),
		  4.0 * (4 * 8 * 10 * 10 + 8 * 3 * 3 + 8 + 4 * 8 * 8 * 8), FP32, 1 },
		/* 20 - 5 + 1 = 16, without a batch */
		{ "aten::conv1d", "[[8, 20], [24, 8, 5], [24], [], [], [], []]" CONV_TYPES "Scalar",
		  "[, , , [1], [0], [1], 1]", 2.0 * 16 * 24 * 8 * 5,
		  4.0 * (8 * 20 + 24 * 8 * 5 + 24 + 24 * 16), FP32, 8 },
		/* 6 positions of 3 × 3 × 3; one number stands for all dims */
		{ "aten::conv3d",
		  "[[2, 4, 8, 8, 8], [16, 4, 3, 3, 3], [16], [], [], [], []]" CONV_TYPES "Scalar",
		  "[, , , [1], [0], [1], 1]", 2.0 * 2 * (6 * 6 * 6) * 16 * 4 * 27,
		  4.0 * (2 * 4 * 512 + 16 * 4 * 27 + 16 + 2 * 16 * 216), FP32, 4 },
		{ "aten::conv3d",
		  "[[2, 4, 8, 8, 8], [16, 4, 3, 3, 3], [16], [], [], [], []]" CONV_TYPES "Scalar",
		  "[, , , 1, 0, 1, 1]", 2.0 * 2 * (6 * 6 * 6) * 16 * 4 * 27,
		  4.0 * (2 * 4 * 512 + 16 * 4 * 27 + 16 + 2 * 16 * 216), FP32, 4 },
		/* padding by name: 20 positions, and 20 - 2 × (4 - 1) = 14 */
		{ "aten::conv1d",
		  "[[3, 8, 20], [24, 8, 4], [24], [], [], [], []]" CONV_TYPES "Scalar",
		  "[, , , [1], same, [2], 1]", 2.0 * 3 * 20 * 24 * 8 * 4,
		  4.0 * (3 * 8 * 20 + 24 * 8 * 4 + 24 + 3 * 24 * 20), FP32, 8 },
		{ "aten::_convolution_mode",
		  "[[3, 8, 20], [24, 8, 4], [24], [], [], [], []]" CONV_TYPES "Scalar",
		  "[, , , [1], \\valid\\, [2], 1]", 2.0 * 3 * 14 * 24 * 8 * 4,
		  4.0 * (3 * 8 * 20 + 24 * 8 * 4 + 24 + 3 * 24 * 14), FP32, 8 },
		/* an empty batch */
		{ "aten::conv1d", "[[0, 8, 20], [24, 8, 5], [], [], [], [], []] float, float, ",
		  "[, , , [1], [0], [1], 1]", 0, 4.0 * 24 * 8 * 5, FP32, 8 },
		/* 10 + 2 × 1 - 3 + 1 = 10: where each writer of kernels has its arguments */
		{ "aten::cudnn_convolution",
		  "[[2, 4, 10], [6, 4, 3], [], [], [], [], [], [], []] float, float",
		  "[, , [1], [1], [1], 1, False, False, True]", 2.0 * 2 * 10 * 6 * 4 * 3,
		  4.0 * (2 * 4 * 10 + 6 * 4 * 3 + 2 * 6 * 10), FP32, 2 },
		{ "aten::cudnn_convolution_relu",
		  "[[2, 4, 10], [6, 4, 3], [6], [], [], [], []] float, float, float",
		  "[, , , [1], [1], [1], 1]", 2.0 * 2 * 10 * 6 * 4 * 3,
		  4.0 * (2 * 4 * 10 + 6 * 4 * 3 + 6 + 2 * 6 * 10), FP32, 2 },
		{ "aten::cudnn_convolution_add_relu",
		  "[[2, 4, 10], [6, 4, 3], [2, 6, 10], [], [6], [], [], [], []] float, float, "
		  "float, Scalar, float",
		  "[, , , 1, , [1], [1], [1], 1]", 2.0 * 2 * 10 * 6 * 4 * 3,
		  4.0 * (2 * 4 * 10 + 6 * 4 * 3 + 2 * 6 * 10 + 6 + 2 * 6 * 10), FP32, 2 },
		/* (10 + 2 - 3) / 2 + 1 = 5 */
		{ "aten::miopen_convolution",
		  "[[2, 4, 10], [6, 4, 3], [6], [], [], [], [], [], []] float, float, float",
		  "[, , , [1], [2], [1], 1, False, False]", 2.0 * 2 * 5 * 6 * 4 * 3,
		  4.0 * (2 * 4 * 10 + 6 * 4 * 3 + 6 + 2 * 6 * 5), FP32, 2 },
		{ "aten::mkldnn_convolution",
		  "[[2, 4, 10], [6, 4, 3], [6], [], [], [], []] float, float, float",
		  "[, , , [1], [2], [1], 1]", 2.0 * 2 * 5 * 6 * 4 * 3,
		  4.0 * (2 * 4 * 10 + 6 * 4 * 3 + 6 + 2 * 6 * 5), FP32, 2 },
		{ "aten::_slow_conv2d_forward",
		  "[[2, 4, 10, 10], [6, 4, 3, 3], [], [6], [], []] float, float, ScalarList, "
		  "float, ScalarList, ScalarList",
		  "[, , [3, 3], , [1, 1], [0, 0]]", 2.0 * 2 * (8 * 8) * 6 * 4 * 9,
		  4.0 * (2 * 4 * 100 + 6 * 4 * 9 + 6 + 2 * 6 * 64), FP32, 2 },
	};

	check_op_cases(cases, TSI_COUNT_OF(cases), KERNEL_CONV);
}

/*
 * Each operator has its arguments in places of its own. 10 positions, a stride of 2, a
 * padding of 1, a dilation of 3 and a weight of 3: (10 + 2 - 3 × 2 - 1) / 2 + 1 = 3.5, 3.
 */
TEST(places_of_arguments)
{
	static const char *const cases[][2] = {
		{ "aten::convolution", "[, , , [2], [1], [3], False, [0], 1]" },
		{ "aten::_convolution", "[, , , [2], [1], [3], False, [0], 1]" },
		{ "aten::_convolution_mode", "[, , , [2], [1], [3], 1]" },
		{ "aten::conv1d", "[, , , [2], [1], [3], 1]" },
		{ "aten::conv2d", "[, , , [2], [1], [3], 1]" },
		{ "aten::conv3d", "[, , , [2], [1], [3], 1]" },
		{ "aten::cudnn_convolution", "[, , [1], [2], [3], 1]" },
		{ "aten::cudnn_convolution_relu", "[, , , [2], [1], [3], 1]" },
		{ "aten::cudnn_convolution_add_relu", "[, , , 1, , [2], [1], [3], 1]" },
		{ "aten::miopen_convolution", "[, , , [1], [2], [3], 1]" },
		{ "aten::miopen_convolution_relu", "[, , , [2], [1], [3], 1]" },
		{ "aten::miopen_convolution_add_relu", "[, , , 1, , [2], [1], [3], 1]" },
		{ "aten::miopen_depthwise_convolution", "[, , , [1], [2], [3], 1]" },
		{ "aten::mkldnn_convolution", "[, , , [1], [2], [3], 1]" },
		{ "mkldnn::_convolution_pointwise", "[, , , [1], [2], [3], 1]" },
		{ "aten::slow_conv_dilated2d", "[, , [3], , [2], [1], [3]]" },
		{ "aten::slow_conv_dilated3d", "[, , [3], , [2], [1], [3]]" },
		{ "aten::_conv_depthwise2d", "[, , [3], , [2], [1], [3]]" },
		{ "aten::conv_depthwise3d", "[, , [3], , [2], [1], [3]]" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct op_case c = {
			cases[i][0],
			"[[2, 4, 10], [6, 4, 3], [], [], [], [], [], [], []] float, float",
			cases[i][1],
			2.0 * 2 * 3 * 6 * 4 * 3,
			4.0 * (2 * 4 * 10 + 6 * 4 * 3 + 2 * 6 * 3),
			FP32,
			2,
		};
		check_op_cases(&c, 1, KERNEL_CONV);
	}
}

/* Without a dilation: (10 + 2 - 3) / 2 + 1 = 5.5, 5. */
TEST(places_without_dilation)
{
	static const char *const names[] = {
		"aten::thnn_conv2d", "aten::thnn_conv2d_forward", "aten::_slow_conv2d_forward",
		"aten::slow_conv3d", "aten::slow_conv3d_forward",
	};

	for (size_t i = 0; i < TSI_COUNT_OF(names); i++) {
		struct op_case c = {
			names[i],
			"[[2, 4, 10], [6, 4, 3], [], [], [], []] float, float",
			"[, , [3], , [2], [1]]",
			2.0 * 2 * 5 * 6 * 4 * 3,
			4.0 * (2 * 4 * 10 + 6 * 4 * 3 + 2 * 6 * 5),
			FP32,
			2,
		};
		check_op_cases(&c, 1, KERNEL_CONV);
	}
}

/* Transposed, 1 more at the end: (10 - 1) × 2 - 2 + 3 × 2 + 1 + 1 = 24 positions. */
TEST(places_of_transposed_arguments)
{
	static const char *const cases[][2] = {
		{ "aten::convolution", "[, , , [2], [1], [3], True, [1], 1]" },
		{ "aten::_convolution", "[, , , [2], [1], [3], True, [1], 1]" },
		{ "aten::conv_transpose1d", "[, , , [2], [1], [1], 1, [3]]" },
		{ "aten::conv_transpose2d", "[, , , [2], [1], [1], 1, [3]]" },
		{ "aten::conv_transpose3d", "[, , , [2], [1], [1], 1, [3]]" },
		{ "aten::cudnn_convolution_transpose", "[, , [1], [1], [2], [3], 1]" },
		{ "aten::miopen_convolution_transpose", "[, , , [1], [1], [2], [3], 1]" },
		{ "aten::slow_conv_transpose2d", "[, , [3], , [2], [1], [1], [3]]" },
		{ "aten::slow_conv_transpose3d", "[, , [3], , [2], [1], [1], [3]]" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct op_case c = {
			cases[i][0],
			"[[2, 4, 10], [4, 6, 3], [], [], [], [], [], [], []] float, float",
			cases[i][1],
			2.0 * 2 * 10 * 4 * 6 * 3,
			4.0 * (2 * 4 * 10 + 4 * 6 * 3 + 2 * 6 * 24),
			FP32,
			2,
		};
		check_op_cases(&c, 1, KERNEL_CONV);
	}
}

/* Each position of the input is multiplied with the whole weight [in, out / groups, …]. */
TEST(transposed_convolutions)
{
	static const struct op_case cases[] = {
		/* the output has (10 - 1) × 2 - 2 + 4 = 20 positions, 24 channels */
		{ "aten::convolution",
		  "[[2, 8, 10, 10], [8, 24, 4, 4], [24], [], [], [], [], [], []]" CONVOLUTION,
		  "[, , , [2, 2], [1, 1], [1, 1], True, [0, 0], 1]",
		  2.0 * 2 * (10 * 10) * 8 * 24 * (4 * 4),
		  4.0 * (2 * 8 * 100 + 8 * 24 * 16 + 24 + 2 * 24 * 400), FP32, 8 },
		/* 4 groups of 3 channels each; (10 - 1) × 2 - 0 + 2 × 2 + 1 + 1 = 24 positions */
		{ "aten::conv_transpose1d",
		  "[[2, 8, 10], [8, 3, 3], [12], [], [], [], [], []]" CONV_TYPES
		  "Scalar, ScalarList",
		  "[, , , [2], [0], [1], 4, [2]]", 2.0 * 2 * 10 * 8 * 3 * 3,
		  4.0 * (2 * 8 * 10 + 8 * 3 * 3 + 12 + 2 * 12 * 24), FP32, 1 },
		{ "aten::cudnn_convolution_transpose",
		  "[[2, 8, 10], [8, 24, 4], [], [], [], [], []] float, float",
		  "[, , [1], [0], [2], [1], 1]", 2.0 * 2 * 10 * 8 * 24 * 4,
		  4.0 * (2 * 8 * 10 + 8 * 24 * 4 + 2 * 24 * 20), FP32, 8 },
		/* what it writes needs the arguments, what it multiplies does not */
		{ "aten::cudnn_convolution_transpose",
		  "[[2, 8, 10], [8, 24, 4], [], [], [], [], []] float, float", "",
		  2.0 * 2 * 10 * 8 * 24 * 4, NAN, FP32, 8 },
		{ "aten::slow_conv_transpose2d",
		  "[[2, 8, 5, 5], [8, 4, 2, 2], [], [4], [], [], [], []] float, float, , float",
		  "[, , [2, 2], , [1, 1], [0, 0], [0, 0], [1, 1]]",
		  2.0 * 2 * (5 * 5) * 8 * 4 * (2 * 2),
		  4.0 * (2 * 8 * 25 + 8 * 4 * 4 + 4 + 2 * 4 * 36), FP32, 4 },
	};

	check_op_cases(cases, TSI_COUNT_OF(cases), KERNEL_CONV);
}

#define BACKWARD_TYPES                                                                             \
	" float, float, float, ScalarList, ScalarList, ScalarList, ScalarList, Scalar, "           \
	"ScalarList, Scalar, ScalarList"
#define TO_14                                                                                      \
	"[[4, 8, 14, 14], [4, 3, 16, 16], [8, 3, 3, 3], [], [], [], [], [], [], [], "              \
	"[]]" BACKWARD_TYPES
#define GRADIENT (4.0 * (4 * 8 * 14 * 14))
#define INPUT (4.0 * (4 * 3 * 16 * 16))
#define WEIGHT (4.0 * (8 * 3 * 3 * 3))

/* Each of the gradients of input and weight takes what the forward pass does. */
TEST(convolutions_backward)
{
	static const double forward = 2.0 * 4 * (14 * 14) * 8 * 3 * (3 * 3);
	static const struct {
		const char *mask;
		unsigned product_count;
		double bytes;
	} masks[] = {
		{ "[True, True, True]", 2,
		  GRADIENT + (INPUT + WEIGHT) + (WEIGHT + INPUT) + 4.0 * 8 },
		{ "[False, True, True]", 1, GRADIENT + (INPUT + WEIGHT) + 4.0 * 8 },
		{ "[True, False, False]", 1, GRADIENT + (WEIGHT + INPUT) },
		{ "[False, False, True]", 0, GRADIENT + 4.0 * 8 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(masks); i++) {
		char concrete[128];
		snprintf(concrete, sizeof(concrete),
			 "[, , , [8], [1, 1], [0, 0], [1, 1], False, [0, 0], 1, %s]",
			 masks[i].mask);
		struct op_case c = { "aten::convolution_backward",
				     TO_14,
				     concrete,
				     masks[i].product_count * forward,
				     masks[i].bytes,
				     FP32,
				     1 };
		check_op_cases(&c, 1, KERNEL_CONV);
	}
}

TEST(more_convolutions_backward)
{
	static const struct op_case cases[] = {
		/* of 4 groups */
		{ "aten::convolution_backward",
		  "[[2, 24, 16], [2, 8, 16], [24, 2, 1], [], [], [], [], [], [], [], "
		  "[]]" BACKWARD_TYPES,
		  "[, , , [0], [1], [0], [1], False, [0], 4, [True, True, False]]",
		  2 * 2.0 * 2 * 16 * 24 * 2, 4.0 * (2 * 24 * 16 + 2 * (2 * 8 * 16 + 24 * 2)), FP32,
		  2 },
		/* transposed: 10 positions of the input, 20 of the output */
		{ "aten::convolution_backward",
		  "[[2, 24, 20], [2, 8, 10], [8, 24, 4], [], [], [], [], [], [], [], "
		  "[]]" BACKWARD_TYPES,
		  "[, , , [0], [2], [1], [1], True, [0], 1, [True, True, False]]",
		  2 * 2.0 * 2 * 10 * 8 * 24 * 4,
		  4.0 * (2 * 24 * 20 + 2 * (2 * 8 * 10 + 8 * 24 * 4)), FP32, 8 },
		{ "aten::_slow_conv2d_backward",
		  "[[2, 6, 8, 8], [2, 4, 10, 10], [6, 4, 3, 3], [], [], [], []] float, float, "
		  "float",
		  "[, , , [3, 3], [1, 1], [0, 0], [True, True, False]]",
		  2 * 2.0 * 2 * (8 * 8) * 6 * 4 * 9,
		  4.0 * (2 * 6 * 64 + 2 * (2 * 4 * 100 + 6 * 4 * 9)), FP32, 2 },
		/* Until 1.10, here the sizes of the input are not recorded … */
		{ "aten::cudnn_convolution_backward_input",
		  "[[], [32, 64, 7, 7], [64, 16, 1, 1], [], [], [], [], [], [], []] GenericList, "
		  "float, float",
		  "", 2.0 * 32 * 49 * 64 * 16, NAN, FP32, 16 },
		/* … and here they are; 7 positions of the gradient */
		{ "aten::cudnn_convolution_backward_input",
		  "[[], [2, 8, 7], [8, 4, 3], [], [], [], [], [], [], []] ScalarList, float, float",
		  "[[2, 4, 9], , , [0], [1], [1], 1, False, False, True]", 2.0 * 2 * 7 * 8 * 4 * 3,
		  4.0 * (2 * 8 * 7 + 8 * 4 * 3 + 2 * 4 * 9), FP32, 4 },
		{ "aten::mkldnn_convolution_backward_weights",
		  "[[], [2, 8, 7], [2, 4, 9], [], [], [], [], []] ScalarList, float, float",
		  "[[8, 4, 3], , , [0], [1], [1], 1, False]", 2.0 * 2 * 7 * 8 * 4 * 3,
		  4.0 * (2 * 8 * 7 + 8 * 4 * 3 + 2 * 4 * 9), FP32, 4 },
		{ "aten::cudnn_convolution_backward",
		  "[[2, 4, 9], [2, 8, 7], [8, 4, 3], [], [], [], [], [], [], [], []] float, float, "
		  "float",
		  "[, , , [0], [1], [1], 1, False, False, True, [True, True]]",
		  2 * 2.0 * 2 * 7 * 8 * 4 * 3, 4.0 * (2 * 8 * 7 + 2 * (8 * 4 * 3 + 2 * 4 * 9)),
		  FP32, 4 },
	};

	check_op_cases(cases, TSI_COUNT_OF(cases), KERNEL_CONV);
}

/* Of older operators: input [2, 4, 9], gradient [2, 8, 7], weight [8, 4, 3]. */
TEST(places_of_backward_arguments)
{
	static const char all[] =
		"[[2, 4, 9], [2, 8, 7], [8, 4, 3], [], [], [], [], [], [], [], [], "
		"[]] float, float, float";
	static const char input[] = "[[], [2, 8, 7], [8, 4, 3], []] , float, float";
	static const char weight[] = "[[], [2, 8, 7], [2, 4, 9], []] , float, float";
	static const struct {
		const char *name, *signature, *concrete;
		unsigned product_count;
	} cases[] = {
		{ "aten::cudnn_convolution_backward", all, "[, , , , , , , , , , [True, True]]",
		  2 },
		{ "aten::miopen_convolution_backward", all,
		  "[, , , , , , , , , [True, True, False]]", 2 },
		{ "aten::mkldnn_convolution_backward", all, "[, , , , , , , [True, True, False]]",
		  2 },
		{ "aten::cudnn_convolution_backward_input", input, "[[2, 4, 9]]", 1 },
		{ "aten::miopen_convolution_backward_input", input, "[[2, 4, 9]]", 1 },
		{ "aten::mkldnn_convolution_backward_input", input, "[[2, 4, 9]]", 1 },
		{ "aten::cudnn_convolution_backward_weight", weight, "[[8, 4, 3]]", 1 },
		{ "aten::miopen_convolution_backward_weight", weight, "[[8, 4, 3]]", 1 },
		{ "aten::mkldnn_convolution_backward_weights", weight, "[[8, 4, 3]]", 1 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		unsigned count = cases[i].product_count;
		struct op_case c = {
			cases[i].name,
			cases[i].signature,
			cases[i].concrete,
			count * 2.0 * 2 * 7 * 8 * 4 * 3,
			4.0 * (2 * 8 * 7 + count * (2 * 4 * 9 + 8 * 4 * 3)),
			FP32,
			4,
		};
		check_op_cases(&c, 1, KERNEL_CONV);
	}
}

/* Transposed: 10 positions of the input, 20 of the output. */
TEST(transposed_backward)
{
	static const struct op_case c = {
		"aten::cudnn_convolution_transpose_backward",
		"[[2, 8, 10], [2, 24, 20], [8, 24, 4], [], [], [], [], [], [], [], [], []] float, "
		"float, float",
		"[, , , , , , , , , , , [True, False]]",
		2.0 * 2 * 10 * 8 * 24 * 4,
		4.0 * (2 * 24 * 20 + 2 * 8 * 10 + 8 * 24 * 4),
		FP32,
		8,
	};

	check_op_cases(&c, 1, KERNEL_CONV);
}
