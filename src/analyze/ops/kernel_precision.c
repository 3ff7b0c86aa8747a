/* SPDX-License-Identifier: MIT */
/* In which precision a matrix kernel multiplies: what its name says, or what PyTorch does then. */
#include "analyze/ops/kernel_precision.h"

#include "base/attributes.h"

/* In names of kernels that run on AMD's matrix cores: these multiply plain float32. */
static const struct str amd_words[] = {
	{ "cijk_", 5 },
	{ "mfma", 4 },
	{ "xdl", 3 },
	{ "igemm_", 6 },
};

enum tscope_precision tsi_kernel_precision(struct str kernel_name)
{
	return (enum tscope_precision)tsi_kernel_facts(kernel_name).precision;
}

enum tscope_precision tsi_float_precision(enum kernel_kind kind, struct str kernel_name,
					  enum tscope_precision said)
{
	if (said == TSCOPE_PRECISION_TF32 || said == TSCOPE_PRECISION_FP32)
		return said;
	for (size_t i = 0; i < TSI_COUNT_OF(amd_words); i++)
		if (tsi_str_find_nocase(kernel_name, amd_words[i]) >= 0)
			return TSCOPE_PRECISION_FP32;
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
