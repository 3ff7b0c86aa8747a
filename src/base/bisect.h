/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_BASE_BISECT_H
#define TSCOPE_BASE_BISECT_H

/*
 * Moves low up to the first index of [low, high) that a condition does not hold for, or to high.
 * The condition holds for all indices before it and for none behind; it is an expression that
 * calls the index `middle`. O(log(high - low)).
 *
 *	uint32_t low = track->first, high = track->first + track->count;
 *
 *	TSI_BISECT(low, high, tsi_start_ns(spans, middle) < t_ns);
 */
#define TSI_BISECT(low, high, holds)                                                               \
	do {                                                                                       \
		while ((low) < (high)) {                                                           \
			__typeof__(low) middle = (low) + ((high) - (low)) / 2;                     \
			if (holds)                                                                 \
				(low) = middle + 1;                                                \
			else                                                                       \
				(high) = middle;                                                   \
		}                                                                                  \
	} while (0)

#endif
