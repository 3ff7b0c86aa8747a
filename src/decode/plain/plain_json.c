/* SPDX-License-Identifier: MIT */
/*
 * Plain data as JSON: memory timelines, and snapshots that somebody dumped so. Streams: of the
 * document only the text or number in hand is in memory. No recursion: what may come next is a
 * state, and the containers that are open are the builder's.
 *
 * RFC 8259, and the bare words NaN, Infinity and -Infinity, which Python writes.
 */
#include "decode/plain/plain_reader.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "decode/foreign.h"
#include "decode/json.h"
#include "decode/plain/plain_build.h"
#include "decode/plain/plain_cursor.h"

/* What may come next. */
enum json_state {
	AT_VALUE,
	AT_FIRST_ITEM,
	AT_FIRST_KEY,
	AT_KEY,
	BEHIND_ITEM,
	BEHIND_MEMBER,
	BEHIND_ROOT,
	STATE_COUNT,
};

static const char *const expected_next[STATE_COUNT] = {
	[AT_VALUE] = "a value", [AT_FIRST_ITEM] = "a value or ]", [AT_FIRST_KEY] = "a key or }",
	[AT_KEY] = "a key",     [BEHIND_ITEM] = ", or ]",         [BEHIND_MEMBER] = ", or }",
	[BEHIND_ROOT] = "",
};

struct json_reader {
	struct plain_cursor cursor;
	struct plain_build build;
	enum json_state state;
	char *scratch; /* for a text without its escapes */
	size_t scratch_capacity;
	struct tscope_error *err;
};

/* ---- errors ---------------------------------------------------------------------------- */

static enum tscope_status fail_truncated(struct json_reader *r, const char *expected)
{
	return tsi_fail_at(r->err, TSCOPE_E_DAMAGED, tsi_cursor_offset(&r->cursor),
			   "JSON: truncated: expected %s", expected);
}

static enum tscope_status fail_at_byte(struct json_reader *r, const char *expected)
{
	unsigned char byte = (unsigned char)*r->cursor.at;
	uint64_t offset = tsi_cursor_offset(&r->cursor);

	if (byte > ' ' && byte <= '~')
		return tsi_fail_at(r->err, TSCOPE_E_DAMAGED, offset, "JSON: expected %s, found %c",
				   expected, byte);
	return tsi_fail_at(r->err, TSCOPE_E_DAMAGED, offset, "JSON: expected %s, found byte 0x%02x",
			   expected, byte);
}

/* ---- texts ----------------------------------------------------------------------------- */

/* From *looked_at on; true: the closing quote is at *looked_at, else where to look on. */
static bool find_quote(const struct plain_cursor *cursor, size_t *looked_at, bool *has_escapes)
{
	const char *at = cursor->at + *looked_at, *end = cursor->end;

	if (*looked_at == 0) { /* the usual text: all shown, and no escape in it */
		const char *quote = memchr(at, '"', (size_t)(end - at));
		if (quote && !memchr(at, '\\', (size_t)(quote - at))) {
			*looked_at = (size_t)(quote - at);
			return true;
		}
	}
	for (; at < end && *at != '"'; at++) {
		if (*at != '\\')
			continue;
		*has_escapes = true;
		if (end - at == 1)
			break; /* what it escapes is not shown */
		at++;
	}
	*looked_at = (size_t)(at - cursor->at);
	return at < end && *at == '"';
}

static enum tscope_status add_escaped(struct json_reader *r, struct str text, uint32_t *word)
{
	uint64_t bad_escapes = 0;

	if (tsi_array_reserve(&r->scratch, &r->scratch_capacity, text.length, 1, r->err) !=
	    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	struct str plain = { r->scratch, tsi_json_unescape(text, r->scratch, &bad_escapes) };
	if (bad_escapes)
		return tsi_fail_at(r->err, TSCOPE_E_DAMAGED, tsi_cursor_offset(&r->cursor),
				   "JSON: a text with a wrong escape");
	return tsi_graph_add_text(r->build.plain, WORD_TEXT, plain, word, r->err);
}

/* The cursor is at the opening quote, and moves behind the closing one. */
static enum tscope_status take_text(struct json_reader *r, uint32_t *word)
{
	struct plain_cursor *cursor = &r->cursor;
	size_t length = 0;
	bool has_escapes = false;
	enum tscope_status status = TSCOPE_OK;

	cursor->at++;
	while (status == TSCOPE_OK && !find_quote(cursor, &length, &has_escapes)) {
		status = tsi_cursor_check_length(cursor, length);
		if (status == TSCOPE_OK)
			status = tsi_cursor_show_more(cursor);
	}
	if (status == TSCOPE_END) {
		cursor->at = cursor->end;
		return fail_truncated(r, "a closing quote");
	}
	if (status == TSCOPE_OK)
		status = tsi_cursor_check_length(cursor, length);
	if (status != TSCOPE_OK)
		return status;

	struct str text = { cursor->at, length };
	status = has_escapes ? add_escaped(r, text, word)
			     : tsi_graph_add_text(r->build.plain, WORD_TEXT, text, word, r->err);
	cursor->at += length + 1;
	return status;
}

/* ---- numbers and other words ----------------------------------------------------------- */

static bool ends_word(char c)
{
	return c == ',' || c == ']' || c == '}' || c == ':' || c == '"' || tsi_is_space(c);
}

/* Up to what ends it, or to the end of the input; it is not taken yet. */
static enum tscope_status show_word(struct json_reader *r, struct str *word)
{
	struct plain_cursor *cursor = &r->cursor;
	size_t length = 0;
	enum tscope_status status = TSCOPE_OK;

	while (status == TSCOPE_OK) {
		size_t shown = (size_t)(cursor->end - cursor->at);
		while (length < shown && !ends_word(cursor->at[length]))
			length++;
		if (length < shown)
			break;
		status = tsi_cursor_check_length(cursor, length);
		if (status == TSCOPE_OK)
			status = tsi_cursor_show_more(cursor);
	}
	*word = (struct str){ cursor->at, length };
	if (status != TSCOPE_OK && status != TSCOPE_END)
		return status;
	return tsi_cursor_check_length(cursor, length);
}

/* A whole number is exact if it fits into 64 bits; all others are real. */
static enum tscope_status add_number(struct json_reader *r, struct str text, uint32_t *word)
{
	bool is_natural = true;
	uint64_t natural;
	double real = 0;

	for (size_t i = 0; i < text.length; i++)
		is_natural &= tsi_is_digit(text.data[i]);
	if (is_natural && tsi_json_to_uint64(text, &natural))
		return tsi_graph_add_uint64(r->build.plain, natural, word, r->err);
	(void)tsi_json_to_double(text, &real);
	return tsi_graph_add_real(r->build.plain, real, word, r->err);
}

static enum tscope_status fail_word(struct json_reader *r, struct str word)
{
	uint64_t offset = tsi_cursor_offset(&r->cursor);

	if (word.data + word.length == r->cursor.end) { /* the input ends in it */
		r->cursor.at = r->cursor.end;
		return fail_truncated(r, "a value");
	}
	return tsi_fail_at(r->err, TSCOPE_E_DAMAGED, offset,
			   "JSON: expected a value, found \"%.*s\"", TSI_QUOTE(word));
}

static enum tscope_status add_constant(struct json_reader *r, struct str text, uint32_t *word)
{
	static const struct {
		struct str text;
		enum word_tag tag;
		uint32_t payload;
		double real;
	} constants[] = {
		{ { "null", 4 }, WORD_NONE, 0, 0 },
		{ { "true", 4 }, WORD_BOOL, 1, 0 },
		{ { "false", 5 }, WORD_BOOL, 0, 0 },
		{ { "NaN", 3 }, WORD_REAL, 0, NAN },
		{ { "Infinity", 8 }, WORD_REAL, 0, INFINITY },
		{ { "-Infinity", 9 }, WORD_REAL, 0, -INFINITY },
	};
	size_t i = 0;

	while (i < TSI_COUNT_OF(constants) && !tsi_str_equal(text, constants[i].text))
		i++;
	if (i == TSI_COUNT_OF(constants))
		return fail_word(r, text);
	if (constants[i].tag == WORD_REAL)
		return tsi_graph_add_real(r->build.plain, constants[i].real, word, r->err);
	*word = tsi_word(constants[i].tag, constants[i].payload);
	return TSCOPE_OK;
}

static enum tscope_status take_word(struct json_reader *r, uint32_t *word)
{
	struct str text;
	int64_t integer;
	enum tscope_status status = show_word(r, &text);

	if (status != TSCOPE_OK)
		return status;
	size_t sign = *text.data == '-' && text.length > 1;
	char first = text.data[sign];
	bool is_usual = first != '0' || text.length == sign + 1;
	if (is_usual && tsi_str_to_int64(text, &integer))
		status = tsi_graph_add_int64(r->build.plain, integer, word, r->err);
	else if (tsi_is_digit(first) && tsi_json_check(text, 0, NULL) == TSCOPE_OK)
		status = add_number(r, text, word);
	else
		status = add_constant(r, text, word);
	r->cursor.at += text.length;
	return status;
}

/* ---- the grammar ----------------------------------------------------------------------- */

/* A value is complete. */
static enum tscope_status push(struct json_reader *r, uint32_t word)
{
	static const enum json_state behind[] = {
		[WORD_ABSENT] = BEHIND_ROOT,
		[WORD_LIST] = BEHIND_ITEM,
		[WORD_DICT] = BEHIND_MEMBER,
	};

	r->state = behind[tsi_build_inside(&r->build)];
	return tsi_build_push(&r->build, word);
}

static enum tscope_status take_open(struct json_reader *r, enum word_tag tag)
{
	enum tscope_status status = tsi_build_open(&r->build, tag);

	if (status != TSCOPE_OK)
		return status;
	r->cursor.at++;
	r->state = tag == WORD_LIST ? AT_FIRST_ITEM : AT_FIRST_KEY;
	return status;
}

static enum tscope_status take_close(struct json_reader *r)
{
	uint32_t object;
	enum tscope_status status = tsi_build_close(&r->build, &object);

	if (status != TSCOPE_OK)
		return status;
	r->cursor.at++;
	return push(r, object);
}

static enum tscope_status take_value(struct json_reader *r)
{
	char c = *r->cursor.at;
	uint32_t word = 0;

	if (c == '[')
		return take_open(r, WORD_LIST);
	if (c == '{')
		return take_open(r, WORD_DICT);
	if (ends_word(c) && c != '"')
		return fail_at_byte(r, expected_next[r->state]);
	enum tscope_status status = c == '"' ? take_text(r, &word) : take_word(r, &word);
	return status == TSCOPE_OK ? push(r, word) : status;
}

/* And the colon behind it. */
static enum tscope_status take_key(struct json_reader *r)
{
	uint32_t word = 0;

	if (*r->cursor.at != '"')
		return fail_at_byte(r, expected_next[r->state]);
	enum tscope_status status = take_text(r, &word);
	if (status == TSCOPE_OK)
		status = tsi_build_push(&r->build, word);
	if (status == TSCOPE_OK)
		status = tsi_cursor_skip_space(&r->cursor);
	if (status == TSCOPE_END)
		return fail_truncated(r, "a colon");
	if (status != TSCOPE_OK)
		return status;
	if (*r->cursor.at != ':')
		return fail_at_byte(r, "a colon");
	r->cursor.at++;
	r->state = AT_VALUE;
	return TSCOPE_OK;
}

static enum tscope_status take_comma(struct json_reader *r, enum json_state next)
{
	if (*r->cursor.at != ',')
		return fail_at_byte(r, expected_next[r->state]);
	r->cursor.at++;
	r->state = next;
	return TSCOPE_OK;
}

static enum tscope_status take_next(struct json_reader *r)
{
	enum tscope_status status = tsi_cursor_skip_space(&r->cursor);

	if (status == TSCOPE_END)
		return fail_truncated(r, expected_next[r->state]);
	if (status != TSCOPE_OK)
		return status;
	char c = *r->cursor.at;
	switch (r->state) {
	case AT_FIRST_ITEM:
		return c == ']' ? take_close(r) : take_value(r);
	case BEHIND_ITEM:
		return c == ']' ? take_close(r) : take_comma(r, AT_VALUE);
	case AT_FIRST_KEY:
		return c == '}' ? take_close(r) : take_key(r);
	case BEHIND_MEMBER:
		return c == '}' ? take_close(r) : take_comma(r, AT_KEY);
	case AT_KEY:
		return take_key(r);
	default:
		return take_value(r);
	}
}

/* ---- the document ---------------------------------------------------------------------- */

static enum tscope_status begin(struct json_reader *r)
{
	static const char firsts[] = "{[\"-0123456789tfnNI";
	enum tscope_status status = tsi_cursor_skip_mark(&r->cursor);

	if (status == TSCOPE_OK)
		status = tsi_cursor_skip_space(&r->cursor);
	if (status == TSCOPE_END)
		return tsi_fail_at(r->err, TSCOPE_E_EMPTY, tsi_cursor_offset(&r->cursor),
				   "no JSON: no value");
	if (status == TSCOPE_OK && !memchr(firsts, *r->cursor.at, sizeof(firsts) - 1))
		return tsi_fail_at(r->err, TSCOPE_E_FORMAT, tsi_cursor_offset(&r->cursor),
				   "not JSON: begins with byte 0x%02x",
				   (unsigned char)*r->cursor.at);
	/* Snapshots: each stack is written out wherever it is meant. */
	if (status == TSCOPE_OK)
		status = tsi_graph_add_text(r->build.plain, WORD_TEXT, TSI_STR("frames"),
					    &r->build.shared_key, r->err);
	return status;
}

/* What follows is counted, but for white space. */
static enum tscope_status finish(struct json_reader *r)
{
	enum tscope_status status = tsi_cursor_skip_space(&r->cursor);

	if (status == TSCOPE_END)
		return TSCOPE_OK;
	if (status != TSCOPE_OK)
		return status;
	return tsi_cursor_skip_rest(&r->cursor, &r->build.plain->trailing_bytes);
}

static enum tscope_status read_json(struct plain **ret, struct input *in,
				    const struct plain_limits *limits, struct tscope_error *err)
{
	struct tscope_error own_err = { 0 };
	struct json_reader r = { .err = err ? err : &own_err };

	tsi_cursor_init(&r.cursor, in, limits ? limits->max_text_bytes : 0, r.err);
	enum tscope_status status = tsi_build_init(&r.build, limits, r.err);
	if (status == TSCOPE_OK)
		status = begin(&r);
	while (status == TSCOPE_OK && r.state != BEHIND_ROOT)
		status = take_next(&r);
	if (status == TSCOPE_OK)
		status = finish(&r);
	status = tsi_cursor_place_limit(&r.cursor, status, "JSON");
	free(r.scratch);
	return tsi_build_end(&r.build, status, ret);
}

/* A bracket alone: what it opens may be a trace as well. */
static unsigned taste_json(struct str head)
{
	head = tsi_str_trim(tsi_plain_skip_mark(head));
	if (tsi_is_pstats(head))
		return 0;
	return head.length && (head.data[0] == '{' || head.data[0] == '[') ? 8 : 0;
}

const struct plain_reader tsi_plain_reader_json = {
	.form = "json",
	.taste = taste_json,
	.read = read_json,
};
