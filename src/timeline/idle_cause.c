/* SPDX-License-Identifier: MIT */
#include "timeline/idle_cause.h"

static const struct {
	const char *name;
	enum tscope_budget_line line;
} causes[IDLE_CAUSE_COUNT] = {
	[IDLE_DATA] = { "data", TSCOPE_BUDGET_DATA_STALL },
	[IDLE_COMPILE] = { "compile", TSCOPE_BUDGET_LAUNCH_STALL },
	[IDLE_GC] = { "gc", TSCOPE_BUDGET_LAUNCH_STALL },
	[IDLE_CALLBACK] = { "callback", TSCOPE_BUDGET_LAUNCH_STALL },
	[IDLE_PROFILER] = { "profiler", TSCOPE_BUDGET_LAUNCH_STALL },
	[IDLE_PEER] = { "peer", TSCOPE_BUDGET_LAUNCH_STALL },
	[IDLE_SYNC] = { "sync", TSCOPE_BUDGET_SYNC_STALL },
	[IDLE_BLOCKING_COPY] = { "blocking_copy", TSCOPE_BUDGET_SYNC_STALL },
	[IDLE_ALLOC] = { "alloc", TSCOPE_BUDGET_LAUNCH_STALL },
	[IDLE_STARTUP] = { "startup", TSCOPE_BUDGET_LAUNCH_STALL },
	[IDLE_LAUNCH_STALL] = { "launch_stall", TSCOPE_BUDGET_LAUNCH_STALL },
	[IDLE_CPU_WORK] = { "cpu_work", TSCOPE_BUDGET_LAUNCH_STALL },
	[IDLE_OP_STALL] = { "op_stall", TSCOPE_BUDGET_LAUNCH_STALL },
	[IDLE_OP_OVERHEAD] = { "op_overhead", TSCOPE_BUDGET_LAUNCH_STALL },
	[IDLE_PYTHON] = { "python", TSCOPE_BUDGET_LAUNCH_STALL },
	[IDLE_HOST_UNRECORDED] = { "host_unrecorded", TSCOPE_BUDGET_LAUNCH_STALL },
	[IDLE_LAUNCH_CALL] = { "launch_call", TSCOPE_BUDGET_LAUNCH_STALL },
	[IDLE_QUEUE_FULL] = { "queue_full", TSCOPE_BUDGET_DEVICE_GAP },
	[IDLE_DEVICE_GAP] = { "device_gap", TSCOPE_BUDGET_DEVICE_GAP },
	[IDLE_START_LATENCY] = { "start_latency", TSCOPE_BUDGET_DEVICE_GAP },
	[IDLE_DEPENDENCY] = { "dependency", TSCOPE_BUDGET_DEVICE_GAP },
	[IDLE_UNRECORDED] = { "unrecorded", TSCOPE_BUDGET_UNATTRIBUTED },
	[IDLE_UNLINKED] = { "unlinked", TSCOPE_BUDGET_UNATTRIBUTED },
	[IDLE_EDGE] = { "edge", TSCOPE_BUDGET_UNATTRIBUTED },
};

const char *tsi_idle_cause_name(enum idle_cause cause)
{
	return causes[cause].name;
}

enum tscope_budget_line tsi_line_of_cause(enum idle_cause cause)
{
	return causes[cause].line;
}
