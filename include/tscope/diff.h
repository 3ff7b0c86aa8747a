/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DIFF_H
#define TSCOPE_DIFF_H

#include <tscope/rules.h>
#include <tscope/run.h>

/* The sides of a comparison: what changed from A to B. */
enum tscope_side {
	TSCOPE_SIDE_A, /* before */
	TSCOPE_SIDE_B, /* after */
	TSCOPE_SIDE_COUNT,
};

#endif
