/* SPDX-License-Identifier: MIT */
/* Taking bytes and texts out of an input that is shown in pieces. */
#include "decode/plain/plain_cursor.h"

#include "base/error.h"
#include "decode/plain/plain.h"

void tsi_cursor_init(struct plain_cursor *cursor, struct input *in, size_t max_text_bytes,
		     struct tscope_error *err)
{
	*cursor = (struct plain_cursor){
		.in = in,
		.start = "",
		.max_text_bytes = max_text_bytes ? max_text_bytes : PLAIN_MAX_TEXT_BYTES,
		.err = err,
	};
	cursor->at = cursor->end = cursor->start;
}

/* Half as much again: what is shown moves when more is, so that few steps must do. */
enum tscope_status tsi_cursor_show_more(struct plain_cursor *cursor)
{
	struct tscope_error err = { 0 };
	size_t shown = (size_t)(cursor->end - cursor->at), available;

	tsi_input_consume(cursor->in, (size_t)(cursor->at - cursor->start));
	enum tscope_status status =
		tsi_input_peek(cursor->in, shown + shown / 2 + 1, &cursor->start, &available, &err);
	cursor->at = cursor->start;
	cursor->end = cursor->start + available;
	if (available > shown)
		return TSCOPE_OK; /* reported once these are taken */
	if (status != TSCOPE_END)
		*cursor->err = err;
	return status;
}

enum tscope_status tsi_cursor_check_length(struct plain_cursor *cursor, size_t length)
{
	if (length <= cursor->max_text_bytes)
		return TSCOPE_OK;
	return tsi_fail_at(cursor->err, TSCOPE_E_LIMIT, tsi_cursor_offset(cursor),
			   "a text of more than %zu bytes (limit: text bytes)",
			   cursor->max_text_bytes);
}

enum tscope_status tsi_cursor_place_limit(struct plain_cursor *cursor, enum tscope_status status,
					  const char *form)
{
	struct tscope_error *err = cursor->err;

	if (status != TSCOPE_E_LIMIT || err->has_offset)
		return status;
	err->has_offset = true;
	err->offset = tsi_cursor_offset(cursor);
	return tsi_fail_within(err, "%s", form);
}

enum tscope_status tsi_cursor_skip_mark(struct plain_cursor *cursor)
{
	static const char mark[] = "\xef\xbb\xbf";
	enum tscope_status status = TSCOPE_OK;

	while (cursor->end - cursor->at < 3 && status == TSCOPE_OK)
		status = tsi_cursor_show_more(cursor);
	if (cursor->end - cursor->at >= 3 && memcmp(cursor->at, mark, 3) == 0)
		cursor->at += 3;
	return status == TSCOPE_END ? TSCOPE_OK : status;
}

enum tscope_status tsi_cursor_skip_more_space(struct plain_cursor *cursor)
{
	enum tscope_status status = TSCOPE_OK;

	while (status == TSCOPE_OK) {
		cursor->at = tsi_skip_space(cursor->at, cursor->end);
		if (cursor->at < cursor->end)
			break;
		status = tsi_cursor_show_more(cursor);
	}
	return status;
}

enum tscope_status tsi_cursor_take_line(struct plain_cursor *cursor, struct str *line)
{
	const char *end = NULL;
	size_t looked_at = 0;
	enum tscope_status status = tsi_cursor_show(cursor);

	while (status == TSCOPE_OK) {
		end = memchr(cursor->at + looked_at, '\n',
			     (size_t)(cursor->end - cursor->at) - looked_at);
		if (end)
			break;
		looked_at = (size_t)(cursor->end - cursor->at);
		status = tsi_cursor_check_length(cursor, looked_at);
		if (status == TSCOPE_OK)
			status = tsi_cursor_show_more(cursor);
	}
	if (status != TSCOPE_OK && (status != TSCOPE_END || looked_at == 0))
		return status;
	*line = (struct str){ cursor->at, end ? (size_t)(end - cursor->at) : looked_at };
	cursor->at += line->length + (end != NULL);
	if (line->length && line->data[line->length - 1] == '\r')
		line->length--;
	return TSCOPE_OK;
}

enum tscope_status tsi_cursor_skip_rest(struct plain_cursor *cursor, uint64_t *count)
{
	uint64_t start = tsi_cursor_offset(cursor);
	enum tscope_status status;

	do {
		cursor->at = cursor->end;
		status = tsi_cursor_show_more(cursor);
	} while (status == TSCOPE_OK);
	*count = tsi_cursor_offset(cursor) - start;
	return status == TSCOPE_END ? TSCOPE_OK : status;
}
