/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DIFF_CHANGE_POINTS_H
#define TSCOPE_DIFF_CHANGE_POINTS_H

#include "base/arena.h"

/*
 * Where the level of a figure changed for good, in runs one after the other. The runs are split
 * where Student's t of both halves is largest; the split counts if it is significant with all
 * places in mind where it could have been, and each part is split again. One odd run is no change:
 * each level has three runs or more, and a run far from the two on either side counts as their
 * median.
 *
 * A level that is left again after few runs may hide: no single split shows it.
 *
 * Called a change by chance: 4 in 1000 histories whose runs vary independently.
 */
#define CHANGE_POINT_ALPHA 0.004

enum { CHANGE_POINT_MIN_RUNS = 8, CHANGE_POINT_MIN_LEVEL = 3 };

struct change_point {
	size_t first;            /* the first run of the new level, most likely */
	size_t earliest, latest; /* it is one of these, with a confidence of 95 % */
	double before, after;    /* means of the levels */
	double p_value;
};

struct change_points {
	struct change_point *items; /* in the order of runs */
	size_t count;
};

/* comparisons: of how many figures this is asked. None of fewer than CHANGE_POINT_MIN_RUNS. */
struct change_points tsi_change_points(const double *values, size_t count, size_t comparisons,
				       struct arena *arena);

#endif
