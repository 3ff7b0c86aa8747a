/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_OPS_FLOPS_COUNT_H
#define TSCOPE_ANALYZE_OPS_FLOPS_COUNT_H

#include "analyze/ops/kernel_vote.h"
#include "analyze/ops/op_walk.h"
#include "analyze/ops/trace_flops.h"
#include "base/bit_set.h"
#include "base/pair_set.h"
#include "base/sort.h"
#include "timeline/step_iterations.h"

/*
 * The counting of a trace's FLOPs (trace_flops.c), while it lasts: three
 * passes, each O(rows), in this order. The second is also that of the sums of operators.
 * None fails: where memory ended, c->memory or out->memory says so.
 */

/* Position of an operator relative to the backward pass. */
enum place {
	PLACE_OUTSIDE,
	PLACE_NODE,         /* below a node of it */
	PLACE_PRODUCT_NODE, /* and that is a product's */
	PLACE_AGAIN,        /* below a node, in forward work that autograd records */
};

/* An operator that device work was linked to. */
struct launcher {
	int64_t launched_ns;      /* sum of its durations */
	uint32_t owner;           /* the counted operator that it is or is in, or NO_ROW */
	uint32_t owner_row;       /* of that */
	bool is_launcher : 1;     /* it launched some of it, not as a graph */
	bool launches_matrix : 1; /* matrix kernels were launched in it, and in none within it */
	bool is_lacking : 1; /* it, or one around it, multiplies and its inputs are not known */
};

/* Working data of a struct counted_op, by the same index. */
struct op_calls {
	enum op_work_result result;
	int64_t outside_count; /* outside the backward pass */
	int64_t kernel_ns;     /* of the kernel with the most time */
	/* Calls whose FLOPs differ, or follow from where they ran. */
	int64_t varied_count;
	double varied_flops, varied_bytes;
	bool has_experts; /* its work is that of tsi_experts_within() */
	uint32_t noted;   /* index in out->call_works of the last call's work + 1; 0: none */
};

/*
 * An operator in which device work was launched, itself or within it, until the outermost around
 * it ends: it stands behind that around it.
 */
struct op_node {
	double flops;         /* of the products within it, then its own if it stands for them */
	int64_t device_ns;    /* of what was launched in it */
	struct call_work own; /* where is_varied */
	uint32_t around;      /* index of the node around it, or NO_NODE */
	uint32_t launcher;    /* as that of open_op */
	uint32_t row;
	uint32_t index; /* in out->ops, if it is counted unless one around it is; else NO_NODE */
	uint32_t owner, owner_row; /* once the outermost ended: as those of a launcher */
	uint8_t within;            /* what those within it say of it */
	uint8_t place;             /* enum place */
	bool is_lacking;           /* as that of a launcher */
	bool is_varied;            /* its work is not that of its kind */
};

struct op_nodes {
	struct op_node *items;
	uint32_t *closed; /* those that ended, in that order */
	size_t count, capacity, closed_count, closed_capacity;
};

struct name_facts {
	bool is_known; /* looked up */
	struct kernel_facts facts;
};

/* Work of a device. */
struct device_time {
	/* Sums of its compute kernels, of them those that multiply, those of no known kind. */
	int64_t compute_ns, matrix_ns, other_ns;
};

struct flops_count {
	const struct tscope_trace *trace;
	const struct tscope_timeline *timeline;
	struct arena memory; /* of what is gone when all is counted */
	struct trace_flops *out;
	const uint8_t *kernel_kinds;      /* by name id (kernel_vote.h) */
	struct device_time *device_times; /* by device */
	uint8_t *names;                   /* by name id, of operators: NAME_… */
	struct name_facts *facts_of_name; /* by name id, of kernels: what the name alone says */
	struct bit_set launcher_rows;     /* rows of operators that device work was linked to */
	struct launcher *launchers;       /* by rank in these */
	struct op_calls *calls;           /* one for each of out->ops */
	size_t op_capacity, call_capacity;
	struct op_nodes nodes;
	struct sort_pair *again; /* ops that may repeat forward work: row, index in out->ops */
	size_t again_count, again_capacity;
	bool has_written;         /* the trace's writer says FLOPs */
	struct pair_set launches; /* (counted op, name of a kernel): int64_t ns */
	/* (name of a kernel, name of an operator): struct uncounted_kernel; in out->memory */
	struct pair_set uncounted;
	uint32_t step; /* of the last question, which is mostly that of the next */
	struct step_iterations iterations;
	uint32_t *owner_of_row; /* by device row: as owner, of nodes of graphs; NULL: none is */
	/*
	 * Launches in a graph capture, which have no device event; NULL where they are not counted.
	 */
	struct captured_launch *captured;
	size_t captured_count;
};

/* The first: which operators launched device work, and on what. */
void tsi_flops_look_at_devices(struct flops_count *c);

/* Behind it: which device the peak is of, by device_times. O(devices). */
void tsi_flops_find_device(struct flops_count *c);

/*
 * The second, for the walk of op_walk.h: which operators are counted, in which step. The one on
 * top of the stack opens, in which something was launched, or any where the trace has no devices.
 * It ends when it is no longer on the stack.
 */
void tsi_flops_open(struct flops_count *c, struct op_stack *stack);
void tsi_flops_close(struct flops_count *c, const struct open_op *op);

/*
 * The work of attention over a cache in a step's iteration; device_ns: what it took. False where
 * contexts are not said, or cannot be meant: their keys could not be read in that time (a window
 * over them, or a cache of smaller numbers, is not recorded).
 */
bool tsi_flops_of_contexts(const struct flops_count *c, const struct op_work *work, uint32_t step,
			   int64_t device_ns, struct call_work *ret);

/* Behind the walk: which of them repeat forward work. */
void tsi_flops_find_repeated(struct flops_count *c);

/* Behind the walk over a capture: whose its launches are. */
void tsi_flops_settle_captured(struct flops_count *c);

/* Behind that: the operators of replayed graphs, where it is known of which. */
void tsi_flops_count_graphs(struct flops_count *c);

/* Adds one that is counted elsewhere: its index + 1; 0 without memory. */
uint32_t tsi_flops_add_op(struct flops_count *c, uint32_t name, uint32_t inputs);

/* The third: what counted operators launched, and which matrix kernels have no FLOPs. */
void tsi_flops_collect_kernels(struct flops_count *c);

static inline void tsi_flops_vary(struct op_calls *calls, struct call_work work)
{
	calls->varied_count++;
	calls->varied_flops += work.flops;
	calls->varied_bytes += work.bytes;
}

/* Adds what a counted call reads and writes. */
static inline void tsi_flops_move(struct flops_count *c, const struct counted_op *op, uint32_t step,
				  struct call_work work)
{
	if (!c->out->step_bytes || !op->multiplies || step == NO_ROW)
		return;
	if (work.bytes > 0) {
		c->out->step_bytes[step].bytes += work.bytes;
		c->out->step_bytes[step].most_bytes += work.bytes;
	} else if (op->work.least_bytes > 0) {
		c->out->step_bytes[step].bytes += op->work.least_bytes;
		c->out->step_bytes[step].most_bytes += op->work.most_bytes;
	}
}

/* Keeps a counted call, for the places that it is in. row: its own, or a kernel of its graph. */
void tsi_flops_note_call(struct flops_count *c, uint32_t index, uint32_t row,
			 struct call_work work);

/* The step whose window holds t, or NO_ROW. O(1) where the last question had the same answer. */
static inline uint32_t tsi_flops_step_at(struct flops_count *c, int64_t t_ns)
{
	return tsi_timeline_step_near(c->timeline, t_ns, &c->step);
}

#endif
