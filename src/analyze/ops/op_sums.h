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
	 * Times of operators that began in counted steps (step_work.h), and of the others; the
	 * latter have the calls of both.
	 */
	struct op_times counted, others;
	uint32_t step, pair; /* of the last that is counted, and its number among steps.pairs */
	/* Times of counted when that step began: pairs have all of them. */
	struct step_pair before;
	/* Number + 1 of what is counted for its FLOPs; 0: was not asked for, NO_ROW: nothing is. */
	uint32_t flops_op;
	bool has_ended; /* it stands in ended */
};

struct op_sums {
	struct arena memory;
	struct pair_set kinds; /* (name, inputs): struct op_kind */
	uint32_t *ended;       /* the kinds in the order in which the first of each ended */
	size_t ended_count, ended_capacity;
	struct step_work steps; /* self and device time by name */
};

/* Not movable. sums->memory holds all of it, and whether memory ended. */
void tsi_op_sums_init(struct op_sums *sums, const struct tscope_timeline *timeline);

static inline struct op_kind *tsi_op_kind(const struct op_sums *sums, uint32_t number)
{
	return (struct op_kind *)sums->kinds.items + number;
}

static inline uint32_t tsi_op_kind_number(const struct op_sums *sums, const struct op_kind *kind)
{
	return (uint32_t)(kind - (const struct op_kind *)sums->kinds.items);
}

/* The number of a kind, which is added if it is new; UINT32_MAX without memory. */
uint32_t tsi_op_sums_find(struct op_sums *sums, uint32_t name, uint32_t inputs);

/*
 * Slow path of tsi_op_sums_of(): the first of a kind, or its first in a step. NULL without memory.
 */
struct op_times *tsi_op_sums_change(struct op_sums *sums, struct op_kind *kind, uint32_t step);

/* The sum that an ending operator belongs to; step: that it began in, or NO_ROW. */
static inline struct op_times *tsi_op_sums_of(struct op_sums *sums, struct op_kind *kind,
					      uint32_t step)
{
	if (tsi_unlikely(kind->step != step || !kind->has_ended))
		return tsi_op_sums_change(sums, kind, step);
	return step == NO_ROW ? &kind->others : &kind->counted;
}

/* Once all are added: what each name did in the steps that count. */
void tsi_op_sums_settle(struct op_sums *sums);

#endif
