/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_MODULES_PLACE_SUMS_H
#define TSCOPE_ANALYZE_MODULES_PLACE_SUMS_H

#include "analyze/analyzer.h"
#include "analyze/modules/places.h"
#include "base/sum.h"

/* Activity in a place that began in the counted steps. */
struct place_sums {
	int64_t host_ns;                 /* threads were there, forward */
	int64_t host_backward_ns;        /* likewise, for the backward pass */
	int64_t forward_ns, backward_ns; /* device events launched there, of these two kinds */
	int64_t comm_ns, copy_ns;        /* of them, communication; copies and fills */
	int64_t kernel_count, event_count;
	int64_t launch_count;                      /* calls that launched device work */
	int64_t sync_count, sync_ns;               /* calls that wait for the device */
	int64_t allocated_bytes, allocation_count; /* blocks that devices' allocators gave */
	double flops, bytes; /* that are known, of operators that launched work */
};

/* Host time is that of the threads which have such places. Device time is that of all devices. */
struct place_totals {
	const struct place_sums *nodes;   /* of places.nodes */
	const struct place_sums *sources; /* by name id */
	int64_t node_host_ns, source_host_ns;
};

/* Totals of the scope's places; NULL without memory. */
const struct place_totals *tsi_place_totals(const struct analysis_scope *scope,
					    struct arena *arena);

/* Contribution of a device event to the place of its launch. */
struct place_sums tsi_device_sums(const struct tscope_trace *trace, uint32_t row,
				  struct place place);

/* Name id of the operator that launched a device's row, or captured it; 0: not known. */
uint32_t tsi_launching_name(const struct analysis_scope *scope, uint32_t row);

/* Calls add with each operator of a thread and its time less the operators directly in it. */
void tsi_each_op(const struct tscope_trace *trace, uint32_t track,
		 void (*add)(void *data, uint32_t row, int64_t self_ns), void *data,
		 struct arena *arena);

/* Calls add with the time of a thread in each place, piece by piece, in the steps that count. */
void tsi_place_each_time(const struct places *places, uint32_t track,
			 void (*add)(void *data, struct place place, int64_t ns), void *data);

void tsi_place_sums_add(struct place_sums *sum, const struct place_sums *part);

static inline int64_t tsi_place_host_ns(const struct place_sums *sums)
{
	int64_t sum_ns = sums->host_ns;

	tsi_sum(&sum_ns, sums->host_backward_ns);
	return sum_ns;
}

static inline int64_t tsi_place_device_ns(const struct place_sums *sums)
{
	int64_t sum_ns = sums->forward_ns;

	tsi_sum(&sum_ns, sums->backward_ns);
	return sum_ns;
}

#endif
