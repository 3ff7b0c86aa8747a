/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_PLAIN_PICKLE_LISTS_H
#define TSCOPE_DECODE_PLAIN_PICKLE_LISTS_H

#include "base/attributes.h"

#include <stddef.h>
#include <stdint.h>
#include <tscope/error.h>

/*
 * Lists that hold values of the memo and nothing else, as stacks hold frames. A training step
 * allocates from the same stacks as the one before it, and each time a list is written: of
 * twenty such lists nineteen and more are written with the bytes of one before. These are
 * compared, not read, and the list shares the memory of that one.
 *
 * A zeroed struct is ready. It holds up to 4096 lists, and not the longest.
 */
struct pickle_machine;

struct known_lists {
	struct known_list *slots;    /* one for each hash: the latest list that had it */
	uint32_t last, last_but_one; /* slots of the lists before */
	uint64_t learned_count, repeated_count;
	uint64_t era; /* lists of former ones are not known any more */
};

void tsi_known_lists_deinit(struct known_lists *known);

/* An entry of the memo is another value now, and the same bytes may stand for another list. */
static inline void tsi_forget_lists(struct known_lists *known)
{
	known->era++;
}

/* Where an empty list is about to get items: takes all of them, if it is known. */
void tsi_pickle_repeat_list(struct pickle_machine *m);

#endif
