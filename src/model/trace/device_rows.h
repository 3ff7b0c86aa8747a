/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_TRACE_DEVICE_ROWS_H
#define TSCOPE_MODEL_TRACE_DEVICE_ROWS_H

#include "model/trace/trace.h"

/*
 * The rows of device spans stand behind all those of the host:
 *
 *	for (uint32_t row = tsi_first_device_row(trace); row < trace->spans.count; row++)
 */
static inline uint32_t tsi_first_device_row(const struct tscope_trace *trace)
{
	return trace->host_track_count < trace->track_count
		       ? trace->tracks[trace->host_track_count].first
		       : trace->spans.count;
}

/*
 * The row of the operator that launched a device row's work, or NO_ROW. Operators
 * around the launch of a graph are not those of its kernels.
 */
static inline uint32_t tsi_launching_op(const struct tscope_trace *trace, uint32_t row)
{
	const struct device_event *event = tsi_device_event(trace, row);

	return event->graph ? NO_ROW : event->op;
}

/*
 * The row of the call that launched a device row's work; where that is not known, of its operator;
 * else NO_ROW.
 */
static inline uint32_t tsi_launch_row(const struct tscope_trace *trace, uint32_t row)
{
	const struct device_event *event = tsi_device_event(trace, row);

	return event->call != NO_ROW ? event->call : event->op;
}

/* Where device work says that it belongs. */
static inline struct op_place tsi_work_place(const struct tscope_trace *trace, uint32_t row)
{
	uint32_t place = tsi_work_traits(trace, row)->place;

	return place ? trace->op_places[place] : (struct op_place){ 0, 0 };
}

#endif
