/* SPDX-License-Identifier: MIT */
/* Growing arrays: the one place where a capacity is doubled and its size checked. */
#include "base/array.h"

#include "base/ckd.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_CAPACITY = 16 };

enum tscope_status tsi_array_grow(void *items, size_t *capacity, size_t wanted, size_t item_bytes,
				  struct tscope_error *err)
{
	size_t grown = *capacity < MIN_CAPACITY ? MIN_CAPACITY : *capacity;
	while (grown < wanted)
		if (tsi_ckd_mul(&grown, grown, 2))
			return tsi_fail_nomem(err);

	size_t bytes;
	if (tsi_ckd_mul(&bytes, grown, item_bytes))
		return tsi_fail_nomem(err);

	void *memory;
	memcpy(&memory, items, sizeof(memory));
	memory = realloc(memory, bytes);
	if (!memory)
		return tsi_fail_nomem(err);
	memcpy(items, &memory, sizeof(memory));
	*capacity = grown;
	return TSCOPE_OK;
}

static enum tscope_status make(void *memory, size_t count, size_t item_bytes, bool is_zeroed,
			       struct tscope_error *err)
{
	void *fresh = NULL;
	size_t bytes;
	if (tsi_ckd_mul(&bytes, count, item_bytes))
		return tsi_fail_nomem(err);
	if (count) {
		fresh = is_zeroed ? calloc(count, item_bytes) : malloc(bytes);
		if (!fresh)
			return tsi_fail_nomem(err);
	}
	memcpy(memory, &fresh, sizeof(fresh));
	return TSCOPE_OK;
}

enum tscope_status tsi_array_new(void *memory, size_t count, size_t item_bytes,
				 struct tscope_error *err)
{
	return make(memory, count, item_bytes, true, err);
}

enum tscope_status tsi_array_make(void *memory, size_t count, size_t item_bytes,
				  struct tscope_error *err)
{
	return make(memory, count, item_bytes, false, err);
}
