/* SPDX-License-Identifier: MIT */
/* What kernels compute, by names as real libraries write them. */
#include "analyze/ops/kernel_kind.h"

#include "base/attributes.h"
#include "check.h"

static struct str text(const char *chars)
{
	return (struct str){ chars, strlen(chars) };
}

TEST(names_of_kernels)
{
	static const struct {
		const char *name;
		enum kernel_kind kind;
		enum tensor_core_use use;
	} cases[] = {
		{ "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x3_tn", KERNEL_GEMM,
		  TENSOR_CORES_USED },
		{ "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma",
		  KERNEL_GEMM, TENSOR_CORES_NOT_USED },
		{ "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x16_stage4_tensor16x8x8",
		  KERNEL_GEMM, TENSOR_CORES_USED },
		{ "volta_sgemm_128x64_nn", KERNEL_GEMM, TENSOR_CORES_NOT_USED },
		{ "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT", KERNEL_GEMM, TENSOR_CORES_USED },
		{ "Cijk_Alik_Bljk_BBS_BH_MT128x64x128_MI16x16x1_SN_LDSB1", KERNEL_GEMM,
		  TENSOR_CORES_USED },
		{ "void cutlass::Kernel<cutlass_80_tensorop_bf16_s16816gemm>(Params)", KERNEL_GEMM,
		  TENSOR_CORES_USED },
		{ "void splitKreduce_kernel<32, 16, int, float>(cublasSplitKParams<float>)",
		  KERNEL_GEMM, TENSOR_CORES_NOT_USED },
		{ "void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128> >(Params)",
		  KERNEL_ATTENTION, TENSOR_CORES_USED },
		{ "fmha_cutlassF_f32_aligned_64x64_rf_sm80(Params)", KERNEL_ATTENTION,
		  TENSOR_CORES_UNKNOWN },
		{ "attn_fwd.kd", KERNEL_ATTENTION, TENSOR_CORES_UNKNOWN },
		{ "volta_scudnn_128x64_relu_interior_nn_v1", KERNEL_CONV, TENSOR_CORES_NOT_USED },
		{ "void cudnn::cnn::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int)",
		  KERNEL_CONV, TENSOR_CORES_NOT_USED },
		{ "void implicit_convolve_sgemm<float, float, 1024, 5, 5>(int)", KERNEL_CONV,
		  TENSOR_CORES_NOT_USED },
		{ "igemm_bwd_gtcx2_nhwc_bf16_bx0_ex1_bt128x128x32", KERNEL_CONV,
		  TENSOR_CORES_UNKNOWN },
		{ "MIOpenBatchNormFwdTrainSpatial", KERNEL_NORM, TENSOR_CORES_NOT_USED },
		{ "void at::native::vectorized_layer_norm_kernel<float, float>(int)", KERNEL_NORM,
		  TENSOR_CORES_NOT_USED },
		{ "void cunn_SoftMaxForward<8, float, float, float>(float*)", KERNEL_SOFTMAX,
		  TENSOR_CORES_NOT_USED },
		{ "void at::native::indexSelectLargeIndex<float, long>(Info)", KERNEL_EMBEDDING,
		  TENSOR_CORES_NOT_USED },
		{ "void at::native::multi_tensor_apply_kernel<FusedAdamMathFunctor<float> >(int)",
		  KERNEL_OPTIMIZER, TENSOR_CORES_NOT_USED },
		{ "aiter_fused_moe_kernel_bf16", KERNEL_MOE, TENSOR_CORES_UNKNOWN },
		{ "void at::native::radixSortKVInPlace<2, -1>(Info)", KERNEL_SORT,
		  TENSOR_CORES_NOT_USED },
		{ "void at::native::unrolled_elementwise_kernel<direct_copy_kernel_cuda>(int)",
		  KERNEL_COPY, TENSOR_CORES_NOT_USED },
		{ "void cudnn::convertTensor_kernel<float, float, half>(float)", KERNEL_COPY,
		  TENSOR_CORES_NOT_USED },
		{ "SubTensorOpWithScalar1d", KERNEL_ELEMENTWISE, TENSOR_CORES_NOT_USED },
		{ "batched_transpose_32x32_half", KERNEL_COPY, TENSOR_CORES_NOT_USED },
		{ "void at::native::reduce_kernel<512, 1, ReduceOp<float> >(ReduceOp<float>)",
		  KERNEL_REDUCTION, TENSOR_CORES_NOT_USED },
		{ "void at::native::vectorized_elementwise_kernel<4, CUDAFunctor_add<float> >(int)",
		  KERNEL_ELEMENTWISE, TENSOR_CORES_NOT_USED },
		{ "igemm_bwd_data_gtcx_nhwc_fp32_bx0_bt128x128x16", KERNEL_CONV,
		  TENSOR_CORES_UNKNOWN },
		{ "void split_embedding_codegen_forward_unweighted_kernel<float, float, float>("
		  "fbgemm_gpu::DebugInfo)",
		  KERNEL_EMBEDDING, TENSOR_CORES_NOT_USED },
		{ "void fbgemm_gpu::permute_2D_lengths_kernel<int>(int, int, int const*)",
		  KERNEL_EMBEDDING, TENSOR_CORES_NOT_USED },
		{ "void at::native::vectorized_elementwise_kernel<4, "
		  "fbgemm_gpu::_float_to_hfp8_gpu>",
		  KERNEL_ELEMENTWISE, TENSOR_CORES_NOT_USED },
		{ "triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_17", KERNEL_NORM,
		  TENSOR_CORES_NOT_USED },
		{ "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		  KERNEL_COMM, TENSOR_CORES_NOT_USED },
		{ "void marlin::Marlin<__half, 256, 1, 8, 8, 4, 8>(int4 const*)", KERNEL_GEMM,
		  TENSOR_CORES_UNKNOWN },
		{ "void marlin_24::Marlin_24<4, 256, 2, 8, 8, 4, 8>(int4 const*)", KERNEL_GEMM,
		  TENSOR_CORES_UNKNOWN },
		{ "void marlin_moe_wna16::Marlin<__half, 256, 1, 8>(int4 const*)", KERNEL_MOE,
		  TENSOR_CORES_UNKNOWN },
		{ "void marlin::gptq_marlin_repack_kernel<256, 4, true>(unsigned int const*)",
		  KERNEL_OTHER, TENSOR_CORES_UNKNOWN },
		{ "triton_mm", KERNEL_GEMM, TENSOR_CORES_UNKNOWN },
		{ "triton_bmm_kernel", KERNEL_GEMM, TENSOR_CORES_UNKNOWN },
		{ "triton_poi_fused_add_mm_3", KERNEL_ELEMENTWISE, TENSOR_CORES_NOT_USED },
		{ "_fwd_kernel", KERNEL_ATTENTION, TENSOR_CORES_UNKNOWN },
		{ "_fwd_kernel_stage1", KERNEL_ATTENTION, TENSOR_CORES_UNKNOWN },
		{ "_fwd_grouped_kernel_stage1", KERNEL_ATTENTION, TENSOR_CORES_UNKNOWN },
		{ "_bwd_kernel_one_col_block", KERNEL_ATTENTION, TENSOR_CORES_UNKNOWN },
		{ "_fwd_kernel_ep_scatter_1", KERNEL_ROUTING, TENSOR_CORES_NOT_USED },
		{ "_layer_norm_fwd_kernel", KERNEL_NORM, TENSOR_CORES_NOT_USED },
		{ "swiglu_fwd_kernel", KERNEL_ELEMENTWISE, TENSOR_CORES_NOT_USED },
		{ "gmm_kernel", KERNEL_GEMM, TENSOR_CORES_UNKNOWN },
		{ "tgmm_kernel", KERNEL_GEMM, TENSOR_CORES_UNKNOWN },
		{ "tgmm_persistent_kernel", KERNEL_GEMM, TENSOR_CORES_UNKNOWN },
		{ "GMMReductionKernel", KERNEL_OTHER, TENSOR_CORES_UNKNOWN },
		{ "_bmm_chunk_fwd_kernel", KERNEL_GEMM, TENSOR_CORES_UNKNOWN },
		{ "_fwd", KERNEL_OTHER, TENSOR_CORES_UNKNOWN },
		{ "spin_kernel(long)", KERNEL_OTHER, TENSOR_CORES_UNKNOWN },
		{ "", KERNEL_OTHER, TENSOR_CORES_UNKNOWN },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		enum kernel_kind kind = tsi_kernel_kind_of_name(text(cases[i].name));
		if (kind != cases[i].kind)
			fail_msg("%s: %s", cases[i].name, tsi_kernel_kind_name(kind));
		enum tensor_core_use use = tsi_tensor_core_use(kind, text(cases[i].name));
		if (use != cases[i].use)
			fail_msg("%s: tensor core use %d", cases[i].name, use);
	}
}

TEST(names_of_operators)
{
	static const struct {
		const char *name;
		enum kernel_kind kind;
	} cases[] = {
		{ "aten::mm", KERNEL_GEMM },
		{ "aten::addmm", KERNEL_GEMM },
		{ "aten::cudnn_convolution", KERNEL_CONV },
		{ "aten::convolution_backward", KERNEL_CONV },
		{ "aten::native_layer_norm", KERNEL_NORM },
		{ "aten::_flash_attention_forward", KERNEL_ATTENTION },
		{ "aten::_softmax", KERNEL_SOFTMAX },
		{ "aten::_fused_adamw_", KERNEL_OPTIMIZER },
		{ "aten::copy_", KERNEL_COPY },
		{ "_C::gptq_marlin_gemm", KERNEL_GEMM },
		{ "vllm::cutlass_scaled_mm_azp", KERNEL_GEMM },
		{ "aten::_sparse_semi_structured_mm", KERNEL_GEMM },
		{ "my::fused_bmm", KERNEL_GEMM },
		{ "my::mm_encoder_embeddings", KERNEL_OTHER },
		{ "vllm::inplace_fused_experts", KERNEL_MOE },
		{ "aiter::fused_moe_", KERNEL_MOE },
		{ "fbgemm::permute_2D_sparse_data", KERNEL_OTHER },
		{ "mm", KERNEL_OTHER }, /* shorter than any pattern */
		{ "aten::add_", KERNEL_OTHER },
		{ "autograd::engine::evaluate_function: MmBackward0", KERNEL_OTHER },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		assert_int_equal(tsi_kernel_kind_of_op(text(cases[i].name)), cases[i].kind);
}

TEST(every_kind_has_a_name)
{
	for (int kind = 0; kind < KERNEL_KIND_COUNT; kind++)
		assert_true(strlen(tsi_kernel_kind_name((enum kernel_kind)kind)) > 0);
	assert_string_equal(tsi_kernel_kind_name(KERNEL_EMBEDDING), "embedding");
}
