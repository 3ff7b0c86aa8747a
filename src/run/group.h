/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RUN_GROUP_H
#define TSCOPE_RUN_GROUP_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tscope/error.h>

enum run_item_kind {
	RUN_ITEM_STEPS, /* in the order in which those of one rank stand */
	RUN_ITEM_TRACE,
	RUN_ITEM_SECONDARY, /* set: a trace of a rank whose steps a deeper one provides */
	RUN_ITEM_METRICS,
	RUN_ITEM_MEMORY,
};

/* A file that was read, as far as it matters for its place in the run. */
struct run_item {
	size_t file; /* the caller's index of it */
	const char *path;
	enum run_item_kind kind;
	int64_t rank;             /* that it or its name says, or -1 */
	int64_t start_ns, end_ns; /* of a trace; Unix time where it says so */
	unsigned char depth;      /* of a trace: of those of a rank the deepest gives the steps */
	uint32_t writer;          /* set: equal for traces of one process; only to number them */
	unsigned window;          /* set: traces of a rank and depth count from 0, by time */
	bool is_stray;            /* set: its rank is unknown, while others say theirs */
	bool is_apart;            /* set: metrics of a rank of which there are no steps */
	const char *rival;        /* set: another file that claims its rank; it is a stray then */
};

enum group_note {
	GROUP_AS_SAID,
	GROUP_NUMBERED, /* no file says its rank: processes were numbered in the order of names */
};

/*
 * Finds the rank of the items that do not say it, and sorts all by rank, step
 * records first, then by time. An item without a rank belongs to the only rank
 * of its folder or, failing that, of the run. Where nobody says a rank,
 * processes (by file name) that ran at the same time are ranks 0, 1 …, and anything else
 * is windows of one rank, which stays -1. Strays stand last.
 *
 * Several profilers may record one rank at one time. The traces of the deepest are those of the
 * rank; what is not as deep is a secondary trace, stands behind them and contradicts nobody.
 *
 * Files about memory stand behind all others but the strays. They decide nothing about
 * these where these say a rank, contradict nobody and are never strays. One that says no rank
 * belongs to the only one of its folder, or of the nearest above it where any is said; else it
 * keeps -1. Where only they say a rank, and just one, it is that of all.
 *
 * Metrics decide as little beside traces or step records; one that says no rank gets it in the
 * same way, else the lowest, where loggers write. They stand behind the others of their rank;
 * where there are none, among those about memory, apart. Without traces and step records the
 * ranks that they say are those of the run.
 *
 * A folder that gives one of either its rank (node1/rank0) counts for less than what traces and
 * step records in it say themselves, where that is one rank.
 *
 * TSCOPE_E_DAMAGED: two files claim one rank: traces that overlap in time, or two
 * files of step records. The message names them. Where so few ranks are claimed twice that a
 * quorum is left, all files of such a rank are strays instead.
 */
TSI_MUST_CHECK
enum tscope_status tsi_group_items(struct run_item *items, size_t count, unsigned quorum_percent,
				   enum group_note *note, struct tscope_error *err);

#endif
