/* SPDX-License-Identifier: MIT */
/*
 * JSON that lies in memory as a whole. The decoder hands over args and metadata
 * as text whose brackets are balanced; whoever needs a value walks the members
 * here and pays only for what it asks.
 */
#include "decode/json.h"

#include "decode/number.h"
#include "decode/simd.h"

#include <stdio.h>
#include <stdlib.h>

/* Plain text is skipped 32 bytes at a time; nothing behind `end` is read, so the last go singly. */
const char *tsi_json_string_end(const char *p, const char *end)
{
	while (p < end) {
		uint32_t special = end - p >= 32 ? simd_special32(p) : 1;
		if (!special) {
			p += 32;
			continue;
		}
		p += __builtin_ctz(special);
		if (*p == '"')
			return p;
		p += *p == '\\' ? 2 : 1;
	}
	return end;
}

/* p is at the opening quote; returns the place behind the closing one, or end. */
static const char *skip_string(const char *p, const char *end)
{
	p = tsi_json_string_end(p + 1, end);
	return p < end ? p + 1 : end;
}

/* Behind the bracket that closes the one at p, or at end. Only those of its kind count. */
static const char *skip_brackets(const char *p, const char *end)
{
	char open = *p;
	char close = open == '{' ? '}' : ']';
	size_t depth = 0;
	while (p < end) {
		if (*p == '"') {
			p = skip_string(p, end);
			continue;
		}
		depth += *p == open;
		depth -= *p == close;
		p++;
		if (depth == 0)
			return p;
	}
	return end;
}

/* Behind the value that begins at p. A bare word reaches to the next comma, bracket or blank. */
static const char *skip_value(const char *p, const char *end)
{
	if (p == end)
		return end;
	if (*p == '"')
		return skip_string(p, end);
	if (*p == '{' || *p == '[')
		return skip_brackets(p, end);
	while (p < end && *p != ',' && *p != '}' && *p != ']' && !tsi_is_space(*p))
		p++;
	return p;
}

/* Behind the bracket that the text must begin with; else there is nothing in it. */
static void enter(struct json_cursor *cursor, struct str text, char bracket)
{
	text = tsi_str_trim(text);
	cursor->at = cursor->end = text.data;
	if (text.length == 0 || text.data[0] != bracket)
		return;
	cursor->at++;
	cursor->end += text.length;
}

/* The next character that is neither white space nor a comma, or the end. */
static const char *next_item(const struct json_cursor *cursor)
{
	const char *p = tsi_skip_space(cursor->at, cursor->end);
	while (p < cursor->end && *p == ',')
		p = tsi_skip_space(p + 1, cursor->end);
	return p;
}

/* Takes the value that begins at p. */
static bool take_value(struct json_cursor *cursor, const char *p, struct str *value)
{
	const char *value_end = skip_value(p, cursor->end);
	if (value_end == p)
		return false;
	*value = (struct str){ p, (size_t)(value_end - p) };
	cursor->at = value_end;
	return true;
}

struct str tsi_json_plain_key(struct str key, char text[JSON_KEY_MAX])
{
	struct str plain = { text, 0 };
	uint64_t bad_escapes = 0;

	if (key.length > JSON_KEY_MAX || key.length == 0 || !memchr(key.data, '\\', key.length))
		return key;
	plain.length = tsi_json_unescape(key, text, &bad_escapes);
	for (size_t i = 0; i < plain.length; i++)
		if (text[i] < ' ' || text[i] > '~' || text[i] == '"' || text[i] == '\\')
			return key;
	return bad_escapes > 0 ? key : plain;
}

void tsi_json_object_open(struct json_cursor *members, struct str text)
{
	enter(members, text, '{');
}

bool tsi_json_object_next(struct json_cursor *members, struct str *key, struct str *value)
{
	const char *end = members->end, *p = next_item(members);
	if (p == end || *p != '"')
		return false;

	const char *key_end = skip_string(p, end);
	*key = (struct str){ p + 1, (size_t)(key_end - p) - (key_end > p + 1 ? 2 : 1) };
	*key = tsi_json_plain_key(*key, members->key);
	p = tsi_skip_space(key_end, end);
	if (p == end || *p != ':')
		return false;
	return take_value(members, tsi_skip_space(p + 1, end), value);
}

struct str tsi_json_object_get(struct str text, struct str key)
{
	struct json_cursor members;
	struct str name, value, found = { 0 };
	tsi_json_object_open(&members, text);
	while (tsi_json_object_next(&members, &name, &value))
		if (tsi_str_equal(name, key))
			found = value;
	return found;
}

void tsi_json_array_open(struct json_cursor *items, struct str text)
{
	enter(items, text, '[');
}

bool tsi_json_array_next(struct json_cursor *items, struct str *value)
{
	const char *p = next_item(items);
	return p < items->end && *p != ']' && take_value(items, p, value);
}

bool tsi_json_is_string(struct str value)
{
	return value.length && value.data[0] == '"';
}

struct str tsi_json_unquote(struct str value)
{
	if (!tsi_json_is_string(value))
		return value;
	value.data++;
	value.length--;
	if (value.length && value.data[value.length - 1] == '"')
		value.length--;
	return value;
}

/*
 * A decimal number taken apart: digits without leading zeros, and the power of
 * ten of the last one. 12.5e3 is digits "125", exponent 2.
 */
struct decimal {
	bool negative;
	char digits[40]; /* more are dropped: beyond the precision of anything here */
	unsigned digit_count;
	int64_t exponent;
};

static void push_digit(struct decimal *number, char c, bool is_fraction)
{
	bool is_kept = number->digit_count < sizeof(number->digits);
	if (is_kept && (number->digit_count || c != '0'))
		number->digits[number->digit_count++] = c;
	/* A digit after the point lowers the exponent if kept; one before raises it if dropped. */
	number->exponent += is_fraction ? (is_kept ? -1 : 0) : (is_kept ? 0 : 1);
}

static bool parse_exponent(const char *p, const char *end, int64_t *exponent)
{
	bool negative = p < end && *p == '-';
	if (p < end && (*p == '-' || *p == '+'))
		p++;
	if (p == end)
		return false;
	int64_t value = 0;
	for (; p < end; p++) {
		if ((unsigned char)(*p - '0') > 9)
			return false;
		if (value < 100000) /* far beyond any number that can be held */
			value = value * 10 + (*p - '0');
	}
	*exponent += negative ? -value : value;
	return true;
}

static bool parse_decimal(struct str text, struct decimal *number)
{
	text = tsi_str_trim(tsi_json_unquote(text));
	if (text.length == 0)
		return false;
	const char *p = text.data, *end = text.data + text.length;
	*number = (struct decimal){ .negative = p < end && *p == '-' };
	p += number->negative;

	const char *first = p;
	for (; p < end && (unsigned char)(*p - '0') <= 9; p++)
		push_digit(number, *p, false);
	if (p == first)
		return false;
	if (p < end && *p == '.') {
		first = ++p;
		for (; p < end && (unsigned char)(*p - '0') <= 9; p++)
			push_digit(number, *p, true);
		if (p == first)
			return false;
	}
	if (p < end && (*p == 'e' || *p == 'E'))
		return parse_exponent(p + 1, end, &number->exponent);
	return p == end;
}

/* digits * 10^(exponent + shift) as an integer, cut or rounded (halves up in magnitude). */
static bool decimal_to_uint64(const struct decimal *number, int shift, bool round, uint64_t *result)
{
	int64_t exponent = number->exponent + shift;
	/* Digits before the (shifted) point: 125 with exponent -1 has two, "12". */
	int64_t whole = (int64_t)number->digit_count + exponent;
	*result = 0;
	if (number->digit_count == 0 || whole < 0)
		return true;
	if (whole > 20)
		return false;

	uint64_t value = 0;
	for (int64_t i = 0; i < whole; i++) {
		unsigned digit = i < number->digit_count ? (unsigned)(number->digits[i] - '0') : 0;
		if (value > (UINT64_MAX - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	if (round && whole < number->digit_count && number->digits[whole] >= '5') {
		if (value == UINT64_MAX)
			return false;
		value++;
	}
	*result = value;
	return true;
}

static bool decimal_to_int64(const struct decimal *number, int shift, bool round, int64_t *result)
{
	uint64_t magnitude;
	if (!decimal_to_uint64(number, shift, round, &magnitude) ||
	    magnitude > (uint64_t)INT64_MAX + number->negative)
		return false;
	*result = number->negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
	return true;
}

bool tsi_json_to_int64(struct str value, int64_t *number)
{
	struct str plain = tsi_json_unquote(value);
	if (tsi_str_to_int64(plain, number))
		return true;
	struct decimal decimal;
	return parse_decimal(value, &decimal) && decimal_to_int64(&decimal, 0, false, number);
}

/* The usual integer: 1 to 19 digits and nothing else. */
static bool parse_digits(struct str text, uint64_t *number)
{
	uint64_t value = 0;
	if (text.length == 0 || text.length > 19)
		return false;
	for (size_t i = 0; i < text.length; i++) {
		unsigned digit = (unsigned char)text.data[i] - '0';
		if (digit > 9)
			return false;
		value = value * 10 + digit;
	}
	*number = value;
	return true;
}

bool tsi_json_to_uint64(struct str value, uint64_t *number)
{
	struct decimal decimal;
	if (parse_digits(tsi_json_unquote(value), number))
		return true;
	if (!parse_decimal(value, &decimal))
		return false;
	uint64_t magnitude;
	if (!decimal_to_uint64(&decimal, 0, false, &magnitude) || (decimal.negative && magnitude))
		return false;
	*number = magnitude;
	return true;
}

/*
 * Fifteen digits and powers of ten up to 22 are exact as doubles, so that one
 * division or product is rounded once: the nearest double, without strtod.
 */
static bool decimal_to_exact_double(const struct decimal *number, double *result)
{
	static const double powers[] = {
		1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
		1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
	};
	if (number->digit_count > 15 || number->exponent < -22 || number->exponent > 22)
		return false;
	double value = 0;
	for (unsigned i = 0; i < number->digit_count; i++)
		value = value * 10 + (number->digits[i] - '0');
	value = number->exponent < 0 ? value / powers[-number->exponent]
				     : value * powers[number->exponent];
	*result = number->negative ? -value : value;
	return true;
}

bool tsi_json_to_double(struct str value, double *number)
{
	struct decimal decimal;
	if (!parse_decimal(value, &decimal))
		return false;
	if (decimal_to_exact_double(&decimal, number))
		return true;
	/*
	 * strtod needs a NUL behind the text and must not see a locale's comma: digits
	 * and exponent only. Beyond 9999 all exponents give 0 or infinity.
	 */
	char text[sizeof(decimal.digits) + 16];
	int64_t exponent = decimal.exponent;
	exponent = exponent > 9999 ? 9999 : exponent < -9999 ? -9999 : exponent;
	snprintf(text, sizeof(text), "%s%.*se%d", decimal.negative ? "-" : "",
		 (int)decimal.digit_count, decimal.digits, (int)exponent);
	*number = strtod(text, NULL);
	return true;
}

bool tsi_json_to_ns(struct str value, int64_t *ns)
{
	struct str plain = tsi_json_unquote(value);
	int64_t plain_ns;
	if (plain.length && parse_plain_ns(plain.data, plain.data + plain.length, &plain_ns) ==
				    plain.data + plain.length) {
		*ns = plain_ns;
		return true;
	}
	struct decimal decimal;
	return parse_decimal(value, &decimal) && decimal_to_int64(&decimal, 3, true, ns);
}

bool tsi_json_seconds_to_ns(struct str value, int64_t *ns)
{
	struct decimal decimal;
	return parse_decimal(value, &decimal) && decimal_to_int64(&decimal, 9, true, ns);
}

/* The code unit of "\uXXXX" at p, or -1. */
static int32_t code_unit(const char *p, const char *end)
{
	if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
		return -1;
	int32_t unit = 0;
	for (int i = 2; i < 6; i++) {
		int digit = tsi_hex_digit(p[i]);
		if (digit < 0)
			return -1;
		unit = unit * 16 + digit;
	}
	return unit;
}

static char *put_utf8(char *out, uint32_t point)
{
	if (point < 0x80) {
		*out++ = (char)point;
	} else if (point < 0x800) {
		*out++ = (char)(0xc0 | point >> 6);
		*out++ = (char)(0x80 | (point & 0x3f));
	} else if (point < 0x10000) {
		*out++ = (char)(0xe0 | point >> 12);
		*out++ = (char)(0x80 | (point >> 6 & 0x3f));
		*out++ = (char)(0x80 | (point & 0x3f));
	} else {
		*out++ = (char)(0xf0 | point >> 18);
		*out++ = (char)(0x80 | (point >> 12 & 0x3f));
		*out++ = (char)(0x80 | (point >> 6 & 0x3f));
		*out++ = (char)(0x80 | (point & 0x3f));
	}
	return out;
}

/* Decodes "\uXXXX" or a surrogate pair of two at p; NULL if it is none. */
static const char *unescape_unicode(const char *p, const char *end, char **out)
{
	int32_t unit = code_unit(p, end);
	if (unit < 0)
		return NULL;
	p += 6;
	uint32_t point = (uint32_t)unit;
	if (unit >= 0xd800 && unit < 0xdc00) {
		int32_t low = code_unit(p, end);
		if (low >= 0xdc00 && low < 0xe000) {
			point = 0x10000 + ((uint32_t)(unit - 0xd800) << 10) +
				(uint32_t)(low - 0xdc00);
			p += 6;
		}
	}
	if ((point >= 0xd800 && point < 0xe000) || point == 0)
		point = 0xfffd;
	*out = put_utf8(*out, point);
	return p;
}

size_t tsi_json_unescape(struct str text, char *out, uint64_t *bad_escapes)
{
	static const char from[] = "\"\\/bfnrt";
	static const char to[] = "\"\\/\b\f\n\r\t";
	const char *p = text.data, *end = text.length ? text.data + text.length : p;
	char *start = out;

	while (p < end) {
		if (*p != '\\') {
			*out++ = *p++;
			continue;
		}
		const char *behind = unescape_unicode(p, end, &out);
		if (behind) {
			p = behind;
			continue;
		}
		const char *known = p + 1 < end && p[1] ? strchr(from, p[1]) : NULL;
		if (known) {
			*out++ = to[known - from];
			p += 2;
		} else {
			*out++ = *p++;
			++*bad_escapes;
		}
	}
	return (size_t)(out - start);
}
