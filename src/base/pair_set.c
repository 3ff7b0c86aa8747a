/* SPDX-License-Identifier: MIT */
/*
 * A hash table of pairs of ids, so that tables by two and more keys can be
 * filled in one pass, each row found in O(1).
 */
#include "base/pair_set.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"

enum { FIRST_SLOTS = 64 };

void tsi_pair_set_deinit(struct pair_set *set)
{
	free(set->pairs);
	free(set->slots);
	*set = (struct pair_set){ 0 };
}

/* Doubles the slots when half of them are taken. */
static enum tscope_status make_room(struct pair_set *set, struct tscope_error *err)
{
	if (2 * set->count < set->slot_count)
		return TSCOPE_OK;

	size_t slot_count = set->slot_count ? 2 * set->slot_count : FIRST_SLOTS;
	uint32_t *slots;
	if (tsi_array_new(&slots, slot_count, sizeof(*slots), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	free(set->slots);
	set->slots = slots;
	set->slot_count = slot_count;
	for (size_t i = 0; i < set->count; i++)
		*tsi_pair_set_slot(set, set->pairs[i]) = (uint32_t)i + 1;
	return TSCOPE_OK;
}

enum tscope_status tsi_pair_set_insert(struct pair_set *set, struct pair pair, uint32_t *number,
				       struct tscope_error *err)
{
	if (make_room(set, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (tsi_array_reserve(&set->pairs, &set->capacity, set->count + 1, sizeof(*set->pairs),
			      err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	*number = (uint32_t)set->count;
	*tsi_pair_set_slot(set, pair) = *number + 1;
	set->pairs[set->count++] = pair;
	return TSCOPE_OK;
}
