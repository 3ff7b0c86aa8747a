/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_BASE_KEYED_HASH_H
#define TSCOPE_BASE_KEYED_HASH_H

#include "base/str.h"

#include <stdint.h>

/*
 * SipHash-2-4: who does not know the key can neither compute the hash of a text nor find the text
 * of a hash by trying. Slower than base/hash.h, which is for tables.
 */
struct hash_key {
	uint64_t words[2];
};

/* Made of a passphrase: as hard to guess as that one. */
struct hash_key tsi_hash_key(struct str passphrase);

uint64_t tsi_keyed_hash(const struct hash_key *key, struct str text);

#endif
