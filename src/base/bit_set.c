/* SPDX-License-Identifier: MIT */
/* Sets of numbers as bits, whose members are counted word by word. */
#include "base/bit_set.h"

#include <stdlib.h>

#include "base/array.h"

enum tscope_status tsi_bit_set_init(struct bit_set *set, uint32_t limit, struct tscope_error *err)
{
	*set = (struct bit_set){ .word_count = limit / TSI_WORD_BITS + 1 };
	if (tsi_array_new(&set->words, set->word_count, sizeof(*set->words), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	return tsi_array_new(&set->ranks, set->word_count, sizeof(*set->ranks), err);
}

void tsi_bit_set_deinit(struct bit_set *set)
{
	free(set->words);
	free(set->ranks);
	*set = (struct bit_set){ 0 };
}

uint32_t tsi_bit_set_close(struct bit_set *set)
{
	uint32_t count = 0;

	for (size_t i = 0; i < set->word_count; i++) {
		set->ranks[i] = count;
		count += tsi_count_bits(set->words[i]);
	}
	return count;
}

uint32_t tsi_bit_set_next(const struct bit_set *set, uint32_t number)
{
	size_t at = number / TSI_WORD_BITS;

	if (at >= set->word_count)
		return UINT32_MAX;
	uint64_t word = set->words[at] & UINT64_MAX << number % TSI_WORD_BITS;
	while (word == 0) {
		if (++at == set->word_count)
			return UINT32_MAX;
		word = set->words[at];
	}
	return (uint32_t)(at * TSI_WORD_BITS) + (uint32_t)__builtin_ctzll(word);
}
