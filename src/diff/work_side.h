/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DIFF_WORK_SIDE_H
#define TSCOPE_DIFF_WORK_SIDE_H

#include "analyze/analyzer.h"
#include "analyze/lookup.h"
#include "diff/comparison.h"
#include "diff/work_changes.h"
#include "diff/work_match.h"

/* One side of what work_changes.h compares: the rows of its ranking, as items to be matched. */

/* Sums over the steps of a side. */
struct work_figures {
	int64_t calls, ns, device_ns;
	int64_t unlinked; /* of the calls, those that may be from before the capture */
	/* Standard deviations of the times per step; NAN: not known. */
	double deviation_ns, device_deviation_ns;
	bool communicates;
	const char *kind;         /* "gemm" …; NULL: not said */
	int64_t self_ns, call_ns; /* own host time of the whole trace; of it, in calls */
};

struct work_side {
	const struct tscope_analysis *analysis;
	struct table_view rows;
	int64_t steps;
	bool has_counted; /* figures are those of steps, and not of the whole trace */
	bool is_exact;    /* of steps that have no mark */
	/* Some launch is known. Without any, kernels are calls of the steps that they start in. */
	bool has_launches;
	bool is_cut;
	bool is_known; /* it has such work at all, and steps */
	struct work_item *items;
	const char **launchers; /* by item; NULL: not known */
	struct work_figures *figures;
	size_t count;
};

/* Looks at what there is, and reads nothing yet. */
struct work_side tsi_work_side_begin(const struct tscope_analysis *analysis,
				     const struct work_source *source);

/* Reads the rows that have a name. */
void tsi_work_side_read(struct work_side *side, const struct work_source *source,
			struct arena *arena);

/* Finds who launches what was read of both sides. */
void tsi_work_sides_name_launchers(struct work_side sides[TSCOPE_SIDE_COUNT],
				   struct fact_sheet *out);

/* Several items as one. */
struct work_figures tsi_work_side_sum(const struct work_side *side, const size_t *items,
				      size_t first, size_t count);

/* The side with one item per kind of work. */
struct work_side tsi_work_side_by_kind(const struct work_side *side, struct arena *arena);

/* Items that have calls. */
int64_t tsi_work_side_count(const struct work_side *side);

#endif
