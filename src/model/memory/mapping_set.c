/* SPDX-License-Identifier: MIT */
/*
 * Mappings in the order of their addresses, in leaves of up to LEAF_ITEMS: what is added or
 * taken out moves the rest of one leaf, and where a leaf comes or goes, the pointers to those
 * behind it. A process has thousands of mappings, a hostile file as many as it has records.
 */
#include "model/memory/mapping_set.h"

#include "base/array.h"
#include "base/bisect.h"

#include <stdlib.h>
#include <string.h>

enum { LEAF_ITEMS = 128 };

struct mapping_leaf {
	size_t count; /* > 0 */
	struct mapping items[LEAF_ITEMS];
};

/* A mapping, or behind the last one: leaf = leaf_count. */
struct place {
	size_t leaf, item;
};

void tsi_mapping_set_deinit(struct mapping_set *set)
{
	for (size_t i = 0; i < set->leaf_count; i++)
		free(set->leaves[i]);
	free(set->leaves);
	*set = (struct mapping_set){ 0 };
}

static bool is_behind(const struct mapping_leaf *leaf, uint64_t address)
{
	return leaf->items[leaf->count - 1].end > address;
}

/* The first mapping that ends behind an address. */
static struct place find_place(const struct mapping_set *set, uint64_t address)
{
	size_t low = 0, high = set->leaf_count, item = 0;

	TSI_BISECT(low, high, !is_behind(set->leaves[middle], address));
	if (low == set->leaf_count)
		return (struct place){ low, 0 };
	while (set->leaves[low]->items[item].end <= address)
		item++;
	return (struct place){ low, item };
}

/* Puts an empty leaf at an index. */
static bool add_leaf(struct mapping_set *set, size_t index)
{
	struct mapping_leaf *leaf;

	if (tsi_array_reserve(&set->leaves, &set->leaf_capacity, set->leaf_count + 1,
			      sizeof(struct mapping_leaf *), NULL) != TSCOPE_OK)
		return false;
	leaf = calloc(1, sizeof(*leaf));
	if (!leaf)
		return false;
	memmove(&set->leaves[index + 1], &set->leaves[index],
		(set->leaf_count - index) * sizeof(struct mapping_leaf *));
	set->leaves[index] = leaf;
	set->leaf_count++;
	return true;
}

/* Gives half of a full leaf to a new one behind it. */
static bool split_leaf(struct mapping_set *set, struct place *place)
{
	struct mapping_leaf *full = set->leaves[place->leaf], *rest;

	if (!add_leaf(set, place->leaf + 1))
		return false;
	rest = set->leaves[place->leaf + 1];
	full->count = LEAF_ITEMS / 2;
	rest->count = LEAF_ITEMS - full->count;
	memcpy(rest->items, &full->items[full->count], rest->count * sizeof(*rest->items));
	if (place->item > full->count) {
		place->leaf++;
		place->item -= full->count;
	}
	return true;
}

/* Before the mapping at the place. */
static bool insert(struct mapping_set *set, struct place place, const struct mapping *mapping)
{
	struct mapping_leaf *leaf;

	if (set->leaf_count == 0 && !add_leaf(set, 0))
		return false;
	if (place.leaf == set->leaf_count) {
		place.leaf--;
		place.item = set->leaves[place.leaf]->count;
	}
	if (set->leaves[place.leaf]->count == LEAF_ITEMS && !split_leaf(set, &place))
		return false;
	leaf = set->leaves[place.leaf];
	memmove(&leaf->items[place.item + 1], &leaf->items[place.item],
		(leaf->count - place.item) * sizeof(*leaf->items));
	leaf->items[place.item] = *mapping;
	leaf->count++;
	return true;
}

static void take_out(struct mapping_set *set, struct place place)
{
	struct mapping_leaf *leaf = set->leaves[place.leaf];

	leaf->count--;
	memmove(&leaf->items[place.item], &leaf->items[place.item + 1],
		(leaf->count - place.item) * sizeof(*leaf->items));
	if (leaf->count > 0)
		return;
	free(leaf);
	set->leaf_count--;
	memmove(&set->leaves[place.leaf], &set->leaves[place.leaf + 1],
		(set->leaf_count - place.leaf) * sizeof(struct mapping_leaf *));
}

bool tsi_mapping_add(struct mapping_set *set, const struct mapping *mapping)
{
	return insert(set, find_place(set, mapping->begin), mapping);
}

struct mapping_cut tsi_mapping_cut(struct mapping_set *set, uint64_t begin, uint64_t end)
{
	struct place place = find_place(set, begin);
	struct mapping *mapping, left;
	struct mapping_cut cut = { 0 };

	if (place.leaf == set->leaf_count ||
	    set->leaves[place.leaf]->items[place.item].begin >= end)
		return cut;
	mapping = &set->leaves[place.leaf]->items[place.item];
	left = cut.piece = *mapping;
	cut.is_any = true;
	if (left.begin < begin)
		cut.piece.begin = begin;
	if (left.end > end)
		cut.piece.end = end;
	cut.more = (left.begin < cut.piece.begin) + (cut.piece.end < left.end) - 1;
	if (cut.more < 0)
		take_out(set, place);
	else if (cut.piece.end < left.end)
		mapping->begin = cut.piece.end;
	else
		mapping->end = cut.piece.begin;
	left.end = cut.piece.begin;
	cut.has_failed = cut.more > 0 && !insert(set, place, &left);
	return cut;
}
