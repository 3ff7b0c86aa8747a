/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_JSON_NORMAL_H
#define TSCOPE_DECODE_JSON_NORMAL_H

#include "base/attributes.h"
#include "base/str.h"

#include <tscope/error.h>

/* A growing text; zeroed is empty, free(chars) ends it. */
struct json_text {
	char *chars;
	size_t length, capacity;
};

TSI_MUST_CHECK
enum tscope_status tsi_json_text_add(struct json_text *text, struct str part,
				     struct tscope_error *err);

/* Appends the inside of a string's quotes without its escapes. */
TSI_MUST_CHECK
enum tscope_status tsi_json_text_add_unescaped(struct json_text *text, struct str inside,
					       struct tscope_error *err);

/*
 * Appends a JSON value in the one form that all writings of it share, so that values can be
 * compared as texts: no white space, the members of objects by name (of one name the
 * last), only those escapes that must be, a real number with the fewest digits (1.0 is 1, 1e-3
 * is 0.001). The text has passed tsi_json_check(), whose depth limit bounds the recursion.
 */
TSI_MUST_CHECK
enum tscope_status tsi_json_normalize(struct json_text *text, struct str value,
				      struct tscope_error *err);

#endif
