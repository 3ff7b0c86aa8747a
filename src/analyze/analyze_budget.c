/* SPDX-License-Identifier: MIT */
/*
 * What the wall time of the unmarked steps went to: the sum of the timeline's
 * budgets over steps and devices. The lines sum to wall_ns, which counts a step
 * once for each device in scope. A trace without devices has host lines instead.
 */
#include "analyze/facts.h"
#include "analyze/reliability.h"
#include "analyze/step_lines.h"
#include "base/sum.h"

enum fact {
	WALL_NS,
	FIRST_LINE,
	FIRST_PHASE = FIRST_LINE + TSCOPE_BUDGET_LINE_COUNT,
	FIRST_HOST_LINE = FIRST_PHASE + PHASE_COUNT,
};

static const struct tscope_fact_def facts[] = {
	[WALL_NS] = { "wall_ns", TSCOPE_UNIT_NS,
		      "wall time of the unmarked steps, once for each device" },
	/* In the order of enum tscope_budget_line. */
	{ "compute_ns", TSCOPE_UNIT_NS, "a compute kernel runs" },
	{ "exposed_comm_ns", TSCOPE_UNIT_NS, "only communication runs" },
	{ "exposed_copy_ns", TSCOPE_UNIT_NS, "only copies or fills run" },
	{ "data_stall_ns", TSCOPE_UNIT_NS, "idle: the host waits for data" },
	{ "sync_stall_ns", TSCOPE_UNIT_NS, "idle: the host waits for the device" },
	{ "launch_stall_ns", TSCOPE_UNIT_NS, "idle: the host is too slow to launch" },
	{ "device_gap_ns", TSCOPE_UNIT_NS, "idle although the next work is launched" },
	{ "unattributed_ns", TSCOPE_UNIT_NS, "idle without later work or launch to judge by" },
	/* In the order of enum phase. */
	{ "phase.data_ns", TSCOPE_UNIT_NS, "of the compute line: launched by a data loader" },
	{ "phase.forward_ns", TSCOPE_UNIT_NS, "launched by forward work" },
	{ "phase.backward_ns", TSCOPE_UNIT_NS, "launched by backward work" },
	{ "phase.optimizer_ns", TSCOPE_UNIT_NS, "launched by the optimizer" },
	{ "phase.comm_ns", TSCOPE_UNIT_NS, "launched by communication" },
	{ "phase.compute_ns", TSCOPE_UNIT_NS, "launched by what is not known" },
	{ "phase.other_ns", TSCOPE_UNIT_NS, "launched by anything else" },
	/* In the order of enum host_line. */
	{ "host.data_ns", TSCOPE_UNIT_NS, "without devices: the main thread waits for data" },
	{ "host.forward_ns", TSCOPE_UNIT_NS, "it is in forward work" },
	{ "host.backward_ns", TSCOPE_UNIT_NS, "it is in backward work, or waits for it" },
	{ "host.optimizer_ns", TSCOPE_UNIT_NS, "it is in the optimizer" },
	{ "host.comm_ns", TSCOPE_UNIT_NS, "it is in communication" },
	{ "host.other_ns", TSCOPE_UNIT_NS, "anything else" },
};

_Static_assert(TSI_COUNT_OF(facts) == FIRST_HOST_LINE + HOST_LINE_COUNT,
	       "a fact for each line of both budgets and for each phase");

static void put_lines(struct fact_sheet *out, size_t first_fact, const int64_t *sums, size_t count)
{
	for (size_t i = 0; i < count; i++)
		tsi_fact_int(out, first_fact + i, sums[i]);
}

static void add_lines(int64_t *sums, const int64_t *parts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		tsi_sum(&sums[i], parts[i]);
}

static void put_host_budget(const struct tscope_timeline *timeline, struct fact_sheet *out)
{
	int64_t wall_ns = 0, lines[HOST_LINE_COUNT] = { 0 };

	for (uint32_t i = 0; i < timeline->step_count; i++) {
		if (!tsi_step_is_counted(timeline, i))
			continue;
		tsi_sum(&wall_ns, timeline->steps[i].wall_ns);
		add_lines(lines, timeline->host_budgets[i].line_ns, HOST_LINE_COUNT);
	}
	tsi_fact_int(out, WALL_NS, wall_ns);
	put_lines(out, FIRST_HOST_LINE, lines, HOST_LINE_COUNT);
}

static void put_device_budget(const struct analysis_scope *scope, struct fact_sheet *out)
{
	const struct tscope_timeline *timeline = scope->timeline;
	int64_t wall_ns = 0, lines[TSCOPE_BUDGET_LINE_COUNT] = { 0 }, phases[PHASE_COUNT] = { 0 };

	for (uint32_t i = 0; i < timeline->step_count; i++) {
		for (uint32_t d = scope->first_device; d < scope->end_device; d++) {
			const struct budget *budget = tsi_timeline_budget(timeline, i, d);
			if (!tsi_step_is_counted(timeline, i))
				continue;
			tsi_sum(&wall_ns, timeline->steps[i].wall_ns);
			add_lines(lines, budget->line_ns, TSCOPE_BUDGET_LINE_COUNT);
			add_lines(phases, budget->compute_phase_ns, PHASE_COUNT);
		}
	}
	tsi_fact_int(out, WALL_NS, wall_ns);
	put_lines(out, FIRST_LINE, lines, TSCOPE_BUDGET_LINE_COUNT);
	put_lines(out, FIRST_PHASE, phases, PHASE_COUNT);
	tsi_judge_device_time(scope->trace, out);
}

static bool has_counted_step(const struct tscope_timeline *timeline)
{
	for (uint32_t i = 0; i < timeline->step_count; i++)
		if (tsi_step_is_counted(timeline, i))
			return true;
	return false;
}

static enum tscope_status run(const struct analysis_scope *scope, struct fact_sheet *out,
			      struct tscope_error *err)
{
	(void)err;
	if (!has_counted_step(scope->timeline))
		return TSCOPE_OK;
	if (scope->timeline->host_budgets)
		put_host_budget(scope->timeline, out);
	else
		put_device_budget(scope, out);
	return TSCOPE_OK;
}

const struct analyzer tsi_analyzer_budget = {
	.def = {
		.id = "budget",
		.summary = "what the steps' wall time went to",
		.facts = facts,
		.fact_count = TSI_COUNT_OF(facts),
		.per_device = true,
	},
	.run = run,
};
