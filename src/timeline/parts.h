/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TIMELINE_PARTS_H
#define TSCOPE_TIMELINE_PARTS_H

#include "base/pair_set.h"
#include "base/sum.h"
#include "timeline/timeline.h"

/* The part that a name's time went to last, of slots that take turns. */
struct recent_part {
	uint32_t slot;
	uint32_t number_and_1; /* 0: none yet */
	uint32_t call;         /* of a call, kept with its operator's name: its own name, and 1 */
};

enum { RECENT_PARTS = 4 }; /* for each name */

/*
 * Collects what the lines of the budgets are made of while the budgets are computed: each
 * piece of time goes to the part that its row belongs to, so there is no record per event.
 *
 *	struct part_collector parts;
 *	tsi_parts_begin(&parts, timeline);
 *	tsi_part_add(&parts, step, slot, row, length_ns); …
 */
struct part_collector {
	struct tscope_timeline *timeline;
	struct pair_set keys[TSI_PART_SLOTS]; /* distinguishes the parts of a slot, by number */
	struct pair_set groups;               /* process groups: (name, description) */
	struct recent_part *recent; /* by name id × RECENT_PARTS: of parts that have it as key */
	unsigned comm_slot;         /* whose parts are identified by their collectives */
	bool has_failed;            /* then what is added is lost */
};

/* Takes its memory from timeline->scratch. */
void tsi_parts_begin(struct part_collector *parts, struct tscope_timeline *timeline);

static inline struct recent_part *tsi_recent_part(const struct part_collector *parts, uint32_t name,
						  unsigned slot)
{
	return &parts->recent[RECENT_PARTS * (size_t)name + slot % RECENT_PARTS];
}

/* tsi_part_add() of what is not the same part as before, or needs a look at the row's record. */
void tsi_part_add_other(struct part_collector *parts, unsigned slot, uint32_t row,
			int64_t length_ns);

/*
 * Time of a step that a slot got on account of a row (NO_ROW: none is to be named); of steps
 * that do not count it is left out. Amortised O(1).
 */
static inline void tsi_part_add(struct part_collector *parts, uint32_t step, unsigned slot,
				uint32_t row, int64_t length_ns)
{
	struct tscope_timeline *timeline = parts->timeline;
	const struct spans *spans = &timeline->trace->spans;

	if (timeline->steps[step].mark != TSCOPE_STEP_COUNTED || parts->has_failed)
		return;
	if (row != NO_ROW && tsi_span_class(spans, row) != TSCOPE_SPAN_RUNTIME &&
	    slot != parts->comm_slot) {
		const struct recent_part *recent =
			tsi_recent_part(parts, tsi_name_id(spans, row), slot);
		if (tsi_likely(recent->number_and_1 && recent->slot == slot && !recent->call)) {
			struct time_part *part =
				&timeline->parts[slot].items[recent->number_and_1 - 1];
			tsi_sum(&part->ns, length_ns);
			part->count++;
			return;
		}
	}
	tsi_part_add_other(parts, slot, row, length_ns);
}

#endif
