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

/* The same where it should have been about memory. */
enum tscope_status tsi_foreign_refuse_memory(struct str head, struct tscope_error *err);

/* What was seen of a JSON document that holds no traceEvents. */
struct json_shape {
	uint32_t keys; /* bit per row of the table of known keys in foreign.c */
	bool is_array_of_rows;
	bool is_lines; /* another document follows the first: JSON lines */
};

void tsi_json_shape_add_key(struct json_shape *shape, struct str key);

/* Refuses a JSON document by its shape. Never TSCOPE_OK. */
enum tscope_status tsi_foreign_refuse_json(const struct json_shape *shape,
					   struct tscope_error *err);

#endif
