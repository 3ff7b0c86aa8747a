/* SPDX-License-Identifier: MIT */
/* Modules of both sides by path; counts and times are of a mean step, without those within. */
#include "diff/work_changes.h"

static const struct tscope_fact_def facts[] = { WORK_FACTS(TSI_FACT_DEF, "modules") };

#define LIST_COLUMNS(X)                                                                            \
	WORK_COLUMNS(X, "name", "path, as in modules.by_module; or (outside modules)")             \
	WORK_DEVICE_COLUMNS(X)

static const struct tscope_fact_def list_columns[] = { LIST_COLUMNS(TSI_FACT_DEF) };

static const struct tscope_table_def tables[] = {
	[WORK_LIST] = TSI_TABLE_DEF("list", list_columns, WORK_LIST_MEANING),
};

static void diff_module_changes(const struct analysis_scope *scope, struct fact_sheet *out)
{
	static const struct work_source modules = {
		.table = "modules.by_module",
		.count = "modules.call_count",
		.all_calls = "call_count",
		.calls = "call_count",
		.ns = "self_host_ns",
		.device_ns = "self_device_ns",
		.are_modules = true,
	};

	tsi_compare_work(scope, out, &modules);
}

const struct analyzer tsi_analyzer_module_changes = {
	.def = {
		.id = "module_changes",
		.summary = "modules that are new, gone, slower or faster",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a comparison of traces with frames of modules (with_stack=True)",
	},
	.levels = LEVEL_DIFF,
	.fill = diff_module_changes,
};
