/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_STEPS_STEP_LINES_H
#define TSCOPE_ANALYZE_STEPS_STEP_LINES_H

#include "run/steps.h"

/*
 * The lines that a step's wall time divides into: those of the devices (summed
 * over all of them), or those of the host where there is no device.
 */
enum {
	TSI_STEP_LINE_MAX = (int)TSCOPE_BUDGET_LINE_COUNT > (int)HOST_LINE_COUNT
				    ? (int)TSCOPE_BUDGET_LINE_COUNT
				    : (int)HOST_LINE_COUNT,
};

size_t tsi_step_line_count(const struct step_series *steps);
const char *tsi_step_line_name(const struct step_series *steps, size_t line);
int64_t tsi_step_line_ns(const struct step_series *steps, const struct step_budget *budget,
			 size_t line);

/*
 * Divides lines by a number of ranks so that they still sum to the divided sum:
 * each is what the rounded sum up to it has more than the one before. Thirds of 5, 5 and 6
 * are 2, 1 and 2: the sums 5, 10, 16 become 1.67, 3.33, 5.33, so 2, 3, 5.
 */
void tsi_divide_lines(int64_t *lines, size_t count, int64_t rank_count);

/* The budget of a record, or NULL where it has none or one that does not count. */
static inline const struct step_budget *tsi_counted_budget(const struct step_series *steps,
							   const struct step_record *record)
{
	if (record->budget == NO_ROW || steps->budgets[record->budget].mark != TSCOPE_STEP_COUNTED)
		return NULL;
	return &steps->budgets[record->budget];
}

#endif
