/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RUN_STORE_H
#define TSCOPE_RUN_STORE_H

#include "input/input.h"
#include "run/steps.h"

/*
 * A store: a file in which a job keeps its own step records.
 *
 * To add one: write store_<id>.c with a `const struct store tsi_store_<id>`,
 * add STORE(<id>) to store_list.h, the file to meson.build, a test
 * tests/unit/test_store_<id>.c and the file to tscope-report(1).
 */

/* Oddities of a store, counted while it is read. */
struct store_log {
	uint64_t line_count;     /* lines that are not blank */
	uint64_t bad_line_count; /* of these, no JSON object with a step number */
	uint64_t
		bad_value_count; /* phases or bytes that are no number >= 0 (NaN, infinity, text) */
	uint64_t earlier_count;  /* records of earlier runs in the same file, left out */
	uint64_t run_count;      /* runs appended to one another; 1 usually */
	uint64_t last_run_line;  /* line (from 1) with which the last run begins */
	bool is_cut;             /* the last line is incomplete */
};

struct store {
	const char *id; /* "steps_jsonl" */
	/* How sure the first bytes (up to 64 KiB) make it, in bits verified; 0: not mine. */
	unsigned (*taste)(struct str head);
	/* Puts the last run's records into steps, which has none. Skips and counts what is bad. */
	enum tscope_status (*read)(struct input *in, struct step_series *steps,
				   struct store_log *log, struct tscope_error *err);
};

/* The store that these first bytes show, or NULL. */
const struct store *tsi_store_find(struct str head);

/*
 * run.json: rank, world_size, flops_per_step, peak_flops and provenance of a series
 * that they are not known of yet. TSCOPE_E_FORMAT: it is no JSON object (a run that was
 * killed leaves it cut), and nothing was taken.
 */
TSI_MUST_CHECK
enum tscope_status tsi_run_json_read(struct str text, struct step_series *steps,
				     struct tscope_error *err);

#endif
