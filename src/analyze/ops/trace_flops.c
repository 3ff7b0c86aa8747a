/* SPDX-License-Identifier: MIT */
/*
 * Counts the FLOPs of a trace: makes room, runs the passes of flops_count.h and
 * draws the conclusions that need all of them.
 */
#include "analyze/ops/trace_flops.h"

#include <stdlib.h>

#include "analyze/ops/flops_count.h"
#include "analyze/ops/kernel_precision.h"
#include "analyze/ops/peak.h"
#include "base/array.h"
#include "base/sum.h"

static void count_deinit(struct flops_count *c)
{
	tsi_arena_deinit(&c->memory);
	free(c->names);
	free(c->kind_of_name);
	tsi_bit_set_deinit(&c->launcher_rows);
	free(c->launchers);
	free(c->nodes.items);
	free(c->nodes.closed);
	free(c->again);
	free(c->calls);
	free(c->launch_ns);
	free(c->device_times);
}

static bool has_written_flops(const struct tscope_trace *trace)
{
	for (size_t i = 0; i < trace->op_inputs_count; i++)
		if (trace->op_inputs[i].flops)
			return true;
	return false;
}

static enum tscope_status count_init(struct flops_count *c, struct tscope_error *err)
{
	const struct tscope_trace *trace = c->trace;

	c->launches.arena = c->uncounted.arena = &c->memory;
	if (tsi_array_new(&c->device_times, trace->device_count, sizeof(*c->device_times), err) !=
		    TSCOPE_OK ||
	    tsi_array_new(&c->names, trace->names.count, 1, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	return tsi_array_new(&c->kind_of_name, trace->names.count, 1, err);
}

static bool multiplies(struct flops_count *c, uint32_t kernel)
{
	uint8_t *known = &c->kind_of_name[kernel];

	if (*known == 0)
		*known = (uint8_t)(tsi_kernel_kind_of_name(
					   tsi_intern_text(&c->trace->names, kernel)) +
				   1);
	return tsi_kernel_kind_multiplies((enum kernel_kind)(*known - 1));
}

/* Transposing before a convolution may take longer than it, but says nothing of it. */
static void find_kernels(struct flops_count *c)
{
	for (size_t i = 0; i < c->launches.count; i++) {
		uint32_t kernel = c->launches.pairs[i].second;
		struct counted_op *op = &c->out->ops[c->launches.pairs[i].first];
		struct op_calls *calls = &c->calls[c->launches.pairs[i].first];
		bool is_better = c->launch_ns[i] > calls->kernel_ns;
		if (op->kernel && op->multiplies &&
		    multiplies(c, op->kernel) != multiplies(c, kernel))
			is_better = multiplies(c, kernel);
		if (op->kernel && !is_better)
			continue;
		calls->kernel_ns = c->launch_ns[i];
		op->kernel = kernel;
	}
}

/* What the inputs leave open the kernel tells: whether float is TF32, what a writer's FLOPs are. */
static enum tscope_precision find_precision(const struct flops_count *c,
					    const struct counted_op *op)
{
	enum tscope_precision precision = op->work.precision;
	const struct tscope_device *device = c->out->device.device;

	if (op->kernel == 0 || !op->multiplies)
		return precision;
	struct str kernel = tsi_intern_text(&c->trace->names, op->kernel);
	if (precision == TSCOPE_PRECISION_UNKNOWN)
		return tsi_kernel_precision(kernel);
	if (precision != TSCOPE_PRECISION_FP32)
		return precision;
	if (device && device->peak_flops[TSCOPE_PRECISION_TF32] <= 0)
		return precision;
	/* Kernels of ROCm say xf32 where they mean it. */
	if (c->trace->hip_runtime_version)
		return tsi_kernel_precision(kernel) == TSCOPE_PRECISION_TF32 ? TSCOPE_PRECISION_TF32
									     : precision;
	return tsi_float_precision(op->work.kind, kernel);
}

static struct str signature_of(const struct flops_count *c, const struct counted_op *op)
{
	return tsi_intern_text(&c->trace->names, c->trace->op_inputs[op->inputs].signature);
}

/* Drops the operators that were asked for but not counted, and sums up the others. */
static void settle_ops(struct flops_count *c)
{
	struct trace_flops *out = c->out;
	size_t kept = 0;

	for (size_t i = 0; i < out->op_count; i++) {
		struct counted_op *op = &out->ops[i];
		if (op->count == 0)
			continue;
		op->work.precision = find_precision(c, op);
		tsi_op_shape(op->shape, signature_of(c, op));
		if (op->multiplies)
			out->flops_of_precision[op->work.precision] +=
				op->work.flops * (double)op->timed_count;
		out->ops[kept++] = *op;
	}
	out->op_count = kept;
}

static void settle_uncounted(struct flops_count *c)
{
	for (size_t i = 0; i < c->out->uncounted_count; i++) {
		const struct uncounted_kernel *kernel = &c->out->uncounted[i];
		struct str name = tsi_intern_text(&c->trace->names, kernel->kernel);
		tsi_sum(&c->out->kernel_ns_of_precision[tsi_kernel_precision(name)],
			kernel->total_ns);
	}
}

static enum tscope_status run_passes(struct flops_count *c, struct tscope_error *err)
{
	if (count_init(c, err) != TSCOPE_OK || tsi_flops_look_at_devices(c, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	tsi_flops_find_device(c);
	if (tsi_walk_ops(c, err) != TSCOPE_OK || tsi_flops_find_repeated(c, err) != TSCOPE_OK ||
	    tsi_flops_collect_kernels(c, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	find_kernels(c);
	settle_ops(c);
	settle_uncounted(c);
	tsi_find_peak(c->out);
	return TSCOPE_OK;
}

enum tscope_status tsi_trace_flops_new(struct trace_flops **ret, const struct tscope_trace *trace,
				       const struct tscope_timeline *timeline,
				       const uint8_t *kernel_kinds, struct tscope_error *err)
{
	struct trace_flops *flops;

	if (tsi_array_new(&flops, 1, sizeof(*flops), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	flops->device_name = "";
	enum tscope_status status =
		tsi_array_new(&flops->steps, timeline->step_count, sizeof(*flops->steps), err);
	if (status == TSCOPE_OK) {
		struct flops_count c = {
			.trace = trace,
			.timeline = timeline,
			.out = flops,
			.kernel_kinds = kernel_kinds,
			.has_written = has_written_flops(trace),
		};
		status = run_passes(&c, err);
		count_deinit(&c);
	}
	if (status != TSCOPE_OK) {
		tsi_trace_flops_free(flops);
		return status;
	}
	*ret = flops;
	return TSCOPE_OK;
}

void tsi_trace_flops_free(struct trace_flops *flops)
{
	if (!flops)
		return;
	free(flops->ops);
	free(flops->uncounted);
	free(flops->steps);
	tsi_op_sums_deinit(&flops->operators);
	free(flops);
}
