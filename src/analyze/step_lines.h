/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_STEP_LINES_H
#define TSCOPE_ANALYZE_STEP_LINES_H

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

/* The budget of a record, or NULL where it has none or one that does not count. */
static inline const struct step_budget *tsi_counted_budget(const struct step_series *steps,
							   const struct step_record *record)
{
	if (record->budget == NO_ROW || steps->budgets[record->budget].mark != TSCOPE_STEP_COUNTED)
		return NULL;
	return &steps->budgets[record->budget];
}

#endif
