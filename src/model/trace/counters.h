/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_TRACE_COUNTERS_H
#define TSCOPE_MODEL_TRACE_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Counters of a trace: numbers that a writer noted now and then, as Composer does of the host's
 * processor, memory, disks and network, and VizTracer of the user's variables. An event has a
 * name and any number of series, each with a value.
 */
enum {
	COUNTERS_MAX_SERIES = 4096,
	COUNTERS_MAX_VALUES = 1 << 22,
};

/* The texts are ids in trace->names. */
struct counter_series {
	uint32_t counter, name; /* of the event, and of the series in it */
	uint32_t process;       /* pid */
	uint32_t id;            /* distinguishes counters of one name; 0: none */
	uint32_t first, count;  /* of its values */
};

struct counter_value {
	int64_t time_ns;
	double value; /* finite */
};

struct counters {
	struct counter_series *series; /* in the order in which they came first; in the arena */
	size_t series_count, series_capacity;
	struct counter_value *values; /* series by series, those of each by time */
	uint32_t *series_of_value;    /* while building; NULL in a finished trace */
	size_t value_count, value_capacity, series_of_value_capacity;
	uint64_t dropped_count; /* values beyond the limits */
	uint64_t bad_count;     /* values that are no finite number */
};

void tsi_counters_deinit(struct counters *counters); /* fine on a zeroed struct */

#endif
