/* SPDX-License-Identifier: MIT */
/*
 * Attention: two products forward, q × k and the scores × v; five backward, as the
 * scores are computed again. Masks, causal ones too, and windows take nothing off,
 * as in torch's FlopCounter. A key or value head may serve several heads of q.
 */
#include "analyze/ops/op_formulas.h"

#include <math.h>

#include "base/array.h"

enum layout {
	HEADS_FIRST, /* […, heads, sequence, size] */
	HEADS_LAST,  /* [batch, sequence, heads, size] */
};

enum direction { FORWARD, BACKWARD };

/* Arguments besides q, k and v, which come first, but backward after the output's gradient. */
enum attention_arg {
	ARG_ENDS,    /* where sequences end that lie one behind the other: of q, then of k */
	ARG_LONGEST, /* the longest sequence of q, then of k */
	/* First and last of those that say which part of k is used: sizes do not. */
	ARG_UNLESS,
	ARG_UNLESS_LAST,
	ATTENTION_ARG_COUNT,
};

struct attention_row {
	char name[OP_NAME_SIZE];
	enum layout layout;
	enum direction direction;
	uint8_t at[ATTENTION_ARG_COUNT]; /* where the arguments stand, 0: there is none */
};

#define SDPA(name) "aten::_scaled_dot_product_" name

static const struct attention_row rows[] = {
	{ "aten::scaled_dot_product_attention", HEADS_FIRST, FORWARD, { 0 } },
	{ SDPA("flash_attention"), HEADS_FIRST, FORWARD, { 0 } },
	{ SDPA("flash_attention_backward"), HEADS_FIRST, BACKWARD, { 0 } },
	{ SDPA("flash_attention_for_cpu"), HEADS_FIRST, FORWARD, { 0 } },
	{ SDPA("flash_attention_for_cpu_backward"), HEADS_FIRST, BACKWARD, { 0 } },
	{ SDPA("efficient_attention"), HEADS_FIRST, FORWARD, { 0 } },
	{ SDPA("efficient_attention_backward"), HEADS_FIRST, BACKWARD, { 0 } },
	{ SDPA("cudnn_attention"), HEADS_FIRST, FORWARD, { 0 } },
	{ SDPA("cudnn_attention_backward"), HEADS_FIRST, BACKWARD, { 0 } },
	{ SDPA("fused_attention_overrideable"), HEADS_FIRST, FORWARD, { 0 } },
	{ SDPA("fused_attention_overrideable_backward"), HEADS_FIRST, BACKWARD, { 0 } },
	{ "aten::_flash_attention_forward", HEADS_LAST, FORWARD, { 3, 5, 13, 13 } },
	{ "aten::_flash_attention_backward", HEADS_LAST, BACKWARD, { 6, 8 } },
	{ "aten::_efficient_attention_forward", HEADS_LAST, FORWARD, { 4, 6, 12, 12 } },
	{ "aten::_efficient_attention_backward", HEADS_LAST, BACKWARD, { 6, 8 } },
	{ "aten::_cudnn_attention_forward", HEADS_FIRST, FORWARD, { 4, 6 } },
	{ "aten::_cudnn_attention_backward", HEADS_FIRST, BACKWARD, { 9, 11 } },
	{ "FlashAttnFunc", HEADS_LAST, FORWARD, { 0 } },
	{ "FlashAttnVarlenFunc", HEADS_LAST, FORWARD, { 3, 5 } },
	{ "flash_attn::_flash_attn_forward", HEADS_LAST, FORWARD, { 0 } },
	{ "flash_attn::_flash_attn_backward", HEADS_LAST, BACKWARD, { 0 } },
	{ "flash_attn::_flash_attn_varlen_forward", HEADS_LAST, FORWARD, { 3, 5 } },
	{ "flash_attn::_flash_attn_varlen_backward", HEADS_LAST, BACKWARD, { 9, 11 } },
	{ "flash_attn_3::fwd", HEADS_LAST, FORWARD, { 0, 0, 7, 14 } },
	{ "flash_attn_3::_flash_attn_forward", HEADS_LAST, FORWARD, { 0, 0, 7, 14 } },
	{ "flash_attn_3::_flash_attn_backward", HEADS_LAST, BACKWARD, { 6, 10, 8, 9 } },
	{ "xformers_flash::flash_fwd", HEADS_LAST, FORWARD, { 3, 0, 5, 5 } },
	{ "xformers_flash::flash_bwd", HEADS_LAST, BACKWARD, { 9 } },
	{ "xformers::efficient_attention_forward_cutlass", HEADS_LAST, FORWARD, { 4, 0, 11, 11 } },
	{ "xformers::efficient_attention_backward_cutlass", HEADS_LAST, BACKWARD, { 5, 7 } },
	{ "aiter::_flash_attn_forward", HEADS_LAST, FORWARD, { 0 } },
	{ "aiter::_flash_attn_backward", HEADS_LAST, BACKWARD, { 0 } },
	{ "aiter::mha_fwd", HEADS_LAST, FORWARD, { 0 } },
	{ "aiter::mha_bwd", HEADS_LAST, BACKWARD, { 0 } },
	{ "aiter::fmha_v3_fwd", HEADS_LAST, FORWARD, { 0 } },
	{ "aiter::fmha_v3_bwd", HEADS_LAST, BACKWARD, { 0 } },
	{ "aiter::wrapper_fmha_v3_fwd", HEADS_LAST, FORWARD, { 0 } },
	{ "aiter::wrapper_fmha_v3_bwd", HEADS_LAST, BACKWARD, { 0 } },
};

/*
 * Attention over the cache of an engine: [tokens, heads, size] of q, of k and v as they come in, or
 * as the cache holds them. SGLang's profiler puts a number behind its names.
 */
static const struct paged_row {
	char name[OP_NAME_SIZE];
	uint8_t q, k, v;
	bool is_cache, is_prefix;
} paged_rows[] = {
	{ "vllm::unified_attention", 0, 1, 2, false, false },
	{ "vllm::unified_attention_with_output", 0, 1, 2, false, false },
	{ "sglang::unified_attention_with_output", 0, 1, 2, false, false },
	{ "sglang_profiler::attention_paged_attention_ragged", 2, 3, 4, true, true },
};

/* Their operands are not recorded among the arguments. */
static const char hidden_names[][OP_NAME_SIZE] = {
	"FlashAttnFuncBackward",
	"FlashAttnVarlenFuncBackward",
};

enum operand { Q, K, V, OPERAND_COUNT };

/* One operand. */
struct heads {
	double count;  /* in all of the batch */
	double length; /* of their sequences */
	int64_t size;
};

/* […, heads, sequence, size] */
static bool read_heads_first(struct heads *heads, const struct tensor *tensor)
{
	unsigned dim_count = tensor->dim_count;

	if (dim_count < 2)
		return false;
	heads->count = 1;
	for (unsigned i = 0; i < dim_count - 2; i++)
		heads->count *= (double)tensor->dims[i];
	heads->length = (double)tensor->dims[dim_count - 2];
	heads->size = tensor->dims[dim_count - 1];
	return true;
}

/* [batch, sequence, heads, size] */
static bool read_heads_last(struct heads *heads, const struct tensor *tensor)
{
	if (tensor->dim_count != 4)
		return false;
	heads->count = (double)tensor->dims[0] * (double)tensor->dims[2];
	heads->length = (double)tensor->dims[1];
	heads->size = tensor->dims[3];
	return true;
}

/* Sequences one behind the other: [all of them, heads, size], or that as a batch of one. */
static bool read_packed(struct heads *heads, const struct tensor *tensor)
{
	const int64_t *dims = tensor->dims + (tensor->dim_count == 4);

	if (tensor->dim_count != 3 && (tensor->dim_count != 4 || tensor->dims[0] != 1))
		return false;
	heads->length = (double)dims[0];
	heads->count = (double)dims[1];
	heads->size = dims[2];
	return true;
}

/* Packed sequences are known one by one where each is as long as the longest. */
static bool split_packed(struct heads *heads, const struct attention_row *row,
			 const struct op_call *call, double sequence_count)
{
	unsigned longest_at = row->at[ARG_LONGEST];
	int64_t longest_q, longest_k;

	if (sequence_count == 1)
		return true;
	if (!longest_at || !tsi_op_int(call, longest_at, &longest_q) ||
	    !tsi_op_int(call, longest_at + 1, &longest_k) ||
	    heads[Q].length != sequence_count * (double)longest_q ||
	    heads[K].length != sequence_count * (double)longest_k)
		return false;
	for (unsigned i = 0; i < OPERAND_COUNT; i++) {
		heads[i].count *= sequence_count;
		heads[i].length /= sequence_count;
	}
	return true;
}

/* As many heads as the most have; each of the others serves as many of them as any. */
static bool find_head_count(const struct heads *heads, double *count)
{
	double most = fmax(heads[Q].count, fmax(heads[K].count, heads[V].count));

	for (unsigned i = 0; i < OPERAND_COUNT && most > 0; i++)
		if (heads[i].count < 1 || fmod(most, heads[i].count) != 0)
			return false;
	*count = most;
	return true;
}

static bool has_any(const struct op_call *call, unsigned first, unsigned last)
{
	struct tensor tensor;

	for (unsigned i = first; i && i <= last; i++)
		if (tsi_op_tensor(call, i, &tensor))
			return true;
	return false;
}

static bool read_operands(struct tensor *tensors, struct heads *heads,
			  const struct attention_row *row, const struct op_call *call)
{
	unsigned ends_at = row->at[ARG_ENDS];
	struct tensor ends;
	bool is_packed = ends_at && tsi_op_tensor(call, ends_at, &ends) && ends.dims[0] > 1;

	if (has_any(call, row->at[ARG_UNLESS], row->at[ARG_UNLESS_LAST]))
		return false;
	for (unsigned i = 0; i < OPERAND_COUNT; i++)
		if (!tsi_op_tensor(call, i + (row->direction == BACKWARD), &tensors[i]) ||
		    !(is_packed                    ? read_packed(&heads[i], &tensors[i])
		      : row->layout == HEADS_FIRST ? read_heads_first(&heads[i], &tensors[i])
						   : read_heads_last(&heads[i], &tensors[i])))
			return false;
	return heads[Q].size == heads[K].size && heads[K].length == heads[V].length &&
	       (!is_packed || split_packed(heads, row, call, (double)(ends.dims[0] - 1)));
}

static enum op_work_result count_attention(struct op_work *work, const struct attention_row *row,
					   const struct op_call *call)
{
	struct tensor tensors[OPERAND_COUNT];
	struct heads heads[OPERAND_COUNT];
	double count, score_count, qk, v, inputs, output;

	if (!read_operands(tensors, heads, row, call) || !find_head_count(heads, &count))
		return OP_WORK_NO_INPUTS;
	qk = (double)heads[Q].size;
	v = (double)heads[V].size;
	score_count = count * heads[Q].length * heads[K].length;
	inputs = tsi_tensor_bytes(&tensors[Q]) + tsi_tensor_bytes(&tensors[K]) +
		 tsi_tensor_bytes(&tensors[V]);
	output = tsi_elements_bytes(count * heads[Q].length * v, tensors[Q].type);
	/* Backward: the scores again, and the gradients of v, the scores, q, k. */
	work->flops = tsi_flops_per_product(&tensors[Q]) * score_count *
		      (row->direction == BACKWARD ? 3 * qk + 2 * v : qk + v);
	/* Backward reads the output and its gradient too, and writes that of each input. */
	work->bytes = (row->direction == BACKWARD ? 2 : 1) * (inputs + output);
	work->precision = tsi_pair_precision(&tensors[Q], &tensors[K]);
	work->alignment = tsi_alignment((const int64_t[]){ heads[Q].size, heads[V].size }, 2);
	return OP_WORK_KNOWN;
}

/* The last two dims of k and v are heads and their size, whatever stands before them. */
static enum op_work_result count_paged(struct op_work *work, const struct paged_row *row,
				       const struct op_call *call)
{
	struct tensor q, k, v;

	if (!tsi_op_tensor(call, row->q, &q) || !tsi_op_tensor(call, row->k, &k) ||
	    !tsi_op_tensor(call, row->v, &v) || q.dim_count != 3 || k.dim_count < 3 ||
	    v.dim_count != k.dim_count)
		return OP_WORK_NO_INPUTS;
	const int64_t *k_dims = k.dims + k.dim_count - 2, *v_dims = v.dims + v.dim_count - 2;
	if (k_dims[1] != q.dims[2] || k_dims[0] != v_dims[0] || k_dims[0] < 1 ||
	    q.dims[1] % k_dims[0] != 0)
		return OP_WORK_NO_INPUTS;
	double head_flops = (double)q.dims[2] + (double)v_dims[1]; /* a key and its value */
	work->precision = tsi_type_precision(q.type);
	work->alignment = tsi_alignment((const int64_t[]){ q.dims[2], v_dims[1] }, 2);
	work->paged = (struct paged_work){
		.pair_flops = tsi_flops_per_product(&q) * (double)q.dims[1] * head_flops,
		.key_bytes = (double)k_dims[0] * tsi_elements_bytes(head_flops, k.type),
		.token_bytes = (double)q.dims[1] * tsi_elements_bytes(head_flops, q.type),
		.tokens = (double)q.dims[0],
		.is_cache_typed = row->is_cache,
	};
	return OP_WORK_BY_CONTEXT;
}

static const struct paged_row *find_paged(struct str name)
{
	for (size_t i = 0; i < TSI_COUNT_OF(paged_rows); i++)
		if (tsi_is_op_named(name, paged_rows[i].name) ||
		    (paged_rows[i].is_prefix &&
		     tsi_str_has_prefix(name, tsi_str_of(paged_rows[i].name))))
			return &paged_rows[i];
	return NULL;
}

enum op_work_result tsi_attention_work(struct op_work *work, struct str name,
				       const struct op_call *call)
{
	work->kind = KERNEL_ATTENTION;
	for (size_t i = 0; i < TSI_COUNT_OF(rows); i++)
		if (tsi_is_op_named(name, rows[i].name))
			return count_attention(work, &rows[i], call);
	const struct paged_row *paged = find_paged(name);
	if (paged)
		return count_paged(work, paged, call);
	if (tsi_is_among(name, hidden_names, TSI_COUNT_OF(hidden_names)))
		return OP_WORK_NO_INPUTS;
	return OP_WORK_NO_MODEL;
}
