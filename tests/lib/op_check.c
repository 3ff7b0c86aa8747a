/* SPDX-License-Identifier: MIT */
#include "op_check.h"

#include <math.h>

#include "check.h"
#include "model/trace/classify.h"

void check_needs_concrete(const char *name, const char *signature, const char *concrete)
{
	struct op_work with = { 0 }, without = { 0 };
	enum op_work_result result =
		tsi_op_work(&with, tsi_str_of(name), tsi_str_of(signature), tsi_str_of(concrete));
	bool are_read = tsi_op_work(&without, tsi_str_of(name), tsi_str_of(signature),
				    TSI_STR("")) != result ||
			memcmp(&with, &without, sizeof(with)) != 0;

	if (are_read && !tsi_needs_concrete(tsi_str_of(name)))
		fail_msg("%s reads %s: it needs a row in concrete_names of classify.c", name,
			 concrete);
}

static void check_op_case(const struct op_case *c, enum kernel_kind kind)
{
	struct op_work work;
	enum op_work_result result = tsi_op_work(&work, tsi_str_of(c->name),
						 tsi_str_of(c->signature), tsi_str_of(c->concrete));

	if (result != OP_WORK_KNOWN)
		fail_msg("%s %s: result %d", c->name, c->signature, (int)result);
	if (work.flops != c->flops)
		fail_msg("%s %s: %.17g FLOPs, not %.17g", c->name, c->signature, work.flops,
			 c->flops);
	if (isnan(c->bytes) ? !isnan(work.bytes) : work.bytes != c->bytes)
		fail_msg("%s %s: %.17g bytes, not %.17g", c->name, c->signature, work.bytes,
			 c->bytes);
	if ((int)work.precision != c->precision || work.alignment != c->alignment ||
	    work.kind != kind)
		fail_msg("%s %s: precision %d, alignment %u, kind %d", c->name, c->signature,
			 (int)work.precision, work.alignment, (int)work.kind);
	assert_true(tsi_op_multiplies(tsi_str_of(c->name)));
	check_needs_concrete(c->name, c->signature, c->concrete);
}

void check_op_cases(const struct op_case *cases, size_t count, enum kernel_kind kind)
{
	for (size_t i = 0; i < count; i++)
		check_op_case(&cases[i], kind);
}
