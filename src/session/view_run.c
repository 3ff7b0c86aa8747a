/* SPDX-License-Identifier: MIT */
/* The public face of an opened run: what include/tscope/run.h promises about it. */
#include "session/run.h"

#include "analyze/analysis.h"

#include "base/error.h"
#include "base/sum.h"
#include "run/write_steps.h"

const char *tscope_run_missing_ranks(const struct tscope_run *run)
{
	return run->missing_ranks;
}

const char *tscope_run_incomplete(const struct tscope_run *run)
{
	return run->missing_ranks ? run->missing_ranks : run->incomplete;
}

const char *tscope_run_alone(const struct tscope_run *run)
{
	return run->alone;
}

bool tscope_run_is_named(const struct tscope_run *run)
{
	return run->is_named;
}

const char *tscope_run_unsaved_ranks(const struct tscope_run *run)
{
	return run->unsaved_ranks;
}

const char *tscope_run_apart(const struct tscope_run *run)
{
	return run->apart;
}

const struct tscope_analysis *tscope_run_analysis(const struct tscope_run *run)
{
	return run->analysis;
}

size_t tscope_run_rank_count(const struct tscope_run *run)
{
	return run->ranks.count;
}

int64_t tscope_run_rank_number(const struct tscope_run *run, size_t rank)
{
	return rank < run->ranks.count ? run->ranks.series[rank].rank : -1;
}

/* Reads what was saved of its traces. */
static enum tscope_status read_rank(const struct run_rank *rank, struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;

	for (size_t i = 0; i < rank->window_count && status == TSCOPE_OK; i++)
		status = tsi_loaded_analyse(rank->windows[i], err);
	for (size_t depth = 0; depth < DEPTH_COUNT && status == TSCOPE_OK; depth++)
		if (rank->secondary[depth])
			status = tsi_loaded_analyse(rank->secondary[depth], err);
	return status;
}

static enum tscope_status analyze_rank(const struct tscope_run *run, size_t index,
				       struct tscope_error *err)
{
	struct run_rank *rank = &run->ranks.ranks[index];
	struct analysis_scope scope = {
		.steps = &run->ranks.series[index],
		.rank_memory = rank->memory.by_kind,
		.windows = rank->analyses,
		.window_count = rank->window_count,
		.options = &run->analysis_options,
	};
	enum tscope_status status = read_rank(rank, err);

	for (size_t i = 0; i < rank->window_count; i++)
		rank->analyses[i] = rank->windows[i]->analysis;
	if (status == TSCOPE_OK)
		status = tsi_analyze_level(&rank->analysis, LEVEL_RANK, &scope,
					   rank->trace ? rank->trace->analysis : NULL, err);
	if (status != TSCOPE_OK)
		return status;
	tsi_run_memory_put(&rank->memory, rank->analysis);
	tsi_attach_secondary(rank);
	return TSCOPE_OK;
}

const struct tscope_analysis *tscope_run_rank_analysis(const struct tscope_run *run, size_t rank)
{
	if (rank >= run->ranks.count)
		return NULL;
	struct tscope_error *failure = run->ranks.failure;
	if (!run->ranks.ranks[rank].analysis && analyze_rank(run, rank, failure) != TSCOPE_OK)
		return run->ranks.ranks[0].analysis;
	return run->ranks.ranks[rank].analysis;
}

void tscope_run_forget_rank(const struct tscope_run *run, size_t rank)
{
	if (rank == 0 || rank >= run->ranks.count || run->saved)
		return;
	tscope_analysis_free(run->ranks.ranks[rank].analysis);
	run->ranks.ranks[rank].analysis = NULL;
	for (size_t i = 0; i < run->ranks.ranks[rank].window_count; i++)
		tsi_loaded_forget_analysis(run->ranks.ranks[rank].windows[i]);
}

enum tscope_status tscope_run_status(const struct tscope_run *run, struct tscope_error *err)
{
	const struct tscope_error *failure = run->ranks.failure;

	if (run->waiting && tsi_analysis_status(run->waiting, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (!failure || failure->status == TSCOPE_OK)
		return tsi_arena_status(run->notes.arena, err);
	if (err)
		*err = *failure;
	return failure->status;
}

static const struct step_series *series_of(const struct tscope_run *run, size_t rank)
{
	if (rank < run->ranks.count)
		return &run->ranks.series[rank];
	return run->ranks.count == 1 ? &run->ranks.series[0] : &run->slowest;
}

size_t tscope_run_step_count(const struct tscope_run *run, size_t rank)
{
	return series_of(run, rank)->count;
}

struct tscope_run_step tscope_run_step(const struct tscope_run *run, size_t rank, size_t index)
{
	const struct step_record *record = &series_of(run, rank)->records[index];

	return (struct tscope_run_step){
		.number = record->number,
		.time_ns = record->time_ns,
		.loss = record->loss,
		.is_timed = tsi_step_is_timed(record),
		.has_loss = (record->has & STEP_HAS_LOSS) && tsi_step_is_trained(record),
	};
}

/* ---- what ranks did ---- */

size_t tscope_run_span_count(const struct tscope_run *run, size_t rank,
			     enum tscope_run_span_kind kind)
{
	const struct rank_log *log = run->world.logs ? &run->world.logs[rank] : NULL;

	if (!log)
		return 0;
	return kind == TSCOPE_RUN_STEP       ? log->step_count
	       : kind == TSCOPE_RUN_OWN_TIME ? log->point_count
					     : log->op_count;
}

static struct tscope_run_span collective_span(const struct world *world, const struct rank_log *log,
					      size_t rank, size_t index)
{
	const struct rank_op *op = &log->ops[index];
	uint32_t match = world && world->match_of_op ? world->match_of_op[rank][index] : NO_ROW;
	struct tscope_run_span span = {
		.start_ns = op->start_ns,
		.dur_ns = op->dur_ns,
		.number = match == NO_ROW ? -1 : (int64_t)match,
		.name = tsi_collective_kind_name((enum collective_kind)op->kind),
	};

	if (match != NO_ROW && world->matches[match].is_synchronising)
		span.wait_ns = op->dur_ns - world->matches[match].transfer_ns;
	return span;
}

/* The local time up to a point, which ends where the standstill before the point begins. */
static struct tscope_run_span own_span(const struct rank_point *point)
{
	struct tscope_run_span span = { 0 };

	for (int line = 0; line < TSCOPE_BUDGET_LINE_COUNT; line++) {
		span.line_ns[line] = point->line_ns[line];
		tsi_sum(&span.dur_ns, point->line_ns[line]);
	}
	span.start_ns = tsi_narrow((tsi_wide)point->time_ns - point->stall_ns - span.dur_ns);
	return span;
}

struct tscope_run_span tscope_run_span(const struct tscope_run *run, size_t rank,
				       enum tscope_run_span_kind kind, size_t index)
{
	const struct rank_log *log = &run->world.logs[rank];
	const struct world *world = run->world.world;
	struct tscope_run_span span;

	if (kind == TSCOPE_RUN_STEP)
		span = (struct tscope_run_span){ .start_ns = log->steps[index].start_ns,
						 .dur_ns = log->steps[index].wall_ns,
						 .number = log->steps[index].number };
	else if (kind == TSCOPE_RUN_OWN_TIME)
		span = own_span(&log->points[index]);
	else
		span = collective_span(world, log, rank, index);
	if (world)
		span.start_ns = tsi_world_time(world, (uint32_t)rank, span.start_ns);
	return span;
}

const char *tscope_input_kind_unit(enum tscope_input_kind kind)
{
	return kind == TSCOPE_INPUT_TRACE     ? "events"
	       : kind == TSCOPE_INPUT_STEPS   ? "lines"
	       : kind == TSCOPE_INPUT_METRICS ? "values"
	       : kind == TSCOPE_INPUT_DUMP    ? "entries"
					      : "records";
}

size_t tscope_run_input_count(const struct tscope_run *run)
{
	return run->saved ? 1 : run->members.item_count + run->hang.input_count;
}

struct tscope_run_input tscope_run_input(const struct tscope_run *run, size_t index)
{
	if (run->saved)
		return run->saved->input;
	if (index >= run->members.item_count)
		return run->hang.inputs[index - run->members.item_count];
	struct tscope_run_input input = tsi_member(&run->members, index)->input;

	input.rank = run->members.items[index].rank;
	input.window = run->members.items[index].window;
	return input;
}

size_t tscope_run_other_count(const struct tscope_run *run)
{
	return run->members.other_count;
}

size_t tscope_run_source_count(const struct tscope_run *run)
{
	return run->sources.count;
}

const char *tscope_run_source(const struct tscope_run *run, size_t index)
{
	return run->sources.items[index];
}

struct tscope_run_other tscope_run_other(const struct tscope_run *run, size_t index)
{
	return run->members.others[index].shown;
}

size_t tscope_run_note_count(const struct tscope_run *run)
{
	return run->notes.count;
}

const char *tscope_run_note(const struct tscope_run *run, size_t index)
{
	return run->notes.items[index];
}

static enum tscope_status check_stream(FILE *out, struct tscope_error *err)
{
	return ferror(out) ? tsi_fail(err, TSCOPE_E_WRITE, "cannot be written") : TSCOPE_OK;
}

enum tscope_status tscope_run_write_steps(FILE *out, const struct tscope_run *run, size_t rank,
					  struct tscope_error *err)
{
	tsi_write_steps(out, &run->ranks.series[rank]);
	return check_stream(out, err);
}

enum tscope_status tscope_run_write_meta(FILE *out, const struct tscope_run *run, size_t rank,
					 struct tscope_error *err)
{
	tsi_write_run_json(out, &run->ranks.series[rank]);
	return check_stream(out, err);
}
