/* SPDX-License-Identifier: MIT */
#include "base/keyed_hash.h"

struct sip {
	uint64_t v0, v1, v2, v3;
};

static uint64_t rotate(uint64_t word, unsigned bits)
{
	return word << bits | word >> (64 - bits);
}

static void rounds(struct sip *s, unsigned count)
{
	for (; count > 0; count--) {
		s->v0 += s->v1;
		s->v2 += s->v3;
		s->v1 = rotate(s->v1, 13) ^ s->v0;
		s->v3 = rotate(s->v3, 16) ^ s->v2;
		s->v0 = rotate(s->v0, 32);
		s->v2 += s->v1;
		s->v0 += s->v3;
		s->v1 = rotate(s->v1, 17) ^ s->v2;
		s->v3 = rotate(s->v3, 21) ^ s->v0;
		s->v2 = rotate(s->v2, 32);
	}
}

static void take_word(struct sip *s, uint64_t word)
{
	s->v3 ^= word;
	rounds(s, 2);
	s->v0 ^= word;
}

/* Up to eight bytes, the first the lowest: the same on every machine. */
static uint64_t word_of(const char *bytes, size_t count)
{
	uint64_t word = 0;

	for (size_t i = 0; i < count; i++)
		word |= (uint64_t)(unsigned char)bytes[i] << 8 * i;
	return word;
}

uint64_t tsi_keyed_hash(const struct hash_key *key, struct str text)
{
	struct sip s = { .v0 = key->words[0] ^ 0x736f6d6570736575u,
			 .v1 = key->words[1] ^ 0x646f72616e646f6du,
			 .v2 = key->words[0] ^ 0x6c7967656e657261u,
			 .v3 = key->words[1] ^ 0x7465646279746573u };
	size_t whole = text.length - text.length % 8;

	for (size_t at = 0; at < whole; at += 8)
		take_word(&s, word_of(text.data + at, 8));
	take_word(&s, (uint64_t)text.length << 56 |
			      (text.length > whole ? word_of(text.data + whole, text.length - whole)
						   : 0));
	s.v2 ^= 0xff;
	rounds(&s, 4);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

struct hash_key tsi_hash_key(struct str passphrase)
{
	static const struct hash_key first = { { 1, 0 } }, second = { { 2, 0 } };

	return (struct hash_key){ { tsi_keyed_hash(&first, passphrase),
				    tsi_keyed_hash(&second, passphrase) } };
}
