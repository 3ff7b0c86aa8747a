/* SPDX-License-Identifier: MIT */
/*
 * Counts the FLOPs of a trace: makes room, runs the passes of flops_count.h and
 * draws the conclusions that need all of them.
 */
#include "analyze/ops/trace_flops.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/ops/flops_count.h"
#include "analyze/ops/graph_join.h"
#include "analyze/ops/kernel_precision.h"
#include "analyze/ops/peak.h"
#include "base/error.h"
#include "base/sum.h"

static bool has_written_flops(const struct tscope_trace *trace)
{
	for (size_t i = 0; i < trace->op_inputs_count; i++)
		if (trace->op_inputs[i].flops)
			return true;
	return false;
}

static struct kernel_facts facts_of(const struct flops_count *c, uint32_t kernel)
{
	struct name_facts *name = &c->facts_of_name[kernel];

	if (!name->is_known)
		*name = (struct name_facts){
			.is_known = true,
			.facts = tsi_kernel_facts(tsi_intern_text(&c->trace->names, kernel)),
		};
	return name->facts;
}

static bool multiplies(const struct flops_count *c, uint32_t kernel)
{
	return tsi_kernel_kind_multiplies((enum kernel_kind)facts_of(c, kernel).kind);
}

/* Precision of its operands, by the name. */
static enum tscope_precision precision_of(const struct flops_count *c, uint32_t kernel)
{
	return (enum tscope_precision)facts_of(c, kernel).precision;
}

/* Transposing before a convolution may take longer than it, but says nothing of it. */
static void find_kernels(struct flops_count *c)
{
	const int64_t *launch_ns = c->launches.items;

	for (size_t i = 0; i < c->launches.count; i++) {
		uint32_t kernel = c->launches.pairs[i].second;
		struct counted_op *op = &c->out->ops[c->launches.pairs[i].first];
		struct op_calls *calls = &c->calls[c->launches.pairs[i].first];
		bool is_better = launch_ns[i] > calls->kernel_ns;
		if (op->multiplies && multiplies(c, kernel))
			tsi_sum(&op->product_ns, launch_ns[i]);
		if (op->kernel && op->multiplies &&
		    multiplies(c, op->kernel) != multiplies(c, kernel))
			is_better = multiplies(c, kernel);
		if (op->kernel && !is_better)
			continue;
		calls->kernel_ns = launch_ns[i];
		op->kernel = kernel;
	}
}

/* Uses the kernel's name where inputs do not decide: TF32 or not, FLOPs given by the writer. */
static enum tscope_precision find_precision(const struct flops_count *c,
					    const struct counted_op *op)
{
	enum tscope_precision precision = op->work.precision;
	const struct tscope_device *device = c->out->device.device;

	if (op->kernel == 0 || !op->multiplies)
		return precision;
	if (precision == TSCOPE_PRECISION_UNKNOWN)
		return precision_of(c, op->kernel);
	if (precision != TSCOPE_PRECISION_FP32)
		return precision;
	if (device && device->peak_flops[TSCOPE_PRECISION_TF32] <= 0)
		return precision;
	/* Kernels of ROCm say xf32 where they mean it. */
	if (c->trace->hip_runtime_version)
		return precision_of(c, op->kernel) == TSCOPE_PRECISION_TF32 ? TSCOPE_PRECISION_TF32
									    : precision;
	return tsi_float_precision(op->work.kind, tsi_intern_text(&c->trace->names, op->kernel),
				   precision_of(c, op->kernel));
}

static struct str signature_of(const struct flops_count *c, const struct counted_op *op)
{
	return tsi_intern_text(&c->trace->names, c->trace->op_inputs[op->inputs].signature);
}

/* Where calls of a kind differ, the work of one is that of their mean. */
static void settle_varied(struct counted_op *op, const struct op_calls *calls)
{
	double all = (double)op->count, plain = (double)(op->count - calls->varied_count);

	if (calls->varied_count == 0)
		return;
	op->work.flops = (op->work.flops * plain + calls->varied_flops) / all;
	op->work.bytes = plain > 0 ? (op->work.bytes * plain + calls->varied_bytes) / all
				   : calls->varied_bytes / all;
	if (op->work.paged.pair_flops > 0 && !op->work.paged.is_cache_typed)
		op->work.most_bytes = INFINITY;
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
		settle_varied(op, &c->calls[i]);
		op->work.precision = find_precision(c, op);
		tsi_op_shape(op->shape, signature_of(c, op));
		if (op->multiplies) {
			out->flops_of_precision[op->work.precision] +=
				op->work.flops * (double)op->timed_count;
			tsi_sum(&out->op_ns_of_precision[op->work.precision], op->device_ns);
		}
		out->ops[kept++] = *op;
	}
	out->op_count = kept;
}

static void settle_uncounted(struct flops_count *c)
{
	for (size_t i = 0; i < c->out->uncounted_count; i++) {
		const struct uncounted_kernel *kernel = &c->out->uncounted[i];
		tsi_sum(&c->out->kernel_ns_of_precision[precision_of(c, kernel->kernel)],
			kernel->total_ns);
	}
}

static bool has_memory(const struct flops_count *c)
{
	return !c->memory.has_failed && !c->out->memory.has_failed &&
	       !c->out->operators.memory.has_failed;
}

/* False without memory. A pass relies on those before it. */
static bool run_passes(struct flops_count *c)
{
	tsi_flops_look_at_devices(c);
	if (!has_memory(c))
		return false;
	tsi_flops_find_device(c);
	tsi_walk_ops(c);
	if (!has_memory(c))
		return false;
	if (c->captured) {
		tsi_flops_settle_captured(c);
		return true;
	}
	tsi_flops_find_repeated(c);
	c->out->graphs = tsi_graph_join(c->timeline, &c->out->memory);
	tsi_flops_count_graphs(c);
	if (!has_memory(c))
		return false;
	tsi_flops_collect_kernels(c);
	if (!has_memory(c))
		return false;
	find_kernels(c);
	settle_ops(c);
	settle_uncounted(c);
	tsi_find_peak(c->out);
	return true;
}

static bool count_flops(struct flops_count *c)
{
	const struct tscope_trace *trace = c->trace;
	struct trace_flops *out = c->out;

	c->memory.spill = trace->spill;
	c->has_written = has_written_flops(trace);
	c->launches = (struct pair_set){ .arena = &c->memory, .item_bytes = sizeof(int64_t) };
	c->uncounted = (struct pair_set){ .arena = &out->memory,
					  .item_bytes = sizeof(struct uncounted_kernel) };
	c->device_times = tsi_arena_new(&c->memory, trace->device_count, sizeof(*c->device_times));
	c->names = tsi_arena_new(&c->memory, trace->names.count, 1);
	c->facts_of_name = tsi_arena_new(&c->memory, trace->names.count, sizeof(*c->facts_of_name));
	out->steps = tsi_arena_new(&out->memory, c->timeline->step_count, sizeof(*out->steps));
	c->iterations = tsi_step_iterations(c->timeline, &c->memory);
	if (c->iterations.by_step)
		out->step_bytes = tsi_arena_new(&out->memory, c->timeline->step_count,
						sizeof(*out->step_bytes));
	out->device_name = "";
	bool is_done = has_memory(c) && run_passes(c);
	tsi_bit_set_deinit(&c->launcher_rows);
	tsi_arena_deinit(&c->memory);
	return is_done;
}

static enum tscope_status new_flops(struct trace_flops **ret, struct flops_count *c,
				    struct tscope_error *err)
{
	c->out = calloc(1, sizeof(*c->out));
	if (!c->out || !count_flops(c)) {
		tsi_arena_deinit(&c->memory);
		tsi_trace_flops_free(c->out);
		return tsi_fail_nomem(err);
	}
	*ret = c->out;
	return TSCOPE_OK;
}

enum tscope_status tsi_trace_flops_new(struct trace_flops **ret, const struct tscope_trace *trace,
				       const struct tscope_timeline *timeline,
				       const uint8_t *kernel_kinds, struct tscope_error *err)
{
	struct flops_count c = {
		.trace = trace,
		.timeline = timeline,
		.kernel_kinds = kernel_kinds,
	};

	return new_flops(ret, &c, err);
}

enum tscope_status tsi_trace_flops_of_capture(struct trace_flops **ret,
					      const struct tscope_timeline *timeline,
					      struct captured_launch *captured, size_t count,
					      struct tscope_error *err)
{
	struct flops_count c = {
		.trace = timeline->trace,
		.timeline = timeline,
		.captured = captured,
		.captured_count = count,
	};

	c.kernel_kinds = tsi_kernel_kinds(timeline->trace, &c.memory);
	return new_flops(ret, &c, err);
}

void tsi_trace_flops_free(struct trace_flops *flops)
{
	if (!flops)
		return;
	tsi_arena_deinit(&flops->operators.memory);
	tsi_arena_deinit(&flops->memory);
	free(flops);
}
