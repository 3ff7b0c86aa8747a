/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_OPS_OP_SUMS_H
#define TSCOPE_ANALYZE_OPS_OP_SUMS_H

#include "analyze/ops/step_work.h"
#include "base/pair_set.h"

/*
 * The time of all operators (cpu_op) of a trace, counted for their FLOPs or not, by kind: those
 * of a kind have the same name and the same inputs. Of operators within others of their name
 * the outermost counts, and has their own times. The walk of op_walk.h fills it.
 */
struct op_times {
	int64_t count;
	int64_t total_ns;       /* their durations on the host */
	int64_t self_ns;        /* less the operators directly in them */
	int64_t call_ns;        /* of self_ns, in runtime and driver calls */
	int64_t device_ns;      /* durations of the device events that were launched in them */
	int64_t self_device_ns; /* of these, not in an operator within them */
};

struct op_kind {
	/*
	 * Of those that began in steps that count (step_work.h), and of the others, which have
	 * the calls of both.
	 */
	struct op_times counted, others;
	uint32_t step, pair; /* of the last that is counted, and its number among steps.pairs */
	/* Number + 1 of what is counted for its FLOPs; 0: was not asked for, NO_ROW: nothing is. */
	uint32_t flops_op;
	bool has_ended; /* it stands in ended */
};

struct ended_op {
	int64_t start_ns, dur_ns, self_ns;
	bool is_nested; /* in another of its name */
};

struct op_sums {
	struct arena memory;
	struct pair_set kinds; /* (name, inputs): struct op_kind */
	uint32_t *ended;       /* the kinds in the order in which the first of each ended */
	size_t ended_count, ended_capacity;
	struct step_work steps; /* self time by name */
};

/* Not movable. sums->memory holds all of it, and whether memory ended. */
void tsi_op_sums_init(struct op_sums *sums, const struct tscope_timeline *timeline);

static inline struct op_kind *tsi_op_kind(const struct op_sums *sums, uint32_t number)
{
	return (struct op_kind *)sums->kinds.items + number;
}

/* The number of a kind, which is added if it is new; UINT32_MAX without memory. */
uint32_t tsi_op_sums_find(struct op_sums *sums, uint32_t name, uint32_t inputs);

/*
 * What tsi_op_sums_add() does of the first of a kind, or of its first in a step; false without
 * memory.
 */
bool tsi_op_sums_first_end(struct op_sums *sums, uint32_t kind);
bool tsi_op_sums_change_step(struct op_sums *sums, uint32_t kind, uint32_t step);

/*
 * Adds an operator that ended, without what it launched. Returns what that is to be added to;
 * NULL without memory.
 */
static inline struct op_times *tsi_op_sums_add(struct op_sums *sums, uint32_t number,
					       const struct ended_op *op)
{
	struct op_kind *kind = tsi_op_kind(sums, number);
	uint32_t step = tsi_counted_step_at(&sums->steps, op->start_ns);
	struct op_times *sum = &kind->others;

	if (tsi_unlikely(!kind->has_ended) && !tsi_op_sums_first_end(sums, number))
		return NULL;
	if (step != NO_ROW) {
		if (tsi_unlikely(kind->step != step) &&
		    !tsi_op_sums_change_step(sums, number, step))
			return NULL;
		sum = &kind->counted;
		tsi_step_pair_add(&sums->steps, kind->pair, op->self_ns);
	}
	if (tsi_likely(!op->is_nested)) {
		sum->count++;
		tsi_sum(&sum->total_ns, op->dur_ns);
	}
	tsi_sum(&sum->self_ns, op->self_ns);
	return sum;
}

/* Once all are added: what each name did in the steps that count. */
void tsi_op_sums_settle(struct op_sums *sums);

#endif
