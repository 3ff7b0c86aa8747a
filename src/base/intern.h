/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_BASE_INTERN_H
#define TSCOPE_BASE_INTERN_H

#include "base/attributes.h"
#include "base/str.h"

#include <tscope/error.h>

/*
 * A set of texts, each kept once and known by a small number from then on:
 * equal texts have equal ids, so names are compared as integers.
 *
 * Ids count up from 0 in the order in which texts first came; id 0 is always
 * the empty text. A zeroed struct is not ready: call init. Not thread-safe.
 */
struct intern {
	struct intern_entry *entries; /* by id */
	size_t count, capacity;
	struct intern_slot *slots;   /* open addressing */
	size_t slot_count;           /* a power of two */
	struct intern_chunk *chunks; /* the bytes of the texts */
	size_t limit;                /* most texts that are taken */
};

/*
 * limit: the largest number of texts; one more fails with TSCOPE_E_LIMIT.
 * On failure the struct may be deinited but not used.
 */
TSI_MUST_CHECK
enum tscope_status tsi_intern_init(struct intern *set, size_t limit, struct tscope_error *err);

/* Frees all texts. Fine on a zeroed struct. */
void tsi_intern_deinit(struct intern *set);

/* Finds or adds a text (copied) and gives its id. O(length). */
TSI_MUST_CHECK
enum tscope_status tsi_intern_add(struct intern *set, struct str text, uint32_t *id,
				  struct tscope_error *err);

/* The id of a text that is there, or UINT32_MAX. */
uint32_t tsi_intern_find(const struct intern *set, struct str text);

/* The text of an id; also NUL-terminated. Lives as long as the set. */
struct str tsi_intern_text(const struct intern *set, uint32_t id);

#endif
