/* SPDX-License-Identifier: MIT */
/* What the findings on idle time have in common. */
#include "rules/idle_finding.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "rules/budget_share.h"

#define CULPRITS "idle.culprits"
#define GAPS "idle.gaps"

enum { SHOWN_CULPRITS = 2, CULPRIT_CHARS = 80 };

static size_t cause_count(const struct idle_claim *claim)
{
	size_t count = 0;

	while (count < MAX_IDLE_CAUSES && claim->causes[count].cause)
		count++;
	return count;
}

/*
 * The step that idle.* are parts of: the mean over devices and ranks, while the run's own step is
 * that of the slowest rank.
 */
static double mean_step_ns(const struct rule_context *ctx)
{
	double step_ns =
		tsi_rule_real(ctx, "budget.wall_ns") / tsi_rule_real(ctx, "budget.step_count");

	return step_ns > 0 ? step_ns : tsi_rule_real(ctx, "step_time.mean_ns");
}

void tsi_gain_idle(struct rule_context *ctx, enum gain_part part, const char *fact)
{
	tsi_gain_share(ctx, part, tsi_rule_real(ctx, fact) / mean_step_ns(ctx));
}

double tsi_idle_claim_share(const struct rule_context *ctx, const struct idle_claim *claim)
{
	double step_ns = mean_step_ns(ctx), sum_ns = 0;

	for (size_t i = 0; i < cause_count(claim); i++)
		sum_ns += tsi_rule_real(ctx, claim->causes[i].fact);
	return step_ns > 0 ? sum_ns / step_ns : NAN;
}

static const char *cell_text(const struct rule_context *ctx, const char *table, size_t row,
			     const char *column)
{
	return tsi_value_text(tsi_rule_cell(ctx, table, row, column));
}

static bool is_of_cause(const struct rule_context *ctx, const char *table, size_t row,
			const char *cause)
{
	return strcmp(cell_text(ctx, table, row, "cause"), cause) == 0;
}

/*
 * "dispatch of operators 43.1 % (aten::copy_ 12.0 %, aten::mm 7.1 %)"; of the only cause, whose
 * share the title has, "mostly aten::copy_ 12.0 %, aten::mm 7.1 %".
 */
static void tell_cause(struct rule_context *ctx, const struct idle_cause_claim *cause, bool is_only)
{
	double step_ns = mean_step_ns(ctx);
	double share = tsi_rule_real(ctx, cause->fact) / step_ns;
	char culprits[256] = "";
	size_t count = 0;

	if (!tsi_is_worth_telling(share))
		return;
	for (size_t row = 0; row < tsi_rule_rows(ctx, CULPRITS) && count < SHOWN_CULPRITS; row++) {
		double part = tsi_value_real(tsi_rule_cell(ctx, CULPRITS, row, "ns_per_step"));
		const char *name = cell_text(ctx, CULPRITS, row, "name");
		size_t length = strlen(culprits);
		if (!is_of_cause(ctx, CULPRITS, row, cause->cause) || *name == '\0' ||
		    !tsi_is_worth_telling(part / step_ns))
			continue;
		snprintf(culprits + length, sizeof(culprits) - length, "%s%.*s %.1f %%",
			 count++ > 0 ? ", " : "", CULPRIT_CHARS, name, 100 * part / step_ns);
	}
	tsi_str_drop_partial(culprits);
	if (is_only && count > 0)
		tsi_rule_detail(ctx, "mostly %s", culprits);
	else if (count > 0)
		tsi_rule_detail(ctx, "%s %.1f %% (%s)", cause->words, 100 * share, culprits);
	else if (!is_only)
		tsi_rule_detail(ctx, "%s %.1f %%", cause->words, 100 * share);
}

/* An empty text stands for nothing. */
static const char *known(const char *text)
{
	return *text ? text : NULL;
}

static int64_t cell_number(const struct rule_context *ctx, size_t row, const char *column)
{
	struct tscope_value value = tsi_rule_cell(ctx, GAPS, row, column);

	return value.kind == TSCOPE_VALUE_INT ? value.integer : -1;
}

/* The longest gaps of the causes; the first says what the finding is about. */
static void tell_gaps(struct rule_context *ctx, const struct idle_claim *claim)
{
	struct tscope_subject *subject = tsi_rule_subject(ctx);
	bool is_first = true;

	for (size_t row = 0; row < tsi_rule_rows(ctx, GAPS); row++) {
		bool is_claimed = false;
		for (size_t i = 0; i < cause_count(claim); i++)
			is_claimed |= is_of_cause(ctx, GAPS, row, claim->causes[i].cause);
		if (!is_claimed)
			continue;
		tsi_rule_place(ctx, cell_number(ctx, row, "start_ns"),
			       cell_number(ctx, row, "duration_ns"));
		if (!is_first)
			continue;
		is_first = false;
		subject->device = cell_number(ctx, row, "device");
		subject->step = cell_number(ctx, row, "step");
		subject->op = known(cell_text(ctx, GAPS, row, "operator"));
		subject->call = known(cell_text(ctx, GAPS, row, "call"));
		subject->source = known(cell_text(ctx, GAPS, row, "source"));
	}
}

void tsi_tell_idle(struct rule_context *ctx, const struct idle_claim *claim)
{
	for (size_t i = 0; i < cause_count(claim); i++) {
		const struct idle_cause_claim *cause = &claim->causes[i];
		tell_cause(ctx, cause, cause_count(claim) == 1);
		tsi_rule_evidence(ctx, cause->fact);
		tsi_gain_idle(ctx, cause->part, cause->fact);
	}
	tsi_rule_evidence(ctx, "step_time.mean_ns");
	tell_gaps(ctx, claim);
}

bool tsi_judge_idle(struct rule_context *ctx, const struct idle_claim *claim, const char *before,
		    const char *behind)
{
	double share = tsi_idle_claim_share(ctx, claim);

	if (!(share >= tsi_rule_parameter(ctx, "threshold")))
		return false;
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_HIGH, "%s%.1f %% of the step%s", before, 100 * share,
		      behind);
	tsi_tell_idle(ctx, claim);
	return true;
}

static const struct idle_cause_row rows[] = {
	{ "idle.data_ns", "the data loader", CAUSE_data_loader, GAIN_DATA },
	{ "idle.compile_ns", "compilation", CAUSE_compile, GAIN_COMPILE },
	{ "idle.gc_ns", "garbage collection", CAUSE_gc, GAIN_GC },
	{ "idle.callback_ns", "callbacks and logging", CAUSE_callbacks, GAIN_CALLBACK },
	{ "idle.profiler_ns", "the profiler", CAUSE_profiler_overhead, GAIN_PROFILER },
	{ "idle.peer_ns", "other ranks", CAUSE_comm_wait, GAIN_PEER },
	{ "idle.sync_ns", "synchronisation", CAUSE_sync_drain, GAIN_SYNC },
	{ "idle.blocking_copy_ns", "blocking copies", CAUSE_blocking_copy, GAIN_BLOCKING_COPY },
	{ "idle.alloc_ns", "driver allocation", CAUSE_alloc_thrash, GAIN_ALLOC },
	{ "idle.startup_ns", "start-up", CAUSE_cold_start, GAIN_STARTUP },
	{ "idle.launch_stall_ns", "launch calls that stall", CAUSE_launch_overhead,
	  GAIN_HOST_STALL },
	{ "idle.cpu_work_ns", "operators on the CPU", CAUSE_cpu_only_work, GAIN_CPU_WORK },
	{ "idle.op_stall_ns", "pauses inside operators", CAUSE_launch_overhead, GAIN_HOST_STALL },
	{ "idle.op_overhead_ns", "dispatch of operators", CAUSE_launch_overhead, GAIN_LAUNCH },
	{ "idle.python_ns", "Python between operators", CAUSE_host_python, GAIN_PYTHON },
	{ "idle.host_unrecorded_ns", "the host, which is not recorded", CAUSE_unrecorded_work,
	  GAIN_PYTHON },
	{ "idle.launch_call_ns", "launch calls", CAUSE_launch_overhead, GAIN_LAUNCH },
	{ "idle.queue_full_ns", "a full launch queue", CAUSE_small_kernels, GAIN_DEVICE_GAP },
	{ "idle.device_gap_ns", "gaps between queued kernels", CAUSE_small_kernels,
	  GAIN_DEVICE_GAP },
	{ "idle.start_latency_ns", "the start of launched kernels", CAUSE_launch_overhead,
	  GAIN_DEVICE_GAP },
	{ "idle.dependency_ns", "other streams and devices", CAUSE_comm_wait, GAIN_DEVICE_GAP },
	{ "idle.unrecorded_ns", "work that is not recorded", CAUSE_unrecorded_work,
	  GAIN_UNRECORDED },
	{ "idle.unlinked_ns", "work without a launch call", CAUSE_unrecorded_work,
	  GAIN_UNRECORDED },
	{ "idle.edge_ns", "the end of the capture", CAUSE_unrecorded_work, GAIN_UNRECORDED },
};

double tsi_idle_share(const struct rule_context *ctx)
{
	double step_ns = mean_step_ns(ctx);

	return step_ns > 0 ? tsi_rule_real(ctx, "idle.total_ns") / step_ns : NAN;
}

const struct idle_cause_row *tsi_main_idle_cause(const struct rule_context *ctx)
{
	const struct idle_cause_row *largest = &rows[0];

	for (size_t i = 1; i < TSI_COUNT_OF(rows); i++)
		if (tsi_rule_int(ctx, rows[i].fact) > tsi_rule_int(ctx, largest->fact))
			largest = &rows[i];
	return largest;
}

void tsi_tell_idle_causes(struct rule_context *ctx)
{
	double step_ns = mean_step_ns(ctx);

	for (size_t i = 0; i < TSI_COUNT_OF(rows); i++) {
		double share = tsi_rule_real(ctx, rows[i].fact) / step_ns;
		if (tsi_is_worth_telling(share))
			tsi_rule_detail(ctx, "%s %.1f %%", rows[i].words, 100 * share);
	}
}
