/* SPDX-License-Identifier: MIT */
/* Operators of both sides, matched; counts and their times, host and device, are of a mean step. */
#include "diff/work_changes.h"

static const struct tscope_fact_def facts[] = { WORK_FACTS(TSI_FACT_DEF, "operators") };

#define LIST_COLUMNS(X)                                                                            \
	WORK_COLUMNS(X, "name", WORK_NAME_MEANING)                                                 \
	WORK_DEVICE_COLUMNS(X)                                                                     \
	WORK_LIST_COLUMNS(X)                                                                       \
	X(WORK_CALL_RATIO, "call_ratio", RATIO,                                                    \
	  "of its own host time, that in runtime and driver calls, of the side where that is "     \
	  "more: launches, or waits for the device")

static const struct tscope_fact_def list_columns[] = { LIST_COLUMNS(TSI_FACT_DEF) };

#define KIND_COLUMNS(X)                                                                            \
	WORK_COLUMNS(X, "kind", WORK_KIND_MEANING)                                                 \
	WORK_DEVICE_COLUMNS(X)

static const struct tscope_fact_def kind_columns[] = { KIND_COLUMNS(TSI_FACT_DEF) };

static const struct tscope_table_def tables[] = {
	[WORK_LIST] = TSI_TABLE_DEF("list", list_columns, WORK_LIST_MEANING),
	[WORK_KINDS] = TSI_TABLE_DEF("kinds", kind_columns, WORK_KINDS_MEANING),
};

static void diff_operator_changes(const struct analysis_scope *scope, struct fact_sheet *out)
{
	static const struct work_source operators = {
		.table = "operators.by_name",
		.count = "operators.count",
		.all_calls = "count",
		.all_ns = "self_ns",
		.all_device_ns = "self_device_ns",
		.calls = "counted",
		.ns = "counted_ns",
		.deviation_ns = "step_deviation_ns",
		.device_ns = "counted_device_ns",
		.device_deviation_ns = "step_device_deviation_ns",
	};

	tsi_compare_work(scope, out, &operators);
}

const struct analyzer tsi_analyzer_operator_changes = {
	.def = {
		.id = "operator_changes",
		.summary = "operators that are new, gone, slower or faster",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a comparison of traces with operators",
	},
	.levels = LEVEL_DIFF,
	.fill = diff_operator_changes,
};
