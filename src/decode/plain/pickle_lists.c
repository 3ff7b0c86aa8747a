/* SPDX-License-Identifier: MIT */
/* Lists of a pickle that are written with the same bytes as one before. */
#include "decode/plain/pickle_lists.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "decode/plain/pickle_machine.h"

enum {
	SLOT_COUNT = 1 << 12,
	SHORTEST = 16, /* bytes; what is shorter is read as fast */
	LONGEST = 4096,
};

struct known_list {
	char *bytes; /* the opcodes that push its items; behind them stands APPENDS */
	size_t length, capacity;
	uint64_t era;
	uint32_t list;
	uint32_t next; /* of two other lists, whose slots give this one: the slot that followed */
};

void tsi_known_lists_deinit(struct known_lists *known)
{
	for (size_t i = 0; known->slots && i < SLOT_COUNT; i++)
		free(known->slots[i].bytes);
	free(known->slots);
	*known = (struct known_lists){ 0 };
}

/* BINGET and LONG_BINGET in a row, if APPENDS follows; else nothing. */
static struct str find_items(const struct pickle_machine *m)
{
	const char *at = m->at;
	const char *end = m->end - at > LONGEST ? at + LONGEST : m->end;

	while (end - at > LONGEST_USUAL) {
		if (*at == LONG_BINGET)
			at += 5;
		else if (*at == BINGET)
			at += 2;
		else
			break;
	}
	if (at == end || *at != APPENDS)
		return (struct str){ m->at, 0 };
	return (struct str){ m->at, (size_t)(at - m->at) };
}

/* Takes the items that come, if they are written as those of the slot and still mean the same. */
static bool repeat(struct pickle_machine *m, uint32_t list, const struct known_list *slot)
{
	if (slot->length == 0 || slot->era != m->known_lists.era ||
	    (size_t)(m->end - m->at) <= slot->length || m->at[slot->length] != APPENDS ||
	    memcmp(m->at, slot->bytes, slot->length) != 0 ||
	    !tsi_graph_share_items(m->out, list, slot->list))
		return false;
	m->at += slot->length;
	m->known_lists.repeated_count++;
	return true;
}

/* The list is about to get these items. */
static void learn(struct pickle_machine *m, uint32_t list, struct str items,
		  struct known_list *slot)
{
	if (tsi_array_reserve(&slot->bytes, &slot->capacity, items.length, 1, &m->err) != TSCOPE_OK)
		return;
	memcpy(slot->bytes, items.data, items.length);
	slot->length = items.length;
	slot->era = m->known_lists.era;
	slot->list = list;
	m->known_lists.learned_count++;
}

/*
 * Training goes round: four of five times a list is the one that came after the same two the
 * last time, and then none of its bytes is looked at but to compare them.
 */
static void take(struct pickle_machine *m, uint32_t list)
{
	struct known_lists *known = &m->known_lists;
	uint32_t *next = &known->slots[(3 * known->last + known->last_but_one) % SLOT_COUNT].next;

	if (!repeat(m, list, &known->slots[*next])) {
		struct str items = find_items(m);
		if (items.length < SHORTEST)
			return;
		*next = (uint32_t)(tsi_hash(items) % SLOT_COUNT);
		if (!repeat(m, list, &known->slots[*next]))
			learn(m, list, items, &known->slots[*next]);
	}
	known->last_but_one = known->last;
	known->last = *next;
}

/* To learn a list costs as much as to read it, and a file may have no two that are the same. */
static bool is_worth_it(const struct known_lists *known)
{
	return known->learned_count < SLOT_COUNT + known->repeated_count;
}

void tsi_pickle_repeat_list(struct pickle_machine *m)
{
	struct known_lists *known = &m->known_lists;

	if (m->depth == 0 || !is_worth_it(known))
		return;
	uint32_t list = m->stack[m->depth - 1];
	if (tsi_word_tag(list) != WORD_LIST || *tsi_graph_content(m->out, list) != 0)
		return;
	if (known->slots ||
	    tsi_array_new(&known->slots, SLOT_COUNT, sizeof(*known->slots), &m->err) == TSCOPE_OK)
		take(m, list);
}
