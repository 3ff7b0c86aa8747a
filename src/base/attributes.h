/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_BASE_ATTRIBUTES_H
#define TSCOPE_BASE_ATTRIBUTES_H

/* gcc and clang extensions to C11, under descriptive names. */

#define TSI_MUST_CHECK __attribute__((warn_unused_result))
#define TSI_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define TSI_COLD __attribute__((cold, noinline))
#define TSI_NOINLINE __attribute__((noinline))
#define TSI_INLINE inline __attribute__((always_inline))

#define tsi_likely(claim) __builtin_expect(!!(claim), 1)
#define tsi_unlikely(claim) __builtin_expect(!!(claim), 0)

/* Prefetches memory that will be read soon. */
#define tsi_prefetch(place) __builtin_prefetch(place)

/* Makes the compiler forget what it knows of a variable's value. */
#define TSI_HIDE(variable) __asm__("" : "+r"(variable))

#define TSI_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* A list of names, X(ID, "text"), gives an enum and the array of texts that it indexes. */
#define TSI_NAMED_ID(id, text) id,
#define TSI_NAMED_TEXT(id, text) text,

/* In a comparison for qsort(): ends it where two values differ. */
#define TSI_ASCENDING(a, b)                                                                        \
	do {                                                                                       \
		if ((a) != (b))                                                                    \
			return (a) < (b) ? -1 : 1;                                                 \
	} while (0)
#define TSI_DESCENDING(a, b) TSI_ASCENDING(b, a)

#endif
