/* SPDX-License-Identifier: MIT */
/*
 * The lowest layer of the JSON report: punctuation, layout and escapes. What
 * the report holds is decided in report_json.c.
 */
#include "report/json_writer.h"

#include "base/real.h"
#include "report/utf8.h"

#include <inttypes.h>

static void new_line(struct json_writer *w)
{
	fprintf(w->out, "\n%*s", (int)(2 * w->depth), "");
}

/* What stands before an item: nothing after its key, else a comma and a new line (row: a blank). */
static void begin_item(struct json_writer *w)
{
	if (w->has_key) {
		w->has_key = false;
		return;
	}
	if (w->has_items)
		fputc(',', w->out);
	if (w->row_depth == 0 && w->depth > 0)
		new_line(w);
	else if (w->has_items)
		fputc(' ', w->out);
	w->has_items = true;
}

static void open_bracket(struct json_writer *w, char bracket)
{
	begin_item(w);
	fputc(bracket, w->out);
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
	fputc(bracket, w->out);
	w->has_items = true;
	if (w->depth == 0)
		fputc('\n', w->out);
}

void tsi_jw_object(struct json_writer *w)
{
	open_bracket(w, '{');
}

/* What was opened last stands on one line with all that is in it. */
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
	fprintf(w->out, "\"%s\": ", key);
	w->has_key = true;
}

static void put_escaped(FILE *out, uint32_t code_point)
{
	static const char short_escapes[] = "\bb\tt\nn\ff\rr\"\"\\\\";

	for (const char *pair = short_escapes; *pair != '\0'; pair += 2) {
		if (code_point == (uint32_t)*pair) {
			fprintf(out, "\\%c", pair[1]);
			return;
		}
	}
	if (code_point < 0x10000) {
		fprintf(out, "\\u%04" PRIx32, code_point);
		return;
	}
	code_point -= 0x10000; /* U+E0001 as "\udb40\udc01" */
	fprintf(out, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xD800 + (code_point >> 10),
		0xDC00 + (code_point & 0x3FF));
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
	fputc('"', w->out);
	while (rest.length > 0) {
		const char *start = rest.data;
		uint32_t code_point = tsi_utf8_next(&rest);

		if (code_point == UTF8_INVALID)
			fputs("\xEF\xBF\xBD", w->out); /* U+FFFD */
		else if (code_point == '"' || code_point == '\\' || tsi_utf8_is_unsafe(code_point))
			put_escaped(w->out, code_point);
		else
			fwrite(start, 1, (size_t)(rest.data - start), w->out);
	}
	fputc('"', w->out);
}

void tsi_jw_int(struct json_writer *w, int64_t value)
{
	begin_item(w);
	fprintf(w->out, "%" PRId64, value);
}

void tsi_jw_uint(struct json_writer *w, uint64_t value)
{
	begin_item(w);
	fprintf(w->out, "%" PRIu64, value);
}

void tsi_jw_real(struct json_writer *w, double value)
{
	char text[REAL_TEXT_MAX];

	tsi_real_shortest(text, value);
	begin_item(w);
	fputs(text, w->out);
}

void tsi_jw_flag(struct json_writer *w, bool flag)
{
	begin_item(w);
	fputs(flag ? "true" : "false", w->out);
}

void tsi_jw_null(struct json_writer *w)
{
	begin_item(w);
	fputs("null", w->out);
}
