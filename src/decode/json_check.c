/* SPDX-License-Identifier: MIT */
/*
 * Is a text exactly one JSON value? Asked of metadata values, which some
 * writers print unchecked, before anybody looks into them. RFC 8259, plus bare NaN,
 * Infinity and -Infinity (Python writes them) and commas before a closing bracket.
 *
 * No recursion: what is open stands as one bit per level.
 */
#include "base/error.h"
#include "decode/json.h"

enum { MAX_DEPTH = 1024 };

struct checker {
	const char *start, *p, *end;
	unsigned depth, depth_limit;
	uint64_t is_object[MAX_DEPTH / 64]; /* bit per open level: an object, else an array */
	struct tscope_error *err;
};

static enum tscope_status wrong(const struct checker *c, const char *expected)
{
	return tsi_fail_at(c->err, TSCOPE_E_DAMAGED, (uint64_t)(c->p - c->start), "expected %s",
			   expected);
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
	while (c->p < c->end && *c->p >= '0' && *c->p <= '9')
		c->p++;
	return c->p > start;
}

static enum tscope_status check_escape(struct checker *c)
{
	static const char known[] = "\"\\/bfnrt";
	if (c->p < c->end && *c->p && strchr(known, *c->p)) {
		c->p++;
		return TSCOPE_OK;
	}
	if (!take(c, 'u'))
		return wrong(c, "an escape that JSON knows");
	for (int i = 0; i < 4; i++, c->p++) {
		if (c->p == c->end || !*c->p || !strchr("0123456789abcdefABCDEF", *c->p))
			return wrong(c, "four hexadecimal digits");
	}
	return TSCOPE_OK;
}

static enum tscope_status check_string(struct checker *c)
{
	if (!take(c, '"'))
		return wrong(c, "a string");
	while (c->p < c->end) {
		if (take(c, '"'))
			return TSCOPE_OK;
		if ((unsigned char)*c->p < 0x20)
			return wrong(c, "no control character in a string");
		if (*c->p++ != '\\')
			continue;
		if (check_escape(c) != TSCOPE_OK)
			return TSCOPE_E_DAMAGED;
	}
	return wrong(c, "a closing quote");
}

static enum tscope_status check_number(struct checker *c)
{
	take(c, '-');
	if (take_word(c, TSI_STR("Infinity")))
		return TSCOPE_OK;
	if (!take(c, '0') && !take_digits(c))
		return wrong(c, "a value");
	if (take(c, '.') && !take_digits(c))
		return wrong(c, "a digit after the point");
	if (take(c, 'e') || take(c, 'E')) {
		if (!take(c, '+'))
			take(c, '-');
		if (!take_digits(c))
			return wrong(c, "a digit in the exponent");
	}
	return TSCOPE_OK;
}

static enum tscope_status check_scalar(struct checker *c)
{
	if (c->p < c->end && *c->p == '"')
		return check_string(c);
	if (take_word(c, TSI_STR("true")) || take_word(c, TSI_STR("false")) ||
	    take_word(c, TSI_STR("null")) || take_word(c, TSI_STR("NaN")))
		return TSCOPE_OK;
	return check_number(c);
}

static bool in_object(const struct checker *c)
{
	unsigned level = c->depth - 1;
	return c->is_object[level / 64] >> (level % 64) & 1;
}

static enum tscope_status open_level(struct checker *c, bool is_object)
{
	if (c->depth >= c->depth_limit)
		return tsi_fail_at(c->err, TSCOPE_E_LIMIT, (uint64_t)(c->p - c->start),
				   "values nested deeper than %u (limit: max-depth)",
				   c->depth_limit);
	uint64_t bit = (uint64_t)1 << (c->depth % 64);
	c->is_object[c->depth / 64] &= ~bit;
	c->is_object[c->depth / 64] |= is_object ? bit : 0;
	c->depth++;
	c->p++;
	return TSCOPE_OK;
}

/* Closing brackets, as many as there are; *at_value: a comma came and a value must follow. */
static enum tscope_status close_levels(struct checker *c, bool *at_value)
{
	*at_value = false;
	for (skip_space(c); c->depth; skip_space(c)) {
		if (take(c, in_object(c) ? '}' : ']')) {
			c->depth--;
			continue;
		}
		if (!take(c, ','))
			return wrong(c, in_object(c) ? ", or }" : ", or ]");
		skip_space(c);
		if (c->p < c->end && *c->p == (in_object(c) ? '}' : ']'))
			continue; /* a trailing comma */
		*at_value = true;
		return TSCOPE_OK;
	}
	return TSCOPE_OK;
}

static enum tscope_status check_key(struct checker *c)
{
	if (check_string(c) != TSCOPE_OK)
		return TSCOPE_E_DAMAGED;
	skip_space(c);
	return take(c, ':') ? TSCOPE_OK : wrong(c, "a colon");
}

/*
 * One value or opening bracket, with its key inside an object. *is_open: what
 * is in the bracket must follow.
 */
static enum tscope_status check_item(struct checker *c, bool *is_open)
{
	enum tscope_status status;
	*is_open = false;
	if (c->depth && in_object(c) && (status = check_key(c)) != TSCOPE_OK)
		return status;
	skip_space(c);
	if (c->p == c->end || (*c->p != '{' && *c->p != '['))
		return check_scalar(c);

	bool is_object = *c->p == '{';
	if ((status = open_level(c, is_object)) != TSCOPE_OK)
		return status;
	skip_space(c);
	*is_open = c->p == c->end || *c->p != (is_object ? '}' : ']');
	return TSCOPE_OK;
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
	bool at_value = true;
	skip_space(&c);
	while (at_value) {
		enum tscope_status status = check_item(&c, &at_value);
		if (status == TSCOPE_OK && !at_value)
			status = close_levels(&c, &at_value);
		if (status != TSCOPE_OK)
			return status;
	}
	return c.p == c.end ? TSCOPE_OK : wrong(&c, "the end of the value");
}
