/* SPDX-License-Identifier: MIT */
/* Counts kernels by who launched them, in one pass over their rows. */
#include "analyze/ops/kernel_launchers.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/sum.h"
#include "model/trace/device_rows.h"

void tsi_kernel_launchers_init(struct kernel_launchers *launchers, const struct tscope_trace *trace,
			       struct arena *arena)
{
	*launchers = (struct kernel_launchers){
		.trace = trace,
		.operators.arena = arena,
		.kernels.arena = arena,
	};
}

void tsi_kernel_launchers_deinit(struct kernel_launchers *launchers)
{
	free(launchers->launched);
}

static enum tscope_status find_operator(struct kernel_launchers *launchers, uint32_t row,
					uint32_t *number, struct tscope_error *err)
{
	const struct tscope_trace *trace = launchers->trace;
	uint32_t op = tsi_launching_op(trace, row), name = 0, signature = 0;

	if (op != NO_ROW) {
		name = tsi_name_id(&trace->spans, op);
		signature = tsi_op_inputs(trace, op)->signature;
	}
	return tsi_pair_set_find(&launchers->operators, name, signature, number, err);
}

enum tscope_status tsi_kernel_launchers_add(struct kernel_launchers *launchers, uint32_t row,
					    struct tscope_error *err)
{
	const struct spans *spans = &launchers->trace->spans;
	size_t known = launchers->kernels.count;
	uint32_t operator_number, number;

	if (find_operator(launchers, row, &operator_number, err) != TSCOPE_OK ||
	    tsi_pair_set_find(&launchers->kernels, tsi_name_id(spans, row), operator_number,
			      &number, err) != TSCOPE_OK ||
	    tsi_array_reserve(&launchers->launched, &launchers->capacity, launchers->kernels.count,
			      sizeof(*launchers->launched), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (number == known)
		launchers->launched[number] = (struct launched){ 0 };
	launchers->launched[number].count++;
	tsi_sum(&launchers->launched[number].ns, tsi_dur_ns(spans, row));
	return TSCOPE_OK;
}
