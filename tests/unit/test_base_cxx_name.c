/* SPDX-License-Identifier: MIT */
/* Names of real kernels, and of none; mangled ones as libiberty reads them, and without it. */
#include "base/cxx_name.h"

#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "config.h"

struct name_case {
	const char *name, *text, *brief;
};

static const struct name_case cases[] = {
	{ "void at::native::vectorized_elementwise_kernel<4, "
	  "at::native::FillFunctor<c10::BFloat16>, "
	  "at::detail::Array<char*, 1> >(int, at::native::FillFunctor<c10::BFloat16>, "
	  "at::detail::Array<char*, 1>)",
	  "vectorized_elementwise_kernel<4, FillFunctor<bf16>>",
	  "vectorized_elementwise_kernel<FillFunctor>" },
	{ "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda("
	  "at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#7}::operator()() "
	  "const::{lambda(float)#1}, at::detail::Array<char*, 2>>(int)",
	  "unrolled_elementwise_kernel<direct_copy_kernel_cuda(float)>",
	  "unrolled_elementwise_kernel<direct_copy_kernel_cuda>" },
	{ "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
	  "at::native::func_wrapper_t<float, at::native::sum_functor<float, float, "
	  "float>::operator()("
	  "at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, float, 4> >(void)",
	  "reduce_kernel<512, 1, ReduceOp<float, sum_functor<float, float, float>(float, float), "
	  "uint, "
	  "float, 4>>",
	  "reduce_kernel<ReduceOp<sum_functor>>" },
	{ "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64>(Params)",
	  "cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64",
	  "cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64" },
	{ "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, (bool)1, 128u>(float)",
	  "kernel<int, 1, 128u>", "kernel" },
	{ "void (anonymous namespace)::f<int const*, float&>()", "f<int, float>", "f" },
	{ "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
	  "ncclKernel_AllReduce_RING_LL_Sum_float", "ncclKernel_AllReduce_RING_LL_Sum_float" },
	/* cut off */
	{ "void f<g<int, h", "f<g<int, h>>", "f<g<h>>" },
	{ "void f(", "f", "f" },
	/* no functions of C++ */
	{ "ampere_sgemm_128x64_nn", "ampere_sgemm_128x64_nn", "ampere_sgemm_128x64_nn" },
	{ "Memcpy DtoD (Device -> Device)", "Memcpy DtoD (Device -> Device)",
	  "Memcpy DtoD (Device -> Device)" },
	{ "", "", "" },
	{ "<>", "<>", "<>" },
	{ "void ", "void ", "void " },
	/* mangled, and known by their paths alone: a type that libiberty may not know, one cut off */
	{ "_ZN5aiter19topksoftmax_4x128x6E", "topksoftmax_4x128x6", "topksoftmax_4x128x6" },
	{ "_ZN19cutlass_cudnn_train6KernelINS_4conv6kernel23ImplicitGemmConvolutionINS1_11thr",
	  "ImplicitGemmConvolution", "ImplicitGemmConvolution" },
	{ "_Z", "_Z", "_Z" },
	{ "_ZN99f", "_ZN99f", "_ZN99f" },
};

TEST(names_are_as_people_say_them)
{
	struct arena arena = { 0 };
	size_t failures = 0;

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		const char *text = tsi_cxx_name(&arena, cases[i].name, CXX_ARGUMENTS);
		const char *brief = tsi_cxx_name(&arena, cases[i].name, CXX_TYPES);
		if (strcmp(text, cases[i].text) != 0 || strcmp(brief, cases[i].brief) != 0) {
			printf("%s\n  text  %s\n  brief %s\n", cases[i].name, text, brief);
			failures++;
		}
	}
	tsi_arena_deinit(&arena);
	assert_int_equal(failures, 0);
}

TEST(libiberty_knows_types)
{
	struct arena arena = { 0 };
	const char *text = tsi_cxx_name(&arena, "_ZN5aiter4copyIfLi4EEEvPT_", CXX_ARGUMENTS);

	assert_string_equal(text, HAVE_LIBIBERTY ? "copy<float, 4>" : "copy");
	tsi_arena_deinit(&arena);
}

/* "A(A<A(…" deeper than anything is read. */
TEST(deep_names_are_survived)
{
	enum { DEPTH = 8000 };
	struct arena arena = { 0 };
	char *name = calloc(2 * DEPTH + 1, 1);

	assert_non_null(name);
	for (size_t i = 0; i < DEPTH; i++)
		memcpy(name + 2 * i, i % 2 ? "A<" : "A(", 2);
	assert_true(strlen(tsi_cxx_name(&arena, name, CXX_ARGUMENTS)) <= 2 * DEPTH);
	free(name);
	tsi_arena_deinit(&arena);
}

/* "f(B<int, int>, B<B<int, int>, B<int, int>>, …)": each of them twice as long as the last. */
TEST(names_of_gigabytes_are_not_written)
{
	enum { PAIRS = 34 };
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char name[PAIRS * 16] = "_Z1f1BIiiE";
	struct arena arena = { 0 };

	for (size_t i = 0; i < PAIRS; i++)
		sprintf(name + strlen(name), "S_IS%c_S%c_E", digits[i], digits[i]);
	assert_string_equal(tsi_cxx_name(&arena, name, CXX_ARGUMENTS), "f");
	tsi_arena_deinit(&arena);
}
