/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RUN_STEP_MEMORY_H
#define TSCOPE_RUN_STEP_MEMORY_H

#include "run/steps.h"

/*
 * Notes the memory of a trace's steps by its "[memory]" events, for the device whose allocation
 * peaks highest (ties: the lower id). A point's totals hold from
 * its time to the next one's. At the end of a step stand the last totals before it; its peaks
 * are the highest totals within it, and those that it began with. Before the first point
 * nothing is known. The last steps of the series are those of the timeline, in its order.
 * O(points).
 */
void tsi_note_memory(struct step_series *steps, const struct tscope_timeline *timeline);

#endif
