/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_SAVED_REPORT_H
#define TSCOPE_ANALYZE_SAVED_REPORT_H

#include "base/attributes.h"
#include "base/str.h"
#include "input/input.h"

#include <tscope/analysis.h>

/* The "schema_version" that is written, and read. */
enum { SAVED_SCHEMA_VERSION = 2 };

enum { SAVED_DAMAGE_CHARS = 480 };

/*
 * A report that was saved as JSON (tscope report, trace or memory, --format json), read back: its
 * facts and tables fill analyses that answer as those that were computed do. Facts that this
 * version does not know are passed over; those that the report has not are absent.
 */
struct saved_rank {
	int64_t number; /* -1: not said */
	struct tscope_analysis *analysis;
};

struct saved_report {
	char saved_by[64];                /* "tscope 0.1.0" */
	uint64_t source_bytes, bytes;     /* of the file, decompressed */
	char compression[32];             /* "none", "gzip" ... */
	struct tscope_analysis *analysis; /* of the whole */
	struct saved_rank *ranks; /* ascending; one at least, whose analysis may be the whole's */
	size_t rank_count;
	char alone[64];        /* as tscope_run_alone(), or "" */
	bool is_named;         /* as tscope_run_is_named() */
	size_t left_out_ranks; /* further ranks of the run, of which it holds nothing */
	bool is_cut; /* a ranking holds fewer rows than its facts count: saved without --full */
	/* Damage to the files that it was made of: "PATH: what, and 2 more", or "". */
	char damage[SAVED_DAMAGE_CHARS];
	uint64_t dropped_count; /* events, lines or records of these that no figure has */
};

/*
 * Reads one from `in`. TSCOPE_E_DAMAGED: no JSON, or cut, or ranks that stand twice; _UNSUPPORTED:
 * of a later schema_version, of several inputs (traces[], files[]), or a comparison; _FORMAT: no
 * report; _LIMIT: more than SAVED_MAX_VALUES. On failure it may be deinited.
 */
TSI_MUST_CHECK
enum tscope_status tsi_saved_report_read(struct saved_report *ret, struct input *in,
					 struct tscope_error *err);
void tsi_saved_report_deinit(struct saved_report *report); /* fine on a zeroed struct */

#endif
