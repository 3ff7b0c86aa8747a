/* SPDX-License-Identifier: MIT */
/*
 * The work of one call: asks the families of operators that multiply, then the
 * table of those that only move bytes.
 */
#include "analyze/ops/op_work.h"

#include <math.h>

#include "analyze/ops/op_bytes.h"
#include "analyze/ops/op_formulas.h"
#include "base/array.h"

static op_formulas *const families[] = { tsi_gemm_work, tsi_conv_work, tsi_attention_work };

static enum op_work_result ask_families(struct op_work *work, struct str name,
					const struct op_call *call)
{
	enum op_work_result result = OP_WORK_NO_MODEL;

	for (size_t i = 0; i < TSI_COUNT_OF(families) && result == OP_WORK_NO_MODEL; i++)
		result = families[i](work, name, call);
	return result;
}

enum op_work_result tsi_op_work(struct op_work *work, struct str name, struct str signature,
				struct str concrete)
{
	struct op_work found = { .bytes = NAN };
	struct op_call call;
	enum op_work_result result;

	tsi_op_call_parse(&call, signature, concrete);
	result = ask_families(&found, name, &call);
	if (result == OP_WORK_NO_MODEL)
		result = tsi_op_bytes(&found, name, &call);
	if (result == OP_WORK_KNOWN || result == OP_WORK_BY_CONTEXT)
		*work = found;
	return result;
}

bool tsi_op_multiplies(struct str name)
{
	const struct op_call nothing = { .count = 0 };
	struct op_work work;

	return ask_families(&work, name, &nothing) != OP_WORK_NO_MODEL;
}

/* ---- what the formulas share --------------------------------------------------------- */

bool tsi_is_among(struct str name, const char (*names)[OP_NAME_SIZE], size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (tsi_is_op_named(name, names[i]))
			return true;
	return false;
}

double tsi_elements_bytes(double elements, struct str type)
{
	unsigned bytes = tsi_type_bytes(type);

	return bytes ? bytes * elements : NAN;
}

enum tscope_precision tsi_pair_precision(const struct tensor *a, const struct tensor *b)
{
	enum tscope_precision precision = tsi_type_precision(a->type);

	return precision == tsi_type_precision(b->type) ? precision : TSCOPE_PRECISION_UNKNOWN;
}

double tsi_flops_per_product(const struct tensor *a)
{
	return tsi_type_is_complex(a->type) ? 8 : 2;
}

unsigned tsi_alignment(const int64_t *sizes, size_t count)
{
	uint64_t bits = 16; /* the lowest bit that is set in any of them divides all */

	for (size_t i = 0; i < count; i++)
		bits |= (uint64_t)sizes[i];
	return (unsigned)(bits & (~bits + 1));
}
