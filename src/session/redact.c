/* SPDX-License-Identifier: MIT */
#include "session/redact.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyze/ops/kernel_kind.h"
#include "base/attributes.h"
#include "model/trace/kernel_table.h"
#include "timeline/iteration.h"

/* How names of PyTorch and what is below it begin; what follows "#" or ": " is judged again. */
static const char *const public_names[] = {
	"aten::",
	"autograd::engine::evaluate_function",
	"c10::",
	"c10d::",
	"prims::",
	"torch::",
	"nccl:",
	"gloo:",
	"Optimizer.step",
	"Optimizer.zero_grad",
	"enumerate(DataLoader)",
	"record_param_comms",
	"DistributedDataParallel.forward",
	"Memcpy",
	"Memset",
	"PyTorch Profiler",
	"Activity Buffer Request",
	"Iteration Start",
	"Record Window End",
	"[memory]",
	"event/",
	"dataloader/",
	"SGD.step",
	"Adam.step",
	"AdamW.step",
	"_SingleProcessDataLoaderIter",
	"_MultiProcessingDataLoaderIter",
};

/* Names that are public as a whole. */
static const char *const public_words[] = { "Trace",
					    "Traces",
					    "Spans",
					    "ac2g",
					    "fwdbwd",
					    "CheckpointFunction",
					    "CheckpointFunctionBackward" };

/* Prefixes of runtime functions, which a capital letter follows. */
static const char *const public_calls[] = { "cuda", "cu", "hip", "ze" };

/* How kernels begin that come with PyTorch, CUDA, ROCm or their compilers. */
static const char *const public_kernels[] = {
	"void at::",    "at::native::",
	"nccl",         "rccl",
	"ampere_",      "volta_",
	"turing_",      "sm70_",
	"sm75_",        "sm80_",
	"sm86_",        "sm89_",
	"sm90_",        "sm100_",
	"cutlass",      "void cutlass",
	"cublas",       "void cublas",
	"cudnn",        "void cudnn",
	"nvjet_",       "Cijk_",
	"void cub::",   "void thrust::",
	"void flash::", "triton_poi_",
	"triton_red_",  "triton_per_",
	"triton_tem_",  "Memcpy",
	"Memset",       "gemmSN",
	"splitKreduce", "multi_tensor_apply_kernel",
};

static const char *const public_keys[] = {
	"Collective name",
	"dtype",
	"Input type",
	"Output type",
	"labels",
	"backend",
	"kernel_backend",
	"nccl_version",
	"displayTimeUnit",
	"cuda_runtime_version",
	"hip_runtime_version",
	"cuda_driver_version",
	"hip_driver_version",
	"ts_unit",
};

static const char *const shape_keys[] = {
	"Input Dims", "Output Dims", "Input Strides", "Output Strides", "Concrete Inputs",
	"Input dims", "Output dims", "Input values",  "Input Shapes",
};

static bool begins_with_one(struct str text, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (tsi_str_has_prefix(text, tsi_str_of(list[i])))
			return true;
	return false;
}

static bool is_one(struct str text, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (tsi_str_equal(text, tsi_str_of(list[i])))
			return true;
	return false;
}

bool tsi_is_public_key(struct str key)
{
	return is_one(key, public_keys, TSI_COUNT_OF(public_keys));
}

bool tsi_is_shape_key(struct str key)
{
	return is_one(key, shape_keys, TSI_COUNT_OF(shape_keys));
}

/* Words of Python that flags of operators are; they say nothing of a program. */
static const char *const public_values[] = { "True", "False", "None" };

static bool has_letters(struct str text)
{
	for (size_t i = 0; i < text.length; i++)
		if (tsi_is_letter(text.data[i]) || (unsigned char)text.data[i] >= 0x80)
			return true;
	return false;
}

/* "[1, 1]", "[True, False]" */
static bool is_plain(struct str text)
{
	while (text.length > 0) {
		size_t word = 1;

		for (size_t i = 0; i < TSI_COUNT_OF(public_values); i++)
			if (tsi_str_has_prefix(text, tsi_str_of(public_values[i])))
				word = strlen(public_values[i]);
		if (word == 1 && has_letters((struct str){ text.data, 1 }))
			return false;
		text.data += word;
		text.length -= word;
	}
	return true;
}

static void put_hash(struct gzip_out *out, const struct redaction *redaction, struct str text)
{
	char hash[24];

	snprintf(hash, sizeof(hash), "x%012" PRIx64,
		 tsi_keyed_hash(&redaction->key, text) & 0xffffffffffff);
	tsi_gzip_put(out, tsi_str_of(hash));
}

/* "AddmmBackward0": of autograd's own; functions of users have no number. */
static bool is_autograd_node(struct str name)
{
	size_t digits = 0, length = name.length;

	while (digits < length && tsi_is_digit(name.data[length - 1 - digits]))
		digits++;
	length -= digits;
	if (digits == 0 || length < 8 || memcmp(name.data + length - 8, "Backward", 8) != 0)
		return false;
	for (size_t i = 0; i < length; i++)
		if (!tsi_is_letter(name.data[i]))
			return false;
	return true;
}

/* "cudaLaunchKernel", "cuLaunchKernelEx" */
static bool is_call(struct str name)
{
	for (size_t i = 0; i < TSI_COUNT_OF(public_calls); i++) {
		size_t length = strlen(public_calls[i]);

		if (name.length > length && name.data[length] >= 'A' && name.data[length] <= 'Z' &&
		    tsi_str_has_prefix(name, tsi_str_of(public_calls[i])))
			return true;
	}
	return false;
}

/* "stream 7" */
static bool is_stream(struct str name)
{
	static const char word[] = "stream ";
	size_t length = sizeof(word) - 1;

	return tsi_str_starts(name, word) && !has_letters(tsi_str_tail(name, length));
}

static bool is_public(struct str name)
{
	struct iteration ignored;

	return !has_letters(name) || is_call(name) || is_stream(name) || is_autograd_node(name) ||
	       tsi_parse_iteration(name, &ignored) ||
	       is_one(name, public_words, TSI_COUNT_OF(public_words)) ||
	       begins_with_one(name, public_names, TSI_COUNT_OF(public_names));
}

/* The part up to '#' or ": ", with these; all of a text without. */
static struct str head_of(struct str name)
{
	for (size_t i = 0; i < name.length; i++) {
		if (name.data[i] == '#')
			return (struct str){ name.data, i + 1 };
		if (name.data[i] == ':' && i + 1 < name.length && name.data[i + 1] == ' ')
			return (struct str){ name.data, i + 2 };
	}
	return name;
}

/* "Optimizer.step#Mine.step": the head stays, the rest is hashed. */
static void redact_name(struct gzip_out *out, const struct redaction *redaction, struct str name)
{
	struct str head = head_of(name);
	struct str rest = tsi_str_tail(name, head.length);

	if (!is_public(head) && !tsi_str_is(head, "ProfilerStep#")) {
		put_hash(out, redaction, name);
		return;
	}
	tsi_gzip_put(out, head);
	if (rest.length == 0)
		return;
	if (is_public(rest))
		tsi_gzip_put(out, rest);
	else
		put_hash(out, redaction, rest);
}

/* "x12ab34cd56ef_gemm_kernel": the name still shows the kind of work. */
static void redact_kernel(struct gzip_out *out, const struct redaction *redaction, struct str name)
{
	enum kernel_kind kind = (enum kernel_kind)tsi_kernel_facts(name).kind;

	if (begins_with_one(name, public_kernels, TSI_COUNT_OF(public_kernels))) {
		tsi_gzip_put(out, name);
		return;
	}
	put_hash(out, redaction, name);
	if (kind == KERNEL_OTHER)
		return;
	tsi_gzip_put(out, TSI_STR("_"));
	tsi_gzip_put(out, tsi_str_of(tsi_kernel_kind_name(kind)));
	tsi_gzip_put(out, TSI_STR("_kernel"));
}

/* Where "(12): " begins, with any number; at the end where there is none. */
static size_t line_number_at(struct str frame)
{
	for (size_t at = 0; at < frame.length; at++) {
		size_t end = at + 1;

		if (frame.data[at] != '(')
			continue;
		while (end < frame.length && tsi_is_digit(frame.data[end]))
			end++;
		if (end > at + 1 && frame.length - end >= 3 &&
		    memcmp(frame.data + end, "): ", 3) == 0)
			return at;
	}
	return frame.length;
}

static void redact_frame(struct gzip_out *out, const struct redaction *redaction, struct str frame)
{
	static const char module[] = "nn.Module: ";
	size_t at = line_number_at(frame);
	struct str rest = tsi_str_tail(frame, at), head = { frame.data, at };

	if (tsi_str_starts(frame, "torch/")) {
		tsi_gzip_put(out, frame);
	} else if (tsi_str_starts(frame, module)) {
		tsi_gzip_put(out, TSI_STR(module));
		put_hash(out, redaction, frame);
	} else {
		put_hash(out, redaction, head);
		if (rest.length == 0)
			return;
		head = head_of(rest);
		tsi_gzip_put(out, TSI_STR(".py"));
		tsi_gzip_put(out, head);
		put_hash(out, redaction, tsi_str_tail(rest, head.length));
	}
}

static void redact_stack(struct gzip_out *out, const struct redaction *redaction, struct str stack)
{
	while (stack.length > 0) {
		redact_frame(out, redaction, tsi_str_take(&stack, ';'));
		if (stack.length > 0)
			tsi_gzip_put(out, TSI_STR(";"));
	}
}

void tsi_redact(struct gzip_out *out, const struct redaction *redaction, enum redacted_kind kind,
		struct str text)
{
	static void (*const writers[])(struct gzip_out *, const struct redaction *, struct str) = {
		[REDACTED_NAME] = redact_name,   [REDACTED_KERNEL] = redact_kernel,
		[REDACTED_FRAME] = redact_frame, [REDACTED_STACK] = redact_stack,
		[REDACTED_TEXT] = put_hash,
	};

	if (text.length == 0 || (kind == REDACTED_TEXT && is_plain(text)))
		tsi_gzip_put(out, text);
	else
		writers[kind](out, redaction, text);
}
