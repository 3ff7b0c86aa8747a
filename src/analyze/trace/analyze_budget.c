/* SPDX-License-Identifier: MIT */
/*
 * Wall time of the unmarked steps by cause: the sum of the timeline's budgets over steps and
 * devices, and for several ranks the mean of their sums. The lines sum to wall_total_ns; it and
 * step_count count a step once for each device in scope. Where no device was seen there are host
 * lines instead.
 *
 * Exposed communication is divided where the traces of several ranks were read together: at the
 * levels of rank and run.
 */
#include "analyze/facts.h"
#include "analyze/steps/step_lines.h"

#include <string.h>

#include "analyze/shared/anchor.h"
#include "analyze/shared/reliability.h"
#include "base/sum.h"

enum fact {
	WALL_NS,
	STEP_COUNT,
	USEFUL_COMPUTE_NS,
	COMPUTE_OVERHEAD_NS,
	FIRST_LINE,
	FIRST_PHASE = FIRST_LINE + TSCOPE_BUDGET_LINE_COUNT,
	FIRST_HOST_LINE = FIRST_PHASE + PHASE_COUNT,
	FIRST_HOST_SPLIT = FIRST_HOST_LINE + HOST_LINE_COUNT,
	FIRST_SPLIT = FIRST_HOST_SPLIT + EXPOSED_PART_COUNT,
};

static const struct tscope_fact_def facts[] = {
	[WALL_NS] = { "wall_total_ns", TSCOPE_UNIT_NS,
		      "wall time of the unmarked steps, once for each device" },
	[STEP_COUNT] = { "step_count", TSCOPE_UNIT_COUNT, "unmarked steps, once for each device" },
	[USEFUL_COMPUTE_NS] = { "useful_compute_total_ns", TSCOPE_UNIT_NS,
				"of compute_total_ns, what its FLOPs take at the device's peak" },
	[COMPUTE_OVERHEAD_NS] = { "compute_overhead_total_ns", TSCOPE_UNIT_NS,
				  "the rest of compute_total_ns" },
	/* In the order of enum tscope_budget_line. */
	{ "compute_total_ns", TSCOPE_UNIT_NS, "a compute kernel runs" },
	{ "exposed_comm_total_ns", TSCOPE_UNIT_NS, "only communication runs" },
	{ "exposed_copy_total_ns", TSCOPE_UNIT_NS, "only copies or fills run" },
	{ "data_stall_total_ns", TSCOPE_UNIT_NS, "idle: the host waits for data" },
	{ "sync_stall_total_ns", TSCOPE_UNIT_NS, "idle: the host waits for the device or a copy" },
	{ "launch_stall_total_ns", TSCOPE_UNIT_NS, "idle: the host is too slow to launch" },
	{ "device_gap_total_ns", TSCOPE_UNIT_NS,
	  "idle although the launch of the next work has returned" },
	{ "unattributed_total_ns", TSCOPE_UNIT_NS, "idle, and nothing recorded explains it" },
	/* In the order of enum phase. */
	{ "phase.data_total_ns", TSCOPE_UNIT_NS, "of the compute line: launched by a data loader" },
	{ "phase.forward_total_ns", TSCOPE_UNIT_NS, "launched by forward work" },
	{ "phase.backward_total_ns", TSCOPE_UNIT_NS, "launched by backward work" },
	{ "phase.optimizer_total_ns", TSCOPE_UNIT_NS, "launched by the optimizer" },
	{ "phase.comm_total_ns", TSCOPE_UNIT_NS, "launched by communication" },
	{ "phase.unknown_total_ns", TSCOPE_UNIT_NS,
	  "launched outside of all operators and annotations that would say a phase, like a "
	  "graph's replay, or before the capture" },
	{ "phase.other_total_ns", TSCOPE_UNIT_NS, "launched by anything else" },
	/* In the order of enum host_line. */
	{ "host.data_total_ns", TSCOPE_UNIT_NS, "without devices: the main thread waits for data" },
	{ "host.forward_total_ns", TSCOPE_UNIT_NS, "it is in forward work" },
	{ "host.backward_total_ns", TSCOPE_UNIT_NS, "it is in backward work, or waits for it" },
	{ "host.optimizer_total_ns", TSCOPE_UNIT_NS, "it is in the optimizer" },
	{ "host.comm_total_ns", TSCOPE_UNIT_NS, "it is in communication, or waits for it" },
	{ "host.other_total_ns", TSCOPE_UNIT_NS, "anything else" },
	/* In the order of enum exposed_part: sum to host.comm_total_ns. */
	{ "host.comm_wait_total_ns", TSCOPE_UNIT_NS,
	  "of host.comm_total_ns: waiting for ranks that come later to a collective" },
	{ "host.comm_transfer_total_ns", TSCOPE_UNIT_NS,
	  "of host.comm_total_ns: collectives that all ranks had come to" },
	{ "host.comm_unsplit_total_ns", TSCOPE_UNIT_NS,
	  "of host.comm_total_ns: what does not end together on all ranks, or was not matched" },
	{ "host.comm_own_total_ns", TSCOPE_UNIT_NS,
	  "of host.comm_total_ns: collectives that nothing waited for yet: the rank's own work "
	  "went on" },
	/* In the order of enum exposed_part: sum to exposed_comm_total_ns. */
	{ "exposed_wait_total_ns", TSCOPE_UNIT_NS,
	  "of exposed_comm_total_ns: waiting for ranks that come later to a collective" },
	{ "exposed_transfer_total_ns", TSCOPE_UNIT_NS,
	  "of exposed_comm_total_ns: collectives that all ranks had come to" },
	{ "exposed_unsplit_total_ns", TSCOPE_UNIT_NS,
	  "of exposed_comm_total_ns: what does not end together on all ranks, or was not matched" },
	{ "exposed_own_total_ns", TSCOPE_UNIT_NS,
	  "of exposed_comm_total_ns: collectives that nothing waited for yet: the rank's own work "
	  "was late" },
};

_Static_assert(TSI_COUNT_OF(facts) == FIRST_SPLIT + EXPOSED_PART_COUNT,
	       "a fact for each line of both budgets, for each phase and for each part");

struct sums {                                 /* over steps, devices and ranks */
	int64_t wall_ns;                      /* what the lines sum to */
	int64_t step_count;                   /* that have gone in; 0: there is nothing to say */
	struct budget device;                 /* zero without devices */
	struct host_budget host;              /* zero with devices */
	int64_t split_ns[EXPOSED_PART_COUNT]; /* sums to exposed communication where has_split */
	bool has_split;
	int64_t useful_ns;        /* of the device's compute line */
	const char *useful_doubt; /* why that is not known, or NULL */
	const char *doubt;        /* why device times must not be believed, or NULL */
};

/* Adds the time that the FLOPs of these steps take at the peak, at most the compute time. */
static void add_useful(struct sums *sums, const struct step_series *steps,
		       const struct tscope_analysis_options *options, int64_t step_count,
		       int64_t compute_ns)
{
	struct flops_anchor anchor = tsi_flops_anchor(steps, options);
	double ideal_ns = anchor.flops_per_step / anchor.peak_flops * 1e9 * (double)step_count;
	const char *doubt = anchor.flops_doubt ? anchor.flops_doubt : anchor.peak_doubt;

	if (doubt)
		sums->useful_doubt = doubt;
	else
		tsi_sum(&sums->useful_ns,
			ideal_ns < (double)compute_ns ? (int64_t)(ideal_ns + 0.5) : compute_ns);
}

static void add_lines(int64_t *sums, const int64_t *parts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		tsi_sum(&sums[i], parts[i]);
}

static void add_device_budget(struct sums *sums, const struct budget *budget)
{
	add_lines(sums->device.line_ns, budget->line_ns, TSCOPE_BUDGET_LINE_COUNT);
	add_lines(sums->device.compute_phase_ns, budget->compute_phase_ns, PHASE_COUNT);
}

/* The counted steps of the devices in scope. */
static void add_devices_of_trace(struct sums *sums, const struct analysis_scope *scope)
{
	const struct tscope_timeline *timeline = scope->timeline;

	for (uint32_t i = 0; i < timeline->step_count; i++) {
		if (timeline->steps[i].mark != TSCOPE_STEP_COUNTED)
			continue;
		for (uint32_t d = scope->first_device; d < scope->end_device; d++) {
			sums->step_count++;
			tsi_sum(&sums->wall_ns, timeline->steps[i].wall_ns);
			add_device_budget(sums, tsi_timeline_budget(timeline, i, d));
		}
	}
	sums->doubt = scope->steps->doubt;
	if (scope->end_device - scope->first_device == timeline->trace->device_count)
		add_useful(sums, scope->steps, scope->options, sums->step_count,
			   sums->device.line_ns[TSCOPE_BUDGET_COMPUTE]);
	else
		sums->useful_doubt = "FLOPs are not known for each device";
}

static void add_split(struct sums *sums, const struct step_budget *budget, bool has_devices)
{
	sums->has_split |= budget->has_split;
	if (budget->has_split)
		add_lines(sums->split_ns, budget->exposed_ns, EXPOSED_PART_COUNT);
	else
		tsi_sum(&sums->split_ns[EXPOSED_UNSPLIT],
			has_devices ? budget->device.line_ns[TSCOPE_BUDGET_EXPOSED_COMM]
				    : budget->host.line_ns[HOST_COMM]);
}

/* The counted steps of a rank. */
static void add_rank(struct sums *sums, const struct step_series *steps,
		     const struct tscope_analysis_options *options)
{
	int64_t times = tsi_counted_devices(steps);
	int64_t count_before = sums->step_count;
	int64_t compute_before_ns = sums->device.line_ns[TSCOPE_BUDGET_COMPUTE];

	for (size_t i = 0; i < steps->count; i++) {
		const struct step_budget *budget = tsi_counted_budget(steps, &steps->records[i]);
		int64_t wall_ns;
		if (!budget)
			continue;
		if (tsi_ckd_mul(&wall_ns, budget->wall_ns, times))
			wall_ns = INT64_MAX;
		tsi_sum(&sums->step_count, times);
		tsi_sum(&sums->wall_ns, wall_ns);
		add_device_budget(sums, &budget->device);
		add_lines(sums->host.line_ns, budget->host.line_ns, HOST_LINE_COUNT);
		add_split(sums, budget, steps->device_count > 0);
	}
	if (steps->device_count && !sums->doubt)
		sums->doubt = steps->doubt;
	if (sums->step_count > count_before)
		add_useful(sums, steps, options, sums->step_count - count_before,
			   sums->device.line_ns[TSCOPE_BUDGET_COMPUTE] - compute_before_ns);
}

/* Together with the lines before it in the budget, so that the parts sum to the line's mean. */
static void divide_split(struct sums *sums, int64_t rank_count, bool has_devices)
{
	int64_t parts[1 + EXPOSED_PART_COUNT] = { 0 };
	const int64_t *lines = has_devices ? sums->device.line_ns : sums->host.line_ns;
	size_t line = has_devices ? (size_t)TSCOPE_BUDGET_EXPOSED_COMM : (size_t)HOST_COMM;

	for (size_t i = 0; i < line; i++)
		tsi_sum(&parts[0], lines[i]);
	memcpy(&parts[1], sums->split_ns, sizeof(sums->split_ns));
	tsi_divide_lines(parts, TSI_COUNT_OF(parts), rank_count);
	memcpy(sums->split_ns, &parts[1], sizeof(sums->split_ns));
}

static void divide(struct sums *sums, int64_t rank_count, bool has_devices)
{
	divide_split(sums, rank_count, has_devices);
	tsi_divide_lines(&sums->wall_ns, 1, rank_count);
	tsi_divide_lines(&sums->step_count, 1, rank_count);
	tsi_divide_lines(&sums->useful_ns, 1, rank_count);
	tsi_divide_lines(sums->device.line_ns, TSCOPE_BUDGET_LINE_COUNT, rank_count);
	tsi_divide_lines(sums->device.compute_phase_ns, PHASE_COUNT, rank_count);
	tsi_divide_lines(sums->host.line_ns, HOST_LINE_COUNT, rank_count);
}

/* The mean of the ranks that have budgets with devices or, as asked, without. */
static void add_ranks(struct sums *sums, const struct analysis_scope *scope, bool has_devices)
{
	const struct step_series *ranks = scope->ranks ? scope->ranks : scope->steps;
	size_t rank_count = scope->ranks ? scope->rank_count : 1;
	int64_t added_count = 0;

	for (size_t i = 0; i < rank_count; i++) {
		int64_t before = sums->step_count;
		if ((ranks[i].device_count > 0) == has_devices)
			add_rank(sums, &ranks[i], scope->options);
		added_count += sums->step_count > before;
	}
	if (added_count)
		divide(sums, added_count, has_devices);
}

static void put_lines(struct fact_sheet *out, size_t first_fact, const int64_t *sums, size_t count)
{
	for (size_t i = 0; i < count; i++)
		tsi_fact_int(out, first_fact + i, sums[i]);
}

static void put_useful(struct fact_sheet *out, const struct sums *sums)
{
	int64_t compute_ns = sums->device.line_ns[TSCOPE_BUDGET_COMPUTE];

	if (sums->useful_doubt) {
		tsi_fact_doubt(out, USEFUL_COMPUTE_NS, sums->useful_doubt);
		tsi_fact_doubt(out, COMPUTE_OVERHEAD_NS, sums->useful_doubt);
		return;
	}
	tsi_fact_int(out, USEFUL_COMPUTE_NS, sums->useful_ns);
	tsi_fact_int(out, COMPUTE_OVERHEAD_NS, compute_ns - sums->useful_ns);
}

static void put_sums(struct fact_sheet *out, const struct sums *sums, bool has_devices)
{
	tsi_fact_int(out, WALL_NS, sums->wall_ns);
	tsi_fact_int(out, STEP_COUNT, sums->step_count);
	if (!has_devices) {
		put_lines(out, FIRST_HOST_LINE, sums->host.line_ns, HOST_LINE_COUNT);
		if (sums->has_split)
			put_lines(out, FIRST_HOST_SPLIT, sums->split_ns, EXPOSED_PART_COUNT);
		return;
	}
	put_useful(out, sums);
	put_lines(out, FIRST_LINE, sums->device.line_ns, TSCOPE_BUDGET_LINE_COUNT);
	put_lines(out, FIRST_PHASE, sums->device.compute_phase_ns, PHASE_COUNT);
	if (sums->has_split)
		put_lines(out, FIRST_SPLIT, sums->split_ns, EXPOSED_PART_COUNT);
	if (sums->doubt)
		tsi_fact_unreliable(out, sums->doubt);
}

/* Steps of a trace without a budget: that of several workers in one file (host_budget.c). */
static bool has_several_workers(const struct analysis_scope *scope)
{
	const struct step_series *ranks = scope->ranks ? scope->ranks : scope->steps;
	size_t rank_count = scope->ranks ? scope->rank_count : 1;

	for (size_t i = 0; i < rank_count; i++)
		if (ranks[i].is_of_trace && ranks[i].count > 0 && ranks[i].budget_count == 0)
			return true;
	return false;
}

static void doubt_host_lines(struct fact_sheet *out)
{
	for (size_t i = 0; i < HOST_LINE_COUNT; i++)
		tsi_fact_doubt(out, FIRST_HOST_LINE + i,
			       "several threads run forward and backward at once");
}

static void fill_budget(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct sums sums = { 0 };
	bool has_devices = true;

	tsi_judge_step_time(scope, out);
	if (scope->trace && scope->trace->device_count)
		add_devices_of_trace(&sums, scope);
	else
		add_ranks(&sums, scope, has_devices);
	if (sums.step_count == 0) {
		has_devices = false;
		add_ranks(&sums, scope, has_devices);
	}
	if (sums.step_count)
		put_sums(out, &sums, has_devices);
	else if (has_several_workers(scope))
		doubt_host_lines(out);
}

const struct analyzer tsi_analyzer_budget = {
	.def = {
		.id = "budget",
		.summary = "what the steps' wall time went to",
		TSI_FACTS(facts),
		.per_device = true,
		.needs = "a trace with device activity and a complete step",
		.total = TSCOPE_TOTAL_STEPS,
	},
	.levels = LEVEL_TRACE | LEVEL_RANK | LEVEL_RUN,
	.fill = fill_budget,
};
