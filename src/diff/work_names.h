/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DIFF_WORK_NAMES_H
#define TSCOPE_DIFF_WORK_NAMES_H

#include "analyze/analyzer.h"
#include "analyze/lookup.h"
#include "diff/comparison.h"
#include "diff/work_match.h"

/* Names around what is matched: who launches a kernel, and several names as one. */
struct launcher_names {
	struct table_view rows;          /* kernels.by_launcher */
	struct launched_kernel *kernels; /* by name, who launches it most of its time first */
	size_t count;
	bool has_inputs; /* they are recorded, and told */
};

/* On failure it may be deinited. O(n log n). */
TSI_MUST_CHECK
enum tscope_status tsi_launcher_names_init(struct launcher_names *ret,
					   const struct tscope_analysis *analysis,
					   struct tscope_error *err);
void tsi_launcher_names_deinit(struct launcher_names *names); /* fine on a zeroed struct */

/* Has launchers told without inputs where one of the sides has not recorded them. */
void tsi_launcher_names_agree(struct launcher_names sides[TSCOPE_SIDE_COUNT]);

/*
 * Who launches a kernel most of its time, with its inputs: "aten::mm [[8,8],[8,8]]", as long as
 * the scope's texts. NULL: nobody is known.
 */
TSI_MUST_CHECK
enum tscope_status tsi_launcher_name(const struct launcher_names *names,
				     const struct analysis_scope *scope, const char *kernel,
				     const char **ret, struct tscope_error *err);

/*
 * The names of items[indices[0 …]] (count > 0) joined by " + ". One is as it is; of several
 * long ones each is cut ("…"), of many the first ones are named and the others counted.
 */
TSI_MUST_CHECK
enum tscope_status tsi_join_work_names(const struct analysis_scope *scope,
				       const struct work_item *items, const size_t *indices,
				       size_t count, const char **ret, struct tscope_error *err);

#endif
