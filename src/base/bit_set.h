/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_BASE_BIT_SET_H
#define TSCOPE_BASE_BIT_SET_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A set of some of the numbers below a limit, a bit for each. Once all are in it, its members
 * are numbered in ascending order: what is known of them needs no room for all the others.
 *
 *	has_memory = tsi_bit_set_init(&set, NULL, limit);
 *	tsi_bit_set_add(&set, number);  …
 *	member_count = tsi_bit_set_close(&set);
 *	if (tsi_bit_set_has(&set, number))
 *		… of_member[tsi_bit_set_rank(&set, number)] …
 *	tsi_bit_set_deinit(&set);
 */
struct bit_set {
	uint64_t *words;
	uint32_t *ranks; /* by word: members in those before it */
	size_t word_count;
};

struct tscope_spill;

enum { TSI_WORD_BITS = 64 };

/* Without the processor's instruction, which not all have, the compiler would call a function. */
static inline uint32_t tsi_count_bits(uint64_t bits)
{
	bits -= (bits >> 1) & 0x5555555555555555u;
	bits = (bits & 0x3333333333333333u) + ((bits >> 2) & 0x3333333333333333u);
	bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu;
	return (uint32_t)((bits * 0x0101010101010101u) >> 56);
}

/* An empty set, in the file if it is large and there is one (base/column.h). False: no memory. */
TSI_MUST_CHECK
bool tsi_bit_set_init(struct bit_set *set, struct tscope_spill *spill, uint32_t limit);
void tsi_bit_set_deinit(struct bit_set *set); /* fine on a zeroed struct */

/* How many there are; none may be added afterwards. */
uint32_t tsi_bit_set_close(struct bit_set *set);

static inline void tsi_bit_set_add(struct bit_set *set, uint32_t number)
{
	set->words[number / TSI_WORD_BITS] |= UINT64_C(1) << number % TSI_WORD_BITS;
}

static inline bool tsi_bit_set_has(const struct bit_set *set, uint32_t number)
{
	return set->words[number / TSI_WORD_BITS] >> number % TSI_WORD_BITS & 1;
}

/* The first member that is no less than a number, or UINT32_MAX. O(1) where they are dense. */
uint32_t tsi_bit_set_next(const struct bit_set *set, uint32_t number);

/* How many members of a closed set are less than a number, which may be the limit. O(1). */
static inline uint32_t tsi_bit_set_rank(const struct bit_set *set, uint32_t number)
{
	uint64_t below = (UINT64_C(1) << number % TSI_WORD_BITS) - 1;
	uint64_t before = set->words[number / TSI_WORD_BITS] & below;

	return set->ranks[number / TSI_WORD_BITS] + tsi_count_bits(before);
}

/* The members of a set, one after the other. */
struct bit_walk {
	const uint64_t *word;
	uint64_t bits; /* of the word, those not seen yet */
	uint32_t first;
};

static inline struct bit_walk tsi_bit_set_walk(const struct bit_set *set)
{
	return (struct bit_walk){ set->words, set->words[0], 0 };
}

/* For no more members than there are. */
static inline uint32_t tsi_bit_walk_next(struct bit_walk *walk)
{
	while (!walk->bits) {
		walk->bits = *++walk->word;
		walk->first += TSI_WORD_BITS;
	}
	uint32_t member = walk->first + (uint32_t)__builtin_ctzll(walk->bits);
	walk->bits &= walk->bits - 1;
	return member;
}

#endif
