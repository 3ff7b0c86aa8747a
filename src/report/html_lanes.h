/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_REPORT_HTML_LANES_H
#define TSCOPE_REPORT_HTML_LANES_H

#include "base/arena.h"
#include "base/intern.h"
#include "report/json_writer.h"

#include <tscope/run.h>
#include <tscope/trace.h>

/*
 * The timeline that the page draws: lanes of slices, as many as a browser draws at once. Slices
 * that are too short are joined with their neighbours to blocks that say how many they are and how
 * long they ran; those that are long enough are all there, so the longest is never lost.
 */

/* Kind of a slice, for its colour: the lines of the budget, then host activity. */
enum slice_tone {
	SLICE_OPERATOR = TSCOPE_BUDGET_LINE_COUNT,
	SLICE_ANNOTATION,
	SLICE_CALL,
	SLICE_PYTHON,
	SLICE_OTHER,
	SLICE_STEP,
	SLICE_WAIT,
};

struct slice {
	int64_t start_ns, dur_ns;
	int64_t busy_ns;    /* of a block: what its slices took */
	int64_t longest_ns; /* of a block: the one that names it */
	int64_t wait_ns;    /* of a collective */
	uint32_t name;      /* id in lanes.names */
	uint32_t count;     /* 1, or those of the block */
	uint32_t match;     /* of a collective, the same on all ranks; or UINT32_MAX */
	uint8_t tone, depth;
};

enum { LANE_MAX_DEPTH = 64 };

struct lanes {
	struct json_writer *w;
	struct arena arena;
	struct intern names;
	struct slice *slices; /* of the lane in progress */
	size_t slice_count, slice_capacity;
	struct slice blocks[LANE_MAX_DEPTH]; /* in progress, by depth; count 0: none */
	int64_t origin_ns;                   /* starts are written from here on */
	int64_t least_ns;                    /* shorter slices are joined */
	int64_t block_ns;                    /* no block is longer */
	uint64_t total, kept;
	bool has_failed; /* no memory: names are missing */
};

/* How long the slices are, by powers of two, and when the first begins and the last ends. */
enum { LENGTH_CLASSES = 64 };

struct slice_lengths {
	uint64_t counts[LENGTH_CLASSES], count;
	int64_t first_ns, last_ns;
};

void tsi_count_slice(struct slice_lengths *lengths, int64_t start_ns, int64_t dur_ns);

/*
 * Opens "timeline" and its "lanes", of which no more than `limit` slices are drawn by themselves;
 * false: nothing to draw, or no memory, as the writer says. The end writes the names and closes
 * both.
 */
TSI_MUST_CHECK
bool tsi_lanes_begin(struct lanes *lanes, struct json_writer *w,
		     const struct slice_lengths *lengths, size_t limit);
void tsi_lanes_end(struct lanes *lanes);

/* Appends "timeline" to the open object where there is anything to draw. */
void tsi_html_trace_lanes(struct json_writer *w, const struct tscope_analysis *analysis,
			  size_t limit);
void tsi_html_run_lanes(struct json_writer *w, const struct tscope_run *run, size_t limit);

/* Appends "tree": host operators and annotations as they call each other (html_tree.c). */
void tsi_html_tree(struct json_writer *w, const struct tscope_trace *trace);

/* Begins a lane; adds slices in the order of starts; ends it. */
void tsi_lane_begin(struct lanes *lanes, const char *group, const char *label);
void tsi_lane_add(struct lanes *lanes, const struct slice *slice);
void tsi_lane_end(struct lanes *lanes);

/* The id of a name; 0 without memory. */
uint32_t tsi_lane_name(struct lanes *lanes, const char *name);

#endif
