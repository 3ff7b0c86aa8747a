/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DIFF_WORK_NAMES_H
#define TSCOPE_DIFF_WORK_NAMES_H

#include "analyze/facts.h"
#include "analyze/lookup.h"
#include "base/arena.h"
#include "diff/comparison.h"
#include "diff/work_match.h"

/* Names around what is matched: who launches a kernel, and several names as one. */
struct launcher_names {
	struct table_view rows;          /* kernels.by_launcher */
	struct launched_kernel *kernels; /* by name, who launches it most of its time first */
	size_t count;
	bool has_inputs; /* inputs are recorded on both sides */
};

/*
 * Reads both sides; drops inputs if one side has not recorded any. Empty without memory. O(n log
 * n).
 */
void tsi_read_launchers(struct launcher_names ret[TSCOPE_SIDE_COUNT],
			const struct tscope_analysis *const sides[TSCOPE_SIDE_COUNT],
			struct arena *arena);

/*
 * The operator that launches most of a kernel's time, with inputs: "aten::mm [[8,8],[8,8]]". Lives
 * as long as the sheet. NULL: unknown.
 */
const char *tsi_launcher_name(const struct launcher_names *names, const char *kernel,
			      struct fact_sheet *sheet);

/*
 * The names of items[indices[0 …]] (count > 0) joined by " + ". One is as it is; of several
 * long ones each is cut ("…"), of many the first ones are named and the others counted.
 */
const char *tsi_join_work_names(const struct work_item *items, const size_t *indices, size_t count,
				struct fact_sheet *sheet);

#endif
