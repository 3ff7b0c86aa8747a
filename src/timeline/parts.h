/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TIMELINE_PARTS_H
#define TSCOPE_TIMELINE_PARTS_H

#include "base/pair_set.h"
#include "timeline/timeline.h"

/* The part that a name's time went to last. */
struct recent_part {
	uint32_t line;
	uint32_t number_and_1; /* 0: none yet */
};

/*
 * Collects what the lines of the budgets are made of while the budgets are computed: each
 * piece of time goes to the part that its row belongs to, so there is no record per event.
 *
 *	struct part_collector parts;
 *	tsi_parts_begin(&parts, timeline, err);
 *	tsi_part_add(&parts, step, line, row, length_ns); …
 *	status = tsi_parts_end(&parts);
 */
struct part_collector {
	struct tscope_timeline *timeline;
	struct pair_set keys[TSI_PART_LINES]; /* what tells the parts of a line apart, by number */
	struct pair_set groups;               /* process groups: (name, description) */
	struct recent_part *recent;           /* by name id: of parts that have it as their key */
	enum tscope_status status;            /* of the first that failed: later ones do nothing */
	struct tscope_error *err;
};

void tsi_parts_begin(struct part_collector *parts, struct tscope_timeline *timeline,
		     struct tscope_error *err);

/*
 * Time of a step that a line got on account of a row (NO_ROW: none is to be named); of steps
 * that do not count it is left out. Amortised O(1).
 */
void tsi_part_add(struct part_collector *parts, uint32_t step, unsigned line, uint32_t row,
		  int64_t length_ns);

/* Frees the collector. Fails where one of the pieces found no memory. */
TSI_MUST_CHECK
enum tscope_status tsi_parts_end(struct part_collector *parts);

#endif
