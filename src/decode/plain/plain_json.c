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

/* Expected next token. */
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
	struct tscope_error *err; /* the build's: the first failure ends the reading */
};

/* ---- errors ---------------------------------------------------------------------------- */

/* After a step of the cursor; false: failed. `expected` is missing where the input is over. */
static bool is_shown(struct json_reader *r, enum tscope_status status, const char *expected)
{
	if (status == TSCOPE_END)
		tsi_fail_at(r->err, TSCOPE_E_DAMAGED, tsi_cursor_offset(&r->cursor),
			    "JSON: truncated: expected %s", expected);
	return status == TSCOPE_OK;
}

static void fail_at_byte(struct json_reader *r, const char *expected)
{
	unsigned char byte = (unsigned char)*r->cursor.at;
	uint64_t offset = tsi_cursor_offset(&r->cursor);

	if (byte > ' ' && byte <= '~')
		tsi_fail_at(r->err, TSCOPE_E_DAMAGED, offset, "JSON: expected %s, found %c",
			    expected, byte);
	else
		tsi_fail_at(r->err, TSCOPE_E_DAMAGED, offset,
			    "JSON: expected %s, found byte 0x%02x", expected, byte);
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

static uint32_t add_escaped(struct json_reader *r, struct str text)
{
	uint64_t bad_escapes = 0;

	if (tsi_array_reserve(&r->scratch, &r->scratch_capacity, text.length, 1, r->err) !=
	    TSCOPE_OK)
		return 0;
	struct str plain = { r->scratch, tsi_json_unescape(text, r->scratch, &bad_escapes) };
	if (bad_escapes) {
		tsi_fail_at(r->err, TSCOPE_E_DAMAGED, tsi_cursor_offset(&r->cursor),
			    "JSON: a text with a wrong escape");
		return 0;
	}
	return tsi_graph_add_text(r->build.plain, WORD_TEXT, plain);
}

/* The cursor is at the opening quote, and moves behind the closing one. */
static uint32_t take_text(struct json_reader *r)
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
	if (status == TSCOPE_END)
		cursor->at = cursor->end;
	if (!is_shown(r, status, "a closing quote") ||
	    tsi_cursor_check_length(cursor, length) != TSCOPE_OK)
		return 0;

	struct str text = { cursor->at, length };
	uint32_t word = has_escapes ? add_escaped(r, text)
				    : tsi_graph_add_text(r->build.plain, WORD_TEXT, text);
	cursor->at += length + 1;
	return word;
}

/* ---- numbers and other words ----------------------------------------------------------- */

static bool ends_word(char c)
{
	return c == ',' || c == ']' || c == '}' || c == ':' || c == '"' || tsi_is_space(c);
}

/* Up to what ends it, or to the end of the input; it is not taken yet. False: failed. */
static bool show_word(struct json_reader *r, struct str *word)
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
	return (status == TSCOPE_OK || status == TSCOPE_END) &&
	       tsi_cursor_check_length(cursor, length) == TSCOPE_OK;
}

/* A whole number is exact if it fits into 64 bits; all others are real. */
static uint32_t add_number(struct json_reader *r, struct str text)
{
	bool is_natural = true;
	uint64_t natural;
	double real = 0;

	for (size_t i = 0; i < text.length; i++)
		is_natural &= tsi_is_digit(text.data[i]);
	if (is_natural && tsi_json_to_uint64(text, &natural))
		return tsi_graph_add_uint64(r->build.plain, natural);
	(void)tsi_json_to_double(text, &real);
	return tsi_graph_add_real(r->build.plain, real);
}

static void fail_word(struct json_reader *r, struct str word)
{
	uint64_t offset = tsi_cursor_offset(&r->cursor);

	if (word.data + word.length == r->cursor.end) { /* the input ends in it */
		r->cursor.at = r->cursor.end;
		(void)is_shown(r, TSCOPE_END, "a value");
		return;
	}
	tsi_fail_at(r->err, TSCOPE_E_DAMAGED, offset, "JSON: expected a value, found \"%.*s\"",
		    TSI_QUOTE(word));
}

static uint32_t add_constant(struct json_reader *r, struct str text)
{
	static const struct {
		struct str text;
		uint32_t word; /* 0: a real number */
		double real;
	} constants[] = {
		{ { "null", 4 }, WORD_NONE, 0 },
		{ { "true", 4 }, WORD_BOOL | 1 << WORD_TAG_BITS, 0 },
		{ { "false", 5 }, WORD_BOOL, 0 },
		{ { "NaN", 3 }, 0, NAN },
		{ { "Infinity", 8 }, 0, INFINITY },
		{ { "-Infinity", 9 }, 0, -INFINITY },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(constants); i++)
		if (tsi_str_equal(text, constants[i].text))
			return constants[i].word
				       ? constants[i].word
				       : tsi_graph_add_real(r->build.plain, constants[i].real);
	fail_word(r, text);
	return 0;
}

/*
 * The usual number: whole, of 64 bits, and shown with the byte behind it. In one look at each
 * digit: files of millions of rows hold hardly anything else. False: it is something else.
 */
static bool take_integer(struct json_reader *r, uint32_t *word)
{
	enum { MOST_DIGITS = 19 }; /* of which any number fits without a sign */
	struct plain_cursor *cursor = &r->cursor;
	bool is_negative = *cursor->at == '-';
	const char *first = cursor->at + is_negative, *at = first;
	const char *end = cursor->end - first > MOST_DIGITS ? first + MOST_DIGITS + 1 : cursor->end;
	uint64_t value = 0;

	for (; at < end && tsi_is_digit(*at); at++)
		value = value * 10 + (unsigned char)(*at - '0');
	if (at == first || at == end || !ends_word(*at) || value > INT64_MAX ||
	    (*first == '0' && at - first > 1) || (size_t)(at - cursor->at) > cursor->max_text_bytes)
		return false;
	cursor->at = at;
	*word = tsi_graph_add_int64(r->build.plain, is_negative ? -(int64_t)value : (int64_t)value);
	return true;
}

static uint32_t take_word(struct json_reader *r)
{
	struct str text;
	int64_t integer;
	uint32_t word;

	if (take_integer(r, &word))
		return word;
	if (!show_word(r, &text))
		return 0;
	size_t sign = *text.data == '-' && text.length > 1;
	char first = text.data[sign];
	bool is_usual = first != '0' || text.length == sign + 1;
	if (is_usual && tsi_str_to_int64(text, &integer))
		word = tsi_graph_add_int64(r->build.plain, integer);
	else if (tsi_is_digit(first) && tsi_json_check(text, 0, NULL) == TSCOPE_OK)
		word = add_number(r, text);
	else
		word = add_constant(r, text);
	r->cursor.at += text.length;
	return word;
}

/* ---- the grammar ----------------------------------------------------------------------- */

/* A value is complete. */
static void push(struct json_reader *r, uint32_t word)
{
	static const enum json_state behind[] = {
		[WORD_ABSENT] = BEHIND_ROOT,
		[WORD_LIST] = BEHIND_ITEM,
		[WORD_DICT] = BEHIND_MEMBER,
	};

	r->state = behind[tsi_build_inside(&r->build)];
	tsi_build_push(&r->build, word);
}

static void take_open(struct json_reader *r, enum word_tag tag)
{
	tsi_build_open(&r->build, tag);
	r->cursor.at += r->err->status == TSCOPE_OK; /* else an error is at this byte */
	r->state = tag == WORD_LIST ? AT_FIRST_ITEM : AT_FIRST_KEY;
}

static void take_close(struct json_reader *r)
{
	uint32_t object = tsi_build_close(&r->build);

	if (object == 0)
		return;
	r->cursor.at++;
	push(r, object);
}

static void take_value(struct json_reader *r)
{
	char c = *r->cursor.at;

	if (c == '[')
		take_open(r, WORD_LIST);
	else if (c == '{')
		take_open(r, WORD_DICT);
	else if (c == '"')
		push(r, take_text(r));
	else if (ends_word(c))
		fail_at_byte(r, expected_next[r->state]);
	else
		push(r, take_word(r));
}

/* And the colon behind it. */
static void take_key(struct json_reader *r)
{
	if (*r->cursor.at != '"') {
		fail_at_byte(r, expected_next[r->state]);
		return;
	}
	tsi_build_push(&r->build, take_text(r));
	if (r->err->status != TSCOPE_OK ||
	    !is_shown(r, tsi_cursor_skip_space(&r->cursor), "a colon"))
		return;
	if (*r->cursor.at != ':') {
		fail_at_byte(r, "a colon");
		return;
	}
	r->cursor.at++;
	r->state = AT_VALUE;
}

static void take_comma(struct json_reader *r, enum json_state next)
{
	if (*r->cursor.at != ',') {
		fail_at_byte(r, expected_next[r->state]);
		return;
	}
	r->cursor.at++;
	r->state = next;
}

static void take_next(struct json_reader *r)
{
	static const char closing[STATE_COUNT] = {
		[AT_FIRST_ITEM] = ']',
		[BEHIND_ITEM] = ']',
		[AT_FIRST_KEY] = '}',
		[BEHIND_MEMBER] = '}',
	};

	if (!is_shown(r, tsi_cursor_skip_space(&r->cursor), expected_next[r->state]))
		return;
	if (closing[r->state] && *r->cursor.at == closing[r->state])
		take_close(r);
	else if (r->state == BEHIND_ITEM)
		take_comma(r, AT_VALUE);
	else if (r->state == BEHIND_MEMBER)
		take_comma(r, AT_KEY);
	else if (r->state == AT_KEY || r->state == AT_FIRST_KEY)
		take_key(r);
	else
		take_value(r);
}

/* ---- the document ---------------------------------------------------------------------- */

static void begin(struct json_reader *r)
{
	static const char firsts[] = "{[\"-0123456789tfnNI";
	enum tscope_status status = tsi_cursor_skip_mark(&r->cursor);

	if (status == TSCOPE_OK)
		status = tsi_cursor_skip_space(&r->cursor);
	if (status == TSCOPE_END)
		tsi_fail_at(r->err, TSCOPE_E_EMPTY, tsi_cursor_offset(&r->cursor),
			    "no JSON: no value");
	if (status == TSCOPE_OK && !memchr(firsts, *r->cursor.at, sizeof(firsts) - 1))
		tsi_fail_at(r->err, TSCOPE_E_FORMAT, tsi_cursor_offset(&r->cursor),
			    "not JSON: begins with byte 0x%02x", (unsigned char)*r->cursor.at);
	/* Snapshots: each stack is written out wherever it is meant. */
	if (r->err->status == TSCOPE_OK)
		r->build.shared_key =
			tsi_graph_add_text(r->build.plain, WORD_TEXT, TSI_STR("frames"));
}

static enum tscope_status read_json(struct plain **ret, struct input *in,
				    const struct plain_limits *limits, struct tscope_error *err)
{
	struct json_reader r = { .err = &r.build.err };

	tsi_build_init(&r.build, limits);
	tsi_cursor_init(&r.cursor, in, limits ? limits->max_text_bytes : 0, r.err);
	if (r.err->status == TSCOPE_OK)
		begin(&r);
	while (r.err->status == TSCOPE_OK && r.state != BEHIND_ROOT)
		take_next(&r);
	/* Trailing bytes are counted, but for white space. */
	if (r.err->status == TSCOPE_OK && tsi_cursor_skip_space(&r.cursor) == TSCOPE_OK)
		tsi_cursor_skip_rest(&r.cursor, &r.build.plain->trailing_bytes);
	(void)tsi_cursor_place_limit(&r.cursor, r.err->status, "JSON");
	free(r.scratch);
	return tsi_build_end(&r.build, ret, err);
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
