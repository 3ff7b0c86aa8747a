/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_OPS_TRACE_FLOPS_H
#define TSCOPE_ANALYZE_OPS_TRACE_FLOPS_H

#include "analyze/ops/op_inputs.h"
#include "analyze/ops/op_sums.h"
#include "analyze/ops/op_work.h"
#include "device/device.h"
#include "run/steps.h"

/*
 * The FLOPs of a trace, counted once for all analyzers: which operators were
 * counted, what each launched, what each step computed.
 *
 * An operator can be counted if what it computes is known (tsi_op_work(), or the
 * FLOPs > 0 that the trace's writer says) and device work was launched in it; in a
 * trace without devices launching is not asked for. Of such operators within
 * each other
 *
 *  - the innermost that multiply (have FLOPs by definition, be they 0 for an empty
 *    tensor) are counted: aten::linear > aten::addmm counts addmm. One that launched
 *    matrix kernels beside them and has at least their FLOPs stands for all of it:
 *    of fused experts with a small aten::mm for their router, the experts are counted;
 *  - the innermost that do not (their bytes are modelled) are counted, too, but not
 *    within one that multiplies: what a product fills or copies is its own affair.
 *
 * So no counted operator is within another, and each has all device events that
 * were launched in it, by whatever is below it. A kernel's FLOPs are known if it is
 * one of theirs. Kernels of a graph are not of the operator that launched the graph.
 *
 * A forward operator that runs below a node of the backward pass, with autograd
 * recording it, and that has run outside of it with the same inputs is what
 * activation checkpointing computes again: "repeated". (Work that a compiler
 * recomputes leaves no such sign.) Where the backward pass is differentiated itself, autograd
 * records it, too: a product that the node of a product calls directly is none.
 */

/* Calls of one operator with the same inputs, that were counted. */
struct counted_op {
	uint32_t name;       /* id in trace->names */
	uint32_t inputs;     /* index in trace->op_inputs */
	bool multiplies;     /* else it has bytes only */
	struct op_work work; /* of one call; the precision with TF32 where it is computed so */
	/* Name id of the kernel with the most time, of those that multiply if any do; 0: none. */
	uint32_t kernel;
	int64_t count;          /* all calls */
	int64_t repeated_count; /* of them, those that repeat forward work */
	int64_t timed_count;    /* of them, those in the steps that count */
	int64_t device_ns;      /* sum of the durations of what was launched in them */
	int64_t product_ns;     /* of it, kernels whose names say that they multiply */
	bool crosses_link;      /* they copy between devices, or device and host */
	char shape[OP_SHAPE_CHARS];
};

/* Matrix kernels (GEMM, convolution, attention, mixture of experts) whose FLOPs are not known. */
struct uncounted_kernel {
	uint32_t kernel; /* id of its name */
	uint32_t op;     /* id of the name of the operator that launched it; 0: none is known */
	enum kernel_kind kind;
	enum uncounted_reason {
		UNCOUNTED_NO_OPERATOR, /* by none that is known: a graph, before the capture */
		/* Neither it nor one around has a formula, unless for less than is within. */
		UNCOUNTED_NO_MODEL,
		UNCOUNTED_NO_INPUTS, /* one has, but shapes or arguments were not recorded */
	} reason;                    /* of the first one */
	int64_t count, total_ns;
};

/* One call that was counted. Most calls of an operator share their work. */
struct counted_call {
	uint32_t row;
	uint32_t work; /* index in call_works */
};

/* FLOPs and bytes of one call. */
struct call_work {
	double flops, bytes; /* bytes: NAN where not known */
};

/* Bytes read and written by a step's matrix products and attention. */
struct step_bytes {
	/*
	 * Weights, cache, activations, where they are known: the least, and the most where routing
	 * decides which experts are read.
	 */
	double bytes, most_bytes;
	int64_t counted_ns; /* time of their matrix kernels */
	int64_t ranged_ns;  /* of it, of those whose bytes are known within limits */
};

struct trace_flops {
	struct arena memory;    /* but that of operators */
	struct counted_op *ops; /* in the order of the trace */
	size_t op_count;
	struct counted_call *calls; /* of ops; where the trace has places only */
	struct call_work *call_works;
	size_t call_count, call_capacity, call_work_count, call_work_capacity;
	struct uncounted_kernel *uncounted;
	size_t uncounted_count;
	struct step_flops *steps;      /* by step of the timeline, over all devices */
	struct step_flops all;         /* of the whole trace, in a step or not */
	struct step_bytes *step_bytes; /* likewise by step; NULL: these are no iterations */
	double flops_of_precision[TSCOPE_PRECISION_COUNT]; /* of the counted steps (no mark) */
	/* Time of uncounted matrix kernels by the precision in their names. */
	int64_t kernel_ns_of_precision[TSCOPE_PRECISION_COUNT];
	/* Device time of operators with FLOPs, by the precision of these. */
	int64_t op_ns_of_precision[TSCOPE_PRECISION_COUNT];
	const struct graph_join *graphs; /* replays of known graphs (graph_join.h); or NULL */
	struct op_sums operators;        /* of all, counted or not: the walk is the same */
	bool has_device;
	bool counts_others; /* kernels of no known kind are among those that may multiply */
	/* Has the device tensor (matrix) cores? */
	enum { TENSOR_CORES_UNSTATED, TENSOR_CORES_THERE, TENSOR_CORES_MISSING } tensor_cores;
	/* Precisions below float32 that its tensor cores take, as a bit set. */
	unsigned tensor_precisions;
	/* The one with the most time in matrix kernels, or in compute kernels if there are none. */
	struct device_match device;
	const char *device_name;            /* what the trace calls it, "" if not said */
	int64_t device_units, device_bytes; /* of it, below 1: not said */
	/*
	 * Another that did 1 % of it or more and is of another kind, or NULL. Then neither
	 * the device nor its tensor cores are known.
	 */
	const char *other_device_name;
	/*
	 * FLOP/s that the device reaches at most with this mix of precisions, or NAN;
	 * precision is the mix in words ("bf16", "bf16 97.0 %, fp32 3.0 %"), or "". no_peak
	 * says why there is none, or is "". (peak.h)
	 */
	double peak_flops;
	char precision[PRECISION_BYTES];
	char no_peak[PEAK_LACK_BYTES];
};

/*
 * kernel_kinds: of tsi_kernel_kinds_new(), while it counts. The caller frees the result with
 * tsi_trace_flops_free(), before trace and timeline.
 */
TSI_MUST_CHECK
enum tscope_status tsi_trace_flops_new(struct trace_flops **ret, const struct tscope_trace *trace,
				       const struct tscope_timeline *timeline,
				       const uint8_t *kernel_kinds, struct tscope_error *err);
/* A launch that became a node of a graph while that was captured. */
struct captured_launch {
	uint32_t row;    /* of the call */
	uint32_t kernel; /* id of its name */
	uint32_t op;     /* row of the operator that launched it, or NO_ROW */
	/* Found out: the operator that counts it, in out->ops, and its row; or NO_ROW. */
	uint32_t owner, owner_row;
	bool is_lacking; /* as that of a launcher */
};

/*
 * Counts a capture's launches alone, not what device events say of others: flops->ops are those
 * that were asked for. The caller frees it.
 */
TSI_MUST_CHECK
enum tscope_status tsi_trace_flops_of_capture(struct trace_flops **ret,
					      const struct tscope_timeline *timeline,
					      struct captured_launch *captured, size_t count,
					      struct tscope_error *err);
void tsi_trace_flops_free(struct trace_flops *flops); /* NULL is fine */

#endif
