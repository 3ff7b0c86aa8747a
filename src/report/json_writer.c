/* SPDX-License-Identifier: MIT */
/*
 * The lowest layer of the JSON report: punctuation, layout and escapes. The contents of the report
 * are decided in report_json.c.
 */
#include "report/json_writer.h"

#include "base/real.h"
#include "report/utf8.h"

#include <inttypes.h>

/*
 * A table may have a million rows of a dozen small items each: they are gathered here, since a call
 * of stdio costs more than the item.
 */

/* A stream in memory that could not grow shows it here and never again. */
static void write_out(struct json_writer *w, const char *bytes, size_t count)
{
	w->has_failed |= fwrite(bytes, 1, count, w->out) != count;
}

static void flush(struct json_writer *w)
{
	write_out(w, w->pending, w->pending_count);
	w->pending_count = 0;
}

static void put_bytes(struct json_writer *w, const char *bytes, size_t count)
{
	if (count > sizeof(w->pending) - w->pending_count)
		flush(w);
	if (count > sizeof(w->pending)) {
		write_out(w, bytes, count);
		return;
	}
	memcpy(w->pending + w->pending_count, bytes, count);
	w->pending_count += count;
}

static void put_char(struct json_writer *w, char c)
{
	put_bytes(w, &c, 1);
}

static void put_string(struct json_writer *w, const char *text)
{
	put_bytes(w, text, strlen(text));
}

static void new_line(struct json_writer *w)
{
	enum { BASELINE_LINES = 2 }; /* so deep: ranks and the like begin lines */

	if (w->extent != JSON_ALL) {
		if (w->depth <= BASELINE_LINES)
			put_char(w, '\n');
		return;
	}
	put_char(w, '\n');
	for (unsigned i = 0; i < w->depth; i++)
		put_string(w, "  ");
}

/*
 * Writes the separator before an item: nothing after its key, else a comma and a new line (row: a
 * blank).
 */
static void begin_item(struct json_writer *w)
{
	if (w->has_key) {
		w->has_key = false;
		return;
	}
	if (w->has_items)
		put_char(w, ',');
	if (w->row_depth == 0 && w->depth > 0)
		new_line(w);
	else if (w->has_items && w->extent == JSON_ALL)
		put_char(w, ' ');
	w->has_items = true;
}

static void open_bracket(struct json_writer *w, char bracket)
{
	begin_item(w);
	put_char(w, bracket);
	w->depth++;
	w->has_items = false;
}

static void close_bracket(struct json_writer *w, char bracket)
{
	bool in_row = w->row_depth > 0;

	if (w->depth == w->row_depth)
		w->row_depth = 0;
	w->depth--;
	if (w->has_items && !in_row)
		new_line(w);
	put_char(w, bracket);
	w->has_items = true;
	if (w->depth == 0) {
		put_char(w, '\n');
		flush(w);
	}
}

void tsi_jw_object(struct json_writer *w)
{
	open_bracket(w, '{');
}

/* Writes the last opened value on one line with all its contents. */
static void begin_row(struct json_writer *w)
{
	if (w->row_depth == 0)
		w->row_depth = w->depth;
}

void tsi_jw_row(struct json_writer *w)
{
	open_bracket(w, '{');
	begin_row(w);
}

void tsi_jw_end_object(struct json_writer *w)
{
	close_bracket(w, '}');
}

void tsi_jw_array(struct json_writer *w)
{
	open_bracket(w, '[');
}

void tsi_jw_row_array(struct json_writer *w)
{
	open_bracket(w, '[');
	begin_row(w);
}

void tsi_jw_end_array(struct json_writer *w)
{
	close_bracket(w, ']');
}

void tsi_jw_key(struct json_writer *w, const char *key)
{
	begin_item(w);
	put_char(w, '"');
	put_string(w, key);
	put_string(w, w->extent == JSON_ALL ? "\": " : "\":");
	w->has_key = true;
}

static void put_escaped(struct json_writer *w, uint32_t code_point)
{
	static const char short_escapes[] = "\bb\tt\nn\ff\rr\"\"\\\\";
	char text[16];

	for (const char *pair = short_escapes; *pair != '\0'; pair += 2) {
		if (code_point == (uint32_t)*pair) {
			put_char(w, '\\');
			put_char(w, pair[1]);
			return;
		}
	}
	if (code_point < 0x10000) {
		snprintf(text, sizeof(text), "\\u%04" PRIx32, code_point);
	} else { /* U+E0001 as "\udb40\udc01" */
		code_point -= 0x10000;
		snprintf(text, sizeof(text), "\\u%04" PRIx32 "\\u%04" PRIx32,
			 0xD800 + (code_point >> 10), 0xDC00 + (code_point & 0x3FF));
	}
	put_string(w, text);
}

/* Takes what needs no escape off the front and puts it in one piece. */
static void put_plain(struct json_writer *w, struct str *rest)
{
	size_t length = 0;

	while (length < rest->length && tsi_utf8_is_plain(rest->data[length]) &&
	       rest->data[length] != '"' && rest->data[length] != '\\')
		length++;
	put_bytes(w, rest->data, length);
	rest->data += length;
	rest->length -= length;
}

void tsi_jw_text(struct json_writer *w, const char *text)
{
	struct str rest;

	if (!text) {
		tsi_jw_null(w);
		return;
	}
	rest = tsi_str_of(text);
	begin_item(w);
	put_char(w, '"');
	for (put_plain(w, &rest); rest.length > 0; put_plain(w, &rest)) {
		const char *start = rest.data;
		uint32_t code_point = tsi_utf8_next(&rest);

		if (code_point == UTF8_INVALID)
			put_string(w, "\xEF\xBF\xBD"); /* U+FFFD */
		else if (code_point == '"' || code_point == '\\' || tsi_utf8_is_unsafe(code_point))
			put_escaped(w, code_point);
		else
			put_bytes(w, start, (size_t)(rest.data - start));
	}
	put_char(w, '"');
}

void tsi_jw_text_key(struct json_writer *w, const char *text)
{
	tsi_jw_text(w, text);
	put_string(w, w->extent == JSON_ALL ? ": " : ":");
	w->has_key = true;
}

static void put_digits(struct json_writer *w, uint64_t value)
{
	char digits[20]; /* UINT64_MAX has as many */
	size_t first = sizeof(digits);

	do
		digits[--first] = (char)('0' + value % 10);
	while ((value /= 10) != 0);
	put_bytes(w, digits + first, sizeof(digits) - first);
}

void tsi_jw_int(struct json_writer *w, int64_t value)
{
	begin_item(w);
	if (value < 0)
		put_char(w, '-');
	put_digits(w, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void tsi_jw_uint(struct json_writer *w, uint64_t value)
{
	begin_item(w);
	put_digits(w, value);
}

void tsi_jw_real(struct json_writer *w, double value)
{
	/* By its bits: 0 and -0 are equal, and their texts are not. */
	if (w->last_text[0] == '\0' || memcmp(&value, &w->last_real, sizeof(value)) != 0) {
		tsi_real_shortest(w->last_text, value);
		w->last_real = value;
	}
	begin_item(w);
	put_string(w, w->last_text);
}

void tsi_jw_us(struct json_writer *w, int64_t ns)
{
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	char text[32];

	snprintf(text, sizeof(text), "%s%" PRIu64 ".%03" PRIu64, ns < 0 ? "-" : "", size / 1000,
		 size % 1000);
	begin_item(w);
	put_string(w, text);
}

void tsi_jw_flag(struct json_writer *w, bool flag)
{
	begin_item(w);
	put_string(w, flag ? "true" : "false");
}

void tsi_jw_null(struct json_writer *w)
{
	begin_item(w);
	put_string(w, "null");
}
