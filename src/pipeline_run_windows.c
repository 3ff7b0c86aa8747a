/* SPDX-License-Identifier: MIT */
/*
 * The numbers of steps that no trace says. Each trace counts its own from 0, so those of a later
 * window would be taken for those of an earlier one: they go on where that ended.
 */
#include "pipeline_run.h"

#include "base/ckd.h"
#include "pipeline_load.h"

/* What was found of the run's ranks. */
struct counting {
	bool goes_on;   /* steps of a window are counted on from those of another */
	bool is_joined; /* counted steps are joined to others by these numbers */
};

static int64_t shifted(int64_t number, int64_t by)
{
	int64_t sum;

	return tsi_ckd_add(&sum, number, by) ? number : sum;
}

static void shift_numbers(struct loaded *loaded, int64_t by)
{
	struct step_series *steps = &loaded->steps;
	struct rank_log *log = &loaded->log;

	for (size_t i = 0; i < steps->count; i++)
		steps->records[i].number = shifted(steps->records[i].number, by);
	for (size_t i = 0; i < log->step_count; i++)
		log->steps[i].number = shifted(log->steps[i].number, by);
	for (size_t i = 0; i < log->op_count; i++)
		if (log->ops[i].step != NO_NUMBER)
			log->ops[i].step = shifted(log->ops[i].step, by);
}

/* The trace items [first, end) of a rank, in the order of time. */
static bool count_on(struct tscope_run *run, size_t first, size_t end)
{
	int64_t next = 0; /* behind the highest number so far */
	bool goes_on = false;

	for (size_t i = first; i < end; i++) {
		struct loaded *loaded = &run->loaded[run->items[i].file];
		struct step_series *steps = &loaded->steps;

		if (run->items[i].kind != RUN_ITEM_TRACE || steps->count == 0)
			continue;
		if (steps->is_counted && next > steps->records[0].number) {
			shift_numbers(loaded, next - steps->records[0].number);
			goes_on = true;
		}
		for (size_t j = 0; j < steps->count; j++)
			if (steps->records[j].number >= next)
				next = shifted(steps->records[j].number, 1);
	}
	return goes_on;
}

/* Are counted steps of this rank joined to its records or metrics? */
static bool is_joined(const struct tscope_run *run, size_t first, size_t end)
{
	bool is_counted = false, has_others = false;

	for (size_t i = first; i < end; i++) {
		enum run_item_kind kind = run->items[i].kind;

		is_counted |=
			kind == RUN_ITEM_TRACE && run->loaded[run->items[i].file].steps.is_counted;
		has_others |= kind == RUN_ITEM_STEPS || kind == RUN_ITEM_METRICS;
	}
	return is_counted && has_others;
}

enum tscope_status tsi_run_count_steps(struct tscope_run *run, struct tscope_error *err)
{
	struct counting counting = { 0 };

	for (size_t first = 0, end; first < run->step_item_count; first = end) {
		for (end = first + 1; end < run->step_item_count; end++)
			if (run->items[end].rank != run->items[first].rank)
				break;
		counting.goes_on |= count_on(run, first, end);
		counting.is_joined |= is_joined(run, first, end);
	}
	if (counting.goes_on)
		return tsi_run_add_note(run, err,
					"traces that do not number their steps are windows of one "
					"rank: their steps were counted from 0, in the order of "
					"time");
	if (counting.is_joined)
		return tsi_run_add_note(run, err,
					"a trace does not number its steps: they were counted from "
					"0, and joined by this to records or metrics");
	return TSCOPE_OK;
}
