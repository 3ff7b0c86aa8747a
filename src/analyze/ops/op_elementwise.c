/* SPDX-License-Identifier: MIT */
/*
 * Sizes and types of what operators on each element write, by PyTorch's rules of
 * broadcasting and promotion; op_bytes.c has the table of these operators.
 */
#include "analyze/ops/op_elementwise.h"

#include <math.h>

double tsi_argument_bytes(const struct op_call *call, unsigned index)
{
	struct tensor tensor;

	if (tsi_op_tensor(call, index, &tensor))
		return tsi_tensor_bytes(&tensor);
	if (index >= call->count || !call->inputs[index].dims.length)
		return 0;
	return tsi_str_is(call->inputs[index].dims, "[]") ? 0 : NAN;
}

enum type_rank { RANK_UNKNOWN, RANK_BOOL, RANK_INT, RANK_FLOAT, RANK_COMPLEX };

static enum type_rank rank_of(struct str type)
{
	if (tsi_type_bytes(type) == 0)
		return RANK_UNKNOWN;
	if (tsi_str_is(type, "bool"))
		return RANK_BOOL;
	if (tsi_type_is_complex(type))
		return RANK_COMPLEX;
	switch (tsi_type_precision(type)) {
	case TSCOPE_PRECISION_UNKNOWN:
	case TSCOPE_PRECISION_INT8:
		return tsi_str_starts(type, "c10::") ? RANK_UNKNOWN : RANK_INT;
	default:
		return RANK_FLOAT;
	}
}

/* The type that two operands have together; the empty text is none, "?" not known. */
static struct str promote(struct str a, struct str b)
{
	static const struct str unknown = { "?", 1 };
	enum type_rank rank = rank_of(a), other = rank_of(b);
	unsigned bytes = tsi_type_bytes(a), other_bytes = tsi_type_bytes(b);

	if (a.length == 0 || tsi_str_equal(a, b))
		return b;
	if (b.length == 0)
		return a;
	if (rank == RANK_UNKNOWN || other == RANK_UNKNOWN)
		return unknown;
	if (rank != other)
		return rank + other == RANK_FLOAT + RANK_COMPLEX ? unknown : rank > other ? a : b;
	if (rank == RANK_FLOAT && bytes == 2 && other_bytes == 2)
		return TSI_STR("float");
	if (bytes == other_bytes || (rank == RANK_FLOAT && (bytes == 1 || other_bytes == 1)))
		return unknown;
	return bytes > other_bytes ? a : b;
}

/* Operands that are stretched over each other. */
struct operands {
	struct tensor all;      /* their common size, and the type of those with dimensions */
	struct str single_type; /* of tensors without dimensions, which weigh less */
	bool has_number;
	double bytes;
};

/* Sizes are compared from the last dimension on; 1 fits any. */
static bool join_sizes(struct tensor *all, const struct tensor *tensor)
{
	struct tensor joined = *tensor;
	const struct tensor *shorter = all;

	if (all->dim_count > tensor->dim_count) {
		joined = *all;
		shorter = tensor;
	}
	for (unsigned i = 1; i <= shorter->dim_count; i++) {
		int64_t *size = &joined.dims[joined.dim_count - i];
		int64_t other = shorter->dims[shorter->dim_count - i];
		if (*size == 1)
			*size = other;
		else if (other != 1 && other != *size)
			return false;
	}
	joined.type = all->type;
	*all = joined;
	return true;
}

static bool add_operand(struct operands *operands, const struct op_call *call, unsigned index)
{
	struct tensor tensor;

	operands->bytes += tsi_argument_bytes(call, index);
	if (!tsi_op_tensor(call, index, &tensor)) {
		operands->has_number = true;
		return true;
	}
	struct str *type = tensor.dim_count ? &operands->all.type : &operands->single_type;
	*type = promote(*type, tensor.type);
	return join_sizes(&operands->all, &tensor);
}

/*
 * Bytes of an element of the result; 0: not certain. A tensor of one element or a
 * number of a higher kind (2.5 with integers) changes the type by rules that need
 * more than the trace says.
 */
static unsigned result_bytes(const struct operands *operands, enum elementwise_result result)
{
	struct str type = operands->all.type, single = operands->single_type;

	if (result == RESULT_BOOL)
		return type.length || single.length ? 1 : 0;
	if (type.length == 0)
		type = single;
	if (rank_of(single) > rank_of(type))
		return 0;
	if (rank_of(type) < RANK_FLOAT && (operands->has_number || result == RESULT_FLOAT))
		return 0;
	return tsi_type_bytes(type);
}

double tsi_elementwise_bytes(const struct op_call *call, unsigned operands,
			     enum elementwise_result result)
{
	struct operands joined = { .bytes = 0 };

	for (unsigned i = 0; operands >> i; i++)
		if (operands >> i & 1 && !add_operand(&joined, call, i))
			return NAN;
	unsigned bytes = result_bytes(&joined, result);
	return bytes ? joined.bytes + bytes * tsi_tensor_elements(&joined.all) : NAN;
}

bool tsi_type_is_float(struct str type)
{
	return rank_of(type) == RANK_FLOAT;
}
