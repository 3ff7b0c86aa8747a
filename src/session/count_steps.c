/* SPDX-License-Identifier: MIT */
/*
 * The numbers of steps that no trace says. Each trace counts its own from 0, so those of a later
 * window would be taken for those of an earlier one: they go on where that ended.
 */
#include "session/run.h"

#include "base/ckd.h"

/* Why the numbers of steps may surprise. */
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
static bool count_on(const struct run_members *members, size_t first, size_t end)
{
	int64_t next = 0; /* behind the highest number so far */
	bool goes_on = false;

	for (size_t i = first; i < end; i++) {
		struct loaded *loaded = tsi_member(members, i);
		struct step_series *steps = &loaded->steps;

		if (members->items[i].kind != RUN_ITEM_TRACE || steps->count == 0)
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
static bool is_joined(const struct run_members *members, size_t first, size_t end)
{
	bool is_counted = false, has_others = false;

	for (size_t i = first; i < end; i++) {
		enum run_item_kind kind = members->items[i].kind;

		is_counted |= kind == RUN_ITEM_TRACE && tsi_member(members, i)->steps.is_counted;
		has_others |= kind == RUN_ITEM_STEPS || kind == RUN_ITEM_METRICS;
	}
	return is_counted && has_others;
}

void tsi_count_steps(const struct run_members *members, struct run_notes *notes)
{
	struct counting counting = { 0 };

	for (size_t first = 0, end; first < members->step_item_count; first = end) {
		end = tsi_end_of_rank(members, first);
		counting.goes_on |= count_on(members, first, end);
		counting.is_joined |= is_joined(members, first, end);
	}
	if (counting.goes_on)
		tsi_run_note(notes, "traces that do not number their steps are windows of one "
				    "rank: their steps were counted from 0, in the order of time");
	else if (counting.is_joined)
		tsi_run_note(notes, "a trace does not number its steps: they were counted from "
				    "0, and joined by this to records or metrics");
}
