/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_REPORT_JSON_WRITER_H
#define TSCOPE_REPORT_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <tscope/report.h>

#include "base/real.h"

/*
 * Writes JSON, laid out for people: two blanks a level, rows of a table on one
 * line each. The writer knows where commas and line ends belong; the caller
 * only says what comes next. Names of the functions: jw, JSON writer.
 *
 *	struct json_writer w = { .out = stdout };
 *
 *	tsi_jw_object(&w);
 *	tsi_jw_key(&w, "count");
 *	tsi_jw_int(&w, 2);
 *	tsi_jw_end_object(&w);
 *
 * All of it has reached the stream when the outermost object or array ends; errors of the stream
 * are left to ferror().
 */
/* Extent of facts: see tsi_json_facts(). */
enum json_extent {
	JSON_ALL,
	JSON_BASELINE,      /* what comparisons read, and no blanks */
	JSON_BASELINE_RANK, /* the same of one of several ranks */
};

/*
 * At most so many rows are written of a ranking, of each group in a ranking by groups, and of other
 * tables; 0: all.
 */
struct json_rows {
	size_t rankings, groups, lists;
};

struct intern;

struct json_writer {
	FILE *out;
	enum json_extent extent;
	struct json_rows rows, part_rows; /* of the whole; of each rank and device */
	enum tscope_report_ranks ranks;   /* as in tscope_report_options */
	bool all_rows;
	struct intern *texts; /* of a baseline: what its tables name by numbers; NULL: none */
	unsigned depth;
	unsigned row_depth; /* depth of the row in progress, which stands on one line; 0: none */
	bool has_items;     /* the innermost object or array is not empty */
	bool has_key;       /* the next item belongs to the key just written */
	double last_real;   /* and its text: in sorted rows the same share often comes again */
	char last_text[REAL_TEXT_MAX];
	bool has_failed; /* memory ran out: what is written is not whole */
	size_t pending_count;
	char pending[1024]; /* not in the stream yet */
};

void tsi_jw_object(struct json_writer *w);
void tsi_jw_row(struct json_writer *w); /* an object on one line; ends like any object */
void tsi_jw_end_object(struct json_writer *w);
void tsi_jw_array(struct json_writer *w);
void tsi_jw_row_array(struct json_writer *w); /* an array on one line */
void tsi_jw_end_array(struct json_writer *w);

/* Keys are ours: plain ASCII without anything to escape; or texts as below. */
void tsi_jw_key(struct json_writer *w, const char *key);
void tsi_jw_text_key(struct json_writer *w, const char *text);

/*
 * Any bytes up to the NUL: bytes that are no UTF-8 become U+FFFD, and what
 * tsi_utf8_is_unsafe() of utf8.h names is escaped, so that a report is safe to
 * show in a terminal. NULL: null.
 */
void tsi_jw_text(struct json_writer *w, const char *text);
void tsi_jw_int(struct json_writer *w, int64_t value);
void tsi_jw_uint(struct json_writer *w, uint64_t value);
void tsi_jw_real(struct json_writer *w, double value); /* finite; the shortest decimal */
void tsi_jw_us(struct json_writer *w, int64_t ns);     /* exactly: 12.345 */
void tsi_jw_flag(struct json_writer *w, bool flag);
void tsi_jw_null(struct json_writer *w);

#endif
