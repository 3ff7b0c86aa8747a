/* SPDX-License-Identifier: MIT */
/*
 * Bytes that operators must move: each expected value is a sum over what is read
 * and written, elements times bytes of an element, worked out by hand.
 */
#include "analyze/ops/op_bytes.h"

#include <stdio.h>

#include "base/attributes.h"
#include "check.h"
#include "op_check.h"

enum { NOT_KNOWN = -1, NO_ROW_HAS_IT = -2, UNTOUCHED = -3 };

struct bytes_case {
	const char *name, *signature, *concrete;
	double bytes;
	enum kernel_kind kind;
};

static void check(const struct bytes_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct bytes_case *c = &cases[i];
		struct op_work work = { .bytes = UNTOUCHED, .kind = KERNEL_COMM };
		struct op_call call;
		tsi_op_call_parse(&call, tsi_str_of(c->signature), tsi_str_of(c->concrete));
		enum op_work_result expected = c->bytes == NOT_KNOWN       ? OP_WORK_NO_INPUTS
					       : c->bytes == NO_ROW_HAS_IT ? OP_WORK_NO_MODEL
									   : OP_WORK_KNOWN;
		enum op_work_result result = tsi_op_bytes(&work, tsi_str_of(c->name), &call);
		if (result != expected ||
		    work.bytes != (result == OP_WORK_KNOWN ? c->bytes : UNTOUCHED))
			fail_msg("%s%s%s: result %d, %g bytes, expected %g", c->name, c->signature,
				 c->concrete, result, work.bytes, c->bytes);
		if (result != OP_WORK_KNOWN)
			continue;
		check_needs_concrete(c->name, c->signature, c->concrete);
		if (work.kind != c->kind)
			fail_msg("%s: a %s", c->name, tsi_kernel_kind_name(work.kind));
		assert_true(work.flops == 0);
		assert_int_equal(work.precision, TSCOPE_PRECISION_UNKNOWN);
		assert_int_equal(work.alignment, 0);
	}
}

TEST(one_operand)
{
	static const struct bytes_case cases[] = {
		{ "aten::relu", "[[8, 16]] float", "", 2.0 * 8 * 16 * 4, KERNEL_ELEMENTWISE },
		{ "aten::relu_", "[[8, 16]] c10::Half", "", 2.0 * 8 * 16 * 2, KERNEL_ELEMENTWISE },
		{ "aten::gelu", "[[4, 197, 3072], []] c10::BFloat16, ", "",
		  2.0 * 4 * 197 * 3072 * 2, KERNEL_ELEMENTWISE },
		{ "aten::clamp_min_", "[[10, 64], []] c10::BFloat16, Scalar", "[, 0]",
		  2.0 * 10 * 64 * 2, KERNEL_ELEMENTWISE },
		{ "aten::neg", "[[32]] long int", "", 2.0 * 32 * 8, KERNEL_ELEMENTWISE },
		{ "aten::logical_not", "[[32]] float", "", 32.0 * (4 + 1), KERNEL_ELEMENTWISE },
		{ "aten::sqrt", "[[]] float", "", 2.0 * 4, KERNEL_ELEMENTWISE },
		{ "aten::relu", "[[0, 16]] float", "", 0, KERNEL_ELEMENTWISE },
		/* The result of integers would be of the default type, which the trace lacks. */
		{ "aten::sqrt", "[[32]] long int", "", NOT_KNOWN, 0 },
		/* A backward form that reads the gradient and its last argument. */
		{ "aten::elu_backward",
		  "[[8], [], [], [], [], [8]] float, Scalar, Scalar, Scalar, Scalar, float", "",
		  3.0 * 8 * 4, KERNEL_ELEMENTWISE },
	};

	check(cases, TSI_COUNT_OF(cases));
}

/*
 * Each operator takes its own operands, and no others: of sizes 8, 1, 2 and so on, where
 * only the first two fit together. Integers tell what the result is.
 */
TEST(each_takes_its_own_operands)
{
	enum result { SAME, FLOATS_ONLY, BOOL };
	static const struct {
		enum result result;
		unsigned operands;
		const char *names;
	} rows[] = {
		{ SAME, 1, "neg relu sign tril triu flip bitwise_not" },
		{ FLOATS_ONLY, 1,
		  "abs atan clamp clamp_max clamp_min cos cumsum elu erf exp exp2 floor gelu "
		  "hardsigmoid hardswish hardtanh leaky_relu log log1p log2 logit mish nan_to_num "
		  "reciprocal rsqrt sigmoid silu sin softplus sqrt tanh threshold" },
		{ BOOL, 1, "isfinite isinf isnan logical_not" },
		{ SAME, 2,
		  "add sub rsub mul remainder maximum minimum bitwise_and bitwise_or masked_fill" },
		{ FLOATS_ONLY, 2,
		  "div pow atan2 gelu_backward hardsigmoid_backward hardswish_backward "
		  "hardtanh_backward leaky_relu_backward logit_backward mish_backward "
		  "sigmoid_backward silu_backward softplus_backward tanh_backward "
		  "threshold_backward" },
		{ BOOL, 2, "eq ne lt le gt ge logical_and logical_or" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(rows); i++) {
		double read = rows[i].operands == 1 ? 8 : 8 + 1;
		const double floats = 4 * read + 8 * (rows[i].result == BOOL ? 1 : 4);
		const double ints = rows[i].result == SAME   ? 8 * read + 8 * 8
				    : rows[i].result == BOOL ? 8 * read + 8 * 1
							     : NOT_KNOWN;
		struct str left = tsi_str_of(rows[i].names);
		while (left.length) {
			ptrdiff_t blank = tsi_str_find(left, TSI_STR(" "));
			int length = (int)(blank < 0 ? (ptrdiff_t)left.length : blank);
			char name[64], name_in_place[72];
			snprintf(name, sizeof(name), "aten::%.*s", length, left.data);
			snprintf(name_in_place, sizeof(name_in_place), "%s_", name);
			const struct bytes_case cases[] = {
				{ name, "[[8], [1], [2], [3]] float, float, float, float", "",
				  floats, KERNEL_ELEMENTWISE },
				{ name, "[[8], [1], [2]] long int, long int, long int", "", ints,
				  KERNEL_ELEMENTWISE },
				{ name_in_place, "[[8], [1], [2]] float, float, float", "",
				  4 * read + 4 * 8, KERNEL_ELEMENTWISE },
			};
			check(cases, TSI_COUNT_OF(cases));
			left.data += length + (blank >= 0);
			left.length -= (size_t)(length + (blank >= 0));
		}
	}
}

TEST(operands_are_stretched)
{
	static const struct bytes_case cases[] = {
		{ "aten::add", "[[8, 16], [8, 16], []] float, float, Scalar", "[, , 1]",
		  3.0 * 8 * 16 * 4, KERNEL_ELEMENTWISE },
		{ "aten::add_", "[[8, 16], [8, 16], []] float, float, Scalar", "[, , 1]",
		  3.0 * 8 * 16 * 4, KERNEL_ELEMENTWISE },
		{ "aten::mul", "[[16, 559, 1024], [16, 559, 1]] float, float", "",
		  (2.0 * 16 * 559 * 1024 + 16 * 559) * 4, KERNEL_ELEMENTWISE },
		{ "aten::mul", "[[1024], [16, 559, 1024]] c10::BFloat16, c10::BFloat16", "",
		  (2.0 * 16 * 559 * 1024 + 1024) * 2, KERNEL_ELEMENTWISE },
		/* Neither is as large as the result. */
		{ "aten::mul", "[[8, 1], [1, 16]] float, float", "", (8.0 + 16 + 8 * 16) * 4,
		  KERNEL_ELEMENTWISE },
		{ "aten::mul", "[[8, 0], [1]] float, float", "", 4, KERNEL_ELEMENTWISE },
		{ "aten::mul", "[[8, 3], [8, 4]] float, float", "", NOT_KNOWN, 0 },
		{ "aten::where", "[[8, 16], [16], []] bool, float, float", "",
		  8.0 * 16 * 1 + 16 * 4 + 4 + 8 * 16 * 4, KERNEL_ELEMENTWISE },
		{ "aten::masked_fill_", "[[8, 16], [1, 16], []] float, bool, Scalar", "[, , -1]",
		  2.0 * 8 * 16 * 4 + 16 * 1, KERNEL_ELEMENTWISE },
		{ "aten::_s_where", "[[8], [1], []] bool, float, c10::Half", "",
		  8.0 * 1 + 4 + 2 + 8 * 4, KERNEL_ELEMENTWISE },
		{ "aten::lerp", "[[8], [1], []] float, float, float", "", (8.0 + 1 + 1 + 8) * 4,
		  KERNEL_ELEMENTWISE },
		{ "aten::addcdiv", "[[8], [1], [], []] float, float, float, Scalar", "",
		  (8.0 + 1 + 1 + 8) * 4, KERNEL_ELEMENTWISE },
		{ "aten::addcmul", "[[8], [8], [8], []] int, int, int, Scalar", "", NOT_KNOWN, 0 },
		{ "aten::where", "[[8], [8], [8]] bool, int, int", "", 8.0 * (1 + 4 + 4 + 4),
		  KERNEL_ELEMENTWISE },
		{ "aten::addcmul_", "[[8], [8], [8], []] float, float, float, Scalar", "",
		  4.0 * 8 * 4, KERNEL_ELEMENTWISE },
		{ "aten::eq", "[[16, 559], []] long int, Scalar", "[, 1]", 16.0 * 559 * (8 + 1),
		  KERNEL_ELEMENTWISE },
		{ "aten::logical_and", "[[8], [8], [8]] bool, bool, bool", "", 3.0 * 8 * 1,
		  KERNEL_ELEMENTWISE },
		{ "aten::threshold_backward", "[[10, 64], [10, 64], []] float, float, Scalar", "",
		  3.0 * 10 * 64 * 4, KERNEL_ELEMENTWISE },
		{ "aten::mse_loss_backward", "[[], [10], [10], []] float, float, float, Scalar", "",
		  (1.0 + 3 * 10) * 4, KERNEL_ELEMENTWISE },
	};

	check(cases, TSI_COUNT_OF(cases));
}

TEST(types_are_promoted_where_that_is_certain)
{
	static const struct bytes_case cases[] = {
		{ "aten::add", "[[8], [8], []] c10::BFloat16, float, Scalar", "", 8.0 * (2 + 4 + 4),
		  KERNEL_ELEMENTWISE },
		{ "aten::add", "[[8], [8], []] c10::BFloat16, c10::Half, Scalar", "",
		  8.0 * (2 + 2 + 4), KERNEL_ELEMENTWISE },
		{ "aten::mul", "[[8], [8]] long int, c10::Half", "", 8.0 * (8 + 2 + 2),
		  KERNEL_ELEMENTWISE },
		{ "aten::mul", "[[8], [8]] bool, int", "", 8.0 * (1 + 4 + 4), KERNEL_ELEMENTWISE },
		{ "aten::mul", "[[8], [8]] short, long int", "", 8.0 * (2 + 8 + 8),
		  KERNEL_ELEMENTWISE },
		/* Which of two of the same size? */
		{ "aten::mul", "[[8], [8]] signed char, unsigned char", "", NOT_KNOWN, 0 },
		{ "aten::mul", "[[8], [8]] c10::complex<float>, double", "", NOT_KNOWN, 0 },
		{ "aten::mul", "[[8], [8]] c10::Float8_e5m2, c10::Half", "", NOT_KNOWN, 0 },
		/* A number that PyTorch wraps weighs less than a tensor with dimensions. */
		{ "aten::mul", "[[8], []] float, double", "", 8.0 * (4 + 4) + 8,
		  KERNEL_ELEMENTWISE },
		{ "aten::mul", "[[], [8]] double, c10::BFloat16", "", 8.0 * (2 + 2) + 8,
		  KERNEL_ELEMENTWISE },
		{ "aten::mul", "[[8], []] long int, double", "", NOT_KNOWN, 0 },
		{ "aten::add", "[[8], [], []] long int, Scalar, Scalar", "[, 0.5, 1]", NOT_KNOWN,
		  0 },
		{ "aten::add_", "[[8], [], []] long int, Scalar, Scalar", "[, 0.5, 1]", 2.0 * 8 * 8,
		  KERNEL_ELEMENTWISE },
		{ "aten::add_", "[[], [], []] long int, long int, Scalar", "", 3.0 * 8,
		  KERNEL_ELEMENTWISE },
		{ "aten::add", "[[], [], []] float, double, Scalar", "", 4.0 + 8 + 8,
		  KERNEL_ELEMENTWISE },
		{ "aten::div", "[[8], []] float, Scalar", "", 2.0 * 8 * 4, KERNEL_ELEMENTWISE },
		/* Division of integers gives the default type. */
		{ "aten::div", "[[8], [8]] long int, long int", "", NOT_KNOWN, 0 },
		/* Older traces call numbers by types that tensors do not have. */
		{ "aten::mul", "[[8], []] float, Double", "", 2.0 * 8 * 4, KERNEL_ELEMENTWISE },
		{ "aten::mul", "[[8], [8]] float, Double", "", NOT_KNOWN, 0 },
		{ "aten::mul", "[[8], [8]]", "", NOT_KNOWN, 0 },
		{ "aten::mul", "[[], []] Scalar, Scalar", "", NOT_KNOWN, 0 },
	};

	check(cases, TSI_COUNT_OF(cases));
}

TEST(copies_and_fills)
{
	static const struct bytes_case cases[] = {
		/* What is overwritten is not read. */
		{ "aten::copy_", "[[8, 16], [8, 16], []] float, c10::BFloat16, Scalar",
		  "[, , False]", 8.0 * 16 * (4 + 2), KERNEL_COPY },
		{ "aten::copy_", "[[8, 16], [16], []] float, float, Scalar", "",
		  (8.0 * 16 + 16) * 4, KERNEL_COPY },
		{ "aten::fill_", "[[8, 16], []] float, Scalar", "[, 0]", 8.0 * 16 * 4,
		  KERNEL_ELEMENTWISE },
		{ "aten::zero_", "[[8, 16]] c10::Half", "", 8.0 * 16 * 2, KERNEL_ELEMENTWISE },
		{ "aten::zero_", "[] ", "", NOT_KNOWN, 0 },
		{ "aten::native_dropout", "[[8, 16], [], []] float, Scalar, Scalar",
		  "[, 0.1, True]", 8.0 * 16 * (4 + 4 + 1), KERNEL_ELEMENTWISE },
		{ "aten::native_dropout", "[[8, 16], [], []] float, Scalar, Scalar",
		  "[, 0.1, False]", 8.0 * 16 * (4 + 4), KERNEL_ELEMENTWISE },
		{ "aten::native_dropout_backward", "[[8, 16], [8, 16], []] float, bool, Scalar", "",
		  8.0 * 16 * (4 + 1 + 4), KERNEL_ELEMENTWISE },
		{ "sgl_kernel::silu_and_mul", "[[32, 64], [32, 128]] c10::Half, c10::Half", "",
		  32.0 * (64 + 128) * 2, KERNEL_ELEMENTWISE },
		{ "aten::max_pool2d_with_indices_backward",
		  "[[2, 4, 4], [2, 8, 8], [], [], [], [], [], [2, 4, 4]] float, float, "
		  "ScalarList, ScalarList, ScalarList, ScalarList, Scalar, long int",
		  "", 2.0 * 4 * 4 * (4 + 8) + 2 * 8 * 8 * 4, KERNEL_OTHER },
	};

	check(cases, TSI_COUNT_OF(cases));
}

/*
 * Each reads and writes arguments of its own. The i-th has 3^(9 - i) elements, so that
 * a sum of twos of them tells which they are.
 */
TEST(each_moves_its_own_arguments)
{
	enum { ARGUMENTS = 10 };
	static const struct {
		const char *name, *reads, *writes;
		unsigned mask_at;  /* where it takes one that leaves out the first of writes */
		double statistics; /* elements of them */
	} rows[] = {
		{ "aten::copy_", "1", "0", 0, 0 },
		{ "aten::fill_", "", "0", 0, 0 },
		{ "aten::zero_", "", "0", 0, 0 },
		{ "aten::normal_", "", "0", 0, 0 },
		{ "aten::uniform_", "", "0", 0, 0 },
		{ "aten::bernoulli_", "", "0", 0, 0 },
		{ "aten::native_dropout_backward", "01", "0", 0, 0 },
		/* Of rows as long as the weight, which is argument 2: 3^9 / 3^7. */
		{ "aten::native_layer_norm", "023", "0", 0, 2 * 9 },
		{ "aten::_fused_rms_norm", "02", "0", 0, 9 },
		{ "aten::native_layer_norm_backward", "01345", "156", 7, 0 },
		{ "aten::_fused_rms_norm_backward", "0134", "14", 5, 0 },
		{ "aten::native_group_norm", "012", "0", 0, 0 },
		{ "aten::native_group_norm_backward", "01234", "144", 9, 0 },
		{ "aten::native_batch_norm", "01234", "0", 0, 0 },
		{ "aten::cudnn_batch_norm", "01234", "0", 0, 0 },
		{ "aten::miopen_batch_norm", "01234", "0", 0, 0 },
		{ "aten::native_batch_norm_backward", "01256", "122", 9, 0 },
		{ "aten::cudnn_batch_norm_backward", "01256", "022", 0, 0 },
		{ "aten::miopen_batch_norm_backward", "01256", "022", 0, 0 },
		{ "aten::nll_loss_backward", "02", "1", 0, 0 },
		{ "aten::nll_loss2d_backward", "02", "1", 0, 0 },
		{ "aten::max_pool2d_with_indices_backward", "07", "1", 0, 0 },
		{ "aten::avg_pool2d_backward", "0", "1", 0, 0 },
		{ "aten::_adaptive_avg_pool2d_backward", "0", "1", 0, 0 },
		{ "aiter::rmsnorm", "12", "0", 0, 0 },
		{ "aiter::rms_norm", "01", "0", 0, 0 },
		{ "aiter::add_rmsnorm", "124", "03", 0, 0 },
		{ "aiter::rmsnorm2d_fwd_with_add_ck", "124", "03", 0, 0 },
		{ "_C::rms_norm", "12", "0", 0, 0 },
		{ "_C::fused_add_rms_norm", "012", "01", 0, 0 },
		{ "_C::silu_and_mul", "1", "0", 0, 0 },
		{ "sgl_kernel::silu_and_mul", "1", "0", 0, 0 },
	};
	static const double sizes[ARGUMENTS] = { 19683, 6561, 2187, 729, 243, 81, 27, 9, 3, 1 };
	static const char all[] =
		"[[1, 19683], [1, 6561], [1, 2187], [1, 729], [1, 243], [1, 81], [1, 27], [1, 9], "
		"[1, 3], [1, 1]] float, float, float, float, float, float, float, float, float, "
		"float";

	for (size_t i = 0; i < TSI_COUNT_OF(rows); i++) {
		double elements = rows[i].statistics;
		for (const char *at = rows[i].reads; *at; at++)
			elements += sizes[*at - '0'];
		for (const char *at = rows[i].writes; *at; at++)
			elements += sizes[*at - '0'];
		char concrete[64] = "[";
		for (unsigned at = 0; at < rows[i].mask_at; at++)
			strcat(concrete, ", ");
		strcat(concrete, "[False, True, True]]");
		struct op_work work;
		struct op_call call;
		tsi_op_call_parse(&call, tsi_str_of(all), (struct str){ 0 });
		assert_int_equal(tsi_op_bytes(&work, tsi_str_of(rows[i].name), &call),
				 OP_WORK_KNOWN);
		print_message("%s\n", rows[i].name);
		assert_true(work.bytes == 4 * elements);
		if (rows[i].mask_at == 0)
			continue;
		tsi_op_call_parse(&call, tsi_str_of(all), tsi_str_of(concrete));
		assert_int_equal(tsi_op_bytes(&work, tsi_str_of(rows[i].name), &call),
				 OP_WORK_KNOWN);
		assert_true(work.bytes == 4 * (elements - sizes[rows[i].writes[0] - '0']));
	}
}

TEST(softmax)
{
#define SOFTMAX "[[4, 10], [], []] c10::Half, Scalar, Scalar"
#define SOFTMAX_BACKWARD "[[4, 10], [4, 10], [], []] float, float, Scalar, Scalar"
	static const struct bytes_case cases[] = {
		{ "aten::_softmax", SOFTMAX, "[, -1, False]", 4.0 * 10 * (2 + 2), KERNEL_SOFTMAX },
		{ "aten::_log_softmax", SOFTMAX, "[, -1, True]", 4.0 * 10 * (2 + 4),
		  KERNEL_SOFTMAX },
		{ "aten::_softmax", SOFTMAX, "", NOT_KNOWN, 0 },
		{ "aten::_softmax_backward_data", SOFTMAX_BACKWARD, "[, , -1, 6]",
		  4.0 * 10 * (4 + 4 + 4), KERNEL_SOFTMAX },
		{ "aten::_softmax_backward_data", SOFTMAX_BACKWARD, "[, , -1, 15]",
		  4.0 * 10 * (4 + 4 + 2), KERNEL_SOFTMAX },
		{ "aten::_softmax_backward_data", SOFTMAX_BACKWARD, "[, , -1, 5]",
		  4.0 * 10 * (4 + 4 + 2), KERNEL_SOFTMAX },
		{ "aten::_softmax_backward_data", SOFTMAX_BACKWARD, "[, , -1, 7]",
		  4.0 * 10 * (4 + 4 + 8), KERNEL_SOFTMAX },
		{ "aten::_softmax_backward_data", SOFTMAX_BACKWARD, "[, , -1, 99]", NOT_KNOWN, 0 },
		{ "aten::_softmax_backward_data", SOFTMAX_BACKWARD, "", NOT_KNOWN, 0 },
		/* Older forms give the input itself, of which the type is asked only. */
		{ "aten::_log_softmax_backward_data",
		  "[[4, 10], [4, 10], [], [4, 10]] float, float, Int, c10::Half", "",
		  4.0 * 10 * (4 + 4 + 2), KERNEL_SOFTMAX },
	};

	check(cases, TSI_COUNT_OF(cases));
}

TEST(norms)
{
#define LAYER_NORM(weights)                                                                        \
	"[[4, 6, 32], [], " weights ", []] c10::Half, ScalarList, c10::Half, c10::Half, Scalar"
#define LAYER_NORM_BACKWARD                                                                        \
	"[[4, 32], [4, 32], [], [4, 1], [4, 1], [32], [32], []] c10::Half, c10::Half, "            \
	"ScalarList, float, float, c10::Half, c10::Half, ScalarList"
#define BATCH_NORM                                                                                 \
	"[[2, 16, 8, 8], [16], [16], [16], [16], [], [], []] c10::Half, float, float, float, "     \
	"float, Scalar, Scalar, Scalar"
#define BATCH_NORM_BACKWARD                                                                        \
	"[[2, 16, 8], [2, 16, 8], [16], [16], [16], [16], [16], [], [], []] float, float, float, " \
	"float, float, float, float, Scalar, Scalar, ScalarList"
	static const struct bytes_case cases[] = {
		/* In, out, two weights; mean and deviation of 24 rows, as floats. */
		{ "aten::native_layer_norm", LAYER_NORM("[32], [32]"), "[, [32], , , 1e-05]",
		  (2.0 * 4 * 6 * 32 + 2 * 32) * 2 + 2 * 24 * 4, KERNEL_NORM },
		{ "aten::native_layer_norm", LAYER_NORM("[32], [32]"), "",
		  (2.0 * 4 * 6 * 32 + 2 * 32) * 2 + 2 * 24 * 4, KERNEL_NORM },
		{ "aten::native_layer_norm",
		  "[[4, 6, 32], [], [], [], []] float, ScalarList, , , Scalar",
		  "[, [6, 32], , , 1e-05]", 2.0 * 4 * 6 * 32 * 4 + 2 * 4 * 4, KERNEL_NORM },
		/* Without weights and list nobody knows how long a row is. */
		{ "aten::native_layer_norm",
		  "[[4, 6, 32], [], [], [], []] double, ScalarList, , , Scalar", "",
		  2.0 * 4 * 6 * 32 * 8, KERNEL_NORM },
		{ "aten::native_layer_norm_backward", LAYER_NORM_BACKWARD,
		  "[, , [32], , , , , [True, True, True]]", (3.0 * 4 * 32 + 3 * 32) * 2 + 2 * 4 * 4,
		  KERNEL_NORM },
		{ "aten::native_layer_norm_backward", LAYER_NORM_BACKWARD,
		  "[, , [32], , , , , [True, False, False]]",
		  (3.0 * 4 * 32 + 1 * 32) * 2 + 2 * 4 * 4, KERNEL_NORM },
		{ "aten::native_layer_norm_backward", LAYER_NORM_BACKWARD,
		  "[, , [32], , , , , [False, True, False]]",
		  (2.0 * 4 * 32 + 2 * 32) * 2 + 2 * 4 * 4, KERNEL_NORM },
		/* Which are wanted is not said: all. */
		{ "aten::native_layer_norm_backward", LAYER_NORM_BACKWARD, "",
		  (3.0 * 4 * 32 + 3 * 32) * 2 + 2 * 4 * 4, KERNEL_NORM },
		{ "aten::_fused_rms_norm", "[[4, 32], [], [32], []] double, ScalarList, double, ",
		  "[, [32], , ]", (2.0 * 4 * 32 + 32) * 8 + 4 * 8, KERNEL_NORM },
		{ "aten::_fused_rms_norm_backward",
		  "[[4, 32], [4, 32], [], [4, 1], [32], []] float, float, ScalarList, float, "
		  "float, "
		  "ScalarList",
		  "[, , [32], , , [True, True]]", (3.0 * 4 * 32 + 4 + 2 * 32) * 4, KERNEL_NORM },
		/* Mean and deviation of 2 · 4 groups. */
		{ "aten::native_group_norm",
		  "[[2, 16, 8], [16], [16], [], [], [], [], []] float, float, float, Scalar, "
		  "Scalar, "
		  "Scalar, Scalar, Scalar",
		  "[, , , 2, 16, 8, 4, 1e-05]", (2.0 * 2 * 16 * 8 + 2 * 16 + 2 * 2 * 4) * 4,
		  KERNEL_NORM },
		{ "aten::native_group_norm_backward",
		  "[[2, 16, 8], [2, 16, 8], [2, 4], [2, 4], [16], [], [], [], [], []] float, "
		  "float, "
		  "float, float, float, Scalar, Scalar, Scalar, Scalar, ScalarList",
		  "[, , , , , 2, 16, 8, 4, [True, True, True]]",
		  (3.0 * 2 * 16 * 8 + 2 * 2 * 4 + 3 * 16) * 4, KERNEL_NORM },
		/* Reads two weights and two running statistics; writes these and those of the batch. */
		{ "aten::native_batch_norm", BATCH_NORM, "[, , , , , True, 0.1, 1e-05]",
		  2.0 * 2 * 16 * 64 * 2 + 8 * 16 * 4, KERNEL_NORM },
		{ "aten::cudnn_batch_norm", BATCH_NORM, "[, , , , , True, 0.1, 1e-05]",
		  2.0 * 2 * 16 * 64 * 2 + 8 * 16 * 4, KERNEL_NORM },
		{ "aten::miopen_batch_norm", BATCH_NORM, "[, , , , , True, 0.1, 1e-05]",
		  2.0 * 2 * 16 * 64 * 2 + 8 * 16 * 4, KERNEL_NORM },
		{ "aten::native_batch_norm",
		  "[[16, 8], [], [], [], [], [], []] float, , , , , Scalar", "[, , , , , True]",
		  2.0 * 16 * 8 * 4 + 2 * 8 * 4, KERNEL_NORM },
		{ "aten::cudnn_batch_norm", BATCH_NORM, "[, , , , , False, 0.1, 1e-05]",
		  2.0 * 2 * 16 * 64 * 2 + 4 * 16 * 4, KERNEL_NORM },
		/* Reads weight and two statistics of the batch; writes three gradients. */
		{ "aten::native_batch_norm_backward", BATCH_NORM_BACKWARD,
		  "[, , , , , , , True, 1e-05, [True, True, True]]",
		  (3.0 * 2 * 16 * 8 + 3 * 16 + 2 * 16) * 4, KERNEL_NORM },
		{ "aten::miopen_batch_norm_backward", BATCH_NORM_BACKWARD, "",
		  (3.0 * 2 * 16 * 8 + 3 * 16 + 2 * 16) * 4, KERNEL_NORM },
		/* The first two of aiter's are results. */
		{ "aiter::add_rmsnorm",
		  "[[4, 32], [4, 32], [4, 32], [4, 32], [32], []] c10::Half, c10::Half, "
		  "c10::Half, c10::Half, c10::Half, Scalar",
		  "", (4.0 * 4 * 32 + 32) * 2, KERNEL_NORM },
	};

	check(cases, TSI_COUNT_OF(cases));
}

TEST(reductions)
{
#define REDUCED "[[8, 16, 32], [], [], []] float, ScalarList, Scalar, "
	static const struct bytes_case cases[] = {
		{ "aten::sum", "[[8, 16], []] float, ", "[, ]", (8.0 * 16 + 1) * 4,
		  KERNEL_REDUCTION },
		{ "aten::sum", REDUCED, "[, [0], False, ]", (8.0 * 16 * 32 + 16 * 32) * 4,
		  KERNEL_REDUCTION },
		{ "aten::mean", REDUCED, "[, [-1, -3], True, ]", (8.0 * 16 * 32 + 16) * 4,
		  KERNEL_REDUCTION },
		{ "aten::mean", "[[8, 16], []] int, ", "[, ]", NOT_KNOWN, 0 },
		{ "aten::linalg_vector_norm", "[[8, 16], [], [], [], []] int, Scalar, , Scalar, ",
		  "[, 2, , False, ]", NOT_KNOWN, 0 },
		{ "aten::mean", REDUCED, "[, [], False, ]", (8.0 * 16 * 32 + 1) * 4,
		  KERNEL_REDUCTION },
		{ "aten::linalg_vector_norm", "[[8, 16], [], [], [], []] float, Scalar, , Scalar, ",
		  "[, 2, , False, ]", (8.0 * 16 + 1) * 4, KERNEL_REDUCTION },
		/* Dimensions not recorded, beyond the tensor; another type asked for; of integers. */
		{ "aten::sum", REDUCED, "", NOT_KNOWN, 0 },
		{ "aten::sum", REDUCED, "[, [3], False, ]", NOT_KNOWN, 0 },
		{ "aten::sum", REDUCED, "[, [-4], False, ]", NOT_KNOWN, 0 },
		{ "aten::sum", REDUCED, "[, [0], False, 7]", NOT_KNOWN, 0 },
		{ "aten::sum", "[[8, 16], []] float, Scalar", "[, 1]", NOT_KNOWN, 0 },
		{ "aten::sum", "[[8, 16], []] int, ", "[, ]", NOT_KNOWN, 0 },
		{ "aten::max", "[[8, 16]] float", "", (8.0 * 16 + 1) * 4, KERNEL_REDUCTION },
		{ "aten::max", "[[8, 16], [], []] float, Scalar, Scalar", "[, 1, False]",
		  8.0 * 16 * 4 + 8 * (4 + 8), KERNEL_REDUCTION },
		/* The larger of two tensors is another operator. */
		{ "aten::max", "[[8, 16], [8, 16]] float, float", "", NOT_KNOWN, 0 },
		{ "aten::argmax", "[[8, 16], [], []] float, Scalar, Scalar", "[, -1, False]",
		  8.0 * 16 * 4 + 8 * 8, KERNEL_REDUCTION },
		{ "aten::all", "[[8, 16]] bool", "", 8.0 * 16 + 1, KERNEL_REDUCTION },
		{ "aten::all", "[[8, 16], [], []] int, Scalar, Scalar", "[, 0, True]",
		  8.0 * 16 * 4 + 16, KERNEL_REDUCTION },
		{ "aten::any", "[[8, 16], [], []] int, Scalar, Scalar", "[, 0, True]",
		  8.0 * 16 * 4 + 16, KERNEL_REDUCTION },
		{ "aten::min", "[[8, 16], [], []] float, Scalar, Scalar", "[, 1, False]",
		  8.0 * 16 * 4 + 8 * (4 + 8), KERNEL_REDUCTION },
		{ "aten::argmin", "[[8, 16], [], []] float, Scalar, Scalar", "[, -1, False]",
		  8.0 * 16 * 4 + 8 * 8, KERNEL_REDUCTION },
		{ "aten::amin", "[[8, 16], [], []] int, ScalarList, Scalar", "[, [1], True]",
		  (8.0 * 16 + 8) * 4, KERNEL_REDUCTION },
		{ "aten::std", "[[8, 16], [], [], []] float, ScalarList, Scalar, Scalar",
		  "[, [1], 1, True]", (8.0 * 16 + 8) * 4, KERNEL_REDUCTION },
		{ "aten::amax", "[[8, 16], [], []] int, ScalarList, Scalar", "[, [1], True]",
		  (8.0 * 16 + 8) * 4, KERNEL_REDUCTION },
		{ "aten::var", "[[8, 16], [], [], []] float, ScalarList, Scalar, Scalar",
		  "[, [1], 1, True]", (8.0 * 16 + 8) * 4, KERNEL_REDUCTION },
		{ "aten::sum", "[[], []] float, ", "", 2.0 * 4, KERNEL_REDUCTION },
	};

	check(cases, TSI_COUNT_OF(cases));
}

TEST(lookups)
{
#define TABLE "c10::Half, long int, Scalar, Scalar, Scalar"
	static const struct bytes_case cases[] = {
		/* Fewer numbers than rows: each is read and written. More: each row is read once. */
		{ "aten::embedding", "[[1000, 64], [3, 5], [], [], []] " TABLE, "",
		  15.0 * 8 + 2 * 15 * 64 * 2, KERNEL_EMBEDDING },
		{ "aten::embedding", "[[10, 64], [3, 5], [], [], []] " TABLE, "",
		  15.0 * 8 + (10 + 15) * 64 * 2, KERNEL_EMBEDDING },
		{ "aten::embedding_dense_backward", "[[3, 5, 64], [3, 5], [], [], []] " TABLE,
		  "[, , 1000, -1, False]", 15.0 * 64 * 2 + 15 * 8 + 1000 * 64 * 2,
		  KERNEL_EMBEDDING },
		{ "aten::embedding_dense_backward", "[[3, 5, 64], [3, 5], [], [], []] " TABLE, "",
		  NOT_KNOWN, 0 },
		{ "aten::index_select", "[[20, 1000, 2], [], [7]] float, Scalar, int", "[, 1, ]",
		  7.0 * 4 + 2 * 7 * 20 * 2 * 4, KERNEL_EMBEDDING },
		{ "aten::index_select", "[[20, 1000, 2], [], [7]] float, Scalar, int", "[, -3, ]",
		  7.0 * 4 + 2 * 7 * 1000 * 2 * 4, KERNEL_EMBEDDING },
		{ "aten::index_select", "[[20, 1000], [], [7]] float, Scalar, int", "[, 2, ]",
		  NOT_KNOWN, 0 },
		{ "aten::index_select", "[[20, 1000], [], [7]] float, Scalar, int", "", NOT_KNOWN,
		  0 },
		{ "aten::gather", "[[20, 10], [], [20, 3], []] float, Scalar, long int, Scalar", "",
		  60.0 * (8 + 4 + 4), KERNEL_EMBEDDING },
		{ "aten::nll_loss_forward", "[[32, 10], [32], []] float, long int, ", "",
		  32.0 * (8 + 4), KERNEL_EMBEDDING },
		{ "aten::nll_loss2d_forward", "[[2, 3, 4], [2, 4], []] float, long int, ", "",
		  8.0 * (8 + 4), KERNEL_EMBEDDING },
		{ "aten::nll_loss_backward", "[[], [32, 10], [32], []] float, float, long int, ",
		  "", 4.0 + 32 * 8 + 32 * 10 * 4, KERNEL_EMBEDDING },
	};

	check(cases, TSI_COUNT_OF(cases));
}

TEST(what_is_not_understood_is_not_known)
{
	static const struct bytes_case cases[] = {
		{ "aten::mm", "[[8, 16], [16, 32]] float, float", "", NO_ROW_HAS_IT, 0 },
		{ "aten::mm_", "[[8, 16], [16, 32]] float, float", "", NO_ROW_HAS_IT, 0 },
		{ "relu", "[[8]] float", "", NO_ROW_HAS_IT, 0 },
		{ "aten::relu__", "[[8]] float", "", NO_ROW_HAS_IT, 0 },
		/* What is in place already is in place nowhere else. */
		{ "aten::embedding_", "[[8, 8], [8]] float, long int", "", NO_ROW_HAS_IT, 0 },
		{ "", "", "", NO_ROW_HAS_IT, 0 },
		{ "aten::relu", "", "", NOT_KNOWN, 0 },
		{ "aten::relu", "[[8, 16]]", "", NOT_KNOWN, 0 },
		{ "aten::relu", "[[8, -16]] float", "", NOT_KNOWN, 0 },
		{ "aten::relu", "[[8, 16] float", "", NOT_KNOWN, 0 },
		{ "aten::relu", "[[8, x]] float", "", NOT_KNOWN, 0 },
		{ "aten::relu", "[[1, 1, 1, 1, 1, 1, 1, 1, 1]] float", "", NOT_KNOWN, 0 },
		{ "aten::copy_", "[[8], [-8], []] float, float, Scalar", "", NOT_KNOWN, 0 },
		{ "aten::cat", "[[[8, 16], [8, 16]], []] TensorList, Scalar", "[, 0]",
		  NO_ROW_HAS_IT, 0 },
		{ "aten::_softmax", "[[]] Scalar", "", NOT_KNOWN, 0 },
		{ "aten::_softmax_backward_data", "[[]] Scalar", "", NOT_KNOWN, 0 },
		{ "aten::native_dropout", "[[]] Scalar", "", NOT_KNOWN, 0 },
		{ "aten::sum", "[[]] Scalar", "", NOT_KNOWN, 0 },
		{ "aten::gather", "[[]] Scalar", "", NOT_KNOWN, 0 },
		{ "aten::index_select", "[[]] Scalar", "", NOT_KNOWN, 0 },
		{ "aten::embedding_dense_backward", "[[]] Scalar", "", NOT_KNOWN, 0 },
		{ "aten::native_layer_norm", "[[-1], [], [], [], []] float", "", NOT_KNOWN, 0 },
		{ "aten::native_batch_norm", "[[8]] float", "", NOT_KNOWN, 0 },
		{ "aten::native_group_norm", "[[]] float", "", NOT_KNOWN, 0 },
		/* A weight without elements makes no rows. */
		{ "aten::native_layer_norm",
		  "[[4, 8], [], [0], [0]] float, ScalarList, float, float", "", 2.0 * 4 * 8 * 4,
		  KERNEL_NORM },
		{ "aten::relu_", "[[8]] c10::Float8_e8m0fnu", "", 2.0 * 8, KERNEL_ELEMENTWISE },
		{ "aten::mul", "[[8], [8]] c10::Float8_e8m0fnu, bool", "", NOT_KNOWN, 0 },
		{ "aten::native_group_norm", "[[2, 4], [], [], [], [], [], []] float, , , , , , ",
		  "[, , , , , , -5]", 2.0 * 2 * 4 * 4, KERNEL_NORM },
		{ "aten::embedding", "[[8], [8]] float, long int", "", 8.0 * 8 + 2 * 8 * 4,
		  KERNEL_EMBEDDING },
		{ "aten::embedding", "[[], [8]] float, long int", "", NOT_KNOWN, 0 },
		{ "aten::argmax", "[[8], [], []] float, Scalar, Scalar",
		  "[, -9223372036854775808, ]", NOT_KNOWN, 0 },
		/* Each is the largest that is read; the product of both is none that memory holds. */
		{ "aten::mul", "[[9007199254740992, 1], [1, 9007199254740992]] float, float", "",
		  (9007199254740992.0 * 2 + 9007199254740992.0 * 9007199254740992.0) * 4,
		  KERNEL_ELEMENTWISE },
	};

	check(cases, TSI_COUNT_OF(cases));
}
