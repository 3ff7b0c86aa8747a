/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TIMELINE_DEVICE_WALK_H
#define TSCOPE_TIMELINE_DEVICE_WALK_H

#include "model/trace/device_rows.h"
#include "timeline/build.h"
#include "timeline/host_state.h"
#include "timeline/parts.h"
#include "timeline/pieces.h"

/* A stretch of time in which a device runs nothing, until a row starts; NO_ROW: until the end. */
struct idle_gap {
	int64_t start_ns;
	uint32_t row;
};

struct idle_gaps {
	struct idle_gap *items; /* in order */
	size_t count, capacity;
};

/* Shared by the passes over the devices. */
struct device_walk {
	struct tscope_timeline *timeline;
	struct idle_gaps *gaps; /* by device index */
	struct first_uses uses;
	struct host_state host;
	struct interval_set busy; /* of all devices; made when first needed */
	bool has_busy;
	int64_t *waits_ns; /* starts of calls that make a stream wait for the host, in order */
	size_t wait_count;
	bool has_waits;
};

/*
 * The host waited for the device to run dry: dispatch up to end_ns is that call's, because it would
 * have been done while the device was busy.
 */
struct refill {
	int64_t end_ns; /* 0: it did not wait */
	uint32_t row;   /* of the call */
	uint8_t cause;  /* enum idle_cause, of the call */
};

struct budget_walk { /* over the time of one device, in order */
	struct tscope_timeline *timeline;
	struct device_walk *devices;
	struct part_collector *parts;
	struct piece_collector pieces;
	uint32_t *others; /* rows of the device that are no kernels, in order */
	size_t other_count, other_capacity;
	uint32_t device;
	struct step_cutter cutter;
	size_t piece_of_thread[MAX_LAUNCHERS]; /* that was looked at last */
	size_t overhead, peer;                 /* asides that were looked at last */
	struct interval_cursor lost;           /* work that the trace lacks */
	struct refill refill;                  /* of the gap that is divided */
	uint32_t track, inside;         /* the thread that decides, and what it is in; or NO_ROW */
	struct gap_parts *parts_of_gap; /* of a gap that may be among the longest; else NULL */
};

/* tsi_charge() for the slots that most pieces go to. */
static inline void tsi_charge_inline(struct budget_walk *walk, struct interval piece, unsigned slot,
				     uint32_t row)
{
	const struct tscope_timeline *timeline = walk->timeline;
	enum tscope_budget_line line = tsi_line_of_slot(slot);
	struct line_piece charged = { .line = (uint8_t)line };
	uint32_t step;
	int64_t length_ns;

	if (slot == TSCOPE_BUDGET_COMPUTE)
		charged.phase = tsi_device_event(timeline->trace, row)->phase;
	tsi_cut(&walk->cutter, piece.start_ns, piece.end_ns);
	while (tsi_cut_next(&walk->cutter, &step, &length_ns)) {
		struct budget *budget =
			&timeline->budgets[step * timeline->trace->device_count + walk->device];
		budget->line_ns[line] += length_ns;
		if (slot == TSCOPE_BUDGET_COMPUTE)
			budget->compute_phase_ns[charged.phase] += length_ns;
		else if (slot >= TSI_IDLE_SLOT)
			budget->idle_ns[slot - TSI_IDLE_SLOT] += length_ns;
		tsi_part_add(walk->parts, step, slot, row, length_ns);
		if (tsi_likely(!walk->pieces.to))
			continue;
		if (slot >= TSI_IDLE_SLOT && timeline->keeps_causes)
			charged.phase = (uint8_t)(slot - TSI_IDLE_SLOT);
		charged.end_ns = walk->cutter.start_ns; /* what is behind it is left */
		charged.start_ns = charged.end_ns - length_ns;
		tsi_piece_add(&walk->pieces, &charged);
	}
}

/* Gives a piece of time to a slot (timeline.h). row: the event that it is charged to, or NO_ROW. */
void tsi_charge(struct budget_walk *walk, struct interval piece, unsigned slot, uint32_t row);

static inline int64_t tsi_clamp_time(int64_t t_ns, int64_t low_ns, int64_t high_ns)
{
	return t_ns < low_ns ? low_ns : t_ns > high_ns ? high_ns : t_ns;
}

/* idle_hosts.c: finds what the threads did in the gaps. */
void tsi_find_idle_hosts(struct device_walk *devices);

/* idle_walk.c: gives the gaps of the device to their causes. */
void tsi_charge_gaps(struct budget_walk *walk);

#endif
