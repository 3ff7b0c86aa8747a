/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_REPORT_SINK_H
#define TSCOPE_REPORT_SINK_H

#include "base/attributes.h"
#include "base/str.h"

#include <stdio.h>

/*
 * Where a format goes that has markup of its own. Texts of an input pass through an escape: what
 * is unsafe (utf8.h) or no character of XML becomes visible (\x1b, \u202e), and each ASCII
 * character that the target reads as markup its substitute.
 */
struct sink {
	FILE *out; /* NULL: bytes are only counted */
	size_t count;
};

struct escape {
	const char *special;            /* "<>&" */
	const char *const *substitutes; /* of each of them */
};

/* Text of ours. */
void tsi_sink_put(struct sink *sink, const char *text);
TSI_PRINTF(2, 3) void tsi_sink_print(struct sink *sink, const char *format, ...);

/* Text of an input, or words that may hold some. */
void tsi_sink_escape(struct sink *sink, const struct escape *escape, struct str text);

#endif
