/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DIFF_WORK_KINDS_H
#define TSCOPE_DIFF_WORK_KINDS_H

#include "diff/work_side.h"

/*
 * Kernels of both sides by what they compute: the same on every device, whatever kernels are called
 * there. Fills the table `kinds` (WORK_KIND_COLUMNS) of the sheet.
 */
void tsi_list_work_kinds(const struct work_side sides[TSCOPE_SIDE_COUNT], size_t table,
			 struct fact_sheet *out);

#endif
