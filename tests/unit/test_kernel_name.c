/* SPDX-License-Identifier: MIT */
/* Normal names of kernels and operators as real libraries write them, and of hostile ones. */
#include "diff/kernel_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attributes.h"
#include "check.h"
#include "random_numbers.h"

struct name_case {
	const char *name, *normal;
};

static void check_names(const struct name_case *cases, size_t count)
{
	char normal[512];

	for (size_t i = 0; i < count; i++) {
		size_t length = tsi_normal_kernel_name(cases[i].name, normal, sizeof(normal));
		assert_string_equal(normal, cases[i].normal);
		assert_int_equal(length, strlen(normal));
	}
}

TEST(cpp_names)
{
	static const struct name_case cases[] = {
		{ "void ns::kernel<float, 128, false>(float*, int)", "ns::kernel" },
		{ "ns::kernel(float*, std::array<char*, 2ul>)", "ns::kernel" },
		{ "void kernel<4>", "kernel" }, /* some writers cut parameters off */
		{ "void kernel_64addr", "kernel_64addr" },
		{ "at::cuda::(anonymous namespace)::spin_kernel(long)", "at::cuda::spin_kernel" },
		{ "void (anonymous namespace)::softmax_warp_forward<c10::Half, float, float, 7, "
		  "false>(float*, c10::Half const*, int)",
		  "softmax_warp_forward" },
		{ "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, float, true, "
		  "7, cublasGemvParams<cublasGemvTensor<float const> > >(cublasGemvParams)",
		  "internal::gemvx::kernel<cublasGemvParams,cublasGemvTensor>" },
		/* The functor is the work, and so is the function whose lambda is called. */
		{ "void at::native::vectorized_elementwise_kernel<4, at::native::"
		  "CUDAFunctor_add<float>, std::array<char*, 3ul> >(int, at::native::"
		  "CUDAFunctor_add<float>, std::array<char*, 3ul>)",
		  "at::native::vectorized_elementwise_kernel<CUDAFunctor_add>" },
		{ "void at::native::vectorized_elementwise_kernel<8, at::native::"
		  "CUDAFunctor_add<c10::BFloat16>, at::detail::Array<char*, 3> >(int) [clone .kd]",
		  "at::native::vectorized_elementwise_kernel<CUDAFunctor_add>" },
		{ "void at::native::vectorized_elementwise_kernel<4, at::native::cos_kernel_cuda("
		  "at::TensorIteratorBase&)::{lambda()#2}::operator()() const::{lambda()#4}::"
		  "operator()() const::{lambda(float)#1}, std::array<char*, 2ul> >(int)",
		  "at::native::vectorized_elementwise_kernel<cos_kernel_cuda>" },
		{ "void at::native::vectorized_elementwise_kernel<4, at::native::sin_kernel_cuda("
		  "at::TensorIterator&)::'lambda0'()::operator()() const::'lambda'(float), "
		  "std::array<char*, 2ul> >(int)",
		  "at::native::vectorized_elementwise_kernel<sin_kernel_cuda>" },
		{ "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<"
		  "at::native::BinaryFunctor<float, float, float, at::native::binary_internal::"
		  "MulFunctor<float> > >(at::TensorIteratorBase&)::{lambda(int)#1}>(int)",
		  "at::native::elementwise_kernel<BinaryFunctor,MulFunctor>" },
		{ "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::"
		  "func_wrapper_t<float, at::native::sum_functor<float, float, float>::operator()("
		  "at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, float, 4> >(int)",
		  "at::native::reduce_kernel<ReduceOp,sum_functor>" },
		{ "void fmha::flash_fwd_kernel<fmha::Flash_fwd_kernel_traits<64, 128, 4, false, "
		  "cutlass::bfloat16_t, fmha::Flash_kernel_traits<64, cutlass::bfloat16_t> >, "
		  "false>(fmha::Flash_fwd_params)",
		  "fmha::flash_fwd_kernel<Flash_fwd_kernel_traits,Flash_kernel_traits>" },
		{ "void cub::DeviceRadixSortOnesweepKernel<cub::DeviceRadixSortPolicy<long, int>::"
		  "Policy800, false>(int*)",
		  "cub::DeviceRadixSortOnesweepKernel<DeviceRadixSortPolicy>" },
		{ "void rocprim::ROCPRIM_400200_NS::detail::scan_kernel<(rocprim::"
		  "ROCPRIM_400200_NS::target_arch)942, long>(int)",
		  "rocprim::detail::scan_kernel" },
		{ "void f<A>::g<B>(int)", "f<A>::g<B>" },
	};

	check_names(cases, TSI_COUNT_OF(cases));
}

TEST(matrix_products)
{
	static const struct name_case cases[] = {
		{ "volta_sgemm_128x64_nn", "sgemm_nn" },
		{ "ampere_sgemm_32x32_sliced1x4_nn", "sgemm_nn" },
		{ "ampere_sgemm_128x64_tn", "sgemm_tn" }, /* transposes are work */
		{ "ampere_fp16_s16816gemm_fp16_128x64_ldg8_relu_f2f_stages_32x6_tn",
		  "fp16_s16816gemm_fp16_tn" },
		{ "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64_64x6"
		  "_tn_align8>(cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64_64x6_tn_align8"
		  "::Params)",
		  "cutlass::Kernel2<cutlass_tensorop_bf16_s16816gemm_bf16_tn>" },
		{ "sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x32_stage4_warpsize2x2x1_"
		  "tensor16x8x16_kernel",
		  "xmma_gemm_f16f16_f16f32_f32_tn_n" },
		{ "sm90_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize64x64x64_warpgroupsize1x1x1_"
		  "execute_segment_k_off_kernel__5x_cublas",
		  "xmma_gemm_f16f16_f16f32_f32_tn_n" },
		{ "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize64x64x64_execute_split_k_kernel__"
		  "5x_cublas",
		  "xmma_gemm_f32f32_tf32f32_f32_tn_n" },
		{ "cudnn_infer_volta_scudnn_128x64_relu_xregs_large_nn_v1", "scudnn_nn" },
		{ "volta_scudnn_128x128_stridedB_splitK_small_nn_v1", "scudnn_stridedB_nn" },
		{ "cask_cudnn_train::computeOffsetsKernel(cask_cudnn_train::Params)",
		  "cask::computeOffsetsKernel" },
		{ "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT", "nvjet_tst_TNT" },
		{ "nvjet_sm90_tst_192x192_64x4_2x1_v_bz_splitK_TNT", "nvjet_tst_TNT" },
		{ "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1_SN_1LDSB0",
		  "Cijk_Ailk_Bljk_HHS_BH" },
		{ "Cijk_Ailk_Bljk_HHS_BH_Bias_HAS_SAV_UserArgs_MT16x16x256_MI16x16x1_SN_LDSB1",
		  "Cijk_Ailk_Bljk_HHS_BH" },
		{ "igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32_wt32x32x8_ws1x1_wr2x2_"
		  "ta1x8x2x1_1x4x1x64_tb1x8x2x1_1x4x1x64_gkgs",
		  "igemm_fwd_nhwc_bf16" },
		{ "igemm_fwd_gtcx2_nhwc_fp16_bx0_ex1_bt64x64x64_mh", "igemm_fwd_nhwc_fp16" },
		/*
		 * Of no such library: small numbers may be what is computed, large ones are tiles.
		 */
		{ "batched_transpose_64x32_half", "batched_transpose_half" },
		{ "conv3x3_relu_small", "conv3x3_relu_small" },
		{ "max_pool_3x3", "max_pool_3x3" },
		{ "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu",
		  "_matmul_ogs_NNT_bf16xbf16xmxfp4_swiglu" },
	};

	check_names(cases, TSI_COUNT_OF(cases));
}

TEST(collectives)
{
	static const struct name_case cases[] = {
		{ "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		  "ncclDevKernel_AllReduce_Sum_f32" },
		{ "ncclDevKernel_AllReduce_Sum_f32_TREE_LL128(ncclDevKernelArgsStorage<4096ul>)",
		  "ncclDevKernel_AllReduce_Sum_f32" },
		{ "ncclKernel_Broadcast_RING_SIMPLE_Sum_int8_t(ncclWorkElem)",
		  "ncclKernel_Broadcast_Sum_int8_t" },
		{ "nccl:all_reduce", "nccl:all_reduce" },
	};

	check_names(cases, TSI_COUNT_OF(cases));
}

TEST(what_compilers_append)
{
	static const struct name_case cases[] = {
		{ "triton_poi_fused_add_relu_3", "triton_poi_fused_add_relu" },
		{ "triton_poi_fused_add_relu_12_0d1d2d3de", "triton_poi_fused_add_relu" },
		{ "triton_red_fused_sum_0d1d2de3de", "triton_red_fused_sum" },
		{ "triton_poi_fused_0", "triton_poi_fused" },
		{ "triton_", "triton_" },
		{ "kernel_unified_attention_2d", "kernel_unified_attention_2d" },
		{ "fused__autocast_to__15680171862954066917", "fused__autocast_to" },
		{ "kernel_0123456789abcdef", "kernel" },
		{ "kernel_0123456789abcde", "kernel_0123456789abcde" }, /* 15 digits */
		{ "<Node object at 0x7f00dead>", "<Node object at >" },
		{ "attn_fwd.kd", "attn_fwd" },
		/* Numbers of a mangled name are lengths. */
		{ "_ZN2at6native11add_kernel_12EPf", "_ZN2at6native11add_kernel_12EPf" },
		{ "_ZN2at6native16add_0123456789abcdef_kernelEPf", "_ZN2at6native16add_kernelEPf" },
		{ "Im2d2Col_v2", "Im2d2Col_v2" },
	};

	check_names(cases, TSI_COUNT_OF(cases));
}

TEST(operators)
{
	static const struct name_case cases[] = {
		{ "aten::mm", "aten::mm" },
		{ "aten::add_", "aten::add_" },
		{ "aten::cudnn_convolution", "aten::cudnn_convolution" },
		{ "AddBackward0", "AddBackward0" },
		{ "ProfilerStep#12", "ProfilerStep" },
		{ "Optimizer.step#SGD.step", "Optimizer.step#SGD.step" },
		{ "CompiledFunction", "CompiledFunction" },
		{ "Torch-Compiled Region: 0/1", "Torch-Compiled Region" },
		{ "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
		  "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__" },
		{ "autograd::engine::evaluate_function: AddmmBackward0",
		  "autograd::engine::evaluate_function: AddmmBackward0" },
		{ "autograd::engine::evaluate_function: torch::autograd::CppNode<LookupFunction>",
		  "autograd::engine::evaluate_function: torch::autograd::CppNode<LookupFunction>" },
		{ "profiler::rmsnorm_rmsnorm2d_fwd_109", "profiler::rmsnorm_rmsnorm2d_fwd" },
		{ "12", "12" },
		{ "##", "##" },
		{ "", "" },
	};

	check_names(cases, TSI_COUNT_OF(cases));
}

TEST(is_cut_at_the_size)
{
	char normal[8];

	assert_int_equal(tsi_normal_kernel_name("void abcdefghij<1>(int)", normal, 8), 7);
	assert_string_equal(normal, "abcdefg");
	assert_int_equal(tsi_normal_kernel_name("abc", normal, 1), 0);
	assert_string_equal(normal, "");
}

/* A megabyte of one pattern each: no crash, and no time that grows with the square. */
TEST(hostile_names_are_survived)
{
	static const char *const patterns[] = { "<",      "a<",  "(",     "a<(",  ")",    "{", "'",
						"_",      "1x",  "void ", "a::",  "0d",   "]", "##",
						"gemm_1", "0x1", "a<b,>", "\xff", "> >(", "::" };
	enum { BYTES = 1 << 20 };
	char *name = malloc(BYTES + 8), normal[64];

	assert_non_null(name);
	for (size_t i = 0; i < TSI_COUNT_OF(patterns); i++) {
		size_t length = strlen(patterns[i]);
		for (size_t at = 0; at < BYTES; at += length)
			memcpy(name + at, patterns[i], length);
		name[BYTES] = '\0';
		size_t written = tsi_normal_kernel_name(name, normal, sizeof(normal));
		assert_int_equal(written, strlen(normal));
		assert_true(written > 0);
	}
	free(name);
}

/* Random texts of the characters that mean something. */
TEST(random_names_are_survived)
{
	static const char letters[] = "<>(){}[]'_ a1x:gdec.#/Z\xc3";
	uint64_t seed = 1;
	char name[48], normal[24];

	for (int round = 0; round < 200000; round++) {
		size_t length = 0;
		do {
			name[length++] = letters[random_below(&seed, sizeof(letters) - 1)];
		} while (length < sizeof(name) - 1 && random_below(&seed, 32) > 0);
		name[length] = '\0';
		size_t written = tsi_normal_kernel_name(name, normal, sizeof(normal));
		assert_int_equal(written, strlen(normal));
		assert_true(written > 0);
	}
}
