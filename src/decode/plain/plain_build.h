/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_PLAIN_PLAIN_BUILD_H
#define TSCOPE_DECODE_PLAIN_PLAIN_BUILD_H

#include "decode/plain/plain_share.h"

/*
 * Plain data in the making, from a document whose values lie in each other:
 *
 *	tsi_build_open(&build, WORD_DICT);
 *	tsi_build_push(&build, key);
 *	tsi_build_push(&build, value);
 *	tsi_build_close(&build, &dict);
 *	tsi_build_push(&build, dict);	the root
 *
 * A container becomes an object of the graph when it is closed, so that what it holds is
 * stored at once and packed; a long one gets its values in portions before.
 */
struct plain_build {
	struct plain *plain;
	uint32_t *stack; /* values of containers that are open */
	size_t depth, capacity;
	struct plain_level *levels; /* containers that are open */
	size_t level_count, level_capacity, max_levels;
	/* The key whose lists are shared, and what is in them; 0: none. */
	uint32_t shared_key;
	struct plain_share share;
	/* The first failure, of this or of the reader; what comes after it changes nothing. */
	struct tscope_error err;
};

struct plain_level {
	size_t start; /* of its values on the stack */
	enum word_tag tag;
	bool is_shared;
	uint32_t object; /* once it has got a portion; else 0 */
};

/* limits: NULL for the defaults. */
void tsi_build_init(struct plain_build *build, const struct plain_limits *limits);

/*
 * Frees; *ret is the data whose root is the one value that was pushed outside of all containers,
 * unless build->err holds a failure: then that is *err, which may be NULL.
 */
TSI_MUST_CHECK
enum tscope_status tsi_build_end(struct plain_build *build, struct plain **ret,
				 struct tscope_error *err);

/* WORD_LIST or WORD_DICT. TSCOPE_E_LIMIT: nested too deep. */
void tsi_build_open(struct plain_build *build, enum word_tag tag);

/* A value; into a dict by turns a key and a value. */
void tsi_build_push(struct plain_build *build, uint32_t word);

/* The container that was opened last; 0: failed. It is not pushed. */
uint32_t tsi_build_close(struct plain_build *build);

/* The innermost container that is open, or WORD_ABSENT. */
static inline enum word_tag tsi_build_inside(const struct plain_build *build)
{
	return build->level_count ? build->levels[build->level_count - 1].tag : WORD_ABSENT;
}

#endif
