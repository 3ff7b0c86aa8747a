/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_JSON_NORMAL_H
#define TSCOPE_DECODE_JSON_NORMAL_H

#include "base/arena.h"
#include "base/str.h"

/* A growing text in an arena, which is asked at the end whether there was memory for it. */
struct json_text {
	struct arena *arena;
	char *chars;
	size_t length, capacity;
};

void tsi_json_text_add(struct json_text *text, struct str part);

/* Appends the inside of a string's quotes without its escapes. */
void tsi_json_text_add_unescaped(struct json_text *text, struct str inside);

/*
 * Appends a JSON value in the one form that all writings of it share, so that values can be
 * compared as texts: no white space, the members of objects by name (of one name the
 * last), only those escapes that must be, a real number with the fewest digits (1.0 is 1, 1e-3
 * is 0.001). The text has passed tsi_json_check(), whose depth limit bounds the recursion.
 */
void tsi_json_normalize(struct json_text *text, struct str value);

#endif
