/* SPDX-License-Identifier: MIT */
/* Reads plain data that a test wrote down; what it does not know fails the test. */
#include "plain_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "decode/plain/plain_graph.h"

enum { MAX_NAMES = 64, MAX_NAME_BYTES = 32, MAX_TEXT_BYTES = 4096 };

struct named {
	char name[MAX_NAME_BYTES];
	uint32_t word;
};

struct text_reader {
	const char *at;
	struct plain *plain;
	struct tscope_error err; /* of the plain */
	struct named names[MAX_NAMES];
	size_t name_count;
	struct named *pending; /* gets the value that comes next */
};

static void skip_space(struct text_reader *r)
{
	while (tsi_is_space(*r->at))
		r->at++;
}

static void expect(struct text_reader *r, char c)
{
	skip_space(r);
	if (*r->at != c)
		fail_msg("plain data: '%c' is missing before %.40s", c, r->at);
	r->at++;
}

static bool accept(struct text_reader *r, char c)
{
	skip_space(r);
	if (*r->at != c)
		return false;
	r->at++;
	return true;
}

static bool is_word_character(char c)
{
	return tsi_is_letter(c) || tsi_is_digit(c) || c == '_';
}

/* ---- scalars ---------------------------------------------------------------------------- */

static uint32_t add_text(struct text_reader *r, struct str text)
{
	return tsi_graph_add_text(r->plain, WORD_TEXT, text);
}

static uint32_t read_quoted(struct text_reader *r)
{
	char text[MAX_TEXT_BYTES];
	size_t length = 0;

	for (r->at++; *r->at != '\''; r->at++) {
		char c = *r->at;
		assert_true(c && length < sizeof(text));
		if (c == '\\' && *++r->at == 'x') {
			c = (char)(tsi_hex_digit(r->at[1]) * 16 + tsi_hex_digit(r->at[2]));
			r->at += 2;
		} else if (c == '\\') {
			c = *r->at;
			c = (char)(c == 'n' ? '\n' : c == 't' ? '\t' : c);
		}
		text[length++] = c;
	}
	r->at++;
	return add_text(r, (struct str){ text, length });
}

static struct str take_word(struct text_reader *r)
{
	const char *start = r->at;

	while (is_word_character(*r->at))
		r->at++;
	if (r->at == start)
		fail_msg("plain data: no value before %.40s", start);
	return (struct str){ start, (size_t)(r->at - start) };
}

static uint32_t read_bare(struct text_reader *r)
{
	struct str word = take_word(r);

	if (tsi_str_is(word, "none"))
		return tsi_word(WORD_NONE, 0);
	if (tsi_str_is(word, "true") || tsi_str_is(word, "false"))
		return tsi_word(WORD_BOOL, word.data[0] == 't');
	return add_text(r, word);
}

static uint32_t read_number(struct text_reader *r)
{
	const char *start = r->at;
	bool is_negative = *start == '-', has_fraction = false;
	uint32_t word;
	char *end;

	for (r->at++; is_word_character(*r->at) || *r->at == '.'; r->at++)
		has_fraction = has_fraction || *r->at == '.';
	errno = 0;
	if (has_fraction)
		word = tsi_graph_add_real(r->plain, strtod(start, &end));
	else if (is_negative)
		word = tsi_graph_add_int64(r->plain, strtoll(start, &end, 0));
	else
		word = tsi_graph_add_uint64(r->plain, strtoull(start, &end, 0));
	if (errno || end != r->at)
		fail_msg("plain data: no number: %.40s", start);
	return word;
}

/* ---- containers and names --------------------------------------------------------------- */

static uint32_t read_value(struct text_reader *r);

static uint32_t new_object(struct text_reader *r, enum word_tag tag)
{
	uint32_t word = tsi_graph_add_object(r->plain, tag);

	if (r->pending)
		r->pending->word = word;
	r->pending = NULL;
	return word;
}

static uint32_t read_sequence(struct text_reader *r, enum word_tag tag, char close)
{
	uint32_t list = new_object(r, tag), *items = NULL;
	size_t count = 0;

	for (r->at++; !accept(r, close); count++) {
		uint32_t item = read_value(r);
		items = realloc(items, (count + 1) * sizeof(*items));
		assert_non_null(items);
		items[count] = item;
		if (!accept(r, ',')) {
			expect(r, close);
			count++;
			break;
		}
	}
	tsi_graph_append(r->plain, list, items, count);
	free(items);
	return list;
}

static uint32_t read_dict(struct text_reader *r)
{
	uint32_t dict = new_object(r, WORD_DICT);

	for (r->at++; !accept(r, '}');) {
		uint32_t pair[2];
		pair[0] = read_value(r);
		expect(r, ':');
		pair[1] = read_value(r);
		tsi_graph_set(r->plain, dict, pair, 1);
		if (!accept(r, ',')) {
			expect(r, '}');
			break;
		}
	}
	return dict;
}

static struct named *find_name(struct text_reader *r, struct str name)
{
	for (size_t i = 0; i < r->name_count; i++)
		if (tsi_str_equal(tsi_str_of(r->names[i].name), name))
			return &r->names[i];
	return NULL;
}

static uint32_t read_named(struct text_reader *r)
{
	r->at++;
	struct str name = take_word(r);
	struct named *named = find_name(r, name);

	if (!accept(r, '=')) {
		if (!named)
			fail_msg("plain data: nothing is named %.*s", TSI_QUOTE(name));
		return named ? named->word : 0;
	}
	assert_null(named);
	assert_true(r->name_count < MAX_NAMES && name.length < MAX_NAME_BYTES);
	named = &r->names[r->name_count++];
	memcpy(named->name, name.data, name.length);
	r->pending = named;
	skip_space(r);
	named->word = read_value(r);
	r->pending = NULL;
	return named->word;
}

static uint32_t read_value(struct text_reader *r)
{
	skip_space(r);
	switch (*r->at) {
	case '[':
		return read_sequence(r, WORD_LIST, ']');
	case '(':
		return read_sequence(r, WORD_TUPLE, ')');
	case '{':
		return read_dict(r);
	case '@':
		return read_named(r);
	case '\'':
		return read_quoted(r);
	case '-':
		return read_number(r);
	default:
		return tsi_is_digit(*r->at) ? read_number(r) : read_bare(r);
	}
}

struct plain *plain_of(const char *text)
{
	struct plain *plain = NULL;
	struct text_reader reader = { .at = text, .plain = calloc(1, sizeof(struct plain)) };

	assert_non_null(reader.plain);
	tsi_graph_init(reader.plain, NULL, &reader.err);
	reader.plain->root = read_value(&reader);
	skip_space(&reader);
	if (*reader.at)
		fail_msg("plain data: what is %.40s", reader.at);
	assert_int_equal(tsi_graph_end(reader.plain, &reader.err, &plain, NULL), TSCOPE_OK);
	return plain;
}
