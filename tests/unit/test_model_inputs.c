/* SPDX-License-Identifier: MIT */
/* model/trace/inputs.c, args.c: what operators are called with, and what autograd says of them. */
#include "model/trace/trace.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "trace_builder.h"

static const char *text(const struct tscope_trace *trace, uint32_t id)
{
	return tsi_intern_text(&trace->names, id).data;
}

/* ---- the three texts ----------------------------------------------------------------- */

#define CONV "aten::convolution"
#define MM "[[8, 128], [128, 64]]"
#define FLOAT_FLOAT "[\"float\", \"float\"]"

TEST(texts_of_inputs)
{
	static const struct {
		const char *name;
		struct test_op_args args;
		const char *signature, *concrete, *flops;
	} cases[] = {
		{ CONV, { 0 }, "", "", "" },
		{ CONV, { .dims = MM }, MM, "", "" },
		{ CONV, { .dims = MM, .types = FLOAT_FLOAT }, MM " float, float", "", "" },
		/* Some types are two words. */
		{ CONV,
		  { .dims = "[[8], []]", .types = "[ \"long int\" , \"unsigned char\" ]" },
		  "[[8], []] long int, unsigned char",
		  "",
		  "" },
		/* Neither types nor values mean anything without the sizes. */
		{ CONV, { .types = FLOAT_FLOAT, .concrete = "[\"1\"]" }, "", "", "" },

		/* Concrete inputs: items keep their places, lists lose their quotes. */
		{ CONV,
		  { .dims = "[[]]",
		    .concrete = "[\"\", \"\", \"[2, 2]\", \"1\", \"False\", "
				"\"0.088388347648318447\"]" },
		  "[[]]",
		  "[, , [2, 2], 1, False, 0.088388347648318447]",
		  "" },
		{ CONV, { .dims = "[]", .concrete = "[]" }, "[]", "[]", "" },
		{ CONV, { .dims = "[]", .concrete = "[\"\"]" }, "[]", "[]", "" },
		{ CONV, { .dims = "[]", .concrete = "[\"\", \"\"]" }, "[]", "[, ]", "" },
		{ CONV,
		  { .dims = "[]", .concrete = "[ \"-1\",\n\"1e-05\" ,\"[1,1]\"]" },
		  "[]",
		  "[-1, 1e-05, [1, 1]]",
		  "" },
		{ CONV,
		  { .dims = "[]", .concrete = "[1, true, [2,2]]" },
		  "[]",
		  "[1, true, [2, 2]]",
		  "" },
		{ CONV,
		  { .dims = "[]", .concrete = "[\"(2,2)\", \"[(1, 1), (2, 2)]\"]" },
		  "[]",
		  "[[2, 2], [[1, 1], [2, 2]]]",
		  "" },
		/* What would move the items behind it is left out. */
		{ CONV,
		  { .dims = "[]",
		    .concrete = "[\"bij,bjk->bik\", \"a\\\"b\", \"[\", \"]\", \"][\", \"7\"]" },
		  "[]",
		  "[, , , , , 7]",
		  "" },
		{ CONV,
		  { .dims = "[]", .concrete = "[\"\\\\\", \"a\\u002cb\", \"\xc3\xa4\", \"1\"]" },
		  "[]",
		  "[, , , 1]",
		  "" },
		{ CONV,
		  { .dims = "[]", .concrete = "[{\"a\": 1}, [\"x\"], null, 1]" },
		  "[]",
		  "[, , null, 1]",
		  "" },
		/* What is no list is nothing. */
		{ CONV, { .dims = "[]", .concrete = "{\"a\": [1]}" }, "[]", "", "" },
		{ CONV, { .dims = "[]", .concrete = "\"[1]\"" }, "[]", "", "" },
		{ CONV, { .dims = "[]", .concrete = "5" }, "[]", "", "" },
		/* Sizes of another form stand as they are: who reads them must see to it. */
		{ CONV, { .dims = "5", .types = "6" }, "5 6", "", "" },
		{ CONV, { .dims = "{\"a\": 1}", .types = "\"[\"" }, "{a:1} [", "", "" },

		/* Only where they matter. */
		{ "aten::mm", { .dims = MM, .concrete = "[\"\", \"1\"]" }, MM, "", "" },
		{ "aten::flatten", { .dims = "[]", .concrete = "[\"1\"]" }, "[]", "", "" },

		/* FLOPs: a number, quoted or not, with sizes or without. */
		{ "aten::mm", { .flops = "131072" }, "", "", "131072" },
		{ "aten::mm", { .dims = MM, .flops = "\"1.5e9\"" }, MM, "", "1.5e9" },
		{ "aten::mm", { .flops = "0" }, "", "", "0" },
		{ "aten::mm", { .flops = "-1" }, "", "", "" },
		{ "aten::mm", { .flops = "1e999" }, "", "", "" },
		{ "aten::mm", { .flops = "\"many\"" }, "", "", "" },
		{ "aten::mm", { .flops = "\"\"" }, "", "", "" },
		{ "aten::mm", { .flops = "[1]" }, "", "", "" },
		{ "aten::mm", { .flops = "null" }, "", "", "" },
		{ "aten::mm", { .flops = "NaN" }, "", "", "" },
	};
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct test_trace *t = test_trace_new();
		test_op_args(t, cases[i].name, 1, 0, 10, &cases[i].args);
		struct tscope_trace *trace = test_trace_finish(t);
		const struct op_inputs *inputs = tsi_op_inputs(trace, 0);
		print_message("%zu: %s\n", i, cases[i].args.concrete ? cases[i].args.concrete : "");
		assert_string_equal(text(trace, inputs->signature), cases[i].signature);
		assert_string_equal(text(trace, inputs->concrete), cases[i].concrete);
		assert_string_equal(text(trace, inputs->flops), cases[i].flops);
	}
}

/* The form of a list may be twice as long as its text, for each comma gets a blank. */
TEST(lists_that_grow)
{
	enum { COMMAS = 3000 };
	char list[COMMAS + 8];
	memset(list, ',', COMMAS + 4);
	memcpy(list, "[[", 2);
	memcpy(list + 2 + COMMAS, "]]", 3);

	struct test_trace *t = test_trace_new();
	test_op_inputs(t, CONV, 1, 0, 10, list, NULL, NULL);
	test_op_inputs(t, CONV, 1, 20, 10, "[]", NULL, list);
	struct tscope_trace *trace = test_trace_finish(t);
	assert_int_equal(strlen(text(trace, tsi_op_inputs(trace, 0)->signature)), 4 + 2 * COMMAS);
	assert_int_equal(strlen(text(trace, tsi_op_inputs(trace, 1)->concrete)), 4 + 2 * COMMAS);
}

/* ---- equal inputs share one ---------------------------------------------------------- */

TEST(equal_inputs_share_one)
{
	static const struct {
		const char *name;
		struct test_op_args args;
		uint32_t inputs;
	} cases[] = {
		{ "aten::mm", { 0 }, 0 },
		{ "aten::mm", { .dims = MM, .types = FLOAT_FLOAT }, 1 },
		{ "aten::mm", { .dims = MM, .types = FLOAT_FLOAT }, 1 },
		{ "aten::matmul", { .dims = MM, .types = FLOAT_FLOAT }, 1 }, /* another operator */
		{ "aten::mm", { .dims = MM, .types = "[\"double\", \"float\"]" }, 2 },
		{ "aten::mm", { .dims = MM }, 3 },
		{ "aten::mm", { .dims = "[[8, 128], [128, 65]]", .types = FLOAT_FLOAT }, 4 },
		/* No product asks for its concrete inputs, every convolution does. */
		{ "aten::mm", { .dims = MM, .types = FLOAT_FLOAT, .concrete = "[\"1\"]" }, 1 },
		{ CONV, { .dims = MM, .types = FLOAT_FLOAT, .concrete = "[\"1\"]" }, 5 },
		{ CONV, { .dims = MM, .types = FLOAT_FLOAT, .concrete = "[\"2\"]" }, 6 },
		{ CONV, { .dims = MM, .types = FLOAT_FLOAT, .concrete = "[\"1\"]" }, 5 },
		{ CONV, { .dims = MM, .types = FLOAT_FLOAT }, 1 },
		/* The same text in another place. */
		{ CONV, { .dims = "[]", .types = "[]" }, 7 },
		{ CONV, { .dims = "[]", .concrete = "[]" }, 8 },
		{ CONV, { .dims = "[]", .flops = "[]" }, 9 },
		{ CONV, { .flops = "5" }, 10 },
		{ CONV, { .dims = "5" }, 11 },
		{ CONV, { .flops = "5" }, 10 },
		{ "aten::mm", { 0 }, 0 },
	};
	struct test_trace *t = test_trace_new();
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		test_op_args(t, cases[i].name, 1, 10 * (int64_t)i, 5, &cases[i].args);
	struct tscope_trace *trace = test_trace_finish(t);
	for (uint32_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		print_message("%u\n", i);
		assert_int_equal(tsi_cpu_op(trace, i)->inputs, cases[i].inputs);
	}
	assert_int_equal(trace->op_inputs_count, 12);
}

/* However the file writes them, equal sizes have equal texts. */
TEST(blanks_do_not_tell_signatures_apart)
{
	struct test_trace *t = test_trace_new();
	test_op_inputs(t, "aten::mm", 1, 0, 5, MM, FLOAT_FLOAT, NULL);
	test_op_inputs(t, "aten::mm", 1, 10, 5, "[[8,128],[128,64]]", "[\"float\",\"float\"]",
		       NULL);
	struct tscope_trace *trace = test_trace_finish(t);
	assert_int_equal(tsi_op_inputs(trace, 0)->signature, tsi_op_inputs(trace, 1)->signature);
}

TEST(the_first_inputs_say_nothing)
{
	struct test_trace *t = test_trace_new();
	test_kernel(t, "k", 0, 7, 0, 10, 1);
	struct tscope_trace *trace = test_trace_finish(t);
	assert_int_equal(trace->cpu_op_count, 0);
	assert_int_equal(trace->op_inputs_count, 1);
	assert_int_equal(trace->op_inputs[0].signature, 0);
	assert_int_equal(trace->op_inputs[0].concrete, 0);
	assert_int_equal(trace->op_inputs[0].flops, 0);
}

/* ---- forward and backward ------------------------------------------------------------ */

TEST(forward_and_backward)
{
	static const struct {
		struct test_op_args args;
		bool is_forward, is_backward;
	} cases[] = {
		{ { 0 }, false, false },
		{ { .sequence = "7" }, true, false },
		{ { .sequence = "0", .forward_thread = "0" }, true, false },
		{ { .sequence = "7", .forward_thread = "1" }, false, true },
		{ { .sequence = "7", .forward_thread = "12" }, false, true },
		{ { .forward_thread = "1" }, false, true },
		{ { .forward_thread = "0" }, false, false },
		{ { .sequence = "-1", .forward_thread = "0" }, false, false },
		{ { .sequence = "\"x\"" }, false, false },
		{ { .sequence = "[7]", .forward_thread = "{\"1\": 1}" }, false, false },
		{ { .sequence = "18446744073709551615", .forward_thread = "1e99" }, false, true },
	};
	struct test_trace *t = test_trace_new();
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		test_op_args(t, "aten::mm", 1, 10 * (int64_t)i, 5, &cases[i].args);
	struct tscope_trace *trace = test_trace_finish(t);
	for (uint32_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		print_message("%u\n", i);
		assert_int_equal(tsi_cpu_op(trace, i)->is_forward, cases[i].is_forward);
		assert_int_equal(tsi_cpu_op(trace, i)->is_backward, cases[i].is_backward);
	}
}

/* In either order, for files that another tool has rewritten. */
TEST(members_come_in_any_order)
{
	struct test_trace *t = test_trace_new();
	test_span_args(t, "cpu_op", CONV, 1, 0, 5,
		       "{\"Fwd thread id\": 1, \"Input Dims\": [[2]], \"Sequence number\": 5, "
		       "\"Concrete Inputs\": [\"3\"], \"Input type\": [\"float\"]}");
	struct tscope_trace *trace = test_trace_finish(t);
	assert_true(tsi_cpu_op(trace, 0)->is_backward);
	assert_false(tsi_cpu_op(trace, 0)->is_forward);
	assert_string_equal(text(trace, tsi_op_inputs(trace, 0)->signature), "[[2]] float");
	assert_string_equal(text(trace, tsi_op_inputs(trace, 0)->concrete), "[3]");
}

/* ---- many, and none ------------------------------------------------------------------ */

enum { MANY = 3000 };

/* Names and inputs that are all different, so that every table grows a few times. */
static struct test_trace *many_inputs(void)
{
	struct test_trace *t = test_trace_new();
	for (int i = 0; i < MANY; i++) {
		char name[32], dims[32], concrete[32];
		snprintf(name, sizeof(name), "conv%d", i);
		snprintf(dims, sizeof(dims), "[[%d]]", i);
		snprintf(concrete, sizeof(concrete), "[\"%d\"]", 2 * i);
		test_op_inputs(t, name, 1, 10 * (int64_t)i, 5, dims, NULL, concrete);
		test_op_inputs(t, "aten::mm", 1, 10 * (int64_t)i + 5, 5, dims, NULL, concrete);
	}
	return t;
}

TEST(many_inputs_keep_apart)
{
	struct tscope_trace *trace = test_trace_finish(many_inputs());
	assert_int_equal(trace->op_inputs_count, 1 + 2 * MANY);
	for (uint32_t i = 0; i < MANY; i++) {
		char wanted[32];
		snprintf(wanted, sizeof(wanted), "[%u]", 2 * i);
		assert_string_equal(text(trace, tsi_op_inputs(trace, 2 * i)->concrete), wanted);
		snprintf(wanted, sizeof(wanted), "[[%u]]", i);
		assert_string_equal(text(trace, tsi_op_inputs(trace, 2 * i + 1)->signature),
				    wanted);
		assert_int_equal(tsi_op_inputs(trace, 2 * i + 1)->concrete, 0);
	}
}

TEST(inputs_have_a_limit)
{
	/* "", "100", "1", "cpu_op", "a", "[[1]]": the second signature is one text too many. */
	struct test_trace *t = test_trace_new_with(&(struct builder_options){ .max_names = 6 });
	struct tscope_trace *trace;
	struct tscope_error err;
	test_op_inputs(t, "a", 1, 0, 5, "[[1]]", NULL, NULL);
	test_op_inputs(t, "a", 1, 10, 5, "[[2]]", NULL, NULL);
	assert_int_equal(test_trace_try_finish(t, &trace, &err), TSCOPE_E_LIMIT);
	assert_string_equal(err.message, "more than 6 different names (limit: names)");
	assert_null(trace);
}

TEST(every_allocation_may_fail)
{
	struct alloc_sweep sweep = { .at_least = 50 };
	while (alloc_sweep_next(&sweep)) {
		struct tscope_trace *trace = NULL;
		alloc_sweep_try(&sweep, test_trace_try_finish(many_inputs(), &trace, &sweep.err));
		assert_int_equal(!trace, sweep.has_failed);
		tscope_trace_free(trace);
	}
}
