/* SPDX-License-Identifier: MIT */
/*
 * Kind of a kernel, identified by the operator that launched it: its name is a word of PyTorch's
 * and is believed before the kernel's own, which its library's authors made up (kernel_table.h).
 * The first pattern that fits decides, so the more specific ones stand first.
 */
#include "analyze/ops/kernel_kind.h"

#include <stdint.h>

#include "base/attributes.h"

enum place_in_name { ANYWHERE, AT_END };

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
#define END(kind, text)                                                                            \
	{                                                                                          \
		kind, AT_END, WORD(text)                                                           \
	}

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

static const struct str single_words[] = { WORD("f32f32_f32f32_f32") };

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
		[KERNEL_ROUTING] = "routing",
		[KERNEL_SSM] = "ssm",
		[KERNEL_SORT] = "sort",
		[KERNEL_SAMPLING] = "sampling",
		[KERNEL_QUANTIZE] = "quantize",
		[KERNEL_COPY] = "copy",
		[KERNEL_REDUCTION] = "reduction",
		[KERNEL_ELEMENTWISE] = "elementwise",
		[KERNEL_COMM] = "comm",
	};

	return kind < KERNEL_KIND_COUNT ? names[kind] : "other";
}

static bool fits(const struct pattern *pattern, struct str name)
{
	size_t length = pattern->text.length;

	if (pattern->place == AT_END) {
		if (length > name.length)
			return false;
		name.data += name.length - length;
		name.length = length;
	}
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
	return (enum kernel_kind)tsi_kernel_facts(kernel_name).kind;
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
	case KERNEL_SSM:
	case KERNEL_OTHER:
		return TENSOR_CORES_UNKNOWN;
	default:
		return TENSOR_CORES_NOT_USED;
	}
	tsi_letter_pairs_of(&pairs, kernel_name);
	/* cuBLAS' and cuDNN's own: single precision in, within and out, not rounded to tf32. */
	if (has_word(single_words, TSI_COUNT_OF(single_words), &pairs, kernel_name) &&
	    tsi_str_find_nocase(kernel_name, TSI_STR("tf32")) < 0)
		return TENSOR_CORES_NOT_USED;
	if (has_word(tensor_core_words, TSI_COUNT_OF(tensor_core_words), &pairs, kernel_name))
		return TENSOR_CORES_USED;
	if (has_word(plain_core_words, TSI_COUNT_OF(plain_core_words), &pairs, kernel_name))
		return TENSOR_CORES_NOT_USED;
	return TENSOR_CORES_UNKNOWN;
}
