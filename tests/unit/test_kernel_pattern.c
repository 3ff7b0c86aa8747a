/* SPDX-License-Identifier: MIT */
/* Where words begin in names of kernels, and which patterns fit them. */
#include "model/trace/kernel_pattern.h"

#include "base/attributes.h"
#include "check.h"

static bool fits(const char *pattern, const char *text, enum name_depth depth)
{
	struct kernel_name name;

	tsi_kernel_name_read(&name, tsi_str_of(text));
	return tsi_kernel_pattern_fits(tsi_str_of(pattern), depth, &name);
}

TEST(head_and_arguments)
{
	static const struct {
		const char *name, *head, *deep;
	} cases[] = {
		{ "", "", "" },
		{ "void ", "", "" },
		{ "gemm", "gemm", "gemm" },
		{ "f(int)", "f", "f" },
		{ "void a::b<c::d>(e)", "a::b", "a::b<c::d>" },
		{ "void a::b<c<d> >(e)", "a::b", "a::b<c<d> >" },
		{ "void a::b<(c)0, d(e)>(f)", "a::b", "a::b<(c)0, d(e)>" },
		{ "void a::b<c", "a::b", "a::b<c" },
		{ "void a<b>::c<d>(e)", "a", "a<b>::c<d>" },
		{ "a<b->c>(d)", "a", "a<b->c>" },
		{ "void a::(anonymous namespace)::b<c>(d)", "a::(anonymous namespace)::b",
		  "a::(anonymous namespace)::b<c>" },
		{ "<unnamed>::b<c>", "<unnamed>::b", "<unnamed>::b<c>" },
		{ "std::enable_if<!(false), void>::type a::b<int>(c)", "a::b", "a::b<int>" },
		{ "std::enable_if<no", "std::enable_if", "std::enable_if<no" },
		{ ">)(", ">)", ">)" },
		{ "void ck_tile::kentry<256, 2, ck_tile::a<b<c>, d>, e>(f)",
		  "ck_tile::kentry<256, 2, ck_tile::a",
		  "ck_tile::kentry<256, 2, ck_tile::a<b<c>, d>, e>" },
		{ "ck_tile::kentry<1>(a)", "ck_tile::kentry<1>", "ck_tile::kentry<1>" },
		{ "ck_tile::kentry<", "ck_tile::kentry<", "ck_tile::kentry<" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct kernel_name name;
		print_message("%s\n", cases[i].name);
		tsi_kernel_name_read(&name, tsi_str_of(cases[i].name));
		assert_true(tsi_str_equal(name.head, tsi_str_of(cases[i].head)));
		assert_true(tsi_str_equal(name.deep, tsi_str_of(cases[i].deep)));
	}
}

TEST(patterns)
{
	static const struct {
		const char *pattern, *name;
		bool fits;
	} cases[] = {
		{ "norm", "rms_norm", true },
		{ "norm", "fusedNorm2d", true },
		{ "norm", "_ZN5aiter4normE", true },
		{ "norm", "NORM", true },
		{ "norm", "abnormal", false },
		{ "norm", "RMSNorm", false }, /* no small letter before it */
		{ "*norm", "RMSNorm", true },
		{ "norm", "normalize", true },
		{ "norm", "", false },
		{ "norm", "nor", false },
		{ "^norm", "norm_a", true },
		{ "^norm", "a_norm", false },
		{ "^norm", "void norm", true },
		{ "|nccl", "ncclKernel", true },
		{ "|nccl", "a::ncclKernel", true },
		{ "|nccl", "a::(anonymous namespace)::ncclKernel", true },
		{ "|nccl", "my_nccl", false },
		{ "|nccl", "f4nccl", false },
		{ "|pa_", "_ZN5aiter28pa_bf16E", true },
		{ "|pa_", "ZN5aiter28pa_bf16E", true },
		{ "a..b", "a_c_b", true },
		{ "a..b", "b_a", false },
		{ "a..b", "a_cb", false },
		{ "a..*b", "a_cb", true },
		{ "^a..c..e", "a_b_c_d_e", true },
		{ "^a..c..e", "a_b_e_d_c", false },
		{ "x?z", "xyz", true },
		{ "x?z", "xz", false },
		{ "sm#_t", "sm90_t", true },
		{ "sm#_t", "sm100_t", true },
		{ "sm#_t", "sm_t", false },
		{ "sm#", "a_sm9", true },
		{ "copy", "a<copy>(int)", false },
		{ "copy", "a(copy)", false },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		print_message("%s in %s\n", cases[i].pattern, cases[i].name);
		assert_int_equal(fits(cases[i].pattern, cases[i].name, NAME_HEAD), cases[i].fits);
	}
	assert_true(fits("copy", "a<copy>(int)", NAME_DEEP));
	assert_false(fits("copy", "a<b>(copy)", NAME_DEEP));
	assert_true(fits("a..copy", "a<my_copy>(int)", NAME_DEEP));
}
