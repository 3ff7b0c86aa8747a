/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_BASE_BIT_SET_H
#define TSCOPE_BASE_BIT_SET_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tscope/error.h>

/*
 * A set of few among many numbers below a limit, a bit for each. Once all are in it, its members
 * are numbered in ascending order: what is known of them needs no room for all the others.
 *
 *	status = tsi_bit_set_init(&set, limit, err);
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

enum { TSI_WORD_BITS = 64 };

TSI_MUST_CHECK
enum tscope_status tsi_bit_set_init(struct bit_set *set, uint32_t limit, struct tscope_error *err);
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

/* The number of a member of a closed set. O(1). */
static inline uint32_t tsi_bit_set_rank(const struct bit_set *set, uint32_t member)
{
	uint64_t below = (UINT64_C(1) << member % TSI_WORD_BITS) - 1;
	uint64_t before = set->words[member / TSI_WORD_BITS] & below;

	return set->ranks[member / TSI_WORD_BITS] + (uint32_t)__builtin_popcountll(before);
}

#endif
