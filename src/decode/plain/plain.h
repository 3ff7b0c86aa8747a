/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_PLAIN_PLAIN_H
#define TSCOPE_DECODE_PLAIN_PLAIN_H

#include "base/attributes.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tscope/error.h>

/*
 * Plain data, as a pickle, a JSON or YAML document holds it: numbers, texts, lists, tuples and
 * dicts. Models of files about memory are built from it, whichever form the file has.
 *
 * It is a graph: what a pickle writes once and then refers to is one object here, however
 * often it is referred to. Objects may hold themselves, so a walk needs a limit of its own, or
 * a mark for each object (tsi_plain_object_index).
 *
 *	struct plain_value size = tsi_plain_name(plain, TSI_STR("size"));
 *	for (size_t i = 0; i < tsi_plain_length(plain, blocks); i++) {
 *		struct plain_value block = tsi_plain_item(plain, blocks, i);
 *		if (tsi_plain_to_uint64(plain, tsi_plain_get(plain, block, size), &bytes))
 *			sum += bytes;
 *	}
 *
 * Asking a value for what it does not have gives an absent one, a length of 0, no text: what a
 * file of another form lacks is seen at the end of a path, and need not be looked for on the way.
 *
 * Memory: the texts once, and for each reference in a list or dict up to four bytes.
 */
struct plain;

/* The longest text that is read, where nothing else is asked for. */
enum { PLAIN_MAX_TEXT_BYTES = 64 << 20 };

/* Limits of a hostile file; 0: the defaults. */
struct plain_limits {
	size_t max_text_bytes; /* of one text */
	size_t max_objects;    /* containers; different texts; numbers of more than 28 bits: each */
	size_t max_values;     /* words that containers take */
};

enum plain_kind {
	PLAIN_ABSENT, /* there is no such value */
	PLAIN_NONE,
	PLAIN_BOOL,
	PLAIN_INT,  /* fits into int64 */
	PLAIN_UINT, /* does not, but into uint64 */
	PLAIN_REAL,
	PLAIN_TEXT,
	PLAIN_BYTES,
	PLAIN_CLASS, /* the name of a container's class, which nobody called */
	PLAIN_LIST,  /* or a set */
	PLAIN_TUPLE,
	PLAIN_DICT,
};

/* A value, or where it is. Two of the same word are the same object, or texts that are equal. */
struct plain_value {
	uint32_t word; /* plain_word.h; 0: absent */
};

/* NULL is fine. */
void tsi_plain_free(struct plain *plain);

/* The value that the whole plain is. */
struct plain_value tsi_plain_root(const struct plain *plain);

/* Bytes that follow the plain and were not looked at. */
uint64_t tsi_plain_trailing_bytes(const struct plain *plain);

/* Documents, pages' snapshots or logs' reports behind the one that was read: not looked at. */
uint64_t tsi_plain_further_count(const struct plain *plain);

enum plain_kind tsi_plain_kind(struct plain_value value);

/* A list or tuple: writers take the one for the other. */
static inline bool tsi_plain_is_list(struct plain_value value)
{
	enum plain_kind kind = tsi_plain_kind(value);
	return kind == PLAIN_LIST || kind == PLAIN_TUPLE;
}

/* "a list", "an integer": for messages. Static. */
const char *tsi_plain_kind_name(enum plain_kind kind);

/* False, and nothing set, for what is no such number or does not fit. */
bool tsi_plain_to_bool(struct plain_value value, bool *truth);
bool tsi_plain_to_int64(const struct plain *plain, struct plain_value value, int64_t *number);
bool tsi_plain_to_uint64(const struct plain *plain, struct plain_value value, uint64_t *number);
/* Any number, rounded where need be. */
bool tsi_plain_to_real(const struct plain *plain, struct plain_value value, double *number);

/*
 * The bytes of a text (UTF-8, if the writer kept to it), of bytes, the name of a class;
 * else empty. NUL-terminated; lives as long as the plain.
 */
struct str tsi_plain_text(const struct plain *plain, struct plain_value value);

/* Items of a list or tuple, pairs of a dict; 0 for all else. */
size_t tsi_plain_length(const struct plain *plain, struct plain_value value);

/* An item of a list or tuple. */
struct plain_value tsi_plain_item(const struct plain *plain, struct plain_value list, size_t index);

/* Copies up to `room` items, the first of them at `first`, to out; how many they are. */
size_t tsi_plain_items(const struct plain *plain, struct plain_value list, size_t first,
		       struct plain_value *out, size_t room);

/*
 * Which memory holds the items; 0: there are none. Lists and tuples that share it are equal, and
 * others may be.
 */
uint32_t tsi_plain_items_id(const struct plain *plain, struct plain_value list);

/* A pair of a dict, in the order in which its keys first came. */
struct plain_value tsi_plain_key(const struct plain *plain, struct plain_value dict, size_t index);
struct plain_value tsi_plain_value(const struct plain *plain, struct plain_value dict,
				   size_t index);

/*
 * The text as a value, to look for in dicts; absent where the file does not hold it, and then
 * no dict has it. Look for it once, not for each dict.
 */
struct plain_value tsi_plain_name(const struct plain *plain, struct str text);

/* The value of a dict's key. O(1), but for up to 64 compares. */
struct plain_value tsi_plain_get(const struct plain *plain, struct plain_value dict,
				 struct plain_value key);

/* The value of a dict's key, by the key's text. */
struct plain_value tsi_plain_find(const struct plain *plain, struct plain_value dict,
				  struct str key);

/*
 * Values that many dicts have under the same keys: their places are looked up when a dict has other
 * keys, or another order of them, than the one before. Set keys and count, the rest 0.
 */
enum { PLAIN_PICK_MAX = 16 };

struct plain_pick {
	const struct plain_value *keys;
	size_t count; /* up to PLAIN_PICK_MAX */
	uint32_t shape;
	unsigned char at[PLAIN_PICK_MAX]; /* of a shape: index of the value + 1, or 0 */
};

/* Sets out[i] to what the dict has under keys[i]: absent values, and false, for what is no dict. */
bool tsi_plain_pick(const struct plain *plain, struct plain_pick *pick, struct plain_value dict,
		    struct plain_value *out);

/* This dict will be read soon: those of a long list lie far from each other. */
void tsi_plain_prefetch(const struct plain *plain, struct plain_value dict);

/*
 * For arrays beside the graph: lists, tuples and dicts are numbered from 0, texts and bytes
 * are too. SIZE_MAX for all else.
 */
size_t tsi_plain_object_count(const struct plain *plain);
size_t tsi_plain_object_index(struct plain_value value);
size_t tsi_plain_text_count(const struct plain *plain);
size_t tsi_plain_text_index(struct plain_value value);

#endif
