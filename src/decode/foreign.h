/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_FOREIGN_H
#define TSCOPE_DECODE_FOREIGN_H

#include "base/str.h"

#include <tscope/error.h>

/*
 * Files that are not what we read but are given to us all the same. Each is named for
 * what it is, with what to do instead.
 */

/* Refuses a stream, which should have been a trace, by its first bytes. Never TSCOPE_OK. */
enum tscope_status tsi_foreign_refuse(struct str head, struct tscope_error *err);

/* Refuses a stream that should have been a file about memory. Never TSCOPE_OK. */
enum tscope_status tsi_foreign_refuse_memory(struct str head, struct tscope_error *err);

/*
 * Names a foreign file, and says what to do, by its first bytes (some kilobytes), where these show
 * a kind that tscope does not read; else NULL.
 */
const char *tsi_foreign_name_head(struct str head);

/* Names a foreign file by its path, where that shows it; else NULL. */
const char *tsi_foreign_name_path(const char *path);

/* Names a file by its path where its content was not recognised (TSCOPE_E_FORMAT). */
enum tscope_status tsi_foreign_rename(enum tscope_status status, const char *path,
				      struct tscope_error *err);

/*
 * A pstats file, a dict by tuples as Python's marshal writes it, begins with a brace, as JSON does.
 */
static inline bool tsi_is_pstats(struct str head)
{
	return tsi_str_starts(head, "{\xa9") || tsi_str_starts(head, "{)");
}

/* Do the first bytes look like those of a flight-recorder dump, as pickle or JSON? */
bool tsi_is_flight_recorder(struct str head);

/* Do the first bytes, up to TASTED_PLAIN_BYTES, look like those of a report of ours in JSON? */
bool tsi_is_saved_report(struct str head);

/* Keys and shape of a JSON document without traceEvents. */
struct json_shape {
	uint32_t keys; /* bit per row of the table of known keys in foreign.c */
	bool is_array_of_rows;
	bool is_lines; /* another document follows the first: JSON lines */
	bool is_cut;   /* the text ends inside the first */
};

void tsi_json_shape_add_key(struct json_shape *shape, struct str key);

/* Adds the keys of the document that text begins with; it may be cut anywhere. */
void tsi_json_shape_add_text(struct json_shape *shape, struct str text);

/* Do the keys show what it is, and that it is no trace? */
bool tsi_json_shape_is_known(const struct json_shape *shape);
bool tsi_json_shape_is_execution_trace(const struct json_shape *shape);

/* Refuses a JSON document by its shape. Never TSCOPE_OK. */
enum tscope_status tsi_foreign_refuse_json(const struct json_shape *shape,
					   struct tscope_error *err);

#endif
