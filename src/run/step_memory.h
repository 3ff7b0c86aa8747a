/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RUN_STEP_MEMORY_H
#define TSCOPE_RUN_STEP_MEMORY_H

#include "run/steps.h"

/* The points of a device's allocator, in the order of time. */
struct memory_curve {
	const struct allocator_point *points;
	size_t count;
};

/* Finds the device with the highest peak (ties: the lower id); empty where none has points. */
struct memory_curve tsi_find_memory_curve(const struct tscope_trace *trace);

/* The first point at this time or later, or count. */
size_t tsi_memory_curve_find(const struct memory_curve *curve, int64_t time_ns);

/*
 * Notes the memory of a trace's steps by its "[memory]" events, of tsi_find_memory_curve(). A
 * point's totals hold from its time to the next one's. At the end of a step stand the last totals
 * before it; its peaks are the highest totals within it, and those that it began with. Before the
 * first point nothing is known. The last steps of the series are those of the timeline, in its
 * order. O(points).
 */
void tsi_note_memory(struct step_series *steps, const struct tscope_timeline *timeline);

#endif
