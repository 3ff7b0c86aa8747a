/* SPDX-License-Identifier: MIT */
/* JSON in one form: what two writers wrote differently, and meant alike, comes out equal. */
#include "decode/json_normal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/real.h"
#include "decode/json.h"

enum tscope_status tsi_json_text_add(struct json_text *text, struct str part,
				     struct tscope_error *err)
{
	if (part.length == 0)
		return TSCOPE_OK;
	if (tsi_array_reserve(&text->chars, &text->capacity, text->length + part.length, 1, err) !=
	    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	memcpy(text->chars + text->length, part.data, part.length);
	text->length += part.length;
	return TSCOPE_OK;
}

enum tscope_status tsi_json_text_add_unescaped(struct json_text *text, struct str inside,
					       struct tscope_error *err)
{
	uint64_t bad_escapes = 0;

	if (inside.length == 0)
		return TSCOPE_OK;
	if (tsi_array_reserve(&text->chars, &text->capacity, text->length + inside.length, 1,
			      err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	text->length += tsi_json_unescape(inside, text->chars + text->length, &bad_escapes);
	return TSCOPE_OK;
}

static enum tscope_status add_char(struct json_text *text, char c, struct tscope_error *err)
{
	return tsi_json_text_add(text, (struct str){ &c, 1 }, err);
}

/* ---- strings and numbers ---- */

/* A text without escapes, in quotes and with those that must be. */
static enum tscope_status add_quoted(struct json_text *text, struct str plain,
				     struct tscope_error *err)
{
	enum tscope_status status = add_char(text, '"', err);

	for (size_t i = 0; status == TSCOPE_OK && i < plain.length; i++) {
		unsigned char c = (unsigned char)plain.data[i];
		char escape[8] = { (char)c, '\0' };

		if (c < ' ')
			snprintf(escape, sizeof(escape), "\\u%04x", (unsigned)c);
		else if (c == '"' || c == '\\')
			snprintf(escape, sizeof(escape), "\\%c", c);
		status = tsi_json_text_add(text, tsi_str_of(escape), err);
	}
	return status == TSCOPE_OK ? add_char(text, '"', err) : status;
}

static enum tscope_status add_string(struct json_text *text, struct str inside,
				     struct tscope_error *err)
{
	struct json_text plain = { 0 };
	enum tscope_status status = tsi_json_text_add_unescaped(&plain, inside, err);

	if (status == TSCOPE_OK)
		status = add_quoted(text, (struct str){ plain.chars, plain.length }, err);
	free(plain.chars);
	return status;
}

static bool is_integer(struct str number)
{
	size_t digits = number.length > 0 && number.data[0] == '-';

	for (size_t i = digits; i < number.length; i++)
		if (!tsi_is_digit(number.data[i]))
			return false;
	return number.length > digits;
}

/* A number, or one of the bare words. Integers keep all their digits. */
static enum tscope_status add_bare(struct json_text *text, struct str bare,
				   struct tscope_error *err)
{
	char shortest[REAL_TEXT_MAX];
	double real;

	if (!tsi_json_to_double(bare, &real) || isnan(real))
		return tsi_json_text_add(text, bare, err);
	if (real == 0)
		return add_char(text, '0', err);
	if (is_integer(bare))
		return tsi_json_text_add(text, bare, err);
	if (isinf(real))
		return tsi_json_text_add(
			text, real < 0 ? TSI_STR("-Infinity") : TSI_STR("Infinity"), err);
	tsi_real_shortest(shortest, real);
	return tsi_json_text_add(text, tsi_str_of(shortest), err);
}

/* ---- arrays and objects ---- */

static enum tscope_status add_value(struct json_text *text, struct str value,
				    struct tscope_error *err);

static enum tscope_status add_array(struct json_text *text, struct str array,
				    struct tscope_error *err)
{
	struct json_array items;
	struct str item;
	enum tscope_status status = add_char(text, '[', err);

	tsi_json_array_open(&items, array);
	for (bool is_first = true; status == TSCOPE_OK && tsi_json_array_next(&items, &item);
	     is_first = false) {
		if (!is_first)
			status = add_char(text, ',', err);
		if (status == TSCOPE_OK)
			status = add_value(text, item, err);
	}
	return status == TSCOPE_OK ? add_char(text, ']', err) : status;
}

struct member {
	size_t name, name_length; /* in the text of all names: that one moves as it grows */
	struct str value;
	const struct json_text *names;
};

static int compare_names(const void *left, const void *right)
{
	const struct member *a = left, *b = right;
	size_t shorter = a->name_length < b->name_length ? a->name_length : b->name_length;
	int order = 0;

	if (shorter > 0)
		order = memcmp(a->names->chars + a->name, b->names->chars + b->name, shorter);
	if (order == 0 && a->name_length != b->name_length)
		order = a->name_length < b->name_length ? -1 : 1;
	return order;
}

/* Of one name in the order in which they came. */
static int compare_members(const void *left, const void *right)
{
	const struct member *a = left, *b = right;
	int order = compare_names(a, b);

	return order ? order : (a->value.data > b->value.data) - (a->value.data < b->value.data);
}

struct members {
	struct member *items;
	size_t count, capacity;
	struct json_text names; /* without escapes, one behind the other */
};

static enum tscope_status list_members(struct members *members, struct str object,
				       struct tscope_error *err)
{
	struct json_object reader;
	struct str name, value;

	tsi_json_object_open(&reader, object);
	while (tsi_json_object_next(&reader, &name, &value)) {
		size_t start = members->names.length;

		if (tsi_array_reserve(&members->items, &members->capacity, members->count + 1,
				      sizeof(*members->items), err) != TSCOPE_OK ||
		    tsi_json_text_add_unescaped(&members->names, name, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		members->items[members->count++] =
			(struct member){ start, members->names.length - start, value,
					 &members->names };
	}
	if (members->count > 0)
		qsort(members->items, members->count, sizeof(*members->items), compare_members);
	return TSCOPE_OK;
}

static enum tscope_status add_member(struct json_text *text, const struct members *members,
				     const struct member *member, struct tscope_error *err)
{
	/* Nothing but empty names leaves no room for names. */
	const char *chars = member->name_length ? members->names.chars + member->name : "";
	struct str name = { chars, member->name_length };
	enum tscope_status status = TSCOPE_OK;

	if (text->chars[text->length - 1] != '{') /* no value ends so */
		status = add_char(text, ',', err);
	if (status == TSCOPE_OK)
		status = add_quoted(text, name, err);
	if (status == TSCOPE_OK)
		status = add_char(text, ':', err);
	return status == TSCOPE_OK ? add_value(text, member->value, err) : status;
}

static enum tscope_status add_object(struct json_text *text, struct str object,
				     struct tscope_error *err)
{
	struct members members = { 0 };
	enum tscope_status status = list_members(&members, object, err);

	if (status == TSCOPE_OK)
		status = add_char(text, '{', err);
	for (size_t i = 0; status == TSCOPE_OK && i < members.count; i++) {
		const struct member *member = &members.items[i];

		if (i + 1 == members.count || compare_names(member, member + 1) != 0)
			status = add_member(text, &members, member, err);
	}
	free(members.items);
	free(members.names.chars);
	return status == TSCOPE_OK ? add_char(text, '}', err) : status;
}

static enum tscope_status add_value(struct json_text *text, struct str value,
				    struct tscope_error *err)
{
	switch (value.length ? value.data[0] : '\0') {
	case '{':
		return add_object(text, value, err);
	case '[':
		return add_array(text, value, err);
	case '"':
		return add_string(text, tsi_json_unquote(value), err);
	default:
		return add_bare(text, value, err);
	}
}

enum tscope_status tsi_json_normalize(struct json_text *text, struct str value,
				      struct tscope_error *err)
{
	return add_value(text, tsi_str_trim(value), err);
}
