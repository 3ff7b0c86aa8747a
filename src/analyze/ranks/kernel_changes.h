/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_RANKS_KERNEL_CHANGES_H
#define TSCOPE_ANALYZE_RANKS_KERNEL_CHANGES_H

#include "comm/rank_log.h"

/*
 * Why the kernels of one rank take longer than those of another, a step: the difference of their
 * time, by name and without communication, taken apart. Where ranks have no devices, operators
 * stand in for kernels.
 */
struct kernel_changes {
	double excess_ns; /* the next three sum to it */
	double work_ns;   /* more calls, and more blocks in a call */
	double longer_ns; /* calls of equal size that last longer */
	double other_ns;  /* of names that only one of them has */
	double calls, usual_calls;
	double expected_ns;  /* this rank's calls of common names, if each lasted as is usual */
	double longer_ratio; /* by how much they last longer: longer_ns by that */
	double even_share;   /* of that, in kernels that last longer by half of that or more */
	size_t even_count;   /* such kernels */
	/* The kernel with most of longer_ns: its part, and by how much its calls last longer. */
	struct str longest;
	double longest_ns, longest_ratio;
};

void tsi_kernel_changes(struct kernel_changes *changes, const struct rank_log *rank,
			const struct rank_log *usual);

#endif
