/* SPDX-License-Identifier: MIT */
/* Kernels of both sides, matched; counts and times are of a mean step. */
#include "diff/work_changes.h"

static const struct tscope_fact_def facts[] = { WORK_FACTS(TSI_FACT_DEF, "kernels") };

#define LIST_COLUMNS(X)                                                                            \
	WORK_COLUMNS(X, "name", WORK_NAME_MEANING)                                                 \
	WORK_LIST_COLUMNS(X)                                                                       \
	X(WORK_LAUNCHER, "launcher", TEXT, "operator that launches it, with its shapes")

static const struct tscope_fact_def list_columns[] = { LIST_COLUMNS(TSI_FACT_DEF) };

static const struct tscope_fact_def kind_columns[] = { WORK_COLUMNS(TSI_FACT_DEF, "kind",
								    WORK_KIND_MEANING) };

static const struct tscope_table_def tables[] = {
	[WORK_LIST] = TSI_TABLE_DEF("list", list_columns, WORK_LIST_MEANING),
	[WORK_KINDS] = TSI_TABLE_DEF("kinds", kind_columns, WORK_KINDS_MEANING),
};

static void diff_kernel_changes(const struct analysis_scope *scope, struct fact_sheet *out)
{
	static const struct work_source kernels = {
		.table = "kernels.by_name",
		.count = "kernels.count",
		.all_calls = "count",
		.all_ns = "total_ns",
		.calls = "counted",
		.ns = "counted_ns",
		.deviation_ns = "step_deviation_ns",
		.are_kernels = true,
	};

	tsi_compare_work(scope, out, &kernels);
}

const struct analyzer tsi_analyzer_kernel_changes = {
	.def = {
		.id = "kernel_changes",
		.summary = "kernels that are new, gone, replaced, slower or faster",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a comparison of traces with kernels",
	},
	.levels = LEVEL_DIFF,
	.fill = diff_kernel_changes,
};
