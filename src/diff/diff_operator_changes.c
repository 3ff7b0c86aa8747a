/* SPDX-License-Identifier: MIT */
/* Operators of both sides, matched; counts and self times are of a mean step. */
#include "diff/work_changes.h"

static const struct tscope_fact_def facts[] = { WORK_FACTS(TSI_FACT_DEF, "operators") };

#define LIST_COLUMNS(X)                                                                            \
	WORK_COLUMNS(X)                                                                            \
	X(WORK_A_STEP_DEVICE_NS, "a_step_device_ns", NS,                                           \
	  "time of what it launched itself in a mean step of A")                                   \
	X(WORK_B_STEP_DEVICE_NS, "b_step_device_ns", NS, "and of B")                               \
	X(WORK_DEVICE_CHANGE_NS, "device_change_ns", NS, "b_step_device_ns less a_step_device_ns") \
	X(WORK_CALL_RATIO, "call_ratio", RATIO,                                                    \
	  "of its own host time, that in runtime and driver calls, of the side where that is "     \
	  "more: launches, or waits for the device")

static const struct tscope_fact_def list_columns[] = { LIST_COLUMNS(TSI_FACT_DEF) };

static const struct tscope_table_def tables[] = {
	TSI_TABLE_DEF("list", list_columns, WORK_LIST_MEANING),
};

static void diff_operator_changes(const struct analysis_scope *scope, struct fact_sheet *out)
{
	static const struct work_source operators = {
		.table = "operators.by_name",
		.count = "operators.count",
		.all_ns = "self_ns",
		.all_device_ns = "self_device_ns",
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
