/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_PLAIN_PICKLE_TEXT_H
#define TSCOPE_DECODE_PLAIN_PICKLE_TEXT_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Values as protocol 0 writes them: in lines of text. False is for what Python did not write. */

enum pickle_integer {
	PICKLE_INTEGER,
	PICKLE_NO_INTEGER,
	PICKLE_LARGE_INTEGER, /* its magnitude does not fit into uint64 */
};

/* A decimal integer: its magnitude, and whether a minus stands before it. */
enum pickle_integer tsi_pickle_parse_integer(struct str text, bool *is_negative,
					     uint64_t *magnitude);

/* Parses repr() of a float: "0.1", "1e+16", "inf", "nan". */
bool tsi_pickle_parse_real(struct str text, double *number);

/*
 * A text in Python's raw-unicode-escape (Latin-1 with \uXXXX and \UXXXXXXXX) as UTF-8. out has
 * room for 2 * text.length bytes, which suffices.
 */
bool tsi_pickle_unescape_unicode(struct str text, char *out, size_t *length);

/* A repr() of Python 2's str: quotes off, escapes undone. out has room for text.length bytes. */
bool tsi_pickle_unescape_string(struct str text, char *out, size_t *length);

#endif
