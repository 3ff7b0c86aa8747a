/* SPDX-License-Identifier: MIT */
/* The texts of what operators were called with: sizes, types, numbers. */
#include "analyze/ops/op_inputs.h"

#include "base/array.h"
#include "check.h"
#include "op_check.h"

TEST(reads_tensors)
{
	struct op_call call;
	struct tensor tensor;

	tsi_op_call_parse(&call,
			  TSI_STR("[[8, 128], [], [[2, 3], [4], []], [], []] c10::Half, double, "
				  "TensorList, Double, "),
			  TSI_STR("[, , , 0.5, ]"));
	assert_int_equal(call.count, 5);
	assert_true(tsi_op_tensor(&call, 0, &tensor));
	assert_int_equal(tensor.dim_count, 2);
	assert_int_equal(tensor.dims[1], 128);
	assert_true(tsi_str_is(tensor.type, "c10::Half"));
	assert_true(tsi_tensor_elements(&tensor) == 8 * 128 &&
		    tsi_tensor_bytes(&tensor) == 2.0 * 8 * 128);
	assert_true(tsi_op_tensor(&call, 1, &tensor)); /* of no dims */
	assert_int_equal(tensor.dim_count, 0);
	assert_true(tsi_tensor_bytes(&tensor) == 8);
	/* A list, a number, one that is absent, and behind the last. */
	for (unsigned i = 2; i < 7; i++)
		assert_false(tsi_op_tensor(&call, i, &tensor));
}

TEST(reads_values)
{
	struct op_call call;
	struct tensor tensor;
	int64_t numbers[3], number;
	bool flags[3], flag;
	unsigned count;

	tsi_op_call_parse(&call, TSI_STR("[[8, 128]] float"), TSI_STR("[, [2, 2], True]"));
	assert_int_equal(call.count, 3); /* dims of tensors only */
	assert_true(tsi_op_bool(&call, 2, &flag) && flag);
	assert_false(tsi_op_tensor(&call, 1, &tensor));
	tsi_op_call_parse(&call, TSI_STR("[[], [], [], [], [], []]"),
			  TSI_STR("[[1, -2], 7, True, [False, True], \\same\\, 0.5]"));
	assert_true(tsi_op_ints(&call, 0, numbers, 3, &count));
	assert_true(count == 2 && numbers[0] == 1 && numbers[1] == -2);
	assert_false(tsi_op_ints(&call, 0, numbers, 1, &count));
	assert_false(tsi_op_sizes(&call, 0, &tensor)); /* below 0 */
	assert_true(tsi_op_int(&call, 1, &number) && number == 7);
	assert_true(tsi_op_ints(&call, 1, numbers, 3, &count) && count == 1 && numbers[0] == 7);
	assert_true(tsi_op_bool(&call, 2, &flag) && flag);
	assert_true(tsi_op_bools(&call, 3, flags, 3, &count) && count == 2 && !flags[0] &&
		    flags[1]);
	assert_false(tsi_op_bools(&call, 3, flags, 1, &count));
	assert_true(tsi_str_is(tsi_op_text(&call, 4), "same"));
	assert_false(tsi_op_int(&call, 5, &number));
	assert_false(tsi_op_int(&call, 6, &number));
	assert_false(tsi_op_bool(&call, 6, &flag));
	assert_int_equal(tsi_op_text(&call, 6).length, 0);
}

TEST(too_many_inputs_are_none)
{
	char text[8 * MAX_OP_INPUTS] = "[";
	struct op_call call;

	for (unsigned i = 0; i < MAX_OP_INPUTS; i++)
		strcat(text, i ? ", [1]" : "[1]");
	strcat(text, "]");
	tsi_op_call_parse(&call, tsi_str_of(text), TSI_STR(""));
	assert_int_equal(call.count, MAX_OP_INPUTS);
	strcpy(text + strlen(text) - 1, ", [1]]");
	tsi_op_call_parse(&call, tsi_str_of(text), TSI_STR(""));
	assert_int_equal(call.count, 0);
}

TEST(types)
{
	static const struct {
		const char *name;
		unsigned bytes;
		int precision;
	} cases[] = {
		{ "float", 4, FP32 },
		{ "double", 8, FP64 },
		{ "c10::Half", 2, FP16 },
		{ "c10::BFloat16", 2, BF16 },
		{ "c10::Float8_e4m3fn", 1, FP8 },
		{ "c10::Float8_e4m3fnuz", 1, FP8 },
		{ "c10::Float8_e5m2", 1, FP8 },
		{ "c10::Float8_e5m2fnuz", 1, FP8 },
		{ "c10::Float4_e2m1fn_x2", 1, FP4 },
		{ "signed char", 1, INT8 },
		{ "unsigned char", 1, INT8 },
		{ "bool", 1, UNKNOWN },
		{ "short int", 2, UNKNOWN },
		{ "int", 4, UNKNOWN },
		{ "unsigned int", 4, UNKNOWN },
		{ "long int", 8, UNKNOWN },
		{ "long", 8, UNKNOWN },
		{ "__int64", 8, UNKNOWN },
		{ "c10::complex<float>", 8, FP32 },
		{ "c10::complex<double>", 16, FP64 },
		{ "Float", 4, FP32 },
		{ "BFloat16", 2, BF16 },
		/* numbers and lists of older traces, and what we have never seen */
		{ "Double", 0, UNKNOWN },
		{ "Int", 0, UNKNOWN },
		{ "Scalar", 0, UNKNOWN },
		{ "TensorList", 0, UNKNOWN },
		{ "", 0, UNKNOWN },
		{ "c10::Float2", 0, UNKNOWN },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct str name = tsi_str_of(cases[i].name);
		assert_int_equal(tsi_type_bytes(name), cases[i].bytes);
		assert_int_equal(tsi_type_precision(name), cases[i].precision);
		assert_int_equal(tsi_type_is_complex(name), tsi_str_starts(name, "c10::complex"));
	}
}

/* Numbers of c10::ScalarType: byte, int, half, float, double, bfloat16, two of fp8. */
TEST(types_by_number)
{
	static const struct {
		int64_t number;
		unsigned bytes;
	} cases[] = {
		{ INT64_MIN, 0 }, { -1, 0 }, { 0, 0 },  { 3, 4 },  { 5, 2 },  { 6, 4 },
		{ 7, 8 },         { 15, 2 }, { 23, 1 }, { 24, 1 }, { 25, 0 }, { INT64_MAX, 0 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		assert_int_equal(tsi_type_number_bytes(cases[i].number), cases[i].bytes);
}

TEST(shapes_for_people)
{
	static const struct {
		const char *signature, *shape;
	} cases[] = {
		{ "", "" },
		{ "no list", "" },
		{ "[[8192, 4096], [4096, 1024]] float, float", "8192x4096, 4096x1024" },
		{ "[[64], [8, 16], [], [16, 64], []] float, float, Scalar, float, ",
		  "64, 8x16, 16x64" },
		{ "[[], [0, 3]] float, float", "scalar, 0x3" },
		{ "[[[2, 3], [4]], [7]] TensorList, float", "list, 7" },
		/* 79 characters have room: three of 23, two commas with a blank, and " ..." are 77 */
		{ "[[100, 200, 300, 400, 500, 600], [100, 200, 300, 400, 500, 601], "
		  "[100, 200, 300, 400, 500, 602], [1]] float, float, float, float",
		  "100x200x300x400x500x600, 100x200x300x400x500x601, "
		  "100x200x300x400x500x602 ..." },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		char shape[OP_SHAPE_CHARS];

		tsi_op_shape(shape, tsi_str_of(cases[i].signature));
		assert_string_equal(shape, cases[i].shape);
	}
}
