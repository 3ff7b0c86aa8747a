/* SPDX-License-Identifier: MIT */
/*
 * Interning: every event of a trace brings a name, and a gigabyte of events
 * has a few hundred different ones. The common case is therefore a hit: one
 * hash over the bytes, one probe, one compare of hash and length, one memcmp.
 *
 * Texts lie in chunks that never move, so a struct str handed out stays valid.
 */
#include "base/intern.h"

#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"

#include <stdlib.h>

struct intern_entry {
	const char *data;
	uint32_t length;
};

/* The hash stands here, so that the entries of other texts, far apart, need no look. */
struct intern_slot {
	uint32_t hash;
	uint32_t id_plus_1; /* 0: free */
};

struct intern_chunk {
	struct intern_chunk *next;
	size_t used, size;
	char bytes[];
};

enum {
	FIRST_CHUNK_BYTES = 512, /* a run of thousands of files has a set for each */
	MAX_CHUNK_BYTES = 64 * 1024,
	FIRST_SLOTS = 32, /* likewise */
};

/*
 * Ids count up: threads, correlations, "layer_17". Texts alike but for the last character begin
 * their search in one group of sixteen slots, so that of ten such texts one waits for memory where
 * the table is larger than the caches. Bits of the character that the group lacks stand in the
 * upper bits.
 */
static uint32_t hash_of(struct str text)
{
	if (text.length == 0)
		return 0;
	uint32_t last = (unsigned char)text.data[--text.length];
	return (uint32_t)tsi_hash(text) ^ (last & 15) ^ (last >> 4) << 28;
}

static enum tscope_status grow_slots(struct intern *set, struct tscope_error *err)
{
	size_t slot_count = set->slot_count ? set->slot_count * 2 : FIRST_SLOTS;
	struct intern_slot *slots;
	if (tsi_array_new(&slots, slot_count, sizeof(*slots), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < set->slot_count; i++) {
		if (!set->slots[i].id_plus_1)
			continue;
		size_t at = set->slots[i].hash & (slot_count - 1);
		while (slots[at].id_plus_1)
			at = (at + 1) & (slot_count - 1);
		slots[at] = set->slots[i];
	}
	free(set->slots);
	set->slots = slots;
	set->slot_count = slot_count;
	return TSCOPE_OK;
}

static bool holds(const struct intern *set, uint32_t id, struct str text)
{
	const struct intern_entry *entry = &set->entries[id];

	return entry->length == text.length &&
	       (text.length == 0 || memcmp(entry->data, text.data, text.length) == 0);
}

/* The slot that holds the text, or the free one where it belongs. */
static size_t find_slot(const struct intern *set, struct str text, uint32_t hash)
{
	size_t at = hash & (set->slot_count - 1);
	while (set->slots[at].id_plus_1) {
		struct intern_slot slot = set->slots[at];
		if (slot.hash == hash && holds(set, slot.id_plus_1 - 1, text))
			break;
		at = (at + 1) & (set->slot_count - 1);
	}
	return at;
}

/* The size of the next chunk: twice the last one. */
static size_t next_chunk_size(const struct intern_chunk *last, size_t needed)
{
	size_t size = last ? 2 * last->size : FIRST_CHUNK_BYTES;

	size = size < MAX_CHUNK_BYTES ? size : MAX_CHUNK_BYTES;
	return size > needed ? size : needed;
}

static char *keep_bytes(struct intern *set, struct str text)
{
	size_t needed = text.length + 1;
	struct intern_chunk *chunk = set->chunks;
	if (!chunk || chunk->size - chunk->used < needed) {
		size_t size = next_chunk_size(chunk, needed);
		chunk = malloc(sizeof(*chunk) + size);
		if (!chunk)
			return NULL;
		chunk->used = 0;
		chunk->size = size;
		chunk->next = set->chunks;
		set->chunks = chunk;
	}
	char *copy = chunk->bytes + chunk->used;
	if (text.length)
		memcpy(copy, text.data, text.length);
	copy[text.length] = '\0';
	chunk->used += needed;
	return copy;
}

enum tscope_status tsi_intern_init(struct intern *set, size_t limit, struct tscope_error *err)
{
	uint32_t empty;
	*set = (struct intern){ .limit = limit < UINT32_MAX - 1 ? limit : UINT32_MAX - 1 };
	if (grow_slots(set, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	return tsi_intern_add(set, TSI_STR(""), &empty, err);
}

void tsi_intern_deinit(struct intern *set)
{
	while (set->chunks) {
		struct intern_chunk *next = set->chunks->next;
		free(set->chunks);
		set->chunks = next;
	}
	free(set->entries);
	free(set->slots);
	*set = (struct intern){ 0 };
}

enum tscope_status tsi_intern_add(struct intern *set, struct str text, uint32_t *id,
				  struct tscope_error *err)
{
	uint32_t hash = hash_of(text);
	size_t at = find_slot(set, text, hash);
	if (tsi_likely(set->slots[at].id_plus_1)) {
		*id = set->slots[at].id_plus_1 - 1;
		return TSCOPE_OK;
	}

	if (set->count >= set->limit || text.length >= UINT32_MAX)
		return tsi_fail(err, TSCOPE_E_LIMIT, "more than %zu different names (limit: names)",
				set->limit);
	if ((set->count + 1) * 2 > set->slot_count) {
		if (grow_slots(set, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		at = find_slot(set, text, hash);
	}
	if (tsi_array_reserve(&set->entries, &set->capacity, set->count + 1, sizeof(*set->entries),
			      err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	char *copy = keep_bytes(set, text);
	if (!copy)
		return tsi_fail_nomem(err);

	set->entries[set->count] = (struct intern_entry){ copy, (uint32_t)text.length };
	*id = (uint32_t)set->count++;
	set->slots[at] = (struct intern_slot){ hash, *id + 1 };
	return TSCOPE_OK;
}

uint32_t tsi_intern_find(const struct intern *set, struct str text)
{
	size_t at = find_slot(set, text, hash_of(text));
	return set->slots[at].id_plus_1 - 1; /* of a free slot UINT32_MAX */
}

struct str tsi_intern_text(const struct intern *set, uint32_t id)
{
	return (struct str){ set->entries[id].data, set->entries[id].length };
}
