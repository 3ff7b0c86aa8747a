/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_STEP_LINES_H
#define TSCOPE_ANALYZE_STEP_LINES_H

#include "timeline/timeline.h"

/*
 * The lines that a step's wall time divides into: those of the devices (summed
 * over all of them), or those of the host where there is no device.
 */
enum {
	TSI_STEP_LINE_MAX = (int)TSCOPE_BUDGET_LINE_COUNT > (int)HOST_LINE_COUNT
				    ? (int)TSCOPE_BUDGET_LINE_COUNT
				    : (int)HOST_LINE_COUNT,
};

size_t tsi_step_line_count(const struct tscope_timeline *timeline);
const char *tsi_step_line_name(const struct tscope_timeline *timeline, size_t line);
int64_t tsi_step_line_ns(const struct tscope_timeline *timeline, uint32_t step, size_t line);

static inline bool tsi_step_is_counted(const struct tscope_timeline *timeline, uint32_t step)
{
	return timeline->steps[step].mark == TSCOPE_STEP_COUNTED;
}

#endif
