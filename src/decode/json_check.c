/* SPDX-License-Identifier: MIT */
/*
 * Is a text exactly one JSON value? Asked of metadata values, which some
 * writers print unchecked, before anybody looks into them. RFC 8259, plus bare NaN,
 * Infinity and -Infinity (Python writes them) and commas before a closing bracket.
 */
#include "base/error.h"
#include "decode/json.h"

enum { MAX_DEPTH = 1024 };

struct checker {
	const char *start, *p, *end;
	unsigned depth_limit;
	struct tscope_error *err;
	enum tscope_status status;
};

/* The functions below return false, by this one, where the text is none that they take. */
static bool fail(struct checker *c, const char *expected)
{
	c->status = tsi_fail_at(c->err, TSCOPE_E_DAMAGED, (uint64_t)(c->p - c->start),
				"expected %s", expected);
	return false;
}

static void skip_space(struct checker *c)
{
	c->p = tsi_skip_space(c->p, c->end);
}

static bool take(struct checker *c, char wanted)
{
	if (c->p == c->end || *c->p != wanted)
		return false;
	c->p++;
	return true;
}

static bool take_word(struct checker *c, struct str word)
{
	struct str rest = { c->p, (size_t)(c->end - c->p) };
	if (!tsi_str_has_prefix(rest, word))
		return false;
	c->p += word.length;
	return true;
}

static bool take_digits(struct checker *c)
{
	const char *start = c->p;
	while (c->p < c->end && tsi_is_digit(*c->p))
		c->p++;
	return c->p > start;
}

static bool check_escape(struct checker *c)
{
	static const char known[] = "\"\\/bfnrt";
	if (c->p < c->end && *c->p && strchr(known, *c->p)) {
		c->p++;
		return true;
	}
	if (!take(c, 'u'))
		return fail(c, "an escape that JSON knows");
	for (int i = 0; i < 4; i++, c->p++) {
		if (c->p == c->end || tsi_hex_digit(*c->p) < 0)
			return fail(c, "four hexadecimal digits");
	}
	return true;
}

static bool check_string(struct checker *c)
{
	if (!take(c, '"'))
		return fail(c, "a string");
	while (c->p < c->end) {
		if (take(c, '"'))
			return true;
		if ((unsigned char)*c->p < 0x20)
			return fail(c, "no control character in a string");
		if (*c->p++ == '\\' && !check_escape(c))
			return false;
	}
	return fail(c, "a closing quote");
}

static bool check_number(struct checker *c)
{
	take(c, '-');
	if (take_word(c, TSI_STR("Infinity")))
		return true;
	if (!take(c, '0') && !take_digits(c))
		return fail(c, "a value");
	if (take(c, '.') && !take_digits(c))
		return fail(c, "a digit after the point");
	if (take(c, 'e') || take(c, 'E')) {
		if (!take(c, '+'))
			take(c, '-');
		if (!take_digits(c))
			return fail(c, "a digit in the exponent");
	}
	return true;
}

static bool check_scalar(struct checker *c)
{
	if (c->p < c->end && *c->p == '"')
		return check_string(c);
	return take_word(c, TSI_STR("true")) || take_word(c, TSI_STR("false")) ||
	       take_word(c, TSI_STR("null")) || take_word(c, TSI_STR("NaN")) || check_number(c);
}

static bool check_key(struct checker *c)
{
	if (!check_string(c))
		return false;
	skip_space(c);
	return take(c, ':') || fail(c, "a colon");
}

static bool check_items(struct checker *c, unsigned depth);

/* Recurses as deep as MAX_DEPTH at most. */
static bool check_value(struct checker *c, unsigned depth)
{
	skip_space(c);
	if (c->p == c->end || (*c->p != '{' && *c->p != '['))
		return check_scalar(c);
	if (depth < c->depth_limit)
		return check_items(c, depth + 1);
	c->status = tsi_fail_at(c->err, TSCOPE_E_LIMIT, (uint64_t)(c->p - c->start),
				"values nested deeper than %u (limit: max-depth)", c->depth_limit);
	return false;
}

/* The object or array at c->p. */
static bool check_items(struct checker *c, unsigned depth)
{
	bool is_object = *c->p++ == '{', has_comma = true;
	char close = is_object ? '}' : ']';
	for (skip_space(c); !take(c, close); skip_space(c)) {
		if (!has_comma)
			return fail(c, is_object ? ", or }" : ", or ]");
		if ((is_object && !check_key(c)) || !check_value(c, depth))
			return false;
		skip_space(c);
		has_comma = take(c, ',');
	}
	return true;
}

enum tscope_status tsi_json_check(struct str text, unsigned depth_limit, struct tscope_error *err)
{
	struct checker c = {
		.start = text.data,
		.p = text.data,
		.end = text.data + text.length,
		.depth_limit = depth_limit < MAX_DEPTH ? depth_limit : MAX_DEPTH,
		.err = err,
	};
	if (check_value(&c, 0)) {
		skip_space(&c);
		if (c.p < c.end)
			fail(&c, "the end of the value");
	}
	return c.status;
}
