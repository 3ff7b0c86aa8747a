/* SPDX-License-Identifier: MIT */
/*
 * The steps one by one, as far as a comparison of two runs needs them: what its tests of
 * significance are made on, also when the report was saved as JSON. All steps are there; of a
 * marked one statistics take nothing, and the lines of a budget that does not count are absent.
 *
 * Of several ranks a step is that of the slowest one, and its lines are means over the ranks, as
 * the run's budget is: over those that have a budget, in steps that all of these have counted.
 */
#include "analyze/facts.h"
#include "analyze/steps/step_lines.h"

#include "base/sum.h"
#include "run/align.h"
#include <assert.h>
#include <math.h>

#define STEP_COLUMNS(X)                                                                            \
	X(STEP_STEP, "step", COUNT, "number of the step")                                          \
	X(STEP_MARK, "mark", TEXT, "why statistics leave it out; absent: they do not")             \
	X(STEP_TIME_NS, "time_ns", NS, "its time")                                                 \
	X(STEP_LOSS, "loss", NUMBER, "where finite")                                               \
	X(STEP_LOSS_TEXT, "loss_text", TEXT, "a loss that is not: NaN, Infinity or -Infinity")     \
	X(STEP_GRAD_NORM, "grad_norm", NUMBER, "where finite")                                     \
	X(STEP_ALLOC_BYTES, "alloc_bytes", BYTES, "allocated at its end")                          \
	X(STEP_PEAK_ALLOC_BYTES, "peak_alloc_bytes", BYTES, "most that was allocated in it")       \
	X(STEP_PHASE_DATA_NS, "phase_data_ns", NS, "phase data")                                   \
	X(STEP_PHASE_FORWARD_NS, "phase_forward_ns", NS, "phase forward")                          \
	X(STEP_PHASE_BACKWARD_NS, "phase_backward_ns", NS, "phase backward")                       \
	X(STEP_PHASE_OPTIMIZER_NS, "phase_optimizer_ns", NS, "phase optimizer")                    \
	X(STEP_PHASE_COMM_NS, "phase_comm_ns", NS, "phase comm")                                   \
	X(STEP_PHASE_COMPUTE_NS, "phase_compute_ns", NS, "phase compute")                          \
	X(STEP_PHASE_OTHER_NS, "phase_other_ns", NS, "phase other")                                \
	X(STEP_LINE_COMPUTE_NS, "line_compute_ns", NS,                                             \
	  "line compute of the budget, sum over devices")                                          \
	X(STEP_LINE_EXPOSED_COMM_NS, "line_exposed_comm_ns", NS,                                   \
	  "line exposed_comm of the budget, sum over devices")                                     \
	X(STEP_LINE_EXPOSED_COPY_NS, "line_exposed_copy_ns", NS,                                   \
	  "line exposed_copy of the budget, sum over devices")                                     \
	X(STEP_LINE_DATA_STALL_NS, "line_data_stall_ns", NS,                                       \
	  "line data_stall of the budget, sum over devices")                                       \
	X(STEP_LINE_SYNC_STALL_NS, "line_sync_stall_ns", NS,                                       \
	  "line sync_stall of the budget, sum over devices")                                       \
	X(STEP_LINE_LAUNCH_STALL_NS, "line_launch_stall_ns", NS,                                   \
	  "line launch_stall of the budget, sum over devices")                                     \
	X(STEP_LINE_DEVICE_GAP_NS, "line_device_gap_ns", NS,                                       \
	  "line device_gap of the budget, sum over devices")                                       \
	X(STEP_LINE_UNATTRIBUTED_NS, "line_unattributed_ns", NS,                                   \
	  "line unattributed of the budget, sum over devices")                                     \
	X(STEP_HOST_DATA_NS, "host_data_ns", NS, "line data of the budget without devices")        \
	X(STEP_HOST_FORWARD_NS, "host_forward_ns", NS,                                             \
	  "line forward of the budget without devices")                                            \
	X(STEP_HOST_BACKWARD_NS, "host_backward_ns", NS,                                           \
	  "line backward of the budget without devices")                                           \
	X(STEP_HOST_OPTIMIZER_NS, "host_optimizer_ns", NS,                                         \
	  "line optimizer of the budget without devices")                                          \
	X(STEP_HOST_COMM_NS, "host_comm_ns", NS, "line comm of the budget without devices")        \
	X(STEP_HOST_OTHER_NS, "host_other_ns", NS, "line other of the budget without devices")

TSI_FACT_LIST(enum step_column, step_columns, STEP_COLUMNS);

enum table { STEPS_TABLE };

static const struct tscope_table_def tables[] = {
	[STEPS_TABLE] = { "steps", step_columns, TSI_COUNT_OF(step_columns),
			  "every step, in order of time; of several ranks the slowest one's, with "
			  "lines "
			  "that are means of the ranks",
			  TSCOPE_TABLE_COLUMNS },
};

/* Columns that stand in the order of an enum, so that a loop can fill them. */
_Static_assert(STEP_PHASE_OTHER_NS - STEP_PHASE_DATA_NS + 1 == (int)PHASE_COUNT &&
		       STEP_LINE_UNATTRIBUTED_NS - STEP_LINE_COMPUTE_NS + 1 ==
			       (int)TSCOPE_BUDGET_LINE_COUNT &&
		       STEP_HOST_OTHER_NS - STEP_HOST_DATA_NS + 1 == (int)HOST_LINE_COUNT,
	       "a column for each phase and for each line of both budgets");

static void put_times(struct tscope_value *cells, const struct step_record *record)
{
	cells[STEP_TIME_NS] = tsi_int(record->time_ns);
	for (size_t phase = 0; phase < PHASE_COUNT; phase++)
		if (record->phases & 1u << phase)
			cells[STEP_PHASE_DATA_NS + phase] = tsi_int(record->phase_ns[phase]);
}

static const char *not_finite_name(double value)
{
	if (isnan(value))
		return "NaN";
	return value < 0 ? "-Infinity" : "Infinity";
}

static void put_scalars(struct tscope_value *cells, const struct step_record *record)
{
	if (record->has & STEP_HAS_LOSS) {
		cells[STEP_LOSS] = tsi_real(record->loss);
		if (!isfinite(record->loss))
			cells[STEP_LOSS_TEXT] = tsi_text(not_finite_name(record->loss));
	}
	if (record->has & STEP_HAS_GRAD_NORM)
		cells[STEP_GRAD_NORM] = tsi_real(record->grad_norm);
}

static void put_memory(struct tscope_value *cells, const struct step_record *record)
{
	int64_t alloc = record->memory_bytes[STEP_MEMORY_ALLOC];
	int64_t peak_alloc = record->memory_bytes[STEP_MEMORY_PEAK_ALLOC];

	if (alloc != NO_BYTES)
		cells[STEP_ALLOC_BYTES] = tsi_int(alloc);
	if (peak_alloc != NO_BYTES)
		cells[STEP_PEAK_ALLOC_BYTES] = tsi_int(peak_alloc);
}

/* ---- lines -------------------------------------------------------------------------------- */

/* of: whose lines they are. */
static void put_lines(struct tscope_value *cells, const struct step_series *of,
		      const int64_t *lines)
{
	size_t first = of->device_count > 0 ? STEP_LINE_COMPUTE_NS : STEP_HOST_DATA_NS;

	for (size_t line = 0; line < tsi_step_line_count(of); line++)
		cells[first + line] = tsi_int(lines[line]);
}

/* false: the record has none that count. */
static bool add_lines(int64_t *lines, const struct step_series *steps,
		      const struct step_record *record)
{
	const struct step_budget *budget = tsi_counted_budget(steps, record);

	for (size_t line = 0; budget && line < tsi_step_line_count(steps); line++)
		tsi_sum(&lines[line], tsi_step_line_ns(steps, budget, line));
	return budget != NULL;
}

static void put_own_lines(struct tscope_value *cells, const struct step_series *steps,
			  const struct step_record *record)
{
	int64_t lines[TSI_STEP_LINE_MAX] = { 0 };

	if (add_lines(lines, steps, record))
		put_lines(cells, steps, lines);
}

/* The ranks of a run that have budgets. */
struct rank_budgets {
	const struct step_series *ranks;
	size_t *members; /* indices of those whose mean it is */
	size_t member_count;
	struct step_alignment alignment; /* of all ranks; its rows are the run's steps */
};

static bool has_budget(const struct step_series *steps)
{
	for (size_t i = 0; i < steps->count; i++)
		if (tsi_counted_budget(steps, &steps->records[i]))
			return true;
	return false;
}

static void choose_members(struct rank_budgets *budgets, size_t rank_count, bool has_devices)
{
	for (size_t i = 0; i < rank_count; i++)
		if ((budgets->ranks[i].device_count > 0) == has_devices &&
		    has_budget(&budgets->ranks[i]))
			budgets->members[budgets->member_count++] = i;
}

static void rank_budgets_init(struct rank_budgets *budgets, const struct analysis_scope *scope,
			      struct arena *scratch)
{
	*budgets = (struct rank_budgets){
		.ranks = scope->ranks,
		.members = tsi_arena_new(scratch, scope->rank_count, sizeof(*budgets->members)),
	};
	if (!budgets->members)
		return;
	choose_members(budgets, scope->rank_count, true);
	if (budgets->member_count == 0)
		choose_members(budgets, scope->rank_count, false);
	if (budgets->member_count > 0 &&
	    tsi_align(&budgets->alignment, scope->ranks, scope->rank_count,
		      scope->options->quorum_percent, NULL) != TSCOPE_OK)
		scratch->has_failed = true;
}

static void put_mean_lines(struct tscope_value *cells, const struct rank_budgets *budgets,
			   size_t step)
{
	const struct step_series *first = &budgets->ranks[budgets->members[0]];
	int64_t lines[TSI_STEP_LINE_MAX] = { 0 }, count = 0;

	for (size_t i = 0; i < budgets->member_count; i++) {
		size_t rank = budgets->members[i];
		const struct step_record *record =
			tsi_aligned(&budgets->alignment, budgets->ranks, step, rank);

		if (record && !add_lines(lines, &budgets->ranks[rank], record))
			return;
		count += record != NULL;
	}
	if (count == 0)
		return;
	tsi_divide_lines(lines, tsi_step_line_count(first), count);
	put_lines(cells, first, lines);
}

/* ---- all ---------------------------------------------------------------------------------- */

static void put_step(struct tscope_value *cells, const struct step_series *steps,
		     const struct step_record *record)
{
	cells[STEP_STEP] = tsi_int(record->number);
	if (record->mark != TSCOPE_STEP_COUNTED)
		cells[STEP_MARK] =
			tsi_text(tscope_step_mark_name((enum tscope_step_mark)record->mark));
	if ((record->has & STEP_HAS_TIME) && !steps->is_timeless)
		put_times(cells, record);
	put_scalars(cells, record);
	put_memory(cells, record);
	put_own_lines(cells, steps, record);
}

static void list_steps(struct fact_sheet *out, const struct step_series *steps,
		       const struct rank_budgets *budgets)
{
	assert(budgets->member_count == 0 || budgets->alignment.count == steps->count);
	for (size_t i = 0; i < steps->count; i++) {
		struct tscope_value *cells = tsi_table_row(out, STEPS_TABLE);
		put_step(cells, steps, &steps->records[i]);
		if (budgets->member_count)
			put_mean_lines(cells, budgets, i);
	}
}

static void fill_series(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct rank_budgets budgets = { 0 };

	if (scope->ranks)
		rank_budgets_init(&budgets, scope, tsi_sheet_scratch(out));
	if (!tsi_sheet_scratch(out)->has_failed)
		list_steps(out, scope->steps, &budgets);
	tsi_alignment_deinit(&budgets.alignment);
}

const struct analyzer tsi_analyzer_series = {
	.def = {
		.id = "series",
		.summary = "figures of every step",
		TSI_TABLES(tables),
		.needs = "a step",
	},
	.levels = LEVEL_TRACE | LEVEL_RANK | LEVEL_RUN,
	.needs_several_ranks = true,
	.fill = fill_series,
};
