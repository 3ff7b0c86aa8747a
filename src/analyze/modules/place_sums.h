/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_MODULES_PLACE_SUMS_H
#define TSCOPE_ANALYZE_MODULES_PLACE_SUMS_H

#include "analyze/analyzer.h"
#include "analyze/modules/peak_blocks.h"
#include "analyze/modules/places.h"
#include "base/attributes.h"
#include "base/sum.h"
#include "model/trace/device_rows.h"

/* Activity in a place that began in the counted steps. */
struct place_sums {
	int64_t host_ns;                 /* threads were there, forward */
	int64_t host_backward_ns;        /* likewise, for the backward pass */
	int64_t forward_ns, backward_ns; /* device events launched there, of these two kinds */
	int64_t comm_ns, copy_ns;        /* of them, communication; copies and fills */
	int64_t unlinked_ns;             /* of them, without a launch in the trace */
	int64_t kernel_count, event_count;
	int64_t launch_count;                      /* calls that launched device work */
	int64_t sync_count, sync_ns;               /* calls that wait for the device */
	int64_t allocated_bytes, allocation_count; /* blocks that devices' allocators gave */
	int64_t peak_bytes;                        /* of these whenever, live at the peak */
	double flops, bytes; /* that are known, of operators that launched work */
};

/* Host time is that of the threads which have such places. Device time is that of all devices. */
struct place_totals {
	const struct place_sums *nodes;   /* of places.nodes */
	const struct place_sums *sources; /* by name id */
	int64_t node_host_ns, source_host_ns;
	struct peak_blocks peak;
};

/* Totals of the scope's places; NULL without memory. */
const struct place_totals *tsi_place_totals(const struct analysis_scope *scope,
					    struct arena *arena);

/* Name id of the operator that launched a device's row, or captured it; 0: not known. */
uint32_t tsi_launching_name(const struct analysis_scope *scope, uint32_t row);

/* Calls add with each operator of a thread and its time less the operators directly in it. */
void tsi_each_op(const struct tscope_trace *trace, uint32_t track,
		 void (*add)(void *data, uint32_t row, int64_t self_ns), void *data,
		 struct arena *arena);

/* Calls add with the time of a thread in each place, piece by piece, in the steps that count. */
void tsi_place_each_time(const struct places *places, uint32_t track,
			 void (*add)(void *data, struct place place, int64_t ns), void *data);

/* Inline, as is what makes parts: most of a part is known to be 0 there. */
static TSI_INLINE void tsi_place_sums_add(struct place_sums *sum, const struct place_sums *part)
{
	tsi_sum(&sum->host_ns, part->host_ns);
	tsi_sum(&sum->host_backward_ns, part->host_backward_ns);
	tsi_sum(&sum->forward_ns, part->forward_ns);
	tsi_sum(&sum->backward_ns, part->backward_ns);
	tsi_sum(&sum->comm_ns, part->comm_ns);
	tsi_sum(&sum->copy_ns, part->copy_ns);
	tsi_sum(&sum->unlinked_ns, part->unlinked_ns);
	sum->kernel_count += part->kernel_count;
	sum->event_count += part->event_count;
	sum->launch_count += part->launch_count;
	sum->sync_count += part->sync_count;
	tsi_sum(&sum->sync_ns, part->sync_ns);
	tsi_sum(&sum->allocated_bytes, part->allocated_bytes);
	sum->allocation_count += part->allocation_count;
	tsi_sum(&sum->peak_bytes, part->peak_bytes);
	sum->flops += part->flops;
	sum->bytes += part->bytes;
}

/* Contribution of a device event to the place of its launch. */
static TSI_INLINE struct place_sums tsi_device_sums(const struct tscope_trace *trace, uint32_t row,
						    struct place place)
{
	bool is_backward =
		place.is_backward || tsi_device_event(trace, row)->phase == PHASE_BACKWARD;
	bool is_comm = tsi_span_class(&trace->spans, row) == TSCOPE_SPAN_COMM;
	bool is_kernel = tsi_is_kernel(trace, row);
	int64_t dur_ns = tsi_dur_ns(&trace->spans, row);

	return (struct place_sums){
		.forward_ns = is_backward ? 0 : dur_ns,
		.backward_ns = is_backward ? dur_ns : 0,
		.comm_ns = is_comm ? dur_ns : 0,
		.copy_ns = is_kernel ? 0 : dur_ns,
		.unlinked_ns = tsi_launch_row(trace, row) == NO_ROW ? dur_ns : 0,
		.kernel_count = is_kernel,
		.event_count = 1,
	};
}

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
