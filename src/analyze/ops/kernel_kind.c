/* SPDX-License-Identifier: MIT */
/*
 * Tables that tell what a kernel does. Nothing in a trace says it, so this is
 * judged by names: an operator's name is a word of PyTorch's and is believed
 * first, a kernel's own is what its library's authors made up. The first
 * pattern that fits decides, so the more telling ones stand first.
 */
#include "analyze/ops/kernel_kind.h"

#include <stdint.h>

#include "base/attributes.h"

enum place_in_name { ANYWHERE, AT_START, AT_END };

struct pattern {
	uint8_t kind;
	uint8_t place;
	struct str text; /* upper and lower case alike */
};

#define WORD(text)                                                                                 \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}
#define PATTERN(kind, text)                                                                        \
	{                                                                                          \
		kind, ANYWHERE, WORD(text)                                                         \
	}
#define START(kind, text)                                                                          \
	{                                                                                          \
		kind, AT_START, WORD(text)                                                         \
	}
#define END(kind, text)                                                                            \
	{                                                                                          \
		kind, AT_END, WORD(text)                                                           \
	}

static const struct pattern kernel_patterns[] = {
	PATTERN(KERNEL_COMM, "nccl"),
	PATTERN(KERNEL_COMM, "rccl"),
	PATTERN(KERNEL_ATTENTION, "flash_fwd"),
	PATTERN(KERNEL_ATTENTION, "flash_bwd"),
	PATTERN(KERNEL_ATTENTION, "flash::"),
	PATTERN(KERNEL_ATTENTION, "fmha"),
	PATTERN(KERNEL_ATTENTION, "attention"),
	PATTERN(KERNEL_ATTENTION, "attn_fwd"),
	PATTERN(KERNEL_ATTENTION, "attn_bwd"),
	PATTERN(KERNEL_ATTENTION, "_attn_"),
	PATTERN(KERNEL_ATTENTION, "flashinfer"),
	PATTERN(KERNEL_GEMM,
		"triton_tem_"), /* Inductor's template; its other kernels fuse many things */
	PATTERN(KERNEL_GEMM, "triton_mm"),
	PATTERN(KERNEL_GEMM, "triton_bmm"),
	PATTERN(KERNEL_TRITON, "triton_"),
	START(KERNEL_EMBEDDING, "_fwd_kernel_ep_"), /* SGLang: what scatters tokens to experts */
	START(KERNEL_ATTENTION, "_fwd_kernel"), /* flash attention in Triton, as of its authors */
	START(KERNEL_ATTENTION, "_bwd_kernel"),
	START(KERNEL_ATTENTION, "_fwd_grouped_kernel"), /* of one token, with a cache */
	PATTERN(KERNEL_OPTIMIZER, "adam"),
	PATTERN(KERNEL_OPTIMIZER, "optimizer"),
	PATTERN(KERNEL_OPTIMIZER, "adagrad"),
	PATTERN(KERNEL_MOE, "moe"),
	PATTERN(KERNEL_MOE, "expert"),
	PATTERN(KERNEL_MOE, "routing"),
	PATTERN(KERNEL_MOE, "matmul_ogs"),
	PATTERN(KERNEL_NORM, "batch_norm"),
	PATTERN(KERNEL_NORM, "batchnorm"),
	PATTERN(KERNEL_NORM, "layer_norm"),
	PATTERN(KERNEL_NORM, "layernorm"),
	PATTERN(KERNEL_NORM, "group_norm"),
	PATTERN(KERNEL_NORM, "groupnorm"),
	PATTERN(KERNEL_NORM, "rmsnorm"),
	PATTERN(KERNEL_NORM, "rms_norm"),
	PATTERN(KERNEL_NORM, "rowwisemoments"),
	PATTERN(KERNEL_NORM, "gammabeta"),
	PATTERN(KERNEL_NORM, "bn_fw"),
	PATTERN(KERNEL_NORM, "bn_bw"),
	PATTERN(KERNEL_SOFTMAX, "softmax"),
	PATTERN(KERNEL_COPY, "convert"),
	PATTERN(KERNEL_CONV, "conv"),
	PATTERN(KERNEL_CONV, "scudnn"),
	PATTERN(KERNEL_CONV, "winograd"),
	PATTERN(KERNEL_CONV, "dgrad"),
	PATTERN(KERNEL_CONV, "wgrad"),
	PATTERN(KERNEL_CONV, "fprop"),
	PATTERN(KERNEL_CONV, "igemm_fwd_gtc"), /* MIOpen's implicit GEMM */
	PATTERN(KERNEL_CONV, "igemm_bwd_gtc"),
	PATTERN(KERNEL_CONV, "igemm_bwd_data_gtc"),
	PATTERN(KERNEL_CONV, "igemm_wrw_gtc"),
	PATTERN(KERNEL_CONV, "im2d2col"),
	PATTERN(KERNEL_CONV, "im2col"),
	PATTERN(KERNEL_CONV, "cask_cudnn"),
	PATTERN(KERNEL_EMBEDDING, "embedding"),
	PATTERN(KERNEL_ELEMENTWISE, "vectorized_elementwise"),
	PATTERN(KERNEL_OTHER, "fbgemm_gpu::"), /* of sparse tensors: no GEMM */
	PATTERN(KERNEL_GEMM, "gemm"),
	PATTERN(KERNEL_GEMM, "gemv"),
	PATTERN(KERNEL_GEMM, "nvjet"),
	PATTERN(KERNEL_GEMM, "cijk_"),
	PATTERN(KERNEL_GEMM, "matmul"),
	PATTERN(KERNEL_GEMM, "marlin<"), /* its other kernels pack weights anew */
	PATTERN(KERNEL_GEMM, "marlin_24<"),
	PATTERN(KERNEL_GEMM, "gmm_kernel"), /* of groups, in Triton */
	PATTERN(KERNEL_GEMM, "tgmm_"),
	PATTERN(KERNEL_GEMM, "bmm_chunk_"), /* of Mamba */
	PATTERN(KERNEL_GEMM, "splitkreduce"),
	PATTERN(KERNEL_GEMM, "cublas"),
	PATTERN(KERNEL_GEMM, "hipblaslt"),
	PATTERN(KERNEL_GEMM, "cutlass"),
	PATTERN(KERNEL_EMBEDDING, "indexselect"),
	PATTERN(KERNEL_EMBEDDING, "index_"),
	PATTERN(KERNEL_EMBEDDING, "_index"),
	PATTERN(KERNEL_EMBEDDING, "gather"),
	PATTERN(KERNEL_EMBEDDING, "scatter"),
	PATTERN(KERNEL_EMBEDDING, "compute_grad_weight"),
	PATTERN(KERNEL_SORT, "sort"),
	PATTERN(KERNEL_SORT, "topk"),
	PATTERN(KERNEL_SORT, "scan"),
	PATTERN(KERNEL_COPY, "copy"),
	PATTERN(KERNEL_COPY, "catarray"),
	PATTERN(KERNEL_COPY, "transpose"),
	PATTERN(KERNEL_COPY, "nchwtonhwc"),
	PATTERN(KERNEL_COPY, "nhwctonchw"),
	PATTERN(KERNEL_REDUCTION, "reduce"),
	PATTERN(KERNEL_REDUCTION, "lpnorm"),
	PATTERN(KERNEL_ELEMENTWISE, "elementwise"),
	PATTERN(KERNEL_ELEMENTWISE, "multi_tensor_apply"),
	PATTERN(KERNEL_ELEMENTWISE, "dropout"),
	PATTERN(KERNEL_ELEMENTWISE, "subtensorop"), /* MIOpen */
	PATTERN(KERNEL_ELEMENTWISE, "act_and_mul"),
	PATTERN(KERNEL_ELEMENTWISE, "rotary"),
	PATTERN(KERNEL_ELEMENTWISE, "fill"),
};

static const struct pattern op_patterns[] = {
	PATTERN(KERNEL_ATTENTION, "attention"),
	PATTERN(KERNEL_OPTIMIZER, "_fused_adam"),
	PATTERN(KERNEL_OPTIMIZER, "_fused_sgd"),
	PATTERN(KERNEL_OPTIMIZER, "optimizer.step"),
	PATTERN(KERNEL_NORM, "batch_norm"),
	PATTERN(KERNEL_NORM, "layer_norm"),
	PATTERN(KERNEL_NORM, "group_norm"),
	PATTERN(KERNEL_NORM, "rms_norm"),
	PATTERN(KERNEL_SOFTMAX, "softmax"),
	PATTERN(KERNEL_CONV, "convolution"),
	PATTERN(KERNEL_CONV, "aten::conv"),
	PATTERN(KERNEL_GEMM, "aten::mm"),
	PATTERN(KERNEL_GEMM, "aten::bmm"),
	PATTERN(KERNEL_GEMM, "aten::addmm"),
	PATTERN(KERNEL_GEMM, "aten::baddbmm"),
	PATTERN(KERNEL_GEMM, "aten::_scaled_mm"),
	PATTERN(KERNEL_GEMM, "aten::_grouped_mm"),
	PATTERN(KERNEL_GEMM, "aten::linear"),
	PATTERN(KERNEL_MOE, "fused_experts"),
	PATTERN(KERNEL_MOE, "fused_moe"),
	PATTERN(KERNEL_OTHER, "fbgemm"), /* a library of other things, too */
	PATTERN(KERNEL_GEMM, "gemm"),
	PATTERN(KERNEL_GEMM, "scaled_mm"),
	END(KERNEL_GEMM, "_mm"),
	END(KERNEL_GEMM, "_bmm"),
	PATTERN(KERNEL_EMBEDDING, "aten::embedding"),
	PATTERN(KERNEL_EMBEDDING, "aten::index"),
	PATTERN(KERNEL_EMBEDDING, "aten::_index"),
	PATTERN(KERNEL_EMBEDDING, "aten::gather"),
	PATTERN(KERNEL_EMBEDDING, "aten::scatter"),
	PATTERN(KERNEL_SORT, "aten::sort"),
	PATTERN(KERNEL_SORT, "aten::topk"),
	PATTERN(KERNEL_SORT, "aten::cumsum"),
	PATTERN(KERNEL_COPY, "aten::copy_"),
	PATTERN(KERNEL_COPY, "aten::cat"),
};

/* Names of libraries for kernels that feed tensor or matrix cores, and for those that do not. */
static const struct str tensor_core_words[] = {
	WORD("s884"),          WORD("h884"),     WORD("s1688"),    WORD("h1688"),
	WORD("16816"),         WORD("i8816"),    WORD("c1688"),    WORD("hmma"),
	WORD("imma"),          WORD("wgmma"),    WORD("tensorop"), WORD("xmma_gemm"),
	WORD("implicit_gemm"), WORD("nvjet"),    WORD("tf32"),     WORD("flash_fwd"),
	WORD("flash_bwd"),     WORD("_mi16x16"), WORD("_mi32x32"), WORD("mfma"),
	WORD("xdl"),
};

static const struct str plain_core_words[] = {
	WORD("sgemm"),    WORD("simt"),          WORD("scudnn"),
	WORD("gemv"),     WORD("splitkreduce"),  WORD("convolve_common_engine"),
	WORD("_engine<"), WORD("offsetskernel"), WORD("im2col"),
};

bool tsi_kernel_kind_multiplies(enum kernel_kind kind)
{
	return kind == KERNEL_GEMM || kind == KERNEL_ATTENTION || kind == KERNEL_CONV ||
	       kind == KERNEL_MOE;
}

const char *tsi_kernel_kind_name(enum kernel_kind kind)
{
	static const char *const names[KERNEL_KIND_COUNT] = {
		[KERNEL_OTHER] = "other",
		[KERNEL_GEMM] = "gemm",
		[KERNEL_ATTENTION] = "attention",
		[KERNEL_CONV] = "conv",
		[KERNEL_NORM] = "norm",
		[KERNEL_SOFTMAX] = "softmax",
		[KERNEL_EMBEDDING] = "embedding",
		[KERNEL_OPTIMIZER] = "optimizer",
		[KERNEL_MOE] = "moe",
		[KERNEL_SORT] = "sort",
		[KERNEL_COPY] = "copy",
		[KERNEL_REDUCTION] = "reduction",
		[KERNEL_ELEMENTWISE] = "elementwise",
		[KERNEL_TRITON] = "triton",
		[KERNEL_COMM] = "comm",
	};

	return kind < KERNEL_KIND_COUNT ? names[kind] : "other";
}

static bool fits(const struct pattern *pattern, struct str name)
{
	size_t length = pattern->text.length;

	if (pattern->place != ANYWHERE && length > name.length)
		return false;
	if (pattern->place == AT_END)
		name.data += name.length - length;
	if (pattern->place != ANYWHERE)
		name.length = length;
	return tsi_str_find_nocase(name, pattern->text) >= 0;
}

static enum kernel_kind match(const struct pattern *patterns, size_t count, struct str name)
{
	struct letter_pairs pairs;

	tsi_letter_pairs_of(&pairs, name);
	for (size_t i = 0; i < count; i++)
		if (tsi_may_hold(&pairs, patterns[i].text) && fits(&patterns[i], name))
			return patterns[i].kind;
	return KERNEL_OTHER;
}

enum kernel_kind tsi_kernel_kind_of_name(struct str kernel_name)
{
	return match(kernel_patterns, TSI_COUNT_OF(kernel_patterns), kernel_name);
}

enum kernel_kind tsi_kernel_kind_of_op(struct str op_name)
{
	return match(op_patterns, TSI_COUNT_OF(op_patterns), op_name);
}

static bool has_word(const struct str *words, size_t count, const struct letter_pairs *pairs,
		     struct str name)
{
	for (size_t i = 0; i < count; i++)
		if (tsi_may_hold(pairs, words[i]) && tsi_str_find_nocase(name, words[i]) >= 0)
			return true;
	return false;
}

enum tensor_core_use tsi_tensor_core_use(enum kernel_kind kind, struct str kernel_name)
{
	struct letter_pairs pairs;

	switch (kind) {
	case KERNEL_GEMM:
	case KERNEL_CONV:
	case KERNEL_ATTENTION:
	case KERNEL_MOE:
		break;
	case KERNEL_TRITON:
	case KERNEL_OTHER:
		return TENSOR_CORES_UNKNOWN;
	default:
		return TENSOR_CORES_NOT_USED;
	}
	/* cuBLAS' and cuDNN's own: single precision in, within and out, not rounded to tf32. */
	if (tsi_str_find_nocase(kernel_name, TSI_STR("f32f32_f32f32_f32")) >= 0 &&
	    tsi_str_find_nocase(kernel_name, TSI_STR("tf32")) < 0)
		return TENSOR_CORES_NOT_USED;
	tsi_letter_pairs_of(&pairs, kernel_name);
	if (has_word(tensor_core_words, TSI_COUNT_OF(tensor_core_words), &pairs, kernel_name))
		return TENSOR_CORES_USED;
	if (has_word(plain_core_words, TSI_COUNT_OF(plain_core_words), &pairs, kernel_name))
		return TENSOR_CORES_NOT_USED;
	return TENSOR_CORES_UNKNOWN;
}
