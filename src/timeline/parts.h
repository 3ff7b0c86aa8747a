/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TIMELINE_PARTS_H
#define TSCOPE_TIMELINE_PARTS_H

#include "base/pair_set.h"
#include "base/sum.h"
#include "timeline/timeline.h"

/* The part that a name's time went to last, of compute or of another line: they take turns. */
struct recent_part {
	uint32_t line;
	uint32_t number_and_1; /* 0: none yet */
};

/*
 * Collects what the lines of the budgets are made of while the budgets are computed: each
 * piece of time goes to the part that its row belongs to, so there is no record per event.
 *
 *	struct part_collector parts;
 *	tsi_parts_begin(&parts, timeline);
 *	tsi_part_add(&parts, step, line, row, length_ns); …
 */
struct part_collector {
	struct tscope_timeline *timeline;
	struct pair_set keys[TSI_PART_LINES]; /* what tells the parts of a line apart, by number */
	struct pair_set groups;               /* process groups: (name, description) */
	struct recent_part *recent; /* by name id × 2: of parts that have it as their key */
	unsigned comm_line;         /* whose parts are told by their collectives */
	bool has_failed;            /* then what is added is lost */
};

/* Takes its memory from timeline->scratch. */
void tsi_parts_begin(struct part_collector *parts, struct tscope_timeline *timeline);

/* tsi_part_add() of what is not the same part as before, or needs a look at the row's record. */
void tsi_part_add_other(struct part_collector *parts, unsigned line, uint32_t row,
			int64_t length_ns);

/*
 * Time of a step that a line got on account of a row (NO_ROW: none is to be named); of steps
 * that do not count it is left out. Amortised O(1).
 */
static inline void tsi_part_add(struct part_collector *parts, uint32_t step, unsigned line,
				uint32_t row, int64_t length_ns)
{
	struct tscope_timeline *timeline = parts->timeline;
	const struct spans *spans = &timeline->trace->spans;

	if (timeline->steps[step].mark != TSCOPE_STEP_COUNTED || parts->has_failed)
		return;
	if (row != NO_ROW && tsi_span_class(spans, row) != TSCOPE_SPAN_RUNTIME &&
	    line != parts->comm_line) {
		const struct recent_part *recent =
			&parts->recent[2 * (size_t)tsi_name_id(spans, row) + (line > 0)];
		if (tsi_likely(recent->number_and_1 && recent->line == line)) {
			tsi_sum(&timeline->parts[line].items[recent->number_and_1 - 1].ns,
				length_ns);
			return;
		}
	}
	tsi_part_add_other(parts, line, row, length_ns);
}

#endif
