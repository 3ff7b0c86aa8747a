/* SPDX-License-Identifier: MIT */
/*
 * Products of matrices: 2 × batch × m × n × k FLOPs, as torch's FlopCounter counts
 * them. A bias is added for nothing; complex numbers count fourfold (torch counts
 * them as if they were real).
 */
#include "analyze/ops/op_formulas.h"

#include <math.h>

#include "analyze/ops/op_experts.h"

struct product {
	double batch, m; /* each may be the product of many dims */
	int64_t n, k;
	double out;  /* elements of the result */
	bool cuts_k; /* there are as many results as groups */
};

/* How two operands are multiplied; false where their sizes do not fit. */
typedef bool product_form(struct product *product, const struct tensor *a, const struct tensor *b);

static int64_t from_end(const struct tensor *tensor, unsigned back)
{
	return tensor->dims[tensor->dim_count - back];
}

/* Elements of both batches, all dims but the last two, broadcast; -1: they do not fit. */
static double broadcast_batches(const struct tensor *a, const struct tensor *b)
{
	double elements = 1;

	for (unsigned back = 3; back <= a->dim_count || back <= b->dim_count; back++) {
		int64_t a_size = back <= a->dim_count ? from_end(a, back) : 1;
		int64_t b_size = back <= b->dim_count ? from_end(b, back) : 1;
		if (a_size != b_size && a_size != 1 && b_size != 1)
			return -1;
		elements *= (double)(a_size == 1 ? b_size : a_size);
	}
	return elements;
}

/* torch.matmul: […, m, k] × […, k, n], a vector on either side, batches broadcast. */
static bool form_matmul(struct product *product, const struct tensor *a, const struct tensor *b)
{
	product->m = a->dim_count > 1 ? (double)from_end(a, 2) : 1;
	product->n = b->dim_count > 1 ? from_end(b, 1) : 1;
	product->k = from_end(a, 1);
	product->batch = broadcast_batches(a, b);
	product->out = product->batch * product->m * (double)product->n;
	return product->k == from_end(b, b->dim_count > 1 ? 2 : 1) && product->batch >= 0;
}

/* The products of a batch are added up: [b, m, k] × [b, k, n] -> [m, n]. */
static bool form_sum(struct product *product, const struct tensor *a, const struct tensor *b)
{
	if (!form_matmul(product, a, b))
		return false;
	product->out = product->m * (double)product->n;
	return true;
}

/* […, k] × [n, k], the weight as layers keep it; [k] is one of n = 1. */
static bool form_linear(struct product *product, const struct tensor *a, const struct tensor *b)
{
	product->batch = 1;
	product->m = 1;
	for (unsigned i = 0; i + 1 < a->dim_count; i++)
		product->m *= (double)a->dims[i];
	product->n = b->dim_count == 2 ? b->dims[0] : 1;
	product->k = from_end(a, 1);
	product->out = product->m * (double)product->n;
	return b->dim_count <= 2 && product->k == from_end(b, 1);
}

/*
 * One product for each group. Offsets cut the dim that has no groups of its own,
 * so all groups together are as large as one product:
 *
 *     [m, k] × [g, k, n] -> [m, n]      m is cut
 *     [g, m, k] × [k, n] -> [m, n]      n is cut
 *     [m, k] × [k, n]    -> [g, m, n]   k is cut
 */
static bool form_grouped(struct product *product, const struct tensor *a, const struct tensor *b)
{
	if (a->dim_count == 3 && b->dim_count == 3)
		return form_matmul(product, a, b);
	if (a->dim_count < 2 || a->dim_count > 3 || b->dim_count < 2 || b->dim_count > 3)
		return false;
	product->batch = 1;
	product->m = (double)from_end(a, 2);
	product->n = from_end(b, 1);
	product->k = from_end(a, 1);
	product->out = product->m * (double)product->n;
	product->cuts_k = a->dim_count == 2 && b->dim_count == 2;
	return product->k == from_end(b, 2);
}

enum { NO_ARG = -1 };

struct gemm_row {
	char name[OP_NAME_SIZE];
	product_form *form;
	int8_t a, b;          /* which arguments are the operands */
	int8_t added;         /* what is added to the product, or NO_ARG */
	int8_t offsets;       /* where groups end; 0: there are none */
	int8_t out_dtype;     /* the number of the result's type; 0: it is that of a */
	uint8_t result_bytes; /* of an element, 0: as its type says */
	/*
	 * How many arguments it has, 0: what is given. TorchScript records its whole stack
	 * as inputs of operators that are made of others; the arguments are the last on it.
	 */
	uint8_t arg_count;
};

static const struct gemm_row rows[] = {
	{ "aten::mm", form_matmul, 0, 1, .added = NO_ARG },
	{ "aten::addmm", form_matmul, 1, 2, .added = 0 },
	{ "aten::addmm_", form_matmul, 1, 2, .added = 0 },
	{ "aten::_addmm_activation", form_matmul, 1, 2, .added = 0 },
	{ "aten::bmm", form_matmul, 0, 1, .added = NO_ARG },
	{ "aten::baddbmm", form_matmul, 1, 2, .added = 0 },
	{ "aten::baddbmm_", form_matmul, 1, 2, .added = 0 },
	{ "aten::addbmm", form_sum, 1, 2, .added = 0 },
	{ "aten::addbmm_", form_sum, 1, 2, .added = 0 },
	{ "aten::mv", form_matmul, 0, 1, .added = NO_ARG },
	{ "aten::addmv", form_matmul, 1, 2, .added = 0 },
	{ "aten::addmv_", form_matmul, 1, 2, .added = 0 },
	{ "aten::dot", form_matmul, 0, 1, .added = NO_ARG },
	{ "aten::vdot", form_matmul, 0, 1, .added = NO_ARG },
	{ "aten::matmul", form_matmul, 0, 1, .added = NO_ARG, .arg_count = 2 },
	{ "aten::linear", form_linear, 0, 1, .added = 2, .arg_count = 3 },
	{ "aten::_int_mm", form_matmul, 0, 1, .added = NO_ARG, .result_bytes = 4 },
	{ "aten::_scaled_mm", form_matmul, 0, 1, .added = NO_ARG, .out_dtype = 6 },
	{ "aten::_scaled_mm_v2", form_matmul, 0, 1, .added = NO_ARG, .out_dtype = 9 },
	{ "aten::_grouped_mm", form_grouped, 0, 1, .added = 3, .offsets = 2 },
	{ "aten::_scaled_grouped_mm", form_grouped, 0, 1, .added = 5, .offsets = 4,
	  .out_dtype = 7 },
	{ "mkldnn::_linear_pointwise", form_linear, 0, 1, .added = 2 },
	{ "vllm::rocm_unquantized_gemm", form_linear, 0, 1, .added = 2 },
	{ "aiter::gemm_a16w16", form_linear, 0, 1, .added = 2 },
	/* Their results are of 16 bits. */
	{ "_C::cutlass_scaled_mm", form_matmul, 1, 2, .added = 5, .result_bytes = 2 },
	{ "fbgemm::f8f8bf16_rowwise", form_linear, 0, 1, .added = 4, .result_bytes = 2 },
	{ "fbgemm::f8f8bf16_blockwise", form_linear, 0, 1, .added = NO_ARG, .result_bytes = 2 },
	{ "sgl_kernel::fp8_scaled_mm", form_matmul, 0, 1, .added = 5, .out_dtype = 4 },
	{ "sgl_kernel::int8_scaled_mm", form_matmul, 0, 1, .added = 5, .out_dtype = 4 },
	{ "sgl_kernel::fp8_blockwise_scaled_mm", form_matmul, 0, 1, .added = NO_ARG,
	  .out_dtype = 4 },
};

static const struct gemm_row *find_row(struct str name)
{
	for (size_t i = 0; i < TSI_COUNT_OF(rows); i++)
		if (tsi_is_op_named(name, rows[i].name))
			return &rows[i];
	return NULL;
}

static bool find_arg(const struct gemm_row *row, const struct op_call *call, int8_t arg,
		     struct tensor *tensor)
{
	bool is_stack = row->arg_count && call->count > row->arg_count;
	unsigned first = is_stack ? call->count - row->arg_count : 0;

	return arg != NO_ARG && tsi_op_tensor(call, first + (unsigned)arg, tensor);
}

/* Bytes of an element of the result; 0: not known. */
static unsigned result_bytes(const struct gemm_row *row, const struct op_call *call,
			     struct str type)
{
	int64_t dtype;

	if (row->result_bytes)
		return row->result_bytes;
	if (!row->out_dtype)
		return tsi_type_bytes(type);
	return tsi_op_int(call, (unsigned)row->out_dtype, &dtype) ? tsi_type_number_bytes(dtype)
								  : 0;
}

/* Elements of all results; NAN where the number of groups is not known. */
static double result_elements(const struct gemm_row *row, const struct op_call *call,
			      const struct product *product)
{
	struct tensor offsets;

	if (!product->cuts_k)
		return product->out;
	if (!find_arg(row, call, row->offsets, &offsets))
		return NAN;
	return product->out * tsi_tensor_elements(&offsets);
}

static double added_bytes(const struct gemm_row *row, const struct op_call *call)
{
	struct tensor added;

	return find_arg(row, call, row->added, &added) ? tsi_tensor_bytes(&added) : 0;
}

static enum op_work_result count_product(struct op_work *work, const struct gemm_row *row,
					 const struct op_call *call)
{
	struct tensor a, b;
	struct product product = { 0 };
	unsigned result_bits;

	if (!find_arg(row, call, row->a, &a) || !find_arg(row, call, row->b, &b) ||
	    a.dim_count == 0 || b.dim_count == 0 || !row->form(&product, &a, &b))
		return OP_WORK_NO_INPUTS;
	/* Two 4-bit numbers stand in one element: what is summed over is twice as long. */
	if (tsi_type_precision(a.type) == TSCOPE_PRECISION_FP4)
		product.k *= 2;
	work->flops = tsi_flops_per_product(&a) * product.batch * product.m * (double)product.n *
		      (double)product.k;
	result_bits = result_bytes(row, call, a.type);
	work->bytes = tsi_tensor_bytes(&a) + tsi_tensor_bytes(&b) + added_bytes(row, call) +
		      (result_bits ? result_bits * result_elements(row, call, &product) : NAN);
	work->precision = tsi_pair_precision(&a, &b);
	work->alignment = tsi_alignment((const int64_t[]){ product.n, product.k }, 2);
	return OP_WORK_KNOWN;
}

/* ---- mixtures of experts ------------------------------------------------------------- */

static const char expert_names[][OP_NAME_SIZE] = {
	"vllm::rocm_aiter_fused_moe",     "vllm::inplace_fused_experts",
	"vllm::outplace_fused_experts",   "sglang::inplace_fused_experts",
	"sglang::outplace_fused_experts",
};

/* Whether the sizes fit; those of weights that are packed in some way do not. */
static bool are_experts(const struct tensor *tokens, const struct tensor *up,
			const struct tensor *down, const struct tensor *weights)
{
	return tokens->dim_count == 2 && up->dim_count == 3 && down->dim_count == 3 &&
	       weights->dim_count == 2 && weights->dims[0] == tokens->dims[0] &&
	       up->dims[0] == down->dims[0] && up->dims[2] == tokens->dims[1] &&
	       down->dims[1] == tokens->dims[1] &&
	       (up->dims[1] == down->dims[2] || up->dims[1] == 2 * down->dims[2]);
}

/*
 * Each token goes through the two layers of as many experts as it has weights:
 *
 *     tokens [t, h], up [e, n, h], down [e, h, i], weights [t, experts of a token]
 *
 * n is i, or 2 × i with the half of a gate. Which experts were read depends on the
 * tokens: the bytes are known within limits (tsi_expert_bytes()).
 */
static enum op_work_result count_experts(struct op_work *work, const struct op_call *call)
{
	struct tensor tokens, up, down, weights;
	double expert_flops;

	if (!tsi_op_tensor(call, 0, &tokens) || !tsi_op_tensor(call, 1, &up) ||
	    !tsi_op_tensor(call, 2, &down) || !tsi_op_tensor(call, 3, &weights) ||
	    !are_experts(&tokens, &up, &down, &weights))
		return OP_WORK_NO_INPUTS;
	expert_flops = (double)up.dims[1] * (double)up.dims[2] +
		       (double)down.dims[1] * (double)down.dims[2];
	work->flops = 2 * tsi_tensor_elements(&weights) * expert_flops;
	tsi_expert_bytes(work,
			 &(struct expert_sizes){
				 .count = (double)up.dims[0],
				 .rows = tsi_tensor_elements(&weights),
				 .tokens = (double)tokens.dims[0],
				 .layer_bytes = tsi_tensor_bytes(&up) + tsi_tensor_bytes(&down),
				 .token_bytes = 2 * tsi_tensor_bytes(&tokens),
			 });
	work->precision = tsi_pair_precision(&tokens, &up);
	work->alignment =
		tsi_alignment((const int64_t[]){ up.dims[1], up.dims[2], down.dims[2] }, 3);
	return OP_WORK_KNOWN;
}

enum op_work_result tsi_gemm_work(struct op_work *work, struct str name, const struct op_call *call)
{
	const struct gemm_row *row = find_row(name);

	work->kind = row ? KERNEL_GEMM : KERNEL_MOE;
	if (row)
		return count_product(work, row, call);
	if (tsi_is_among(name, expert_names, TSI_COUNT_OF(expert_names)))
		return count_experts(work, call);
	if (tsi_hides_experts(name))
		return OP_WORK_NO_INPUTS;
	return OP_WORK_NO_MODEL;
}
