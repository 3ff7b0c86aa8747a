/* SPDX-License-Identifier: MIT */
/* JSON in one form: what two writers wrote differently, and meant alike, comes out equal. */
#include "decode/json_normal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/real.h"
#include "decode/json.h"

/* Room for so many bytes behind the text, or NULL. */
static char *make_room(struct json_text *text, size_t bytes)
{
	char *chars = tsi_arena_reserve(text->arena, text->chars, &text->capacity,
					text->length + bytes, 1);

	if (!chars)
		return NULL;
	text->chars = chars;
	return chars + text->length;
}

void tsi_json_text_add(struct json_text *text, struct str part)
{
	char *room = part.length ? make_room(text, part.length) : NULL;

	if (!room)
		return;
	memcpy(room, part.data, part.length);
	text->length += part.length;
}

void tsi_json_text_add_unescaped(struct json_text *text, struct str inside)
{
	char *room = inside.length ? make_room(text, inside.length) : NULL;
	uint64_t bad_escapes = 0;

	if (room)
		text->length += tsi_json_unescape(inside, room, &bad_escapes);
}

static void add_char(struct json_text *text, char c)
{
	tsi_json_text_add(text, (struct str){ &c, 1 });
}

/* ---- strings and numbers ---- */

struct normalizer {
	struct json_text *text;
	struct arena scratch;
	struct json_text plain; /* a string without its escapes; in scratch */
};

/* A text without escapes, in quotes and with those that must be. */
static void add_quoted(struct json_text *text, struct str plain)
{
	add_char(text, '"');
	for (size_t i = 0; i < plain.length; i++) {
		unsigned char c = (unsigned char)plain.data[i];
		char escape[8] = { (char)c, '\0' };

		if (c < ' ')
			snprintf(escape, sizeof(escape), "\\u%04x", (unsigned)c);
		else if (c == '"' || c == '\\')
			snprintf(escape, sizeof(escape), "\\%c", c);
		tsi_json_text_add(text, tsi_str_of(escape));
	}
	add_char(text, '"');
}

static void add_string(struct normalizer *n, struct str inside)
{
	n->plain.length = 0;
	tsi_json_text_add_unescaped(&n->plain, inside);
	add_quoted(n->text, (struct str){ n->plain.chars, n->plain.length });
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
static void add_bare(struct json_text *text, struct str bare)
{
	char shortest[REAL_TEXT_MAX];
	double real;

	if (tsi_json_to_double(bare, &real) && !isnan(real)) {
		if (real == 0) {
			bare = TSI_STR("0");
		} else if (!is_integer(bare) && isinf(real)) {
			bare = real < 0 ? TSI_STR("-Infinity") : TSI_STR("Infinity");
		} else if (!is_integer(bare)) {
			tsi_real_shortest(shortest, real);
			bare = tsi_str_of(shortest);
		}
	}
	tsi_json_text_add(text, bare);
}

/* ---- arrays and objects ---- */

static void add_value(struct normalizer *n, struct str value);

static void add_array(struct normalizer *n, struct str array)
{
	struct json_cursor items;
	struct str item;

	add_char(n->text, '[');
	tsi_json_array_open(&items, array);
	for (bool is_first = true; tsi_json_array_next(&items, &item); is_first = false) {
		if (!is_first)
			add_char(n->text, ',');
		add_value(n, item);
	}
	add_char(n->text, ']');
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

/* By name; members of one name in the order in which they came. */
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

static void list_members(struct members *members, struct str object)
{
	struct arena *arena = members->names.arena;
	struct json_cursor reader;
	struct str name, value;

	tsi_json_object_open(&reader, object);
	while (tsi_json_object_next(&reader, &name, &value)) {
		size_t start = members->names.length;
		struct member *member = tsi_arena_push(arena, &members->items, &members->count,
						       &members->capacity, sizeof(*member));
		if (!member)
			break;
		tsi_json_text_add_unescaped(&members->names, name);
		*member = (struct member){ start, members->names.length - start, value,
					   &members->names };
	}
	if (members->count > 0)
		qsort(members->items, members->count, sizeof(*members->items), compare_members);
}

static void add_object(struct normalizer *n, struct str object)
{
	struct members members = { .names.arena = &n->scratch };
	bool is_first = true;

	list_members(&members, object);
	add_char(n->text, '{');
	for (size_t i = 0; i < members.count; i++) {
		const struct member *member = &members.items[i];

		if (i + 1 < members.count && compare_names(member, member + 1) == 0)
			continue;
		/* Nothing but empty names leaves no room for names. */
		const char *name = member->name_length ? members.names.chars + member->name : "";
		if (!is_first)
			add_char(n->text, ',');
		add_quoted(n->text, (struct str){ name, member->name_length });
		add_char(n->text, ':');
		add_value(n, member->value);
		is_first = false;
	}
	add_char(n->text, '}');
}

static void add_value(struct normalizer *n, struct str value)
{
	switch (value.length ? value.data[0] : '\0') {
	case '{':
		add_object(n, value);
		break;
	case '[':
		add_array(n, value);
		break;
	case '"':
		add_string(n, tsi_json_unquote(value));
		break;
	default:
		add_bare(n->text, value);
	}
}

void tsi_json_normalize(struct json_text *text, struct str value)
{
	struct normalizer n = { .text = text };

	n.plain.arena = &n.scratch;
	add_value(&n, tsi_str_trim(value));
	text->arena->has_failed |= n.scratch.has_failed;
	tsi_arena_deinit(&n.scratch);
}
