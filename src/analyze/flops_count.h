/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_FLOPS_COUNT_H
#define TSCOPE_ANALYZE_FLOPS_COUNT_H

#include "analyze/kernel_vote.h"
#include "analyze/trace_flops.h"
#include "base/pair_set.h"

/*
 * The counting of a trace's FLOPs (trace_flops.c), while it lasts: three
 * passes, each O(rows), in this order.
 */

/* Where an operator runs, with regard to the backward pass. */
enum place {
	PLACE_OUTSIDE,
	PLACE_NODE,         /* below a node of it */
	PLACE_PRODUCT_NODE, /* and that is a product's */
	PLACE_AGAIN,        /* below a node, in forward work that autograd records */
};

/* Of a cpu_op. */
struct op_state {
	bool is_launcher : 1;     /* device work was launched in it */
	bool launches_matrix : 1; /* matrix kernels were launched in it, and in none within it */
	bool is_lacking : 1; /* it, or one around it, multiplies and its inputs are not known */
	uint8_t place;       /* enum place of one that is counted; else PLACE_OUTSIDE */
};

/* Of the calls of an operator with the same inputs, beside its struct counted_op. */
struct op_calls {
	enum op_work_result result;
	int64_t outside_count; /* outside the backward pass */
	int64_t kernel_ns;     /* of the kernel with the most time */
};

/* Of a device. */
struct device_time {
	int64_t compute_ns, matrix_ns; /* sums of its compute kernels, of its matrix kernels */
};

struct flops_count {
	const struct tscope_trace *trace;
	const struct tscope_timeline *timeline;
	struct trace_flops *out;
	struct kernel_vote vote;
	struct device_time *device_times; /* by device */
	uint8_t *names;                   /* by name id, of operators: NAME_… */
	/* By name id, of kernels: kind that the name alone tells + 1; 0: not asked yet. */
	uint8_t *kind_of_name;
	struct op_state *states; /* by cpu_op */
	/*
	 * By cpu_op in which something was launched: that around it, or NO_ROW; after the
	 * second pass the counted op that it is or is in, or NO_ROW.
	 */
	uint32_t *links;
	struct pair_set ops;    /* (name, inputs): an index in out->ops and calls */
	struct op_calls *calls; /* one for each of ops */
	size_t op_capacity, call_capacity;
	int64_t again_count;       /* of ops that may repeat forward work */
	struct pair_set launches;  /* (counted op, name of a kernel) */
	int64_t *launch_ns;        /* by number of the pair */
	struct pair_set uncounted; /* (name of a kernel, name of an operator) */
	size_t launch_capacity, uncounted_capacity;
	uint32_t step; /* of the last question, which is mostly that of the next */
};

/* The first: what kind each kernel is, which operators launched device work, and on what. */
void tsi_flops_look_at_devices(struct flops_count *c);

/* Behind it: which device the peak is of, by device_times. O(devices). */
void tsi_flops_find_device(struct flops_count *c);

/* The second: which operators are counted, in which step, and which repeat forward work. */
TSI_MUST_CHECK
enum tscope_status tsi_flops_count_ops(struct flops_count *c, struct tscope_error *err);

/* The third: what counted operators launched, and which matrix kernels have no FLOPs. */
TSI_MUST_CHECK
enum tscope_status tsi_flops_collect_kernels(struct flops_count *c, struct tscope_error *err);

/* The step whose window holds t, or NO_ROW. O(1) where the last question had the same answer. */
uint32_t tsi_flops_step_at(struct flops_count *c, int64_t t_ns);

#endif
