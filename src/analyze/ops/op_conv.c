/* SPDX-License-Identifier: MIT */
/*
 * Convolutions of any rank: 2 × batch × positions × elements of the weight. The
 * positions are those of the output, of a transposed one those of the input. The
 * weight has the channels of one group, so groups are in it already.
 *
 * Either gradient takes as many as the forward pass, that of the bias none. (torch's
 * FlopCounter has the weight gradient too large by the number of groups.)
 */
#include "analyze/ops/op_formulas.h"

#include <math.h>

#include "base/array.h"

/* Arguments of a forward operator but input and weight, which are the first two. */
enum conv_arg {
	ARG_BIAS,
	ARG_STRIDE,
	ARG_PADDING,
	ARG_DILATION,
	ARG_GROUPS,
	ARG_OUTPUT_PADDING,
	ARG_TRANSPOSED,
	ARG_ADDED, /* to the output, before its activation */
	CONV_ARG_COUNT,
};

enum { ALWAYS = UINT8_MAX }; /* for ARG_TRANSPOSED: it is no argument but the operator's nature */

struct forward_row {
	char name[OP_NAME_SIZE];
	uint8_t at[CONV_ARG_COUNT]; /* where the arguments stand, 0: there is none */
};

static const struct forward_row forward_rows[] = {
	{ "aten::convolution", { 2, 3, 4, 5, 8, 7, 6 } },
	{ "aten::_convolution", { 2, 3, 4, 5, 8, 7, 6 } },
	{ "aten::_convolution_mode", { 2, 3, 4, 5, 6 } },
	{ "aten::conv1d", { 2, 3, 4, 5, 6 } },
	{ "aten::conv2d", { 2, 3, 4, 5, 6 } },
	{ "aten::conv3d", { 2, 3, 4, 5, 6 } },
	{ "aten::conv_transpose1d", { 2, 3, 4, 7, 6, 5, ALWAYS } },
	{ "aten::conv_transpose2d", { 2, 3, 4, 7, 6, 5, ALWAYS } },
	{ "aten::conv_transpose3d", { 2, 3, 4, 7, 6, 5, ALWAYS } },
	{ "aten::cudnn_convolution", { 0, 3, 2, 4, 5 } },
	{ "aten::cudnn_convolution_transpose", { 0, 4, 2, 5, 6, 3, ALWAYS } },
	{ "aten::cudnn_convolution_relu", { 2, 3, 4, 5, 6 } },
	{ "aten::cudnn_convolution_add_relu", { 4, 5, 6, 7, 8, 0, 0, 2 } },
	{ "aten::miopen_convolution", { 2, 4, 3, 5, 6 } },
	{ "aten::miopen_convolution_transpose", { 2, 5, 3, 6, 7, 4, ALWAYS } },
	{ "aten::miopen_convolution_relu", { 2, 3, 4, 5, 6 } },
	{ "aten::miopen_convolution_add_relu", { 4, 5, 6, 7, 8, 0, 0, 2 } },
	{ "aten::miopen_depthwise_convolution", { 2, 4, 3, 5, 6 } },
	{ "aten::mkldnn_convolution", { 2, 4, 3, 5, 6 } },
	{ "mkldnn::_convolution_pointwise", { 2, 4, 3, 5, 6 } },
	{ "aten::thnn_conv2d", { 3, 4, 5 } },
	{ "aten::thnn_conv2d_forward", { 3, 4, 5 } },
	{ "aten::_slow_conv2d_forward", { 3, 4, 5 } },
	{ "aten::slow_conv3d", { 3, 4, 5 } },
	{ "aten::slow_conv3d_forward", { 3, 4, 5 } },
	{ "aten::slow_conv_dilated2d", { 3, 4, 5, 6 } },
	{ "aten::slow_conv_dilated3d", { 3, 4, 5, 6 } },
	{ "aten::slow_conv_transpose2d", { 3, 4, 5, 7, 0, 6, ALWAYS } },
	{ "aten::slow_conv_transpose3d", { 3, 4, 5, 7, 0, 6, ALWAYS } },
	{ "aten::_conv_depthwise2d", { 3, 4, 5, 6 } },
	{ "aten::conv_depthwise3d", { 3, 4, 5, 6 } },
};

enum { OF_INPUT = 1, OF_WEIGHT = 2, OF_BIAS = 4 }; /* gradients, in the order of the mask */

struct backward_row {
	char name[OP_NAME_SIZE];
	uint8_t gradient, input, weight; /* the first is that of the output */
	uint8_t mask; /* says which gradients are computed; 0: `gradients` does */
	uint8_t gradients;
	uint8_t transposed; /* as ARG_TRANSPOSED */
};

static const struct backward_row backward_rows[] = {
	{ "aten::convolution_backward", 0, 1, 2, 10, 0, 7 },
	{ "aten::_slow_conv2d_backward", 0, 1, 2, 6, 0, 0 },
	/* Until PyTorch 1.10; instead of the tensor the sizes of what is computed are given. */
	{ "aten::cudnn_convolution_backward", 1, 0, 2, 10, 0, 0 },
	{ "aten::cudnn_convolution_backward_input", 1, 0, 2, 0, OF_INPUT, 0 },
	{ "aten::cudnn_convolution_backward_weight", 1, 2, 0, 0, OF_WEIGHT, 0 },
	{ "aten::cudnn_convolution_transpose_backward", 1, 0, 2, 11, 0, ALWAYS },
	{ "aten::miopen_convolution_backward", 1, 0, 2, 9, 0, 0 },
	{ "aten::miopen_convolution_backward_input", 1, 0, 2, 0, OF_INPUT, 0 },
	{ "aten::miopen_convolution_backward_weight", 1, 2, 0, 0, OF_WEIGHT, 0 },
	{ "aten::mkldnn_convolution_backward", 1, 0, 2, 7, 0, 0 },
	{ "aten::mkldnn_convolution_backward_input", 1, 0, 2, 0, OF_INPUT, 0 },
	{ "aten::mkldnn_convolution_backward_weights", 1, 2, 0, 0, OF_WEIGHT, 0 },
};

/* ---- what both directions share ------------------------------------------------------ */

struct conv {
	struct tensor input, weight;
	bool is_transposed;
	int64_t groups; /* 0: not known */
};

static bool find_transposed(const struct op_call *call, unsigned index, bool *is_transposed)
{
	*is_transposed = index == ALWAYS;
	return index == ALWAYS || index == 0 || tsi_op_bool(call, index, is_transposed);
}

static double positions_of(const struct tensor *tensor)
{
	double positions = 1;

	for (unsigned i = 2; i < tensor->dim_count; i++)
		positions *= (double)tensor->dims[i];
	return positions;
}

/*
 * The channels of a weight are [out, in / groups], so with those of the input they give
 * the groups; transposed [in, out / groups], which does not. False: they do not fit.
 */
static bool find_groups(struct conv *conv)
{
	int64_t channels = conv->input.dims[1], group_channels = conv->weight.dims[1];

	conv->groups = 0;
	if (conv->is_transposed)
		return channels == conv->weight.dims[0];
	conv->groups = group_channels && channels ? channels / group_channels : 1;
	return conv->groups * group_channels == channels &&
	       conv->weight.dims[0] % conv->groups == 0;
}

/* By the channels of one group. */
static unsigned alignment_of(const struct conv *conv)
{
	int64_t groups = conv->groups ? conv->groups : 1;
	int64_t channels[] = { conv->weight.dims[0] / groups, conv->weight.dims[1] };

	return tsi_alignment(channels, TSI_COUNT_OF(channels));
}

/* ---- forward ------------------------------------------------------------------------- */

/* One number for each dim; a single one is for all. */
static bool read_numbers(const struct op_call *call, unsigned index, int64_t value,
			 int64_t *numbers, unsigned count)
{
	int64_t read[MAX_TENSOR_DIMS] = { value };
	unsigned read_count = 1;

	if (index && (!tsi_op_ints(call, index, read, MAX_TENSOR_DIMS, &read_count) ||
		      (read_count != 1 && read_count != count)))
		return false;
	for (unsigned i = 0; i < count; i++)
		numbers[i] = read[read_count == 1 ? 0 : i];
	return true;
}

struct geometry {
	int64_t stride[MAX_TENSOR_DIMS], padding[MAX_TENSOR_DIMS], dilation[MAX_TENSOR_DIMS],
		output_padding[MAX_TENSOR_DIMS];
	bool keeps_size; /* padding "same": as much as is needed, with a stride of 1 */
};

static bool read_geometry(struct geometry *geometry, const struct forward_row *row,
			  const struct op_call *call, unsigned count)
{
	const uint8_t *at = row->at;
	struct str padding = tsi_op_text(call, at[ARG_PADDING]);
	bool is_text = tsi_str_is(padding, "same") || tsi_str_is(padding, "valid");

	geometry->keeps_size = tsi_str_is(padding, "same");
	return read_numbers(call, at[ARG_STRIDE], 1, geometry->stride, count) &&
	       read_numbers(call, is_text ? 0 : at[ARG_PADDING], 0, geometry->padding, count) &&
	       read_numbers(call, at[ARG_DILATION], 1, geometry->dilation, count) &&
	       read_numbers(call, at[ARG_OUTPUT_PADDING], 0, geometry->output_padding, count);
}

/* Positions along one dim of the output; below 1 where no convolution has such numbers. */
static double output_size(const struct geometry *geometry, unsigned i, const struct conv *conv)
{
	double input = (double)conv->input.dims[i + 2];
	double stride = (double)geometry->stride[i], dilation = (double)geometry->dilation[i];
	double reach = dilation * (double)(conv->weight.dims[i + 2] - 1) + 1;
	double padding = 2 * (double)geometry->padding[i];

	if (stride < 1 || dilation < 1)
		return -1;
	if (geometry->keeps_size)
		return input;
	if (conv->is_transposed)
		return (input - 1) * stride - padding + reach + (double)geometry->output_padding[i];
	return floor((input + padding - reach) / stride) + 1;
}

/* NAN if arguments are missing or no tensor is so large. */
static double output_positions(const struct forward_row *row, const struct op_call *call,
			       const struct conv *conv)
{
	struct geometry geometry;
	unsigned count = conv->weight.dim_count - 2;
	double positions = 1;

	if (!read_geometry(&geometry, row, call, count))
		return NAN;
	for (unsigned i = 0; i < count; i++) {
		double size = output_size(&geometry, i, conv);
		if (size < 1)
			return NAN;
		positions *= size;
	}
	return positions <= MAX_TENSOR_ELEMENTS ? positions : NAN;
}

/* An input without a batch is a batch of one. */
static bool read_input(const struct op_call *call, unsigned dim_count, struct tensor *input)
{
	if (!tsi_op_tensor(call, 0, input))
		return false;
	if (input->dim_count + 1 == dim_count) {
		memmove(input->dims + 1, input->dims, input->dim_count * sizeof(input->dims[0]));
		input->dims[0] = 1;
		input->dim_count++;
	}
	return input->dim_count == dim_count;
}

static bool read_forward(struct conv *conv, const struct forward_row *row,
			 const struct op_call *call)
{
	if (!tsi_op_tensor(call, 1, &conv->weight) || conv->weight.dim_count < 3 ||
	    !read_input(call, conv->weight.dim_count, &conv->input) ||
	    !find_transposed(call, row->at[ARG_TRANSPOSED], &conv->is_transposed) ||
	    !find_groups(conv))
		return false;
	if (!conv->is_transposed)
		return true;
	conv->groups = 1;
	if (row->at[ARG_GROUPS] && !tsi_op_int(call, row->at[ARG_GROUPS], &conv->groups))
		conv->groups = 0;
	return conv->groups >= 0;
}

static double bytes_if_any(const struct op_call *call, unsigned index)
{
	struct tensor tensor;

	return index && tsi_op_tensor(call, index, &tensor) ? tsi_tensor_bytes(&tensor) : 0;
}

static double forward_bytes(const struct forward_row *row, const struct op_call *call,
			    const struct conv *conv, double positions)
{
	double channels = (double)conv->weight.dims[conv->is_transposed];

	if (conv->is_transposed)
		channels *= conv->groups ? (double)conv->groups : NAN;
	return tsi_tensor_bytes(&conv->input) + tsi_tensor_bytes(&conv->weight) +
	       tsi_elements_bytes((double)conv->input.dims[0] * channels * positions,
				  conv->input.type) +
	       bytes_if_any(call, row->at[ARG_BIAS]) + bytes_if_any(call, row->at[ARG_ADDED]);
}

static enum op_work_result count_forward(struct op_work *work, const struct forward_row *row,
					 const struct op_call *call)
{
	struct conv conv;
	double positions;

	if (!read_forward(&conv, row, call))
		return OP_WORK_NO_INPUTS;
	positions = output_positions(row, call, &conv);
	if (!conv.is_transposed && isnan(positions))
		return OP_WORK_NO_INPUTS;
	work->flops = tsi_flops_per_product(&conv.weight) * (double)conv.input.dims[0] *
		      (conv.is_transposed ? positions_of(&conv.input) : positions) *
		      tsi_tensor_elements(&conv.weight);
	work->bytes = forward_bytes(row, call, &conv, positions);
	work->precision = tsi_pair_precision(&conv.input, &conv.weight);
	work->alignment = alignment_of(&conv);
	return OP_WORK_KNOWN;
}

/* ---- backward ------------------------------------------------------------------------ */

/* Older operators say of what they compute the sizes only; the types are all the same. */
static bool find_tensor(const struct op_call *call, unsigned index, const struct tensor *gradient,
			struct tensor *tensor)
{
	if (tsi_op_tensor(call, index, tensor))
		return true;
	if (!tsi_op_sizes(call, index, tensor))
		return false;
	tensor->type = gradient->type;
	return true;
}

static bool find_mask(const struct backward_row *row, const struct op_call *call,
		      unsigned *gradients)
{
	bool flags[3];
	unsigned count;

	*gradients = row->gradients;
	if (!row->mask)
		return true;
	if (!tsi_op_bools(call, row->mask, flags, TSI_COUNT_OF(flags), &count))
		return false;
	for (unsigned i = 0; i < count; i++)
		if (flags[i])
			*gradients |= 1u << i;
	return true;
}

/* The backward pass of a convolution. */
struct conv_gradients {
	struct conv conv;
	struct tensor gradient; /* of the output */
	bool has_input;
	unsigned wanted; /* OF_… */
};

static bool read_backward(struct conv_gradients *back, const struct backward_row *row,
			  const struct op_call *call)
{
	struct conv *conv = &back->conv;
	const struct tensor *gradient = &back->gradient;

	if (!tsi_op_tensor(call, row->gradient, &back->gradient) || gradient->dim_count < 3 ||
	    !find_tensor(call, row->weight, gradient, &conv->weight) ||
	    conv->weight.dim_count != gradient->dim_count ||
	    !find_transposed(call, row->transposed, &conv->is_transposed) ||
	    !find_mask(row, call, &back->wanted))
		return false;
	back->has_input = find_tensor(call, row->input, gradient, &conv->input);
	conv->groups = 0;
	if (!back->has_input) /* what is not needed for the FLOPs */
		return !conv->is_transposed && gradient->dims[1] == conv->weight.dims[0];
	return conv->input.dim_count == gradient->dim_count &&
	       conv->input.dims[0] == gradient->dims[0] && find_groups(conv) &&
	       (conv->is_transposed || gradient->dims[1] == conv->weight.dims[0]);
}

/* Each of the two products reads one of input and weight, and writes the gradient of the other. */
static double backward_bytes(const struct conv_gradients *back, unsigned product_count)
{
	double bytes = tsi_tensor_bytes(&back->gradient);

	if (product_count)
		bytes += product_count * tsi_tensor_bytes(&back->conv.weight) +
			 product_count *
				 (back->has_input ? tsi_tensor_bytes(&back->conv.input) : NAN);
	if (back->wanted & OF_BIAS)
		bytes += tsi_elements_bytes((double)back->gradient.dims[1], back->gradient.type);
	return bytes;
}

static enum op_work_result count_backward(struct op_work *work, const struct backward_row *row,
					  const struct op_call *call)
{
	struct conv_gradients back;
	const struct tensor *from;
	unsigned product_count;

	if (!read_backward(&back, row, call))
		return OP_WORK_NO_INPUTS;
	from = back.conv.is_transposed ? &back.conv.input : &back.gradient;
	product_count = !!(back.wanted & OF_INPUT) + !!(back.wanted & OF_WEIGHT);
	work->flops = tsi_flops_per_product(from) * product_count * (double)from->dims[0] *
		      positions_of(from) * tsi_tensor_elements(&back.conv.weight);
	work->bytes = backward_bytes(&back, product_count);
	work->precision = tsi_pair_precision(&back.gradient, &back.conv.weight);
	work->alignment = alignment_of(&back.conv);
	return OP_WORK_KNOWN;
}

/* ---- the family ---------------------------------------------------------------------- */

enum op_work_result tsi_conv_work(struct op_work *work, struct str name, const struct op_call *call)
{
	work->kind = KERNEL_CONV;
	for (size_t i = 0; i < TSI_COUNT_OF(forward_rows); i++)
		if (tsi_is_op_named(name, forward_rows[i].name))
			return count_forward(work, &forward_rows[i], call);
	for (size_t i = 0; i < TSI_COUNT_OF(backward_rows); i++)
		if (tsi_is_op_named(name, backward_rows[i].name))
			return count_backward(work, &backward_rows[i], call);
	return OP_WORK_NO_MODEL;
}
