/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_NUMBER_H
#define TSCOPE_DECODE_NUMBER_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/*
 * Timestamps: microseconds as decimal text to integer nanoseconds, without a
 * double in between (1.7e15 us in a double resolves only 0.25 us).
 */

/*
 * A bit in each byte of eight characters that is no digit, at its top. Digits
 * become 0..9 by the xor; 0x76 more leaves those below 0x80 and lifts all
 * others; the top bits are kept apart, so that nothing is carried over.
 */
static inline uint64_t bytes_that_are_no_digit(uint64_t chars)
{
	uint64_t values = chars ^ 0x3030303030303030u;
	return (((values & 0x7f7f7f7f7f7f7f7fu) + 0x7676767676767676u) | values) &
	       0x8080808080808080u;
}

/*
 * Eight digits (first one in the lowest byte) to their value: neighbours are
 * joined to pairs, pairs to fours, fours to eight. "12345678": 1*10+2 | 3*10+4
 * | …, then 12*100+34 | 56*100+78, then 1234*10000+5678.
 */
static inline uint32_t value_of_8_digits(uint64_t chars)
{
	chars -= 0x3030303030303030u;
	chars = chars * 10 + (chars >> 8);
	chars = ((chars & 0x000000ff000000ffu) * 0x000f424000000064u +
		 ((chars >> 16) & 0x000000ff000000ffu) * 0x0000271000000001u) >>
		32;
	return (uint32_t)chars;
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define TSI_DIGITS_AT_ONCE 1
#else
#define TSI_DIGITS_AT_ONCE 0 /* the arithmetic above counts on the first digit being lowest */
#endif

/* How many of the eight characters at p are digits, up to the first that is none. */
static inline unsigned digits_at(const char *p)
{
	unsigned count = 0;
	if (TSI_DIGITS_AT_ONCE) {
		uint64_t chars;
		memcpy(&chars, p, 8);
		uint64_t others = bytes_that_are_no_digit(chars);
		return others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
	}
	while (count < 8 && (unsigned char)(p[count] - '0') <= 9)
		count++;
	return count;
}

/* Behind the digits at p. Eight at a time: the padding behind the window may be read. */
static inline const char *skip_digits(const char *p, const char *end)
{
	while (p < end) {
		unsigned count = digits_at(p);
		p += count;
		if (count < 8)
			return p;
	}
	return p;
}

/* Up to eight digits at p, appended to *value; how many they are. */
static inline unsigned take_digits(const char *p, const char *end, uint64_t *value)
{
	static const uint32_t powers[] = { 1,      10,      100,      1000,     10000,
					   100000, 1000000, 10000000, 100000000 };
	unsigned count = 0;
	if (TSI_DIGITS_AT_ONCE && tsi_likely(end - p >= 8)) {
		uint64_t chars;
		memcpy(&chars, p, 8);
		count = digits_at(p);
		if (count == 0)
			return 0;
		/* Fewer than eight: shifted up behind leading zeros, "12." becomes "00000012". */
		if (count < 8)
			chars = chars << (64 - 8 * count) | 0x3030303030303030u >> (8 * count);
		*value = *value * powers[count] + value_of_8_digits(chars);
		return count;
	}
	for (unsigned digit; count < 8 && p < end && (digit = (unsigned char)(*p - '0')) <= 9;
	     p++) {
		*value = *value * 10 + digit;
		count++;
	}
	return count;
}

/*
 * The usual form of a time, "1704161511420306.491", "12", "-3.5": an optional
 * minus, at most 16 digits before the point (not beginning with 9: that could
 * overflow) and at most 3 after it. Gives the end of the number and its ns, or NULL
 * for every other form (exponents, more decimals, no digits), which is left
 * to tsi_json_to_ns(). Reads only before `end`.
 */
static inline const char *parse_plain_ns(const char *p, const char *end, int64_t *ns)
{
	bool negative = p < end && *p == '-';
	p += negative;
	uint64_t value = 0;
	unsigned digits = take_digits(p, end, &value);
	if (digits == 8)
		digits += take_digits(p + 8, end, &value);
	if (digits == 0 || (digits == 16 && *p == '9'))
		return NULL;
	p += digits;

	unsigned decimals = 0;
	if (p < end && *p == '.') {
		p++;
		for (unsigned digit;
		     decimals < 4 && p < end && (digit = (unsigned char)(*p - '0')) <= 9;
		     p++, decimals++)
			value = value * 10 + digit;
		if (decimals == 0 || decimals > 3)
			return NULL;
	}
	if (p < end && (unsigned char)(*p - '0') <= 9)
		return NULL;
	if (p < end && (*p == 'e' || *p == 'E' || *p == '.'))
		return NULL;

	static const uint16_t scale[] = { 1000, 100, 10, 1 };
	value *= scale[decimals];
	*ns = negative ? -(int64_t)value : (int64_t)value;
	return p;
}

#endif
