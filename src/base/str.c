/* SPDX-License-Identifier: MIT */
/* Text as pointer and length: the few questions that are asked of it everywhere. */
#define _GNU_SOURCE /* memmem() */
#include "base/str.h"

/* In texts of more bytes memmem() leaves most behind; in shorter ones its table costs more. */
enum { LONG_TEXT = 1024 };

ptrdiff_t tsi_str_find(struct str text, struct str needle)
{
	if (needle.length == 0)
		return 0;
	if (text.length < needle.length)
		return -1; /* also where there is no text to point into */
	if (text.length > LONG_TEXT) {
		const char *found = memmem(text.data, text.length, needle.data, needle.length);
		return found ? found - text.data : -1;
	}
	const char *at = text.data;
	const char *end = text.data + text.length;
	while ((size_t)(end - at) >= needle.length) {
		at = memchr(at, needle.data[0], (size_t)(end - at) - needle.length + 1);
		if (!at)
			return -1;
		if (memcmp(at, needle.data, needle.length) == 0)
			return at - text.data;
		at++;
	}
	return -1;
}

bool tsi_str_equal_nocase(struct str a, struct str b)
{
	if (a.length != b.length)
		return false;
	for (size_t i = 0; i < a.length; i++)
		if (tsi_to_lower(a.data[i]) != tsi_to_lower(b.data[i]))
			return false;
	return true;
}

#define EACH_BYTE UINT64_C(0x0101010101010101)

/*
 * The high bit of each of these eight bytes that may be the letter whose copies fill `letters`. The
 * bit in which its cases differ is set there and left out here: another byte may pass, none is
 * missed.
 */
static uint64_t places_of(const char *eight, uint64_t letters)
{
	uint64_t bytes;

	memcpy(&bytes, eight, sizeof(bytes));
	bytes = (bytes | EACH_BYTE * 0x20) ^ letters;
	return (bytes - EACH_BYTE) & ~bytes & EACH_BYTE * 0x80;
}

/* A word's first two letters stand side by side at few places: eight are left behind at once. */
ptrdiff_t tsi_str_find_nocase(struct str text, struct str needle)
{
	if (needle.length == 0)
		return 0;
	size_t next = needle.length > 1; /* of a word of one letter that letter twice */
	uint64_t first = EACH_BYTE * ((unsigned char)needle.data[0] | 0x20u);
	uint64_t second = EACH_BYTE * ((unsigned char)needle.data[next] | 0x20u);
	for (size_t i = 0; i + needle.length <= text.length; i += sizeof(first)) {
		size_t end = i + sizeof(first);
		if (end + next <= text.length &&
		    !(places_of(text.data + i, first) & places_of(text.data + i + next, second)))
			continue;
		for (size_t at = i; at < end && at + needle.length <= text.length; at++) {
			struct str here = { text.data + at, needle.length };
			if (tsi_may_equal_nocase(*here.data, *needle.data) &&
			    tsi_str_equal_nocase(here, needle))
				return (ptrdiff_t)at;
		}
	}
	return -1;
}

/* 1 << n, looked up: of long names this is much of the work. */
static const uint32_t bit_of[32] = {
	1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
	1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
	1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
	1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31,
};

/* Returns the letter, behind which the next one stands. */
static inline unsigned put_pair(struct letter_pairs *pairs, unsigned before, char c)
{
	unsigned letter = c & 31;

	pairs->behind[before] |= bit_of[letter];
	return letter;
}

void tsi_letter_pairs_of(struct letter_pairs *pairs, struct str text)
{
	*pairs = (struct letter_pairs){ 0 };
	if (!text.length)
		return;
	unsigned last = text.data[0] & 31;
	size_t i = 1;
	for (; i + 3 < text.length; i += 4) {
		last = put_pair(pairs, last, text.data[i]);
		last = put_pair(pairs, last, text.data[i + 1]);
		last = put_pair(pairs, last, text.data[i + 2]);
		last = put_pair(pairs, last, text.data[i + 3]);
	}
	for (; i < text.length; i++)
		last = put_pair(pairs, last, text.data[i]);
}

struct str tsi_str_take(struct str *rest, char end)
{
	const char *found = rest->length ? memchr(rest->data, end, rest->length) : NULL;
	struct str taken = { rest->data, found ? (size_t)(found - rest->data) : rest->length };

	if (found) {
		rest->data = found + 1;
		rest->length -= taken.length + 1;
	} else {
		rest->length = 0;
	}
	return taken;
}

struct str tsi_str_last_part(struct str path)
{
	size_t begin = path.length;

	while (begin > 0 && path.data[begin - 1] != '/')
		begin--;
	return tsi_str_tail(path, begin);
}

struct str tsi_str_trim(struct str text)
{
	while (text.length && tsi_is_space(text.data[0])) {
		text.data++;
		text.length--;
	}
	while (text.length && tsi_is_space(text.data[text.length - 1]))
		text.length--;
	return text;
}

void tsi_str_drop_partial(char *text)
{
	size_t length = strlen(text), following = 0, needed = 0;

	while (following < length && following < 3 &&
	       ((unsigned char)text[length - 1 - following] & 0xc0) == 0x80)
		following++;
	if (following == length)
		return;
	unsigned char first = (unsigned char)text[length - 1 - following];
	if (first >= 0xc0)
		needed = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
	if (following < needed)
		text[length - 1 - following] = '\0';
}

bool tsi_str_to_int64(struct str text, int64_t *number)
{
	bool negative = text.length && text.data[0] == '-';
	size_t i = negative;
	if (i == text.length)
		return false;
	uint64_t value = 0;
	uint64_t limit = (uint64_t)INT64_MAX + negative;
	for (; i < text.length; i++) {
		unsigned digit = (unsigned char)text.data[i] - '0';
		if (digit > 9 || value > (limit - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*number = negative ? (int64_t)(0 - value) : (int64_t)value;
	return true;
}
