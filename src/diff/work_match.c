/* SPDX-License-Identifier: MIT */
/*
 * Matching in three rounds: items of both sides that have the same key (name, normal name,
 * launcher) make a pair and leave. A key is the number of an interned text, and those of one key
 * come together by a stable sort, so an order of the input is the order of the output.
 */
#include "diff/work_match.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/intern.h"
#include "base/sort.h"
#include "diff/kernel_name.h"

enum { NORMAL_NAME_BYTES = 1024 };

static const uint32_t no_key = UINT32_MAX; /* of an item that this round has nothing for */

struct matcher {
	const struct work_item *a, *b;
	size_t a_count, b_count;
	struct work_pairs *ret;
	size_t a_used, b_used;   /* of ret's lists */
	struct intern texts;     /* of one round */
	struct sort_pair *items; /* not yet matched: key and index, those of B behind those of A */
	struct sort_pair *scratch;
	size_t count;
};

static void matcher_deinit(struct matcher *matcher)
{
	tsi_intern_deinit(&matcher->texts);
	free(matcher->items);
	free(matcher->scratch);
}

static enum tscope_status matcher_init(struct matcher *matcher, struct tscope_error *err)
{
	struct work_pairs *ret = matcher->ret;
	size_t count = matcher->a_count + matcher->b_count;

	if (tsi_array_new(&ret->pairs, count, sizeof(*ret->pairs), err) != TSCOPE_OK ||
	    tsi_array_new(&ret->a_items, matcher->a_count, sizeof(*ret->a_items), err) !=
		    TSCOPE_OK ||
	    tsi_array_new(&ret->b_items, matcher->b_count, sizeof(*ret->b_items), err) !=
		    TSCOPE_OK ||
	    tsi_array_new(&matcher->items, count, sizeof(*matcher->items), err) != TSCOPE_OK ||
	    tsi_array_new(&matcher->scratch, count, sizeof(*matcher->scratch), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	matcher->count = count;
	for (size_t i = 0; i < count; i++)
		matcher->items[i].value = i;
	return TSCOPE_OK;
}

static const struct work_item *item_at(const struct matcher *matcher, size_t index)
{
	return index < matcher->a_count ? &matcher->a[index]
					: &matcher->b[index - matcher->a_count];
}

static enum tscope_status find_key(struct matcher *matcher, enum work_match match,
				   const struct work_item *item, uint32_t *key,
				   struct tscope_error *err)
{
	char normal[NORMAL_NAME_BYTES];
	struct str text = tsi_str_of(item->name);

	if (match == WORK_BY_NORMAL_NAME) {
		text.length = tsi_normal_kernel_name(item->name, normal, sizeof(normal));
		text.data = normal;
	} else if (match == WORK_BY_LAUNCHER) {
		*key = no_key;
		if (!item->launcher)
			return TSCOPE_OK;
		text = tsi_str_of(item->launcher);
	}
	return tsi_intern_add(&matcher->texts, text, key, err);
}

/* Gives all items their keys and sorts them by it. */
static enum tscope_status sort_by_key(struct matcher *matcher, enum work_match match,
				      struct tscope_error *err)
{
	uint32_t key = no_key;

	tsi_intern_deinit(&matcher->texts);
	enum tscope_status status = tsi_intern_init(&matcher->texts, matcher->count + 1, err);
	for (size_t i = 0; status == TSCOPE_OK && i < matcher->count; i++) {
		struct sort_pair *item = &matcher->items[i];
		status = find_key(matcher, match, item_at(matcher, item->value), &key, err);
		item->key = key;
	}
	if (status == TSCOPE_OK)
		tsi_sort_pairs(matcher->items, matcher->scratch, matcher->count);
	return status;
}

static void add_pair(struct matcher *matcher, enum work_match match, size_t begin, size_t end)
{
	struct work_pairs *ret = matcher->ret;
	struct work_pair *pair = &ret->pairs[ret->count++];

	*pair = (struct work_pair){
		.match = match,
		.a_first = matcher->a_used,
		.b_first = matcher->b_used,
	};
	for (size_t i = begin; i < end; i++) {
		size_t index = matcher->items[i].value;
		if (index < matcher->a_count)
			ret->a_items[matcher->a_used++] = index;
		else
			ret->b_items[matcher->b_used++] = index - matcher->a_count;
	}
	pair->a_count = matcher->a_used - pair->a_first;
	pair->b_count = matcher->b_used - pair->b_first;
}

/* Do both sides have an item in [begin, end), whose keys are equal? Those of A stand first. */
static bool is_match(const struct matcher *matcher, size_t begin, size_t end)
{
	return matcher->items[begin].key != no_key &&
	       matcher->items[begin].value < matcher->a_count &&
	       matcher->items[end - 1].value >= matcher->a_count;
}

/* Pairs what has the same key on both sides; the others stay, in the order of their sides. */
static enum tscope_status match_round(struct matcher *matcher, enum work_match match,
				      struct tscope_error *err)
{
	size_t left = 0;
	enum tscope_status status = sort_by_key(matcher, match, err);

	if (status != TSCOPE_OK)
		return status;
	for (size_t begin = 0, end; begin < matcher->count; begin = end) {
		for (end = begin + 1; end < matcher->count; end++)
			if (matcher->items[end].key != matcher->items[begin].key)
				break;
		if (is_match(matcher, begin, end)) {
			add_pair(matcher, match, begin, end);
			continue;
		}
		for (size_t i = begin; i < end; i++)
			matcher->items[left++] = (struct sort_pair){ matcher->items[i].value,
								     matcher->items[i].value };
	}
	matcher->count = left;
	tsi_sort_pairs(matcher->items, matcher->scratch, left);
	return TSCOPE_OK;
}

/* Puts the pairs into the order of their first items. */
static enum tscope_status order_pairs(struct matcher *matcher, struct tscope_error *err)
{
	struct work_pairs *ret = matcher->ret;
	struct work_pair *ordered;

	if (tsi_array_new(&ordered, ret->count, sizeof(*ordered), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < ret->count; i++) {
		const struct work_pair *pair = &ret->pairs[i];
		size_t first = pair->a_count ? ret->a_items[pair->a_first]
					     : matcher->a_count + ret->b_items[pair->b_first];
		matcher->items[i] = (struct sort_pair){ first, i };
	}
	tsi_sort_pairs(matcher->items, matcher->scratch, ret->count);
	for (size_t i = 0; i < ret->count; i++)
		ordered[i] = ret->pairs[matcher->items[i].value];
	free(ret->pairs);
	ret->pairs = ordered;
	return TSCOPE_OK;
}

enum tscope_status tsi_work_match(struct work_pairs *ret, const struct work_item *a, size_t a_count,
				  const struct work_item *b, size_t b_count,
				  struct tscope_error *err)
{
	struct matcher matcher = {
		.a = a, .b = b, .a_count = a_count, .b_count = b_count, .ret = ret
	};
	enum tscope_status status;

	*ret = (struct work_pairs){ 0 };
	status = matcher_init(&matcher, err);
	for (int match = WORK_BY_NAME; status == TSCOPE_OK && match < WORK_UNMATCHED; match++)
		status = match_round(&matcher, (enum work_match)match, err);
	for (size_t i = 0; status == TSCOPE_OK && i < matcher.count; i++)
		add_pair(&matcher, WORK_UNMATCHED, i, i + 1);
	if (status == TSCOPE_OK)
		status = order_pairs(&matcher, err);
	matcher_deinit(&matcher);
	return status;
}

void tsi_work_pairs_deinit(struct work_pairs *pairs)
{
	free(pairs->pairs);
	free(pairs->a_items);
	free(pairs->b_items);
	*pairs = (struct work_pairs){ 0 };
}

const char *tsi_work_match_name(enum work_match match)
{
	static const char *const names[] = {
		[WORK_BY_NAME] = "name",
		[WORK_BY_NORMAL_NAME] = "normalised_name",
		[WORK_BY_LAUNCHER] = "launcher",
		[WORK_UNMATCHED] = "none",
	};

	return names[match];
}
