/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_PICKLE_H
#define TSCOPE_DECODE_PICKLE_H

#include "base/attributes.h"
#include "base/str.h"
#include "input/input.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tscope/error.h>

/*
 * The plain data of a Python pickle (protocols 0 to 5): numbers, texts, lists, tuples and
 * dicts. Nothing is ever imported, called or constructed; what asks for it is refused, with
 * the name of the opcode and the byte where it stands.
 *
 * A pickle is a graph: what the file writes once and then refers to is one object here, however
 * often it is referred to. Objects may hold themselves, so a walk needs a limit of its own, or
 * a mark for each object (tsi_pickle_object_index).
 *
 *	struct pickle_value size = tsi_pickle_name(pickle, TSI_STR("size"));
 *	for (size_t i = 0; i < tsi_pickle_length(pickle, blocks); i++) {
 *		struct pickle_value block = tsi_pickle_item(pickle, blocks, i);
 *		if (tsi_pickle_to_uint64(pickle, tsi_pickle_get(pickle, block, size), &bytes))
 *			sum += bytes;
 *	}
 *
 * Asking a value for what it does not have gives an absent one, a length of 0, no text: what a
 * file of another form lacks is seen at the end of a path, and need not be looked for on the way.
 */
struct pickle;

enum pickle_kind {
	PICKLE_ABSENT, /* there is no such value */
	PICKLE_NONE,
	PICKLE_BOOL,
	PICKLE_INT,  /* fits into int64 */
	PICKLE_UINT, /* does not, but into uint64 */
	PICKLE_REAL,
	PICKLE_TEXT,
	PICKLE_BYTES,
	PICKLE_CLASS, /* the name of a container's class, which nobody called */
	PICKLE_LIST,  /* or a set */
	PICKLE_TUPLE,
	PICKLE_DICT,
};

/* A value, or where it is. Two of the same word are the same object, or texts that are equal. */
struct pickle_value {
	uint32_t word; /* pickle_word.h; 0: absent */
};

/* Limits of a hostile file; 0: the defaults in pickle_read.c. */
struct pickle_options {
	size_t max_stack;      /* values that wait for their container */
	size_t max_marks;      /* containers open at a time */
	size_t max_memo;       /* values that can be referred to */
	size_t max_text_bytes; /* of one text */
	size_t max_objects;    /* containers; different texts; numbers of more than 28 bits: each */
	size_t max_values;     /* words that containers take */
};

/*
 * Reads one pickle from the position of `in`, and on to the end of the input to see that
 * nothing follows. The caller frees.
 * Fails with TSCOPE_E_EMPTY (no byte), TSCOPE_E_FORMAT (no pickle), TSCOPE_E_DAMAGED (ends too
 * early, or an opcode cannot do what it says), TSCOPE_E_UNSUPPORTED (asks for more than plain
 * data), TSCOPE_E_LIMIT, or as the input does.
 * Memory: the texts once, and for each reference in a list or dict up to four bytes.
 */
TSI_MUST_CHECK
enum tscope_status tsi_pickle_read(struct pickle **ret, struct input *in,
				   const struct pickle_options *options, struct tscope_error *err);

/* NULL is fine. */
void tsi_pickle_free(struct pickle *pickle);

/* The value that the whole pickle is. */
struct pickle_value tsi_pickle_root(const struct pickle *pickle);

/* As the file says; 0 where it does not. */
unsigned tsi_pickle_protocol(const struct pickle *pickle);

/* Bytes that follow the pickle and were not looked at. */
uint64_t tsi_pickle_trailing_bytes(const struct pickle *pickle);

enum pickle_kind tsi_pickle_kind(struct pickle_value value);

/* "a list", "an integer": for messages. Static. */
const char *tsi_pickle_kind_name(enum pickle_kind kind);

/* False, and nothing set, for what is no such number or does not fit. */
bool tsi_pickle_to_bool(struct pickle_value value, bool *truth);
bool tsi_pickle_to_int64(const struct pickle *pickle, struct pickle_value value, int64_t *number);
bool tsi_pickle_to_uint64(const struct pickle *pickle, struct pickle_value value, uint64_t *number);
/* Any number, rounded where need be. */
bool tsi_pickle_to_real(const struct pickle *pickle, struct pickle_value value, double *number);

/*
 * The bytes of a text (UTF-8, if the writer kept to it), of bytes, the name of a class;
 * else empty. NUL-terminated; lives as long as the pickle.
 */
struct str tsi_pickle_text(const struct pickle *pickle, struct pickle_value value);

/* Items of a list or tuple, pairs of a dict; 0 for all else. */
size_t tsi_pickle_length(const struct pickle *pickle, struct pickle_value value);

/* An item of a list or tuple. */
struct pickle_value tsi_pickle_item(const struct pickle *pickle, struct pickle_value list,
				    size_t index);

/* Copies up to `room` items, the first of them at `first`, to out; how many they are. */
size_t tsi_pickle_items(const struct pickle *pickle, struct pickle_value list, size_t first,
			struct pickle_value *out, size_t room);

/* A pair of a dict, in the order in which its keys first came. */
struct pickle_value tsi_pickle_key(const struct pickle *pickle, struct pickle_value dict,
				   size_t index);
struct pickle_value tsi_pickle_value(const struct pickle *pickle, struct pickle_value dict,
				     size_t index);

/*
 * The text as a value, to look for in dicts; absent where the file does not hold it, and then
 * no dict has it. Look for it once, not for each dict.
 */
struct pickle_value tsi_pickle_name(const struct pickle *pickle, struct str text);

/* What a dict has under a key. O(1), but for up to 64 compares. */
struct pickle_value tsi_pickle_get(const struct pickle *pickle, struct pickle_value dict,
				   struct pickle_value key);

/* The same by the key's text. */
struct pickle_value tsi_pickle_find(const struct pickle *pickle, struct pickle_value dict,
				    struct str key);

/*
 * For arrays beside the graph: lists, tuples and dicts are numbered from 0, texts and bytes
 * are too. SIZE_MAX for all else.
 */
size_t tsi_pickle_object_count(const struct pickle *pickle);
size_t tsi_pickle_object_index(struct pickle_value value);
size_t tsi_pickle_text_count(const struct pickle *pickle);
size_t tsi_pickle_text_index(struct pickle_value value);

#endif
