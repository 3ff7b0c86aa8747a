/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_RECORDS_MEMRAY_LINES_H
#define TSCOPE_DECODE_RECORDS_MEMRAY_LINES_H

#include "base/attributes.h"
#include "base/str.h"

#include <tscope/error.h>

/*
 * Line tables of Python's code objects: which line an instruction belongs to. Each is decoded
 * once, into ranges of instructions, so that any of its lines is found quickly.
 */
struct memray_line {
	uint32_t end; /* the first offset behind it, as frames count offsets */
	int32_t line; /* 0: none */
};

struct memray_lines {
	struct memray_line *items; /* of all tables, one behind the other */
	size_t count, capacity;
};

struct memray_line_range {
	int32_t first_line; /* where the function begins */
	size_t first, count;
};

/*
 * Decodes a table of the version of Python (PY_VERSION_HEX) that made it, for a function that
 * begins at range->first_line, into range. Broken data ends it: there are no lines from there on.
 * Fails with TSCOPE_E_LIMIT or _NOMEM, and fills err.
 */
enum tscope_status tsi_memray_lines_add(struct memray_lines *lines, int32_t python_version,
					struct str text, struct memray_line_range *range,
					struct tscope_error *err);
void tsi_memray_lines_deinit(struct memray_lines *lines);

/* The line at an instruction's offset (< 0: the function has not begun), or 0. */
int32_t tsi_memray_lines_find(const struct memray_lines *lines, struct memray_line_range range,
			      int32_t offset);

#endif
