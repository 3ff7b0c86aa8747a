/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_REPORT_UTF8_H
#define TSCOPE_REPORT_UTF8_H

#include "base/str.h"

/* Code points of texts that an input chose, and what may be done with each. */

#define UTF8_INVALID UINT32_MAX

/* Is it shown as it is, in one column? Of ASCII only, of which nearly all texts are. */
static inline bool tsi_utf8_is_plain(char c)
{
	return c >= ' ' && c <= '~';
}

/* How many plain characters a text begins with. */
static inline size_t tsi_utf8_plain_length(struct str text)
{
	size_t length = 0;

	while (length < text.length && tsi_utf8_is_plain(text.data[length]))
		length++;
	return length;
}

/*
 * Takes the next code point off the front of *rest, which must not be empty.
 * Bytes that are no UTF-8 (overlong forms and surrogates included) are taken
 * one at a time, each as UTF8_INVALID.
 */
uint32_t tsi_utf8_next(struct str *rest);

/*
 * May it not be shown as it is? True of controls (C0, DEL, C1), of marks that
 * turn the direction of writing, of line and paragraph separators, of what is
 * invisible and of UTF8_INVALID: a name could move the cursor, hide a part of
 * itself or forge a line of the report.
 */
bool tsi_utf8_is_unsafe(uint32_t code_point);

/* Columns of a terminal that a safe code point takes: 0 (combining), 1, or 2 (East Asian wide). */
unsigned tsi_utf8_columns(uint32_t code_point);

#endif
