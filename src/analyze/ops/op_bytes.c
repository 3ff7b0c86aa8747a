/* SPDX-License-Identifier: MIT */
/*
 * Bytes that operators without products must move: which arguments they read, and the sizes and
 * types of their outputs. Sizes of a channel or a row (the statistics of norms) are added where the
 * call shows them, as they are small.
 */
#include "analyze/ops/op_bytes.h"

#include <math.h>
#include <string.h>

#include "analyze/ops/op_elementwise.h"
#include "analyze/ops/op_formulas.h"
#include "base/attributes.h"

/* Arguments by position, as a set. */
enum {
	A0 = 1 << 0,
	A1 = 1 << 1,
	A2 = 1 << 2,
	A3 = 1 << 3,
	A4 = 1 << 4,
	A5 = 1 << 5,
	A6 = 1 << 6,
	A7 = 1 << 7,
	ARGUMENT_COUNT = 8,
};

/* Output of a reduction. */
enum reduction {
	TO_VALUE,
	TO_BOOL,
	TO_INDEX,
	TO_VALUE_AND_INDEX,
	TO_SUM, /* of floats, unless the call asks for another type */
};

struct model {
	char name[OP_NAME_SIZE];
	double (*bytes)(const struct model *model, const struct op_call *call); /* NAN: not known */
	enum kernel_kind kind;
	uint8_t reads; /* these arguments, whole */
	uint8_t output_count;
	uint8_t outputs[3]; /* as large as these arguments */
	uint8_t at;         /* index of an extra argument: a mask, dimensions; see each function */
	enum reduction reduction;
};

enum { INDEX_BYTES = 8, BOOL_BYTES = 1 };

/* ---- arguments ----------------------------------------------------------------------- */

static double read_bytes(const struct op_call *call, unsigned reads)
{
	double bytes = 0;

	for (unsigned i = 0; i < ARGUMENT_COUNT; i++)
		if (reads & 1u << i)
			bytes += tsi_argument_bytes(call, i);
	return bytes;
}

/* Bytes of a statistic: kept as float, for doubles as double. */
static double statistic_bytes(const struct tensor *tensor)
{
	return tsi_type_bytes(tensor->type) == 8 ? 8 : 4;
}

/* ---- operators whose outputs are as large as arguments ------------------------------- */

static double moved(const struct model *model, const struct op_call *call)
{
	struct tensor first;

	if (!tsi_op_tensor(call, model->outputs[0], &first))
		return NAN;
	double bytes = read_bytes(call, model->reads);
	for (unsigned i = 0; i < model->output_count; i++)
		bytes += tsi_argument_bytes(call, model->outputs[i]);
	return bytes;
}

/* at: which outputs are wanted; where the trace does not say, all are. */
static double moved_by_mask(const struct model *model, const struct op_call *call)
{
	bool wanted[TSI_COUNT_OF(model->outputs)];
	unsigned count = 0;
	double bytes = moved(model, call);

	if (!tsi_op_bools(call, model->at, wanted, TSI_COUNT_OF(wanted), &count))
		return bytes;
	for (unsigned i = 0; i < model->output_count && i < count; i++)
		if (!wanted[i])
			bytes -= tsi_argument_bytes(call, model->outputs[i]);
	return bytes;
}

/* ---- softmax and dropout ------------------------------------------------------------- */

/* at: was it asked for floats out of halves? */
static double softmax(const struct model *model, const struct op_call *call)
{
	struct tensor input;
	bool to_float;

	if (!tsi_op_tensor(call, 0, &input) || !tsi_op_bool(call, model->at, &to_float))
		return NAN;
	return tsi_tensor_bytes(&input) +
	       (to_float ? 4 : tsi_type_bytes(input.type)) * tsi_tensor_elements(&input);
}

/* at: the type of what softmax was of, by PyTorch's number; in older traces a tensor of it. */
static double softmax_backward(const struct model *model, const struct op_call *call)
{
	struct tensor gradient, input;
	int64_t type;
	unsigned bytes = 0;

	if (!tsi_op_tensor(call, 0, &gradient))
		return NAN;
	if (tsi_op_int(call, model->at, &type))
		bytes = tsi_type_number_bytes(type);
	else if (tsi_op_tensor(call, model->at, &input))
		bytes = tsi_type_bytes(input.type);
	return bytes ? read_bytes(call, model->reads) + bytes * tsi_tensor_elements(&gradient)
		     : NAN;
}

/* at: is it training? Then a mask is written. */
static double dropout(const struct model *model, const struct op_call *call)
{
	struct tensor input;
	bool is_training;

	if (!tsi_op_tensor(call, 0, &input))
		return NAN;
	bool has_mask = !tsi_op_bool(call, model->at, &is_training) || is_training;
	return 2 * tsi_tensor_bytes(&input) + has_mask * BOOL_BYTES * tsi_tensor_elements(&input);
}

/* ---- norms --------------------------------------------------------------------------- */

/* Rows that are normalized each by itself; 0: not known. at: sizes of a row. */
static double row_count(const struct model *model, const struct op_call *call)
{
	struct tensor input, row = { .dim_count = 0 };

	if (!tsi_op_tensor(call, 0, &input))
		return NAN;
	if (!tsi_op_ints(call, model->at, row.dims, MAX_TENSOR_DIMS, &row.dim_count) &&
	    !tsi_op_tensor(call, 2, &row)) /* the weight */
		return 0;
	double row_elements = tsi_tensor_elements(&row);
	return row_elements > 0 ? tsi_tensor_elements(&input) / row_elements : 0;
}

static double normalized(const struct model *model, const struct op_call *call, double statistics)
{
	struct tensor input;

	return tsi_op_tensor(call, 0, &input)
		       ? moved(model, call) +
				 statistics * row_count(model, call) * statistic_bytes(&input)
		       : NAN;
}

/* Keeps mean and deviation of each row. */
static double layer_norm(const struct model *model, const struct op_call *call)
{
	return normalized(model, call, 2);
}

/* Keeps the deviation. */
static double rms_norm(const struct model *model, const struct op_call *call)
{
	return normalized(model, call, 1);
}

/* Keeps mean and deviation of each group of channels. at: how many groups. */
static double group_norm(const struct model *model, const struct op_call *call)
{
	struct tensor input;
	int64_t groups;

	if (!tsi_op_tensor(call, 0, &input) || input.dim_count == 0)
		return NAN;
	if (!tsi_op_int(call, model->at, &groups) || groups < 0)
		groups = 0;
	return moved(model, call) +
	       2 * (double)input.dims[0] * (double)groups * statistic_bytes(&input);
}

/* In training (at) running statistics are written as well, and those of the batch kept. */
static double batch_norm(const struct model *model, const struct op_call *call)
{
	struct tensor input;
	bool is_training;

	if (!tsi_op_tensor(call, 0, &input) || input.dim_count < 2)
		return NAN;
	double bytes = moved(model, call);
	if (tsi_op_bool(call, model->at, &is_training) && is_training)
		bytes += read_bytes(call, A3 | A4) +
			 2 * (double)input.dims[1] * statistic_bytes(&input);
	return bytes;
}

/* ---- reductions ---------------------------------------------------------------------- */

/* How many elements are left when these dimensions are gone; -1: not known. */
static double left_elements(const struct tensor *input, const int64_t *dims, unsigned count)
{
	struct tensor left = *input;
	int64_t dim_count = input->dim_count;

	if (count == 0 || dim_count == 0)
		return 1;
	for (unsigned i = 0; i < count; i++) {
		if (dims[i] < -dim_count || dims[i] >= dim_count)
			return -1;
		left.dims[dims[i] < 0 ? dims[i] + dim_count : dims[i]] = 1;
	}
	return tsi_tensor_elements(&left);
}

/* Does an argument of this type hold dimensions? A number in place of a list does not. */
static bool names_dims(enum reduction reduction, struct str type)
{
	bool is_list = tsi_str_is(type, "ScalarList"), is_number = tsi_str_is(type, "Scalar");

	switch (reduction) {
	case TO_VALUE:
	case TO_SUM:
		return is_list;
	case TO_BOOL:
		return is_list || is_number;
	case TO_INDEX:
	case TO_VALUE_AND_INDEX:
		return is_number;
	}
	return false;
}

/* at: the dimensions that go; without them all do. -1: not known. */
static double output_elements(const struct model *model, const struct op_call *call,
			      const struct tensor *input)
{
	int64_t dims[MAX_TENSOR_DIMS];
	unsigned count;

	if (call->count <= model->at || call->inputs[model->at].type.length == 0)
		return 1;
	if (!names_dims(model->reduction, call->inputs[model->at].type) ||
	    !tsi_op_ints(call, model->at, dims, MAX_TENSOR_DIMS, &count))
		return -1;
	return left_elements(input, dims, count);
}

/* Bytes of an element that is left; 0: not known. */
static unsigned reduced_bytes(const struct model *model, const struct op_call *call,
			      struct str type)
{
	switch (model->reduction) {
	case TO_BOOL:
		return BOOL_BYTES;
	case TO_INDEX:
		return INDEX_BYTES;
	case TO_VALUE_AND_INDEX: /* the index only where a dimension is named */
		return tsi_type_bytes(type) + (call->count > model->at ? INDEX_BYTES : 0);
	case TO_SUM: /* the type stands behind dimensions and "keep them" */
		if (!tsi_type_is_float(type) || tsi_op_text(call, model->at + 2u).length)
			return 0;
		return tsi_type_bytes(type);
	case TO_VALUE:
		return tsi_type_bytes(type);
	}
	return 0;
}

static double reduced(const struct model *model, const struct op_call *call)
{
	struct tensor input;

	if (!tsi_op_tensor(call, 0, &input))
		return NAN;
	double elements = output_elements(model, call, &input);
	unsigned bytes = reduced_bytes(model, call, input.type);
	if (elements < 0 || bytes == 0)
		return NAN;
	return tsi_tensor_bytes(&input) + elements * bytes;
}

/* ---- lookups ------------------------------------------------------------------------- */

/* Slices along a dimension: each is read once at most, and written as often as it is named. */
static double slices_bytes(const struct tensor *input, int64_t dim, const struct tensor *numbers)
{
	double slice = left_elements(input, &dim, 1);

	if (slice < 0 || input->dim_count == 0 || tsi_type_bytes(input->type) == 0)
		return NAN;
	double named = tsi_tensor_elements(numbers);
	double all = (double)input->dims[dim < 0 ? dim + input->dim_count : dim];
	return tsi_tensor_bytes(numbers) +
	       ((named < all ? named : all) + named) * slice * tsi_type_bytes(input->type);
}

/* at: the numbers of the rows. */
static double embedding(const struct model *model, const struct op_call *call)
{
	struct tensor table, numbers;

	return tsi_op_tensor(call, 0, &table) && tsi_op_tensor(call, model->at, &numbers)
		       ? slices_bytes(&table, 0, &numbers)
		       : NAN;
}

/* at: the dimension. The numbers stand behind it. */
static double index_select(const struct model *model, const struct op_call *call)
{
	struct tensor input, numbers;
	int64_t dim;

	return tsi_op_tensor(call, 0, &input) && tsi_op_int(call, model->at, &dim) &&
			       tsi_op_tensor(call, model->at + 1u, &numbers)
		       ? slices_bytes(&input, dim, &numbers)
		       : NAN;
}

/* at: how many rows the table has, all of which are written. */
static double embedding_backward(const struct model *model, const struct op_call *call)
{
	struct tensor gradient;
	int64_t rows;

	if (!tsi_op_tensor(call, 0, &gradient) || gradient.dim_count == 0 ||
	    !tsi_op_int(call, model->at, &rows) || rows < 0)
		return NAN;
	double width = (double)gradient.dims[gradient.dim_count - 1];
	return read_bytes(call, A0 | A1) + (double)rows * width * tsi_type_bytes(gradient.type);
}

/* at: indices. For each an element is read, and of a gather one written, of a loss none. */
static double elements_bytes(const struct model *model, const struct op_call *call, double copies)
{
	struct tensor input, indices;

	if (!tsi_op_tensor(call, 0, &input) || !tsi_op_tensor(call, model->at, &indices))
		return NAN;
	unsigned bytes = tsi_type_bytes(input.type);
	return bytes ? tsi_tensor_bytes(&indices) + copies * bytes * tsi_tensor_elements(&indices)
		     : NAN;
}

static double gather(const struct model *model, const struct op_call *call)
{
	return elements_bytes(model, call, 2);
}

static double nll_loss(const struct model *model, const struct op_call *call)
{
	return elements_bytes(model, call, 1);
}

/* ---- the table ----------------------------------------------------------------------- */

#define REDUCED(op, dims, type)                                                                    \
	{                                                                                          \
		.name = "aten::" op, .bytes = reduced, .kind = KERNEL_REDUCTION, .at = (dims),     \
		.reduction = (type)                                                                \
	}
#define OUTPUTS(...) .outputs = { __VA_ARGS__ }, .output_count = sizeof((uint8_t[]){ __VA_ARGS__ })

/*
 * To add one: a row, a case in test_op_bytes.c; one that reads values must be among
 * concrete_names in model/trace/classify.c.
 */
static const struct model models[] = {
	{ "aten::copy_", moved, KERNEL_COPY, A1, OUTPUTS(0) },
	{ "aten::fill_", moved, KERNEL_ELEMENTWISE, 0, OUTPUTS(0) },
	{ "aten::zero_", moved, KERNEL_ELEMENTWISE, 0, OUTPUTS(0) },
	{ "aten::normal_", moved, KERNEL_ELEMENTWISE, 0, OUTPUTS(0) },
	{ "aten::uniform_", moved, KERNEL_ELEMENTWISE, 0, OUTPUTS(0) },
	{ "aten::bernoulli_", moved, KERNEL_ELEMENTWISE, 0, OUTPUTS(0) },
	{ "aten::native_dropout", dropout, KERNEL_ELEMENTWISE, .at = 2 },
	{ "aten::native_dropout_backward", moved, KERNEL_ELEMENTWISE, A0 | A1, OUTPUTS(0) },
	{ "aten::_softmax", softmax, KERNEL_SOFTMAX, .at = 2 },
	{ "aten::_log_softmax", softmax, KERNEL_SOFTMAX, .at = 2 },
	{ "aten::_softmax_backward_data", softmax_backward, KERNEL_SOFTMAX, A0 | A1, .at = 3 },
	{ "aten::_log_softmax_backward_data", softmax_backward, KERNEL_SOFTMAX, A0 | A1, .at = 3 },

	{ "aten::native_layer_norm", layer_norm, KERNEL_NORM, A0 | A2 | A3, OUTPUTS(0), .at = 1 },
	{ "aten::native_layer_norm_backward", moved_by_mask, KERNEL_NORM, A0 | A1 | A3 | A4 | A5,
	  OUTPUTS(1, 5, 6), .at = 7 },
	{ "aten::_fused_rms_norm", rms_norm, KERNEL_NORM, A0 | A2, OUTPUTS(0), .at = 1 },
	{ "aten::_fused_rms_norm_backward", moved_by_mask, KERNEL_NORM, A0 | A1 | A3 | A4,
	  OUTPUTS(1, 4), .at = 5 },
	{ "aten::native_group_norm", group_norm, KERNEL_NORM, A0 | A1 | A2, OUTPUTS(0), .at = 6 },
	{ "aten::native_group_norm_backward", moved_by_mask, KERNEL_NORM, A0 | A1 | A2 | A3 | A4,
	  OUTPUTS(1, 4, 4), .at = 9 },
	{ "aten::native_batch_norm", batch_norm, KERNEL_NORM, A0 | A1 | A2 | A3 | A4, OUTPUTS(0),
	  .at = 5 },
	{ "aten::cudnn_batch_norm", batch_norm, KERNEL_NORM, A0 | A1 | A2 | A3 | A4, OUTPUTS(0),
	  .at = 5 },
	{ "aten::miopen_batch_norm", batch_norm, KERNEL_NORM, A0 | A1 | A2 | A3 | A4, OUTPUTS(0),
	  .at = 5 },
	{ "aten::native_batch_norm_backward", moved_by_mask, KERNEL_NORM, A0 | A1 | A2 | A5 | A6,
	  OUTPUTS(1, 2, 2), .at = 9 },
	{ "aten::cudnn_batch_norm_backward", moved, KERNEL_NORM, A0 | A1 | A2 | A5 | A6,
	  OUTPUTS(0, 2, 2) },
	{ "aten::miopen_batch_norm_backward", moved, KERNEL_NORM, A0 | A1 | A2 | A5 | A6,
	  OUTPUTS(0, 2, 2) },

	REDUCED("sum", 1, TO_SUM),
	REDUCED("mean", 1, TO_SUM),
	REDUCED("linalg_vector_norm", 2, TO_SUM),
	REDUCED("var", 1, TO_VALUE),
	REDUCED("std", 1, TO_VALUE),
	REDUCED("amax", 1, TO_VALUE),
	REDUCED("amin", 1, TO_VALUE),
	REDUCED("max", 1, TO_VALUE_AND_INDEX),
	REDUCED("min", 1, TO_VALUE_AND_INDEX),
	REDUCED("argmax", 1, TO_INDEX),
	REDUCED("argmin", 1, TO_INDEX),
	REDUCED("any", 1, TO_BOOL),
	REDUCED("all", 1, TO_BOOL),

	{ "aten::embedding", embedding, KERNEL_EMBEDDING, .at = 1 },
	{ "aten::embedding_dense_backward", embedding_backward, KERNEL_EMBEDDING, .at = 2 },
	{ "aten::index_select", index_select, KERNEL_EMBEDDING, .at = 1 },
	{ "aten::gather", gather, KERNEL_EMBEDDING, .at = 2 },
	{ "aten::nll_loss_forward", nll_loss, KERNEL_EMBEDDING, .at = 1 },
	{ "aten::nll_loss2d_forward", nll_loss, KERNEL_EMBEDDING, .at = 1 },
	{ "aten::nll_loss_backward", moved, KERNEL_EMBEDDING, A0 | A2, OUTPUTS(1) },
	{ "aten::nll_loss2d_backward", moved, KERNEL_EMBEDDING, A0 | A2, OUTPUTS(1) },
	{ "aten::max_pool2d_with_indices_backward", moved, KERNEL_OTHER, A0 | A7, OUTPUTS(1) },
	{ "aten::avg_pool2d_backward", moved, KERNEL_OTHER, A0, OUTPUTS(1) },
	{ "aten::_adaptive_avg_pool2d_backward", moved, KERNEL_OTHER, A0, OUTPUTS(1) },

	{ "aiter::rmsnorm", moved, KERNEL_NORM, A1 | A2, OUTPUTS(0) },
	{ "aiter::rms_norm", moved, KERNEL_NORM, A0 | A1, OUTPUTS(0) },
	{ "aiter::add_rmsnorm", moved, KERNEL_NORM, A1 | A2 | A4, OUTPUTS(0, 3) },
	{ "aiter::rmsnorm2d_fwd_with_add_ck", moved, KERNEL_NORM, A1 | A2 | A4, OUTPUTS(0, 3) },
	{ "_C::rms_norm", moved, KERNEL_NORM, A1 | A2, OUTPUTS(0) },
	{ "_C::fused_add_rms_norm", moved, KERNEL_NORM, A0 | A1 | A2, OUTPUTS(0, 1) },
	{ "_C::silu_and_mul", moved, KERNEL_ELEMENTWISE, A1, OUTPUTS(0) },
	{ "sgl_kernel::silu_and_mul", moved, KERNEL_ELEMENTWISE, A1, OUTPUTS(0) },
};

static const struct model *find_model(struct str name)
{
	for (size_t i = 0; i < TSI_COUNT_OF(models); i++)
		if (tsi_is_op_named(name, models[i].name))
			return &models[i];
	return NULL;
}

/* ---- operators on each element ------------------------------------------------------- */

/*
 * Operators on each element, without "aten::"; blanks around each. Each serves the form in place,
 * too: "relu" also "relu_".
 *
 * To add one: its name here, or a row below, and a case in test_op_bytes.c; one that reads values
 * must be among concrete_names in model/trace/classify.c.
 */
static const struct elementwise_names {
	unsigned reads;
	enum elementwise_result result;
	const char *names;
} elementwise_names[] = {
	{ A0, RESULT_PROMOTED, " neg relu sign tril triu flip bitwise_not " },
	{ A0, RESULT_FLOAT,
	  " abs atan clamp clamp_max clamp_min cos cumsum elu erf exp exp2 floor gelu "
	  "hardsigmoid hardswish hardtanh leaky_relu log log1p log2 logit mish "
	  "nan_to_num reciprocal rsqrt sigmoid silu sin softplus sqrt tanh threshold " },
	{ A0, RESULT_BOOL, " isfinite isinf isnan logical_not " },
	{ A0 | A1, RESULT_PROMOTED,
	  " add sub rsub mul remainder maximum minimum bitwise_and bitwise_or "
	  "masked_fill " },
	{ A0 | A1, RESULT_FLOAT,
	  " div pow atan2 gelu_backward hardsigmoid_backward hardswish_backward "
	  "hardtanh_backward leaky_relu_backward logit_backward mish_backward "
	  "sigmoid_backward silu_backward softplus_backward tanh_backward "
	  "threshold_backward " },
	{ A0 | A1 | A2, RESULT_PROMOTED, " where _s_where " },
	{ A0 | A1 | A2, RESULT_FLOAT, " lerp addcmul addcdiv mse_loss_backward " },
	{ A0 | A1, RESULT_BOOL, " eq ne lt le gt ge logical_and logical_or " },
	{ A0 | A5, RESULT_FLOAT, " elu_backward " },
};

/* Does a list of words, each between blanks, have this one? */
static bool has_word(const char *words, struct str word)
{
	char wanted[OP_NAME_SIZE + 2] = " ";

	if (word.length >= OP_NAME_SIZE || memchr(word.data, ' ', word.length) ||
	    memchr(word.data, '\0', word.length))
		return false;
	memcpy(wanted + 1, word.data, word.length);
	wanted[1 + word.length] = ' ';
	return strstr(words, wanted);
}

/* The row of an operator, or of that of which it is the form in place; NULL: none. */
static const struct elementwise_names *find_elementwise(struct str name, bool *in_place)
{
	if (!tsi_str_starts(name, "aten::"))
		return NULL;
	name = tsi_str_tail(name, 6);
	struct str base = name;
	bool has_mark = name.length > 0 && name.data[name.length - 1] == '_';
	base.length -= has_mark;
	for (size_t i = 0; i < TSI_COUNT_OF(elementwise_names); i++) {
		bool is_base = has_mark && has_word(elementwise_names[i].names, base);
		*in_place = is_base;
		if (is_base || has_word(elementwise_names[i].names, name))
			return &elementwise_names[i];
	}
	return NULL;
}

/* In place the result is the first argument's. */
static double elementwise_bytes(const struct elementwise_names *names, bool in_place,
				const struct op_call *call)
{
	struct tensor first;

	if (!in_place)
		return tsi_elementwise_bytes(call, names->reads, names->result);
	return tsi_op_tensor(call, 0, &first)
		       ? read_bytes(call, names->reads) + tsi_tensor_bytes(&first)
		       : NAN;
}

enum op_work_result tsi_op_bytes(struct op_work *work, struct str name, const struct op_call *call)
{
	const struct model *model = find_model(name);
	bool in_place;
	const struct elementwise_names *names = model ? NULL : find_elementwise(name, &in_place);

	if (!model && !names)
		return OP_WORK_NO_MODEL;
	double bytes = model ? model->bytes(model, call) : elementwise_bytes(names, in_place, call);
	if (!isfinite(bytes))
		return OP_WORK_NO_INPUTS;
	*work = (struct op_work){ .bytes = bytes,
				  .kind = model ? model->kind : KERNEL_ELEMENTWISE };
	return OP_WORK_KNOWN;
}
