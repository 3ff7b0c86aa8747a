/* SPDX-License-Identifier: MIT */
/* In which type kernels multiply, by names of real traces. */
#include "analyze/ops/kernel_precision.h"

#include "base/attributes.h"
#include "check.h"

TEST(names_of_kernels)
{
	static const struct {
		const char *name;
		enum tscope_precision precision;
	} cases[] = {
		{ "nvjet_tst_128x64_64x9_1x2_h_bz_coopA_TNN", TSCOPE_PRECISION_BF16 },
		{ "nvjet_sm90_tst_192x8_64x8_2x1_v_bz_TNT", TSCOPE_PRECISION_BF16 },
		{ "nvjet_sm100_hsh_16x64_64x16_4x1_v_bz_TNN", TSCOPE_PRECISION_FP16 },
		{ "nvjet_qqtst_128x256_128x6_2x2_2cta_h_bz_Avec32UE8M0_Bvec32UE8M0_TNT",
		  TSCOPE_PRECISION_FP8 },
		{ "nvjet_sss_tf32_128x256_TNT", TSCOPE_PRECISION_TF32 },
		{ "nvjet_", TSCOPE_PRECISION_UNKNOWN },
		{ "nvjet_sm90", TSCOPE_PRECISION_UNKNOWN },
		{ "Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT128x64x32",
		  TSCOPE_PRECISION_BF16 },
		{ "Cijk_Alik_Bjlk_B_BS_BH_Bias_HA_S_SAV_UserArgs", TSCOPE_PRECISION_BF16 },
		{ "Cijk_Ailk_Bljk_HHS_BH_MT256x128x64", TSCOPE_PRECISION_FP16 },
		{ "Cijk_Alik_Bljk_SB_Bias_AS_SAV_UserArgs_MT64x16x16_MI16x16x1",
		  TSCOPE_PRECISION_FP32 },
		{ "Cijk_Ailk_Bljk_S_B_Bias_HA_S_SAV_UserArgs", TSCOPE_PRECISION_FP32 },
		{ "Custom_Cijk_Ailk_Bjlk_S_MX_B_BIAS_HA_S_SAV_NTD_SK3", TSCOPE_PRECISION_TF32 },
		{ "Cijk_Alik_Bljk_F8BS_BH_MT256", TSCOPE_PRECISION_FP8 },
		{ "Cijk_Alik_Bljk_B8F8S_BH_MT256", TSCOPE_PRECISION_FP8 },
		{ "Cijk_Alik_Bljk_I8II_BH_MT256", TSCOPE_PRECISION_INT8 },
		{ "Cijk_Ailk_Bljk_DB_MT64x32", TSCOPE_PRECISION_FP64 },
		{ "Cijk_B_PostGSU2", TSCOPE_PRECISION_UNKNOWN },
		{ "ampere_fp16_s16816gemm_fp16_128x64_ldg8_relu_f2f_stages_32x6_tn",
		  TSCOPE_PRECISION_FP16 },
		{ "ampere_fp16_sgemm_fp16_128x32_tn", TSCOPE_PRECISION_FP16 },
		{ "ampere_sgemm_128x64_tn", TSCOPE_PRECISION_FP32 },
		{ "volta_h884gemm_64x64_ldg8_tn", TSCOPE_PRECISION_FP16 },
		{ "volta_scudnn_128x64_relu_interior_nn_v1", TSCOPE_PRECISION_FP32 },
		{ "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64",
		  TSCOPE_PRECISION_BF16 },
		{ "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128",
		  TSCOPE_PRECISION_TF32 },
		{ "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x8", TSCOPE_PRECISION_FP32 },
		{ "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x64_16x6_nn_align4>",
		  TSCOPE_PRECISION_TF32 },
		{ "void cutlass::Kernel<cutlass_75_tensorop_f16_s1688gemm_f16_128x64_tn_align2>",
		  TSCOPE_PRECISION_FP16 },
		{ "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_32>",
		  TSCOPE_PRECISION_BF16 },
		{ "void cutlass::Kernel2<cutlass_80_simt_sgemm_64x64_8x5_tn_align1>",
		  TSCOPE_PRECISION_FP32 },
		{ "void gemmSN_NN_kernel<float, 128, 2, 4, 8, 4, 4, false, "
		  "cublasGemvTensorStridedBatched<__half const> >",
		  TSCOPE_PRECISION_FP16 },
		{ "void gemmSN_TN_kernel<float, 128, 16, 2, 4, 10, 11, false>",
		  TSCOPE_PRECISION_FP32 },
		{ "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, "
		  "128, 128, 4, false, false, cutlass::bfloat16_t> >",
		  TSCOPE_PRECISION_BF16 },
		{ "fmha_cutlassF_f32_aligned_64x64_rf_sm80", TSCOPE_PRECISION_TF32 },
		{ "fmha_cutlassF_f16_aligned_64x64_rf_sm80", TSCOPE_PRECISION_FP16 },
		{ "igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32", TSCOPE_PRECISION_BF16 },
		{ "igemm_bwd_data_gtcx_nhwc_fp32_bx0_bt128x128x16", TSCOPE_PRECISION_FP32 },
		{ "_matmul_ogs_NNT_bf16xbf16xmxfp4_64x128x64x1_swiglu", TSCOPE_PRECISION_BF16 },
		{ "void cutlass::device_kernel<float_e4m3_t, float_e4m3_t, cutlass::bfloat16_t>",
		  TSCOPE_PRECISION_FP8 },
		{ "void cutlass::device_kernel<float_e2m1_t, float_ue4m3_t>",
		  TSCOPE_PRECISION_FP4 },
		{ "void paged_attention_ll4mi_QKV_mfma16_kernel<0, __hip_bfloat16, __hip_bfloat16, "
		  "(vllm::Fp8KVCacheDataType)0>",
		  TSCOPE_PRECISION_BF16 },
		{ "attn_fwd", TSCOPE_PRECISION_UNKNOWN },
		{ "triton_tem_fused_mm_3", TSCOPE_PRECISION_UNKNOWN },
		{ "", TSCOPE_PRECISION_UNKNOWN },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		enum tscope_precision precision = tsi_kernel_precision(tsi_str_of(cases[i].name));
		if (precision != cases[i].precision)
			fail_msg("%s: %s", cases[i].name, tscope_precision_name(precision));
	}
}

/* What multiplies operands of type float: tensor cores round them, AMD's do not. */
TEST(float_or_tf32)
{
	static const struct {
		enum kernel_kind kind;
		const char *name;
		enum tscope_precision precision;
	} cases[] = {
		{ KERNEL_GEMM, "ampere_sgemm_128x64_tn", TSCOPE_PRECISION_FP32 },
		{ KERNEL_GEMM, "ampere_s1688gemm_fp32_128x128", TSCOPE_PRECISION_TF32 },
		{ KERNEL_GEMM, "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n", TSCOPE_PRECISION_TF32 },
		{ KERNEL_GEMM, "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n", TSCOPE_PRECISION_FP32 },
		{ KERNEL_GEMM, "nvjet_sss_128x256_TNT", TSCOPE_PRECISION_TF32 },
		{ KERNEL_GEMM, "Cijk_Alik_Bljk_SB_Bias_AS_SAV_UserArgs_MT64x16x16_MI16x16x1",
		  TSCOPE_PRECISION_FP32 },
		{ KERNEL_CONV, "igemm_fwd_gtcx3_nhwc_bx0", TSCOPE_PRECISION_FP32 },
		{ KERNEL_CONV, "_ZN2ck16tensor_operation_kernel_grouped_conv_fwd_xdl_cshuffle_v3",
		  TSCOPE_PRECISION_FP32 },
		{ KERNEL_CONV, "cutlass_tensorop_s1688fprop_optimized_128x64_16x5_nhwc_align4",
		  TSCOPE_PRECISION_TF32 },
		{ KERNEL_CONV, "void implicit_convolve_sgemm<float, float, 1024>",
		  TSCOPE_PRECISION_FP32 },
		/* Names that say nothing: what PyTorch does unless told otherwise. */
		{ KERNEL_GEMM, "my_kernel", TSCOPE_PRECISION_FP32 },
		{ KERNEL_ATTENTION, "my_kernel", TSCOPE_PRECISION_FP32 },
		{ KERNEL_CONV, "my_kernel", TSCOPE_PRECISION_TF32 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		enum tscope_precision precision =
			tsi_float_precision(cases[i].kind, tsi_str_of(cases[i].name),
					    tsi_kernel_precision(tsi_str_of(cases[i].name)));
		if (precision != cases[i].precision)
			fail_msg("%s: %s", cases[i].name, tscope_precision_name(precision));
	}
}
