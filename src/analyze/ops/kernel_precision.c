/* SPDX-License-Identifier: MIT */
/*
 * Tables that tell in which precision a matrix kernel multiplies. Most
 * libraries spell the type out; nvjet and Tensile have letters for it at a
 * known place. The first word that fits decides: the types of the operands
 * stand before those that may be the sum's or the output's.
 */
#include "analyze/ops/kernel_precision.h"

#include "base/attributes.h"

struct word {
	enum tscope_precision precision;
	struct str text; /* upper and lower case alike */
};

#define WORD(precision, text)                                                                      \
	{                                                                                          \
		TSCOPE_PRECISION_##precision,                                                      \
		{                                                                                  \
			text, sizeof(text) - 1                                                     \
		}                                                                                  \
	}

/* Anywhere in the name. */
static const struct word words[] = {
	WORD(FP4, "ue4m3"), /* the scales of nvfp4 */
	WORD(FP4, "nvfp4"),
	WORD(FP8, "e4m3"),
	WORD(FP8, "e5m2"),
	WORD(FP8, "f8f8"),
	WORD(FP8, "fp8_"), /* but not "Fp8KVCacheDataType", which says what is read */
	WORD(FP8, "_fp8"),
	WORD(TF32, "tf32"),
	WORD(TF32, "xf32"),
	WORD(TF32, "fmha_cutlassf_f32"), /* three TF32 products for each */
	WORD(TF32, "fmha_cutlassb_f32"),
	WORD(BF16, "bf16"),
	WORD(BF16, "bfloat16"),
	WORD(FP16, "fp16"),
	WORD(FP16, "_f16"),
	WORD(FP16, "f16f16"),
	WORD(FP16, "__half"),
	WORD(FP16, "half_t"),
	WORD(FP16, "hgemm"),
	WORD(FP16, "h884"),
	WORD(FP16, "h1688"),
	WORD(FP16, "h16816"),
	WORD(INT8, "int8"),
	WORD(INT8, "imma"),
	WORD(INT8, "i8816"),
	WORD(INT8, "i16832"),
	WORD(FP4, "mxfp4"),
	WORD(FP4, "e2m1"),
	WORD(TF32, "s1688"), /* kernels of 16-bit types say so, too: above */
	WORD(FP64, "dgemm"),
	WORD(FP64, "d884"),
	WORD(FP64, "<double"),
	WORD(FP32, "sgemm"),
	WORD(FP32, "scudnn"),
	WORD(FP32, "f32f32_f32f32_f32"),
	WORD(FP32, "_fp32_"),
	WORD(FP32, "<float"),
};

/* Behind "nvjet_" or "nvjet_sm90_": "tst" is bf16 in, float within, bf16 out. */
static const struct word nvjet_types[] = {
	WORD(FP8, "q"), WORD(FP8, "o"), WORD(BF16, "t"), WORD(FP16, "h"), WORD(TF32, "s"),
};

/* Behind "Cijk_Alik_Bljk_" (any layout): "BBS_BH", "S_B", "S_MX_B" (X: xf32) … */
static const struct word tensile_types[] = {
	WORD(FP8, "f8"), WORD(FP8, "b8"), WORD(INT8, "i8"), WORD(INT8, "4xi8"), WORD(TF32, "s_mx_"),
	WORD(FP32, "s"), WORD(BF16, "b"), WORD(FP16, "h"),  WORD(FP64, "d"),
};

/* In names of kernels that run on AMD's matrix cores. */
static const struct word amd_words[] = {
	WORD(FP32, "cijk_"),
	WORD(FP32, "mfma"),
	WORD(FP32, "xdl"),
	WORD(FP32, "igemm_"),
};

static enum tscope_precision find_word(const struct word *list, size_t count, struct str name)
{
	struct letter_pairs pairs;

	tsi_letter_pairs_of(&pairs, name);
	for (size_t i = 0; i < count; i++)
		if (tsi_may_hold(&pairs, list[i].text) &&
		    tsi_str_find_nocase(name, list[i].text) >= 0)
			return list[i].precision;
	return TSCOPE_PRECISION_UNKNOWN;
}

static bool starts_nocase(struct str text, struct str prefix)
{
	return text.length >= prefix.length &&
	       tsi_str_equal_nocase((struct str){ text.data, prefix.length }, prefix);
}

static enum tscope_precision find_prefix(const struct word *list, size_t count, struct str text)
{
	for (size_t i = 0; i < count; i++)
		if (starts_nocase(text, list[i].text))
			return list[i].precision;
	return TSCOPE_PRECISION_UNKNOWN;
}

/* The text behind the first n underscores from a place on; empty where there are fewer. */
static struct str behind_underscores(struct str text, ptrdiff_t from, int n)
{
	size_t at = (size_t)from;

	for (; n && at < text.length; at++)
		n -= text.data[at] == '_';
	return n ? (struct str){ 0 } : (struct str){ text.data + at, text.length - at };
}

enum tscope_precision tsi_kernel_precision(struct str kernel_name)
{
	ptrdiff_t nvjet = tsi_str_find_nocase(kernel_name, TSI_STR("nvjet_"));
	ptrdiff_t tensile = tsi_str_find_nocase(kernel_name, TSI_STR("cijk_"));

	if (nvjet >= 0) {
		struct str types = behind_underscores(kernel_name, nvjet, 1);
		if (tsi_str_starts(types, "sm"))
			types = behind_underscores(kernel_name, nvjet, 2);
		return find_prefix(nvjet_types, TSI_COUNT_OF(nvjet_types), types);
	}
	if (tensile >= 0)
		return find_prefix(tensile_types, TSI_COUNT_OF(tensile_types),
				   behind_underscores(kernel_name, tensile, 3));
	return find_word(words, TSI_COUNT_OF(words), kernel_name);
}

enum tscope_precision tsi_float_precision(enum kernel_kind kind, struct str kernel_name)
{
	enum tscope_precision precision = tsi_kernel_precision(kernel_name);

	if (precision == TSCOPE_PRECISION_TF32 || precision == TSCOPE_PRECISION_FP32)
		return precision;
	precision = find_word(amd_words, TSI_COUNT_OF(amd_words), kernel_name);
	if (precision != TSCOPE_PRECISION_UNKNOWN)
		return precision;
	switch (tsi_tensor_core_use(kind, kernel_name)) {
	case TENSOR_CORES_USED:
		return TSCOPE_PRECISION_TF32;
	case TENSOR_CORES_NOT_USED:
		return TSCOPE_PRECISION_FP32;
	case TENSOR_CORES_UNKNOWN:
		break;
	}
	return kind == KERNEL_CONV ? TSCOPE_PRECISION_TF32 : TSCOPE_PRECISION_FP32;
}
