/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_BASE_HASH_H
#define TSCOPE_BASE_HASH_H

#include "base/str.h"

#include <stdint.h>
#include <string.h>

/* The product of two 64-bit numbers folded to 64 bits: every input bit reaches every output bit. */
static inline uint64_t tsi_fold_multiply(uint64_t a, uint64_t b)
{
	__extension__ unsigned __int128 product = (unsigned __int128)a * b;
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t tsi_load64(const char *p)
{
	uint64_t word;
	memcpy(&word, p, sizeof(word));
	return word;
}

/*
 * Sixteen bytes a round; the last (up to sixteen) are read from the end and may overlap. A
 * factor that a text makes 0 must not swallow the other, or texts could be made to collide.
 */
static inline uint64_t tsi_hash(struct str text)
{
	static const uint64_t seed_a = 0x9e3779b97f4a7c15u;
	static const uint64_t seed_b = 0xd6e8feb86659fd93u;
	const char *p = text.data;
	size_t left = text.length;
	uint64_t hash = seed_a ^ left;

	while (left > 16) {
		uint64_t other = tsi_load64(p + 8) ^ hash;
		hash = tsi_fold_multiply(tsi_load64(p) ^ seed_a, other) ^ other;
		p += 16;
		left -= 16;
	}
	uint64_t head = 0, tail = 0;
	if (text.length >= 8) {
		head = left >= 8 ? tsi_load64(p) : 0;
		tail = tsi_load64(p + left - 8);
	} else {
		for (; left; left--)
			head = head << 8 | (unsigned char)*p++;
	}
	tail ^= hash;
	hash = tsi_fold_multiply(head ^ seed_b, tail) ^ tail;
	return tsi_fold_multiply(hash, seed_a);
}

#endif
