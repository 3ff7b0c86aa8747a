/* SPDX-License-Identifier: MIT */
/* Values as protocol 0 writes them, in lines of text. */
#include "decode/plain/pickle_text.h"

#include <math.h>

#include "base/attributes.h"
#include "base/ckd.h"
#include "decode/json.h"

enum pickle_integer tsi_pickle_parse_integer(struct str text, bool *is_negative,
					     uint64_t *magnitude)
{
	uint64_t value = 0;
	size_t i = text.length && text.data[0] == '-';
	bool is_large = false;

	*is_negative = i == 1;
	if (i == text.length)
		return PICKLE_NO_INTEGER;
	for (; i < text.length; i++) {
		unsigned digit = (unsigned char)text.data[i] - '0';
		if (digit > 9)
			return PICKLE_NO_INTEGER;
		is_large |= tsi_ckd_mul(&value, value, 10) || tsi_ckd_add(&value, value, digit);
	}
	*magnitude = value;
	return is_large ? PICKLE_LARGE_INTEGER : PICKLE_INTEGER;
}

bool tsi_pickle_parse_real(struct str text, double *number)
{
	static const struct {
		struct str word;
		double value;
	} words[] = {
		{ { "inf", 3 }, INFINITY },
		{ { "-inf", 4 }, -INFINITY },
		{ { "nan", 3 }, NAN },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(words); i++) {
		if (tsi_str_equal(text, words[i].word)) {
			*number = words[i].value;
			return true;
		}
	}
	return !tsi_str_starts(text, "\"") && tsi_json_to_double(text, number);
}

/* `digits` of them at p, or false where there are fewer. */
static bool parse_hex(const char *p, const char *end, int digits, uint32_t *code)
{
	*code = 0;
	if (end - p < digits)
		return false;
	for (int i = 0; i < digits; i++) {
		int digit = tsi_hex_digit(p[i]);
		if (digit < 0)
			return false;
		*code = *code << 4 | (uint32_t)digit;
	}
	return true;
}

/* Lone surrogates are written like any other code point, as Python does. */
static char *put_utf8(char *out, uint32_t code)
{
	static const unsigned char first[] = { 0, 0xc0, 0xe0, 0xf0 };
	int following = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;

	*out++ = (char)(first[following] | code >> (6 * following));
	while (following-- > 0)
		*out++ = (char)(0x80 | (code >> (6 * following) & 0x3f));
	return out;
}

bool tsi_pickle_unescape_unicode(struct str text, char *out, size_t *length)
{
	const char *p = text.data, *end = text.data + text.length;
	char *to = out;

	while (p < end) {
		uint32_t code = (unsigned char)*p++;
		char next = p < end ? *p : '\0';
		if (code == '\\' && (next == 'u' || next == 'U')) {
			int digits = next == 'u' ? 4 : 8;
			if (!parse_hex(p + 1, end, digits, &code) || code > 0x10ffff)
				return false;
			p += 1 + digits;
		} else if (code == '\\' && next == '\\') { /* neither begins an escape */
			*to++ = '\\';
			p++;
		}
		to = put_utf8(to, code);
	}
	*length = (size_t)(to - out);
	return true;
}

/* \n and the like: the letter, and what it stands for. */
static const char simple_escapes[][2] = {
	{ 'n', '\n' }, { 't', '\t' }, { 'r', '\r' }, { '\\', '\\' }, { '\'', '\'' },
	{ '"', '"' },  { 'a', '\a' }, { 'b', '\b' }, { 'f', '\f' },  { 'v', '\v' },
};

/* One escape, p behind its backslash, to *out; where it ends, or NULL where it is none. */
static const char *undo_escape(const char *p, const char *end, char *out)
{
	uint32_t code = 0;

	if (p == end)
		return NULL;
	for (size_t i = 0; i < TSI_COUNT_OF(simple_escapes); i++) {
		if (*p == simple_escapes[i][0]) {
			*out = simple_escapes[i][1];
			return p + 1;
		}
	}
	if (*p == 'x') {
		if (!parse_hex(p + 1, end, 2, &code))
			return NULL;
		*out = (char)code;
		return p + 3;
	}
	const char *start = p;
	while (p < end && p - start < 3 && *p >= '0' && *p <= '7')
		code = code << 3 | (uint32_t)(*p++ - '0');
	*out = (char)code;
	return p > start ? p : NULL;
}

bool tsi_pickle_unescape_string(struct str text, char *out, size_t *length)
{
	char *to = out;

	if (text.length < 2 || (text.data[0] != '\'' && text.data[0] != '"') ||
	    text.data[text.length - 1] != text.data[0])
		return false;
	const char *p = text.data + 1, *end = text.data + text.length - 1;
	while (p < end) {
		if (*p != '\\') {
			*to++ = *p++;
			continue;
		}
		p = undo_escape(p + 1, end, to++);
		if (!p)
			return false;
	}
	*length = (size_t)(to - out);
	return true;
}
