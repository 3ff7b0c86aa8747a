/* SPDX-License-Identifier: MIT */
/*
 * Matching in three rounds: items of both sides that have the same key (name, normal name,
 * launcher) make a pair and leave.
 */
#include "diff/work_match.h"

#include <stdlib.h>
#include <string.h>

#include "diff/kernel_name.h"

enum { NORMAL_NAME_BYTES = 1024 };

struct keyed {
	const char *key; /* NULL: the item takes no part in this round */
	size_t index;    /* those of B behind those of A */
};

struct matcher {
	const struct work_item *a, *b;
	size_t a_count;
	struct work_pairs pairs;
	size_t a_used, b_used; /* of the lists of pairs */
	struct keyed *items;   /* not yet matched */
	size_t count;
	struct arena keys;
};

static int by_key(const void *left, const void *right)
{
	const struct keyed *a = left, *b = right;
	int order = a->key && b->key ? strcmp(a->key, b->key) : !a->key - !b->key;

	return order ? order : (a->index > b->index) - (a->index < b->index);
}

static const char *find_key(struct matcher *matcher, enum work_match match, size_t index)
{
	const struct work_item *item = index < matcher->a_count
					       ? &matcher->a[index]
					       : &matcher->b[index - matcher->a_count];
	char normal[NORMAL_NAME_BYTES];

	if (match == WORK_BY_LAUNCHER)
		return item->launcher;
	if (match == WORK_BY_NAME)
		return item->name;
	if (item->is_plain)
		return NULL;
	struct str text = { normal, tsi_normal_kernel_name(item->name, normal, sizeof(normal)) };
	return tsi_arena_copy(&matcher->keys, text);
}

static void add_pair(struct matcher *matcher, enum work_match match, size_t begin, size_t end)
{
	struct work_pairs *pairs = &matcher->pairs;
	struct work_pair *pair = &pairs->pairs[pairs->count++];

	*pair = (struct work_pair){
		.match = match,
		.a_first = matcher->a_used,
		.b_first = matcher->b_used,
		.place = matcher->items[begin].index,
	};
	for (size_t i = begin; i < end; i++) {
		size_t index = matcher->items[i].index;
		if (index < matcher->a_count)
			pairs->a_items[matcher->a_used++] = index;
		else
			pairs->b_items[matcher->b_used++] = index - matcher->a_count;
	}
	pair->a_count = matcher->a_used - pair->a_first;
	pair->b_count = matcher->b_used - pair->b_first;
}

/* Whether both sides have an item in [begin, end), whose keys are equal. A's come first. */
static bool is_match(const struct matcher *matcher, size_t begin, size_t end)
{
	return matcher->items[begin].key && matcher->items[begin].index < matcher->a_count &&
	       matcher->items[end - 1].index >= matcher->a_count;
}

static bool have_same_key(const struct keyed *a, const struct keyed *b)
{
	return a->key && b->key ? strcmp(a->key, b->key) == 0 : a->key == b->key;
}

/* Pairs what has the same key on both sides; the others stay. */
static void match_round(struct matcher *matcher, enum work_match match)
{
	struct keyed *items = matcher->items;
	size_t left = 0;

	for (size_t i = 0; i < matcher->count; i++)
		items[i].key = find_key(matcher, match, items[i].index);
	qsort(items, matcher->count, sizeof(*items), by_key);
	for (size_t begin = 0, end; begin < matcher->count; begin = end) {
		for (end = begin + 1; end < matcher->count; end++)
			if (!have_same_key(&items[begin], &items[end]))
				break;
		if (is_match(matcher, begin, end)) {
			add_pair(matcher, match, begin, end);
			continue;
		}
		for (size_t i = begin; i < end; i++)
			items[left++] = items[i];
	}
	matcher->count = left;
}

static int by_place(const void *left, const void *right)
{
	const struct work_pair *a = left, *b = right;

	return (a->place > b->place) - (a->place < b->place);
}

struct work_pairs tsi_work_match(const struct work_item *a, size_t a_count,
				 const struct work_item *b, size_t b_count, struct arena *arena)
{
	struct matcher matcher = { .a = a, .b = b, .a_count = a_count, .count = a_count + b_count };
	struct work_pairs *pairs = &matcher.pairs;

	pairs->pairs = tsi_arena_new(arena, matcher.count, sizeof(*pairs->pairs));
	pairs->a_items = tsi_arena_new(arena, a_count, sizeof(*pairs->a_items));
	pairs->b_items = tsi_arena_new(arena, b_count, sizeof(*pairs->b_items));
	matcher.items = tsi_arena_new(arena, matcher.count, sizeof(*matcher.items));
	if (!matcher.items)
		return (struct work_pairs){ 0 };
	for (size_t i = 0; i < matcher.count; i++)
		matcher.items[i].index = i;
	for (int match = WORK_BY_NAME; match < WORK_UNMATCHED; match++)
		match_round(&matcher, (enum work_match)match);
	for (size_t i = 0; i < matcher.count; i++)
		add_pair(&matcher, WORK_UNMATCHED, i, i + 1);
	qsort(pairs->pairs, pairs->count, sizeof(*pairs->pairs), by_place);
	arena->has_failed |= matcher.keys.has_failed;
	tsi_arena_deinit(&matcher.keys);
	return *pairs;
}

const char *tsi_work_match_name(enum work_match match)
{
	static const char *const names[] = { WORK_MATCHES(TSI_NAMED_TEXT) };

	return names[match];
}
