/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_EVENTS_SKIP_H
#define TSCOPE_DECODE_EVENTS_SKIP_H

#include "base/attributes.h"
#include "decode/simd.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Finding the end of strings and brackets by masks of 32 and 64 bytes. `end`
 * bounds what counts; 64 bytes behind it may be read (TSI_INPUT_PADDING).
 */

/* Oddities met on the way. */
struct skipped {
	bool escape;  /* a backslash */
	bool control; /* a raw control character inside a string */
};

/* The quote that closes the string whose text begins at p, or NULL: it is not before end. */
static inline const char *skip_string_text(const char *p, const char *end, struct skipped *met)
{
	while (p < end) {
		uint32_t special = simd_special32(p);
		if (!special) {
			p += 32;
			continue;
		}
		p += __builtin_ctz(special);
		if (tsi_likely(*p == '"'))
			return p < end ? p : NULL;
		if (p >= end)
			return NULL;
		if (*p == '\\') {
			met->escape = true;
			p += 2;
		} else {
			met->control = true;
			p++;
		}
	}
	return NULL;
}

/*
 * The bits behind an odd run of backslashes: those characters are escaped.
 * *carry: does the first character follow such a run of the block before?
 */
static inline uint64_t escaped_bits(uint64_t backslash, uint64_t *carry)
{
	if (tsi_likely(!backslash)) {
		uint64_t escaped = *carry;
		*carry = 0;
		return escaped;
	}
	backslash &= ~*carry;
	uint64_t follows = backslash << 1 | *carry;
	const uint64_t even = 0x5555555555555555u;
	uint64_t odd_starts = backslash & ~even & ~follows;
	uint64_t even_run_ends;
	*carry = __builtin_add_overflow(odd_starts, backslash, &even_run_ends);
	uint64_t invert = even_run_ends << 1;
	return (even ^ invert) & follows;
}

/* Brackets in a block are few, and not every machine counts bits in one instruction. */
static inline size_t count_bits(uint64_t mask)
{
	size_t count = 0;
	for (; mask; mask &= mask - 1)
		count++;
	return count;
}

/*
 * Behind the bracket that closes the one at p (an opening brace or bracket), or NULL: it is not
 * before end; or *odd, for the careful reader: the nesting is deeper than max_depth, or a backslash
 * stands outside of strings, where it escapes nothing. Only strings and brackets of the same kind
 * are looked at.
 */
static inline const char *skip_brackets(const char *p, const char *end, size_t max_depth, bool *odd,
					struct skipped *met)
{
	const char open_char = *p;
	const char close_char = open_char == '{' ? '}' : ']';
	uint64_t escape_carry = 0, string_carry = 0;
	size_t depth = 0;

	for (; p < end; p += 64) {
		struct simd64 block = simd64_load(p);
		uint64_t backslash = simd64_equal(block, '\\');
		uint64_t escaped = escaped_bits(backslash, &escape_carry);
		uint64_t quotes = simd64_equal(block, '"') & ~escaped;
		uint64_t inside = simd_prefix_xor(quotes) ^ string_carry;
		string_carry = (uint64_t)((int64_t)inside >> 63);
		uint64_t open = simd64_equal(block, open_char) & ~inside;
		uint64_t close = simd64_equal(block, close_char) & ~inside;
		uint64_t control = simd64_control(block) & inside & ~escaped;
		uint64_t stray = backslash & ~inside;
		if (tsi_unlikely(stray)) /* behind it all may be wrong */
			close &= (stray & -stray) - 1;

		for (; close; close &= close - 1) {
			uint64_t before = open & ((close & -close) - 1);
			depth += count_bits(before);
			open &= ~before;
			if (depth > max_depth)
				break;
			if (depth == 1) {
				const char *behind = p + __builtin_ctzll(close) + 1;
				met->control |= (control & ((close & -close) - 1)) != 0;
				return behind <= end ? behind : NULL;
			}
			depth--;
		}
		met->control |= control != 0;
		depth += count_bits(open);
		if (depth > max_depth) {
			*odd = true;
			return NULL;
		}
		if (tsi_unlikely(stray)) { /* the first one may be of what lies behind the end */
			*odd = p + __builtin_ctzll(stray) < end;
			return NULL;
		}
	}
	return NULL;
}

#endif
