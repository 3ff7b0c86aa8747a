/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_JSON_H
#define TSCOPE_DECODE_JSON_H

#include "base/attributes.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <tscope/error.h>

/*
 * JSON that lies in memory as a whole: an event's args, a metadata value.
 * Pull style: the reader's code reads like the grammar of what it expects.
 *
 *	struct json_cursor members;
 *	struct str key, value;
 *	tsi_json_object_open(&members, event->args);
 *	while (tsi_json_object_next(&members, &key, &value))
 *		if (tsi_str_is(key, "correlation"))
 *			tsi_json_to_int64(value, &correlation);
 *
 * A value is handed out as its text: with its quotes for a string, its braces
 * for an object. Nothing is decoded until one of the tsi_json_to_… is called.
 * The readers are lenient: on text that is no JSON the iteration just ends.
 */
enum { JSON_KEY_MAX = 128 };

struct json_cursor {
	const char *at, *end;
	char key[JSON_KEY_MAX]; /* of a member whose key is written with escapes */
};

/* Begins with the first member of the object `text`; text that is no object has none. */
void tsi_json_object_open(struct json_cursor *members, struct str text);

/*
 * The next member: its key as of tsi_json_plain_key(), valid until the next one; value as text.
 * False at the end.
 */
bool tsi_json_object_next(struct json_cursor *members, struct str *key, struct str *value);

/*
 * A key without its escapes ("\u0070h" is "ph"), where it is plain ASCII and fits; else as it is
 * written. Unescaping what is returned changes nothing more.
 */
struct str tsi_json_plain_key(struct str key, char text[JSON_KEY_MAX]);

/* The value of a member, or the empty text. The last one wins. O(length). */
struct str tsi_json_object_get(struct str text, struct str key);

/* The items of an array, as the members of an object. */
void tsi_json_array_open(struct json_cursor *items, struct str text);
bool tsi_json_array_next(struct json_cursor *items, struct str *value);

/* The closing quote of the string whose text begins at p, or end where there is none. */
const char *tsi_json_string_end(const char *p, const char *end);

/* True for a text that begins with a quote. */
bool tsi_json_is_string(struct str value);

/* The inside of a string's quotes, still escaped; any other value as it stands. */
struct str tsi_json_unquote(struct str value);

/* Number, quoted or not, to integer (fractions cut off): false for what is none or does not fit. */
bool tsi_json_to_int64(struct str value, int64_t *number);
bool tsi_json_to_uint64(struct str value, uint64_t *number);
bool tsi_json_to_double(struct str value, double *number);

/*
 * Microseconds as decimal text ("1704161511420306.491", "12", "1e3", quoted or
 * not) to nanoseconds, exactly; more than three decimals are rounded to the
 * nearest (halves up in magnitude). False for what is no number or beyond int64.
 */
bool tsi_json_to_ns(struct str value, int64_t *ns);

/* Seconds ("0.012345678", "1.5e-05") to nanoseconds, as exactly. */
bool tsi_json_seconds_to_ns(struct str value, int64_t *ns);

/*
 * Writes the text inside a string's quotes without its escapes as UTF-8 to
 * out, which has room for text.length bytes (never needs more); returns the length.
 * \ud83d\ude00 pairs are joined, lone surrogates become U+FFFD, \u0000 too, and a backslash
 * that escapes nothing stands for itself and is counted in *bad_escapes.
 */
size_t tsi_json_unescape(struct str text, char *out, uint64_t *bad_escapes);

/*
 * Checks that text is exactly one JSON value (RFC 8259, plus the bare words NaN, Infinity,
 * -Infinity and trailing commas). On failure err has the offset. depth_limit: deepest nesting.
 */
TSI_MUST_CHECK
enum tscope_status tsi_json_check(struct str text, unsigned depth_limit, struct tscope_error *err);

#endif
