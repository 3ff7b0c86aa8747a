/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_REPORT_JSON_PARTS_H
#define TSCOPE_REPORT_JSON_PARTS_H

#include "report/json_writer.h"

#include <tscope/analysis.h>
#include <tscope/gate.h>
#include <tscope/report.h>
#include <tscope/run.h>

/*
 * Shared by the JSON of a trace, of a run, of files about memory and of a comparison. Each function
 * writes members of the open object.
 */

enum { JSON_SCHEMA_VERSION = 2 };

void tsi_json_text(struct json_writer *w, const char *key, const char *text); /* NULL: null */
void tsi_json_uint(struct json_writer *w, const char *key, uint64_t value);
/* A number that is null where the input does not say. */
void tsi_json_int_if(struct json_writer *w, const char *key, bool is_known, int64_t value);
void tsi_json_value(struct json_writer *w, const char *key, struct tscope_value value);
void tsi_json_cell(struct json_writer *w, struct tscope_value value); /* without a key */

/* A key and the object or array that begins behind it; ends like any. */
void tsi_json_object(struct json_writer *w, const char *key);
void tsi_json_array(struct json_writer *w, const char *key);

/* "schema_version" and "tool": how every document begins. */
void tsi_json_head(struct json_writer *w);

/* The kinds that occurred; counts by enum tscope_diagnostic, NULL: none. */
void tsi_json_diagnostics(struct json_writer *w, const char *key, const uint64_t *counts,
			  bool only_dropped);

/* "damage": what ended the reading early, or null. */
void tsi_json_damage(struct json_writer *w, const struct tscope_error *damage);

/* "gates", in the order of the command line. */
void tsi_json_gates(struct json_writer *w, const struct tscope_gate_result *gates, size_t count);

/* "findings", the gravest first. */
void tsi_json_findings(struct json_writer *w, const struct tscope_diagnosis *diagnosis);

/* An element of "not_evaluated". */
void tsi_json_not_evaluated(struct json_writer *w, const struct tscope_not_evaluated *missed);

/*
 * "facts" of all analyzers that ran for this scope; of tables as many rows as w->rows says. Of a
 * baseline only those that are there, and tables column by column: of the whole those that rules or
 * comparisons read, of a rank those that comparisons read.
 */
void tsi_json_facts(struct json_writer *w, const struct tscope_analysis *analysis, int scope);

/* "texts" of a baseline: a number in a column of texts is an index of it. */
void tsi_json_texts(struct json_writer *w);

struct report_subject;

/* The whole document. */
void tsi_json_document(FILE *out, const struct report_subject *subject,
		       const struct tscope_report_options *options, enum json_extent extent);

#endif
