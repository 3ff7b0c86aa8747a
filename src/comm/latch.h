/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_COMM_LATCH_H
#define TSCOPE_COMM_LATCH_H

#include "base/arena.h"
#include "base/intern.h"
#include "base/sort.h"

/* Sets and sorts whose failure an arena remembers as its own. */

/* The id of a text in a set, which may be zeroed at first; 0 without memory. */
uint32_t tsi_latch_text(struct arena *arena, struct intern *set, struct str text);

/* tsi_sort_pairs() with room of its own. */
void tsi_latch_sort(struct arena *arena, struct sort_pair *items, size_t count);

/* tsi_sort_numbers() with room of its own. */
void tsi_latch_sort_numbers(struct arena *arena, int64_t *items, size_t count);

/* `count` indices, all NO_ROW; NULL without memory. */
TSI_MUST_CHECK
uint32_t *tsi_latch_rows(struct arena *arena, size_t count);

/* Frees an arena whose failure is this one's as well. */
void tsi_latch_deinit(struct arena *arena, struct arena *scratch);

/* How many of sorted pairs have this key or a lower one. O(log count). */
size_t tsi_count_up_to(const struct sort_pair *pairs, size_t count, uint64_t key);

#endif
