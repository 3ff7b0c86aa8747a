/* SPDX-License-Identifier: MIT */
#include "analyze/ops/op_experts.h"

#include <math.h>

#include "analyze/ops/op_formulas.h"

static const char names[][OP_NAME_SIZE] = {
	"vllm::moe_forward",
	"vllm::moe_forward_shared",
};

bool tsi_hides_experts(struct str name)
{
	return tsi_is_among(name, names, TSI_COUNT_OF(names));
}

void tsi_expert_bytes(struct op_work *work, const struct expert_sizes *sizes)
{
	double expert_bytes = sizes->layer_bytes / sizes->count;
	double least = sizes->rows / sizes->tokens;
	double most = sizes->rows < sizes->count ? sizes->rows : sizes->count;

	work->bytes = NAN;
	work->most_bytes = INFINITY;
	if (!(least >= 1) || !(least <= most) || isnan(expert_bytes))
		return;
	work->least_bytes = least * expert_bytes + sizes->token_bytes;
	work->most_bytes = most * expert_bytes + sizes->token_bytes;
	if (most <= least)
		work->bytes = work->least_bytes;
}

struct experts {
	int64_t tokens, hidden, count; /* t, h, e */
	int64_t up, inner;             /* n, i; 0: not found yet */
	int64_t packing;               /* of weights */
	int64_t rows;                  /* 0: not found yet */
	double layer_bytes, token_bytes;
	enum tscope_precision precision;
};

static bool read_tensor(const struct tscope_trace *trace, uint32_t row, unsigned index,
			struct tensor *tensor)
{
	const struct op_inputs *inputs = tsi_op_inputs(trace, row);
	struct op_call call;

	if (!inputs->signature)
		return false;
	tsi_op_call_parse(&call, tsi_intern_text(&trace->names, inputs->signature), TSI_STR(""));
	return tsi_op_tensor(&call, index, tensor);
}

static bool read_arguments(struct experts *experts, const struct tscope_trace *trace, uint32_t row)
{
	struct tensor tokens, scores;

	if (!read_tensor(trace, row, 0, &tokens) || !read_tensor(trace, row, 1, &scores) ||
	    tokens.dim_count != 2 || scores.dim_count != 2 || tokens.dims[0] != scores.dims[0] ||
	    tokens.dims[0] < 1 || tokens.dims[1] < 1 || scores.dims[1] < 1)
		return false;
	*experts = (struct experts){
		.tokens = tokens.dims[0],
		.hidden = tokens.dims[1],
		.count = scores.dims[1],
		.precision = tsi_type_precision(tokens.type),
		.token_bytes = 2 * tsi_tensor_bytes(&tokens),
	};
	return true;
}

/* Elements to a stored one: 1, 2 where two 4-bit numbers share one, 0: it does not fit. */
static int64_t packing(int64_t stored, int64_t whole)
{
	return stored == whole ? 1 : whole % 2 == 0 && stored == whole / 2 ? 2 : 0;
}

static bool take_up(struct experts *experts, const struct tensor *layer)
{
	bool is_flipped = packing(layer->dims[1], experts->hidden) == 0;

	experts->packing = packing(layer->dims[1 + is_flipped], experts->hidden);
	experts->up = layer->dims[2 - is_flipped];
	experts->layer_bytes = tsi_tensor_bytes(layer);
	return experts->packing > 0 && experts->up > 0;
}

static bool take_down(struct experts *experts, const struct tensor *layer)
{
	bool is_flipped = layer->dims[2] != experts->hidden;
	int64_t stored = layer->dims[1 + is_flipped];

	if (layer->dims[2 - is_flipped] != experts->hidden || stored < 1 || stored > INT64_MAX / 4)
		return false;
	experts->inner = stored * experts->packing;
	experts->layer_bytes += tsi_tensor_bytes(layer);
	return experts->up == experts->inner || experts->up == 2 * experts->inner;
}

/* Rows of what is between the layers: all tensors of that width must agree. */
static bool take_rows(struct experts *experts, const struct tensor *tensor)
{
	double rows = tsi_tensor_elements(tensor) / (double)experts->inner;

	if (rows < (double)experts->tokens || fmod(rows, (double)experts->tokens) != 0 ||
	    rows / (double)experts->tokens > (double)experts->count ||
	    (experts->rows && rows != (double)experts->rows))
		return false;
	experts->rows = (int64_t)rows;
	return true;
}

static bool is_layer(const struct experts *experts, const struct tensor *tensor)
{
	return tensor->dim_count == 3 && tensor->dims[0] == experts->count && experts->count > 1;
}

static bool take_tensor(struct experts *experts, const struct tensor *tensor)
{
	if (experts->inner == 0)
		return !is_layer(experts, tensor) ||
		       (experts->up ? take_down(experts, tensor) : take_up(experts, tensor));
	if (tensor->dim_count < 2 || is_layer(experts, tensor) ||
	    tensor->dims[tensor->dim_count - 1] != experts->inner ||
	    experts->inner == experts->hidden)
		return true;
	return take_rows(experts, tensor);
}

bool tsi_experts_within(struct op_work *work, const struct tscope_trace *trace, uint32_t row)
{
	const struct track *track = &trace->tracks[tsi_trace_track_of(trace, row)];
	int64_t end_ns = tsi_span_end(trace, row);
	struct experts experts;
	struct tensor tensor;

	if (!read_arguments(&experts, trace, row))
		return false;
	for (int pass = 0; pass < 2; pass++) /* layers may come behind what is between them */
		for (uint32_t at = row + 1;
		     at < track->first + track->count && tsi_start_ns(&trace->spans, at) < end_ns;
		     at++)
			if (tsi_span_class(&trace->spans, at) == TSCOPE_SPAN_CPU_OP &&
			    (pass == 0) == (experts.inner == 0) &&
			    read_tensor(trace, at, 0, &tensor) && !take_tensor(&experts, &tensor))
				return false;
	if (experts.rows == 0)
		return false;
	*work = (struct op_work){
		.flops = 2 * (double)experts.rows * (double)experts.hidden *
			 ((double)experts.up + (double)experts.inner),
		.precision = experts.precision,
		.kind = KERNEL_MOE,
		.alignment = tsi_alignment(
			(const int64_t[]){ experts.up, experts.inner, experts.hidden }, 3),
	};
	tsi_expert_bytes(work, &(struct expert_sizes){
				       .count = (double)experts.count,
				       .rows = (double)experts.rows,
				       .tokens = (double)experts.tokens,
				       .layer_bytes = experts.layer_bytes,
				       .token_bytes = experts.token_bytes,
			       });
	return true;
}
