/* SPDX-License-Identifier: MIT */
/*
 * The table of kernel names. Nothing in a trace says what a kernel does; its name is what its
 * library's authors made up. So the more specific row stands first: what one library calls its
 * own before words that all use.
 */
#include "model/trace/kernel_table.h"

#include "base/attributes.h"
#include "model/trace/kernel_pattern.h"

enum { TELLS_KIND = 1, TELLS_PRECISION = 2, TELLS_BOTH = 3 };

struct row {
	struct str pattern;
	uint16_t key;      /* see KEY */
	uint8_t depth;     /* enum name_depth */
	uint8_t known;     /* TELLS_… */
	uint8_t kind;      /* enum kernel_kind */
	uint8_t precision; /* enum tscope_precision */
	bool is_fused;     /* with communication */
};

/* A pattern's first two letters behind its anchor, as letter_pairs has them. */
#define IS_ANCHORED(text) (text[0] == '^' || text[0] == '|' || text[0] == '*')
#define KEY(text) ((text[IS_ANCHORED(text)] & 31) << 5 | (text[IS_ANCHORED(text) + 1] & 31))

#define ROW(depth, known, kind, precision, text, is_fused)                                         \
	{                                                                                          \
		{ text, sizeof(text) - 1 }, KEY(text), NAME_##depth, TELLS_##known, KERNEL_##kind, \
			TSCOPE_PRECISION_##precision, is_fused                                     \
	}
/* In the function's name; in its template arguments, too. */
#define KIND(kind, text) ROW(HEAD, KIND, kind, UNKNOWN, text, false)
#define DEEP(kind, text) ROW(DEEP, KIND, kind, UNKNOWN, text, false)
#define FUSED(kind, text) ROW(HEAD, KIND, kind, UNKNOWN, text, true)
#define TYPE(precision, text) ROW(DEEP, PRECISION, OTHER, precision, text, false)
#define BOTH(kind, precision, text) ROW(DEEP, BOTH, kind, precision, text, false)

static const struct row rows[] = {
	/* Products with communication inside. These rows are first: see tsi_is_comm_kernel(). */
	FUSED(GEMM, "gemm_allreduce"),
	FUSED(GEMM, "^kernel_gemm_rs_"), /* Triton-distributed: a reduce-scatter behind it */
	FUSED(GEMM, "^kernel_consumer_gemm"),
	FUSED(MOE, "mega_moe"), /* DeepGEMM: dispatch, both products, combine */

	KIND(COMM, "|nccl"), /* ncclDevKernel_…, ncclKernel_AllReduce_…, ncclSymkDevKernel_… */
	KIND(COMM, "|rccl"),
	KIND(COMM, "|oneccl"),
	KIND(COMM, "|ccl_"),
	KIND(COMM, "|ccl::"),
	KIND(COMM, "|hccl"),
	KIND(COMM, "|hcom_"),
	KIND(COMM, "|gloo"),
	KIND(COMM, "|msccl"),
	KIND(COMM, "|nvshmem"),
	KIND(COMM, "|multimem_"),
	KIND(COMM, "|symm_mem"),
	KIND(COMM, "cross_device_reduce"), /* vLLM, SGLang, aiter */
	KIND(COMM, "|one_shot_all_reduce"),
	KIND(COMM, "|two_shot_all_reduce"),
	KIND(COMM, "|one_shot_allreduce"),
	KIND(COMM, "|two_shot_allreduce"),
	KIND(COMM, "|all_reduce_"),
	KIND(COMM, "|oneshotallreduce"), /* TensorRT-LLM */
	KIND(COMM, "|twoshotallreduce"),
	KIND(COMM, "oneshot_allreduce"),
	KIND(COMM, "twoshot_allreduce"),
	KIND(COMM, "allreduce_fusion"), /* TensorRT-LLM, FlashInfer: with a norm behind it */
	KIND(COMM, "|moealltoall"),
	KIND(COMM, "|moea2a"),
	KIND(COMM, "|quick_reduce"),
	KIND(COMM, "|quickreduce"),
	KIND(COMM, "|userbuffers"), /* Transformer Engine */
	KIND(COMM, "|kuserbuffers"),
	KIND(COMM, "|deep_ep"),
	KIND(COMM, "|hybrid_ep::dispatch"), /* DeepEP's other branch */
	KIND(COMM, "|hybrid_ep::combine"),
	KIND(COMM, "|hybrid_ep::device_sync"),
	KIND(COMM, "|ep::internode"), /* DeepEP inside other namespaces */
	KIND(COMM, "|ep::intranode"),
	KIND(COMM, "|epdispatch"), /* MoRI */
	KIND(COMM, "|epcombine"),

	/* Inductor: the kernel says in its first letters what it is, then what it fused. */
	KIND(ATTENTION, "^triton_tem..flex_attention"),
	KIND(CONV, "^triton_tem..convolution"),
	KIND(GEMM, "^triton_tem_"),
	KIND(GEMM, "^triton_mm"),
	KIND(GEMM, "^triton_bmm"),
	KIND(NORM, "^triton_???_fused..layer_norm"),
	KIND(NORM, "^triton_???_fused..batch_norm"),
	KIND(NORM, "^triton_???_fused..group_norm"),
	KIND(NORM, "^triton_???_fused..rms_norm"),
	KIND(NORM, "^triton_???_fused..mean_..rsqrt"),
	KIND(SOFTMAX, "^triton_???_fused..softmax"),
	KIND(EMBEDDING, "^triton_???_fused..embedding"),
	KIND(QUANTIZE, "^triton_???_fused..quant"),
	KIND(COPY, "^triton_poi_fused__to_copy_#"),
	KIND(COPY, "^triton_poi_fused_copy__#"),
	KIND(COPY, "^triton_poi_fused_clone_#"),
	KIND(COPY, "^triton_poi_fused_cat_#"),
	KIND(COPY, "^triton_poi_fused__to_copy_cat_slice_#"),
	KIND(ELEMENTWISE, "^triton_poi_"),
	KIND(REDUCTION, "^triton_red_"),
	KIND(REDUCTION, "^triton_per_"),

	/* Thrust, CUB and their relatives */
	DEEP(SORT, "|thrust::..sort"),
	DEEP(SORT, "|thrust::..scan::"),
	DEEP(REDUCTION, "|thrust::..reduce::"),
	KIND(ELEMENTWISE, "|thrust::"),
	KIND(REDUCTION, "cub::devicereduce"),
	KIND(SORT, "cub::"),
	DEEP(REDUCTION, "|rocprim..reduce_config"),
	KIND(SORT, "|rocprim"),

	/* PyTorch: what an elementwise kernel does stands in its arguments. */
	DEEP(NORM, "^at::native..groupnorm"),
	DEEP(NORM, "^at::native..batch_norm"),
	DEEP(COPY, "^at::native..elementwise..copy_kernel"),
	DEEP(COPY, "^at::native..elementwise..copy_device_to_device"), /* until 1.7 */
	KIND(COPY, "^at::native::direct_copy"),
	KIND(EMBEDDING, "^at::native..index_elementwise"),
	KIND(EMBEDDING, "^at::native..scatter_gather"),
	KIND(REDUCTION, "^at::native::reduce_kernel"),
	KIND(NORM, "rowwisemoments"),
	KIND(NORM, "gammabeta"),
	KIND(NORM, "*fusedparamscuda"),
	KIND(NORM, "computeinternalgradients"),
	KIND(SORT, "*btopk::"),
	DEEP(OPTIMIZER, "multi_tensor_apply..adam"),
	DEEP(OPTIMIZER, "multi_tensor_apply..fusedoptimizer"),
	DEEP(REDUCTION, "multi_tensor_apply..lpnorm"),
	KIND(ELEMENTWISE, "multi_tensor_apply"),
	KIND(NORM, "^at::native..layernorm"),
	KIND(SOFTMAX, "*softmaxforward"),
	KIND(SOFTMAX, "*softmaxbackward"),
	KIND(ELEMENTWISE, "^at::native..elementwise"),

	/* FBGEMM: no GEMM of the name's, but tables of embeddings, their optimizers included */
	KIND(QUANTIZE, "^fbgemm_gpu::..fp8"),
	KIND(QUANTIZE, "^fbgemm_gpu::..hfp8"),
	KIND(EMBEDDING, "^fbgemm_gpu::"),
	KIND(EMBEDDING, "split_embedding"),
	KIND(EMBEDDING, "dense_embedding"),
	KIND(EMBEDDING, "bounds_check_indices"),
	KIND(EMBEDDING, "linearize_index"),
	KIND(EMBEDDING, "permute_pooled"),

	/* The libraries of products, whose names have a place for the type of the operands. */
	BOTH(GEMM, FP4, "^nvjet_o"), /* cuBLAS: types of A, the sum, the result */
	BOTH(GEMM, FP4, "^nvjet_sm#_o"),
	BOTH(GEMM, FP8, "^nvjet_q"),
	BOTH(GEMM, FP8, "^nvjet_sm#_q"),
	BOTH(GEMM, BF16, "^nvjet_t"),
	BOTH(GEMM, BF16, "^nvjet_sm#_t"),
	BOTH(GEMM, FP16, "^nvjet_h"),
	BOTH(GEMM, FP16, "^nvjet_sm#_h"),
	BOTH(GEMM, TF32, "^nvjet_s?s"),
	BOTH(GEMM, TF32, "^nvjet_sm#_s"),
	KIND(GEMM, "^nvjet_"),
	BOTH(GEMM, TF32, "cijk_a???_b???_s_mx_"), /* Tensile; X: xf32 */
	BOTH(GEMM, FP8, "cijk_a???_b???_f8"),
	BOTH(GEMM, FP8, "cijk_a???_b???_b8"),
	BOTH(GEMM, INT8, "cijk_a???_b???_i8"),
	BOTH(GEMM, INT8, "cijk_a???_b???_4xi8"),
	BOTH(GEMM, FP32, "cijk_a???_b???_s"),
	BOTH(GEMM, BF16, "cijk_a???_b???_b"),
	BOTH(GEMM, FP16, "cijk_a???_b???_h"),
	BOTH(GEMM, FP64, "cijk_a???_b???_d"),
	KIND(GEMM, "cijk_"),
	BOTH(GEMM, FP8, "^bmm_..*e4m3_fp32"), /* TensorRT-LLM: result, A and B, sum */
	BOTH(GEMM, FP4, "^bmm_..*e2m1_fp32"),
	BOTH(GEMM, BF16, "^bmm_..*bfloat16_fp32"),
	BOTH(GEMM, BF16, "^bmm_..castbfloat16_fp32"),
	BOTH(GEMM, FP16, "^bmm_..*fp16_fp32"),
	KIND(GEMM, "^bmm_"),
	BOTH(ATTENTION, BF16, "^fmhasm..qkvbfloat16"),
	BOTH(ATTENTION, FP16, "^fmhasm..qkvfp16"),
	BOTH(ATTENTION, FP8, "^fmhasm..qkve4m3"),

	KIND(CONV, "|cutlass_cudnn"),
	KIND(CONV, "^cask_"),

	/* State space models and linear attention; _bmm_chunk_fwd_kernel of Mamba is a product. */
	KIND(GEMM, "bmm_chunk_"),
	KIND(SSM, "causal_conv1d"),
	KIND(SSM, "selective_scan"),
	KIND(SSM, "chunk_scan"),
	KIND(SSM, "chunk_state"),
	KIND(SSM, "state_passing"),
	KIND(SSM, "delta_rule"),
	KIND(SSM, "delta_net"),
	KIND(SSM, "ssm_conv"),
	KIND(SSM, "gdn_scan"),
	KIND(SSM, "chunk_fwd_kernel"),
	KIND(SSM, "chunk_bwd_kernel"),
	KIND(SSM, "chunk_gla_"),
	KIND(SSM, "chunk_kda_"),
	KIND(SSM, "fused_recurrent_"),
	KIND(SSM, "prepare_wy_repr"),
	KIND(SSM, "wkv"), /* RWKV */
	KIND(SSM, "chunk_local_cumsum"),
	KIND(SSM, "chunk_scaled_dot_kkt"),
	KIND(SSM, "recompute_w_u"),
	KIND(SSM, "merge_16x16_to_64x64_inverse"),

	/* Who goes to which expert. These names hold the words of norms, sorts and products. */
	KIND(ELEMENTWISE, "^moe::dev::activation"),
	KIND(QUANTIZE, "quant_moe_sort"),
	KIND(ROUTING, "^moe::dev::"),
	KIND(ROUTING, "moe_align"),
	KIND(ROUTING, "moe_fused_gate"),
	KIND(ROUTING, "moe_reduction"),
	KIND(ROUTING, "moe_sum"),
	KIND(ROUTING, "moe_sort"),
	KIND(ROUTING, "moesorting"),
	KIND(ROUTING, "moepermute"),
	KIND(ROUTING, "moe_permute"),
	KIND(ROUTING, "moe_unpermute"),
	KIND(ROUTING, "moerouting"),
	KIND(ROUTING, "routing"),
	KIND(ROUTING, "topkgating"),
	KIND(ROUTING, "topksoftmax"),
	KIND(ROUTING, "topk_softplus"),
	KIND(ROUTING, "deepseek_v3_topk"),
	KIND(ROUTING, "grouped_topk"),
	KIND(ROUTING, "^_topk_forward"),
	KIND(ROUTING, "expertprefixsum"),
	KIND(ROUTING, "expertmaps"),
	KIND(ROUTING, "expert_tokens"),
	KIND(ROUTING, "expertids"),
	KIND(ROUTING, "shared_experts"),
	KIND(ROUTING, "expandinputrows"),
	KIND(ROUTING, "computestridestma"),
	KIND(ROUTING, "computecountandindice"),
	KIND(ROUTING, "moveindice"),
	KIND(ROUTING, "sum_bitmatrix"),
	KIND(ROUTING, "finalize_matmul_scatter"),
	KIND(ROUTING, "ep_scatter"),
	KIND(ROUTING, "ep_gather"),
	KIND(ROUTING, "sort_chunks_by"),
	KIND(ROUTING, "mm_ids_helper"),
	KIND(ROUTING, "^_permute_kernel"),
	KIND(ROUTING, "^_unpermute_kernel"),

	/* Norms, also with what was fused to them; the other small work */
	KIND(NORM, "*rmsnorm"),
	KIND(NORM, "rms_norm"),
	KIND(NORM, "*layernorm"),
	KIND(NORM, "layer_norm"),
	KIND(NORM, "*batchnorm"),
	KIND(NORM, "batch_norm"),
	KIND(NORM, "groupnorm"),
	KIND(NORM, "group_norm"),
	KIND(NORM, "*qknorm"),
	KIND(NORM, "*qnorm"),
	KIND(NORM, "bn_fw"),
	KIND(NORM, "bn_bw"),
	KIND(NORM, "norm_rope"),
	KIND(NORM, "norm_quant"),
	KIND(NORM, "gemma_norm"),
	KIND(NORM, "l2_norm"),
	KIND(NORM, "fuse_with_norm"),
	KIND(COPY, "gather_and_maybe_dequant"),
	KIND(SOFTMAX, "softmax_warp"),
	KIND(SAMPLING, "|sampling::"),
	KIND(SAMPLING, "topk_topp"),
	KIND(SAMPLING, "rejection_"),
	KIND(SAMPLING, "repetition_penalties"),
	KIND(SAMPLING, "token_bitmask"), /* grammars */
	KIND(OPTIMIZER, "koptimizer"),   /* bitsandbytes */
	KIND(OPTIMIZER, "optimizer"),
	KIND(OPTIMIZER, "adam"),
	KIND(OPTIMIZER, "adagrad"),
	KIND(OTHER, "marlin_repack"),
	KIND(QUANTIZE, "*quantize"),
	KIND(QUANTIZE, "*smoothquant"),
	KIND(QUANTIZE, "quantint8"),
	KIND(QUANTIZE, "quantper"),
	KIND(QUANTIZE, "quantfp8"),
	KIND(QUANTIZE, "meanscale"), /* SageAttention */
	KIND(QUANTIZE, "cast_to_fp8"),
	KIND(QUANTIZE, "quant_kernel"),
	KIND(QUANTIZE, "quant_fp8"),
	KIND(QUANTIZE, "quant_8bit"),
	KIND(QUANTIZE, "quant_k_cache"),
	KIND(QUANTIZE, "quant_and"),
	KIND(QUANTIZE, "scaled_quant"),

	KIND(COPY, "reshape_and_cache"),
	KIND(COPY, "concat_and_cache"),
	KIND(COPY, "store_kvcache"),
	KIND(COPY, "kv_buffer"),
	KIND(COPY, "set_k_and_s"),
	KIND(COPY, "indexerkcache"),
	KIND(COPY, "packed_qkv_prefill_kv"),
	KIND(COPY, "kn_entry..cached"),
	KIND(COPY, "split_reshape_cat"),
	KIND(ELEMENTWISE, "act_and_mul"),
	KIND(ELEMENTWISE, "silu_and_mul"),
	KIND(MOE, "mfma_moe"),
	KIND(ELEMENTWISE, "silu_mul"),
	KIND(ELEMENTWISE, "activation"),
	KIND(ELEMENTWISE, "rotary"),
	KIND(ELEMENTWISE, "rope"),
	KIND(ELEMENTWISE, "mlarope"),

	/* Attention */
	BOTH(ATTENTION, INT8, "qk_int"),   /* SageAttention: the first product */
	BOTH(ATTENTION, BF16, "|pa_bf16"), /* aiter: Q, what the cache is made of behind it */
	BOTH(ATTENTION, FP16, "|pa_fp16"),
	BOTH(ATTENTION, FP8, "|mla_a8w8"),
	KIND(ATTENTION, "|pa_a16w8"),
	KIND(ATTENTION, "|mla_"),
	KIND(ATTENTION, "|kn_mla_"),
	KIND(ATTENTION, "sdpa"),
	KIND(ATTENTION, "fmha"),
	KIND(ATTENTION, "attention"),
	KIND(ATTENTION, "attn"),
	KIND(ATTENTION, "flash_fwd"),
	KIND(ATTENTION, "flash_bwd"),
	DEEP(ATTENTION, "flash::"),
	DEEP(ATTENTION, "fmha::"),
	KIND(ATTENTION, "mqa_logits"),
	KIND(ATTENTION, "parallel_nsa"),
	KIND(ATTENTION, "kernel_mha"),
	KIND(ATTENTION, "compute_dot_do_o"), /* cuDNN, before the backward pass */
	KIND(ATTENTION, "shared_decode"),
	KIND(ATTENTION, "*withpagedkvcache"),
	KIND(ATTENTION, "*withraggedkvcache"),
	KIND(ATTENTION, "^_fwd_kernel"), /* flash attention in Triton, as of its authors */
	KIND(ATTENTION, "^_bwd_kernel"),
	KIND(ATTENTION, "^_fwd_grouped_kernel"),

	/* Products of the experts */
	BOTH(MOE, FP8, "|fmoe_..*fp8"),
	BOTH(MOE, INT8, "|fmoe_..*int8"),
	DEEP(MOE, "fused_moe"),
	KIND(MOE, "kernel_moe_"),
	KIND(MOE, "moeflatmm"), /* Composable Kernel */
	KIND(MOE, "marlin_moe"),
	KIND(MOE, "matmul_ogs"),
	KIND(MOE, "groupproblemshape..moe"), /* CUTLASS with the epilogue of experts */
	DEEP(MOE, "moe..gemm"),
	KIND(ROUTING, "moe"),

	/* Convolutions */
	KIND(CONV, "*scudnn"),
	KIND(CONV, "*winograd"),
	KIND(COPY, "convert"),
	KIND(CONV, "conv"),
	DEEP(CONV, "*fprop"),
	DEEP(CONV, "*dgrad"),
	DEEP(CONV, "*wgrad"),
	KIND(CONV, "igemm_fwd_gtc"), /* MIOpen */
	KIND(CONV, "igemm_bwd_gtc"),
	KIND(CONV, "igemm_bwd_data_gtc"),
	KIND(CONV, "igemm_wrw_gtc"),
	KIND(CONV, "bwd_weight"),
	KIND(CONV, "im2d2col"),
	KIND(CONV, "im2col"),
	KIND(CONV, "fft2d"),

	/* Products */
	KIND(GEMM, "*gemm"),
	KIND(GEMM, "*gemv"),
	KIND(GEMM, "matmul"),
	DEEP(GEMM, "marlin<"), /* its other kernels pack weights anew */
	DEEP(GEMM, "marlin_24<"),
	KIND(GEMM, "lora_shrink"),
	KIND(GEMM, "lora_expand"),
	KIND(GEMM, "gmm_kernel"),
	KIND(GEMM, "flatmm"),
	KIND(GEMM, "*tgmm_"),
	KIND(GEMM, "scaled_mm"),
	KIND(GEMM, "wvsplitk"),
	KIND(GEMM, "einsum"),
	KIND(GEMM, "splitkreduce"),
	KIND(GEMM, "^dot_kernel"), /* cuBLAS: a product with one row and one column */
	KIND(GEMM, "^reduce_1block"),
	KIND(GEMM, "|epilogue::impl"),
	KIND(GEMM, "|cublaslt::"),
	KIND(GEMM, "mul_mat"), /* llama.cpp */
	KIND(GEMM, "spmm"),
	KIND(GEMM, "rnn_blockpersist"), /* cuDNN: the products of all time steps */
	DEEP(GEMM, "ck_tile::..gemm"),
	DEEP(GEMM, "^cutlass"),

	/* The rest: words of many libraries */
	KIND(COPY, "nchwtonhwc"),
	KIND(COPY, "nhwctonchw"),
	KIND(COPY, "transpose"),
	KIND(COPY, "catarray"),
	KIND(COPY, "split_with_sizes_copy"),
	KIND(EMBEDDING, "embedding"),
	KIND(EMBEDDING, "indexselect"),
	KIND(EMBEDDING, "indexing_backward"),
	KIND(ELEMENTWISE, "elementwise"),
	KIND(EMBEDDING, "index_"),
	KIND(EMBEDDING, "_index"),
	KIND(EMBEDDING, "gather"),
	KIND(EMBEDDING, "scatter"),
	KIND(EMBEDDING, "compute_grad_weight"),
	KIND(SORT, "*sort"),
	KIND(SORT, "*topk"),
	KIND(SORT, "scan"),
	KIND(REDUCTION, "max_pool"),
	KIND(REDUCTION, "average_pool"),
	KIND(ELEMENTWISE, "nll_loss_backward"),
	KIND(REDUCTION, "reduce"),
	KIND(REDUCTION, "nllcriterion_updateoutput"),
	KIND(ELEMENTWISE, "nllcriterion"),
	KIND(COPY, "copy"),
	KIND(COPY, "memcpy"),
	KIND(COPY, "concat"),
	KIND(COPY, "^cpy_"), /* llama.cpp, as the next six */
	KIND(EMBEDDING, "get_rows"),
	KIND(EMBEDDING, "set_rows"),
	KIND(ELEMENTWISE, "k_bin_bcast"),
	KIND(ELEMENTWISE, "unary_op"),
	KIND(ELEMENTWISE, "unary_gated_op"),
	KIND(ELEMENTWISE, "scale_f32"),
	KIND(ELEMENTWISE, "elemwise"),
	KIND(ELEMENTWISE, "kernelpointwise"),
	KIND(ELEMENTWISE, "clamp"),
	KIND(ELEMENTWISE, "gelu"),
	KIND(ELEMENTWISE, "geglu"),
	KIND(ELEMENTWISE, "element_mul"), /* Liger Kernel */
	KIND(ELEMENTWISE, "^_fg_kernel"), /* Unsloth: SwiGLU, and its gradient */
	KIND(ELEMENTWISE, "^_dwf_dw_dfg"),
	KIND(ELEMENTWISE, "^fused__autocast"), /* TorchScript's fuser */
	KIND(ELEMENTWISE, "hadamard"),
	KIND(ELEMENTWISE, "^mhc_"), /* TileLang: hyper-connections */
	KIND(ELEMENTWISE, "scal_kernel"),
	KIND(ELEMENTWISE, "scalepackedtensor"),
	KIND(ELEMENTWISE, "upsample"),
	KIND(ELEMENTWISE, "dropout"),
	KIND(ELEMENTWISE, "subtensorop"), /* MIOpen */
	KIND(ELEMENTWISE, "fill"),
	KIND(ELEMENTWISE, "memset"),
	KIND(ELEMENTWISE, "tril"),
	KIND(ELEMENTWISE, "triu"),
	KIND(SOFTMAX, "softmax"),
	KIND(SOFTMAX, "cross_entropy"), /* in one kernel with it */
	KIND(SAMPLING, "sampling"),
	KIND(NORM, "norm"),
	KIND(QUANTIZE, "quant"),
	KIND(ELEMENTWISE, "silu"),
	KIND(ELEMENTWISE, "swiglu"),
	KIND(ELEMENTWISE, "relu"),
	KIND(COPY, "permute"),
	KIND(COPY, "cast"),

	/* Types, spelled out: those of operands stand before those that may be the result's. */
	TYPE(FP8, "f8_fnuz"),
	TYPE(BF16, "^ck::..unsigned short"),
	TYPE(BF16, "^_z..*df16b"),
	TYPE(BF16, "^_zn2ck..*ttft"),
	TYPE(FP4, "ue4m3"), /* the scales of nvfp4 */
	TYPE(FP4, "nvfp4"),
	TYPE(FP4, "fp4gemm"),
	TYPE(FP4, "mxfp4_mxfp4"),
	TYPE(FP8, "*e4m3"),
	TYPE(FP8, "*e5m2"),
	TYPE(FP8, "*f8f8"),
	TYPE(FP8, "*fp8_"),
	TYPE(FP8, "*_fp8"),
	TYPE(FP8, "fp8gemm"),
	TYPE(INT8, "i8gemm"),
	TYPE(TF32, "*tf32"),
	TYPE(TF32, "tfloat32"),
	TYPE(TF32, "xf32"),
	TYPE(TF32, "^fmha_cutlassf_f32"), /* three TF32 products for each */
	TYPE(TF32, "^fmha_cutlassb_f32"),
	TYPE(BF16, "*bf16"),
	TYPE(BF16, "*bfloat16"),
	TYPE(FP16, "fp16"),
	TYPE(FP16, "_f16"),
	TYPE(FP16, "*f16f16"),
	TYPE(FP16, "__half"),
	TYPE(FP16, "half_t"),
	TYPE(FP16, "hgemm"),
	TYPE(FP16, "h884"),
	TYPE(FP16, "h1688"),
	TYPE(FP16, "h16816"),
	TYPE(FP16, "h161616"),
	TYPE(INT8, "int8"),
	TYPE(INT8, "imma"),
	TYPE(INT8, "*i8816"),
	TYPE(INT8, "*i16832"),
	TYPE(FP4, "mxfp4"),
	TYPE(FP4, "*e2m1"),
	TYPE(TF32, "s1688"), /* kernels of 16-bit types say so, too: above */
	TYPE(FP64, "dgemm"),
	TYPE(FP64, "d884"),
	TYPE(FP64, "<double"),
	TYPE(FP32, "sgemm"),
	TYPE(FP32, "scudnn"),
	TYPE(FP32, "gcgemm"),
	TYPE(FP32, "*f32f32_f32f32_f32"),
	TYPE(FP32, "_fp32_"),
	TYPE(FP32, "<float"),
};

static inline bool fits(const struct row *row, const struct kernel_name *name)
{
	return (name->pairs.behind[row->key >> 5] >> (row->key & 31) & 1) &&
	       tsi_kernel_pattern_fits(row->pattern, row->depth, name);
}

/* Types in a kernel's name that can be its operands'; without a kind it may be both. */
static bool may_multiply(uint8_t kind)
{
	return kind == KERNEL_OTHER || kind == KERNEL_GEMM || kind == KERNEL_ATTENTION ||
	       kind == KERNEL_CONV || kind == KERNEL_MOE;
}

struct kernel_facts tsi_kernel_facts(struct str kernel_name)
{
	struct kernel_facts facts = { .kind = KERNEL_OTHER };
	unsigned int wanted = TELLS_BOTH;
	struct kernel_name name;

	tsi_kernel_name_read(&name, kernel_name);
	for (size_t i = 0; i < TSI_COUNT_OF(rows) && wanted; i++) {
		const struct row *row = &rows[i];
		if (!(row->known & wanted) || !fits(row, &name))
			continue;
		if (row->known & wanted & TELLS_KIND) {
			facts.kind = row->kind;
			facts.is_communicating = row->kind == KERNEL_COMM || row->is_fused;
		}
		if (row->known & wanted & TELLS_PRECISION)
			facts.precision = row->precision;
		wanted = may_multiply(facts.kind) ? wanted & ~row->known : 0;
	}
	return facts;
}

bool tsi_is_comm_kernel(struct str kernel_name)
{
	struct kernel_name name;

	tsi_kernel_name_read(&name, kernel_name);
	for (const struct row *row = rows; row->is_fused || row->kind == KERNEL_COMM; row++)
		if (fits(row, &name))
			return !row->is_fused;
	return false;
}
