/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_BASE_STR_H
#define TSCOPE_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * A piece of text that somebody else owns: pointer and length, no NUL at its
 * end, any bytes inside. {NULL, 0} is the empty (or absent) text.
 */
struct str {
	const char *data;
	size_t length;
};

#define TSI_STR(literal) ((struct str){ (literal), sizeof(literal) - 1 })

/* The text of a NUL-terminated string, without the NUL. */
static inline struct str tsi_str_of(const char *text)
{
	return (struct str){ text, strlen(text) };
}

/* As many of its bytes as fit into 64, without part of a UTF-8 character at the end. */
static inline int tsi_quote_length(struct str text)
{
	enum { MOST = 64, CHARACTER_BYTES = 4 };
	size_t length = text.length < MOST ? text.length : MOST;

	while (length < text.length && length > MOST - CHARACTER_BYTES &&
	       ((unsigned char)text.data[length] & 0xc0) == 0x80)
		length--;
	return (int)length;
}

/* For "%.*s": a text as printf wants it, cut at 64 bytes. Not safe for terminals by itself. */
#define TSI_QUOTE(text) tsi_quote_length(text), (text).data

static inline bool tsi_str_equal(struct str a, struct str b)
{
	return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

/* The text without so many bytes at its beginning, which it has. */
static inline struct str tsi_str_tail(struct str text, size_t skipped)
{
	return (struct str){ text.data + skipped, text.length - skipped };
}

/* Behind the last slash of a path; all of it where there is none. */
struct str tsi_str_last_part(struct str path);

#define tsi_str_is(text, literal) tsi_str_equal((text), TSI_STR(literal))

/* Negative, 0 or positive as a stands before, with or behind b, byte by byte. */
static inline int tsi_str_compare(struct str a, struct str b)
{
	size_t shared = a.length < b.length ? a.length : b.length;
	int order = shared ? memcmp(a.data, b.data, shared) : 0;

	return order ? order : (a.length > b.length) - (a.length < b.length);
}

static inline bool tsi_str_has_prefix(struct str text, struct str prefix)
{
	return text.length >= prefix.length && memcmp(text.data, prefix.data, prefix.length) == 0;
}

static inline bool tsi_str_has_suffix(struct str text, struct str suffix)
{
	return suffix.length == 0 ||
	       (text.length >= suffix.length &&
		memcmp(text.data + text.length - suffix.length, suffix.data, suffix.length) == 0);
}

#define tsi_str_starts(text, literal) tsi_str_has_prefix((text), TSI_STR(literal))

/* The offset of needle in text, or -1. */
ptrdiff_t tsi_str_find(struct str text, struct str needle);

/* As tsi_str_equal and tsi_str_find, but A-Z and a-z are the same. */
bool tsi_str_equal_nocase(struct str a, struct str b);
ptrdiff_t tsi_str_find_nocase(struct str text, struct str needle);

/*
 * Which pairs of bytes stand side by side in a text, by their last five bits: in these the
 * cases of a letter are alike. Who looks for a hundred words in one text asks here first: nearly
 * every word has a pair that the text has not.
 */
struct letter_pairs {
	uint32_t behind[32]; /* by letter: a bit for each that stands behind it somewhere */
};

void tsi_letter_pairs_of(struct letter_pairs *pairs, struct str text);

static inline bool tsi_has_pair(const struct letter_pairs *pairs, char a, char b)
{
	return pairs->behind[a & 31] >> (b & 31) & 1;
}

/* False: tsi_str_find_nocase() does not find the needle in the text. */
static inline bool tsi_may_hold(const struct letter_pairs *pairs, struct str needle)
{
	for (size_t i = 1; i < needle.length; i++)
		if (!tsi_has_pair(pairs, needle.data[i - 1], needle.data[i]))
			return false;
	return true;
}

/* False: they are not the same letter, whatever the case. */
static inline bool tsi_may_equal_nocase(char a, char b)
{
	return ((a ^ b) & ~0x20) == 0;
}

/* ASCII only, in any locale. */
static inline bool tsi_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Digits that the text begins with. */
static inline size_t tsi_count_digits(struct str text)
{
	size_t count = 0;

	while (count < text.length && tsi_is_digit(text.data[count]))
		count++;
	return count;
}

static inline bool tsi_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* 0 … 15, or -1. */
static inline int tsi_hex_digit(char c)
{
	if (tsi_is_digit(c))
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static inline char tsi_to_lower(char c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* JSON white space. */
static inline bool tsi_is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* The first character of [p, end) that is no white space, or end. */
static inline const char *tsi_skip_space(const char *p, const char *end)
{
	while (p < end && tsi_is_space(*p))
		p++;
	return p;
}

/* The text without blanks, tabs and line ends at either end. */
struct str tsi_str_trim(struct str text);

/* Takes the text up to the next such character, which goes with it, off rest; else all of it. */
struct str tsi_str_take(struct str *rest, char end);

/* Takes off the end of a string what is the beginning of a UTF-8 character and no more. */
void tsi_str_drop_partial(char *text);

/*
 * Reads a whole decimal integer ("-12", "7"): true and *number only if all of
 * the text is one and it fits.
 */
bool tsi_str_to_int64(struct str text, int64_t *number);

#endif
