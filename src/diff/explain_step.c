/* SPDX-License-Identifier: MIT */
/*
 * From facts to the lines of a mean step. Budgets are totals over steps and devices; phases are
 * summed from the steps, since means of theirs that are rounded one by one would not sum to the
 * step. Of phases with names of the job's own only such means are known: the last of these takes
 * the few ns that are left.
 */
#include "diff/explain_step.h"

#include <string.h>

#include "analyze/facts.h"
#include "analyze/lookup.h"

struct fixed_line {
	const char *name, *column;
	const char *total; /* fact; NULL: the sum of the column */
};

static const struct fixed_line budget_lines[] = {
	{ "compute", "line_compute_ns", "budget.compute_total_ns" },
	{ "exposed_comm", "line_exposed_comm_ns", "budget.exposed_comm_total_ns" },
	{ "exposed_copy", "line_exposed_copy_ns", "budget.exposed_copy_total_ns" },
	{ "data_stall", "line_data_stall_ns", "budget.data_stall_total_ns" },
	{ "sync_stall", "line_sync_stall_ns", "budget.sync_stall_total_ns" },
	{ "launch_stall", "line_launch_stall_ns", "budget.launch_stall_total_ns" },
	{ "device_gap", "line_device_gap_ns", "budget.device_gap_total_ns" },
	{ "unattributed", "line_unattributed_ns", "budget.unattributed_total_ns" },
};

static const struct fixed_line host_lines[] = {
	{ "host.data", "host_data_ns", "budget.host.data_total_ns" },
	{ "host.forward", "host_forward_ns", "budget.host.forward_total_ns" },
	{ "host.backward", "host_backward_ns", "budget.host.backward_total_ns" },
	{ "host.optimizer", "host_optimizer_ns", "budget.host.optimizer_total_ns" },
	{ "host.comm", "host_comm_ns", "budget.host.comm_total_ns" },
	{ "host.other", "host_other_ns", "budget.host.other_total_ns" },
};

static const struct fixed_line phase_lines[] = {
	{ "data", "phase_data_ns", NULL },         { "forward", "phase_forward_ns", NULL },
	{ "backward", "phase_backward_ns", NULL }, { "optimizer", "phase_optimizer_ns", NULL },
	{ "comm", "phase_comm_ns", NULL },         { "compute", "phase_compute_ns", NULL },
	{ "other", "phase_other_ns", NULL },
};

static const struct source_def {
	const char *name;
	const struct fixed_line *lines;
	size_t line_count;
} sources[] = {
	[STEP_SOURCE_NONE] = { "", NULL, 0 },
	[STEP_SOURCE_PHASES] = { "phases", phase_lines, TSI_COUNT_OF(phase_lines) },
	[STEP_SOURCE_HOST_BUDGET] = { "host_budget", host_lines, TSI_COUNT_OF(host_lines) },
	[STEP_SOURCE_BUDGET] = { "budget", budget_lines, TSI_COUNT_OF(budget_lines) },
};

const char *tsi_step_source_name(enum step_source source)
{
	return sources[source].name;
}

static bool has_fact(const struct tscope_analysis *rank, const char *id)
{
	return tsi_lookup(rank, id).kind == TSCOPE_VALUE_INT;
}

enum step_source tsi_step_source(const struct tscope_analysis *rank)
{
	if (tsi_mean_step_ns(rank) <= 0)
		return STEP_SOURCE_NONE;
	if (tsi_lookup_int(rank, "budget.step_count") <= 0)
		return STEP_SOURCE_PHASES;
	if (has_fact(rank, budget_lines[0].total))
		return STEP_SOURCE_BUDGET;
	return has_fact(rank, host_lines[0].total) ? STEP_SOURCE_HOST_BUDGET : STEP_SOURCE_PHASES;
}

enum step_source tsi_common_step_source(enum step_source a, enum step_source b)
{
	if (a == STEP_SOURCE_NONE || b == STEP_SOURCE_NONE)
		return STEP_SOURCE_NONE;
	return a == b ? a : STEP_SOURCE_PHASES;
}

int64_t tsi_next_mean(struct mean_parts *parts, int64_t total_ns)
{
	int64_t before_ns = parts->mean_ns;

	parts->sum += total_ns;
	parts->mean_ns = tsi_narrow((parts->sum + parts->count / 2) / parts->count);
	return tsi_difference(before_ns, parts->mean_ns);
}

/* ---- sums over steps ---- */

static bool is_counted(const struct table_view *steps, size_t row, size_t mark, size_t time)
{
	return tsi_table_cell(steps, row, mark).kind == TSCOPE_VALUE_ABSENT &&
	       tsi_table_cell(steps, row, time).kind == TSCOPE_VALUE_INT;
}

/* The sum of a column over the steps that count, and how many these are. */
static tsi_wide sum_of_steps(const struct tscope_analysis *rank, const char *name, int64_t *count)
{
	struct table_view steps = tsi_lookup_table(rank, "series.steps");
	size_t mark = tsi_table_column(&steps, "mark"), time = tsi_table_column(&steps, "time_ns");
	size_t column = tsi_table_column(&steps, name);
	tsi_wide sum = 0;

	*count = 0;
	for (size_t row = 0; row < steps.row_count; row++) {
		struct tscope_value value = tsi_table_cell(&steps, row, column);
		if (!is_counted(&steps, row, mark, time))
			continue;
		if (value.kind == TSCOPE_VALUE_INT)
			sum += value.integer;
		++*count;
	}
	return sum;
}

int64_t tsi_mean_step_ns(const struct tscope_analysis *rank)
{
	struct mean_parts step = { 0 };

	step.sum = sum_of_steps(rank, "time_ns", &step.count);
	return step.count ? tsi_next_mean(&step, 0) : 0;
}

/* ---- lines ---- */

static void add_line(struct step_lines *lines, struct step_line line, struct arena *arena)
{
	struct step_line *added = tsi_arena_push(arena, &lines->items, &lines->count,
						 &lines->capacity, sizeof(*added));
	if (added)
		*added = line;
}

static void add_fixed_lines(struct step_lines *lines, const struct tscope_analysis *rank,
			    const struct source_def *source, struct arena *arena)
{
	struct mean_parts parts = { .count = tsi_lookup_int(rank, "budget.step_count") };

	for (size_t i = 0; i < source->line_count; i++) {
		const struct fixed_line *fixed = &source->lines[i];
		struct step_line line = { .name = fixed->name, .column = fixed->column };
		int64_t total_ns;
		if (fixed->total)
			total_ns = tsi_lookup_int(rank, fixed->total);
		else
			total_ns = tsi_narrow(sum_of_steps(rank, fixed->column, &parts.count));
		line.from = parts;
		line.ns = tsi_next_mean(&parts, total_ns);
		add_line(lines, line, arena);
	}
}

static bool is_fixed_phase(const char *name)
{
	for (size_t i = 0; i < TSI_COUNT_OF(phase_lines); i++)
		if (strcmp(phase_lines[i].name, name) == 0)
			return true;
	return false;
}

/* Phases with names of the job's own. */
static void add_own_phases(struct step_lines *lines, const struct tscope_analysis *rank,
			   struct arena *arena)
{
	struct table_view phases = tsi_lookup_table(rank, "step_time.phases");

	for (size_t row = 0; row < phases.row_count; row++) {
		struct tscope_value text = tsi_table_find(&phases, row, "phase");
		struct tscope_value mean_ns = tsi_table_find(&phases, row, "mean_ns");
		if (text.kind != TSCOPE_VALUE_TEXT || mean_ns.kind != TSCOPE_VALUE_INT ||
		    is_fixed_phase(text.text))
			continue;
		struct step_line line = { .name = text.text, .ns = mean_ns.integer };
		add_line(lines, line, arena);
	}
}

static tsi_wide sum_of_lines(const struct step_lines *lines)
{
	tsi_wide sum = 0;

	for (size_t i = 0; i < lines->count; i++)
		sum += lines->items[i].ns;
	return sum;
}

/* The rest of the step after all lines: rounding, or unknown time. */
static void add_rest(struct step_lines *lines, size_t own_phase_count, struct arena *arena)
{
	struct step_line rest = { .name = "outside" };
	tsi_wide most_rounding = (tsi_wide)own_phase_count + 1;
	tsi_wide rest_ns = lines->mean_ns - sum_of_lines(lines);

	rest.ns = tsi_narrow(rest_ns);
	if (rest.ns == 0)
		return;
	if (own_phase_count == 0 || rest_ns > most_rounding || rest_ns < -most_rounding) {
		add_line(lines, rest, arena);
		return;
	}
	int64_t *last_ns = &lines->items[lines->count - 1].ns;
	*last_ns = tsi_narrow((tsi_wide)*last_ns + rest.ns);
}

struct step_lines tsi_step_lines(const struct tscope_analysis *rank, enum step_source source,
				 struct arena *arena)
{
	struct step_lines lines = { .mean_ns = tsi_mean_step_ns(rank) };

	add_fixed_lines(&lines, rank, &sources[source], arena);
	size_t fixed_count = lines.count;
	if (source == STEP_SOURCE_PHASES)
		add_own_phases(&lines, rank, arena);
	add_rest(&lines, lines.count - fixed_count, arena);
	return lines;
}

/* ns of a mean step, of a sum over steps and devices; absent without it. */
static struct tscope_value per_step(const struct tscope_analysis *rank, const char *id)
{
	struct tscope_value sum = tsi_lookup(rank, id);
	int64_t steps = tsi_lookup_int(rank, "budget.step_count");

	if (sum.kind != TSCOPE_VALUE_INT || sum.integer < 0 || steps <= 0)
		return (struct tscope_value){ 0 };
	return tsi_mean(sum.integer, steps);
}

struct tscope_value tsi_own_step_ns(const struct tscope_analysis *rank)
{
	struct tscope_value mean = tsi_lookup(rank, "step_time.mean_ns");
	struct tscope_value comm = per_step(rank, "budget.exposed_comm_total_ns");
	int64_t own_ns;

	if (comm.kind != TSCOPE_VALUE_INT)
		comm = tsi_lookup(rank, "step_time.phase.comm_ns");
	if (mean.kind != TSCOPE_VALUE_INT || comm.kind != TSCOPE_VALUE_INT ||
	    tsi_ckd_sub(&own_ns, mean.integer, comm.integer))
		return (struct tscope_value){ 0 };
	return tsi_int(own_ns);
}
