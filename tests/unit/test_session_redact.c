/* SPDX-License-Identifier: MIT */
/* session/redact.c: what stays of a name, and what becomes a hash ("x" and twelve digits). */
#include "session/redact.h"

#include <stdlib.h>

#include "base/attributes.h"
#include "check.h"

/* The text with each hash as "#"; the caller frees. */
static char *redacted(enum redacted_kind kind, const char *text)
{
	const struct redaction redaction = { .key = tsi_hash_key(TSI_STR("passphrase")) };
	struct gzip_out *out;
	char *result = NULL, *to, *from;
	size_t length = 0;
	FILE *file = open_memstream(&result, &length);

	assert_non_null(file);
	assert_int_equal(tsi_gzip_open(&out, file, false, NULL), TSCOPE_OK);
	tsi_redact(out, &redaction, kind, tsi_str_of(text));
	assert_int_equal(tsi_gzip_close(out, NULL), TSCOPE_OK);
	fclose(file);
	for (to = from = result; *from != '\0'; to++) {
		if (*from == 'x' && strspn(from + 1, "0123456789abcdef") >= 12) {
			*to = '#';
			from += 13;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
	return result;
}

TEST(names)
{
	static const struct {
		enum redacted_kind kind;
		const char *text, *result;
	} cases[] = {
		{ REDACTED_NAME, "aten::mm", "aten::mm" },
		{ REDACTED_NAME, "cudaLaunchKernel", "cudaLaunchKernel" },
		{ REDACTED_NAME, "cuLaunchKernelEx", "cuLaunchKernelEx" },
		{ REDACTED_NAME, "cuisine", "#" },
		{ REDACTED_NAME, "custom_ops::secret", "#" },
		{ REDACTED_NAME, "ProfilerStep#17", "ProfilerStep#17" },
		{ REDACTED_NAME, "ProfilerStep#mine", "ProfilerStep##" },
		{ REDACTED_NAME, "Optimizer.step#AdamW.step", "Optimizer.step#AdamW.step" },
		{ REDACTED_NAME, "Optimizer.step#Secret.step", "Optimizer.step##" },
		{ REDACTED_NAME, "autograd::engine::evaluate_function: AddmmBackward0",
		  "autograd::engine::evaluate_function: AddmmBackward0" },
		{ REDACTED_NAME, "autograd::engine::evaluate_function: SecretBackward",
		  "autograd::engine::evaluate_function: #" },
		{ REDACTED_NAME, "AddmmBackward0", "AddmmBackward0" },
		{ REDACTED_NAME, "execute_context_2(6144)_generation_3(3)",
		  "execute_context_2(6144)_generation_3(3)" },
		{ REDACTED_NAME, "execute_secret", "#" },
		{ REDACTED_NAME, "stream 7", "stream 7" },
		{ REDACTED_NAME, "stream of customers", "#" },
		{ REDACTED_NAME, "load /data/customers", "#" },
		{ REDACTED_NAME, "4242", "4242" },
		{ REDACTED_NAME, "", "" },
		{ REDACTED_KERNEL, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)",
		  "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)" },
		{ REDACTED_KERNEL, "triton_poi_fused_add_0", "triton_poi_fused_add_0" },
		{ REDACTED_KERNEL, "secret_softmax_forward", "#_softmax_kernel" },
		{ REDACTED_KERNEL, "secret", "#" },
		{ REDACTED_FRAME, "/home/me/train.py(12): main", "#.py(12): #" },
		{ REDACTED_FRAME, "torch/nn/modules/module.py(1501): _call_impl",
		  "torch/nn/modules/module.py(1501): _call_impl" },
		{ REDACTED_FRAME, "/home/me/torch/nn.py(1): f", "#.py(1): #" },
		{ REDACTED_FRAME, "nn.Module: Secret_0", "nn.Module: #" },
		{ REDACTED_FRAME, "<built-in method secret>", "#" },
		{ REDACTED_FRAME, "f (x): (12): g", "#.py(12): #" },
		{ REDACTED_STACK, "a.py(1): f;torch/b.py(2): g;c",
		  "#.py(1): #;torch/b.py(2): g;#" },
		{ REDACTED_TEXT, "[0, 1, 2]", "[0, 1, 2]" },
		{ REDACTED_TEXT, "[True, False]", "[True, False]" },
		{ REDACTED_TEXT, "[True, falsely]", "#" },
		{ REDACTED_TEXT, "secret", "#" },
		{ REDACTED_TEXT, "\xd0\xb1", "#" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		char *result = redacted(cases[i].kind, cases[i].text);

		assert_string_equal(result, cases[i].result);
		free(result);
	}
}

TEST(keys)
{
	assert_true(tsi_is_public_key(TSI_STR("Collective name")));
	assert_false(tsi_is_public_key(TSI_STR("Process Group Description")));
	assert_true(tsi_is_shape_key(TSI_STR("Input Dims")));
	assert_false(tsi_is_shape_key(TSI_STR("grid")));
}
