/* SPDX-License-Identifier: MIT */
/* The public face of an opened run: what include/tscope/run.h promises about it. */
#include "session/run.h"

#include "base/error.h"
#include "run/write_steps.h"

const char *tscope_run_missing_ranks(const struct tscope_run *run)
{
	return run->missing_ranks;
}

const char *tscope_run_incomplete(const struct tscope_run *run)
{
	return run->missing_ranks ? run->missing_ranks : run->incomplete;
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

const struct tscope_analysis *tscope_run_rank_analysis(const struct tscope_run *run, size_t rank)
{
	return rank < run->ranks.count ? run->ranks.ranks[rank].analysis : NULL;
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
	return run->members.item_count + run->hang.input_count;
}

struct tscope_run_input tscope_run_input(const struct tscope_run *run, size_t index)
{
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
