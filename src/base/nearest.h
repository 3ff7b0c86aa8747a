/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_BASE_NEAREST_H
#define TSCOPE_BASE_NEAREST_H

#include "base/str.h"

/*
 * Suggestion for a name that does not exist: the known name that differs in the fewest letters.
 *
 *	struct nearest nearest = { .word = word };
 *
 *	for (size_t i = 0; i < count; i++)
 *		tsi_nearest_consider(&nearest, names[i]);
 *	if (nearest.name)
 *		... "did you mean %s?"
 */
struct nearest {
	struct str word;
	const char *name; /* of those considered; NULL: none is near */
	size_t distance;  /* letters in which it differs */
};

/* name: borrowed. Upper and lower case are the same; of equally near names the first stays. */
void tsi_nearest_consider(struct nearest *nearest, const char *name);

#endif
