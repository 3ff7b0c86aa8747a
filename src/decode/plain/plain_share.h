/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_PLAIN_PLAIN_SHARE_H
#define TSCOPE_DECODE_PLAIN_PLAIN_SHARE_H

#include "decode/plain/plain_graph.h"

/*
 * Lists and dicts of which equal ones become one object. A snapshot in JSON spells out each
 * frame of each stack, a hundred times what its pickle has, which refers to those it has written.
 * A zeroed struct is ready.
 */
struct plain_share {
	struct share_slot *slots; /* open addressing */
	size_t count, slot_count; /* a power of two, or 0 */
};

void tsi_share_deinit(struct plain_share *share);

/*
 * The object that holds these words, items or pairs as the tag says: one that came before, else
 * a new one. Nothing may be added to it later. 0: the graph has failed.
 */
uint32_t tsi_share_object(struct plain_share *share, struct plain *plain, enum word_tag tag,
			  const uint32_t *words, size_t count);

#endif
