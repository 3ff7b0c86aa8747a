/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_NUMBER_H
#define TSCOPE_DECODE_NUMBER_H

#include "base/attributes.h"
#include "base/str.h"
#include "decode/simd.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/*
 * Timestamps: microseconds as decimal text to integer nanoseconds, without a
 * double in between (1.7e15 us in a double resolves only 0.25 us).
 */

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define TSI_DIGITS_AT_ONCE 1
#else
#define TSI_DIGITS_AT_ONCE 0 /* the arithmetic below counts on the first digit being lowest */
#endif

/*
 * How many of eight characters are digits, up to the first that is none. Characters below '0' go
 * below 0 by the difference, those above '9' beyond 0x7f by the sum, and those beyond 0x7f stay
 * there by one of the two. Carries reach only characters behind the first one.
 */
static inline unsigned count_digits(uint64_t chars)
{
	uint64_t others = ((chars + 0x4646464646464646u) | (chars - 0x3030303030303030u)) &
			  0x8080808080808080u;
	return others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
}

/*
 * The value of eight digits, each 0 … 9, the first one in the lowest byte: neighbours are
 * joined to pairs, pairs to fours, fours to eight. "12345678": 1*10+2 | 3*10+4
 * | …, then 12*100+34 | 56*100+78, then 1234*10000+5678.
 */
static inline uint32_t value_of_8_digits(uint64_t digits)
{
	digits = digits * 10 + (digits >> 8);
	digits = ((digits & 0x000000ff000000ffu) * 0x000f424000000064u +
		  ((digits >> 16) & 0x000000ff000000ffu) * 0x0000271000000001u) >>
		 32;
	return (uint32_t)digits;
}

/* How many of the eight characters at p are digits, up to the first that is none. */
static inline unsigned digits_at(const char *p)
{
	unsigned count = 0;
	if (TSI_DIGITS_AT_ONCE) {
		uint64_t chars;
		memcpy(&chars, p, 8);
		return count_digits(chars);
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

/* The digits among the eight characters at p, appended to *value; how many they are. */
static inline unsigned take_digits(const char *p, uint64_t *value)
{
	static const uint32_t powers[] = { 1,      10,      100,      1000,     10000,
					   100000, 1000000, 10000000, 100000000 };
	unsigned count = 0;
	if (TSI_DIGITS_AT_ONCE) {
		uint64_t chars;
		memcpy(&chars, p, 8);
		count = count_digits(chars);
		if (count == 0)
			return 0;
		/* Fewer than eight move up behind zeros: "12." becomes "00000012". */
		uint64_t digits = (chars - 0x3030303030303030u) << (64 - 8 * count);
		*value = *value * powers[count] + value_of_8_digits(digits);
		return count;
	}
	for (unsigned digit; count < 8 && (digit = (unsigned char)(p[count] - '0')) <= 9; count++)
		*value = *value * 10 + digit;
	return count;
}

/* For sixteen bytes: how many digits are at p (digits_at_16), and their value. */
#if defined(TSI_SCAN_AVX2)

/*
 * Turns the digits among sixteen characters into values, and counts the leading ones. The values of
 * the constants are hidden: the compiler would make them anew for each number, with as many
 * instructions as all the rest takes.
 */
static inline unsigned count_16_digits(__m128i *chars)
{
	static const uint8_t bytes[32] = {
		'0', '0', '0', '0', '0', '0', '0', '0', '0', '0', '0', '0', '0', '0', '0', '0',
		9,   9,   9,   9,   9,   9,   9,   9,   9,   9,   9,   9,   9,   9,   9,   9,
	};
	const uint8_t *zeros = bytes;
	TSI_HIDE(zeros);
	__m128i nines = _mm_loadu_si128((const __m128i *)(const void *)(zeros + 16));
	*chars = _mm_sub_epi8(*chars, _mm_loadu_si128((const __m128i *)(const void *)zeros));
	__m128i are_digits = _mm_cmpeq_epi8(_mm_min_epu8(*chars, nines), *chars);
	return (unsigned)__builtin_ctz(~(unsigned)_mm_movemask_epi8(are_digits));
}

static inline unsigned digits_at_16(const char *p)
{
	__m128i chars = _mm_loadu_si128((const __m128i *)(const void *)p);
	return count_16_digits(&chars);
}

/* The digits move to the end of the vector, behind zeros, and are joined as above. */
static inline unsigned take_16_digits(const char *p, uint64_t *value)
{
	static const int8_t order[32] = { -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
					  -1, -1, -1, -1, -1, 0,  1,  2,  3,  4,  5,
					  6,  7,  8,  9,  10, 11, 12, 13, 14, 15 };
	__m128i digits = _mm_loadu_si128((const __m128i *)(const void *)p);
	unsigned count = count_16_digits(&digits);
	__m128i moved = _mm_loadu_si128((const __m128i *)(const void *)(order + count));
	__m128i pairs =
		_mm_maddubs_epi16(_mm_shuffle_epi8(digits, moved), _mm_set1_epi16(1 << 8 | 10));
	__m128i fours = _mm_madd_epi16(pairs, _mm_set1_epi32(1 << 16 | 100));
	__m128i eights =
		_mm_madd_epi16(_mm_packus_epi32(fours, fours), _mm_set1_epi32(1 << 16 | 10000));
	uint64_t both = (uint64_t)_mm_cvtsi128_si64(eights);
	*value = (both & UINT32_MAX) * 100000000 + (both >> 32);
	return count;
}

#else

static inline unsigned digits_at_16(const char *p)
{
	unsigned count = digits_at(p);
	return count < 8 ? count : count + digits_at(p + 8);
}

static inline unsigned take_16_digits(const char *p, uint64_t *value)
{
	*value = 0;
	unsigned count = take_digits(p, value);
	return count < 8 ? count : count + take_digits(p + 8, value);
}

#endif

/* One to three decimals at p as thousandths; how many they are, 0 if more or none. */
static inline unsigned take_thousandths(const char *p, uint64_t *value)
{
	uint32_t chars;
	memcpy(&chars, p, 4);
	uint32_t digits = chars - 0x30303030u;
	uint32_t others = ((chars + 0x46464646u) | digits) & 0x80808080u; /* as in count_digits() */
	if (TSI_DIGITS_AT_ONCE && tsi_likely(others == 0x80000000u)) {    /* "491," */
		uint32_t pairs = digits * 10 + (digits >> 8);
		*value = (pairs & 0xff) * 10 + (digits >> 16 & 0xff);
		return 3;
	}
	unsigned count = 0;
	*value = 0;
	for (unsigned scale = 100; count < 4 && tsi_is_digit(p[count]); count++, scale /= 10)
		*value += (unsigned)(p[count] - '0') * scale;
	return count < 4 ? count : 0;
}

/* Nanoseconds of what is greater, of sixteen digits still, could overflow. */
#define MAX_PLAIN_US UINT64_C(8999999999999999)

/*
 * How many digits a number has is known some twenty cycles after where it begins, and only then
 * where what follows begins: chained from number to number over the whole file, that alone takes
 * longer than all the other work, which can be done side by side. So the length of the number
 * at the same place in the event before is assumed: what follows is read at once, and a branch
 * finds out whether it was right.
 */
static inline unsigned assume_digits(unsigned digits, uint8_t *last)
{
	unsigned assumed = *last;
	if (tsi_likely(digits == assumed)) {
		TSI_HIDE(assumed); /* or the compiler would return what it compared with */
		return assumed;
	}
	*last = (uint8_t)digits;
	return digits;
}

/* Goes on behind the digits before the point of a time; see take_plain_ns(). */
static inline const char *take_rest_of_ns(const char *p, uint64_t value, int64_t *ns)
{
	uint64_t thousandths = 0;
	if (*p == '.') {
		unsigned decimals = take_thousandths(p + 1, &thousandths);
		if (decimals == 0)
			return NULL;
		p += 1 + decimals;
	}
	*ns = (int64_t)(value * 1000 + thousandths);
	return p;
}

/* A time that does not begin with a digit. */
static TSI_COLD const char *take_negative_ns(const char *p, int64_t *ns)
{
	uint64_t value;
	unsigned digits = *p == '-' ? take_16_digits(++p, &value) : 0;
	if (digits == 0 || value > MAX_PLAIN_US)
		return NULL;
	p = take_rest_of_ns(p + digits, value, ns);
	if (p)
		*ns = -*ns;
	return p;
}

/*
 * The usual form of a time, "1704161511420306.491", "12", "-3.5": an optional
 * minus, at most 16 digits before the point (more than MAX_PLAIN_US could
 * overflow) and at most 3 after it. Gives the end of these and the ns, or NULL for other
 * forms; whether what follows goes on with the number is for the caller to see.
 * 32 bytes are read. last: see assume_digits(), or NULL.
 */
static inline const char *take_plain_ns(const char *p, uint8_t *last, int64_t *ns)
{
	uint64_t value;
	unsigned digits = take_16_digits(p, &value);
	if (last)
		digits = assume_digits(digits, last);
	if (tsi_unlikely(digits == 0))
		return take_negative_ns(p, ns);
	if (tsi_unlikely(value > MAX_PLAIN_US))
		return NULL;
	return take_rest_of_ns(p + digits, value, ns);
}

/*
 * The end of a time in the usual form and its ns, or NULL for every other form (exponents, more
 * decimals, no digits), which is left to tsi_json_to_ns(). Reads only before `end`.
 */
static inline const char *parse_plain_ns(const char *p, const char *end, int64_t *ns)
{
	enum { LONGEST = 32 }; /* and more than any such time is */
	char copy[LONGEST + 1];
	const char *from = p;
	if (tsi_unlikely(end - p <= LONGEST)) {
		memset(copy, 0, sizeof(copy));
		memcpy(copy, p, (size_t)(end - p));
		from = copy;
	}
	const char *behind = take_plain_ns(from, NULL, ns);
	if (!behind || tsi_is_digit(*behind) || *behind == '.' || (*behind | 0x20) == 'e')
		return NULL;
	return p + (behind - from);
}

#endif
