/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_MODULES_CALLERS_H
#define TSCOPE_ANALYZE_MODULES_CALLERS_H

#include "analyze/analyzer.h"
#include "analyze/modules/module_groups.h"

/*
 * The user's functions behind operators, runtime calls and copies: of each of these, by name, the
 * functions that caused it in the steps that count.
 */
enum caller_kind { CALLER_OPERATOR, CALLER_COPY, CALLER_CALLS /* + enum call_kind */ };

struct caller_sums {
	int64_t count;
	int64_t host_ns;    /* in operators themselves, in calls */
	int64_t device_ns;  /* of what they launched; of copies */
	int64_t exposed_ns; /* of copies, while no kernel of their device ran */
};

struct caller {
	uint32_t kind;   /* enum caller_kind */
	uint32_t name;   /* ids of texts: of the operator, call or copy */
	uint32_t op;     /* of a call that waits or allocates, that it was made in; 0: none */
	uint32_t source; /* of the function; 0: outside of the user's code */
	uint32_t group;  /* innermost of modules that has more than half of it; 0: none */
	struct caller_sums sums;
	int64_t ns;        /* device_ns, or host_ns where none of these caused device work */
	bool is_by_device; /* the first of these */
	int64_t all_ns;    /* of all functions that caused it */
};

struct callers {
	struct caller *items;
	size_t count;
};

/* In the order in which they first came. The arena says whether memory ran out. */
struct callers tsi_find_callers(const struct analysis_scope *scope,
				const struct module_groups *groups, struct arena *arena);

#endif
