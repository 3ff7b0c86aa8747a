/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_TRACE_PART_NAMES_H
#define TSCOPE_ANALYZE_TRACE_PART_NAMES_H

#include "analyze/facts.h"

enum part_kind {
	KIND_KERNEL,
	KIND_COLLECTIVE,
	KIND_COPY,
	KIND_LOADER,
	KIND_CALL,
	KIND_OPERATOR,
	KIND_FUNCTION,
	KIND_WAIT, /* a function of Python in which the host has nothing to do */
	KIND_ANNOTATION,
	KIND_NONE,
	KIND_COUNT,
};

struct named_part {
	unsigned group; /* line of the budget, or slot (timeline.h) */
	enum part_kind kind;
	const char *name;
	int64_t ns;
	int64_t count; /* pieces of time */
};

struct named_parts {
	struct named_part *items; /* by group, the largest first */
	size_t count;
};

/* The parts of the lines, or those of the causes of idle time; in the sheet's scratch memory. */
struct named_parts tsi_name_parts(const struct analysis_scope *scope, bool by_cause,
				  struct fact_sheet *out);

/* "kernel", "call" …: never NULL. */
const char *tsi_part_kind_name(enum part_kind kind);

#endif
