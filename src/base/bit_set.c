/* SPDX-License-Identifier: MIT */
/* Sets of numbers as bits, whose members are counted word by word. */
#include "base/bit_set.h"

#include "base/column.h"

bool tsi_bit_set_init(struct bit_set *set, struct tscope_spill *spill, uint32_t limit)
{
	*set = (struct bit_set){ .word_count = limit / TSI_WORD_BITS + 1 };
	set->words = tsi_column_new(spill, set->word_count * sizeof(*set->words));
	set->ranks = tsi_column_new(spill, set->word_count * sizeof(*set->ranks));
	return set->words && set->ranks;
}

void tsi_bit_set_deinit(struct bit_set *set)
{
	tsi_column_free(set->words);
	tsi_column_free(set->ranks);
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
